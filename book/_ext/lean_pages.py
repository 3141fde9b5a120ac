"""Pages that fetch little: what a reader sees first, and nothing that a page doesn't use.

It works on the finished site, since themes and extensions put their files into every page.
"""

import hashlib
import json
import re
from pathlib import Path
from urllib.parse import unquote

from font_subset import write_subset

# A script or style sheet -> what a page that needs it contains
NEEDED = {
    "fontawesome.js": None,  # 1.5 MB that draw a dozen icons; the theme's fonts have them too
    "thebe": None,  # live code, which fetches its parts from another host
    "searchtools.js": 'id="search-results"',
    "language_data.js": 'id="search-results"',
    "searchindex.js": 'id="search-results"',
    "sphinx-design.min.css": 'class="sd-',
    "design-tabs.js": 'class="sd-tab',
    "mystnb.": 'class="cell ',
    "exercise.css": '"exercise ',
    "togglebutton.": "dropdown admonition",
    "copybutton.": '<div class="highlight',
    "clipboard.min.js": '<div class="highlight',
}
OPTIONS = re.compile(r'<script src="[^"]*documentation_options\.js[^"]*"></script>')
WAITING = re.compile(r"<script (?=[^>]*src=)(?![^>]*\bdefer)")
SPEC = re.compile(r'<script type="application/json">(.*?)</script>', re.DOTALL)
FILE = re.compile(r'<(?:script|link)\b[^>]*(?:src|href)="([^"]*)"[^>]*>(?:</script>\n?)?')
THEBE = re.compile(
    r"<script>(?:const THEBE_JS_URL|kernelName = )[^<]*</script>"
    r'|<script type="text/x-thebe-config">[^<]*</script>'
)
# Tokens whose colour is that of the code around: markup for nothing, a quarter of a page
PLAIN_TOKEN = re.compile(r'<span class="(?:n|nn|p|w)">([^<]*)</span>')
PICTURE = re.compile(r'<img (?=[^>]*src="([^"]*_images/[^"]*)")')
DPI = 120  # of companion.plotting: a figure is shown as large as its PNG in the notebook


def without_unused(page):
    """The page without scripts and styles for which it holds nothing.

    >>> without_unused('<script src="a/design-tabs.js"></script><link href="site.css"/>')
    '<link href="site.css"/>'
    """

    def kept(match):
        for name, content in NEEDED.items():
            if name in match[1] and (content is None or content not in page):
                return ""
        return match[0]

    return FILE.sub(kept, page)


def lazy_picture(match, folder):
    """An image that is fetched when a reader comes near; its place is kept free until then."""
    path = folder / unquote(match[1])
    if path.suffix != ".svg":
        return match[0]
    head = path.read_text(encoding="utf-8").partition("<svg")[2]
    size = {side: float(points) for side, points in re.findall(r'(\w+)="([\d.]+)pt"', head)}
    width, height = (round(size[side] / 72 * DPI) for side in ("width", "height"))
    return f'<img loading="lazy" decoding="async" width="{width}" height="{height}" '


def spec_apart(match, static, up):
    """The data of an interactive figure in a file of their own, which figures.js asks for.

    It is a script that fills the element which asks: a page opened from a folder can fetch no data.
    """
    text = match[1]
    name = f"figure-{hashlib.sha256(text.encode()).hexdigest()[:12]}.js"
    ask = f"document.querySelector('[data-src$=\"{name}\"]').textContent ="
    (static / name).write_text(f"{ask} {json.dumps(text, ensure_ascii=False)};", encoding="utf-8")
    return f'<script type="application/json" data-src="{up}_static/{name}"></script>'


def lean(page, path, site):
    """The page of a file of the site, with less in it."""
    static, up = site / "_static", "../" * len(path.relative_to(site).parents[1:])
    page = PLAIN_TOKEN.sub(r"\1", THEBE.sub("", without_unused(page)))
    page = PICTURE.sub(lambda match: lazy_picture(match, path.parent), page)
    page = SPEC.sub(lambda match: spec_apart(match, static, up), page)
    # Scripts wait until the page is there; the options, which inline scripts need, are in it
    options = (static / "documentation_options.js").read_text(encoding="utf-8")
    page = OPTIONS.sub(lambda match: f"<script>{options}</script>", page)
    return WAITING.sub("<script defer ", page)


# --- icons ----------------------------------------------------------------------------------

ICON_RULE = re.compile(r'((?:\.fa-[\w-]+:before,?)+)\{content:"\\([0-9a-f]+)"\}')
ICON_FONT = re.compile(r"@font-face\{[^}]*?url\(([^)]*/fa-(\w+)-\d+)\.woff2\)[^}]*\}")


def keep_icons(style, used):
    """The theme's style sheet and fonts with only those of the 2000 icons that pages use."""
    text = style.read_text(encoding="utf-8")
    letters = set()

    def rule(match):
        names = set(re.findall(r"\.fa-([\w-]+):before", match[1]))
        if not names & used:
            return ""
        letters.add(int(match[2], 16))
        return match[0]

    def font(match):
        path = style.parent / match[1]
        if not write_subset(path.with_suffix(".ttf"), letters, path.with_suffix(".woff")):
            return ""
        return re.sub(r"src:[^}]*", f'src:url({match[1]}.woff) format("woff")', match[0])

    text = ICON_RULE.sub(rule, text)
    style.write_text(ICON_FONT.sub(font, text), encoding="utf-8")


# --- files ----------------------------------------------------------------------------------


def unused_files(site):
    """Files in `_static` that no page, style sheet or script names."""
    static = [path for path in (site / "_static").rglob("*") if path.is_file()]
    texts = "\n".join(path.read_text(encoding="utf-8") for path in site.rglob("*.html"))
    waiting, found = set(static), True
    while found:  # what a used file names is used
        found = {path for path in waiting if path.name in texts}
        waiting -= found
        readable = [path for path in found if path.suffix in (".css", ".js")]
        texts = "\n".join(path.read_text(encoding="utf-8") for path in readable)
    return waiting


def make_lean(app, exception):
    if exception or app.builder.format != "html":
        return
    site = Path(app.outdir)
    icons = {"xmark"}  # from a script of the theme
    for path in site.rglob("*.html"):
        page = lean(path.read_text(encoding="utf-8"), path, site)
        path.write_text(page, encoding="utf-8")
        icons |= set(re.findall(r"\bfa-([\w-]+)", page))
    keep_icons(site / "_static" / "styles" / "pydata-sphinx-theme.css", icons)
    for path in (site / "_static").rglob("*.*s"):  # scripts and styles
        text = path.read_text(encoding="utf-8")
        text = re.sub(r"\n?(//|/\*)# sourceMappingURL=[^\n*]*(\*/)?", "", text)
        path.write_text(text, encoding="utf-8")
    for path in unused_files(site):
        path.unlink()


def setup(app):
    app.connect("build-finished", make_lean)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
