"""The figures, read back from the artists that were drawn."""

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
from matplotlib.collections import PatchCollection
from matplotlib.colors import to_rgb
from matplotlib.patches import Arc, Rectangle
from matplotlib.quiver import Quiver
from nbclient import NotebookClient

from companion import plotting

WEIGHTS = np.array([[0.2, 0.3, 0.5], [0.6, 0.4, 0.0]])
SCORES = np.array([[2.0, -1.5, 0.5], [0.0, -4.0, 3.0]])
QUERIES = ["a", "b"]
KEYS = ["x", "y", "z"]
TOKENS = "[CLS] a fluffy blue creature roamed the verdant forest . [SEP]".split()

# one good call of every function that draws, by the arrays it takes
CALLS = {
    "vectors": lambda a: plotting.vectors(a, KEYS, angle=(0, 1), projection=(2, 0)),
    "distribution": lambda a: plotting.distribution(a, KEYS),
    "distributions": lambda a: plotting.distribution(a, KEYS, names=QUERIES),
    "score_heatmap": lambda a: plotting.score_heatmap(a, QUERIES, KEYS),
    "weight_heatmap": lambda a: plotting.weight_heatmap(a, QUERIES, KEYS),
    "heads": lambda a: plotting.heads(a, QUERIES, KEYS),
    "attention_lines": lambda a: plotting.attention_lines(a, 1, KEYS),
    "attention_lines of heads": lambda a: plotting.attention_lines(a, 1, KEYS, names=QUERIES),
    "matrix": lambda a: plotting.matrix(a, QUERIES, KEYS, name="Q"),
}
INPUTS = {
    "vectors": np.array([[3.0, 1.0], [1.0, 2.5], [-2.0, 0.5]]),
    "distribution": WEIGHTS[0],
    "distributions": WEIGHTS,
    "score_heatmap": SCORES,
    "weight_heatmap": WEIGHTS,
    "heads": np.stack([WEIGHTS, WEIGHTS[::-1], WEIGHTS, WEIGHTS, WEIGHTS]),
    "attention_lines": WEIGHTS[0],
    "attention_lines of heads": WEIGHTS,
    "matrix": SCORES,
}


@pytest.fixture(autouse=True)
def close_figures():
    plt.close("all")
    yield
    plt.close("all")


def texts(ax):
    return [text.get_text() for text in ax.texts]


