"""A real Chromium for the tests that need one, and the built pages from the file system."""

import os
from contextlib import contextmanager
from pathlib import Path

import pytest

from take_away import COMMANDS, chromium

SITE = Path(__file__).parent.parent / "_build" / "html"


@pytest.fixture(scope="session")
def program():
    """Path of a Chromium; where there is none, tests are skipped, and fail in CI."""
    program = chromium()
    if program is None:
        missing = f"needs Chromium: none of {', '.join(COMMANDS)} is on the PATH"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    return program


@pytest.fixture(scope="session")
def browser(program):
    """A Chromium without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # a container's root can't have a sandbox, and only our own pages are opened; a machine
        # without a graphics card would imitate one, which takes longer than to draw without
        options = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=program, args=options)
        yield browser
        browser.close()


@contextmanager
def opened(browser, name, width=1280, height=800, scheme="light", site=SITE, **options):
    """A page of a site, opened as a file; `page.requested` lists what it has asked for."""
    path = site / f"{name}.html"
    assert path.is_file(), f"{path.name} is missing: run make book"
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, **options
    )
    try:
        page = context.new_page()
        page.set_default_timeout(120_000)  # of milliseconds, on a busy machine
        page.requested, page.wrong = [], []
        page.on("request", lambda request: page.requested.append(request.url))
        page.on("requestfailed", lambda request: page.wrong.append(f"failed: {request.url}"))
        page.on("pageerror", lambda error: page.wrong.append(str(error)))
        page.on("console", lambda said: said.type == "error" and page.wrong.append(said.text))
        page.goto(path.as_uri())
        yield page
    finally:
        context.close()
