"""Formulas are set when the book is built: pages show them at once, without a script.

MathJax and its fonts come from the installed package sphinx-mathjax-offline, and what runs it,
Node.js, is a part of the installed package playwright. A formula with a fault is a warning.
"""

import importlib.metadata
import json
import os
import re
import subprocess
from pathlib import Path

import playwright
from docutils import nodes
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

from font_subset import write_subset

HERE = Path(__file__).parent
NODE = Path(playwright.__file__).parent / "driver" / ("node.exe" if os.name == "nt" else "node")
FILES = importlib.metadata.files("sphinx-mathjax-offline")
MATHJAX = next(Path(f.locate()).parent for f in FILES if f.name == "node-main.js").resolve()
FONTS = MATHJAX / "output" / "chtml" / "fonts" / "woff-v2"
log = logging.getLogger(__name__)


def is_formula(node):
    return isinstance(node, nodes.math | nodes.math_block)


def tex(node):
    """What MathJax sets: a display of several lines or formulas is put into an environment.

    >>> tex(nodes.math_block("", "a = b \\\\\\\\ c = d", nowrap=False))
    '\\\\begin{split}a = b \\\\\\\\ c = d\\\\end{split}'
    """
    text = node.astext()
    if isinstance(node, nodes.math) or node["nowrap"]:
        return text
    parts = [part for part in text.split("\n\n") if part.strip()]
    parts = [rf"\begin{{split}}{part}\end{{split}}" if r"\\" in part else part for part in parts]
    if len(parts) == 1:
        return parts[0]
    return r"\begin{aligned}" + r"\\".join(parts) + r"\end{aligned}"


def typeset(formulas):
    """HTML of each formula, a pair (TeX, whether it stands alone), and their style sheet."""
    done = subprocess.run(
        [NODE, HERE / "typeset.js"],
        input=json.dumps({"mathjax": MATHJAX.as_posix(), "formulas": formulas}),
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    answer = json.loads(done.stdout)
    return dict(zip(formulas, answer["set"], strict=True)), answer["style"]


def write_style(style, static):
    """Write the style sheet and, with the letters that it names, its fonts."""
    contents = re.findall(r'content: "(?:\\([0-9A-F]+)|(.))"', style)
    letters = {int(code, 16) if code else ord(letter) for code, letter in contents}
    for font in FONTS.glob("*.woff"):
        if not write_subset(font, letters, static / "mathjax" / font.name):
            style = re.sub(rf"@font-face[^{{]*{{[^}}]*{font.stem}[^}}]*}}", "", style)
    (static / "formulas.css").write_text(style, encoding="utf-8")


def formulas_of(builder):
    """All formulas of the book, set; done once, when the first is asked for."""
    if not hasattr(builder, "formulas"):
        documents = map(builder.env.get_doctree, sorted(builder.env.found_docs))
        found = (node for document in documents for node in document.findall(is_formula))
        wanted = dict.fromkeys((tex(node), isinstance(node, nodes.math_block)) for node in found)
        builder.formulas, style = typeset(list(wanted))
        write_style(style, Path(builder.outdir) / "_static")
    return builder.formulas


def html_of(translator, node):
    formula = tex(node), isinstance(node, nodes.math_block)
    html = formulas_of(translator.builder)[formula]
    if "fault" in html:
        log.warning("formula: %s: %s", html["fault"], formula[0], location=node)
        return ""
    return html


def visit_inline(translator, node):
    html = html_of(translator, node)
    translator.body.append(f'<span class="math notranslate nohighlight">{html}</span>')
    raise nodes.SkipNode


def visit_display(translator, node):
    html = html_of(translator, node)
    translator.body.append(translator.starttag(node, "div", CLASS="math notranslate nohighlight"))
    if node["number"]:
        number = get_node_equation_number(translator, node)
        translator.body.append(f'<span class="eqno">({number})')
        translator.add_permalink_ref(node, "Link to this equation")
        translator.body.append("</span>")
    translator.body.append(f"{html}</div>\n")
    raise nodes.SkipNode


def marks_beside(node, step):
    """The marks that touch a node on the left (step -1) or right (1), cut from their text."""
    place = node.parent.index(node) + step
    beside = node.parent[place] if 0 <= place < len(node.parent) else None
    if not isinstance(beside, nodes.Text):
        return ""
    marks = re.search(r"[^\s\w]*\Z" if step < 0 else r"^[^\s\w]*", beside)[0]
    rest = beside.removesuffix(marks) if step < 0 else beside.removeprefix(marks)
    node.parent[place] = nodes.Text(rest)
    return marks


def keep_marks(app, doctree, docname):
    """Keep a formula and the marks that touch it, as in "($x$),", on one line.

    A browser may break a line on either side of a formula, even before a comma.
    """
    for node in list(doctree.findall(nodes.math)):
        left, right = marks_beside(node, -1), marks_beside(node, 1)
        if left or right:
            together = nodes.inline(classes=["together"])
            node.replace_self(together)
            together += [nodes.Text(left), node, nodes.Text(right)]


def add_style(app, pagename, templatename, context, doctree):
    if doctree is not None and any(doctree.findall(is_formula)):
        formulas_of(app.builder)  # the file must be there for its checksum
        app.add_css_file("formulas.css", priority=100)


def setup(app):
    app.add_html_math_renderer("typeset", (visit_inline, None), (visit_display, None))
    app.connect("doctree-resolved", keep_marks)
    app.connect("html-page-context", add_style)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