def tick_labels(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def cell_texts(ax):
    """Return the texts inside a matrix by their (row, column)."""
    cells = {}
    for text in ax.texts:
        column, row = text.get_position()
        cells[row, column] = text.get_text()
    return cells


def hidden_cells(ax):
    """Return the (row, column) of every hatched cell."""
    collections = [c for c in ax.collections if isinstance(c, PatchCollection)]
    for collection in collections:
        assert collection.get_hatch()
    corners = [path.get_extents() for c in collections for path in c.get_paths()]
    return {(box.y0 + 0.5, box.x0 + 0.5) for box in corners}


def visible_boxes(ax):
    """Draw, and return the boxes of all texts and tick labels in pixels."""
    ax.figure.canvas.draw()
    artists = [*ax.texts, *ax.get_xticklabels(), *ax.get_yticklabels(), ax.xaxis.label]
    artists += [ax.yaxis.label, ax.title]
    return [a.get_window_extent() for a in artists if a.get_text() and a.get_visible()]


# --- what holds for every function ---------------------------------------------------------


@pytest.mark.parametrize("name", CALLS)
def test_one_new_figure_and_its_axes_are_returned(name):
    returned = CALLS[name](INPUTS[name])
    assert len(plt.get_fignums()) == 1
    axes = np.atleast_1d(returned)
    assert all(isinstance(ax, plt.Axes) for ax in axes)
    assert {ax.figure.number for ax in axes} == set(plt.get_fignums())
    figure = axes[0].figure
    assert to_rgb(figure.get_facecolor()) == (1, 1, 1)
    assert figure.get_figwidth() <= 6.5
    figure.canvas.draw()  # warnings are errors: a layout that fails would warn here


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_input_is_not_modified(name, dtype):
    given = INPUTS[name].astype(dtype)
    kept = given.copy()
    given.flags.writeable = False
    CALLS[name](given)
    assert given.dtype == dtype
    np.testing.assert_array_equal(given, kept)


@pytest.mark.parametrize("name", [name for name in CALLS if name != "heads"])
def test_given_axes_are_drawn_on_and_no_figure_is_made(name, monkeypatch):
    _, ax = plotting.figure()

    def no_figure(*args, **kwargs):
        raise AssertionError("made a figure although ax was given")

    monkeypatch.setattr(plt, "figure", no_figure)
    function = getattr(plotting, name.split(" ")[0].replace("distributions", "distribution"))
    more = {
        "vectors": (KEYS,),
        "distribution": (KEYS,),
        "distributions": (KEYS,),
        "attention_lines": (1, KEYS),
        "attention_lines of heads": (1, KEYS),
    }.get(name, (QUERIES, KEYS))
    names = {"names": QUERIES} if name in ("distributions", "attention_lines of heads") else {}
    assert function(INPUTS[name], *more, ax=ax, **names) is ax
    assert ax.has_data()


@pytest.mark.parametrize("name", CALLS)
def test_nan_is_an_error(name):
    broken = INPUTS[name].copy()
    broken.flat[0] = np.nan
    with pytest.raises(ValueError, match="finite"):
        CALLS[name](broken)
    assert plt.get_fignums() == []


@pytest.mark.parametrize("name", CALLS)
def test_wrong_number_of_axes_is_an_error(name):
    with pytest.raises(ValueError, match=r"axes.*got shape"):
        CALLS[name](INPUTS[name][None, None])
    assert plt.get_fignums() == []


@pytest.mark.parametrize("name", CALLS)
def test_empty_input_is_an_error(name):
    with pytest.raises(ValueError, match="got shape"):
        CALLS[name](INPUTS[name][..., :0])
    assert plt.get_fignums() == []


@pytest.mark.parametrize(
    "name",
    ["distribution", "distributions", "weight_heatmap", "heads", "attention_lines"],
)
@pytest.mark.parametrize("wrong", [-0.01, 1.01])
def test_no_probability_is_an_error(name, wrong):
    broken = INPUTS[name].copy()
    broken.flat[1] = wrong
    with pytest.raises(ValueError, match=f"from 0 to 1; got values from .*{wrong}"):
        CALLS[name](broken)


def test_importing_the_companion_does_not_import_matplotlib():
    code = "import companion, sys; sys.exit('matplotlib' in sys.modules)"
    root = Path(__file__).parents[1]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0


def test_a_notebook_cell_shows_one_picture():
    """PL-05: neither a bare call nor a call that is shown draws twice."""
    call = "plotting.weight_heatmap([[0.2, 0.3, 0.5]], ['a'], ['x', 'y', 'z'])"
    sources = [
        "import matplotlib.pyplot as plt\nfrom companion import plotting",
        call,
        f"{call}\nplt.show()",
        f"ax = {call}",
        "plotting.heads([[[0.2, 0.8]], [[1, 0]]], ['a'], ['x', 'y'])\nplt.show()",
        "_, axes = plotting.figure(columns=2)\n"
        "for ax in axes:\n    plotting.matrix([[1.0, 2.0]], ax=ax)\nplt.show()",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(s) for s in sources])
    resources = {"metadata": {"path": str(Path(__file__).parents[1])}}
    NotebookClient(notebook, kernel_name="python3", resources=resources).execute()
    images = [
        sum("image/png" in output.get("data", {}) for output in cell.outputs)
        for cell in notebook.cells
    ]
    assert images == [0, 1, 1, 1, 1, 1]
    assert [len(notebook.cells[i].outputs) for i in (2, 3, 4, 5)] == [1, 1, 1, 1]  # no text beside


# --- vectors -------------------------------------------------------------------------------


def test_vectors_are_arrows_from_the_origin():
    given = [[3, 1], [1, 2.5], [-2, 0.5]]
    ax = plotting.vectors(given, ["a", "b", "c"])
    arrows = [c for c in ax.collections if isinstance(c, Quiver)]
    assert [(q.U.item(), q.V.item()) for q in arrows] == [(3, 1), (1, 2.5), (-2, 0.5)]
    assert all(np.all(q.XY == 0) for q in arrows)
    assert all((q.angles, q.scale_units, q.scale) == ("xy", "xy", 1) for q in arrows)
    assert ax.get_aspect() == 1  # equal: angles are seen as they are
    assert texts(ax) == ["a", "b", "c"]
    assert [text.xy for text in ax.texts] == [tuple(v) for v in given]
    ax.figure.canvas.draw()
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    assert left < -2 < 3 < right
    assert low < 0 < 2.5 < high


