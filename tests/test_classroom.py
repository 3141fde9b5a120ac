"""The classroom pack: what is handed out, and a class of good, wrong and wild answers marked."""

import csv
import http.server
import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.parse
import zipfile
from html import unescape
from pathlib import Path

import nbformat
import pytest

import classroom
import make
from companion import checks

ROOT = Path(__file__).resolve().parent.parent
CHAPTERS = sorted((ROOT / "notebooks").glob("*.ipynb"))
GRADED = classroom.chapters()
MESSAGES = {(name, code): message for name, code, message in checks.known_mistakes()}

each_chapter = pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
each_assignment = pytest.mark.parametrize("path", GRADED, ids=classroom.name_of)


# --- the exercises in the notebooks ---------------------------------------------------------


def tagged(path, tag):
    return [c for c in classroom.read(path).cells if tag in c.metadata.get("tags", [])]


@each_chapter
def test_exercises_are_complete(path):
    found = classroom.exercises(classroom.read(path))
    assert len(found) >= 5
    assert [e.label.rpartition("-")[2] for e in found] == [str(i + 1) for i in range(len(found))]
    for exercise in found:
        assert re.match(r"★{1,3}☆{0,2} ", exercise.text.lstrip()), exercise.label
        assert len(re.match(r"\s*([★☆]+)", exercise.text)[1]) == 3, exercise.label
        assert re.search(r"\} Hint\n", exercise.text), exercise.label
    coding = [e for e in found if e.stub]
    assert len(coding) == len(tagged(path, "exercise")) == len(tagged(path, "check"))
    assert all(e.check and e.solution for e in coding)


@each_chapter
def test_code_of_solutions_is_tagged_and_nothing_else_is(path):
    place = None
    for kind, _, tags, directive in classroom.pieces(classroom.read(path)):
        if kind == "code":
            assert ("solution" in tags) == (place == "solution")
            if place == "exercise":
                assert {"exercise", "check"} & set(tags)
        elif directive:
            assert (place is None) == (directive["edge"] == "start")
            place = directive["kind"] if place is None else None
    assert place is None


@each_chapter
def test_a_stub_raises_and_its_check_says_not_done_yet(path):
    for stub in tagged(path, "exercise"):
        assert stub.source.endswith("    raise NotImplementedError")
        assert stub.outputs == []
    for check in tagged(path, "check"):
        (output,) = check.outputs
        said = output.get("text") or output["data"]["text/plain"]
        assert "not done yet" in said
        assert "True" not in said


@each_chapter
def test_a_student_gets_everything_but_solutions(path):
    whole = classroom.read(path)
    student = classroom.without_solutions(whole)
    left = {c.id: c for c in student.cells}
    for before in whole.cells:
        if before.cell_type == "code":
            assert (before.id in left) == ("solution" not in before.metadata.get("tags", []))
    text = "\n".join(c.source for c in student.cells)
    assert "{solution" not in text
    assert not any(c.get("outputs") for c in student.cells)
    kept = [e.text for e in classroom.exercises(student)]
    assert [t.strip() for t in kept] == [e.text.strip() for e in classroom.exercises(whole)]
    inside = [  # every line of a solution, unless the chapter says it elsewhere, too
        line
        for kind, source, _, place in with_places(whole)
        if place == "solution" and kind == "markdown"
        for line in source.splitlines()
        if len(line) > 30
    ]
    assert len(inside) >= 5
    assert [line for line in inside if line in text] == []
    assert "(sec-" in student.cells[-1].source  # what comes after the last solution


def with_places(notebook):
    place = None
    for kind, source, tags, directive in classroom.pieces(notebook):
        yield kind, source, tags, place
        if directive:
            place = directive["kind"] if directive["edge"] == "start" else None


def test_a_students_chapter_uses_no_name_of_a_solution(tmp_path):
    for path in CHAPTERS:
        classroom.write(classroom.without_solutions(classroom.read(path)), tmp_path / path.name)
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F821", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


# --- the parts of an assignment -------------------------------------------------------------


