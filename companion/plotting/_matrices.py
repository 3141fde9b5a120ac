"""Matrices as rectangles with their shapes, and as tables of numbers."""

import re

import numpy as np
from matplotlib.patches import Rectangle

from companion._validation import need_count
from companion.plotting._cells import SCORE_MAP, draw_cells, write_numbers
from companion.plotting._common import (
    COLOURS,
    LETTER,
    WIDTH,
    check_array,
    check_labels,
    figure,
    longest,
    number_size,
    number_text,
    set_ticks,
    size_in_inches,
)


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
    >>> from companion import plotting
    >>> product = [("X", (8, 512)), "·", ("$W_Q$", (512, 64)), "=", ("Q", (8, 64))]
    >>> ax = plotting.matrix_shapes(product)
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
            shape = f"{rows}×{columns}"
            room = max(width, LETTER * max(len(shape), len(re.sub(r"[${}\\_]", "", name))))
            centre = x + room / 2
            drawn.append(Rectangle((centre - width / 2, -height / 2), width, height))
            drawn.append((centre, height / 2 + 0.15, name))
            drawn.append((centre, -height / 2 - 0.15, shape))
        x += room + 0.08
    if ax is None:
        ax = figure(width=min(x, WIDTH + 1), height=tallest + 0.7)[1]
    colour = iter(np.resize(COLOURS, len(shapes)))
    for item in drawn:
        if isinstance(item, Rectangle):
            item.set(edgecolor="black", facecolor=next(colour), alpha=0.5)
            ax.add_patch(item)
        else:
            ax.text(*item, ha="center", va="center", fontsize=14 if item[1] == 0 else 10)
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
    >>> from companion import plotting
    >>> ax = plotting.matrix([[1.0, -0.5], [0.25, 2.0], [0.0, 3.0]], ["a", "b", "c"], name="Q")
    >>> ax.get_title()
    'Q  3×2'
    """
    values = check_array("values", values, ndim=2)
    n_rows, n_columns = values.shape
    rows = [""] * n_rows if rows is None else check_labels("rows", rows, n_rows)
    columns = [""] * n_columns if columns is None else check_labels("columns", columns, n_columns)
    letters = max(len(number_text(value, digits)) for value in values.flat)
    left = LETTER * longest(rows) + 0.1
    if ax is None:
        cell = min(max(0.45, LETTER * letters + 0.1), WIDTH / n_columns)
        ax = figure(
            width=cell * n_columns + left,
            height=0.28 * n_rows + 0.25 * bool(name) + 0.3 + 0.06 * longest(columns),
        )[1]
    limit = 2.5 * (np.abs(values).max() or 1.0)  # the middle of the map only: pale colours
    image = draw_cells(ax, values, np.zeros(values.shape, bool), (-limit, limit), SCORE_MAP)
    ax.set_aspect("auto")
    cell = max(0.01, (size_in_inches(ax)[0] - left) / n_columns)
    write_numbers(ax, image, digits, max(number_size(cell, letters), 4))
    for text, value in zip(ax.texts, values.flat, strict=True):
        if abs(value) < 1e-9:  # so that what counts stands out
            text.set_text("0")
    set_ticks(ax.yaxis, rows, 1)
    ax.tick_params(length=0, top=False, labeltop=True, bottom=False, labelbottom=False)
    set_ticks(ax.xaxis, columns, cell)
    for label in ax.get_xticklabels():
        if label.get_rotation() == 45:
            label.set_ha("left")  # above the table a slanted label begins at its column
    if name:
        ax.set_title(f"{name}  {n_rows}×{n_columns}", fontsize=11)
    return ax


def _named_shape(item):
    try:
        name, (rows, columns) = item
    except (TypeError, ValueError):
        raise ValueError(f"a matrix must be (name, (rows, columns)); got {item!r}") from None
    return name, (need_count(rows, "rows", 1), need_count(columns, "columns", 1))
