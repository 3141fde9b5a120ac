"""What the figures share: the form in which they are handed over, colours, and controls."""

import base64
import io
from dataclasses import dataclass

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


def slider(name, label, low, high, step, value):
    """Describe a parameter that the reader sets with a slider."""
    bind = {"input": "range", "name": label, "min": low, "max": high, "step": step}
    return {"name": name, "value": value, "bind": bind}