@pytest.mark.parametrize(
    ("a", "b", "degrees"),
    [
        ([2, 0], [3, 3], "45°"),
        ([3, 3], [2, 0], "45°"),
        ([0, 2], [5, 0], "90°"),
        ([-1, 1], [-1, -1], "90°"),
        ([1, 0], [-2, 0], "180°"),
        ([1, -2], [2, -4], "0°"),
        ([-4, -0.1], [-4, 0.1], "3°"),
        ([3, 1], [-1, 2], "98°"),
    ],
)
def test_angle_is_the_smaller_one(a, b, degrees):
    ax = plotting.vectors([[9, 9], a, b], ["other", "a", "b"], angle=(1, 2))
    assert texts(ax) == ["other", "a", "b", degrees]
    (arc,) = [patch for patch in ax.patches if isinstance(patch, Arc)]
    expected = np.degrees(
        np.arccos(np.clip(np.dot(a, b) / np.linalg.norm(a) / np.linalg.norm(b), -1, 1))
    )
    assert arc.theta2 - arc.theta1 == pytest.approx(expected, abs=1e-5)
    ends = {round(np.degrees(np.arctan2(v[1], v[0])) % 360, 6) % 360 for v in (a, b)}
    assert {round(arc.theta1 % 360, 6) % 360, round(arc.theta2 % 360, 6) % 360} == ends
    assert arc.width / 2 < min(np.linalg.norm(a), np.linalg.norm(b))


def test_projection_of_the_first_on_the_second():
    ax = plotting.vectors([[4, 0], [1, 2]], ["a", "b"], projection=(1, 0))
    dashed = [line for line in ax.lines if line.get_linestyle() == "--"]
    assert [line.get_xydata().tolist() for line in dashed] == [[[1, 2], [1, 0]]]
    ax = plotting.vectors([[4, 0], [1, 2]], ["a", "b"], projection=(0, 1))
    dashed = [line for line in ax.lines if line.get_linestyle() == "--"]
    np.testing.assert_allclose(dashed[0].get_xydata(), [[4, 0], [0.8, 1.6]])
    thick = max(ax.lines, key=lambda line: line.get_linewidth())
    np.testing.assert_allclose(thick.get_xydata(), [[0, 0], [0.8, 1.6]])


def test_no_angle_and_no_projection_unless_asked():
    ax = plotting.vectors([[4, 0], [1, 2]], ["a", "b"])
    assert len(ax.patches) == 0
    assert [line for line in ax.lines if line.get_linestyle() == "--"] == []


def test_vectors_errors():
    with pytest.raises(ValueError, match=r"shape \(n, 2\); got shape \(2, 3\)"):
        plotting.vectors(np.ones((2, 3)), QUERIES)
    with pytest.raises(ValueError, match="labels must have one label for each of the 2; got 3"):
        plotting.vectors(np.ones((2, 2)), KEYS)
    with pytest.raises(ValueError, match="angle must be two positions from 0 to 1"):
        plotting.vectors(np.ones((2, 2)), QUERIES, angle=(0, 2))
    with pytest.raises(ValueError, match="angle must be two positions"):
        plotting.vectors(np.ones((2, 2)), QUERIES, angle=(0, 1, 1))
    with pytest.raises(ValueError, match="angle needs vectors with a direction"):
        plotting.vectors([[0, 0], [1, 1]], QUERIES, angle=(0, 1))
    with pytest.raises(ValueError, match="projection needs vectors with a direction"):
        plotting.vectors([[0, 0], [1, 1]], QUERIES, projection=(1, 0))
    assert plt.get_fignums() == []
    ax = plotting.vectors([[0, 0], [1, 1]], QUERIES, projection=(0, 1))  # the foot is the origin
    assert texts(ax) == QUERIES


# --- distribution --------------------------------------------------------------------------


def test_distribution_bars_and_numbers():
    ax = plotting.distribution([0.125, 0.375, 0.5], KEYS)
    assert [bar.get_height() for bar in ax.patches] == [0.125, 0.375, 0.5]
    assert [bar.get_center()[0] for bar in ax.patches] == pytest.approx([0, 1, 2])
    assert texts(ax) == ["0.12", "0.38", "0.50"]
    assert ax.get_xticks().tolist() == [0, 1, 2]
    assert tick_labels(ax.xaxis) == KEYS
    assert ax.get_ylim()[0] == 0
    assert ax.get_ylim()[1] > 0.5
    assert ax.get_legend() is None


def test_distributions_side_by_side_differ_in_more_than_colour():
    ax = plotting.distribution([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]], KEYS, names=["T = 1", "T = 2"])
    assert [bar.get_height() for bar in ax.patches] == [0.1, 0.2, 0.7, 0.3, 0.3, 0.4]
    assert texts(ax) == ["0.10", "0.20", "0.70", "0.30", "0.30", "0.40"]
    centres = np.array([bar.get_center()[0] for bar in ax.patches]).reshape(2, 3)
    np.testing.assert_allclose(centres.mean(axis=0), [0, 1, 2], atol=1e-12)
    np.testing.assert_allclose(centres[1] - centres[0], ax.patches[0].get_width())
    assert len({bar.get_hatch() for bar in ax.patches}) == 2
    assert len({bar.get_facecolor() for bar in ax.patches}) == 2
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["T = 1", "T = 2"]


def test_distribution_leaves_numbers_out_when_there_are_many_bars():
    assert texts(plotting.distribution(np.full(50, 0.02), range(50))) == []
    assert texts(plotting.distribution([0.5, 0.5], QUERIES, numbers=False)) == []


