"""The built pages: complete, correct in their links, and independent of every other host.

`make test` builds the book before it runs these.
"""

import json
import re
from copy import copy
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup

import companion
import repository_links
from companion import checks, encoder, examples, gradients, interactive, minilm, plotting

ROOT = Path(__file__).parent.parent
SITE = ROOT / "_build" / "html"
DOCUMENTS = re.findall(r"^\s*(?:- file|root): (\S+)$", (ROOT / "_toc.yml").read_text(), re.M)
EXTRA = ["genindex", "search", "py-modindex"]

each_document = pytest.mark.parametrize("name", DOCUMENTS)
each_page = pytest.mark.parametrize("name", DOCUMENTS + EXTRA)


@cache
def parsed(path):
    assert path.is_file(), f"{path} is missing: run make book"
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def page(name):
    return parsed(SITE / f"{name}.html")


def article(name):
    return page(name).find("article", class_="bd-article")


@cache
def anchors(path):
    return {tag["id"] for tag in parsed(path).find_all(id=True)}


@cache
def requests_of(name):
    """Addresses of everything that a browser fetches to show the page."""
    return list(addresses_fetched(page(name)))


def addresses_fetched(soup):
    for tag in soup.find_all(["script", "img", "iframe", "source", "video", "audio", "embed"]):
        if tag.get("src"):
            yield tag["src"]
    for tag in soup.find_all("link", href=True):
        if {"stylesheet", "preload", "icon", "preconnect", "modulepreload"} & set(tag["rel"]):
            yield tag["href"]
    for tag in soup.find_all("object", data=True):
        yield tag["data"]
    for tag in soup.find_all("style"):
        yield from style_requests(tag.text)


def style_requests(text):
    for match in re.finditer(r"url\(\s*[\"']?([^\"')]+)|@import\s+[\"']([^\"']+)", text):
        yield match[1] or match[2]


def is_elsewhere(address):
    parts = urlsplit(address)
    return bool(parts.netloc) or parts.scheme in ("http", "https")


def test_every_notebook_and_page_is_in_the_table_of_contents():
    sources = [*ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("book/*.md")]
    names = {path.relative_to(ROOT).with_suffix("").as_posix() for path in sources}
    assert names == set(DOCUMENTS)


def test_the_front_door_leads_to_the_first_page():
    front = parsed(SITE / "index.html")
    assert front.find("meta")["content"] == f"0; url={DOCUMENTS[0]}.html"


@each_document
def test_a_page_has_one_title_and_headings_in_order(name):
    levels = [int(tag.name[1]) for tag in article(name).find_all(re.compile(r"^h[1-6]$"))]
    assert levels[0] == 1 and levels.count(1) == 1
    for higher, lower in pairwise(levels):
        assert lower <= higher + 1, levels


@pytest.mark.parametrize("name", [d for d in DOCUMENTS if d.startswith("notebooks/")])
def test_a_chapter_bears_the_number_of_its_notebook(name):
    number = int(re.match(r"notebooks/(\d\d)_", name)[1])
    assert article(name).h1.get_text().startswith(f"{number}. ")
    captions = [tag.get_text().strip() for tag in article(name).find_all(class_="caption-number")]
    for kind in ("Fig.", "Exercise"):
        found = [caption for caption in captions if caption.startswith(f"{kind} ")]
        assert found == [f"{kind} {number}.{i}" for i in range(1, len(found) + 1)]


@each_document
def test_every_image_has_a_text_that_says_what_it_shows(name):
    for image in article(name).find_all("img"):
        alt = image.get("alt", "")
        assert len(alt) >= 20 and " " in alt, f"{image.get('src')}: {alt!r}"
        assert not re.search(r"\.(png|svg)$", alt)


@each_document
def test_every_interactive_figure_has_a_picture_with_a_text_that_says_what_it_shows(name):
    figures = article(name).find_all(class_="interactive")
    assert len(figures) == int(bool(re.match(r"notebooks/0[1-6]_", name)))
    for figure in figures:
        assert len(figure["aria-label"]) >= 100
        assert figure.find(role="img")["aria-label"] == figure["aria-label"]
        assert figure.find(role="img").svg and figure.parent.name == "figure"


@each_page
def test_only_pages_with_an_interactive_figure_load_anything_for_it(name):
    requests = " ".join(requests_of(name))
    is_there = page(name).find(class_="interactive") is not None
    assert ("figures.js" in requests) == ("figures.css" in requests) == is_there
    assert "vega" not in requests  # figures.js fetches it when a reader comes near


@each_page
def test_a_page_asks_no_other_host(name):
    assert [a for a in requests_of(name) if is_elsewhere(a)] == []


def test_style_sheets_ask_no_other_host():
    sheets = sorted(SITE.rglob("*.css"))
    assert sheets
    for sheet in sheets:
        for address in style_requests(sheet.read_text(encoding="utf-8")):
            assert not is_elsewhere(address), f"{sheet.name}: {address}"


