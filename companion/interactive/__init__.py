"""Figures that answer: one for each chapter, with sliders and menus, on the chapter's own data.

Each function takes the chapter's arrays and returns an `InteractiveFigure`; end a notebook cell
with it. JupyterLab and the built book draw it alive, everything else shows the picture that
comes with it. It recomputes in the reader's browser what the companion computes, and the tests
compare the two. Import it by name: ``from companion import interactive``.

The figures are written in Vega-Lite 5 (https://vega.github.io/vega-lite/), plainly as
dictionaries. Only the still pictures need a package, vl-convert-python.
"""

from companion.interactive._distribution import distribution
from companion.interactive._figure import MIME_TYPE, InteractiveFigure
from companion.interactive._heads import heads
from companion.interactive._masks import masks
from companion.interactive._score_table import score_table
from companion.interactive._value_update import value_update
from companion.interactive._vectors import vectors

__all__ = [
    "MIME_TYPE",
    "InteractiveFigure",
    "distribution",
    "heads",
    "masks",
    "score_table",
    "value_update",
    "vectors",
]