def test_what_a_cell_takes_from_above():
    cells = [
        "import numpy as np",
        "a = 1\nprint(a)\nassert a == 1\nfor i in range(2):\n    print(i)",
        "b = 2\na = 3",
        "def f(x):\n    return x + a  # the last a",
        "c = b",
    ]
    assert classroom.needed(cells, "y = f(1)") == ["b = 2\na = 3", cells[3]]
    assert classroom.definitions(cells[1]) == "a = 1"
    assert classroom.names("a = [b for b in c]\ndef f(x):\n    return g(x)") == (
        {"a", "f"},
        {"c", "g"},
    )
    counter = "n = 0\ndef count():\n    global n\n    n += step"
    assert classroom.names(counter) == ({"n", "count"}, {"step"})


def test_myst_becomes_markdown():
    text = (
        "See {ref}`chapter 4 <ch-masking>` and {ref}`ex-qkv-6` {cite}`vaswani2017attention`.\n"
        "```{admonition} Hint\n:class: dropdown\nLook.\n```\n"
    )
    assert classroom.plain(text) == (
        "See chapter 4 and ex-qkv-6.\n<details><summary>Hint</summary>\n\nLook.\n\n</details>"
    )


@each_assignment
def test_an_assignment_reads_without_myst(path):
    notebook = classroom.assignment(path, digest="", written=True)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            assert not re.search(r"\{[a-z]+\}`|```\{", cell.source), cell.source


def test_points_are_stars():
    for path in GRADED:
        coding = [e for e in classroom.exercises(classroom.read(path)) if e.stub]
        cells = classroom.assignment(path, digest="").cells
        points = [c.metadata.nbgrader.points for c in cells if c.metadata.nbgrader.grade]
        assert points == [e.text.count("★") for e in coding]
        assert all(1 <= p <= 3 for p in points)


def test_every_check_of_the_package_gives_marks_somewhere():
    source = "\n".join(
        c.source for path in GRADED for c in classroom.assignment(path, digest="").cells
    )
    for name in checks.__all__:
        assert not name.startswith("check_") or f"checks.{name}(my_" in source, name


def test_written_exercises_come_on_demand():
    path = ROOT / "notebooks" / "05_value_updates.ipynb"
    without = classroom.assignment(path, digest="")
    with_them = classroom.assignment(path, digest="", written=True)
    found = classroom.exercises(classroom.read(path))
    assert len(with_them.cells) - len(without.cells) == 2 * sum(not e.stub for e in found)
    question = next(c for c in with_them.cells if c.id == "ex-values-1")
    answer = next(c for c in with_them.cells if c.id == "ex-values-1-answer")
    assert question.metadata.nbgrader.locked and "Predict" in question.source
    assert answer.metadata.nbgrader.grade and answer.metadata.nbgrader.solution


RUN_BOTH = """
import json, sys
import matplotlib
matplotlib.use("agg")
result = {}
for form in ("untouched", "solved"):
    names, result[form] = {"__name__": "__main__"}, {}
    for cell in json.load(open(sys.argv[1]))[form]:
        try:
            exec(compile(cell["source"], cell["id"], "exec"), names)
        except Exception as error:
            result[form][cell["id"]] = f"{type(error).__name__}: {error}"
print("RESULT" + json.dumps(result))
"""


@each_assignment
def test_solutions_pass_and_stubs_fail(path, tmp_path):
    """What nbgrader does with the class below, here without a kernel and for every chapter."""
    classroom.build_source(tmp_path, [path])
    name = classroom.name_of(path)
    folder = tmp_path / "source" / name
    cells = [c for c in classroom.read(folder / f"{name}.ipynb").cells if c.cell_type == "code"]
    solved = [{"id": c.id, "source": c.source} for c in cells]
    untouched = [c | {"source": cleared(c["source"])} for c in solved]
    stubs = [e.stub for e in classroom.exercises(classroom.read(path)) if e.stub]
    assert [c["source"] for c in untouched if c["id"].endswith("-answer")] == stubs
    (folder / "both.json").write_text(json.dumps({"solved": solved, "untouched": untouched}))
    done = subprocess.run(
        [sys.executable, "-c", RUN_BOTH, "both.json"],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.rpartition("RESULT")[2])
    assert result["solved"] == {}
    tests = [c.id for c in cells if c.metadata.nbgrader.grade]
    assert list(result["untouched"]) == tests
    for said in result["untouched"].values():
        assert said.startswith("AssertionError") and "not done yet" in said


