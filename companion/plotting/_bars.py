"""Probability distributions as bars."""

import numpy as np

from companion.plotting._common import (
    COLOURS,
    HATCHES,
    LETTER,
    check_labels,
    check_probabilities,
    figure,
    number_text,
    set_ticks,
    size_in_inches,
)


def distribution(values, labels, ax=None, names=None, numbers=None):
    """Draw one probability distribution as bars, or several side by side.

    Parameters
    ----------
    values : array_like, shape (n,) or (n_distributions, n)
        Probabilities, each from 0 to 1.
    labels : sequence of str, length n
        What each probability belongs to.
    ax : Axes, optional
    names : sequence of str, length n_distributions, optional
        Names in the legend, required when there are several.
    numbers : bool, optional
        Write the numbers above the bars; by default when there are at most 24 bars.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        If a value is no probability, or the shape or a number of labels is wrong.

    Examples
    --------
    >>> from companion import plotting
    >>> ax = plotting.distribution([0.25, 0.75], ["cat", "dog"])
    >>> [text.get_text() for text in ax.texts]
    ['0.25', '0.75']
    >>> cold_and_hot = [[0.1, 0.9], [0.25, 0.75]]
    >>> ax = plotting.distribution(cold_and_hot, ["cat", "dog"], names=["T = 1", "T = 2"])
    """
    values = check_probabilities("values", values, ndim=(1, 2))
    several = values.ndim == 2
    if several and names is None:
        raise ValueError(f"names must name each of the {len(values)} distributions; got None")
    rows = np.atleast_2d(values)
    labels = check_labels("labels", labels, rows.shape[1])
    names = [None] if names is None else check_labels("names", names, len(rows))
    if ax is None:
        ax = figure()[1]
    if numbers is None:
        numbers = rows.size <= 24

    width = 0.8 / len(rows)
    room = (size_in_inches(ax)[0] - 0.6) / len(labels)  # the y-axis takes about 0.6
    crowded = (width * room if several else room) < 3.5 * LETTER  # numbers would touch
    for i, (row, name) in enumerate(zip(rows, names, strict=True)):
        bars = ax.bar(
            np.arange(len(row)) + (i - (len(rows) - 1) / 2) * width,
            row,
            width,
            label=name,
            color=COLOURS[i % len(COLOURS)],
            hatch=HATCHES[i % len(HATCHES)],
            edgecolor="white",
        )
        if numbers:
            texts = [number_text(value, 2) for value in row]
            ax.bar_label(bars, texts, padding=2, fontsize=9, rotation=90 if crowded else 0)
    if several:
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, frameon=False)
    set_ticks(ax.xaxis, labels, room)
    ax.set_ylim(0, max((1.2 if crowded else 1.1) * rows.max(), 0.01))
    ax.set_ylabel("probability")
    ax.spines[["top", "right"]].set_visible(False)
    return ax
