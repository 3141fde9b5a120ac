"""Buttons to the repository and to Binder: right with a git remote, absent without one."""

import subprocess
from urllib.parse import urlsplit

import pytest
from bs4 import BeautifulSoup
from small_book import point_make_to, write_small_book

import make
import repository_links

ADDRESSES = [
    ("https://github.com/owner/a-book.git", "https://github.com/owner/a-book"),
    ("https://github.com/owner/a-book", "https://github.com/owner/a-book"),
    ("https://github.com/owner/a.book.git/", "https://github.com/owner/a.book"),
    ("https://user:secret@github.com/owner/a-book.git", "https://github.com/owner/a-book"),
    ("https://oauth2:token@gitlab.com/owner/a-book.git", "https://gitlab.com/owner/a-book"),
    ("git@github.com:owner/a-book.git", "https://github.com/owner/a-book"),
    ("ssh://git@gitlab.com/owner/a-book.git", "https://gitlab.com/owner/a-book"),
    ("ssh://git@github.com:22/owner/a-book.git", "https://github.com/owner/a-book"),
    ("", None),
    ("../somewhere/a-book", None),
    ("/srv/git/a-book.git", None),
    ("C:\\books\\a-book", None),
    ("https://git.example.org/owner/a-book.git", None),
    ("https://example.org/github.com/owner/a-book", None),
    ("https://github.com.example.org/owner/a-book", None),
    ("https://github.com/owner", None),
]


@pytest.mark.parametrize(("remote", "address"), ADDRESSES)
def test_the_address_comes_from_the_remote(remote, address):
    assert repository_links.web_address(remote) == address


def git(root, *arguments):
    subprocess.run(["git", "-C", root, *arguments], check=True, capture_output=True)


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A small book with the project's own configuration, as a git repository."""
    root = tmp_path_factory.mktemp("a book")
    write_small_book(root)
    git(root, "init", "--initial-branch", "trunk")
    return root


def built(root, monkeypatch):
    point_make_to(root, monkeypatch)
    make.build_book()

    def links(page):
        text = (root / "_build" / "html" / f"{page}.html").read_text(encoding="utf-8")
        assert "THEBE_JS_URL" not in text  # with buttons it would be there twice: a script error
        header = BeautifulSoup(text, "html.parser").find(class_="bd-header-article")
        return [tag["href"] for tag in header.find_all("a", href=True)]

    return links


def test_with_a_remote_every_button_leads_to_an_existing_file(repository, monkeypatch):
    git(repository, "remote", "add", "origin", "git@github.com:owner/a-book.git")
    git(repository, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
    try:
        links = built(repository, monkeypatch)
    finally:
        git(repository, "remote", "remove", "origin")
    base = "https://github.com/owner/a-book"
    binder = "https://mybinder.org/v2/gh/owner/a-book/trunk?urlpath=lab/tree/"
    for page, file in [("book/index", "book/index.md"), ("notebooks/one", "notebooks/one.ipynb")]:
        assert (repository / file).is_file()
        assert base in links(page)
        assert f"{base}/edit/trunk/{file}" in links(page)
        assert any(link.startswith(f"{base}/issues/new?") for link in links(page))
    assert f"{binder}notebooks/one.ipynb" in links("notebooks/one")
    assert not any(link.startswith(binder) for link in links("book/index"))
    assert "../_sources/notebooks/one.ipynb" in links("notebooks/one")


def test_without_a_remote_no_button_leads_elsewhere(repository, monkeypatch):
    links = built(repository, monkeypatch)
    for page in ("book/index", "notebooks/one"):
        assert [link for link in links(page) if urlsplit(link).netloc] == []
    assert "../_sources/notebooks/one.ipynb" in links("notebooks/one")


def test_a_copy_inside_another_repository_does_not_take_its_address(repository):
    git(repository, "remote", "add", "origin", "https://gitlab.com/owner/other.git")
    try:
        assert repository_links.theme_options(repository)["repository_url"].endswith("/other")
        assert repository_links.theme_options(repository / "book") == {}
    finally:
        git(repository, "remote", "remove", "origin")