def test_distribution_of_zeros_is_drawn():
    ax = plotting.distribution([0, 0, 0], KEYS)  # a query with nothing to attend to
    assert texts(ax) == ["0.00", "0.00", "0.00"]


@pytest.mark.parametrize("shape", [(11,), (3, 5), (2, 8)])
def test_distribution_numbers_do_not_touch(shape):
    n = shape[-1]
    values = np.full(shape, 1 / n)  # equal heights: all the numbers stand in one line
    names = [f"T = {i}" for i in range(shape[0])] if len(shape) == 2 else None
    ax = plotting.distribution(values, [f"w{i}" for i in range(n)], names=names)
    assert len(ax.texts) == values.size
    ax.figure.canvas.draw()
    boxes = sorted((text.get_window_extent() for text in ax.texts), key=lambda box: box.x0)
    assert all(a.x1 < b.x0 for a, b in pairwise(boxes))


def test_distribution_errors():
    with pytest.raises(ValueError, match="one label for each of the 3; got 2"):
        plotting.distribution([0.2, 0.3, 0.5], QUERIES)
    with pytest.raises(ValueError, match="names must name each of the 2 distributions; got None"):
        plotting.distribution(WEIGHTS, KEYS)
    with pytest.raises(ValueError, match="names must have one label for each of the 2; got 3"):
        plotting.distribution(WEIGHTS, KEYS, names=KEYS)
    with pytest.raises(TypeError, match="labels must be a sequence of 3 strings; got the string"):
        plotting.distribution([0.2, 0.3, 0.5], "xyz")


# --- heatmaps ------------------------------------------------------------------------------

HEATMAPS = [(plotting.weight_heatmap, WEIGHTS), (plotting.score_heatmap, SCORES)]


@pytest.mark.parametrize(("heatmap", "values"), HEATMAPS)
def test_queries_are_rows_and_keys_are_columns(heatmap, values):
    """PL-01, PL-03, PL-07: the right axes, ticks on the cells, no row cut in half."""
    ax = heatmap(values, QUERIES, KEYS)
    (image,) = ax.images
    np.testing.assert_array_equal(image.get_array(), values)
    assert (tick_labels(ax.yaxis), tick_labels(ax.xaxis)) == (QUERIES, KEYS)
    assert ax.get_yticks().tolist() == [0, 1]
    assert ax.get_xticks().tolist() == [0, 1, 2]
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("query (token)", "key (token)")
    assert ax.get_ylim() == (1.5, -0.5)
    assert ax.get_xlim() == (-0.5, 2.5)
    assert image.get_extent() == [-0.5, 2.5, 1.5, -0.5]
    assert image.origin == "upper"
    assert ax.get_title() == ""


@pytest.mark.parametrize(("heatmap", "values"), HEATMAPS)
def test_heatmap_labels(heatmap, values):
    """PL-03: repeated labels are fine; a wrong number of them is an error on either side."""
    ax = heatmap(values, ["the", "the"], ["a", "a", "a"])
    assert (tick_labels(ax.yaxis), tick_labels(ax.xaxis)) == (["the", "the"], ["a", "a", "a"])
    with pytest.raises(ValueError, match="keys must have one label for each of the 3; got 2"):
        heatmap(values, QUERIES, QUERIES)
    with pytest.raises(ValueError, match="queries must have one label for each of the 2; got 3"):
        heatmap(values, KEYS, KEYS)
    with pytest.raises(TypeError, match="keys must be a sequence of 3 strings; got the string"):
        heatmap(values, QUERIES, "xyz")
    assert len(plt.get_fignums()) == 1


def test_weight_colours_are_fixed_from_0_to_1_and_grow_darker():
    for weights in (WEIGHTS, WEIGHTS / 10):
        (image,) = plotting.weight_heatmap(weights, QUERIES, KEYS).images
        assert image.get_clim() == (0, 1)
    grey = plt.get_cmap(image.get_cmap())(np.linspace(0, 1, 50))[:, :3] @ (0.299, 0.587, 0.114)
    assert np.all(np.diff(grey) < 0)


def test_score_colours_are_centred_on_0():
    (image,) = plotting.score_heatmap(SCORES, QUERIES, KEYS).images
    assert image.get_clim() == (-4, 4)
    assert min(image.cmap(image.norm(0.0))[:3]) > 0.95  # white
    (image,) = plotting.score_heatmap(SCORES, QUERIES, KEYS, limit=10).images
    assert image.get_clim() == (-10, 10)
    (image,) = plotting.score_heatmap(0 * SCORES, QUERIES, KEYS).images
    assert image.get_clim() == (-1, 1)
    with pytest.raises(ValueError, match="limit must be a finite number above 0"):
        plotting.score_heatmap(SCORES, QUERIES, KEYS, limit=0)


