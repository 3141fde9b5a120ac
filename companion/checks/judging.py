"""Compare a candidate with the right function on every input, and find out what is wrong."""

import numpy as np

from companion.checks.report import Failure, Report
from companion.checks.running import run


def judge(exercise, candidate):
    report = Report(exercise.name)
    for case in exercise.cases:
        outcome = run(candidate, case.args, case.kwargs)
        if outcome.error == "NotImplementedError":
            report.failures.append(Failure("not-done", "not done yet"))
            break
        expected = exercise.right(*case.args, **case.kwargs)
        if outcome.stopped:
            report.failures.append(Failure("endless", "did not end"))
            break
        if outcome.value is None or not same(outcome.value, expected):
            report.failures.append(
                Failure("unknown", f"expected\n{expected}\nreceived\n{outcome.value}")
            )
            break
        if outcome.changed:
            report.failures.append(Failure("changes-input", "modifies its input"))
            break
    return report


def same(received, expected):
    """Whether the values agree, as far as the dtype of the received ones can tell."""
    if received.shape != np.shape(expected):
        return False
    loose = {"float16": (5e-3, 1e-3), "float32": (1e-4, 1e-5)}
    rtol, atol = loose.get(received.dtype.name, (1e-5, 1e-7))
    with np.errstate(all="ignore"):
        return bool(np.allclose(received, expected, rtol=rtol, atol=atol, equal_nan=True))
