"""Compare a candidate with the right function on every input, and find out what is wrong.

A known mistake is recognised by its values: the candidate gives what the wrong version gives.
If one version agrees on every input, that is the cause. Otherwise the failing inputs are shared
out among the mistakes that explain most of them and contradict none of the right results; what
is left is described as far as it can be seen, and said to be unknown.
"""

import functools
import inspect
import re

import numpy as np

from companion.checks import running
from companion.checks.describing import describe, show, show_outcome
from companion.checks.exercises import CHAPTERS, EXERCISES
from companion.checks.mistakes import MISTAKES, SECTIONS
from companion.checks.report import Failure, Report


def judge(name, candidate):
    """Return the `Report` on a candidate for one of the exercises."""
    exercise, report = EXERCISES[name], Report(name)
    if not callable(candidate):
        text = f"Pass the function itself, without calling it: check_{name}(my_function)."
        report.failures.append(Failure("not-a-function", text))
        return report

    outcomes = observe(exercise, candidate)
    if any(outcome.error == "NotImplementedError" for outcome in outcomes):
        report.failures.append(Failure("not-done", "not done yet"))
        return report
    if outcomes[-1].stopped:
        report.failures.append(endless(exercise, len(outcomes) - 1, outcomes[-1]))
        return report

    failing = failing_inputs(exercise, outcomes)
    report.failures += causes(exercise, candidate, outcomes, failing)
    report.failures += changed_inputs(exercise, outcomes, report.failures)
    report.failures += second_call(exercise, candidate, outcomes, report.failures)
    report.hints += side_effects(outcomes)
    return report


# ------------------------------------------------------------------------------------ observing


def observe(exercise, function):
    """Run the function on every input; stop after one on which it does not end."""
    outcomes = []
    for case in exercise.cases:
        outcomes.append(running.run(function, *arguments(exercise, function, case)))
        if outcomes[-1].stopped:
            break
    return outcomes


def arguments(exercise, function, case):
    """Return (args, kwargs) as the function's signature accepts them, if it accepts them."""
    ways = (
        (case.args, case.kwargs),
        ((*case.args, *case.kwargs.values()), {}),
        ((), exercise.by_name(case)),
    )
    try:
        signature = inspect.signature(function)
        for args, kwargs in ways:
            try:
                signature.bind(*args, **kwargs)
                return args, kwargs
            except TypeError:
                pass
    except BaseException:  # some callables have no signature, or one that does strange things
        pass
    return ways[0]


def is_right(exercise, i, outcome):
    return outcome.value is not None and same(outcome.value, exercise.expected(i))


def failing_inputs(exercise, outcomes):
    """Return the positions of the inputs with a wrong result."""
    return [i for i, outcome in enumerate(outcomes) if not is_right(exercise, i, outcome)]


def same(received, expected):
    """Whether the values agree, as far as the dtype of the received ones can tell.

    A mask must be boolean; between other dtypes no difference is made.
    """
    if received.shape != expected.shape or (received.dtype == bool) != (expected.dtype == bool):
        return False
    loose = {"float16": (5e-3, 1e-3), "float32": (1e-4, 1e-5)}
    rtol, atol = loose.get(received.dtype.name, (1e-5, 1e-7))
    with np.errstate(all="ignore"):
        return bool(np.allclose(received, expected, rtol=rtol, atol=atol, equal_nan=True))


# ---------------------------------------------------------------------------------- recognising


def causes(exercise, candidate, outcomes, failing):
    """Return a failure for each mistake that was recognised, and one for what is left."""
    if not failing:
        return []
    traces = []
    changes = any(outcome.changed for outcome in outcomes)
    for mistake, others, their_failing in known(exercise.name):
        if mistake.code == "changes-input" and not changes:
            continue
        explained = compare(outcomes, failing, others, their_failing)
        if explained and failing == their_failing == sorted(explained):
            return [known_failure(exercise, mistake, failing[0], outcomes[failing[0]])]
        traces.append((mistake, explained))

    failures, left = [], set(failing)
    while left:
        mistake, explained = max(traces, key=lambda trace: len(trace[1] & left))
        if not explained & left:
            failures.append(
                too_many_axes(exercise, outcomes, failing)
                or unknown_failure(exercise, candidate, min(left), outcomes, failures)
            )
            break
        if mistake.code not in [failure.code for failure in failures]:
            i = min(explained & left)
            failures.append(known_failure(exercise, mistake, i, outcomes[i]))
        left -= explained
    return failures


@functools.cache
def known(name):
    """Return (mistake, its outcomes, its failing inputs) for every wrong version."""
    return [
        (mistake, outcomes, failing_inputs(EXERCISES[name], outcomes))
        for mistake in MISTAKES[name]
        for version in mistake.versions
        for outcomes in [observe(EXERCISES[name], version)]
    ]