def test_numbers_stand_in_their_cells():
    ax = plotting.weight_heatmap(WEIGHTS, QUERIES, KEYS)
    assert cell_texts(ax) == {
        (0, 0): "0.20",
        (0, 1): "0.30",
        (0, 2): "0.50",
        (1, 0): "0.60",
        (1, 1): "0.40",
        (1, 2): "0.00",
    }
    ax = plotting.score_heatmap(SCORES - 0.01, QUERIES, KEYS)
    assert texts(ax) == ["2.0", "−1.5", "0.5", "0.0", "−4.0", "3.0"]  # no −0.0
    ax = plotting.score_heatmap(SCORES, QUERIES, KEYS, digits=2)
    assert texts(ax) == ["2.00", "−1.50", "0.50", "0.00", "−4.00", "3.00"]
    ax = plotting.score_heatmap([[112, 96]], ["Thinking"], ["x", "y"], digits=0)
    assert texts(ax) == ["112", "96"]


def contrast(one, two):
    def luminance(colour):
        channels = np.array(to_rgb(colour))
        return np.where(
            channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4
        ) @ (0.2126, 0.7152, 0.0722)

    dark, light = sorted([luminance(one), luminance(two)])
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("heatmap", [plotting.weight_heatmap, plotting.score_heatmap])
def test_numbers_are_readable_on_every_colour(heatmap):
    low = 0 if heatmap is plotting.weight_heatmap else -1
    ax = heatmap(np.linspace(low, 1, 99).reshape(9, 11), range(9), range(11), numbers=True)
    (image,) = ax.images
    assert len(ax.texts) == 99
    for text in ax.texts:
        column, row = text.get_position()
        cell = image.cmap(image.norm(image.get_array()[row, column]))[:3]
        assert contrast(text.get_color(), cell) >= 4.5  # WCAG AA


@pytest.mark.parametrize(("n_queries", "n_keys"), [(10, 10), (2, 11), (11, 2), (7, 13)])
def test_large_matrices_have_a_colour_bar_instead_of_numbers(n_queries, n_keys):
    values = np.full((n_queries, n_keys), 1 / n_keys)
    small = max(n_queries, n_keys) <= 10
    ax = plotting.weight_heatmap(values, range(n_queries), range(n_keys))
    assert len(ax.texts) == (values.size if small else 0)
    assert len(ax.figure.axes) == (1 if small else 2)
    ax = plotting.weight_heatmap(values, range(n_queries), range(n_keys), numbers=not small)
    assert len(ax.texts) == (0 if small else values.size)
    assert len(ax.figure.axes) == (2 if small else 1)


@pytest.mark.parametrize(("heatmap", "values"), HEATMAPS)
def test_masked_cells_are_hatched_and_hold_nothing(heatmap, values):
    mask = np.array([[True, False, True], [False, True, True]])
    ax = heatmap(values, QUERIES, KEYS, mask=mask)
    assert hidden_cells(ax) == {(0, 1), (1, 0)}
    assert set(cell_texts(ax)) == {(0, 0), (0, 2), (1, 1), (1, 2)}
    array = ax.images[0].get_array()
    np.testing.assert_array_equal(array.mask, ~mask)
    np.testing.assert_array_equal(array[mask], values[mask])
    assert ax.get_ylim() == (1.5, -0.5)
    assert hidden_cells(heatmap(values, QUERIES, KEYS)) == set()
    assert hidden_cells(heatmap(values, QUERIES, KEYS, mask=[True, True, False])) == {
        (0, 2),
        (1, 2),
    }


@pytest.mark.parametrize(("heatmap", "values"), HEATMAPS)
def test_mask_errors(heatmap, values):
    with pytest.raises(TypeError, match=r"mask must be boolean.*got dtype int"):
        heatmap(values, QUERIES, KEYS, mask=np.ones((2, 3), dtype=int))
    with pytest.raises(ValueError, match=r"mask must be broadcastable.*got shape \(3, 2\)"):
        heatmap(values, QUERIES, KEYS, mask=np.ones((3, 2), dtype=bool))


def test_a_masked_score_does_not_count_whatever_it_holds():
    mask = np.array([[True, False, False], [True, True, False]])
    scores = np.array([[1.0, np.nan, np.inf], [-2.0, 0.5, 1e300]])
    ax = plotting.score_heatmap(scores, QUERIES, KEYS, mask=mask)
    assert ax.images[0].get_clim() == (-2, 2)
    assert cell_texts(ax) == {(0, 0): "1.0", (1, 0): "−2.0", (1, 1): "0.5"}


