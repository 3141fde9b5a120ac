"""The checks of the exercises: right answers pass, known mistakes are named, nothing crashes.

The counts in the properties are added up and printed at the end of the test run.
"""

import itertools
import json
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import learner_answers
import numpy as np
import pytest
from right_answers import RIGHT

import companion
from companion import checks
from companion.checks import running
from companion.checks.exercises import CHAPTERS, EXERCISES
from companion.checks.mistakes import MISTAKES, SECTIONS

ROOT = Path(__file__).parents[1]
NAMES = (
    "dot cosine_similarity softmax attention_scores causal_mask padding_mask masked_softmax "
    "weighted_values attention residual_update split_heads concat_heads multi_head "
    "layer_norm feed_forward"
).split()


def check(name, candidate):
    return getattr(checks, f"check_{name}")(candidate)


def codes(report):
    return [failure.code for failure in report.failures]


@pytest.fixture
def short_patience(monkeypatch):
    monkeypatch.setattr(running, "SECONDS", 0.2)
    monkeypatch.setattr(running, "PATIENCE", 0.3)


# ----------------------------------------------------------------------------- right and wrong


def test_every_exercise_has_a_check():
    assert list(EXERCISES) == list(MISTAKES) == list(RIGHT) == NAMES
    assert [n for n in checks.__all__ if n.startswith("check_")] == [f"check_{n}" for n in NAMES]


@pytest.mark.parametrize("name", NAMES)
def test_known_mistakes_are_caught_and_named(name, record_property):
    caught = named = 0
    for mistake in MISTAKES[name]:
        reports = [check(name, version) for version in mistake.versions]
        assert reports, mistake.code
        caught += all(not report.passed for report in reports)
        named += all(codes(report) == [mistake.code] for report in reports)
        for report in reports:
            assert codes(report) == [mistake.code]
            message = report.failures[0].message
            assert message.startswith(f"{mistake.message}\n")
            values = message.removeprefix(mistake.message)
            assert re.search(r"\nexpected: .*\n(.*\n)*received: ", values)
            assert re.search(r"\nsee chapter \d, .+: .+$", values)
            assert "array of shape" not in values  # the input is small enough to be shown
    known = len({mistake.code for mistake in MISTAKES[name]})
    assert caught == named == known == len(MISTAKES[name])
    record_property("count: known mistakes in exercises", known)
    record_property("count: of these caught", caught)
    record_property("count: of these named", named)


def test_enough_is_known():
    assert len(set(checks.known_mistakes())) == sum(map(len, MISTAKES.values())) >= 70
    assert all(len(table) >= 10 for table in MISTAKES.values())
    assert sum(map(len, RIGHT.values())) >= 40


@pytest.mark.parametrize("name", NAMES)
def test_right_but_unusual_answers_are_accepted(name, record_property):
    for candidate in RIGHT[name]:
        report = check(name, candidate)
        assert report.passed, report
    assert codes(check(name, EXERCISES[name].right)) == []
    record_property("count: right but unusual answers accepted", len(RIGHT[name]))


@pytest.mark.parametrize("name", NAMES)
def test_the_companion_passes_without_hints(name):
    assert repr(check(name, EXERCISES[name].right)) == f"{name}: passed"


@pytest.mark.parametrize(("name", "candidate", "expected"), learner_answers.WRONG)
def test_wrong_answers_of_learners(name, candidate, expected, short_patience):
    report = check(name, candidate)
    assert not report.passed
    assert codes(report) == expected


@pytest.mark.parametrize(("name", "candidate"), learner_answers.RIGHT)
def test_right_answers_of_learners(name, candidate):
    report = check(name, candidate)
    assert report.passed, report


def test_learners_tried_often_enough():
    assert len(learner_answers.WRONG) >= 20
    assert len(learner_answers.RIGHT) >= 10


# ------------------------------------------------------------------------------ pairs of mistakes


