"""Every figure of the book: vectors, distributions, heatmaps, heads, lines and matrix shapes.

Each function takes arrays and labels, draws on ``ax`` (or on a new figure of fitting size) and
returns the ``Axes`` that it drew on; it never shows, saves or changes anything else. In a
notebook, end the cell with ``plt.show()``. Every chapter draws with this package; it is the only
one that needs matplotlib, so import it by name: ``from companion import plotting``.

New figures are 3 to 6 inches wide with matplotlib's 10-point text, so that they stay readable
when a page scales them to a phone, and have 120 dots per inch: text as large as the page's own,
in pictures of some tens of kilobytes. Where colours tell things apart, numbers, hatches, line
styles or labels do so too; a matrix too large for numbers has colours that colour-blind readers
can tell apart.
"""

from companion.plotting._bars import distribution
from companion.plotting._common import COLOURS, HATCHES, LINE_STYLES, figure
from companion.plotting._heatmaps import heads, score_heatmap, weight_heatmap
from companion.plotting._lines import attention_lines
from companion.plotting._matrices import matrix, matrix_shapes
from companion.plotting._plane import vectors

__all__ = [
    "COLOURS",
    "HATCHES",
    "LINE_STYLES",
    "attention_lines",
    "distribution",
    "figure",
    "heads",
    "matrix",
    "matrix_shapes",
    "score_heatmap",
    "vectors",
    "weight_heatmap",
]