def test_minus_infinity_is_drawn_as_hidden_with_its_sign():
    scores = np.where(np.tri(2, 3, dtype=bool), SCORES, -np.inf)
    ax = plotting.score_heatmap(scores, QUERIES, KEYS)
    assert hidden_cells(ax) == {(0, 1), (0, 2), (1, 2)}
    cells = cell_texts(ax)
    assert [cells[cell] for cell in [(0, 1), (0, 2), (1, 2)]] == ["−∞"] * 3
    assert (cells[0, 0], cells[1, 0], cells[1, 1]) == ("2.0", "0.0", "−4.0")
    with pytest.raises(ValueError, match="finite or -inf; got nan or"):
        plotting.score_heatmap(-scores, QUERIES, KEYS)


def test_long_key_labels_are_turned_and_short_ones_are_not():
    values = np.full((11, 11), 1 / 11)
    ax = plotting.weight_heatmap(values, TOKENS, TOKENS)
    assert {label.get_rotation() for label in ax.get_xticklabels()} == {45}
    assert {label.get_rotation() for label in ax.get_yticklabels()} == {0}
    ax = plotting.weight_heatmap(WEIGHTS, QUERIES, KEYS)
    assert {label.get_rotation() for label in ax.get_xticklabels()} == {0}


@pytest.mark.parametrize("n", [1, 3, 8, 11, 30])
def test_nothing_is_cut_off_and_rows_do_not_overlap(n):
    tokens = (TOKENS * 3)[:n]
    ax = plotting.weight_heatmap(np.full((n, n), 1 / n), tokens, tokens)
    width, height = ax.figure.get_size_inches() * ax.figure.dpi
    for box in visible_boxes(ax):
        assert box.x0 >= -1
        assert box.y0 >= -1
        assert box.x1 <= width + 1
        assert box.y1 <= height + 1
    size = ax.get_yticklabels()[0].get_fontsize()
    row = ax.get_window_extent().height / n / ax.figure.dpi * 72  # points
    assert size <= row
    assert size >= (9 if n <= 11 else 5)


# --- several heads -------------------------------------------------------------------------


def test_heads_share_one_scale_and_one_colour_bar():
    weights = np.random.default_rng(0).dirichlet(np.ones(3), size=(5, 2))
    axes = plotting.heads(weights, QUERIES, KEYS, names=list("pqrst"), columns=2)
    assert axes.shape == (5,)
    assert [ax.get_title() for ax in axes] == list("pqrst")
    for ax, expected in zip(axes, weights, strict=True):
        np.testing.assert_array_equal(ax.images[0].get_array(), expected)
        assert ax.images[0].get_clim() == (0, 1)
        assert ax.get_ylim() == (1.5, -0.5)
        assert ax.get_xticks().tolist() == [0, 1, 2]
        assert ax.get_yticks().tolist() == [0, 1]
    figure = axes[0].figure
    assert len(figure.axes) == 6  # five heads and the colour bar
    assert (figure.get_supylabel(), figure.get_supxlabel()) == ("query (token)", "key (token)")
    assert [tick_labels(ax.yaxis) == QUERIES for ax in axes] == [True, False, True, False, True]
    assert [tick_labels(ax.xaxis) == KEYS for ax in axes] == [False] * 4 + [True]
    places = [ax.get_subplotspec() for ax in axes]
    assert [(p.rowspan.start, p.colspan.start) for p in places] == [
        (0, 0),
        (0, 1),
        (1, 0),
        (1, 1),
        (2, 0),
    ]


def test_heads_names_and_masks():
    weights = np.stack([WEIGHTS, WEIGHTS[::-1]])
    axes = plotting.heads(weights, QUERIES, KEYS, mask=np.tri(2, 3, dtype=bool))
    assert [ax.get_title() for ax in axes] == ["head 0", "head 1"]
    assert [hidden_cells(ax) for ax in axes] == [{(0, 1), (0, 2), (1, 2)}] * 2
    masks = np.ones((2, 2, 3), dtype=bool)
    masks[1, 0, 2] = False
    axes = plotting.heads(weights, QUERIES, KEYS, mask=masks)
    assert [hidden_cells(ax) for ax in axes] == [set(), {(0, 2)}]


def test_heads_errors():
    weights = np.stack([WEIGHTS, WEIGHTS])
    with pytest.raises(ValueError, match="names must have one label for each of the 2; got 3"):
        plotting.heads(weights, QUERIES, KEYS, names=KEYS)
    with pytest.raises(ValueError, match="queries must have one label for each of the 2; got 3"):
        plotting.heads(weights, KEYS, KEYS)
    with pytest.raises(ValueError, match="keys must have one label for each of the 3; got 2"):
        plotting.heads(weights, QUERIES, QUERIES)
    with pytest.raises(ValueError, match="columns must be at least 1; got 0"):
        plotting.heads(weights, QUERIES, KEYS, columns=0)
    assert plt.get_fignums() == []