@each_page
def test_everything_a_page_fetches_is_there(name):
    folder = (SITE / f"{name}.html").parent
    for address in requests_of(name):
        path = urlsplit(address).path
        if path and not address.startswith("data:"):
            assert (folder / unquote(path)).is_file(), address


@each_page
def test_internal_links_and_their_anchors_resolve(name):
    here = SITE / f"{name}.html"
    for tag in page(name).find_all("a", href=True):
        parts = urlsplit(tag["href"])
        if parts.scheme or parts.netloc or tag["href"] == "#":
            continue
        target = (here.parent / unquote(parts.path)).resolve() if parts.path else here
        assert target.is_file(), tag["href"]
        assert target.is_relative_to(SITE.resolve()), tag["href"]
        if parts.fragment and target.suffix == ".html":
            assert unquote(parts.fragment) in anchors(target), tag["href"]


@each_document
def test_no_source_text_is_left_in_a_page(name):
    text = copy(article(name))
    code = ["pre", "code", "script", "dl"]  # "dl": docstrings, which are not MyST
    for tag in text.find_all(code) + text.find_all(class_="math"):
        tag.extract()
    assert text.find(class_="problematic") is None
    assert text.find(class_="system-message") is None
    assert not re.search(r"\\(text|sqrt)", text.get_text())
    for raw in ("$$", ":::", "```", r"\begin{", "{figure}", "{exercise", "{cite}", "**", "]("):
        assert raw not in text.get_text(), raw
    assert not re.search(r"\$[^\s$][^$\n]*\$", text.get_text())


@each_page
def test_formulas_are_set_already_and_only_their_pages_load_the_style(name):
    formulas = page(name).find_all(class_="math")
    styles = [tag["href"].split("?")[0] for tag in page(name).find_all("link", href=True)]
    assert any(address.endswith("formulas.css") for address in styles) == bool(formulas)
    for formula in formulas:
        assert formula.find("mjx-math") and formula.find("mjx-assistive-mml").math, formula
    assert not [tag for tag in page(name).find_all("script", src=True) if "mathjax" in tag["src"]]


@each_document
def test_a_mark_that_touches_a_formula_stays_on_its_line(name):
    for formula in article(name).find_all("span", class_="math"):
        if "together" not in formula.parent.get("class", []):
            for beside, mark in (
                (formula.previous_sibling, r"[^\s\w]\Z"),
                (formula.next_sibling, r"^[^\s\w]"),
            ):
                assert not isinstance(beside, str) or not re.search(mark, beside), beside


@each_document
def test_what_a_cell_prints_is_one_box(name):
    for output in article(name).find_all("div", class_="cell_output"):
        kinds = [part["class"] for part in output.find_all("div", recursive=False)]
        assert all("stream" not in a or "stream" not in b for a, b in pairwise(kinds))


def test_the_api_page_has_every_public_name():
    own = (checks, encoder, examples, gradients, interactive, minilm, plotting)
    names = {f"{module.__name__}.{name}" for module in own for name in module.__all__}
    names |= {f"{getattr(companion, n).__module__}.{n}" for n in companion.__all__}
    names |= {
        "companion.multi_head.MultiHeadAttention.__call__",
        "companion.encoder.Encoder.__call__",
    }
    constants = {f"companion.plotting.{n}" for n in ("COLOURS", "HATCHES", "LINE_STYLES")}
    constants |= {"companion.interactive.MIME_TYPE"}
    assert names - constants - anchors(SITE / "book" / "api.html") == set()


def test_the_search_index_holds_every_page():
    text = (SITE / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(re.fullmatch(r"Search\.setIndex\((.*)\)", text, re.S)[1])
    assert set(index["docnames"]) == set(DOCUMENTS)


def test_search_needs_no_server():
    # a page opened from a folder can run scripts, but not fetch data
    scripts = [tag["src"] for tag in page("search").find_all("script", src=True)]
    assert any(address.split("?")[0] == "searchindex.js" for address in scripts)


@pytest.mark.parametrize("name", [d for d in DOCUMENTS if d.startswith("notebooks/")])
def test_a_chapter_can_be_downloaded_as_a_notebook(name):
    button = page(name).find("a", class_="btn-download-source-button")
    target = (SITE / f"{name}.html").parent / button["href"]
    assert target.read_bytes() == (ROOT / f"{name}.ipynb").read_bytes()


@each_document
def test_buttons_to_the_repository_are_there_only_with_a_repository(name):
    address = repository_links.theme_options(ROOT).get("repository_url")
    text = str(page(name))
    if address is None:
        assert "mybinder.org/v2" not in text
        assert "source-repository-button" not in text
    else:
        assert f'href="{address}"' in text
        assert ("mybinder.org/v2" in text) == name.startswith("notebooks/")
