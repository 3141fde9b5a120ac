"""Every committed notebook is what running it again gives, in the one committed form."""

import ast
import os
from pathlib import Path

import nbformat
import pytest

from companion.interactive import MIME_TYPE
from notebooks import METADATA, normalise, run, write

ROOT = Path(__file__).parent.parent
PATHS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SECONDS = 10  # a reader who runs all cells doesn't wait longer

each_notebook = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)


def read(path):
    return nbformat.read(path, as_version=4)


def code_cells(path):
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


def where(path, cell):
    return f"{path.name}, cell {cell.id}: {cell.source.strip().splitlines()[0]!r}"


def has_picture(cell):
    return any("image/png" in output.get("data", {}) for output in cell.outputs)


def compared(notebook):
    """The cells without the pixels: those may differ from machine to machine."""
    cells = []
    for cell in notebook.cells:
        cell = nbformat.from_dict(cell)
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                output["data"]["image/png"] = "a picture"
        cells.append(cell)
    return cells


def time_of_children():
    """Processor time of ended kernels; wall time would depend on what else is running."""
    times = os.times()
    return times.children_user + times.children_system


def test_there_are_notebooks():
    assert PATHS


@each_notebook
def test_running_it_again_changes_nothing_but_pictures(path, monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")  # its threads burn time while they wait
    start = time_of_children()
    again = run(path)
    seconds = time_of_children() - start
    for stored, new in zip(compared(read(path)), compared(again), strict=True):
        assert new == stored, f"{where(path, stored)}; make notebooks stores new outputs"
    assert seconds < SECONDS


@each_notebook
def test_it_is_stored_in_the_committed_form(path, tmp_path):
    write(normalise(read(path)), tmp_path / path.name)
    assert path.read_bytes() == (tmp_path / path.name).read_bytes(), "run make notebooks"


@each_notebook
def test_metadata_name_no_machine(path):
    notebook = read(path)
    assert notebook.metadata == METADATA
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)


@each_notebook
def test_the_first_code_cell_only_imports_and_sets_print_options(path):
    for statement in ast.parse(code_cells(path)[0].source).body:
        is_import = isinstance(statement, ast.Import | ast.ImportFrom)
        is_setting = ast.unparse(statement).startswith(
            ("np.set_printoptions(", "np.random.seed(", "plt.rcParams")
        )
        assert is_import or is_setting, ast.unparse(statement)


@each_notebook
def test_it_asserts_something(path):
    statements = [node for cell in code_cells(path) for node in ast.walk(ast.parse(cell.source))]
    assert any(isinstance(node, ast.Assert) for node in statements)


@each_notebook
def test_every_comparison_is_asserted(path):
    for cell in code_cells(path):
        for statement in ast.walk(ast.parse(cell.source)):
            if isinstance(statement, ast.Expr):
                assert not isinstance(statement.value, ast.Compare), where(path, cell)


@each_notebook
def test_every_picture_says_what_it_shows(path):
    for cell in code_cells(path):
        pictures = [o for o in cell.outputs if "image/png" in o.get("data", {})]
        assert len(pictures) <= 1, f"more than one picture: {where(path, cell)}"
        if pictures and MIME_TYPE in pictures[0].data:
            text = pictures[0].data[MIME_TYPE]["description"]
            assert len(text) >= 20 and pictures[0].data["text/plain"] == text, where(path, cell)
            assert pictures[0].metadata["image/png"]["alt"] == text, where(path, cell)
        elif pictures:
            mystnb = cell.metadata.get("mystnb", {})
            alt = mystnb.get("image", {}).get("alt", "")
            assert len(alt) >= 20, f"no mystnb.image.alt: {where(path, cell)}"
            assert cell.source.rstrip().endswith("plt.show()"), where(path, cell)


@each_notebook
def test_figure_settings_belong_to_a_picture(path):
    for cell in code_cells(path):
        if "mystnb" in cell.metadata and {"image", "figure"} & set(cell.metadata.mystnb):
            assert has_picture(cell), where(path, cell)


@each_notebook
def test_nothing_is_printed_to_stderr(path):
    for cell in code_cells(path):
        for output in cell.outputs:
            assert output.get("name") != "stderr", where(path, cell)


@each_notebook
def test_an_expected_exception_is_raised(path):
    for cell in code_cells(path):
        raised = any(output.output_type == "error" for output in cell.outputs)
        expected = "raises-exception" in cell.metadata.get("tags", [])
        assert raised == expected, where(path, cell)


@each_notebook
def test_no_cell_is_kept_from_being_compared(path):
    for cell in code_cells(path):
        tags = set(cell.metadata.get("tags", []))
        assert not tags & {"nbval-skip", "nbval-ignore-output", "skip-execution"}, where(path, cell)
        assert "NBVAL_" not in cell.source, where(path, cell)


@each_notebook
def test_outputs_hold_no_bare_scalars_addresses_or_negative_zeros(path):
    for cell in code_cells(path):
        for output in cell.outputs:
            text = output.get("text", "") + output.get("data", {}).get("text/plain", "")
            for bad in ("np.float", "np.int", "np.bool", "-0. ", "-0.]", "-0.,", " at 0x"):
                assert bad not in text, where(path, cell)
            words = text.replace("[", " ").replace("]", " ").replace(",", " ").split()
            zeros = [w for w in words if w.startswith("-0") and not w.strip("-0.")]
            assert not zeros, f"{zeros}: {where(path, cell)}"


@each_notebook
def test_markdown_needs_no_footnotes(path):
    for cell in read(path).cells:
        if cell.cell_type == "markdown":
            assert "[^" not in cell.source, "footnotes can't be translated"


def test_normal_form_removes_what_changes_from_run_to_run():
    cell = nbformat.v4.new_code_cell("1", execution_count=7)
    cell.metadata["execution"] = {"iopub.status.busy": "2026-01-01T00:00:00Z"}
    cell.metadata["tags"] = ["hide-input"]
    cell.outputs = [
        nbformat.v4.new_output("stream", name="stdout", text="a\n"),
        nbformat.v4.new_output("stream", name="stdout", text="b\n"),
        nbformat.v4.new_output("execute_result", {"text/plain": "1"}, execution_count=7),
    ]
    notebook = nbformat.v4.new_notebook(cells=[cell], metadata={"author": "someone"})
    result = normalise(notebook)
    assert result.metadata == METADATA
    assert result.cells[0].metadata == {"tags": ["hide-input"]}
    assert result.cells[0].execution_count == 1
    assert [output.get("text") for output in result.cells[0].outputs] == ["a\nb\n", None]
    assert result.cells[0].outputs[1].execution_count == 1


def test_a_cell_without_an_id_gets_one():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("text")])
    del notebook.cells[0]["id"]
    assert normalise(notebook).cells[0].id
