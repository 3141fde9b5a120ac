"""What the figures share: size, colours, ticks, numbers as text, and checks of the input."""

import matplotlib.pyplot as plt
import numpy as np

from companion._validation import as_float

WIDTH = 5.0  # inches
DPI = 120
# Okabe and Ito's colours, which colour-blind readers can tell apart, without the pale yellow
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
HATCHES = ("", "///", "...", "xx", "\\\\\\", "++")
LINE_STYLES = ("-", "--", ":", "-.")
LETTER = 0.085  # inches: mean width of a letter in 10-point text


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
    >>> from companion import plotting
    >>> fig, axes = plotting.figure(rows=2, height=4)
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


def set_ticks(axis, labels, room):
    """Put one tick at each cell; turn labels of the x-axis that are wider than their cell."""
    size = float(np.clip(66 * room, 3, 10))  # 72 points an inch, less some space between lines
    axis.set_ticks(np.arange(len(labels)), labels, fontsize=size)
    if axis.axis_name == "x" and LETTER * longest(labels) > 0.95 * room:
        slanted = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
        plt.setp(axis.get_ticklabels(), **slanted if room > 0.25 else {"rotation": 90})


def size_in_inches(ax):
    """Return the width and height that the axes and their labels have in the figure's grid."""
    place = ax.get_subplotspec()
    if place is None:  # put at a place of its own
        return ax.get_position().size * ax.figure.get_size_inches()
    grid = place.get_gridspec()
    share = np.array([len(place.colspan) / grid.ncols, len(place.rowspan) / grid.nrows])
    return share * ax.figure.get_size_inches()


def number_size(width, letters):
    """Return the size in points, at most 10, at which so many letters fit into `width` inches."""
    return min(10, 10 * width / (LETTER * letters))


def longest(labels):
    """Return the number of letters of the longest label."""
    return max((len(label) for label in labels), default=0)


def number_text(value, digits):
    """Return the number as text, without a minus before zero, with a real minus elsewhere."""
    return f"{round(float(value), digits) + 0.0:.{digits}f}".replace("-", "−")


def check_array(name, values, ndim, finite=True):
    """Return `values` as a float64 array with as many axes as allowed, none of them empty."""
    array = as_float(values, name).astype(float)
    allowed = np.atleast_1d(ndim)
    if array.ndim not in allowed or array.size == 0:
        axes = " or ".join(str(n) for n in allowed)
        raise ValueError(f"{name} must have {axes} axes, none empty; got shape {array.shape}")
    if finite and not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite; got nan or inf")
    return array


def check_probabilities(name, values, ndim):
    """Return `values` as an array of numbers from 0 to 1."""
    values = check_array(name, values, ndim)
    low, high = values.min(), values.max()
    if low < 0 or high > 1 + 1e-3:  # rounding in float16 may give a little more than 1
        raise ValueError(f"{name} must be from 0 to 1; got values from {low:.4g} to {high:.4g}")
    return values


def check_labels(name, labels, n):
    """Return `labels` as a list of `n` strings."""
    if isinstance(labels, str):
        raise TypeError(f"{name} must be a sequence of {n} strings; got the string {labels!r}")
    labels = [str(label) for label in labels]
    if len(labels) != n:
        raise ValueError(f"{name} must have one label for each of the {n}; got {len(labels)}")
    return labels