def cleared(source):
    """A solution replaced by the stub, as nbgrader does it."""
    return re.sub(
        r"    ### BEGIN SOLUTION.*### END SOLUTION",
        "    raise NotImplementedError",
        source,
        flags=re.S,
    )


# --- a class --------------------------------------------------------------------------------

# What for_teachers.md tells a teacher to run
COLLECT = "nbgrader zip_collect exercises_06"
MARK = "nbgrader autograde exercises_06"
FEEDBACK = "nbgrader generate_feedback exercises_06"
EXPORT = "nbgrader export --to=marks.csv"

NAME = "exercises_06"  # my_split_heads 2 points, my_concat_heads 1, my_multi_head 2
FULL = 5

RIGHT_CONCAT = (
    "*front, h, n, d = heads.shape\nreturn heads.swapaxes(-3, -2).reshape(*front, n, h * d)"
)
HEADS = "attention(X @ q, X @ k, X @ v) for q, k, v in zip(W_Q, W_K, W_V)"

# student: (exercise, answer, the mistake that the feedback names)
WRONG = {
    "bare-reshape": (
        "split_heads",
        "*front, n, w = X.shape\nreturn X.reshape(*front, n_heads, n, w // n_heads)",
        "bare-reshape",
    ),
    "no-swap": (
        "split_heads",
        "*front, n, w = X.shape\nreturn X.reshape(*front, n, n_heads, w // n_heads)",
        "axes-not-swapped",
    ),
    "dealt-out": (
        "split_heads",
        "return np.stack([X[..., h::n_heads] for h in range(n_heads)], axis=-3)",
        "interleaved",
    ),
    "heads-first": (
        "split_heads",
        "return np.array(np.split(X, n_heads, axis=-1))",
        "heads-before-batch",
    ),
    "stacked": (
        "concat_heads",
        "*front, h, n, d = heads.shape\nreturn heads.reshape(*front, n, h * d)",
        "bare-reshape",
    ),
    "mean": ("concat_heads", "return heads.mean(axis=-3)", "averaged"),
    "no-W_O": (
        "multi_head",
        f"return np.concatenate([{HEADS}], axis=-1)",
        "no-output-matrix",
    ),
    "changed-places": (
        "multi_head",
        f"W_Q, W_K = W_K, W_Q\nreturn np.concatenate([{HEADS}], axis=-1) @ W_O",
        "queries-and-keys-swapped",
    ),
    "one-head": (
        "multi_head",
        "head = attention(X @ W_Q[0], X @ W_K[0], X @ W_V[0])\n"
        "return np.concatenate([head for _ in W_Q], axis=-1) @ W_O",
        "first-head-repeated",
    ),
    "residual": (
        "multi_head",
        f"return X + np.concatenate([{HEADS}], axis=-1) @ W_O",
        "input-added",
    ),
}
POINTS = {"split_heads": 2, "concat_heads": 1, "multi_head": 2}

# A cell put into a notebook that is right otherwise: it costs nothing.
WILD_CELLS = {
    "loop": "while True:\n    pass",
    "loop-for-ever": """
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
""",
    "flood-in-lines": "for _ in range(10**5):\n    print('x' * 999)",
    "flood-in-one-line": "print('x' * 10**8)",
    "grows": "too_much = np.ones(2 * 10**9)",
    "warns": "np.mean([])",
    "exit": "exit()",
    "sys-exit": "import sys\nsys.exit(3)",
    "os-exit": "import os\nos._exit(0)",
}

