"""The book to take away: the PDF is printed once and read, the zip is unpacked and opened.

These need the built pages, and a Chromium where they print or open them.
"""

import re
import shutil
import subprocess
import sys
import zipfile
from itertools import pairwise
from pathlib import Path

import pytest
from browser import SITE, opened
from bs4 import BeautifulSoup
from pypdf import PdfReader

import make
import take_away

ROOT = Path(__file__).parent.parent
DOCUMENTS = re.findall(r"^\s*(?:- file|root): (\S+)$", (ROOT / "_toc.yml").read_text(), re.M)
CONTENTS = 2  # the page that lists the pages


def article(name):
    soup = BeautifulSoup((SITE / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
    return soup.find("article", class_="bd-article")


def headings():
    """Each heading of the pages, in reading order: (is the title of a page, text)."""
    for name in DOCUMENTS:
        for tag in article(name).find_all(re.compile(r"^h[1-6]$")):
            for other in tag.select(".headerlink, mjx-container"):
                other.decompose()
            yield tag.name == "h1", " ".join(tag.get_text().split())


TITLES = [text for is_title, text in headings() if is_title] if SITE.is_dir() else []


# --- pdf ------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def pdf(program, tmp_path_factory):
    """The book, printed by a process of its own: a second Playwright can't start in this one."""
    assert SITE.is_dir(), "there are no built pages: run make book"
    target = tmp_path_factory.mktemp("print") / "book.pdf"
    code = "import sys, pathlib, take_away; take_away.make_pdf(*map(pathlib.Path, sys.argv[1:]))"
    subprocess.run([sys.executable, "-c", code, SITE, target], cwd=ROOT / "tools", check=True)
    return PdfReader(target)


def bookmarks(pdf, outline=None, level=0):
    """Each bookmark of a PDF: (level, title, number of the page)."""
    for item in pdf.outline if outline is None else outline:
        if isinstance(item, list):
            yield from bookmarks(pdf, item, level + 1)
        else:
            yield level, " ".join(item.title.split()), pdf.get_destination_page_number(item) + 1


def first_pages(pdf):
    return {title: number for level, title, number in bookmarks(pdf) if level == 0}


def links(pdf):
    for page in pdf.pages:
        for annotation in page.get("/Annots", []):
            yield annotation.get_object()


def tags(element, page=None):
    """Each element of a PDF's structure, with the page it is on."""
    page = element.get("/Pg", page)
    yield element, page
    for child in kids(element):
        if isinstance(child, dict) and "/MCID" not in child:
            yield from tags(child, page)


def kids(element):
    found = element.get("/K", [])
    return [kid.get_object() for kid in (found if isinstance(found, list) else [found])]


def drawn(element, page):
    """How many bytes of drawing commands an element has on its page."""
    total = 0
    for tag, place in tags(element, page):
        for kid in kids(tag):
            if isinstance(kid, int):
                commands = place["/Contents"].get_data()
                start = commands.index(b"/MCID %d >>BDC" % kid)
                total += commands.index(b"\nEMC", start) - start
    return total


def test_the_pdf_has_the_title_of_the_book(pdf):
    assert pdf.metadata.title == TITLES[0] == "Attention, Step by Step"


def test_every_heading_is_a_bookmark(pdf):
    found = [(level == 0, title.replace(" ", "")) for level, title, _ in bookmarks(pdf)]
    assert found == [(is_title, text.replace(" ", "")) for is_title, text in headings()]


def test_bookmarks_lead_to_the_page_where_the_text_begins(pdf):
    numbers = list(first_pages(pdf).values())
    assert all(here < after for here, after in pairwise(numbers))
    for title, number in first_pages(pdf).items():
        running_head, printed, *text = pdf.pages[number - 1].extract_text().split("\n")
        assert (running_head, printed) == (title, str(number))
        assert title in text


def test_the_contents_print_the_page_of_each_text(pdf):
    lines = pdf.pages[CONTENTS - 1].extract_text().split("\n")
    numbered = [line.rpartition(" ")[::2] for line in lines if re.search(r" \d+$", line)]
    assert numbered == [(title, str(number)) for title, number in first_pages(pdf).items()]


def test_links_lead_into_the_document_or_to_an_address_in_the_web(pdf):
    places = set(pdf.named_destinations)
    assert len(places) > 200
    inside = [link["/Dest"] for link in links(pdf) if "/Dest" in link]
    outside = [link["/A"]["/URI"] for link in links(pdf) if "/Dest" not in link]
    assert len(inside) > 500 and outside
    assert set(inside) <= places
    assert [address for address in outside if not address.startswith("https://")] == []


def test_no_path_of_this_machine_is_in_the_pdf(pdf):
    names = [*pdf.named_destinations, *map(str, pdf.metadata.values())]
    names += [str(link) for link in links(pdf)]
    for trace in ("file:", str(ROOT), "_build"):
        assert [name for name in names if trace in name] == []


def test_all_fonts_are_in_the_pdf(pdf):
    fonts = {}
    for page in pdf.pages:
        for font in page["/Resources"].get("/Font", {}).values():
            fonts[font.idnum if hasattr(font, "idnum") else id(font)] = font.get_object()
    assert len(fonts) > 10
    for font in fonts.values():
        if font["/Subtype"] == "/Type3":
            assert font["/CharProcs"]  # its letters are drawings
        else:
            descriptor = font["/DescendantFonts"][0].get_object()["/FontDescriptor"]
            assert {"/FontFile2", "/FontFile3"} & set(descriptor), font["/BaseFont"]


def test_every_figure_is_drawn_in_its_place(pdf):
    expected = [
        tag.get("alt") or tag["aria-label"]
        for name in DOCUMENTS
        for tag in article(name).select("img[alt], .still[role=img]")
    ]
    structure = pdf.trailer["/Root"]["/StructTreeRoot"]
    figures = [(e, page) for e, page in tags(structure) if e.get("/Alt") in set(expected)]
    assert [element["/Alt"] for element, _ in figures] == expected
    # the sign for a missing picture takes less
    assert [e["/Alt"] for e, page in figures if drawn(e, page) < 2000] == []


def test_formulas_are_set(pdf):
    """Chapters and the list of symbols: no command of TeX is left in the text."""
    pages = {number for _, title, number in bookmarks(pdf) if re.match("The formula|Symbol", title)}
    assert len(pages) >= 5
    for number in pages:
        text = pdf.pages[number - 1].extract_text()
        assert re.findall(r"\\[a-zA-Z({\[]+", text) == []
        assert re.search("[⊤×√⋅∑]", text), number


@pytest.mark.parametrize(("letters", "same"), [("AB", False), ("\uf8f0\uf8f1", True)])
def test_letters_that_no_font_has_are_noticed(browser, letters, same):
    page = browser.new_page()
    assert page.evaluate(take_away.LOOK_THE_SAME, list(letters)) is same
    page.close()


# --- zip ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("offline") / "a folder of mine"
    take_away.make_zip(SITE, folder.with_suffix(".zip"))
    with zipfile.ZipFile(folder.with_suffix(".zip")) as archive:
        assert archive.testzip() is None
        archive.extractall(folder)
    return folder / take_away.NAME


def test_the_zip_holds_the_pages_and_what_they_need(unpacked):
    names = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*.html")}
    documents = {f"{name}.html" for name in DOCUMENTS}
    assert names == documents | {"index.html", "search.html", "genindex.html", "py-modindex.html"}
    for folder, kind in [("_static", "*.css"), ("_static", "*.woff"), ("_images", "*.svg")]:
        expected = {path.name for path in SITE.rglob(f"{folder}/**/{kind}")}
        assert expected == {path.name for path in unpacked.rglob(f"{folder}/**/{kind}")} != set()


def test_the_zip_holds_nothing_that_only_the_build_needs(unpacked):
    kinds = {path.suffix for path in unpacked.rglob("*") if path.is_file()}
    assert kinds <= set(".html .css .js .svg .png .woff .woff2 .ipynb .md .txt".split())
    assert not [path for path in unpacked.rglob(".*")]


def test_the_zip_opens_where_it_was_unpacked(browser, unpacked):
    with opened(browser, "index", site=unpacked) as page:
        page.wait_for_url("**/book/index.html")
        page.get_by_role("link", name="Softmax").first.click()
        figure = page.locator(".interactive")
        figure.scroll_into_view_if_needed()
        figure.locator(".vega-embed svg").wait_for()
        before = figure.locator("svg").inner_html()
        figure.get_by_role("slider").first.press("ArrowRight")
        moved = "before => document.querySelector('.interactive svg').innerHTML !== before"
        page.wait_for_function(moved, arg=before)
        assert page.wrong == []  # later: a search in files finds titles, and fails to fetch texts
        page.get_by_role("button", name="Search").first.click()
        page.locator("#pst-search-dialog input[type=search]").fill("softmax")
        page.keyboard.press("Enter")
        page.get_by_text("Search finished").wait_for()
        found = page.locator("#search-results ul.search a").all_inner_texts()
        assert any("Softmax" in title for title in found)
        assert [
            a for a in page.requested if not a.startswith((unpacked.as_uri(), "data:", "blob:"))
        ] == []


# --- when something is missing --------------------------------------------------------------


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project without a built book."""
    shutil.copytree(ROOT / "tools", tmp_path / "tools")
    monkeypatch.setattr(take_away, "BUILD", tmp_path / "_build")
    return tmp_path


def test_without_chromium_the_pdf_says_what_to_install(project, monkeypatch):
    (project / "_build" / "html").mkdir(parents=True)
    (project / "_build" / "html" / "index.html").write_text("a page")
    monkeypatch.setattr(take_away, "chromium", lambda: None)
    with pytest.raises(take_away.Failed, match="sudo apt install chromium"):
        take_away.main("pdf")
    assert [path.name for path in (project / "_build").iterdir()] == ["html"]


@pytest.mark.parametrize("kind", ["pdf", "zip"])
def test_without_a_book_it_says_how_to_build_one(project, kind):
    done = subprocess.run(
        [sys.executable, project / "tools" / "take_away.py", kind],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    where = project / "_build" / "html"
    assert done.stderr == f"There is no built book in {where}. Build it: make book\n"


def test_make_ends_with_an_error_when_nothing_was_made(monkeypatch):
    monkeypatch.setattr(make, "need_book", lambda: None)
    monkeypatch.setattr(make, "run", lambda *command: 1)
    with pytest.raises(make.Failed, match="The pdf was not made"):
        make.pdf()
    with pytest.raises(make.Failed, match="The zip was not made"):
        make.zip_book()
