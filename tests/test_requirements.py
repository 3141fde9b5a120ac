"""What gets installed is pinned, explained, and the same everywhere."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def lines(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def pins(name):
    """Package -> version in a file whose requirements must all be exact."""
    result = {}
    for line in lines(name):
        if not line.startswith("-"):
            match = re.fullmatch(r"([a-z0-9-]+)==([\w.]+)(?: ;.*)?(?: *#.*)?", line)
            assert match, f"{name}: not an exact requirement: {line}"
            result[match[1]] = match[2]
    return result


@pytest.mark.parametrize("name", ["requirements.txt", "binder/requirements.txt"])
def test_direct_requirements_are_pinned_to_the_locked_versions(name):
    direct = pins(name)
    assert direct
    assert direct.items() <= pins("constraints.txt").items()


@pytest.mark.parametrize("name", ["requirements.txt", "binder/requirements.txt"])
def test_every_requirement_has_its_reason_beside_it(name):
    for line in lines(name):
        if not line.startswith("-"):
            assert re.search(r" # \w+", line), line


def test_the_companion_is_installed_editable_and_under_the_lock():
    assert {"-c constraints.txt", "-e ."} <= set(lines("requirements.txt"))
    assert {"-c ../constraints.txt", "-e ."} <= set(lines("binder/requirements.txt"))


def test_jupyter_book_is_version_1():
    assert pins("requirements.txt")["jupyter-book"].startswith("1.")


def test_the_package_is_built_by_the_locked_setuptools():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    version = pins("constraints.txt")["setuptools"]
    assert project["build-system"]["requires"] == [f"setuptools=={version}"]


def test_binder_installs_what_the_notebooks_need_and_no_more():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = project["dependencies"] + project["optional-dependencies"]["interactive"]
    needed = {re.match(r"[\w-]+", line)[0] for line in lines}
    assert set(pins("binder/requirements.txt")) == needed


def test_binder_uses_a_python_that_the_lock_is_made_for():
    # anything that repo2docker can't read gives an old Python without an error
    assert (ROOT / "binder" / "runtime.txt").read_text() == "python-3.12\n"
