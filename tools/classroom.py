"""Classroom pack, from the notebooks alone: `python tools/classroom.py` (or `make classroom`).

It builds `_build/classroom` and a zip of it: chapters without solutions for students, chapters
with them for teachers, and a course folder for nbgrader with an assignment a chapter.
`python tools/classroom.py link HUB` prints a link that opens the notebooks on a JupyterHub.
"""

import argparse
import ast
import copy
import dis
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import types
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbconvert.preprocessors import ClearOutputPreprocessor, TagRemovePreprocessor

import make

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "book" / "_ext"))
import repository_links

ROOT = Path(__file__).resolve().parent.parent

PACK = ROOT / "_build" / "classroom"
TEACH = ROOT / ".venv-teach"
SCRIPTS = TEACH / ("Scripts" if os.name == "nt" else "bin")

DIRECTIVE = re.compile(
    r"^```\{(?P<kind>exercise|solution)-(?P<edge>start|end)\}.*?^```[ \t]*$\n?", re.M | re.S
)
PARTS = {"exercise": "stub", "check": "check", "solution": "solution"}  # by the cell's tag
DATA = {  # what loads which of the companion's data files
    "load_word_vectors": "word_vectors.npz",
    "load_sentence": "sentences.npz",
    "load_probes": "sentences.npz",
    "load_head": "heads.npz",
    "load_layer": "heads.npz",
}


# --- reading a chapter ----------------------------------------------------------------------


@dataclass
class Exercise:
    """One exercise of a chapter; `stub` and `check` are empty in a written one."""

    label: str
    text: str = ""
    stub: str = ""
    check: str = ""
    solution: str = ""
    before: list = field(default_factory=list)  # sources of the chapter's code cells above it

    @property
    def points(self):
        """As many as it has stars."""
        return self.text.count("★")

    @property
    def function(self):
        """Name of the function that is asked for."""
        return ast.parse(self.stub).body[0].name


