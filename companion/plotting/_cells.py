"""The coloured cells that heatmaps and number tables are made of."""

import numpy as np
from matplotlib.collections import PatchCollection
from matplotlib.patches import Rectangle

from companion.plotting._common import number_text

WEIGHT_MAP = "Blues"
SCORE_MAP = "RdBu_r"
HIDDEN = "0.93"  # grey under the hatch of a cell that may not be attended to


def draw_cells(ax, values, hidden, limits, colour_map):
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
                squares, facecolor=HIDDEN, edgecolor="0.6", hatch="////", linewidth=0, zorder=1
            ),
            autolim=False,
        )
    return image


def write_numbers(ax, image, digits, fontsize):
    """Write the numbers into the cells, in the one of black and white that is readable there."""
    values = image.get_array()
    channels = image.cmap(image.norm(values))[..., :3]
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    luminance = linear @ (0.2126, 0.7152, 0.0722)  # WCAG's; black and white tie at 0.179
    for i, j in np.argwhere(~np.ma.getmaskarray(values)):
        ax.text(
            j,
            i,
            number_text(values[i, j], digits),
            ha="center",
            va="center",
            fontsize=fontsize,
            color="white" if luminance[i, j] < 0.179 else "black",
        )