def softmax_of(
    shift=lambda x, axis: x.max(axis=axis, keepdims=True),
    power=np.exp,
    of=None,
    total=lambda e, axis: e.sum(axis=axis, keepdims=True),
    last=lambda p: p,
):
    """A softmax with parts that can be exchanged, one mistake each."""

    def softmax(x, axis=-1):
        axis = axis if of is None else of
        e = power(x - shift(x, axis))
        return last(e / total(e, axis))

    return softmax


SOFTMAX_PARTS = {
    "shift": [lambda x, axis: 0, lambda x, axis: x.mean(), lambda x, axis: x.min()],
    "power": [lambda x: 2.0**x, lambda x: np.exp(-x), np.abs],
    "of": [0, -1],
    "total": [lambda e, axis: e.sum(), lambda e, axis: e.max(axis=axis, keepdims=True)],
    "last": [np.log, lambda p: p.round(1), lambda p: p**2],
}


def attention_of(
    scale=lambda Q, K, V: Q.shape[-1] ** -0.5,
    roles=lambda Q, K, V: (Q, K, V),
    mask=lambda mask: mask,
    hide=None,
    axis=-1,
    output=lambda A, V: A @ V,
):
    """An attention with parts that can be exchanged, one mistake each."""

    def attention(Q, K, V, mask_given=None):
        query, key, value = roles(Q, K, V)
        S = query @ key.mT * scale(Q, K, V)
        allowed = np.ones(S.shape, dtype=bool)
        if mask_given is not None:
            allowed = np.broadcast_to(mask(mask_given), S.shape)
        if hide is not None:
            return output(hide(S, allowed, axis), value)
        S = np.where(allowed, S, -np.inf)
        top = S.max(axis=axis, keepdims=True)
        e = np.exp(S - np.where(np.isfinite(top), top, 0))
        total = e.sum(axis=axis, keepdims=True)
        return output(e / np.where(total == 0, 1, total), value)

    return attention