def pieces(notebook):
    """Yield (cell type, source, tags, directive after it); texts are cut at directives."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            yield "code", cell.source, cell.metadata.get("tags", []), None
            continue
        start = 0
        for match in DIRECTIVE.finditer(cell.source):
            yield "markdown", cell.source[start : match.start()], [], match
            start = match.end()
        yield "markdown", cell.source[start:], [], None


def exercises(notebook):
    """The exercises of a chapter, in order."""
    found, place, before = [], None, []
    for kind, source, tags, directive in pieces(notebook):
        if kind == "code":
            for tag, part in PARTS.items():
                if tag in tags:
                    joined = f"{getattr(found[-1], part)}\n\n\n{source}".strip()
                    setattr(found[-1], part, joined)
                    break
            else:
                before.append(source)
        elif place == "exercise":
            found[-1].text += source
        if directive:
            place = directive["kind"] if directive["edge"] == "start" else None
            if place == "exercise":
                label = re.search(r":label: (\S+)", directive[0])[1]
                found.append(Exercise(label, before=list(before)))
    return found


def without_solutions(notebook):
    """A chapter as a student gets it: no solution, no output."""
    notebook = copy.deepcopy(notebook)
    cells, inside = [], False
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            text, start = "", 0
            for match in DIRECTIVE.finditer(cell.source):
                if match["kind"] == "solution":
                    text += "" if inside else cell.source[start : match.start()]
                    inside, start = match["edge"] == "start", match.end()
            cell.source = (text + ("" if inside else cell.source[start:])).strip("\n")
            if not cell.source:
                continue
        cells.append(cell)
    notebook.cells = cells
    for step in (
        TagRemovePreprocessor(enabled=True, remove_cell_tags={"solution"}),
        ClearOutputPreprocessor(enabled=True),
    ):
        notebook, _ = step.preprocess(notebook, {})
    return notebook


# --- making an assignment -------------------------------------------------------------------


def names(source):
    """Names that a cell defines, and names that it takes from cells above."""
    module = compile(source, "cell", "exec")
    stored, used, codes = set(), set(), [module]
    while codes:
        code = codes.pop()
        codes += [part for part in code.co_consts if isinstance(part, types.CodeType)]
        for step in dis.get_instructions(code):
            if step.opname in ("STORE_NAME", "STORE_GLOBAL") and code is module:
                stored.add(step.argval)
            elif step.opname in ("LOAD_NAME", "LOAD_GLOBAL"):
                used.add(step.argval)
    return stored, used - stored


def only_shows(statement):
    if isinstance(statement, ast.For):
        return all(map(only_shows, statement.body))
    return isinstance(statement, ast.Assert | ast.Expr)


def definitions(source):
    """A cell without what it shows and asserts."""
    lines = source.splitlines()
    for statement in filter(only_shows, ast.parse(source).body):
        for i in range(statement.lineno - 1, statement.end_lineno):
            lines[i] = ""
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(lines)).strip()


def imports_of(source, code, text):
    """A chapter's first cell with the imports that an assignment's code uses or its text names.

    Not what a student is to write: `split_heads` beside `my_split_heads`.

    >>> first = "import numpy as np\\nfrom companion import a, b, c"
    >>> print(imports_of(first, "my_b = a", "`b` and `c`"))
    import numpy as np
    from companion import a, c
    """
    used = names(code)[1] | {"np"}
    module = ast.parse(source)
    for statement in module.body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            statement.names = [
                name
                for name in statement.names
                if (own := name.asname or name.name) in used
                or (f"`{own}`" in text and f"my_{own}" not in code)
            ]
    module.body = [s for s in module.body if getattr(s, "names", True)]
    return ast.unparse(module)


def needed(cells, source):
    """What `source` takes from the cells above it: the definitions, in order."""
    wanted, found = names(source)[1], []
    for cell in map(definitions, reversed(cells)):
        defined, used = names(cell)
        if defined & wanted:
            found.insert(0, cell)
            wanted = (wanted - defined) | used
    return found


def answer(exercise):
    """The solution's function, with what nbgrader replaces by the stub between two marks."""
    function = next(
        s
        for s in ast.parse(exercise.solution).body
        if isinstance(s, ast.FunctionDef) and s.name == exercise.function
    )
    body = function.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    lines = exercise.solution.splitlines()[body[0].lineno - 1 : function.end_lineno]
    head = exercise.stub.replace("    raise NotImplementedError", "").rstrip()
    return "\n".join([head, "    ### BEGIN SOLUTION", *lines, "    ### END SOLUTION"])


HIDDEN = """\
{check}
### BEGIN HIDDEN TESTS
def _hidden_test():
    import contextlib, hashlib, io, pathlib, sys
    # What the notebook did to the companion, in memory or in its files, must not count.
    for name in [name for name in sys.modules if name.split(".")[0] == "companion"]:
        del sys.modules[name]
    import companion
    files = sorted(pathlib.Path(companion.__file__).parent.rglob("*.py"))
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    assert digest == "{digest}", "The notebook changes files of the companion, so nothing counts."
    found, printed = {{}}, io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()):
        exec({given!r}, found)
    with contextlib.redirect_stdout(printed):
        passed = {call}
    assert passed, printed.getvalue()
_hidden_test()
### END HIDDEN TESTS"""

OF_THE_COMPANION = """\
import numpy as np
from companion import checks
from companion.checks.exercises import EXERCISES

def zeros(*args, **kwargs):
    return np.zeros_like(EXERCISES["{name}"].right(*args, **kwargs))

assert not checks.check_{name}(zeros).passed, "The notebook changes the checks, so nothing counts."

def check(candidate):
    report = checks.check_{name}(candidate)
    print(report)
    return report.passed
"""


def check_cell(exercise, imports, context, digest):
    """The check for the student, and the same check anew for the marks."""
    function = exercise.function
    if of_companion := re.fullmatch(rf"checks\.check_(\w+)\({function}\)", exercise.check):
        given, check = OF_THE_COMPANION.format(name=of_companion[1]), "check"
    else:  # the cell defines its own, and ends with a call of it
        call = ast.parse(exercise.check).body[-1]
        above = "\n".join(exercise.check.splitlines()[: call.lineno - 1])
        given, check = "\n\n".join([imports, *context, above]), call.value.func.id
    call = f'found["{check}"]({function})'
    return HIDDEN.format(check=exercise.check, given=given, call=call, digest=digest)


