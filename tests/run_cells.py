"""Run a notebook's code cells in this process: `python run_cells.py FILE`.

A quick stand-in for nbval, without a kernel and without drawing. Exit code 0 if every cell prints
what is stored with it, 1 and a line that begins with FAILED at the first that raises or prints
something else.
"""

import contextlib
import io
import json
import os
import sys
import traceback
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt

path = Path(sys.argv[1]).resolve()
cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
os.chdir(path.parent)
matplotlib.use("agg")
plt.show = lambda: plt.close("all")

names = {"__name__": "__main__"}
for cell in cells:
    if cell["cell_type"] != "code":
        continue
    source = "".join(cell["source"])
    stored = "".join(
        "".join(output["text"])
        for output in cell["outputs"]
        if output["output_type"] == "stream" and output["name"] == "stdout"
    )
    printed = io.StringIO()
    raised = None
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(source, cell["id"], "exec"), names)
        except Exception:
            raised = traceback.format_exc()
    expected_to_raise = any(output["output_type"] == "error" for output in cell["outputs"])
    if printed.getvalue() != stored or bool(raised) != expected_to_raise:
        print(f"FAILED {sys.argv[1]}, cell {cell['id']}:\n{source}")
        print(f"--- stored\n{stored}\n--- now\n{printed.getvalue()}\n{raised or ''}")
        sys.exit(1)
