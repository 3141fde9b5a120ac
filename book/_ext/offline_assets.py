"""A book that asks no other host for anything, and no file that a page doesn't use.

MathJax comes from an installed package, and only to pages with formulas. Jupyter Book's live
code (Thebe) would fetch its parts from elsewhere; the book doesn't offer it, so its files go.
"""

import importlib.metadata
import shutil
from pathlib import Path

from docutils import nodes

# Of the package's 24 MB, what a page can ask for: the script, its fonts, and the TeX
# extensions that it loads on demand (\boldsymbol, \color, ...).
MATHJAX = (
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
        if any(part in path for part in MATHJAX):
            target = folder / path.split("static/", 1)[1]
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file.locate(), target)
    app.config.html_static_path.append(str(folder))
    app.config.mathjax_path = "mathjax/tex-chtml.js"


def mentions(file, names):
    """Whether a script or style sheet, given by its address or its text, is one of `names`."""
    text = f"{getattr(file, 'filename', file)} {getattr(file, 'attributes', {}).get('body')}"
    return any(name in text.lower() for name in names)


def has_formula(doctree):
    return doctree is not None and any(
        doctree.findall(lambda node: isinstance(node, nodes.math | nodes.math_block))
    )


def drop_unused(app, pagename, templatename, context, doctree):
    unused = ["thebe"]
    if not has_formula(doctree):  # Sphinx would load it on the parents of such a page too
        unused.append("mathjax")
    for kind in ("script_files", "css_files"):
        context[kind][:] = [file for file in context[kind] if not mentions(file, unused)]


def setup(app):
    app.connect("builder-inited", copy_mathjax)
    app.connect("html-page-context", drop_unused, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
