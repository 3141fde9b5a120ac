"""Every figure of the book: vectors, distributions, heatmaps, heads, lines and matrix shapes.

Each function takes arrays and labels, draws on ``ax`` (or on a new figure of fitting size) and
returns the ``Axes`` that it drew on; it never shows, saves or changes anything else. In a
notebook, end the cell with ``plt.show()``. Every chapter draws with this module; it is the only
one that needs matplotlib, so import it by name: ``from companion import plotting``.

New figures are at most `WIDTH` inches wide with matplotlib's 10-point text, so that they stay
readable when a page scales them to a phone, and have `DPI` dots per inch, which keeps the text
sharp and a picture at some tens of kilobytes. Colour never carries anything alone: numbers,
hatches, line styles or labels say the same.
"""

import re

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import PatchCollection
from matplotlib.patches import Arc, Rectangle

WIDTH = 5.0  # inches
DPI = 150
# Okabe and Ito's colours, which colour-blind readers can tell apart, without the pale yellow
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
HATCHES = ("", "///", "...", "xx", "\\\\\\", "++")
LINE_STYLES = ("-", "--", ":", "-.")
WEIGHT_MAP = "Blues"
SCORE_MAP = "RdBu_r"
MOST_NUMBERS = 10  # a matrix with a longer side gets a colour bar instead of numbers
LETTER = 0.085  # inches: mean width of a 10-point letter


def figure(width=WIDTH, height=3.2, rows=1, columns=1):
    """Make an empty white figure in the book's size and resolution.

    Parameters
    ----------
    width, height : float
        Size in inches; wider than 6.5 gives text too small for a phone.
    rows, columns : int
        The grid of axes.

    Returns
    -------
    fig : matplotlib.figure.Figure
    axes : Axes, or array of Axes if there are several

    Examples
    --------
    >>> fig, axes = figure(rows=2, height=4)
    >>> axes.shape
    (2,)
    """
    return plt.subplots(
        rows,
        columns,
        figsize=(width, height),
        dpi=DPI,
        layout="constrained",
        facecolor="white",
    )