@pytest.mark.parametrize(("n_heads", "columns"), [(12, 3), (12, 4), (4, 2), (5, 3)])
def test_heads_are_legible(n_heads, columns):
    weights = np.full((n_heads, 11, 11), 1 / 11)
    axes = plotting.heads(weights, TOKENS, TOKENS, columns=columns)
    figure = axes[0].figure
    figure.canvas.draw()
    sizes = [ax.get_window_extent().width / figure.dpi for ax in axes]
    assert min(sizes) > 0.8 * (5 - 1) / columns  # inches: most of the figure is heads
    assert axes[0].get_yticklabels()[0].get_fontsize() >= (8 if columns < 4 else 5.5)


# --- lines ---------------------------------------------------------------------------------


def test_lines_go_from_the_query_to_every_key_as_wide_as_the_weight():
    weights = [0.03, 0.25, 0.7, 0.02]
    ax = plotting.attention_lines(weights, 1, ["the", "cat", "sat", "."])
    assert [line.get_xydata().tolist() for line in ax.lines] == [
        [[0, 1], [1, key]] for key in range(4)
    ]
    widths = np.array([line.get_linewidth() for line in ax.lines])
    np.testing.assert_allclose(widths / widths.sum(), weights)
    assert texts(ax) == ["the", "cat  25%", "sat  70%", "."]
    assert tick_labels(ax.yaxis) == ["the", "cat", "sat", "."]
    assert [label.get_fontweight() for label in ax.get_yticklabels()] == [
        "normal",
        "bold",
        "normal",
        "normal",
    ]
    assert tick_labels(ax.xaxis) == ["query (token)", "key (token)"]
    assert ax.get_xticks().tolist() == [0, 1]
    assert ax.get_ylim() == (3.5, -0.5)


def test_the_largest_weight_is_printed_even_when_small():
    weights = np.full(20, 0.05)
    weights[3] = 0.06
    shown = texts(plotting.attention_lines(weights, 0, ["t"] * 20))
    assert [text for text in shown if "%" in text] == ["t  6%"]
    assert shown[3] == "t  6%"


def test_overlaid_heads_differ_in_colour_or_line_style():
    weights = np.random.default_rng(0).dirichlet(np.ones(4), size=12)
    names = [f"head {h}" for h in range(12)]
    ax = plotting.attention_lines(weights, 2, ["the", "cat", "sat", "."], names=names)
    drawn = [line for line in ax.lines if len(line.get_xdata())]
    assert len(drawn) == 48
    widths = np.array([line.get_linewidth() for line in drawn]).reshape(12, 4)
    np.testing.assert_allclose(widths / widths.sum(axis=1, keepdims=True), weights)
    styles = [(line.get_color(), line.get_linestyle()) for line in drawn]
    assert len(set(styles)) == 12
    legend = ax.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == names
    assert [(h.get_color(), h.get_linestyle()) for h in legend.legend_handles] == styles[::4]
    assert not any("%" in text for text in texts(ax))


def test_attention_lines_errors():
    with pytest.raises(ValueError, match="tokens must have one label for each of the 3; got 2"):
        plotting.attention_lines(WEIGHTS[0], 0, QUERIES)
    with pytest.raises(ValueError, match="query must be a position from 0 to 2; got 3"):
        plotting.attention_lines(WEIGHTS[0], 3, KEYS)
    with pytest.raises(TypeError, match="query must be an integer; got 'x'"):
        plotting.attention_lines(WEIGHTS[0], "x", KEYS)
    with pytest.raises(ValueError, match="names must name each of the 2 heads; got None"):
        plotting.attention_lines(WEIGHTS, 0, KEYS)
    with pytest.raises(ValueError, match="names must have one label for each of the 2; got 3"):
        plotting.attention_lines(WEIGHTS, 0, KEYS, names=KEYS)
    assert plt.get_fignums() == []


# --- matrices ------------------------------------------------------------------------------


def test_matrix_shapes_names_shapes_signs_and_sides():
    ax = plotting.matrix_shapes([("X", (8, 512)), "·", ("$W_Q$", (512, 64)), "=", ("Q", (8, 64))])
    assert texts(ax) == ["X", "8×512", "·", "$W_Q$", "512×64", "=", "Q", "8×64"]
    x, w, q = ax.patches
    assert all(isinstance(patch, Rectangle) for patch in ax.patches)
    assert x.get_height() == q.get_height() < w.get_width() == q.get_width() < x.get_width()
    assert w.get_height() == x.get_width()
    assert x.get_width() / w.get_width() == pytest.approx(8**0.5)  # √(512 / 64)
    places = [text.get_position()[0] for text in ax.texts]
    assert places == sorted(places)
    assert x.get_x() + x.get_width() < places[2] < w.get_x()
    assert w.get_x() + w.get_width() < places[5] < q.get_x()
    assert ax.get_aspect() == 1
    assert not ax.axison