def compare(outcomes, failing, others, their_failing):
    """Return the inputs that a candidate and a wrong version fail in the same way.

    A version that is wrong where the candidate is right explains nothing. Neither does one that
    agrees on less than half of its own failing inputs, or only where there is little to see: in
    zeros, in a single number, in exceptions with different texts.
    """
    if not set(their_failing) <= set(failing):
        return set()
    explained = {i for i in their_failing if agree(outcomes[i], others[i])}
    values = [outcomes[i].value for i in explained if outcomes[i].value is not None]
    if explained == set(failing):
        same_errors = all(error_text(outcomes[i]) == error_text(others[i]) for i in explained)
        return explained if values or same_errors else set()
    seen = sum(np.count_nonzero(np.isfinite(v) & (v != 0)) + 2 * is_partly_nan(v) for v in values)
    share = len(explained) / len(their_failing) if their_failing else 0
    enough = share == 1 or (share >= 0.5 and len(explained) > 1)
    return explained if seen > 1 and enough else set()


def is_partly_nan(value):
    return np.isnan(value).any() and not np.isnan(value).all()


def error_text(outcome):
    """Return class and text of an exception, without the name of the function."""
    return outcome.error, re.sub(r"^\S*\(\) ", "", outcome.error_text)


def agree(one, other):
    """Whether two outcomes are alike: the same values, the same other type, or both an error."""
    if one.value is not None and other.value is not None:
        return same(one.value, other.value)
    kinds = [(o.value is None, o.error is None, o.wrong_type) for o in (one, other)]
    return kinds[0] == kinds[1]


# ------------------------------------------------------------------------------------- reporting


def in_full(exercise, i, outcome, text, see=""):
    """Return the text of a finding with the input, the expected and the received value."""
    inputs = exercise.by_name(exercise.cases[i])
    lines = [
        text,
        *(show(f"{name} = ", value) for name, value in inputs.items()),
        show("expected: ", exercise.expected(i)),
        show_outcome("received: ", outcome),
    ]
    return "\n".join([*lines, see] if see else lines)


def known_failure(exercise, mistake, i, outcome):
    chapter, section = SECTIONS[mistake.section]
    see = f"see chapter {chapter}, {CHAPTERS[chapter]}: {section}"
    return Failure(mistake.code, in_full(exercise, i, outcome, mistake.message, see))


def too_many_axes(exercise, outcomes, failing):
    """Return a failure if all inputs with few axes are right and all with more are not."""
    axes = [max(map(np.ndim, (*case.args, *case.kwargs.values()))) for case in exercise.cases]
    most = max((axes[i] for i in range(len(outcomes)) if i not in failing), default=0)
    if not 0 < most < min(axes[i] for i in failing):
        return None
    kind = {1: "a vector", 2: "a matrix", 3: "three axes"}[most]
    text = (
        f"Right for {kind}, not for an array with more axes (a batch). "
        "Count axes from the end, or use operations that repeat over the axes in front."
    )
    see = f"see chapter {exercise.chapter}, {CHAPTERS[exercise.chapter]}"
    i = failing[0]
    return Failure("too-many-axes", in_full(exercise, i, outcomes[i], text, see))


def unknown_failure(exercise, candidate, i, outcomes, failures):
    code, text = describe(outcomes[i], exercise.expected(i))
    again = running.run(candidate, *arguments(exercise, candidate, exercise.cases[i]))
    if not agree(outcomes[i], again):
        code = "not-repeatable"
        text = "A second call with the same input gives another result. Is something random?"
    if failures:
        text = f"Beside this: {text[0].lower()}{text[1:]}"
    see = f"see chapter {exercise.chapter}, {CHAPTERS[exercise.chapter]}"
    return Failure(code, in_full(exercise, i, outcomes[i], text, see))


def endless(exercise, i, outcome):
    text = f"Your function did not end within {running.SECONDS:g} seconds, and was stopped."
    if outcome.left_behind:
        text = (
            f"Your function did not end within {running.SECONDS:g} seconds, and could not be "
            "stopped: it still runs. Restart the kernel."
        )
    text += " Does your loop ever reach its end?"
    return Failure("endless", in_full(exercise, i, outcome, text))


def changed_inputs(exercise, outcomes, failures):
    """Return a failure if an input was modified, unless that is known already."""
    i = next((i for i, outcome in enumerate(outcomes) if outcome.changed), None)
    if i is None or any(failure.code == "changes-input" for failure in failures):
        return []
    for mistake in MISTAKES[exercise.name]:
        if mistake.code == "changes-input" and not failures:
            return [known_failure(exercise, mistake, i, outcomes[i])]
    text = (
        "Your function changes its input. x -= 1 or x[0] = 1 writes into the caller's array; "
        "x = x - 1 makes a new one."
    )
    return [Failure("changes-input", in_full(exercise, i, outcomes[i], text))]


def second_call(exercise, candidate, outcomes, failures):
    """Return a failure if all was right, but a second call is not."""
    if failures:
        return []
    again = running.run(candidate, *arguments(exercise, candidate, exercise.cases[0]))
    if agree(outcomes[0], again):
        return []
    text = (
        "The first call was right; a second one with the same input is not. "
        "Does your function remember something?"
    )
    return [Failure("not-repeatable", in_full(exercise, 0, again, text))]


def side_effects(outcomes):
    """Return hints for the first thing printed and the first warning."""
    hints = []
    printed = next((o.printed.strip() for o in outcomes if o.printed.strip()), None)
    if printed:
        hints.append(Failure("prints", f"It prints: {printed.splitlines()[0][:60]}"))
    warned = next((o.warned for o in outcomes if o.warned), None)
    if warned:
        hints.append(Failure("warns", f"It causes a warning: {warned}"))
    return hints
