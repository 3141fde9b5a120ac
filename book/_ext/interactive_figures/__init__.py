"""Script and style of the interactive figures, for the pages that have one and no others.

Vega-Embed, which draws them, is taken from the installed package vl-convert-python. It is not
part of any page: figures.js fetches it when a reader comes near a figure.
"""

from pathlib import Path

import vl_convert
from docutils import nodes

from companion.interactive._figure import VEGA_LITE

HERE = Path(__file__).parent


def write_vega_embed(app):
    if app.builder.format != "html":
        return
    folder = Path(app.doctreedir).parent / "vega"
    folder.mkdir(parents=True, exist_ok=True)
    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=VEGA_LITE)
    (folder / "vega-embed.js").write_text(f"(() => {{{bundle}}})();", encoding="utf-8")
    app.config.html_static_path += [str(HERE / "static"), str(folder)]


def add_files(app, pagename, templatename, context, doctree):
    if doctree is not None and any(node.get("interactive") for node in doctree.findall(nodes.raw)):
        app.add_js_file("figures.js", loading_method="defer")
        app.add_css_file("figures.css")


def setup(app):
    app.connect("builder-inited", write_vega_embed)
    app.connect("html-page-context", add_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
