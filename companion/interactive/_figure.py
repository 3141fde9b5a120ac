"""What the figures share: the form in which they are handed over, colours, and controls."""

import base64
import io
from dataclasses import dataclass

import numpy as np

from companion._validation import as_float

VEGA_LITE = "6.4"  # draws version 5, too, which is what JupyterLab 4.6 knows
MIME_TYPE = "application/vnd.vegalite.v5+json"
BLUE, ORANGE = "#0072B2", "#D55E00"  # of companion.plotting; readable on white and on black
FULL = 0.6  # opacity of the strongest fill, so that text on it stays readable on both
WIDTH = 340  # all of a figure, in pixels: a phone's column; wider columns scale it up

TEXT = "currentColor"  # of the page around, whether it is light or dark
CONFIG = {
    "background": "transparent",
    "view": {"stroke": None},
    "axis": {
        "labelColor": TEXT,
        "titleColor": TEXT,
        "domainColor": TEXT,
        "tickColor": TEXT,
        "gridColor": TEXT,
        "gridOpacity": 0.15,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    },
    "text": {"color": TEXT, "fontSize": 12},
    "rule": {"color": TEXT},
    "title": {"color": TEXT, "fontSize": 12, "fontWeight": "normal", "anchor": "start"},
}


@dataclass(frozen=True, eq=False, repr=False)
class InteractiveFigure:
    """A Vega-Lite figure that a notebook cell can end with.

    Attributes
    ----------
    spec : dict
        The figure in Vega-Lite 5; ``spec["description"]`` says in words what it shows at first.
    """

    spec: dict

    def svg(self):
        """Return the picture that it shows at first, as SVG."""
        import vl_convert  # here: building a figure should not need it

        return vl_convert.vegalite_to_svg(self.spec, vl_version=VEGA_LITE)

    def png(self):
        """Return the same picture on white, as PNG."""
        import vl_convert
        from PIL import Image

        white = {**self.spec, "config": {**self.spec["config"], "background": "white"}}
        large = vl_convert.vegalite_to_png(white, vl_version=VEGA_LITE, scale=2)
        small = io.BytesIO()  # few colours: a fifth of the bytes
        Image.open(io.BytesIO(large)).convert("RGB").quantize(64).save(small, "png", optimize=True)
        return small.getvalue()

    def _repr_mimebundle_(self, include=None, exclude=None):
        """What IPython stores: alive for JupyterLab and the book, a picture for all others."""
        text = self.spec["description"]
        data = {
            MIME_TYPE: self.spec,
            "image/png": base64.b64encode(self.png()).decode(),
            "text/plain": text,
        }
        options = {"renderer": "svg", "actions": False}
        return data, {MIME_TYPE: {"embed_options": options}, "image/png": {"alt": text}}


def figure(description, params, **view):
    """Put a view, its controls and what it says in words together."""
    return InteractiveFigure(
        {
            "$schema": "https://vega.github.io/schema/vega-lite/v5.json",  # a name, never fetched
            "description": description,
            "params": params,
            **view,
            "config": CONFIG,
        }
    )


def numbers(name, values, ndim):
    """Return `values` as a float64 array with this many axes and nothing infinite."""
    array = as_float(values, name).astype(float)
    if array.ndim != ndim or array.size == 0 or not np.isfinite(array).all():
        raise ValueError(
            f"{name} must be finite, with {ndim} axes, none empty; got shape {array.shape}"
        )
    return array


def words(name, labels, n):
    """Return `labels` as a list of `n` different strings: rows of the same name would be one."""
    labels = [labels] if isinstance(labels, str) else [str(label) for label in labels]
    if len(labels) != n or len(set(labels)) != n:
        raise ValueError(f"{name} must be {n} different words; got {labels}")
    return labels


def slider(name, label, low, high, step, value):
    """Describe a parameter that the reader sets with a slider."""
    bind = {"input": "range", "name": label, "min": low, "max": high, "step": step}
    return {"name": name, "value": value, "bind": bind}


