"""Scores and weights as heatmaps: of one head, and of several heads side by side."""

import matplotlib.pyplot as plt
import numpy as np

from companion._validation import need_count, need_mask, need_number
from companion.plotting._cells import HIDDEN, SCORE_MAP, WEIGHT_MAP, draw_cells, write_numbers
from companion.plotting._common import (
    DPI,
    LETTER,
    WIDTH,
    check_array,
    check_labels,
    check_probabilities,
    figure,
    longest,
    number_size,
    number_text,
    set_ticks,
    size_in_inches,
)

MOST_NUMBERS = 10  # a matrix with a longer side gets a colour bar instead of numbers


def score_heatmap(scores, queries, keys, ax=None, mask=None, limit=None, digits=1, numbers=None):
    """Draw a table of scores: queries are rows, keys are columns, white is 0.

    Parameters
    ----------
    scores : array_like, shape (n_queries, n_keys)
        A score of minus infinity is drawn like a masked one, with its sign.
    queries : sequence of str, length n_queries
    keys : sequence of str, length n_keys
    ax : Axes, optional
    mask : array_like of bool, broadcastable to (n_queries, n_keys), optional
        True = may attend; the other cells are hatched, whatever they hold.
    limit : float, optional
        The colours run from ``-limit`` to ``limit``; by default the largest absolute score.
    digits : int
        Decimals of the numbers in the cells.
    numbers : bool, optional
        Numbers in the cells instead of a colour bar; by default when neither side has more
        than 10 cells and the numbers are large enough to read.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        If a shape or a number of labels is wrong, or a score that is not masked is nan or +inf.
    TypeError
        If the mask is not boolean.

    Examples
    --------
    >>> from companion import plotting
    >>> scores = [[2.0, -1.0, 0.5], [0.0, 1.0, 3.0]]
    >>> ax = plotting.score_heatmap(scores, ["a", "b"], ["x", "y", "z"])
    >>> ax.images[0].get_clim()
    (-3.0, 3.0)
    """
    scores = check_array("scores", scores, ndim=2, finite=False)
    hidden = _hidden(mask, scores.shape)
    minus_infinity = ~hidden & np.isneginf(scores)
    hidden = hidden | minus_infinity
    if not np.isfinite(scores[~hidden]).all():
        raise ValueError("scores that are not masked must be finite or -inf; got nan or +inf")
    if limit is None:
        limit = float(np.abs(scores[~hidden]).max(initial=0)) or 1.0
    else:
        limit = need_number(limit, "limit", positive=True)
    ax, image = _heatmap(
        scores, queries, keys, ax, hidden, (-limit, limit), SCORE_MAP, digits, numbers
    )
    if not image.colorbar:
        for i, j in np.argwhere(minus_infinity):
            box = {"facecolor": HIDDEN, "edgecolor": "none", "pad": 1.5}
            ax.text(j, i, "−∞", ha="center", va="center", bbox=box)
    return ax


def weight_heatmap(weights, queries, keys, ax=None, mask=None, digits=2, numbers=None):
    """Draw a table of attention weights: queries are rows, keys are columns, 0 is white, 1 dark.

    Parameters
    ----------
    weights : array_like, shape (n_queries, n_keys)
        Each from 0 to 1. Each row sums to 1 over the keys.
    queries : sequence of str, length n_queries
    keys : sequence of str, length n_keys
    ax : Axes, optional
    mask : array_like of bool, broadcastable to (n_queries, n_keys), optional
        True = may attend; the other cells are hatched.
    digits : int
        Decimals of the numbers in the cells.
    numbers : bool, optional
        Numbers in the cells instead of a colour bar; by default when neither side has more
        than 10 cells and the numbers are large enough to read.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        If a weight is outside 0 to 1, or a shape or a number of labels is wrong.
    TypeError
        If the mask is not boolean.

    Examples
    --------
    >>> from companion import plotting
    >>> weights = [[0.2, 0.3, 0.5], [0.6, 0.4, 0.0]]
    >>> ax = plotting.weight_heatmap(weights, ["a", "b"], ["x", "y", "z"])
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['a', 'b']
    """
    weights = check_probabilities("weights", weights, ndim=(2,))
    hidden = _hidden(mask, weights.shape)
    ax, _ = _heatmap(weights, queries, keys, ax, hidden, (0.0, 1.0), WEIGHT_MAP, digits, numbers)
    return ax