def vectors(vectors, labels, ax=None, angle=None, projection=None):
    """Draw vectors of the plane as arrows from the origin.

    Parameters
    ----------
    vectors : array_like, shape (n, 2)
    labels : sequence of str, length n
        Written at the tips.
    ax : Axes, optional
    angle : (int, int), optional
        Draw the angle between these two vectors as an arc with its degrees.
    projection : (int, int), optional
        Draw the projection of the first of these two on the line of the second: a dashed line
        from its tip to the foot, and a thick grey line from the origin to the foot.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        If a shape, the number of labels or an index is wrong, or an angle or a projection needs
        the direction of a zero vector.

    Examples
    --------
    >>> ax = vectors([[2, 0], [1, 1]], ["a", "b"], angle=(0, 1))
    >>> [text.get_text() for text in ax.texts]
    ['a', 'b', '45°']
    """
    vectors = _array("vectors", vectors, ndim=2)
    if vectors.shape[1] != 2:
        raise ValueError(f"vectors must have shape (n, 2); got shape {vectors.shape}")
    labels = _labels("labels", labels, len(vectors))
    pairs = {"angle": angle, "projection": projection}
    for name, pair in pairs.items():
        if pair is not None:
            pairs[name] = _pair(name, pair, vectors)
    if ax is None:
        ax = figure(height=WIDTH * 0.8)[1]

    ax.axhline(0, color="0.8", linewidth=1, zorder=0)
    ax.axvline(0, color="0.8", linewidth=1, zorder=0)
    for i, ((x, y), label) in enumerate(zip(vectors, labels, strict=True)):
        colour = COLOURS[i % len(COLOURS)]
        ax.quiver(
            0, 0, x, y, color=colour, angles="xy", scale_units="xy", scale=1, width=0.012, zorder=3
        )
        length = np.hypot(x, y) or 1.0
        ax.annotate(
            label,
            (x, y),
            xytext=(11 * x / length, 11 * y / length),
            textcoords="offset points",
            ha="center" if abs(x) < 0.5 * length else "left" if x > 0 else "right",
            va="center" if abs(y) < 0.5 * length else "bottom" if y > 0 else "top",
            color=colour,
            fontsize=11,
            fontweight="bold",
        )
    if pairs["angle"]:
        _draw_angle(ax, *vectors[list(pairs["angle"])])
    if pairs["projection"]:
        a, b = vectors[list(pairs["projection"])]
        foot = (a @ b) / (b @ b) * b
        ax.plot(*zip((0, 0), foot, strict=True), color="0.6", linewidth=7, zorder=1)
        ax.plot(*zip(a, foot, strict=True), color="0.3", linewidth=1.5, linestyle="--", zorder=2)
    ax.update_datalim(vectors)
    ax.margins(0.2)
    ax.set_aspect("equal", adjustable="datalim")
    ax.autoscale_view()
    ax.set_xlabel("first component")
    ax.set_ylabel("second component")
    return ax


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
        Write the numbers above the bars; by default when there are at most 18 bars.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        If a value is no probability, or the shape or a number of labels is wrong.

    Examples
    --------
    >>> ax = distribution([0.25, 0.75], ["cat", "dog"])
    >>> [text.get_text() for text in ax.texts]
    ['0.25', '0.75']
    >>> ax = distribution([[0.25, 0.75], [0.4, 0.6]], ["cat", "dog"], names=["T = 1", "T = 2"])
    """
    values = _probabilities("values", values, ndim=(1, 2))
    several = values.ndim == 2
    if several and names is None:
        raise ValueError(f"names must name each of the {len(values)} distributions; got None")
    rows = np.atleast_2d(values)
    labels = _labels("labels", labels, rows.shape[1])
    names = [None] if names is None else _labels("names", names, len(rows))
    if ax is None:
        ax = figure()[1]
    if numbers is None:
        numbers = rows.size <= 18

    width = 0.8 / len(rows)
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
            texts = [_number(value, 2) for value in row]
            ax.bar_label(bars, texts, padding=2, fontsize=10 if rows.size <= 12 else 8)
    if several:
        ax.legend()
    _ticks(ax.xaxis, labels, _inches(ax)[0] / len(labels))
    ax.set_ylim(0, max(1.15 * rows.max(), 0.01))
    ax.set_ylabel("probability")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


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
        than 10 cells.

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
    >>> ax = score_heatmap([[2.0, -1.0, 0.5], [0.0, 1.0, 3.0]], ["a", "b"], ["x", "y", "z"])
    >>> ax.images[0].get_clim()
    (-3.0, 3.0)
    """
    scores = _array("scores", scores, ndim=2, finite=False)
    allowed = _mask(mask, scores.shape)
    minus_infinity = allowed & np.isneginf(scores)
    hidden = ~allowed | minus_infinity
    if not np.isfinite(scores[~hidden]).all():
        raise ValueError("scores that are not masked must be finite or -inf; got nan or +inf")
    if limit is None:
        limit = float(np.abs(scores[~hidden]).max(initial=0)) or 1.0
    elif not limit > 0:
        raise ValueError(f"limit must be positive; got {limit}")
    ax, image = _heatmap(
        scores, queries, keys, ax, hidden, (-limit, limit), SCORE_MAP, digits, numbers
    )
    if not image.colorbar:
        for i, j in np.argwhere(minus_infinity):
            ax.text(j, i, "−∞", ha="center", va="center", fontweight="bold")  # noqa: RUF001
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
        than 10 cells.

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
    >>> ax = weight_heatmap([[0.2, 0.3, 0.5], [0.6, 0.4, 0.0]], ["a", "b"], ["x", "y", "z"])
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['a', 'b']
    """
    weights = _probabilities("weights", weights, ndim=(2,))
    hidden = ~_mask(mask, weights.shape)
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
        Written above the panels; by default "head 0", "head 1", …
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
    >>> axes = heads([[[0.3, 0.7]], [[0.9, 0.1]]], ["a"], ["x", "y"])
    >>> [ax.get_title() for ax in axes]
    ['head 0', 'head 1']
    """
    weights = _probabilities("weights", weights, ndim=(3,))
    n_heads, n_queries, n_keys = weights.shape
    queries = _labels("queries", queries, n_queries)
    keys = _labels("keys", keys, n_keys)
    names = [f"head {h}" for h in range(n_heads)] if names is None else names
    names = _labels("names", names, n_heads)
    hidden = ~_mask(mask, weights.shape)
    if columns < 1:
        raise ValueError(f"columns must be at least 1; got {columns}")
    columns = min(columns, n_heads)
    rows = -(-n_heads // columns)
    cell = min(0.3, (WIDTH + 0.5 - LETTER * _longest(queries)) / columns / n_keys)
    fig = plt.figure(
        figsize=(
            columns * (cell * n_keys + 0.1) + LETTER * _longest(queries) + 0.3,
            rows * (cell * n_queries + 0.3) + LETTER * _longest(keys) + 0.9,
        ),
        dpi=DPI,
        layout="constrained",
        facecolor="white",
    )
    axes = np.array([fig.add_subplot(rows, columns, h + 1) for h in range(n_heads)])
    for h, ax in enumerate(axes):
        image = _cells(ax, weights[h], hidden[h], (0.0, 1.0), WEIGHT_MAP)
        _ticks(ax.yaxis, queries if h % columns == 0 else [""] * n_queries, cell)
        _ticks(ax.xaxis, keys if h + columns >= n_heads else [""] * n_keys, cell, rotation=90)
        ax.set_title(names[h], fontsize=10)
    fig.supxlabel("key (token)", fontsize=10)
    fig.supylabel("query (token)", fontsize=10)
    fig.colorbar(image, ax=list(axes), location="top", label="weight", aspect=40, shrink=0.8)
    return axes


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
    >>> ax = attention_lines([0.68, 0.3, 0.02], 2, ["the", "cat", "sat"])
    >>> [text.get_text() for text in ax.texts]
    ['the  68%', 'cat  30%', 'sat']
    """
    weights = _probabilities("weights", weights, ndim=(1, 2))
    several = weights.ndim == 2
    if several and names is None:
        raise ValueError(f"names must name each of the {len(weights)} heads; got None")
    rows = np.atleast_2d(weights)
    tokens = _labels("tokens", tokens, rows.shape[1])
    names = [None] if names is None else _labels("names", names, len(rows))
    if not 0 <= query < len(tokens):
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
    _ticks(ax.yaxis, tokens, 1)
    ax.get_yticklabels()[query].set_fontweight("bold")
    ax.set_xticks([0, 1], ["query (token)", "key (token)"])
    ax.tick_params(length=0, top=False, labeltop=True, bottom=False, labelbottom=False)
    ax.spines[:].set_visible(False)
    ax.set_xlim(0, 1)
    ax.set_ylim(len(tokens) - 0.5, -0.5)
    if several:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0), ncols=3, frameon=False)
    return ax


def matrix_shapes(items, ax=None):
    """Draw matrices as rectangles with their names and shapes, and the signs between them.

    Parameters
    ----------
    items : sequence of (str, (int, int)) or str
        A matrix is its name and its shape; a string alone is a sign, such as "·" or "=".
        A name may be mathematics: "$W_Q$".
    ax : Axes, optional

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        If an item is neither, or a size is less than 1.

    Notes
    -----
    The sides grow with the square root of the sizes, so that 8 and 512 fit into one picture;
    equal sizes have equal sides.

    Examples
    --------
    >>> ax = matrix_shapes([("X", (8, 512)), "·", ("$W_Q$", (512, 64)), "=", ("Q", (8, 64))])
    >>> len(ax.patches)
    3
    """
    items = [item if isinstance(item, str) else _named_shape(item) for item in items]
    shapes = [item[1] for item in items if not isinstance(item, str)]
    if not shapes:
        raise ValueError(f"items must hold at least one matrix; got {items}")
    unit = 1.3 / np.sqrt(max(max(shape) for shape in shapes))  # inches a square root
    tallest = unit * np.sqrt(max(rows for rows, _ in shapes))
    x = 0.0  # all lengths are inches
    drawn = []
    for item in items:
        if isinstance(item, str):
            room = LETTER * 1.3 * len(item) + 0.2
            drawn.append((x + room / 2, 0.0, item))
        else:
            name, (rows, columns) = item
            width, height = np.maximum(unit * np.sqrt([columns, rows]), 0.06)
            shape = f"{rows}×{columns}"  # noqa: RUF001
            room = max(width, LETTER * max(len(shape), len(re.sub(r"[${}\\_]", "", name))))
            centre = x + room / 2
            drawn.append(Rectangle((centre - width / 2, -height / 2), width, height))
            drawn.append((centre, tallest / 2 + 0.17, name))
            drawn.append((centre, -tallest / 2 - 0.17, shape))
        x += room + 0.08
    if ax is None:
        ax = figure(width=min(x, WIDTH + 1), height=tallest + 0.7)[1]
    colour = iter(np.resize(COLOURS, len(shapes)))
    for item in drawn:
        if isinstance(item, Rectangle):
            item.set(edgecolor="black", facecolor=next(colour), alpha=0.5)
            ax.add_patch(item)
        else:
            ax.text(*item, ha="center", va="center", fontsize=11 if item[1] == 0 else 10)
    ax.set_xlim(0, x)
    ax.set_ylim(-tallest / 2 - 0.3, tallest / 2 + 0.3)
    ax.set_aspect("equal")
    ax.axis("off")
    return ax


def matrix(values, rows=None, columns=None, ax=None, name=None, digits=2):
    """Draw one small matrix as a table of numbers, lightly shaded by sign and size.

    Parameters
    ----------
    values : array_like, shape (n_rows, n_columns)
    rows : sequence of str, length n_rows, optional
    columns : sequence of str, length n_columns, optional
    ax : Axes, optional
    name : str, optional
        Written above the table together with its shape.
    digits : int
        Decimals of the numbers.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        If the shape or a number of labels is wrong, or a value is not finite.

    Examples
    --------
    >>> ax = matrix([[1.0, -0.5], [0.25, 2.0], [0.0, 3.0]], ["a", "b", "c"], name="Q")
    >>> ax.get_title()
    'Q  3×2'
    """
    values = _array("values", values, ndim=2)
    n_rows, n_columns = values.shape
    rows = [""] * n_rows if rows is None else _labels("rows", rows, n_rows)
    columns = [""] * n_columns if columns is None else _labels("columns", columns, n_columns)
    if ax is None:
        letters = max(len(_number(value, digits)) for value in values.flat)
        cell = min(max(0.45, LETTER * letters + 0.1), WIDTH / n_columns)
        ax = figure(
            width=cell * n_columns + LETTER * _longest(rows) + 0.1,
            height=0.28 * n_rows + 0.25 * bool(name) + 0.3,
        )[1]
    limit = 2.5 * (np.abs(values).max() or 1.0)  # the middle of the map only: pale colours
    image = _cells(ax, values, np.zeros(values.shape, bool), (-limit, limit), SCORE_MAP)
    ax.set_aspect("auto")
    _write(ax, image, digits, 10)
    _ticks(ax.yaxis, rows, 1)
    _ticks(ax.xaxis, columns, _inches(ax)[0] / n_columns)
    ax.tick_params(length=0, top=False, labeltop=True, bottom=False, labelbottom=False)
    if name:
        ax.set_title(f"{name}  {n_rows}×{n_columns}", fontsize=11)  # noqa: RUF001
    return ax


def _heatmap(values, queries, keys, ax, hidden, limits, colour_map, digits, numbers):
    n_queries, n_keys = values.shape
    queries = _labels("queries", queries, n_queries)
    keys = _labels("keys", keys, n_keys)
    if numbers is None:
        numbers = max(n_queries, n_keys) <= MOST_NUMBERS
    if ax is None:
        left = LETTER * _longest(queries) + 0.4
        cell = min(0.55, (WIDTH - left) / n_keys)
        bottom = 0.75 * LETTER * _longest(keys) + 0.4
        ax = figure(
            width=left + max(cell * n_keys, 0.9), height=max(cell * n_queries, 0.9) + bottom
        )[1]
    image = _cells(ax, values, hidden, limits, colour_map)
    cell = min(_inches(ax) / (n_keys, n_queries))
    if numbers:
        letters = max(len(_number(limit, digits)) for limit in limits)
        _write(ax, image, digits, np.clip(cell / letters / LETTER * 11, 6, 10))
    else:
        ax.figure.colorbar(image, ax=ax, shrink=0.8)
    _ticks(ax.yaxis, queries, cell)
    _ticks(ax.xaxis, keys, cell)
    ax.set_xlabel("key (token)")
    ax.set_ylabel("query (token)")
    return ax, image


def _cells(ax, values, hidden, limits, colour_map):
    """Colour the cells of a matrix, first row on top, and hatch the hidden ones."""
    image = ax.imshow(
        np.ma.masked_array(values, hidden),
        cmap=colour_map,
        vmin=limits[0],
        vmax=limits[1],
        interpolation="nearest",
    )
    squares = [Rectangle((j - 0.5, i - 0.5), 1, 1) for i, j in np.argwhere(hidden)]
    if squares:
        ax.add_collection(
            PatchCollection(
                squares, facecolor="0.93", edgecolor="0.6", hatch="////", linewidth=0, zorder=1
            ),
            autolim=False,
        )
    return image


def _write(ax, image, digits, fontsize):
    """Write the numbers into the cells, in the one of black and white that is readable there."""
    values = image.get_array()
    channels = image.cmap(image.norm(values))[..., :3]
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    luminance = linear @ (0.2126, 0.7152, 0.0722)  # WCAG's; black and white tie at 0.179
    for i, j in np.argwhere(~np.ma.getmaskarray(values)):
        ax.text(
            j,
            i,
            _number(values[i, j], digits),
            ha="center",
            va="center",
            fontsize=fontsize,
            color="white" if luminance[i, j] < 0.179 else "black",
        )


def _draw_angle(ax, a, b):
    start, end = np.degrees(np.arctan2([a[1], b[1]], [a[0], b[0]]))
    if (end - start) % 360 > 180:
        start, end = end, start
    degrees = (end - start) % 360
    size = 0.35 * min(np.hypot(*a), np.hypot(*b))
    ax.add_patch(Arc((0, 0), 2 * size, 2 * size, theta1=start, theta2=start + degrees, lw=1.5))
    middle = np.radians(start + degrees / 2)
    ax.annotate(
        f"{degrees:.0f}°",
        (size * np.cos(middle), size * np.sin(middle)),
        xytext=(16 * np.cos(middle), 12 * np.sin(middle)),
        textcoords="offset points",
        ha="center",
        va="center",
    )


def _ticks(axis, labels, room, rotation=45):
    """Put one tick at each cell; turn labels of the x-axis that are wider than their cell."""
    size = float(np.clip(66 * room, 4, 10))  # 72 points an inch, less some space between lines
    axis.set_ticks(np.arange(len(labels)), labels, fontsize=size)
    if axis.axis_name == "x" and LETTER * _longest(labels) > 0.95 * room:
        anchor = {"ha": "right", "rotation_mode": "anchor"} if rotation != 90 else {}
        plt.setp(axis.get_ticklabels(), rotation=rotation, **anchor)


def _inches(ax):
    """Return the width and height of the axes before the layout makes room for labels."""
    box = ax.get_position()
    return np.array([box.width, box.height]) * ax.figure.get_size_inches()


def _longest(labels):
    return max((len(label) for label in labels), default=0)


def _number(value, digits):
    """Return the number as text, without a minus before zero, with a real minus elsewhere."""
    return f"{round(float(value), digits) + 0.0:.{digits}f}".replace("-", "−")  # noqa: RUF001


def _array(name, values, ndim, finite=True):
    array = np.asarray(values, dtype=float)
    allowed = np.atleast_1d(ndim)
    if array.ndim not in allowed or array.size == 0:
        axes = " or ".join(str(n) for n in allowed)
        raise ValueError(f"{name} must have {axes} axes, none empty; got shape {array.shape}")
    if finite and not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite; got nan or inf")
    return array


def _probabilities(name, values, ndim):
    array = _array(name, values, ndim)
    low, high = array.min(), array.max()
    if low < 0 or high > 1 + 1e-3:  # rounding in float16 may give a little more than 1
        raise ValueError(f"{name} must be from 0 to 1; got values from {low:.4g} to {high:.4g}")
    return array


def _labels(name, labels, n):
    if isinstance(labels, str):
        raise TypeError(f"{name} must be a sequence of {n} strings; got the string {labels!r}")
    labels = [str(label) for label in labels]
    if len(labels) != n:
        raise ValueError(f"{name} must have one label for each of the {n}; got {len(labels)}")
    return labels


def _pair(name, pair, vectors):
    first, second = pair
    if not (0 <= first < len(vectors) and 0 <= second < len(vectors)):
        raise ValueError(f"{name} must be two positions from 0 to {len(vectors) - 1}; got {pair}")
    needed = [second] if name == "projection" else [first, second]
    if not vectors[needed].any(axis=1).all():
        raise ValueError(f"{name} needs vectors with a direction; got a zero vector in {pair}")
    return first, second


def _named_shape(item):
    try:
        name, (rows, columns) = item
    except (TypeError, ValueError):
        raise ValueError(f"a matrix must be (name, (rows, columns)); got {item!r}") from None
    if min(rows, columns) < 1:
        raise ValueError(f"{name} must have sizes of at least 1; got shape {(rows, columns)}")
    return name, (rows, columns)


def _mask(mask, shape):
    if mask is None:
        return np.ones(shape, dtype=bool)
    mask = np.asarray(mask)
    if mask.dtype != bool:
        raise TypeError(f"mask must be boolean, True = may attend; got dtype {mask.dtype}")
    try:
        return np.broadcast_to(mask, shape)
    except ValueError:
        raise ValueError(f"mask must be broadcastable to {shape}; got shape {mask.shape}") from None