# An answer to concat_heads (1 point) in a notebook that is right otherwise, and what is left.
WILD_ANSWERS = {
    "loop-in-answer": ("while True:\n    pass", 4),
    "exit-in-answer": ("exit()", 4),
    "os-exit-in-answer": ("import os\nos._exit(0)", 4),
    "flood-in-answer": ("print('x' * 10**8)\n" + RIGHT_CONCAT, 5),
    "warning": ("import warnings\nwarnings.warn('odd')\n" + RIGHT_CONCAT, 5),
}

# A cell put into a notebook with a wrong concat_heads (1 point), in the hope of 5 points.
CHEATS = {
    "patches-the-check": (
        """
from companion.checks import Report
checks.check_concat_heads = lambda candidate: Report("concat_heads")
""",
        4,
    ),
    "patches-numpy": ("np.allclose = lambda *args, **kwargs: True", 0),
    "edits-the-companion": (
        """
with open(checks.__file__, "a") as file:
    file.write("def check_concat_heads(f):\\n    return Report('concat_heads')\\n")
""",
        0,
    ),
    "shadows-the-companion": (
        """
import os, sys
os.makedirs("mine/companion")
for name in ("__init__", "checks"):
    with open(f"mine/companion/{name}.py", "w") as file:
        file.write("def __getattr__(name):\\n    return lambda *args: 1\\n")
sys.path.insert(0, "mine")
""",
        0,
    ),
}


class Course:
    """A course folder with two assignments, and what students hand in."""

    def __init__(self, folder):
        self.folder = folder
        self.expected = {}
        paths = [path for path in GRADED if path.stem[:2] in ("05", "06")]
        classroom.build_source(folder, paths, written=(5,))
        classroom.release(folder)
        self.digest = classroom.digest_of(folder / "source" / NAME / "companion")

    def untouched(self, name=NAME):
        return classroom.read(self.folder / "release" / name / f"{name}.ipynb")

    def solved(self, name=NAME):
        source = classroom.read(self.folder / "source" / name / f"{name}.ipynb")
        solutions = {cell.id: cell.source for cell in source.cells}
        notebook = self.untouched(name)
        for cell in notebook.cells:
            if cell.cell_type == "code" and cell.metadata.nbgrader.solution:
                lines = solutions[cell.metadata.nbgrader.grade_id].splitlines()
                cell.source = "\n".join(line for line in lines if "### " not in line)
        return notebook

    def answered(self, function, lines):
        """A notebook that is right but for one answer."""
        notebook = self.solved()
        (cell,) = (c for c in notebook.cells if c.source.startswith(f"def my_{function}("))
        head, docstring, *_ = cell.source.splitlines()
        cell.source = "\n".join([head, docstring, *("    " + line for line in lines.splitlines())])
        return notebook

    def hand_in(self, student, notebook, points, name=NAME):
        inbox = self.folder / "downloaded" / name[:12] / "archive"
        classroom.write(notebook, inbox / f"{student}_{name}.ipynb")
        self.expected[student, name[:12]] = points

    def run(self, command, *more):
        arguments = command.split()[1:]
        done = classroom.nbgrader(self.folder, *arguments, *more, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]

    def marks(self):
        self.run(EXPORT)
        with (self.folder / "marks.csv").open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert {float(r["max_score"]) for r in rows if r["assignment"] == NAME} == {FULL}
        marks = {(r["student_id"], r["assignment"]): float(r["score"]) for r in rows}
        return {who: mark for who, mark in marks.items() if mark or who in self.expected}

    def feedback(self, student, name=NAME):
        page = self.folder / "feedback" / student / name / f"{name}.html"
        return unescape(page.read_text(encoding="utf-8"))


def with_cell(notebook, source):
    notebook.cells.insert(2, nbformat.v4.new_code_cell(source))
    return notebook


def check_cell(notebook, function):
    (cell,) = (c for c in notebook.cells if c.source.startswith(f"checks.check_{function}("))
    return cell