def menu(name, label, labels, value):
    """Describe a parameter that the reader sets by choosing a label: its number, from 0."""
    labels = [str(label) for label in labels]
    options = list(range(len(labels)))
    bind = {"input": "select", "name": label, "options": options, "labels": labels}
    return {"name": name, "value": value, "bind": bind}


def checkbox(name, label, value):
    """Describe a parameter that the reader turns on and off."""
    return {"name": name, "value": value, "bind": {"input": "checkbox", "name": label}}


def calculate(**expressions):
    """Describe new columns of the data, each by its expression."""
    return [{"calculate": text, "as": name} for name, text in expressions.items()]


def words_axis(width, **more):
    """Describe a y-axis of words that is `width` pixels wide, whatever they are set in."""
    sizes = {"minExtent": width, "maxExtent": width, "labelLimit": width, "labelPadding": 6}
    return {"title": None, "domain": False, "ticks": False, **sizes, **more}


def readout(names, transform):
    """Describe lines of text, one for each name; `transform` makes column `text` from `i`.

    The script of the book's pages reads them out after each change.
    """
    rows = {"field": "i", "type": "ordinal", "axis": None}
    return {
        "data": {"values": [{"name": name, "i": i} for i, name in enumerate(names)]},
        "transform": [
            *transform,
            *calculate(
                with_minus="replace(datum.text, /-/g, '−')",
                says="datum.name + ' ' + datum.with_minus",
            ),
        ],
        "height": {"step": 18},
        "encoding": {"y": rows},
        "layer": [
            {
                "mark": {"type": "text", "align": "left", "aria": False},
                "encoding": {"x": {"value": 0}, "text": {"field": "name"}},
            },
            {
                "name": "readout",
                "mark": {"type": "text", "align": "left"},
                "encoding": {
                    "x": {"value": 7 * max(map(len, names))},
                    "text": {"field": "with_minus"},
                    "description": {"field": "says"},
                },
            },
        ],
    }


def compact(array, digits=4):
    """Write each row of a matrix as one string of numbers: short, and one line in a notebook."""
    return [" ".join(f"{x:g}" for x in row) for row in np.round(array, digits) + 0.0]


def entry(rows, row, column):
    """Write the expression for one number of a matrix stored by `compact`."""
    return f"toNumber(split({rows}[{row}], ' ')[{column}])"


def minus(text):
    """Put a real minus sign into a text with numbers."""
    return text.replace("-", "−")


def bar(start, end):
    """Describe a bar between two places in pixels, with room for a number on it."""
    return {
        "transform": calculate(start=str(start)),
        "mark": {
            "type": "bar",
            "color": BLUE,
            "stroke": BLUE,
            "fillOpacity": FULL,
            "aria": False,
        },
        "encoding": {"x": pixels(end), "x2": {"field": "start"}},
    }


def pixels(field):
    """Describe a position that is given in pixels."""
    return {"field": field, "type": "quantitative", "scale": None, "axis": None}


def signed(value, digits):
    """Write the expression for a number as text, with a real minus and none before zero."""
    return f"replace(replace(format({value}, '.{digits}f'), /^-(0[.]?0*)$/, '$1'), '-', '−')"


def text(x, field, align="center", size=12, **more):
    """Describe small numbers in a column: at a place in pixels, or at one that a field says."""
    place = {"value": x} if isinstance(x, int) else pixels(x)
    return {
        "mark": {"type": "text", "align": align, "fontSize": size, "aria": bool(more)},
        "encoding": {"x": place, "text": {"field": field}, **more},
    }


def heading(words, x, **mark):
    """Describe what stands over a column."""
    return {
        "data": {"values": [{}]},
        "mark": {"type": "text", "text": words, "align": "left", **mark},
        "encoding": {"x": {"value": x}, "y": {"value": -8}},
    }
