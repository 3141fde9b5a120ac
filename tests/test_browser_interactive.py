"""The interactive figures in a real browser: each control is moved, and what the page then shows
is compared with what the companion computes. Numbers are compared as they are written there."""

import re

import numpy as np
import pytest
from browser import opened

from companion import (
    attention_scores,
    attention_steps,
    causal_mask,
    cosine_similarity,
    dot,
    load_sentence,
    load_word_vectors,
    masked_softmax,
    padding_mask,
    project,
    residual_update,
    softmax,
)
from companion.examples import creature_head

FIGURES = {
    "fig-dot-live": "notebooks/01_dot_product",
    "fig-softmax-live": "notebooks/02_softmax",
    "fig-qkv-live": "notebooks/03_queries_keys_values",
    "fig-masking-live": "notebooks/04_masking",
    "fig-values-live": "notebooks/05_value_updates",
    "fig-heads-live": "notebooks/06_multi_head",
}
CONTROLS = {  # role and name of each, in the order in which the Tab key reaches them
    "fig-dot-live": ["slider turn dog by (°)", "slider length of dog ×", "slider length of cat ×"],
    "fig-softmax-live": [
        "slider temperature",
        "slider score of animal",
        "slider score of street",
        "slider score of tired",
        "slider score of was",
    ],
    "fig-qkv-live": ["combobox query", "slider d_k"],
    "fig-masking-live": [
        "checkbox causal mask",
        "slider padding in front",
        "slider padding at end",
    ],
    "fig-values-live": ["combobox token", "slider W_O ×"],
    "fig-heads-live": ["combobox token", "combobox layer", "combobox head"],
}
HEAD = creature_head()
Q, K, V = (project(HEAD.X, W) for W in (HEAD.W_Q, HEAD.W_K, HEAD.W_V))

each_figure = pytest.mark.parametrize("name", FIGURES)


class Figure:
    """One figure of an open page."""

    def __init__(self, page, name):
        self.page = page
        self.box = page.locator(f"#{name} .interactive")
        self.box.scroll_into_view_if_needed()
        self.box.locator(".vega-embed svg").wait_for()

    def control(self, role, name):
        return self.box.get_by_role(role, name=re.compile(f"^{re.escape(name)}"))

    def set(self, name, value):
        """Move the control that bears this name."""
        if isinstance(value, bool):
            self.control("checkbox", name).set_checked(value)
        elif isinstance(value, str):
            self.control("combobox", name).select_option(label=value)
        else:
            self.control("slider", name).fill(f"{value:g}")

    def labels(self, selector):
        """What the marks are called for screen readers, in reading order."""
        marks = self.box.locator(f".vega-embed {selector}")
        return marks.evaluate_all("marks => marks.map(mark => mark.getAttribute('aria-label'))")

    def texts(self):
        return self.box.locator(".vega-embed svg text").all_text_contents()

    def shows(self, read, expected):
        """Wait until the figure has followed, at most two seconds."""
        for _ in range(40):
            if read() == expected:
                break
            self.page.wait_for_timeout(50)
        assert read() == expected


READOUT = "[class*=readout] > *"


def number(x, digits):
    """As the figures write it."""
    return f"{round(float(x), digits) + 0.0:.{digits}f}".replace("-", "−")


@pytest.fixture(scope="module")
def figures(browser):
    """All figures, each on its own page, made live when it is first asked for."""
    pages = {}

    def get(name):
        if name not in pages:
            manager = opened(browser, FIGURES[name])
            pages[name] = manager, Figure(manager.__enter__(), name)
        return pages[name][1]

    yield get
    for manager, figure in pages.values():
        assert figure.page.wrong == []
        manager.__exit__(None, None, None)