@pytest.fixture(scope="session")
def nbgrader_ready(tmp_path_factory):
    """nbgrader is installed, by one worker while the others wait."""
    lock = tmp_path_factory.getbasetemp().parent / "nbgrader-is-being-installed"
    while "PYTEST_XDIST_WORKER" in os.environ:
        try:
            lock.mkdir()
            break
        except FileExistsError:
            time.sleep(0.2)
    classroom.set_up()
    if lock.is_dir():
        lock.rmdir()


@pytest.fixture
def course(nbgrader_ready, tmp_path):
    return Course(tmp_path / "course")


WRONG_CONCAT = "return heads"


def assert_marked(course):
    """Everybody has the right marks, and a page that gives nothing away."""
    course.run(FEEDBACK)
    assert course.marks() == course.expected
    for (student, name), points in course.expected.items():
        if name == NAME:
            page = course.feedback(student)
            assert f"(Score: {points:.1f} / {FULL:.1f})" in page
            assert len(page) < 400_000
            machine = (str(course.folder), str(ROOT), sys.prefix)
            for secret in ("_hidden_test", "hashlib", "SOLUTION", *machine):
                assert secret not in page, (student, secret)
    assert "✗" not in course.feedback("right")
    package = course.folder / "source" / NAME / "companion"
    assert classroom.digest_of(package) == course.digest


def write_essay(course):
    """One student answers a written exercise of chapter 5, marked with 1 point by hand."""
    name = "exercises_05"
    notebook = course.solved(name)
    (answer,) = (c for c in notebook.cells if c.id == "ex-values-1-answer")
    assert answer.source == "YOUR ANSWER HERE"
    answer.source = "a) and c), on the edge"
    course.hand_in("right", notebook, 4 + 1, name)
    course.run(COLLECT.replace(NAME, name))
    course.run(MARK.replace(NAME, name))
    for points, status in ((2, 1), (1, 0)):  # the exercise has one star
        marks = f"student,exercise,points,comment\nright,ex-values-1,{points},clear\n"
        (course.folder / "my_marks.csv").write_text(marks)
        command = [classroom.SCRIPTS / "python", "written_marks.py", name, "my_marks.csv"]
        done = subprocess.run(command, cwd=course.folder, capture_output=True, check=False)
        assert done.returncode == status, done.stderr


def test_wrong_answers_and_cheats_get_what_they_deserve(course):
    course.hand_in("right", course.solved(), FULL)
    course.hand_in("untouched", course.untouched(), 0)
    for student, (function, lines, _) in WRONG.items():
        course.hand_in(student, course.answered(function, lines), FULL - POINTS[function])
    for student, (source, points) in CHEATS.items():
        notebook = with_cell(course.answered("concat_heads", WRONG_CONCAT), source)
        course.hand_in(student, notebook, points)
    for student, lines, points in (
        ("deletes-a-check", RIGHT_CONCAT, 5),
        ("deletes-a-check-of-a-wrong-answer", WRONG_CONCAT, 4),
    ):
        notebook = course.answered("concat_heads", lines)
        notebook.cells.remove(check_cell(notebook, "concat_heads"))
        course.hand_in(student, notebook, points)
    notebook = course.answered("concat_heads", WRONG_CONCAT)
    check_cell(notebook, "concat_heads").source = "pass"
    course.hand_in("edits-a-check", notebook, 4)
    course.hand_in("hands-in-a-companion", course.answered("concat_heads", WRONG_CONCAT), 4)

    course.run(COLLECT)
    package = course.folder / "submitted" / "hands-in-a-companion" / NAME / "companion"
    package.mkdir()
    (package / "__init__.py").write_text("def __getattr__(name):\n    return lambda *args: 1\n")
    course.run(MARK)
    write_essay(course)

    assert_marked(course)
    for student, (exercise, _, mistake) in WRONG.items():
        page = course.feedback(student)
        assert page.count("✗") == 1
        assert f"✗ {mistake}\n  {MESSAGES[exercise, mistake]}" in page
        assert "expected: " in page and "received: " in page and "see chapter" in page
    assert course.feedback("untouched").count("not done yet") == 3
    assert course.feedback("edits-the-companion").count("so nothing counts") == 3


