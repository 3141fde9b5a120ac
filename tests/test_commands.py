"""The commands of tools/make.py and their front, the Makefile: also when something is missing."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from small_book import point_make_to, write_notebook, write_small_book

import make

ROOT = Path(__file__).parent.parent


def project_files(*names):
    return shutil.ignore_patterns("_build", ".*", "__pycache__", "*.egg-info", *names)


@pytest.fixture
def small_project(tmp_path, monkeypatch):
    root = tmp_path / "a project"
    write_small_book(root)
    point_make_to(root, monkeypatch)
    return root


def test_a_book_is_built_where_the_last_line_says(small_project, capsys, monkeypatch):
    write_notebook(small_project, "print(6 * 7)")
    monkeypatch.setattr(make, "set_up", lambda: None)
    make.book()
    output = capsys.readouterr().out
    assert "one executed in" in output
    index = small_project / "_build" / "html" / "index.html"
    assert index.as_uri() in output.splitlines()[-1]
    assert "42" in (index.parent / "notebooks" / "one.html").read_text(encoding="utf-8")
    assert not (small_project / "_build" / "work").exists()


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("import warnings\nwarnings.warn('odd')", "stderr"),
    ],
)
def test_a_failing_notebook_leaves_no_book(small_project, capsys, code, said):
    write_notebook(small_project, code)
    older = small_project / "_build" / "html" / "index.html"
    older.parent.mkdir(parents=True)
    older.write_text("an older book")
    with pytest.raises(make.Failed, match="was not built"):
        make.build_book()
    assert said in capsys.readouterr().out
    assert not older.parent.exists()
    assert not (small_project / "_build" / "work").exists()


def test_a_broken_reference_leaves_no_book(small_project, capsys):
    (small_project / "book" / "index.md").write_text("# A book\n\nSee {ref}`nowhere`.\n")
    with pytest.raises(make.Failed):
        make.build_book()
    assert "nowhere" in capsys.readouterr().out
    assert not (small_project / "_build" / "html").exists()


def test_without_a_network_nothing_half_made_is_left(tmp_path):
    root = tmp_path / "project"
    shutil.copytree(ROOT, root, ignore=project_files("notebooks", "data"))
    offline = {
        "PIP_INDEX_URL": "http://127.0.0.1:9/",
        "PIP_RETRIES": "0",
        "PIP_NO_CACHE_DIR": "1",
        "PIP_CONFIG_FILE": os.devnull,
    }
    done = subprocess.run(
        [sys.executable, "tools/make.py", "book"],
        cwd=root,
        env=os.environ | offline,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "is there a network connection?" in done.stderr
    assert not (root / ".venv").exists()
    assert not (root / "_build").exists()


def test_an_old_python_is_told_so():
    program = ROOT / "tools" / "make.py"
    pretend = f"import runpy, sys; sys.version_info = (3, 8, 18); runpy.run_path({str(program)!r})"
    done = subprocess.run(
        [sys.executable, "-c", pretend], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("This project needs Python 3.11 or newer; ")
    assert done.stderr.endswith(" is 3.8.18.\n")


def test_an_old_python_can_read_the_program_that_tells_it_so():
    source = (ROOT / "tools" / "make.py").read_text(encoding="utf-8")
    ast.parse(source, feature_version=(3, 6))


@pytest.mark.skipif(os.name == "nt", reason="Windows has no make")
@pytest.mark.parametrize("version", [None, "Python 3.9.2"])
def test_make_without_a_usable_python_says_what_is_missing(tmp_path, version):
    tools = tmp_path / "bin"
    tools.mkdir()
    if version:
        script = f'#!/bin/sh\n[ "$1" = --version ] && echo {version} && exit 0\nexit 1\n'
        (tools / "python3").write_text(script)
        (tools / "python3").chmod(0o755)
    done = subprocess.run(
        [shutil.which("make"), "book"],
        cwd=ROOT,
        env={"PATH": str(tools)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "needs Python 3.11 or newer" in done.stderr
    assert (version or "not found") in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="Windows has no make")
def test_make_alone_lists_every_command():
    done = subprocess.run(
        ["make", f"PYTHON={sys.executable}"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name, command in make.COMMANDS.items():
        assert f"make {name} " in done.stdout
        assert command.__doc__ in done.stdout


def test_the_makefile_knows_every_command():
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    target = next(line for line in text.splitlines() if line.startswith("help "))
    assert set(target.rstrip(":").split()) == {"help", *make.COMMANDS}


def test_an_environment_is_ready_until_its_requirements_change(tmp_path, monkeypatch):
    for name in ("requirements.txt", "constraints.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    monkeypatch.setattr(make, "ROOT", tmp_path)
    monkeypatch.setattr(make, "PYTHON", Path(sys.executable))
    monkeypatch.setattr(make, "STAMP", tmp_path / "ready")
    assert not make.is_ready()
    make.STAMP.write_text(make.fingerprint())
    assert make.is_ready()
    for name in ("requirements.txt", "constraints.txt", "pyproject.toml"):
        before = (tmp_path / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text("numpy==1.0\n" + before, encoding="utf-8")
        assert not make.is_ready(), name
        (tmp_path / name).write_text(before, encoding="utf-8")
    with (tmp_path / "pyproject.toml").open("a") as file:
        file.write("[tool.other]\n")
    assert make.is_ready()


def test_a_ready_environment_is_not_installed_again(monkeypatch):
    monkeypatch.setattr(make, "is_ready", lambda: True)
    monkeypatch.setattr(make, "create_environment", pytest.fail)
    make.set_up()


REPORT = """<testsuites><testsuite>
<testcase name="a"/><testcase name="b"><failure/></testcase>
<testcase name="c"><error/></testcase><testcase name="d"><skipped/></testcase>
</testsuite></testsuites>"""


def test_a_report_is_counted(tmp_path):
    report = tmp_path / "report.xml"
    report.write_text(REPORT)
    assert make.count(report) == (1, 2, 1)
    assert make.count(tmp_path / "missing.xml") == (0, 1, 0)


def test_what_tests_counted_is_added_up_over_reports(tmp_path):
    case = '<testcase><properties><property name="{}" value="{}"/></properties></testcase>'
    (tmp_path / "a.xml").write_text(case.format("count: pages", 3))
    two = case.format("count: pages", 4) + case.format("other", "x")
    (tmp_path / "b.xml").write_text(f"<testsuite>{two}</testsuite>")
    assert make.counted(tmp_path) == {"pages": 7}
    assert make.counted(tmp_path / "missing") == {}


@pytest.mark.parametrize(
    ("failed", "last"),
    [
        (0, ["Everything is right.", "12 passed, 0 failed"]),
        (3, ["Not right: unit tests.", "12 passed, 3 failed"]),
    ],
)
def test_the_last_lines_say_what_ran(failed, last):
    rows = [("lint", 1, 0, 0, 0.5), ("unit tests", 11, failed, 0, 60.0)]
    text = make.summary(rows, {})
    assert make.summary(rows, {"findings": 0}).splitlines()[-4:] == ["findings: 0", "", *last]
    assert text.splitlines()[-2:] == last
    assert "all" in text.splitlines()[-4]
    assert text.splitlines()[-4].split()[-1] == "60.5"


def test_a_failed_step_fails_the_whole(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(make, "set_up", lambda: None)
    monkeypatch.setattr(make, "command_step", lambda *command: (1, 0, 0))
    monkeypatch.setattr(make, "pytest_step", lambda name, *_: (5, int(name == "nbval"), 0))
    monkeypatch.setattr(make, "build_step", lambda: (1, 0, 0))
    monkeypatch.setattr(make, "HTML", ROOT)
    monkeypatch.setattr(make, "REPORTS", tmp_path)
    with pytest.raises(SystemExit) as stop:
        make.test()
    assert stop.value.code == 1
    assert capsys.readouterr().out.endswith("Not right: notebooks (nbval).\n33 passed, 1 failed\n")


def test_no_pages_are_checked_without_a_book(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(make, "HTML", tmp_path / "html")
    assert make.pages_step("pages") == (0, 1, 0)
    assert "was not built" in capsys.readouterr().out