@pytest.mark.parametrize(
    ("turn", "stretch_dog", "stretch_cat"),
    [(0, 1, 1), (67, 1, 1), (68, 1, 1), (-90, 0.5, 1.5), (157, 1.25, 0.1), (-180, 1.5, 0.75)],
)
def test_two_vectors(figures, turn, stretch_dog, stretch_cat):
    figure = figures("fig-dot-live")
    words = load_word_vectors()
    dog, cat = words["dog"].astype(float), words["cat"].astype(float)
    angle = np.arccos(cosine_similarity(dog, cat)) + np.radians(turn)
    a = stretch_dog * np.sqrt(dot(dog, dog)) * np.array([np.cos(angle), np.sin(angle)])
    b = stretch_cat * np.array([np.sqrt(dot(cat, cat)), 0])

    figure.set("turn dog by", turn)
    figure.set("length of dog", stretch_dog)
    figure.set("length of cat", stretch_cat)

    cosine = number(cosine_similarity(a, b), 3)
    length_a, length_b = (number(np.linalg.norm(v), 2) for v in (a, b))
    degrees = np.degrees(np.arccos(cosine_similarity(a, b)))
    figure.shows(
        lambda: figure.labels(READOUT),
        [
            f"dot product {number(dot(a, b), 2)} = {length_a} × {length_b} × {cosine}",
            f"shadow of dog {number(dot(a, b) / np.sqrt(dot(b, b)), 2)} = {length_a} × {cosine}",
            f"cosine {cosine}, angle {degrees:.0f} degrees",
        ],
    )


@pytest.mark.parametrize(
    ("temperature", "scores"),
    [
        (1, (3.83, 1.23, 0.15, -1.13)),
        (0.05, (3.83, 1.23, 0.15, -1.13)),
        (5, (3.83, 1.23, 0.15, -1.13)),
        (2.35, (1.2, 1.23, -5, 5)),
        (0.5, (1.2, 1.2, -0.55, 0.01)),
        (1, (-5, -5, -5, -5)),
    ],
)
def test_softmax_and_hard_maximum(figures, temperature, scores):
    figure = figures("fig-softmax-live")
    words = ["animal", "street", "tired", "was"]
    figure.set("temperature", temperature)
    for word, score in zip(words, scores, strict=True):
        figure.set(f"score of {word}", score)

    p = softmax(scores, temperature=temperature)
    figure.shows(
        lambda: figure.labels(READOUT),
        [f"{word} {x:.3f}" for word, x in zip(words, p, strict=True)],
    )
    limit = softmax(scores, temperature=1e-4)  # scores differ by 0.01 or not at all
    outlines = figure.box.locator(".vega-embed .layer_1_marks path")
    paths = outlines.evaluate_all("bars => bars.map(bar => bar.getAttribute('d'))")
    widths = np.array([float(re.search(r"h([\d.]+)", path)[1]) for path in paths])
    full = figure.box.locator(".vega-embed .background").first.get_attribute("d")
    assert np.allclose(widths / float(re.search(r"h([\d.]+)", full)[1]), limit, atol=1e-3)


