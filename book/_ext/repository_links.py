"""Buttons that lead to the repository, taken from the git remote when the book is built.

Without a remote on GitHub or GitLab there is nothing to lead to, so the buttons are left out.
"""

import re
import subprocess
from pathlib import Path

HOSTS = ("github.com", "gitlab.com")


def web_address(remote):
    """Web address of the git remote, or None where it is not one of a reader's use.

    >>> web_address("git@github.com:someone/book.git")
    'https://github.com/someone/book'
    >>> web_address("https://user:secret@gitlab.com/group/book.git")
    'https://gitlab.com/group/book'
    >>> web_address("../book.git") is None
    True
    """
    hosts = "|".join(map(re.escape, HOSTS))
    match = re.fullmatch(
        rf"(?:(?:https?|ssh|git)://)?(?:[^@/]+@)?(?P<host>{hosts})(?::\d+/|[:/])"
        r"(?P<owner>[\w.-]+)/(?P<name>[\w.-]+?)(?:\.git)?/?",
        remote.strip(),
        re.IGNORECASE,
    )
    return match and f"https://{match['host'].lower()}/{match['owner']}/{match['name']}"


def git(folder, *arguments):
    """Output of a git command, empty where it fails or git is missing."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def published_branch(folder):
    """Branch that exists at the remote: its default one, else the one that is followed here."""
    for question in (
        ("symbolic-ref", "--short", "refs/remotes/origin/HEAD"),
        ("rev-parse", "--abbrev-ref", "@{upstream}"),
    ):
        branch = git(folder, *question)
        if branch.startswith("origin/"):
            return branch.removeprefix("origin/")
    return "main"


def theme_options(folder):
    """Options of the theme for the repository in `folder`; none of them without a remote."""
    top = git(folder, "rev-parse", "--show-toplevel")
    if not top or Path(top).resolve() != Path(folder).resolve():
        return {}  # an unpacked copy, perhaps inside someone else's repository
    address = web_address(git(folder, "remote", "get-url", "origin"))
    if not address:
        return {}
    return {
        "repository_url": address,
        "repository_branch": published_branch(folder),
        "path_to_docs": "",
        "use_repository_button": True,
        "use_issues_button": True,
        "use_edit_page_button": True,
        "launch_buttons": {
            "binderhub_url": "https://mybinder.org",
            "notebook_interface": "jupyterlab",
        },
    }


def config_inited(app, config):
    config.html_theme_options.update(theme_options(app.srcdir))


def launch_notebooks_only(app, pagename, templatename, context, doctree):
    """A text page with code cells is executed too, but JupyterLab would show it as plain text."""
    if not str(app.env.doc2path(pagename)).endswith(".ipynb"):
        buttons = context.get("header_buttons", [])
        buttons[:] = [button for button in buttons if button.get("label") != "launch-buttons"]


def setup(app):
    app.connect("config-inited", config_inited)
    app.connect("html-page-context", launch_notebooks_only, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
