"""Every page in a real browser: light and dark, as wide as a laptop's and as a phone's.

What a page must not do is gathered from one visit to it and reported together.
"""

import re
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from threading import Thread

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import SITE, opened

ROOT = Path(__file__).parent.parent
DOCUMENTS = re.findall(r"^\s*(?:- file|root): (\S+)$", (ROOT / "_toc.yml").read_text(), re.M)
PAGES = [*DOCUMENTS, "genindex", "search", "py-modindex"]
SCHEMES = ("light", "dark")
WIDTHS = (1280, 375)

# Findings of axe that are the theme's and can't be mended here: rule -> reason, where reported.
ALLOWED = {}

SETTLE = """async () => {
    for (const details of document.querySelectorAll("details:not([open])"))
        details.querySelector("summary").click();
    for (const button of document.querySelectorAll(".toggle-button-hidden")) button.click();
    // the theme looks 0.3 s later which boxes scroll
    await new Promise((resolve) => setTimeout(resolve, 400));
    for (const image of document.images) image.loading = "eager"; // and not when it comes near
    await Promise.allSettled([...document.images].map((image) => image.decode()));
    await document.fonts.ready;
}"""

# One element for each way that text looks: the contrast of thousands of words in the same colours
# would take axe most of its time. What else would, and has nothing to say: the words of the other
# code, and the drawn form of formulas, which is hidden from screen readers.
LOOKS = """() => {
    const grounds = new Map([[null, ""]]);
    const ground = (element) => {
        if (!grounds.has(element)) {
            const { backgroundColor, backgroundImage, opacity } = getComputedStyle(element);
            const own = [backgroundColor, backgroundImage, opacity].join();
            const below = ground(element.parentElement);
            const unseen = own === "rgba(0, 0, 0, 0),none,1";
            grounds.set(element, unseen ? below : `${below} ${own}`);
        }
        return grounds.get(element);
    };
    const hasText = (element) =>
        [...element.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
    const looks = new Map();
    for (const element of document.body.querySelectorAll("*")) {
        if (!element.checkVisibility() || !hasText(element)) continue;
        const { color, fill, fontSize, fontWeight } = getComputedStyle(element);
        const look = [color, fill, fontSize, fontWeight, ground(element)].join();
        if (!looks.has(look)) looks.set(look, element);
    }
    const kept = [...looks.values()];
    for (const code of document.querySelectorAll("pre"))
        if (!kept.some((element) => code.contains(element))) code.replaceChildren(code.innerText);
    for (const drawn of document.querySelectorAll("mjx-math")) drawn.replaceChildren();
    return kept;
}"""

AXE = """async (looks) => {
    for (const element of looks) element.dataset.look = "";
    const selector = "[data-look], [data-look] *";
    axe.configure({ rules: [{ id: "color-contrast", selector }] });
    // preload would fetch style sheets again, which a page opened as a file can't
    return (await axe.run({ resultTypes: ["violations"], preload: false })).violations;
}"""

IMAGES = """() => [...document.images].filter((image) => image.checkVisibility()).map((image) => {
    const padding = parseFloat(getComputedStyle(image).padding); // a card in the dark scheme
    const shape = (image.clientWidth - 2 * padding) / (image.clientHeight - 2 * padding);
    const stretched = shape / (image.naturalWidth / image.naturalHeight);
    return [image.getAttribute("src"), image.getAttribute("alt"), stretched];
})"""

CUT_OFF = """() => {
    const scrolls = (element) => element && element !== document.body &&
        (["auto", "scroll"].includes(getComputedStyle(element).overflowX) ||
            scrolls(element.parentElement));
    const hasText = (element) =>
        [...element.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
    return [...document.querySelectorAll("main *, footer *")].filter((element) =>
        element.checkVisibility() && !element.closest("mjx-assistive-mml") &&
        (element.matches("mjx-container") || hasText(element)) &&
        element.getBoundingClientRect().right > innerWidth + 1 && !scrolls(element)
    ).map((element) => element.textContent.trim().slice(0, 50));
}"""

