"""Execute notebooks and store them in one form: `python tools/notebooks.py FILE...`.

The form holds nothing that changes from run to run or from machine to machine, so a notebook's
diff shows what an author changed, and a test can demand that a new run changes nothing.
"""

import os
import sys
import time
import uuid
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def merged(outputs):
    """Outputs in which a stream that arrived in several pieces is one."""
    result = []
    for output in outputs:
        last = result[-1] if result else None
        if last and output.output_type == last.output_type == "stream" and output.name == last.name:
            last.text += output.text
        else:
            result.append(output)
    return result


def normalise(notebook):
    """The notebook in the form in which it is committed."""
    notebook.metadata = nbformat.from_dict(METADATA)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    number = 0
    for cell in notebook.cells:
        cell.setdefault("id", uuid.uuid4().hex[:8])
        for volatile in ("execution", "collapsed", "scrolled", "trusted", "jupyter"):
            cell.metadata.pop(volatile, None)
        if cell.cell_type == "code":
            number += 1
            cell.execution_count = number
            cell.outputs = merged(cell.outputs)
            for output in cell.outputs:
                if output.output_type == "execute_result":
                    output.execution_count = number
    nbformat.validate(notebook)
    return notebook


def run(path):
    """The notebook in the file `path`, executed from top to bottom and normalised."""
    path = Path(path)
    notebook = nbformat.read(path, as_version=4)
    # a backend that the reader has chosen would keep figures out of the notebook
    environment = {k: v for k, v in os.environ.items() if k != "MPLBACKEND"}
    NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(path.parent)}},
    ).execute(env=environment)
    return normalise(notebook)


def write(notebook, path):
    text = nbformat.writes(notebook, indent=1)
    Path(path).write_text(text.rstrip("\n") + "\n", encoding="utf-8", newline="\n")


def main(paths):
    failed = []
    for path in paths:
        start = time.monotonic()
        try:
            write(run(path), path)
        except CellExecutionError as error:
            failed.append(path)
            print(f"{path}: a cell failed; the file is unchanged\n{error}", flush=True)
        else:
            print(f"{path}: executed in {time.monotonic() - start:.1f} s", flush=True)
    print(f"{len(paths) - len(failed)} notebooks executed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
