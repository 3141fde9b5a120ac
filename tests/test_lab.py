"""JupyterLab as a reader meets it: each notebook is opened in a browser, and all its cells run."""

import json
import shutil
import sys
from pathlib import Path

import nbformat
import pytest
from jupyter_server import serving

from companion.interactive import MIME_TYPE

ROOT = Path(__file__).parent.parent
PATHS = sorted((ROOT / "notebooks").glob("*.ipynb"))
MINUTE = 60_000  # of milliseconds
POLLING = 200  # milliseconds; at each frame of the browser it would keep a processor busy

# JupyterLab would ask other hosts for news
QUIET = {
    "@jupyterlab/apputils-extension:notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
    }
}

NOTEBOOK = "jupyterapp.shell.currentWidget"
CODE = f"{NOTEBOOK}.content.model.toJSON().cells.filter((cell) => cell.cell_type === 'code')"

OPEN = "(path) => { jupyterapp.commands.execute('docmanager:open', { path }); }"
SHUT_DOWN = "() => jupyterapp.commands.execute('kernelmenu:shutdown')"
IS_READY = f"""(path) => {NOTEBOOK}?.context?.path === path && {NOTEBOOK}.context.isReady
    && {NOTEBOOK}.sessionContext?.session?.kernel?.status === 'idle'"""
IS_CLEARED = f"() => {CODE}.every((cell) => !cell.execution_count && !cell.outputs.length)"
RUN_ALL = """() => {
    window.ended = false;
    jupyterapp.commands.execute('notebook:run-all-cells').finally(() => { window.ended = true; });
}"""
SHOW_CELL = f"""async ([index, name]) => {{
    {NOTEBOOK}.content.widgets[index].node.dataset.test = name;
    await {NOTEBOOK}.content.scrollToItem(index, 'center');
}}"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """JupyterLab of the project's environment, on a copy of the notebooks."""
    folder = tmp_path_factory.mktemp("lab")
    shutil.copytree(ROOT / "notebooks", folder / "notebooks")
    (folder / "overrides").mkdir()
    (folder / "overrides" / "overrides.json").write_text(json.dumps(QUIET))
    options = (
        "--LabApp.expose_app_in_browser=True",
        f"--LabApp.app_settings_dir={folder / 'overrides'}",
    )
    with serving(sys.executable, "jupyterlab", folder / "notebooks", folder, *options) as server:
        yield server


@pytest.fixture(scope="module")
def page(browser, lab):
    """JupyterLab in a browser; what goes wrong there is noted in `page.wrong`."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.set_default_timeout(2 * MINUTE)
    page.wrong = []
    local = (lab.url, lab.url.replace("http", "ws", 1), "data:", "blob:")
    page.on("request", lambda r: r.url.startswith(local) or page.wrong.append(f"asks {r.url}"))
    page.on("pageerror", lambda error: page.wrong.append(error.stack))
    page.goto(f"{lab.url}/lab?token={lab.token}", wait_until="domcontentloaded")
    page.wait_for_function("() => window.jupyterapp?.restored.then(() => true)")
    yield page
    context.close()


def run_all(page, name):
    """Open a notebook, forget its stored outputs and run all cells; returns the code cells."""
    page.evaluate(OPEN, name)
    page.wait_for_function(IS_READY, arg=name, polling=POLLING)
    page.evaluate("() => jupyterapp.commands.execute('notebook:clear-all-cell-outputs')")
    page.wait_for_function(IS_CLEARED, polling=POLLING)
    page.evaluate(RUN_ALL)
    page.wait_for_function("() => window.ended", polling=POLLING)
    return page.evaluate(f"() => {CODE}")


def move_first_control(figure):
    """Change what a reader can change first in an interactive figure."""
    control = figure.locator(".vega-bind").locator("input, select").first
    kind = control.evaluate("(element) => element.type")
    if kind == "checkbox":
        control.set_checked(not control.is_checked())
    elif kind == "range":
        low, value = (float(control.evaluate(f"(e) => e.{key}")) for key in ("min", "value"))
        high = control.evaluate("(element) => element.max")
        control.fill(high if value == low else f"{low:g}")
    else:
        control.select_option(index=int(control.evaluate("(e) => e.selectedIndex === 0")))


def assert_figure_answers(page, index, name, spec):
    """The figure below a cell has its controls, and moving one of them changes it."""
    page.evaluate(SHOW_CELL, [index, name])
    figure = page.locator(f"[data-test='{name}'] .vega-embed")
    picture = figure.locator("svg")
    picture.wait_for()
    controls = sum("bind" in parameter for parameter in spec["params"])
    assert controls and figure.locator(".vega-bind").count() == controls
    before = picture.inner_html()
    move_first_control(figure)
    page.wait_for_function(
        "([picture, before]) => picture.innerHTML !== before",
        arg=[picture.element_handle(), before],
    )


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_all_cells_run_and_the_figures_answer(page, path, record_property):
    page.wrong.clear()
    cells = run_all(page, path.name)
    for cell in cells:
        expected = "raises-exception" in cell["metadata"].get("tags", [])
        assert any(o["output_type"] == "error" for o in cell["outputs"]) == expected, cell
        assert not any(o.get("name") == "stderr" for o in cell["outputs"]), cell
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    figures = 0
    for index, cell in enumerate(nbformat.read(path, as_version=4).cells):
        for output in cell.get("outputs", []):
            if spec := output.get("data", {}).get(MIME_TYPE):
                assert_figure_answers(page, index, f"{path.stem}-{index}", spec)
                figures += 1
    # JupyterLab 4.6 measures the toolbar of a cell that has just left the view: its own slip,
    # which nobody sees. Everything else counts.
    assert [wrong for wrong in page.wrong if "_markdownOverlapsToolbar" not in wrong] == []
    record_property("count: JupyterLab: notebooks", 1)
    record_property("count: JupyterLab: cells", len(cells))
    record_property("count: JupyterLab: interactive figures", figures)
    page.evaluate(SHUT_DOWN)