def test_matrix_shapes_texts_do_not_overlap():
    ax = plotting.matrix_shapes([("scores", (8, 8)), "·", ("V", (8, 1)), "=", ("output", (8, 1))])
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) == 8
    for i, one in enumerate(boxes):
        assert not any(one.overlaps(other) for other in boxes[i + 1 :])


def test_matrix_shapes_errors():
    with pytest.raises(ValueError, match="at least one matrix"):
        plotting.matrix_shapes(["="])
    with pytest.raises(ValueError, match=r"must be \(name, \(rows, columns\)\); got \('X', 3\)"):
        plotting.matrix_shapes([("X", 3)])
    with pytest.raises(ValueError, match="rows must be at least 1; got 0"):
        plotting.matrix_shapes([("X", (0, 3))])
    assert plt.get_fignums() == []


def test_matrix_is_a_table_of_numbers():
    ax = plotting.matrix(SCORES, QUERIES, KEYS, name="$Q$", digits=1)
    assert ax.get_title() == "$Q$  2×3"
    np.testing.assert_array_equal(ax.images[0].get_array(), SCORES)
    assert cell_texts(ax) == {
        (0, 0): "2.0",
        (0, 1): "−1.5",
        (0, 2): "0.5",
        (1, 0): "0",
        (1, 1): "−4.0",
        (1, 2): "3.0",
    }
    assert (tick_labels(ax.yaxis), tick_labels(ax.xaxis)) == (QUERIES, KEYS)
    assert ax.get_ylim() == (1.5, -0.5)
    low, high = ax.images[0].get_clim()
    assert low == -high < -4
    bare = plotting.matrix(SCORES)
    assert (bare.get_title(), set(tick_labels(bare.yaxis))) == ("", {""})


def test_labels_above_a_matrix_are_turned_where_they_are_wider_than_their_column():
    ax = plotting.matrix(SCORES, QUERIES, KEYS)
    assert {label.get_rotation() for label in ax.get_xticklabels()} == {0}
    ax = plotting.matrix(SCORES, QUERIES, ["noun", "adjective", "clock x"])
    assert {(label.get_rotation(), label.get_ha()) for label in ax.get_xticklabels()} == {
        (45, "left")
    }


def test_matrix_errors():
    with pytest.raises(ValueError, match="rows must have one label for each of the 2; got 3"):
        plotting.matrix(SCORES, KEYS)
    with pytest.raises(ValueError, match="columns must have one label for each of the 3; got 2"):
        plotting.matrix(SCORES, QUERIES, QUERIES)


def test_figure_gives_a_grid_in_the_size_asked_for():
    fig, axes = plotting.figure(width=6, height=2, rows=2, columns=3)
    assert axes.shape == (2, 3)
    assert fig.get_size_inches().tolist() == [6, 2]
    assert fig.get_layout_engine().__class__.__name__ == "ConstrainedLayoutEngine"


def test_pictures_are_small_and_sharp(tmp_path):
    ax = plotting.weight_heatmap(np.full((8, 8), 0.125), TOKENS[:8], TOKENS[:8])
    ax.figure.savefig(tmp_path / "picture.png", dpi="figure")
    assert (tmp_path / "picture.png").stat().st_size < 80_000
    assert ax.figure.get_figwidth() * ax.figure.dpi >= 500  # pixels


@pytest.mark.parametrize(("rows", "columns", "numbers"), [(1, 1, True), (1, 2, False)])
def test_numbers_give_way_to_a_colour_bar_where_the_axes_are_too_small(rows, columns, numbers):
    _, axes = plotting.figure(6, 4, rows, columns)
    ax = np.atleast_1d(axes)[0]
    plotting.weight_heatmap(np.full((8, 8), 0.125), TOKENS[1:9], TOKENS[1:9], ax=ax)
    assert (len(ax.texts) == 64) is numbers
    assert (ax.images[0].colorbar is None) is numbers


@pytest.mark.parametrize("draw", [plotting.weight_heatmap, plotting.score_heatmap, plotting.matrix])
@pytest.mark.parametrize("own_figure", [True, False])
def test_numbers_fit_into_their_cells(draw, own_figure):
    ax = None if own_figure else plotting.figure(6, 3, columns=2)[1][1]
    tokens = TOKENS[:5] if ax else TOKENS[:8]
    n = len(tokens)
    ax = draw(np.full((n, n), 1 / n), tokens, tokens, ax=ax)
    ax.figure.canvas.draw()
    assert len(ax.texts) == n * n
    for text in ax.texts:
        width = text.get_window_extent().width
        assert width < ax.get_window_extent().width / n