@pytest.mark.parametrize("d_k", [3, 64, 128])
@pytest.mark.parametrize("query", ["creature", "the", "forest"])
def test_score_table(figures, query, d_k):
    figure = figures("fig-qkv-live")
    figure.set("query", query)
    figure.set("d_k", d_k)

    row = HEAD.tokens.index(query)
    scores = attention_scores(Q, K)
    products = np.sqrt(d_k) * scores[row]
    assert d_k > 3 or np.allclose(products, Q[row] @ K.T)
    plain, divided = softmax(products), softmax(scores[row])
    figure.shows(
        lambda: figure.labels(READOUT),
        [
            f"{token}: {number(products[i], 1)} gives {plain[i]:.2f}, "
            f"{number(scores[row, i], 1)} gives {divided[i]:.2f}"
            for i, token in enumerate(HEAD.tokens)
        ],
    )
    entries = ", ".join(number(x, 2) for x in Q[row])
    assert f"query of {query}: {entries}" in figure.texts()
    keys = ["  ".join(number(x, 2) for x in key) for key in K]
    assert set(keys) <= set(figure.texts())
    assert figure.labels("text[aria-label*=' with ']") == [
        f"{a} with {b} {number(scores[i, j], 1)}"
        for i, a in enumerate(HEAD.tokens)
        for j, b in enumerate(HEAD.tokens)
    ]


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("front", "back"), [(0, 0), (2, 0), (0, 3), (3, 4), (1, 7), (8, 0)])
def test_masks(figures, causal, front, back):
    figure = figures("fig-masking-live")
    figure.set("causal mask", causal)
    figure.set("padding in front", front)
    figure.set("padding at end", back)

    mask = np.broadcast_to(padding_mask(8 - back, 8), (8, 8)) & (np.arange(8) >= front)
    if causal:
        mask = mask & causal_mask(8)
    weights = masked_softmax(attention_scores(Q, K), mask)
    figure.shows(
        lambda: figure.labels("text[aria-label*=' to ']"),
        [
            f"{a} to {b}: " + (f"{weights[i, j]:.2f}" if mask[i, j] else "masked, 0")
            for i, a in enumerate(HEAD.tokens)
            for j, b in enumerate(HEAD.tokens)
        ],
    )
    lost = [token for token, row in zip(HEAD.tokens, mask, strict=True) if not row.any()]
    words = [*("no query", *lost)[: 2 if len(lost) == 1 else 1]][-1]
    if len(lost) > 1:
        words = f"{lost[0]} … {lost[-1]} ({len(lost)} of 8)"
    assert figure.labels(READOUT) == [f"nothing left: {words}"]


@pytest.mark.parametrize("strength", [1, 0, 2.5])
@pytest.mark.parametrize("token", ["creature", "forest", "roamed"])
def test_value_update(figures, token, strength):
    figure = figures("fig-values-live")
    figure.set("token", token)
    figure.set("W_O", strength)

    row = HEAD.tokens.index(token)
    steps = attention_steps(Q, K, V)
    delta_E = project(steps.output, strength * HEAD.W_O)
    after = residual_update(HEAD.X, delta_E)[row]
    lengths = np.linalg.norm([HEAD.X[row], delta_E[row]], axis=1)
    figure.shows(
        lambda: figure.labels(READOUT),
        [f"length of E {lengths[0]:.2f}", f"length of ΔE {lengths[1]:.2f}"],
    )
    gives = {"fluffy": "1 fluffy", "blue": "1 blue", "verdant": "1 green"}
    assert [gives.get(word, "0") for word in HEAD.tokens] == [
        " ".join(f"1 {name}" for name, x in zip(HEAD.features, moved, strict=True) if x) or "0"
        for moved in project(V, HEAD.W_O)
    ]
    assert figure.labels("text[aria-label*=' weight ']") == [
        f"{word} weight {w:.2f}, value {gives.get(word, '0')}"
        for word, w in zip(HEAD.tokens, steps.weights[row], strict=True)
    ]
    entries = [f"{name} {number(x, 2)}" for name, x in zip(HEAD.features, after, strict=True)]
    assert set(entries) <= set(figure.labels("text[aria-label]"))


SENTENCES = [load_sentence(name) for name in ("animal_tired", "animal_wide")]


def weights_of(layer, head, token):
    """The labels that both columns must bear, and what the lines above them must say."""
    labels, most = [], []
    for sentence in SENTENCES:
        row = sentence.weights[layer, head, token].astype(float)
        asks = sentence.tokens[token]
        labels += [f"{asks} to {key} {w:.3f}" for key, w in zip(sentence.tokens, row, strict=True)]
        most.append(f"{asks} → {sentence.tokens[row.argmax()]}")
    return labels, most