def test_a_wild_submission_hurts_nobody(course):
    course.hand_in("right", course.solved(), FULL)
    for student, source in WILD_CELLS.items():
        course.hand_in(student, with_cell(course.solved(), source), FULL)
    for student, (lines, points) in WILD_ANSWERS.items():
        course.hand_in(student, course.answered("concat_heads", lines), points)
    notebook = course.solved()
    copy = nbformat.from_dict(check_cell(notebook, "concat_heads") | {"id": "a-copy"})
    notebook.cells.append(copy)
    course.hand_in("copies-a-cell", notebook, FULL)
    course.hand_in("downloads_twice", course.solved(), FULL, name=f"{NAME} (1)")

    course.run(COLLECT)
    course.run(MARK, "--ExecuteTheRest.timeout=10")

    assert_marked(course)
    assert "did not end" in course.feedback("loop-in-answer")
    assert "CellTimeoutError" in course.feedback("loop")
    assert "could not be interrupted" in course.feedback("loop-for-ever")
    if os.name == "posix":
        assert "MemoryError" in course.feedback("grows")
    for student in ("os-exit", "os-exit-in-answer"):
        assert "This cell ended the kernel." in course.feedback(student)


def test_one_command_builds_folder_and_zip(nbgrader_ready, tmp_path, monkeypatch, capsys):
    pack = tmp_path / "classroom"
    monkeypatch.setattr(classroom, "PACK", pack)
    classroom.build()
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"The classroom pack is ready: {pack} and {pack}.zip"
    with (
        zipfile.ZipFile(f"{pack}.zip") as everything,
        zipfile.ZipFile(tmp_path / "student.zip") as student,
    ):
        names = set(everything.namelist())
        handed_out = set(student.namelist())
        assert {n for n in names if n.startswith("classroom/student/")} == {
            f"classroom/{n}" for n in handed_out
        }
        for path in CHAPTERS:
            assert f"student/{path.name}" in handed_out
            assert f"classroom/teacher/{path.name}" in names
        for path in GRADED:
            name = classroom.name_of(path)
            assert f"classroom/course/source/{name}/{name}.ipynb" in names
            text = student.read(f"student/{name}.ipynb").decode()
            assert "raise NotImplementedError" in text
            assert "SOLUTION" not in text and "_hidden_test" not in text
    assert {"student/companion/data/heads.npz", "student/README.md"} <= handed_out
    assert (pack / "course" / "gradebook.db").is_file()
    for file in pack.rglob("*.ipynb"):
        assert str(ROOT) not in file.read_text(encoding="utf-8"), file


# --- the page for teachers, and the link ----------------------------------------------------


def test_the_page_for_teachers_names_the_commands_that_are_run_here():
    page = (ROOT / "book" / "for_teachers.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(.*?)\n(.*?)^```$", page, re.M | re.S)
    lines = [line for kind, block in blocks if not kind for line in block.splitlines()]
    assert [x for x in lines if x.startswith("nbgrader")] == [COLLECT, MARK, FEEDBACK, EXPORT]
    assert "python written_marks.py exercises_05 my_marks.csv" in lines
    for number in re.findall(r"\b([0-8])\.(\d)\b", page):
        chapter, exercise = map(int, number)
        assert exercise <= len(classroom.exercises(classroom.read(CHAPTERS[chapter]))), number


def test_the_page_for_teachers_places_every_exercise_of_chapters_0_to_6_once():
    page = (ROOT / "book" / "for_teachers.md").read_text(encoding="utf-8")
    table = page.split("### Which exercise fits which lesson")[1].split("\n## ")[0]
    placed = re.findall(r"\b\d\.\d\b", table)
    assert sorted(placed) == [
        f"{chapter}.{number}"
        for chapter in range(7)
        for number in range(1, len(classroom.exercises(classroom.read(CHAPTERS[chapter]))) + 1)
    ]