def plain(text):
    """MyST text in the Markdown that every Jupyter shows."""
    text = re.sub(r"\s*\{cite(?::\w+)?\}`[^`]*`", "", text)
    text = re.sub(r"\{\w+\}`([^`<]*?)\s*<[^`]*>`", r"\1", text)
    text = re.sub(r"\{\w+\}`([^`]*)`", r"\1", text)
    hint = r"```\{(?:admonition|dropdown)\} Hint\n(?::class: dropdown\n)?(.*?)```"
    text = re.sub(hint, r"<details><summary>Hint</summary>\n\n\1\n</details>", text, flags=re.S)
    return text.strip()


def cell(kind, source, grade_id, **flags):
    make_cell = getattr(nbformat.v4, f"new_{kind}_cell")
    settings = {"schema_version": 3, "grade_id": grade_id, "task": False}
    settings |= {"grade": False, "solution": False, "locked": True} | flags
    return make_cell(source, id=grade_id, metadata={"nbgrader": settings})


ABOUT = """\
# {title}: exercises

The exercises of chapter {number}.
Fill in what says `raise NotImplementedError`.
Then run the cell below it: it tells you what is not right yet.
An exercise gives as many points as it has stars, if its check passes.

- Don't rename the functions; write helpers inside them or in cells of your own.
- Save, and hand in this file as `YOURNAME_{name}.ipynb`.\
"""


def title(notebook):
    return re.search(r"^# (.+)$", notebook.cells[0].source, re.M)[1]


def assignment(path, digest, written=False):
    """The assignment of a chapter in nbgrader's form, with the solutions in it."""
    chapter = read(path)
    chosen = {
        number: exercise
        for number, exercise in enumerate(exercises(chapter), start=1)
        if exercise.stub or written
    }
    given = {
        e.label: needed(e.before[1:], f"{answer(e)}\n\n\n{e.check}") if e.stub else []
        for e in chosen.values()
    }
    code = [
        part for e in chosen.values() if e.stub for part in (*given[e.label], answer(e), e.check)
    ]
    text = "\n".join(e.text for e in chosen.values())
    first = next(c.source for c in chapter.cells if c.cell_type == "code")
    imports = imports_of(first, "\n\n\n".join(code), text)
    about = ABOUT.format(title=title(chapter), number=int(path.stem[:2]), name=name_of(path))
    cells = [cell("markdown", about, "about"), cell("code", imports, "imports")]
    shown = []
    for number, exercise in chosen.items():
        label = exercise.label
        for source in given[label]:
            if source not in shown:
                shown.append(source)
                from_chapter = f"# from the chapter\n{source}"
                cells.append(cell("code", from_chapter, f"given-{len(shown)}"))
        cells.append(cell("markdown", f"## Exercise {number}\n\n{plain(exercise.text)}", label))
        points = {"grade": True, "points": exercise.points}
        answers = {"solution": True, "locked": False}
        if exercise.stub:
            test = check_cell(exercise, imports, given[label], digest)
            cells.append(cell("code", answer(exercise), f"{label}-answer", **answers))
            cells.append(cell("code", test, f"{label}-check", **points))
        else:
            cells.append(cell("markdown", "…", f"{label}-answer", **answers, **points))
    return nbformat.v4.new_notebook(cells=cells, metadata=chapter.metadata)


def name_of(path):
    """Name of a chapter's assignment.

    >>> name_of(Path("02_softmax.ipynb"))
    'exercises_02'
    """
    return f"exercises_{path.stem[:2]}"


# --- the pack -------------------------------------------------------------------------------