def all_softmax(S, axis):
    e = np.exp(S - S.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


ATTENTION_PARTS = {
    "scale": [lambda Q, K, V: 1, lambda Q, K, V: 1 / Q.shape[-1], lambda Q, K, V: 1 / 8],
    "roles": [lambda Q, K, V: (K, Q, V), lambda Q, K, V: (Q, Q, V), lambda Q, K, V: (Q, K, K)],
    "mask": [lambda mask: ~mask, lambda mask: np.True_],
    "hide": [
        lambda S, allowed, axis: all_softmax(np.where(allowed, S, -1e9), axis),
        lambda S, allowed, axis: all_softmax(S, axis) * allowed,
        lambda S, allowed, axis: all_softmax(S * allowed, axis),
    ],
    "axis": [-2],
    "output": [lambda A, V: A.mT @ V, lambda A, V: A, lambda A, V: A @ V / 2],
}


def multi_head_of(
    scale=lambda X, W: W.shape[-1] ** -0.5,
    matrices=lambda *W: W,
    axis=-1,
    join=lambda heads: np.concatenate(heads, axis=-1),
    output=lambda Z, W_O: Z @ W_O,
):
    """A multi-head attention with parts that can be exchanged, one mistake each."""

    def multi_head(X, W_Q, W_K, W_V, W_O):
        Q, K, V = (X @ W for W in matrices(W_Q, W_K, W_V))
        return output(join(all_softmax(Q @ K.mT * scale(X, W_Q), axis) @ V), W_O)

    return multi_head


MULTI_HEAD_PARTS = {
    "scale": [lambda X, W: 1, lambda X, W: X.shape[-1] ** -0.5, lambda X, W: 1 / W.shape[-1]],
    "matrices": [lambda q, k, v: (k, q, v), lambda q, k, v: (q, q, v), lambda q, k, v: (q, k, k)],
    "axis": [-2, 0],
    "join": [
        lambda heads: heads.reshape(heads.shape[1], -1),
        lambda heads: np.concatenate(heads[::-1], axis=-1),
        lambda heads: heads.mean(axis=0),
    ],
    "output": [lambda Z, W_O: Z, lambda Z, W_O: Z @ W_O.T, lambda Z, W_O: Z @ W_O / 2],
}


def mask_of(compare=lambda j, i: j <= i, dtype=bool, turn=lambda M: M, shift=0):
    def causal_mask(n):
        return turn(compare(np.arange(n), np.arange(n)[:, None] + shift).astype(dtype))

    return causal_mask


MASK_PARTS = {
    "compare": [lambda j, i: j < i, lambda j, i: j >= i, lambda j, i: j > i],
    "dtype": [int, float],
    "turn": [lambda M: M[::-1], lambda M: M[:, ::-1], lambda M: M[0]],
    "shift": [2, -2],
}

PAIRS = [
    (name, build, {first: one, second: two})
    for name, build, parts in (
        ("softmax", softmax_of, SOFTMAX_PARTS),
        ("attention", attention_of, ATTENTION_PARTS),
        ("multi_head", multi_head_of, MULTI_HEAD_PARTS),
        ("causal_mask", mask_of, MASK_PARTS),
    )
    for first, second in itertools.combinations(parts, 2)
    for one, two in itertools.product(parts[first], parts[second])
]


@pytest.mark.parametrize("build", [softmax_of, attention_of, multi_head_of, mask_of])
def test_without_a_mistake_the_exchangeable_parts_are_right(build):
    name = {softmax_of: "softmax", attention_of: "attention", mask_of: "causal_mask"}
    assert check(name.get(build, "multi_head"), build()).passed


@pytest.mark.parametrize("name", ["softmax", "attention", "multi_head", "causal_mask"])
def test_pairs_of_mistakes_are_caught(name, record_property):
    caught = 0
    for other, build, mistakes in PAIRS:
        if other == name:
            report = check(name, build(**mistakes))
            assert not report.passed, mistakes
            assert all("received: " in failure.message for failure in report.failures)
            caught += 1
    assert caught > 20
    record_property("count: pairs of mistakes caught", caught)


def test_two_independent_mistakes_are_both_named():
    def softmax(x, axis=-1):
        e = np.exp(x - x.max())
        return e / e.sum(axis=-1, keepdims=True)

    assert codes(check("softmax", softmax)) == ["axis-ignored", "maximum-of-everything"]


# ------------------------------------------------------------------------------------ the report


def test_report_shows_mistake_input_both_values_and_section():
    report = checks.check_softmax(lambda x, axis=-1: companion.softmax(x, axis=0))
    assert (
        repr(report)
        == """\
softmax: not right yet

✗ wrong-axis
  Your rows do not add up to 1, your columns do: the softmax runs over the wrong axis. \
Along the last axis means axis=-1, inside each row.
  x = [[0, 1.099],
       [0, 0]]
  expected: [[0.25, 0.75],
             [0.5, 0.5]]
  received: [[0.5, 0.75],
             [0.5, 0.25]]
  see chapter 2, Softmax: One distribution a row"""
    )
    assert not report.passed
    assert report.failures[0].code == "wrong-axis"


def test_the_smallest_input_that_shows_it_comes_first():
    for exercise in EXERCISES.values():
        sizes = [case.size for case in exercise.cases]
        assert sizes == sorted(sizes)
    report = checks.check_attention(lambda Q, K, V, mask=None: companion.attention(Q, K, V))
    assert codes(report) == ["mask-ignored"]
    assert "mask = [[ True, False]]" in report.failures[0].message


def test_an_unknown_mistake_is_said_to_be_unknown():
    report = checks.check_dot(lambda a, b: float(np.dot(a, b)) * 3.1 + 0.7)
    assert codes(report) == ["unknown"]
    assert "No known mistake gives these values." in report.failures[0].message
    assert "a = [3]" in report.failures[0].message
    assert report.failures[0].message.endswith("see chapter 1, Dot-product alignment")


@pytest.mark.parametrize("name", NAMES)
def test_a_stub_is_not_done_yet(name):
    def stub(*args, **kwargs):
        raise NotImplementedError

    report = check(name, stub)
    assert repr(report) == f"{name}: not done yet"
    assert not report.passed


def test_the_report_is_the_same_every_time():
    def wrong(x, axis=-1):
        return [object()]

    assert repr(checks.check_softmax(wrong)) == repr(checks.check_softmax(wrong))
    assert " at 0x" not in repr(checks.check_softmax(wrong))


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_sections_exist(chapter):
    (notebook,) = (ROOT / "notebooks").glob(f"{chapter:02}_*.ipynb")
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    headings = [plain(line.lstrip("# ")) for line in text.splitlines() if line.startswith("#")]
    assert CHAPTERS[chapter] == headings[0]
    for number, section in SECTIONS.values():
        assert number != chapter or section in headings


def plain(heading):
    return heading.replace(r"\sqrt{d_k}", "√d_k").replace("$", "").replace("*", "")


def test_every_section_is_used():
    used = {mistake.section for table in MISTAKES.values() for mistake in table}
    assert used == set(SECTIONS)


# ---------------------------------------------------------------------------- strange candidates


@pytest.mark.parametrize("value", [None, 3, np.array([0.25, 0.75]), "softmax"])
def test_something_that_is_not_a_function(value):
    assert codes(checks.check_softmax(value)) == ["not-a-function"]


def endless(x, axis=-1):
    while True:
        pass


def endless_in_try(x, axis=-1):
    while True:
        try:
            x + 1
        except Exception:
            pass


def endless_in_bare_except(x, axis=-1):
    while True:
        try:
            x + 1
        except:  # noqa: E722
            pass


def endless_flood(x, axis=-1):
    while True:
        print("x" * 1000)


def endless_conversion(x, axis=-1):
    class Array:
        def __array__(self, dtype=None, copy=None):
            while True:
                pass

    return Array()


@pytest.mark.parametrize(
    "candidate",
    [endless, endless_in_try, endless_in_bare_except, endless_flood, endless_conversion],
)
def test_what_does_not_end_is_stopped(candidate, short_patience):
    before = threading.active_count()
    report = checks.check_softmax(candidate)
    assert codes(report) == ["endless"]
    assert "was stopped" in report.failures[0].message
    assert threading.active_count() == before


def test_what_cannot_be_stopped_is_left_behind(short_patience):
    report = checks.check_softmax(lambda x, axis=-1: time.sleep(1))
    assert codes(report) == ["endless"]
    assert "could not be stopped" in report.failures[0].message


def test_without_threads_the_check_still_runs(monkeypatch):
    def no_threads(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", no_threads)
    assert checks.check_dot(np.dot).passed
    assert codes(checks.check_dot(lambda a, b: sys.exit())) == ["raises"]


def raiser(error):
    def candidate(x, axis=-1):
        raise error

    return candidate


def recursive(x, axis=-1):
    return recursive(x, axis)


def asks(x, axis=-1):
    return float(input("x?"))


def unprintable(x, axis=-1):
    class Unprintable(Exception):
        def __str__(self):
            raise SystemExit

    raise Unprintable


@pytest.mark.parametrize(
    ("candidate", "received"),
    [
        (raiser(ValueError("no idea\nat all")), "ValueError: no idea"),
        (raiser(KeyboardInterrupt()), "KeyboardInterrupt"),
        (raiser(SystemExit(3)), "SystemExit: 3"),
        (raiser(MemoryError()), "MemoryError"),
        (lambda x, axis=-1: exit(), "SystemExit"),
        (recursive, "RecursionError: maximum recursion depth exceeded"),
        (asks, "EOFError: a function that is being checked gets no input"),
        (unprintable, "Unprintable"),
        (lambda: 1, "TypeError"),
    ],
)
def test_exceptions_become_a_finding(candidate, received):
    report = checks.check_softmax(candidate)
    assert codes(report) == ["raises"]
    assert f"received: {received}" in report.failures[0].message
    assert not sys.stdin.closed


class Strange:
    """Fails at whatever is asked of it."""

    def fail(self, *args, **kwargs):
        raise SystemExit

    __array__ = __len__ = __iter__ = __getitem__ = __float__ = __repr__ = __str__ = fail


@pytest.mark.parametrize(
    ("returned", "code"),
    [
        (None, "returns-nothing"),
        ("0.5", "wrong-type"),
        ([[1], [2, 3]], "wrong-type"),
        ({0: 0.5}, "wrong-type"),
        ((i for i in range(2)), "wrong-type"),
        (map(float, [1, 2]), "wrong-type"),
        (np.array([1j, 2]), "wrong-type"),
        (np.array(["0.25", "0.75"]), "wrong-type"),
        (np.array(["0.25", "0.75"], dtype=object), "wrong-type"),
        (np.ma.masked_array([0.25, 0.75], mask=[True, False]), "wrong-type"),
        (([0.25, 0.75], np.eye(3)), "wrong-type"),
        (object(), "wrong-type"),
        (Strange(), "raises"),
        (0.25, "wrong-shape"),
        (np.zeros((100, 1000)), "wrong-shape"),
        (np.array([np.nan, np.nan]), "nan"),
        (np.array([0.25, 0.75]), "unknown"),  # right for the first input, by chance
    ],
)
def test_wrong_types_and_shapes_become_a_finding(returned, code):
    report = checks.check_softmax(lambda x, axis=-1: returned)
    assert codes(report)[0] == code
    assert len(repr(report)) < 2000


def test_printing_is_a_hint_and_does_not_get_out(capsys):
    def loud(a, b):
        print("a is", a)
        print("trouble", file=sys.stderr)
        return np.dot(a, b)

    report = checks.check_dot(loud)
    assert report.passed
    assert report.hints == [("prints", "It prints: a is [3.]")]
    assert repr(report) == "dot: passed\n\nhint: prints\n  It prints: a is [3.]"
    assert capsys.readouterr() == ("", "")


def test_a_warning_is_a_hint():
    def warned(scores, mask):
        weights = companion.softmax(np.where(mask, scores, -np.inf)) + np.log([0.0]) * 0
        return companion.masked_softmax(scores, mask) + 0 * np.nan_to_num(weights)

    report = checks.check_masked_softmax(warned)
    assert report.passed
    assert [hint.code for hint in report.hints] == ["warns"]
    assert "divide by zero" in report.hints[0].message


@pytest.mark.parametrize("name", [n for n in NAMES if n != "causal_mask"])
def test_changing_an_input_is_a_failure(name):
    right = EXERCISES[name].right

    def changing(*args, **kwargs):
        result = np.array(right(*args, **kwargs))
        args[0][...] = 0
        return result

    report = check(name, changing)
    assert codes(report) == ["changes-input"]


def test_the_inputs_of_the_check_survive():
    def vandal(E, delta_E):
        E[...] = delta_E[...] = 0
        E.resize(1, refcheck=False)

    before = repr(checks.check_residual_update(companion.residual_update))
    checks.check_residual_update(vandal)
    assert repr(checks.check_residual_update(companion.residual_update)) == before


def test_memory_and_chance_are_noticed():
    seen = []

    def remembers(a, b):
        seen.append(a)
        return np.dot(a, b) + (len(seen) > len(EXERCISES["dot"].cases))

    assert codes(checks.check_dot(remembers)) == ["not-repeatable"]
    chance = np.random.default_rng(0)
    report = checks.check_softmax(lambda x, axis=-1: chance.random(x.shape))
    assert codes(report) == ["not-repeatable"]


def test_settings_of_the_caller_do_not_matter_and_stay():
    with np.errstate(all="raise"):
        assert checks.check_attention(learner_answers.attention_repaired).passed
        assert np.geterr()["divide"] == "raise"


def test_exit_in_a_notebook_does_not_end_the_session():
    script = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_cell("from companion import checks")
shell.run_cell("report = checks.check_dot(lambda a, b: exit())")
assert [f.code for f in shell.user_ns["report"].failures] == ["raises"]
shell.run_cell("print('still here')")
"""
    run = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert run.stdout == "still here\n", run.stderr


def test_the_checks_do_not_import_matplotlib():
    script = "import sys; from companion import checks; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True, timeout=60)
