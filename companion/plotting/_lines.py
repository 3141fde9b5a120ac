"""Lines from one query to its keys."""

import numpy as np

from companion._validation import need_count
from companion.plotting._common import (
    COLOURS,
    LINE_STYLES,
    check_labels,
    check_probabilities,
    figure,
    set_ticks,
)


def attention_lines(weights, query, tokens, ax=None, names=None):
    """Draw lines from one query to the keys it attends to, as wide as the weights are large.

    Parameters
    ----------
    weights : array_like, shape (n,) or (n_heads, n)
        The query's row of weights in one head, or in several heads drawn over each other.
    query : int
        The position of the query in `tokens`.
    tokens : sequence of str, length n
        Queries on the left and keys on the right.
    ax : Axes, optional
    names : sequence of str, length n_heads, optional
        Names in the legend, required when there are several heads.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        If a weight is outside 0 to 1, or the shape, the query or a number of labels is wrong.

    Notes
    -----
    With one head, the largest weight and all from 10 % on are printed behind their keys.

    Examples
    --------
    >>> from companion import plotting
    >>> ax = plotting.attention_lines([0.68, 0.3, 0.02], 2, ["the", "cat", "sat"])
    >>> [text.get_text() for text in ax.texts]
    ['the  68%', 'cat  30%', 'sat']
    """
    weights = check_probabilities("weights", weights, ndim=(1, 2))
    several = weights.ndim == 2
    if several and names is None:
        raise ValueError(f"names must name each of the {len(weights)} heads; got None")
    rows = np.atleast_2d(weights)
    tokens = check_labels("tokens", tokens, rows.shape[1])
    names = [None] if names is None else check_labels("names", names, len(rows))
    if not 0 <= need_count(query, "query") < len(tokens):
        raise ValueError(f"query must be a position from 0 to {len(tokens) - 1}; got {query}")
    if ax is None:
        legend = 0.25 * -(-len(rows) // 3) if several else 0
        ax = figure(width=4, height=0.26 * len(tokens) + 0.5 + legend)[1]

    for h, (row, name) in enumerate(zip(rows, names, strict=True)):
        for key, weight in enumerate(row):
            ax.plot(
                [0, 1],
                [query, key],
                color=COLOURS[h % len(COLOURS)],
                linestyle=LINE_STYLES[h % len(LINE_STYLES)],
                linewidth=(6 if several else 10) * weight,
                solid_capstyle="butt",
                alpha=0.8,
            )
        if several:  # a line of its own for the legend, as the drawn ones may be too thin to see
            ax.plot(
                [],
                [],
                label=name,
                color=COLOURS[h % len(COLOURS)],
                linestyle=LINE_STYLES[h % len(LINE_STYLES)],
            )
    for key, token in enumerate(tokens):
        weight = rows[0, key]
        shown = not several and (weight >= 0.1 or weight == rows.max())
        text = f"{token}  {100 * weight:.0f}%" if shown else token
        ax.text(1.03, key, text, va="center", fontweight="bold" if shown else "normal")
    set_ticks(ax.yaxis, tokens, 1)
    ax.get_yticklabels()[query].set_fontweight("bold")
    ax.set_xticks([0, 1], ["query (token)", "key (token)"])
    ax.tick_params(length=0, pad=6, top=False, labeltop=True, bottom=False, labelbottom=False)
    ax.spines[:].set_visible(False)
    ax.set_xlim(0, 1)
    ax.set_ylim(len(tokens) - 0.5, -0.5)
    if several:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0), ncols=3, frameon=False)
    return ax
