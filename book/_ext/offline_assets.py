"""MathJax from the installed package instead of from another host, on pages with formulas only."""

import importlib.metadata
import shutil
from pathlib import Path

from docutils import nodes

# Of the package's 24 MB, what a page can ask for: the script, its fonts, and the TeX
# extensions that it loads on demand (\boldsymbol, \color, ...).
PARTS = (
    "static/mathjax/tex-chtml.js",
    "static/mathjax/output/chtml/fonts/woff-v2/",
    "static/mathjax/input/tex/extensions/",
)


def copy_mathjax(app):
    if app.builder.format != "html":
        return
    folder = Path(app.doctreedir).parent / "mathjax"
    for file in importlib.metadata.files("sphinx-mathjax-offline"):
        path = file.as_posix()
        if any(part in path for part in PARTS):
            target = folder / path.split("static/", 1)[1]
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file.locate(), target)
    app.config.html_static_path.append(str(folder))
    app.config.mathjax_path = "mathjax/tex-chtml.js"


def is_mathjax(script):
    body = getattr(script, "attributes", {}).get("body") or ""
    return "mathjax" in str(getattr(script, "filename", script)) or "window.MathJax" in body


def drop_unused_scripts(app, pagename, templatename, context, doctree):
    """Sphinx loads MathJax on the parents of a page with formulas as well."""
    if doctree is None or not any(
        doctree.findall(lambda node: isinstance(node, nodes.math | nodes.math_block))
    ):
        context["script_files"][:] = [s for s in context["script_files"] if not is_mathjax(s)]


def setup(app):
    app.connect("builder-inited", copy_mathjax)
    app.connect("html-page-context", drop_unused_scripts, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