@pytest.mark.parametrize(
    ("layer", "head", "token"),
    [(5, 11, 10), (3, 1, 10), (0, 2, 2), (2, 1, 13), (0, 0, 0), (5, 0, 15)],
)
def test_heads(figures, layer, head, token):
    figure = figures("fig-heads-live")
    figure.set("token", f"{token}: {SENTENCES[0].tokens[token]}")
    figure.set("layer", f"{layer}")
    figure.set("head", f"{head}")
    labels, most = weights_of(layer, head, token)
    marks = "[class*=layer]:not([class*=readout]) > [aria-label*=' to ']"
    figure.shows(lambda: figure.labels(marks), labels)
    assert set(most) <= set(figure.texts())


def test_pointing_at_a_token_chooses_it(figures):
    figure = figures("fig-heads-live")
    figure.set("layer", "5")
    figure.set("head", "11")
    figure.set("token", "10: it")
    figure.box.locator(".first_marks path").nth(13).hover()  # tired
    labels, _ = weights_of(5, 11, 13)
    marks = "[class*=layer]:not([class*=readout]) > [aria-label*=' to ']"
    figure.shows(lambda: figure.labels(marks), labels)
    assert figure.control("combobox", "token").input_value() == "13"


@each_figure
def test_it_is_used_by_keyboard_alone_and_read_out(figures, name):
    figure = figures(name)
    controls = [figure.control(*words.split(" ", 1)) for words in CONTROLS[name]]
    assert figure.box.locator("input, select").count() == len(controls)
    controls[0].focus()
    for control in controls[1:]:
        figure.page.keyboard.press("Tab")
        assert control.evaluate("control => control === document.activeElement")
    control = controls[0]
    control.focus()
    if control.get_attribute("type") == "checkbox":
        control.set_checked(False)
        control.press("Space")
        assert control.is_checked()
    else:
        control.press("Home")
        first = control.input_value()
        control.press("ArrowRight" if control.get_attribute("type") else "ArrowDown")
        assert control.input_value() != first
    spoken = figure.box.locator("[aria-live=polite]")
    figure.shows(lambda: spoken.text_content(), ", ".join(figure.labels(READOUT)))
    assert spoken.text_content()


@pytest.mark.parametrize("name", ["book/index", "book/api"])
def test_pages_without_a_figure_load_nothing_for_them(browser, name):
    with opened(browser, name) as page:
        assert page.locator(".interactive").count() == 0
        page.wait_for_timeout(300)
        assert not [url for url in page.requested if "figures." in url or "vega" in url]


@each_figure
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (375, "dark")])
def test_it_comes_alive_near_the_reader_and_moves_nothing(browser, name, width, scheme):
    with opened(browser, FIGURES[name], width=width, height=400, scheme=scheme) as page:
        page.wait_for_timeout(300)
        assert not [url for url in page.requested if "vega-embed" in url]
        height = page.locator(f"#{name} .interactive").bounding_box()["height"]
        figure = Figure(page, name)
        assert figure.box.bounding_box()["height"] == pytest.approx(height, abs=1)
        assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
        text, paragraph = figure.box.locator(".vega-embed svg text"), page.locator("article p")
        fill = text.first.evaluate("element => getComputedStyle(element).fill")
        assert fill == paragraph.first.evaluate("element => getComputedStyle(element).color")
        assert [url for url in page.requested if "vega-embed" in url]
        assert not [url for url in page.requested if not url.startswith(("file:", "data:"))]
        assert page.wrong == []


@each_figure
def test_without_scripts_and_in_print_there_is_a_picture_with_words(browser, name):
    with opened(browser, FIGURES[name], java_script_enabled=False) as page:
        picture = page.locator(f"#{name} .interactive [role=img]")
        assert len(picture.get_attribute("aria-label")) > 100
        controls = page.locator(f"#{name} .controls")
        for medium in ("screen", "print"):
            page.emulate_media(media=medium)
            assert picture.locator("svg").bounding_box()["height"] > 100
            assert not controls.is_visible()
