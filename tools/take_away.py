"""The book to take away: `python tools/take_away.py pdf` or `zip`, from the built pages.

pdf: one file to print or to read, with contents, page numbers and bookmarks.
zip: the pages for a machine without a network; they open with a double click.
"""

import os
import shutil
import sys
import time
import zipfile
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "_build"
NAME = "attention-step-by-step"
LICENCES = "Text: CC BY 4.0. Code: BSD-3-Clause."


class Failed(Exception):
    """Ends the program with this message and exit status 1."""


# --- pdf ------------------------------------------------------------------------------------

COMMANDS = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge")
PLACES = (  # where they are when they are not on the PATH
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)


def chromium():
    """Path of an installed Chromium, Chrome or Edge; None where there is none."""
    found = filter(None, map(shutil.which, COMMANDS))
    return next(found, None) or next(filter(os.path.isfile, PLACES), None)


def page_numbers(pdf):
    """On which page each place of a PDF is that something links to."""
    from pypdf import PdfReader

    reader = PdfReader(pdf)
    return {
        name.removeprefix("/"): reader.get_destination_page_number(place) + 1
        for name, place in reader.named_destinations.items()
    }


LINKS = "[...document.querySelectorAll('nav.bd-links li.toctree-l1 > a')].map(link => link.href)"
VISIBILITY = """visibility => {
    for (const chapter of document.querySelectorAll('.chapter'))
        chapter.style.visibility = visibility;
}"""
NUMBER = """numbers => document.querySelectorAll('.number').forEach(place => {
    place.textContent = numbers[decodeURI(place.previousSibling.hash.slice(1))];
})"""

# A letter that no font has is drawn as a box: then two of them look the same.
LOOK_THE_SAME = """([one, other]) => {
    const canvas = document.createElement('canvas').getContext('2d');
    canvas.font = '20px sans-serif';
    const drawn = letter => {
        canvas.clearRect(0, 0, 30, 30);
        canvas.fillText(letter, 0, 25);
        return canvas.getImageData(0, 0, 30, 30).data.join();
    };
    return drawn(one) === drawn(other);
}"""


def make_pdf(site, target):
    """Print the pages of a site into one PDF."""
    program = chromium()
    if program is None:
        raise Failed(
            "The PDF is printed by Chromium, Chrome or Edge, and none of them was found.\n"
            "On Debian or Ubuntu: sudo apt install chromium. "
            "Elsewhere: install Chrome from https://www.google.com/chrome."
        )
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # a container's root can't have a sandbox, and only our own pages are opened
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(0)
        page.route("**/*.js*", lambda route: route.abort())  # all that moves on a screen
        page.goto((site / "index.html").as_uri())
        page.wait_for_selector("nav.bd-links", state="attached")  # the index sends on to it
        sources = []
        for address in [page.url, *page.evaluate(LINKS)]:
            path = Path(url2pathname(urlsplit(address).path))
            if (name := path.relative_to(site).as_posix()) not in dict(sources):
                sources.append((name, path.read_text(encoding="utf-8")))
        address = site.as_uri() + "/"
        style = (HERE / "take_away.css").read_text(encoding="utf-8")
        script = (HERE / "take_away.js").read_text(encoding="utf-8")
        page.evaluate(script, [address, sources, style, LICENCES])
        page.wait_for_load_state("networkidle")
        if page.evaluate(LOOK_THE_SAME, ["注", "意"]):
            print(
                "No font here has Chinese letters; the glossary's are printed as boxes.\n"
                "On Debian or Ubuntu: sudo apt install fonts-wqy-microhei, then again."
            )
        page.evaluate(VISIBILITY, "hidden")  # printed at once, to learn the numbers of the pages
        page.pdf(path=target, prefer_css_page_size=True)
        page.evaluate(VISIBILITY, "visible")
        page.evaluate(NUMBER, page_numbers(target))
        page.pdf(path=target, prefer_css_page_size=True, outline=True, tagged=True)
        browser.close()


# --- zip ------------------------------------------------------------------------------------


def make_zip(site, target):
    """Pack a site into a folder of a zip file."""
    files = sorted(path for path in site.rglob("*") if path.is_file())
    files = [path for path in files if path.name not in (".buildinfo", "objects.inv")]
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in files:
            archive.write(path, Path(NAME, path.relative_to(site)))


def main(kind):
    make = {"pdf": make_pdf, "zip": make_zip}[kind]
    site, target = BUILD / "html", BUILD / f"{NAME}.{kind}"
    if not (site / "index.html").is_file():
        raise Failed(f"There is no built book in {site}. Build it: make book")
    start = time.monotonic()
    unfinished = target.with_suffix(".unfinished")
    make(site, unfinished)
    unfinished.replace(target)
    size, seconds = target.stat().st_size / 1e6, time.monotonic() - start
    print(f"The book is in {target} ({size:.1f} MB, {seconds:.0f} s)")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Failed as problem:
        sys.exit(str(problem))
