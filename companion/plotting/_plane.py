"""Vectors as arrows in the plane."""

import numpy as np
from matplotlib.patches import Arc

from companion.plotting._common import COLOURS, WIDTH, check_array, check_labels, figure


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
    >>> from companion import plotting
    >>> ax = plotting.vectors([[2, 0], [1, 1]], ["a", "b"], angle=(0, 1))
    >>> [text.get_text() for text in ax.texts]
    ['a', 'b', '45°']
    """
    vectors = check_array("vectors", vectors, ndim=2)
    if vectors.shape[1] != 2:
        raise ValueError(f"vectors must have shape (n, 2); got shape {vectors.shape}")
    labels = check_labels("labels", labels, len(vectors))
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
            fontsize=11,
            fontweight="bold",
        )
    if pairs["angle"]:
        _draw_angle(ax, *vectors[list(pairs["angle"])])
    if pairs["projection"]:
        a, b = vectors[list(pairs["projection"])]
        foot = (a @ b) / (b @ b) * b
        ax.plot([0, foot[0]], [0, foot[1]], "-", color="0.7", lw=8, solid_capstyle="butt", zorder=1)
        ax.plot([a[0], foot[0]], [a[1], foot[1]], "--", color="0.3", lw=1.5, zorder=2)
    ax.update_datalim(vectors)
    ax.margins(0.2)
    ax.set_aspect("equal", adjustable="datalim")
    ax.autoscale_view()
    ax.set_xlabel("first component")
    ax.set_ylabel("second component")
    return ax


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


def _pair(name, pair, vectors):
    pair = tuple(pair)
    if len(pair) != 2 or not all(0 <= i < len(vectors) for i in pair):
        raise ValueError(f"{name} must be two positions from 0 to {len(vectors) - 1}; got {pair}")
    needed = pair[1:] if name == "projection" else pair
    if not vectors[list(needed)].any(axis=1).all():
        raise ValueError(f"{name} needs vectors with a direction; got a zero vector in {pair}")
    return pair
