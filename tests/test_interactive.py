"""The interactive figures without a browser: what they hold, and what a page makes of them."""

import base64
import json
import re
import subprocess
import sys
from io import BytesIO
from types import SimpleNamespace

import altair
import jsonschema
import numpy as np
import pytest
import vl_convert
from bs4 import BeautifulSoup
from PIL import Image

from companion import (
    attention_scores,
    attention_steps,
    causal_mask,
    load_sentence,
    masked_softmax,
    project,
    softmax,
)
from companion import interactive as live
from companion.examples import creature_head
from companion.interactive import MIME_TYPE
from companion.interactive.page import MimeRenderer

HEAD = creature_head()
Q, K, V = (project(HEAD.X, W) for W in (HEAD.W_Q, HEAD.W_K, HEAD.W_V))
TIRED, WIDE = load_sentence("animal_tired"), load_sentence("animal_wide")
SCORES = [3.83, 1.23, 0.15, -1.13]
MAKE = {
    "vectors": lambda: live.vectors([1, 3], [4, 2], ["a", "b"]),
    "distribution": lambda: live.distribution(SCORES, ["animal", "street", "tired", "was"]),
    "score_table": lambda: live.score_table(Q, K, HEAD.tokens, query=3),
    "masks": lambda: live.masks(attention_scores(Q, K), HEAD.tokens),
    "value_update": lambda: live.value_update(HEAD, token=3),
    "heads": lambda: live.heads(TIRED, WIDE, TIRED.position("it"), layer=5, head=11),
}
each_figure = pytest.mark.parametrize("name", MAKE)


def texts(svg):
    return [tag.get_text() for tag in BeautifulSoup(svg, "html.parser").find_all("text")]


@each_figure
def test_it_is_valid_vega_lite_5(name):
    altair.Chart.from_dict(MAKE[name]().spec)


def test_a_misspelt_figure_is_not_valid():
    spec = MAKE["distribution"]().spec
    spec["layer"][0]["mark"]["colour"] = "red"
    with pytest.raises(jsonschema.ValidationError):
        altair.Chart.from_dict(spec)


@each_figure
def test_the_vega_lite_of_jupyterlab_draws_the_same(name):
    figure = MAKE[name]()
    oldest = vl_convert.get_vegalite_versions()[0]  # nearest to JupyterLab's 5.6
    assert oldest == "5.8"
    assert texts(vl_convert.vegalite_to_svg(figure.spec, vl_version=oldest)) == texts(figure.svg())


@each_figure
def test_it_is_handed_over_alive_as_a_picture_and_in_words(name):
    figure = MAKE[name]()
    data, metadata = figure._repr_mimebundle_()
    assert set(data) == {MIME_TYPE, "image/png", "text/plain"}
    assert data[MIME_TYPE] == json.loads(json.dumps(figure.spec, allow_nan=False))
    text = figure.spec["description"]
    assert data["text/plain"] == metadata["image/png"]["alt"] == text
    assert 100 < len(text) < 600 and "  " not in text and "nan" not in text

    png = base64.b64decode(data["image/png"])
    picture = Image.open(BytesIO(png)).convert("RGB")
    assert len(png) < 40_000
    assert 600 < picture.width <= 720 and picture.height > 300
    assert picture.getpixel((0, 0)) == (255, 255, 255)
    assert len(picture.getcolors(256)) > 4


@each_figure
def test_it_is_the_same_every_time_and_small(name):
    first, second = MAKE[name](), MAKE[name]()
    assert json.dumps(first.spec) == json.dumps(second.spec)
    assert first.svg() == second.svg() and first.png() == second.png()
    assert len(json.dumps(first.spec)) < (110_000 if name == "heads" else 12_000)


@each_figure
def test_it_takes_the_pages_colour_and_shows_no_error(name):
    svg = MAKE[name]().svg()
    for tag in BeautifulSoup(svg, "html.parser").find_all("text"):
        assert tag["fill"] == "currentColor"
    for word in ("NaN", "undefined", "null", "Infinity"):
        assert word not in texts(svg)


@each_figure
def test_every_control_has_a_name_of_its_own(name):
    parameters = MAKE[name]().spec["params"]
    binds = [p["bind"].get("i", p["bind"]) for p in parameters if "bind" in p]
    names = [bind["name"] for bind in binds]
    assert len(names) >= 2 and len(set(names)) == len(names)
    assert {bind["input"] for bind in binds} <= {"range", "select", "checkbox"}
    for parameter in parameters:
        if parameter.get("bind", {}).get("input") == "range":
            bind = parameter["bind"]
            steps = (parameter["value"] - bind["min"]) / bind["step"]
            assert steps == pytest.approx(round(steps))  # else the browser would move it


def test_the_pictures_show_what_the_companion_computes():
    weights = softmax(SCORES)
    assert {f"{w:.3f}" for w in weights} <= set(texts(MAKE["distribution"]().svg()))
    assert "10.00 = 3.16 × 4.47 × 0.707" in texts(MAKE["vectors"]().svg())

    shown = texts(MAKE["score_table"]().svg())
    scores = attention_scores(Q, K)
    cells = [f"{x:.1f}".replace("-", "−") for x in scores.ravel()]
    assert cells == shown[8 : 8 + 64]

    masked = masked_softmax(scores, causal_mask(8))
    cells = [f"{w:.2f}" if j <= i else "×" for (i, j), w in np.ndenumerate(masked)]
    assert cells == texts(MAKE["masks"]().svg())[8 : 8 + 64]

    output = attention_steps(Q, K, V).output
    moved = np.linalg.norm(project(output, HEAD.W_O)[3])
    assert texts(MAKE["value_update"]().svg())[-1] == f"{moved:.2f}"

    shown = texts(MAKE["heads"]().svg())
    for sentence in (TIRED, WIDE):
        row = sentence.weights[5, 11, TIRED.position("it")].astype(float)
        assert {f"{w:.3f}" for w in row} <= set(shown)