def heads(weights, queries, keys, names=None, columns=3, mask=None):
    """Draw the weights of several heads side by side, in one colour scale from 0 to 1.

    Parameters
    ----------
    weights : array_like, shape (n_heads, n_queries, n_keys)
    queries : sequence of str, length n_queries
    keys : sequence of str, length n_keys
    names : sequence of str, length n_heads, optional
        Written above the panels; "head 0", "head 1" and so on by default.
    columns : int
        Panels in a row; more than 4 are too small for a phone.
    mask : array_like of bool, broadcastable to (n_heads, n_queries, n_keys), optional
        True = may attend; the other cells are hatched.

    Returns
    -------
    array of Axes, shape (n_heads,)

    Raises
    ------
    ValueError
        If a weight is outside 0 to 1, or a shape or a number of labels is wrong.
    TypeError
        If the mask is not boolean.

    Examples
    --------
    >>> from companion import plotting
    >>> axes = plotting.heads([[[0.3, 0.7]], [[0.9, 0.1]]], ["a"], ["x", "y"])
    >>> [ax.get_title() for ax in axes]
    ['head 0', 'head 1']
    """
    weights = check_probabilities("weights", weights, ndim=(3,))
    n_heads, n_queries, n_keys = weights.shape
    queries = check_labels("queries", queries, n_queries)
    keys = check_labels("keys", keys, n_keys)
    names = [f"head {h}" for h in range(n_heads)] if names is None else names
    names = check_labels("names", names, n_heads)
    hidden = _hidden(mask, weights.shape)
    columns = min(need_count(columns, "columns", 1), n_heads)
    rows = -(-n_heads // columns)
    left = LETTER * longest(queries) + 0.3
    cell = min(0.3, ((WIDTH + 0.5 - left) / columns - 0.1) / n_keys)
    fig = plt.figure(
        figsize=(
            columns * (cell * n_keys + 0.1) + left,
            rows * (cell * n_queries + 0.3) + LETTER * longest(keys) + 0.9,
        ),
        dpi=DPI,
        layout="constrained",
        facecolor="white",
    )
    axes = np.array([fig.add_subplot(rows, columns, h + 1) for h in range(n_heads)])
    for h, ax in enumerate(axes):
        image = draw_cells(ax, weights[h], hidden[h], (0.0, 1.0), WEIGHT_MAP)
        set_ticks(ax.yaxis, queries if h % columns == 0 else [""] * n_queries, cell)
        set_ticks(ax.xaxis, keys if h >= (rows - 1) * columns else [""] * n_keys, cell)
        ax.set_title(names[h], fontsize=10)
    fig.supxlabel("key (token)", fontsize=10)
    fig.supylabel("query (token)", fontsize=10)
    fig.colorbar(image, ax=list(axes), location="top", label="weight", aspect=40, shrink=0.8)
    return axes


def _heatmap(values, queries, keys, ax, hidden, limits, colour_map, digits, numbers):
    n_queries, n_keys = values.shape
    queries = check_labels("queries", queries, n_queries)
    keys = check_labels("keys", keys, n_keys)
    left = LETTER * longest(queries) + 0.4
    bottom = 0.75 * LETTER * longest(keys) + 0.4
    if ax is None:
        cell = min(0.55, (WIDTH - left) / n_keys)
        ax = figure(
            width=left + max(cell * n_keys, 0.9), height=max(cell * n_queries, 0.9) + bottom
        )[1]
    image = draw_cells(ax, values, hidden, limits, colour_map)
    room = size_in_inches(ax) - (left, bottom)
    cell = max(0.01, min(room / (n_keys, n_queries)))
    size = number_size(cell, max(len(number_text(limit, digits)) for limit in limits))
    if numbers is None:
        numbers = max(n_queries, n_keys) <= MOST_NUMBERS and size >= 7.5
    if numbers:
        write_numbers(ax, image, digits, max(size, 4))
    else:
        ax.figure.colorbar(image, ax=ax, shrink=0.8)
        cell = max(0.01, min(cell, (room[0] - 0.7) / n_keys))  # the bar takes about 0.7
    set_ticks(ax.yaxis, queries, cell)
    set_ticks(ax.xaxis, keys, cell)
    ax.set_xlabel("key (token)")
    ax.set_ylabel("query (token)")
    return ax, image


def _hidden(mask, shape):
    return ~need_mask(True if mask is None else mask, shape)