def set_up():
    """Put nbgrader into `.venv-teach`, on top of the environment that runs this."""
    texts = [(ROOT / n).read_text() for n in ("requirements-teach.txt", "constraints-teach.txt")]
    ready = hashlib.sha256("\n".join([sys.prefix, sys.version, *texts]).encode()).hexdigest()
    stamp = TEACH / "ready"
    if stamp.is_file() and stamp.read_text() == ready:
        return
    make.say("Setting up .venv-teach (nbgrader): once, some seconds.")
    make.remove(TEACH)
    python = SCRIPTS / ("python.exe" if os.name == "nt" else "python")
    if make.run(sys.executable, "-m", "venv", "--without-pip", TEACH):
        raise make.Failed("Python could not create a virtual environment; its message is above.")
    site = Path(sysconfig.get_path("purelib", vars={"base": str(TEACH)}))
    below = sysconfig.get_path("purelib")
    (site / "book.pth").write_text(f"import site; site.addsitedir({below!r})\n")
    # feedback pages are made with nbconvert's templates, which are looked for in this environment
    templates = Path("share", "jupyter", "nbconvert")
    shutil.copytree(sys.prefix / templates, TEACH / templates)
    install = ("-m", "pip", "--python", python, "install", "-q", "-r", "requirements-teach.txt")
    if make.run(sys.executable, *install):
        make.remove(TEACH)
        raise make.Failed("nbgrader could not be installed; pip's message is above.")
    stamp.write_text(ready)


def nbgrader(course, *arguments, **options):
    """Run an nbgrader command in a course folder; returns the finished process."""
    path = os.pathsep.join([str(SCRIPTS), make.ENVIRONMENT.get("PATH", "")])  # for alembic
    return subprocess.run(
        [SCRIPTS / ("nbgrader.exe" if os.name == "nt" else "nbgrader"), *arguments],
        cwd=course,
        env=make.ENVIRONMENT | {"PATH": path},
        check=False,
        **options,
    )


def read(path):
    return nbformat.read(path, as_version=4)


def write(notebook, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)


def copy_companion(folder, data=()):
    """Copy the package with the data files named, or with all for None."""
    left_out = ["__pycache__"]
    if data is not None:
        files = {p.name for p in (ROOT / "companion" / "data").glob("*.npz")}
        left_out += sorted(files - set(data))
    shutil.copytree(
        ROOT / "companion", folder / "companion", ignore=shutil.ignore_patterns(*left_out)
    )
    return folder / "companion"