def bars(svg, layer):
    """Left ends and widths of the bars of one layer, in pixels."""
    group = BeautifulSoup(svg, "html.parser").find(class_=f"{layer}_marks")
    paths = (tag["d"] for tag in group.find_all("path"))
    return np.array(
        [re.match(r"M([-\d.]+),[-\d.]+h([-\d.]+)", path).groups() for path in paths], float
    )


def test_the_bars_are_as_long_as_the_weights():
    svg = MAKE["distribution"]().svg()
    assert np.allclose(bars(svg, "layer_0"), [[0, 225 * w] for w in softmax(SCORES)], atol=1e-3)
    assert np.allclose(bars(svg, "layer_1"), [[0, 225], [0, 0], [0, 0], [0, 0]])

    svg = MAKE["score_table"]().svg()
    scores = attention_scores(Q, K)[3]
    for layer, start, x in (("0", 137, np.sqrt(3) * scores), ("1", 228, scores)):
        expected = [[start, 46 * w] for w in softmax(x)]
        assert np.allclose(bars(svg, f"concat_1_layer_{layer}"), expected, atol=1e-3)

    svg = MAKE["value_update"]().svg()
    weights, output = attention_steps(Q, K, V)[1:]
    expected = [[0, 130 * w] for w in weights[3]]
    assert np.allclose(bars(svg, "concat_0_layer_0"), expected, atol=1e-2)
    change = project(output, HEAD.W_O)[3]
    starts, widths = bars(svg, "concat_1_layer_0").T
    unit = 234 / (1 + 3 * project(output, HEAD.W_O).max())  # the axis runs from -1
    assert np.allclose(starts, unit * (1 + HEAD.X[3]), atol=1e-2)
    assert np.allclose(widths, unit * change, atol=1e-2)


def test_importing_the_companion_or_making_a_figure_loads_no_drawing_package():
    code = (
        "import sys, companion; assert 'companion.interactive' not in sys.modules\n"
        "from companion import interactive; interactive.distribution([1, 2], ['a', 'b'])\n"
        "assert not {'vl_convert', 'altair', 'PIL', 'matplotlib', 'sphinx'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: live.vectors([0, 0], [1, 2], ["a", "b"]), "must not be zero"),
        (lambda: live.vectors([1, 0], [1, 2], ["a", "a"]), "names must be 2 different words"),
        (lambda: live.vectors([1, np.nan], [1, 2], ["a", "b"]), "a must be finite"),
        (lambda: live.distribution([1, 6], ["a", "b"]), "from −5 to 5"),
        (lambda: live.distribution([1, 2], ["a"]), "labels must be 2 different words"),
        (lambda: live.distribution([1, 2], "ab"), "labels must be 2 different words"),
        (lambda: live.distribution([[1, 2]], ["a"]), "scores must be finite, with 1 axes"),
        (lambda: live.score_table([[1, 2]], [[1], [2]], ["a"]), "the same shape"),
        (lambda: live.masks([[1, 2]], ["a"]), "as many keys as queries"),
        (lambda: live.masks([[1, 2], [3, np.inf]], ["a", "b"]), "scores must be finite"),
        (lambda: live.heads(TIRED, load_sentence("bees"), 0, 0, 0), "got 16 and 58"),
    ],
)
def test_wrong_input_is_refused_with_the_rule(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def rendered(spec, mime_type=MIME_TYPE, inline=False):
    data = SimpleNamespace(mime_type=mime_type, content=spec)
    return MimeRenderer.handle_mime(None, data, inline)


@each_figure
def test_a_page_holds_picture_words_and_the_figure_itself(name):
    spec = MAKE[name]().spec
    [node] = rendered(spec)
    assert node["interactive"] and node["format"] == "html"
    box = BeautifulSoup(node.astext(), "html.parser").find(class_="interactive")
    assert box["role"] == "group"
    assert box["aria-label"] == box.find(role="img")["aria-label"] == spec["description"]
    assert box.find(role="img").svg
    n_controls = sum("bind" in parameter for parameter in spec["params"])
    assert box.find(class_="controls")["style"] == f"--controls: {n_controls}"
    assert json.loads(box.find("script", type="application/json").string) == spec


def test_no_word_of_a_figure_can_break_out_of_the_page():
    word = '</script><b>"&'
    [node] = rendered(live.distribution([1, 2], [word, "b"]).spec)
    soup = BeautifulSoup(node.astext(), "html.parser")
    assert soup.find("b") is None
    assert len(soup.find_all("script")) == 1
    assert json.loads(soup.script.string)["data"]["values"][0]["word"] == word
    assert word in soup.find(role="img")["aria-label"]


def test_other_outputs_are_left_to_others():
    spec = MAKE["distribution"]().spec
    assert rendered(spec, mime_type="image/png") is None
    assert rendered(spec, inline=True) is None
    assert re.fullmatch(r"application/vnd\.vegalite\.v5\+json", MIME_TYPE)
