"""A book of one page and one notebook, with the project's own configuration and extensions."""

import shutil
import sys
from pathlib import Path

import nbformat

import make
from notebooks import METADATA

ROOT = Path(__file__).parent.parent

INDEX = """---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {display_name: Python 3, language: python, name: python3}
---
# A book

One page, with a code cell.

```{code-cell}
print(40 + 1)
```
"""


def write_small_book(root, code="print(1)"):
    for folder in ("_ext", "_static", "_templates"):
        shutil.copytree(ROOT / "book" / folder, root / "book" / folder)
    shutil.copy(ROOT / "book" / "references.bib", root / "book")
    shutil.copy(ROOT / "_config.yml", root)
    (root / "_toc.yml").write_text(
        "format: jb-book\nroot: book/index\nchapters:\n  - file: notebooks/one\n"
    )
    (root / "book" / "index.md").write_text(INDEX)
    (root / "notebooks").mkdir()
    write_notebook(root, code)


def write_notebook(root, code):
    cells = [nbformat.v4.new_markdown_cell("# One"), nbformat.v4.new_code_cell(code)]
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=METADATA)
    nbformat.write(notebook, root / "notebooks" / "one.ipynb")


def point_make_to(root, monkeypatch):
    """Let make's functions build in `root` with the Python that runs the tests."""
    monkeypatch.setattr(make, "ROOT", root)
    monkeypatch.setattr(make, "BUILD", root / "_build")
    monkeypatch.setattr(make, "HTML", root / "_build" / "html")
    monkeypatch.setattr(make, "PYTHON", Path(sys.executable))
