"""Say in words what one call gave, and in what it differs from what was expected."""

import numpy as np


def show(label, value):
    """Return `label` and a value as text; large arrays are shortened."""
    if value is None or isinstance(value, str | int):
        return f"{label}{value}"
    value = np.asarray(value)
    text = np.array2string(
        value,
        separator=", ",
        prefix=label,
        max_line_width=88,
        threshold=60,
        edgeitems=2,
        formatter={"float_kind": lambda number: f"{number + 0.0:.4g}"},
    )
    if value.size > 60:
        text = f"array of shape {value.shape}\n{' ' * len(label)}" + text
    return label + text


def show_outcome(label, outcome):
    if outcome.stopped:
        return f"{label}nothing"
    if outcome.error:
        return f"{label}{outcome.error}: {outcome.error_text}".rstrip(": ")
    if outcome.value is None:
        return f"{label}{outcome.wrong_type}"
    return show(label, outcome.value)


def describe(outcome, expected):
    """Return (code, text) for a wrong outcome that no known mistake explains."""
    if outcome.error == "SystemExit":
        return "raises", "Your function ends the program (exit). Use return."
    if outcome.error == "OverflowError":
        return "overflow", (
            "A number becomes too large on the way. If exp does it, subtract the maximum first."
        )
    if outcome.error:
        return "raises", "Your function raises an exception on this input."
    if outcome.value is None:
        return wrong_type(outcome)
    received = outcome.value
    if received.shape != expected.shape:
        return "wrong-shape", wrong_shape(received, expected)
    if expected.dtype == bool and received.dtype != bool:
        return "not-boolean", "Your mask holds numbers. A mask is boolean: True = may attend."
    for code, text, holds in RELATIONS if expected.dtype != bool else MASK_RELATIONS:
        with np.errstate(all="ignore"):
            if holds(received.astype(float), expected.astype(float)):
                return code, text
    return "unknown", (
        "No known mistake gives these values. Work this input out by hand, "
        "and print what your function has after each step."
    )


def wrong_type(outcome):
    if outcome.wrong_type == "None":
        text = "Your function returns nothing."
        text += " It prints instead: use return." if outcome.printed else " Is the return missing?"
        return "returns-nothing", text
    return "wrong-type", f"Your function returns {outcome.wrong_type}. Return an array of numbers."


def wrong_shape(received, expected):
    text = f"Your result has shape {received.shape}; it should have {expected.shape}."
    if received.shape == expected.shape[::-1] and received.ndim > 1:
        text += " Is it transposed?"
    elif received.size == expected.size:
        text += " The number of entries is right."
    return text


def sums_to_one(a, axis):
    return a.ndim > -axis - 1 and np.allclose(a.sum(axis=axis), 1)


def constant(values):
    return (
        values.size > 1
        and np.isfinite(values).all()
        and np.ptp(values) < 1e-6 * np.abs(values).max()
    )


# What can be seen of a result whose cause is not known: (code, text, relation).
RELATIONS = (
    (
        "nan",
        "Your result contains nan, where a number is expected: inf / inf, inf - inf, 0 / 0 or "
        "0 * inf happened on the way.",
        lambda r, e: (np.isnan(r) & ~np.isnan(e)).any(),
    ),
    (
        "infinite",
        "Your result contains inf, where a number is expected.",
        lambda r, e: (np.isinf(r) & ~np.isinf(e)).any(),
    ),
    (
        "rounded",
        "Your result is close, but rounded or not exact. Return the number as it comes out.",
        lambda r, e: np.allclose(r, e, rtol=1e-2, atol=1e-2),
    ),
    (
        "sign",
        "Your result has the wrong sign.",
        lambda r, e: np.allclose(r, -e),
    ),
    (
        "columns",
        "Your columns add up to 1; the rows should.",
        lambda r, e: sums_to_one(e, -1) and sums_to_one(r, -2) and not sums_to_one(r, -1),
    ),
    (
        "not-a-distribution",
        "Your rows do not add up to 1.",
        lambda r, e: sums_to_one(e, -1) and not sums_to_one(r, -1),
    ),
    (
        "transposed",
        "Your result is transposed.",
        lambda r, e: (
            r.ndim > 1 and r.shape[-1] == r.shape[-2] and np.allclose(r, e.swapaxes(-1, -2))
        ),
    ),
    (
        "factor",
        "All your numbers are too large or too small by the same factor.",
        lambda r, e: e.size > 1 and e.all() and constant(r / e),
    ),
    (
        "offset",
        "All your numbers are too large or too small by the same amount.",
        lambda r, e: constant(r - e),
    ),
    (
        "reordered",
        "The numbers are right, but in the wrong places.",
        lambda r, e: r.size > 1 and np.allclose(np.sort(r, axis=None), np.sort(e, axis=None)),
    ),
    (
        "first-row-right",
        "The first row is right, others are not.",
        lambda r, e: r.ndim > 1 and len(r) > 1 and np.allclose(r[0], e[0]),
    ),
)

MASK_RELATIONS = (
    (
        "hides-too-much",
        "Your mask hides keys that should be visible.",
        lambda r, e: (r <= e).all(),
    ),
    (
        "hides-too-little",
        "Your mask shows keys that should be hidden.",
        lambda r, e: (r >= e).all(),
    ),
)
