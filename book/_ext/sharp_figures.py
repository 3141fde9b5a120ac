"""Figures are drawn as SVG into the book's pages: sharp at any size, and half of PNG's bytes.

The notebooks' stored outputs hold PNG, which JupyterLab and GitHub show.
"""

import os
from pathlib import Path

# For the kernels of this build alone; a reader's own settings of IPython have no say in it.
SETTINGS = """
c.InlineBackend.figure_formats = {"svg"}
c.InlineBackend.rc = {"svg.hashsalt": "book"}  # the same names in each build
c.InlineBackend.print_figure_kwargs = {"bbox_inches": "tight", "metadata": {"Date": None}}
"""


def use_svg(app):
    folder = Path(app.doctreedir).parent / "ipython"
    profile = folder / "profile_default"
    profile.mkdir(parents=True, exist_ok=True)
    (profile / "ipython_kernel_config.py").write_text(SETTINGS, encoding="utf-8")
    os.environ["IPYTHONDIR"] = str(folder)


def setup(app):
    app.connect("builder-inited", use_svg)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