HEADINGS = """() => [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter((heading) =>
    heading.checkVisibility()).map((heading) => Number(heading.tagName[1]))"""


def unfold(page):
    """Open what is folded; wait for images, fonts and interactive figures."""
    page.evaluate(SETTLE)
    for figure in page.locator(".interactive").all():
        figure.scroll_into_view_if_needed()
        figure.locator(".vega-embed svg").wait_for()


def asked_elsewhere(page):
    local = ("file:", "data:", "blob:")
    return [f"asks {a}" for a in page.requested if not a.startswith(local)]


def sideways_scroll(page):
    wide, window = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    return [f"is {wide} px wide in a window of {window} px"] if wide > window else []


def text_cut_off(page):
    return [f"text that leaves the window: {text}" for text in page.evaluate(CUT_OFF)]


def faults_of_images(page):
    for source, alt, stretched in page.evaluate(IMAGES):
        if not alt:
            yield f"image without a text: {source[-60:]}"
        if stretched is None or abs(stretched - 1) > 0.03:
            yield f"image that is not shown in its proportions ({stretched}): {source[-60:]}"


def headings_out_of_order(page):
    levels = page.evaluate(HEADINGS)
    if levels[:1] != [1] or levels.count(1) != 1:
        yield f"headings {levels}: the first, and no other, is of level 1"
    for higher, lower in pairwise(levels):
        if lower > higher + 1:
            yield f"heading of level {lower} after level {higher}"


def axe_violations(page):
    page.evaluate(Axe().axe_script)
    looks = page.evaluate_handle(LOOKS)
    assert looks.evaluate("(looks) => looks.length")
    return page.evaluate(AXE, looks)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_wrong_with_a_page(browser, record_property, name, scheme, width):
    with opened(browser, name, width=width, scheme=scheme) as page:
        unfold(page)
        assert page.evaluate("document.documentElement.dataset.theme") == scheme
        found = [
            *page.wrong,
            *asked_elsewhere(page),
            *sideways_scroll(page),
            *text_cut_off(page),
            *faults_of_images(page),
            *headings_out_of_order(page),
        ]
        violations = axe_violations(page)
    for rule in violations:
        if rule["id"] not in ALLOWED:
            found += [f"{rule['id']}: {n['html']}: {n['failureSummary']}" for n in rule["nodes"]]
    allowed = sum(len(rule["nodes"]) for rule in violations if rule["id"] in ALLOWED)
    visits = f"visits ({len(PAGES)} pages × {len(SCHEMES)} schemes × {len(WIDTHS)} widths)"
    record_property(f"count: browser: {visits}", 1)
    record_property("count: browser: findings", len(found))
    record_property(f"count: browser: findings allowed ({', '.join(ALLOWED) or 'none'})", allowed)
    assert found == []


def test_the_list_of_allowed_findings_is_short():
    assert len(ALLOWED) <= 2


@pytest.fixture(scope="module")
def server():
    """Address of a server of the built pages."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=SITE)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def search(page, word):
    """Titles of the pages that the search field finds."""
    page.get_by_role("button", name="Search").first.click()
    page.locator("#pst-search-dialog input[type=search]").fill(word)
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=*")
    page.get_by_text(re.compile(r"Search finished|did not match")).wait_for()
    return page.locator("#search-results ul.search a").all_inner_texts()


@pytest.mark.parametrize(("word", "title"), [("softmax", "Softmax"), ("xyzzyx", None)])
def test_search_finds_a_word_in_a_page_opened_as_a_file(browser, word, title):
    with opened(browser, "notebooks/04_masking") as page:
        titles = search(page, word)
    assert any(title in found for found in titles) if title else titles == []


def test_search_finds_a_word_on_a_server_and_shows_where(browser, server):
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{server}/notebooks/04_masking.html")
    assert any("Softmax" in title for title in search(page, "softmax"))
    page.locator("#search-results p.context").first.wait_for()
    context.close()