def test_teachers_tools_change_no_version_of_the_book():
    def pins(name):
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        return {line.split("==")[0]: line for line in lines if "==" in line}

    assert not pins("constraints.txt").keys() & pins("constraints-teach.txt").keys()
    direct = pins("requirements-teach.txt")["nbgrader"].split(" #")[0]
    assert direct == pins("constraints-teach.txt")["nbgrader"]


def test_students_install_what_the_notebooks_need():
    text = classroom.requirements()
    names = [line.split("==")[0] for line in text.splitlines()]
    assert {"-c constraints.txt", "numpy", "matplotlib", "jupyterlab"} <= set(names)
    assert "jupyter-book" not in names and "-e ." not in names


def test_work_that_was_handed_in_is_not_deleted(tmp_path, monkeypatch):
    monkeypatch.setattr(classroom, "PACK", tmp_path)
    (tmp_path / "course" / "submitted").mkdir(parents=True)
    with pytest.raises(make.Failed, match="holds work that students handed in"):
        classroom.build()
    assert (tmp_path / "course" / "submitted").is_dir()


@pytest.fixture
def clone(tmp_path):
    def git(*arguments):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True, capture_output=True)

    (tmp_path / "one word.ipynb").write_text("{}")
    git("init", "--initial-branch", "main")
    git("add", ".")
    git("remote", "add", "origin", "git@github.com:someone/attention-class.git")
    return tmp_path


def test_a_hub_link_opens_the_notebook(clone):
    link = classroom.hub_link("https://hub.example.org/base/", clone, "one word.ipynb")
    parts = urllib.parse.urlsplit(link)
    assert (parts.netloc, parts.path) == ("hub.example.org", "/base/hub/user-redirect/git-pull")
    assert dict(urllib.parse.parse_qsl(parts.query)) == {
        "repo": "https://github.com/someone/attention-class",
        "branch": "main",
        "urlpath": "lab/tree/attention-class/one word.ipynb",
    }


@pytest.mark.parametrize(
    ("hub", "file", "message"),
    [
        ("hub.example.org", "", "must be like https://hub.example.org; got hub.example.org"),
        ("ftp://hub.example.org", "", "must be like https"),
        ("https://hub.example.org/?a=b", "", "must be like https"),
        ("https://hub.example.org", "two.ipynb", "two.ipynb must be a file that is committed"),
    ],
)
def test_a_wrong_hub_link_is_not_made(clone, hub, file, message):
    with pytest.raises(make.Failed, match=message):
        classroom.hub_link(hub, clone, file)


def test_without_a_remote_there_is_no_hub_link(clone):
    subprocess.run(["git", "remote", "remove", "origin"], cwd=clone, check=True)
    with pytest.raises(make.Failed, match="remote 'origin' on GitHub or GitLab; got no remote"):
        classroom.hub_link("https://hub.example.org", clone)


def test_a_folder_inside_another_clone_gets_no_hub_link(clone):
    (clone / "student").mkdir()
    with pytest.raises(make.Failed, match="got no remote"):
        classroom.hub_link("https://hub.example.org", clone / "student")


@pytest.mark.parametrize("answer", ['{"version": "5.2.1"}', "<html>", "[]"])
def test_the_hub_is_asked_whether_it_is_one(clone, answer, capsys):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path == "/hub/api/" else 404)
            self.end_headers()
            self.wfile.write(answer.encode())

        def log_message(self, *args):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        hub = f"http://127.0.0.1:{server.server_port}"
        if answer.startswith("{"):
            classroom.link(hub, clone, "one word.ipynb")
            said = capsys.readouterr().out
            assert "JupyterHub 5.2.1 answers" in said
            assert f"{hub}/hub/user-redirect/git-pull?repo=https%3A%2F%2Fgithub.com" in said
        else:
            with pytest.raises(make.Failed, match="No JupyterHub answers"):
                classroom.link(hub, clone, "")