def digest_of(package):
    files = sorted(package.rglob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def chapters():
    return [
        path
        for path in sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
        if any(e.stub for e in exercises(read(path)))
    ]


def build_source(course, paths, written=()):
    """Write nbgrader's source folder: an assignment a chapter, with the companion beside it."""
    for path in paths:
        folder = course / "source" / name_of(path)
        package = copy_companion(folder, data=())
        notebook = assignment(path, digest_of(package), written=int(path.stem[:2]) in written)
        code = "\n".join(c.source for c in notebook.cells[2:] if c.cell_type == "code")
        for file in {file for loader, file in DATA.items() if f"{loader}(" in code}:
            shutil.copy(ROOT / "companion" / "data" / file, package / "data")
        write(notebook, folder / f"{name_of(path)}.ipynb")
    for file in ("nbgrader_config.py", "written_marks.py"):
        shutil.copy(ROOT / "teach" / file, course)


def release(course):
    """Let nbgrader make the students' form of the assignments and enter them in its gradebook."""
    done = nbgrader(course, "generate_assignment", "exercises_*", capture_output=True, text=True)
    if done.returncode:
        raise make.Failed(f"nbgrader refuses an assignment:\n{done.stderr}")


def requirements():
    """What a student installs: the first group of requirements.txt, without the editable install.

    >>> [line.split("==")[0] for line in requirements().splitlines()][:3]
    ['-c constraints.txt', 'numpy', 'matplotlib']
    """
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8").split("# the book")[0]
    lines = [line.strip() for line in text.splitlines()]
    return "\n".join(line for line in lines if line and line != "-e ." and line[0] != "#")


def build(written=()):
    """Build the pack and say what is where."""
    course = PACK / "course"
    if (course / "submitted").exists():
        raise make.Failed(
            f"{course} holds work that students handed in, and would be deleted.\n"
            "Move it to a place of its own first."
        )
    set_up()
    make.remove(PACK)
    paths = chapters()
    build_source(course, paths, written)
    release(course)

    student, teacher = PACK / "student", PACK / "teacher"
    for folder in (student, teacher):
        folder.mkdir()
        copy_companion(folder, data=None)
        (folder / "requirements.txt").write_text(requirements() + "\n", encoding="utf-8")
        shutil.copy(ROOT / "constraints.txt", folder)
        for licence in ("LICENSE", "LICENSE-CC-BY-4.0"):
            shutil.copy(ROOT / licence, folder)
    shutil.copy(ROOT / "teach" / "student.md", student / "README.md")
    shutil.copy(ROOT / "book" / "for_teachers.md", teacher / "for_teachers.md")
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        shutil.copy(path, teacher)
        write(without_solutions(read(path)), student / path.name)
    for path in paths:
        name = f"{name_of(path)}.ipynb"
        shutil.copy(course / "release" / name_of(path) / name, student)
    for name in ("student", "classroom"):
        folder = student if name == "student" else PACK
        shutil.make_archive(PACK.with_name(name), "zip", folder.parent, folder.name)
    graded = sum(1 for path in paths for e in exercises(read(path)) if e.stub)
    for_all = PACK.with_name("student.zip")
    make.say(
        f"Classroom pack: {len(paths)} assignments with {graded} graded exercises.\n"
        f"  student/  for your students, without solutions; also as {for_all}\n"
        "  teacher/  the same chapters with solutions, and for_teachers.md: read this first\n"
        "  course/   for nbgrader: copy it to where you keep your students' work\n"
        f"The classroom pack is ready: {PACK} and {PACK}.zip"
    )


# --- a link for a JupyterHub ----------------------------------------------------------------


def hub_link(hub, folder, file=""):
    """Link that copies a published repository to a student's account on a JupyterHub.

    The hub needs nbgitpuller; the folder is a git clone with its remote on GitHub or GitLab.
    """
    parts = urllib.parse.urlsplit(hub)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
        raise make.Failed(f"The hub's address must be like https://hub.example.org; got {hub}")
    top = repository_links.git(folder, "rev-parse", "--show-toplevel")
    own = top and Path(top).resolve() == Path(folder).resolve()  # not a folder of another clone
    remote = repository_links.git(folder, "remote", "get-url", "origin") if own else ""
    address = repository_links.web_address(remote)
    if not address:
        raise make.Failed(
            f"{folder} must be a git clone with its remote 'origin' on GitHub or GitLab; "
            f"got {remote or 'no remote'}"
        )
    if file and repository_links.git(folder, "ls-files", "--", file) != file:
        raise make.Failed(f"{file} must be a file that is committed in {folder}")
    query = {
        "repo": address,
        "branch": repository_links.published_branch(folder),
        "urlpath": "/".join(["lab/tree", address.rsplit("/", 1)[1], *filter(None, [file])]),
    }
    return f"{hub.rstrip('/')}/hub/user-redirect/git-pull?{urllib.parse.urlencode(query)}"


def check_hub(hub):
    """Version of the JupyterHub at an address; it tells everybody who asks."""
    address = f"{hub.rstrip('/')}/hub/api/"
    try:
        with urllib.request.urlopen(address, timeout=20) as answer:
            return json.load(answer)["version"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise make.Failed(f"No JupyterHub answers at {address}: {error}") from None


def link(hub, folder, file):
    address = hub_link(hub, folder, file)
    make.say(f"JupyterHub {check_hub(hub)} answers at {hub}. The link for your students:")
    make.say(address)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command")
    pack = commands.add_parser("build", help="build the pack")
    pack.add_argument(
        "--written",
        type=int,
        nargs="*",
        default=[],
        metavar="CHAPTER",
        help="chapters whose written exercises are handed in too, to be marked by hand",
    )
    hub = commands.add_parser("link", help="print a link that opens the notebooks on a JupyterHub")
    hub.add_argument("hub", help="address of the hub")
    hub.add_argument("file", nargs="?", default="", help="what to open, as named in the folder")
    hub.add_argument("--folder", type=Path, default=ROOT, help="clone of the published repository")
    arguments = parser.parse_args()
    if arguments.command == "link":
        link(arguments.hub, arguments.folder, arguments.file)
    else:
        build(getattr(arguments, "written", []))


if __name__ == "__main__":
    try:
        main()
    except make.Failed as problem:
        sys.exit(f"\n{problem}")
