"""What a page weighs when it is opened: `make weight`, once the book is built.

The heaviest chapter is measured in turn with an empty page of the same theme as Jupyter Book
sets it up, and with an empty page in this book's settings. Nothing is clicked or scrolled.
"""

import gzip
import http.server
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
from functools import cache, partial
from pathlib import Path

from playwright.sync_api import sync_playwright

from take_away import Failed, chromium

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "_build" / "html"
ROUNDS = 7
VIEWS = {  # size of the window; bytes a second, milliseconds of delay and slowness of a phone
    "laptop": ({"width": 1280, "height": 800}, None),
    "phone": ({"width": 375, "height": 667}, (200_000, 150, 4)),
}
LARGEST_PAINT = """() => new Promise(done =>
    new PerformanceObserver(list => done(list.getEntries().at(-1).startTime))
        .observe({type: "largest-contentful-paint", buffered: true}))"""


@cache
def compressed(path):
    return gzip.compress(path.read_bytes(), 6)


class Handler(http.server.SimpleHTTPRequestHandler):
    """Sends text compressed, as the usual hosts of such pages do."""

    def do_GET(self):
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            self.send_error(404)
            return
        self.send_response(200)
        body = path.read_bytes()
        if path.suffix in (".html", ".css", ".js", ".svg"):
            body = compressed(path)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Length", len(body))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def served(site):
    """Address of a site, served until the program ends."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def empty_book(folder, ours):
    """Site of one empty page, in our settings or in those that the theme comes with."""
    (folder / "book").mkdir(parents=True)
    (folder / "_toc.yml").write_text("format: jb-book\nroot: book/index\n")
    (folder / "book" / "index.md").write_text("# Empty\n\nNothing.\n")
    (folder / "_config.yml").write_text("title: Empty\n")
    if ours:
        shutil.copy(ROOT / "_config.yml", folder)
        shutil.copy(ROOT / "book" / "references.bib", folder / "book")
        for name in ("_ext", "_static", "_templates"):
            shutil.copytree(ROOT / "book" / name, folder / "book" / name)
    start = "from jupyter_book.cli.main import main; main()"
    subprocess.run([sys.executable, "-c", start, "build", folder], check=True, capture_output=True)
    return folder / "_build" / "html"


def opened(browser, address, size, slowness):
    """Bytes as they are and as they are sent, requests, and largest contentful paint in ms."""
    context = browser.new_context(viewport=size)
    page = context.new_page()
    responses = []
    page.on("response", lambda response: responses.append(response))
    if slowness:
        rate, latency, factor = slowness
        network = {"downloadThroughput": rate, "uploadThroughput": rate, "latency": latency}
        session = context.new_cdp_session(page)
        session.send("Network.enable")
        session.send("Network.emulateNetworkConditions", {"offline": False, **network})
        session.send("Emulation.setCPUThrottlingRate", {"rate": factor})
    if not page.goto(address, wait_until="networkidle").ok:
        raise Failed(f"{address} was not built.")
    seen = (
        sum(len(response.body()) for response in responses),
        sum(int(response.headers["content-length"]) for response in responses),
        len(responses),
        page.evaluate(LARGEST_PAINT),
    )
    context.close()
    return seen


def measured(browser, pages):
    """For each view and page: the medians of what `opened` gives, taken in turn."""
    for view, options in VIEWS.items():
        seen = {name: [] for name in pages}
        for _ in range(ROUNDS):
            for name, address in pages.items():
                seen[name].append(opened(browser, address, *options))
        for name, values in seen.items():
            yield name, view, *map(statistics.median, zip(*values, strict=True))


def main():
    if not (SITE / "index.html").is_file():
        raise Failed("There is no book to weigh: run make book first.")
    if chromium() is None:
        raise Failed("Pages are weighed in Chromium, Chrome or Edge, and none was found.")
    chapters = SITE.glob("notebooks/*.html")
    heaviest = max(chapters, key=lambda path: len(compressed(path))).relative_to(SITE)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        theirs, ours = (empty_book(Path(folder, str(ours)), ours) for ours in (False, True))
        pages = {
            "empty page, theme as it comes": f"{served(theirs)}/book/index.html",
            "empty page, as this book": f"{served(ours)}/book/index.html",
            heaviest.stem: f"{served(SITE)}/{heaviest.as_posix()}",
        }
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        print("| page | view | kB | kB sent | requests | largest contentful paint |")
        print("|---|---|---|---|---|---|")
        for name, view, size, sent, requests, paint in measured(browser, pages):
            sizes = f"{size / 1e3:.0f} | {sent / 1e3:.0f} | {requests:.0f}"
            print(f"| {name} | {view} | {sizes} | {paint:.0f} ms |", flush=True)
        browser.close()


if __name__ == "__main__":
    try:
        main()
    except Failed as problem:
        sys.exit(str(problem))
