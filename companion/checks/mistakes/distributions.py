"""Known mistakes in the exercises of chapter 2."""

import numpy as np

from companion.checks.mistakes.parts import integers_cut, mistake, naive

# --------------------------------------------------------------------------------------- softmax


def stable(x, axis=-1):
    return naive(x - x.max(axis=axis, keepdims=True), axis)


def changes_x(x, axis=-1):
    x -= x.max(axis=axis, keepdims=True)
    return naive(x, axis)


def without_keepdims(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / e.sum(axis=axis)


def max_without_keepdims(x, axis=-1):
    return naive(x - x.max(axis=axis), axis)


SOFTMAX = (
    mistake(
        "axis-ignored",
        "Your softmax always runs over the last axis, whatever axis is asked for. "
        "Pass axis on to the sum (and to the maximum).",
        "axis",
        lambda x, axis=-1: stable(x),
        lambda x, axis=-1: naive(x),
    ),
    mistake(
        "no-axis-parameter",
        "Your function does not accept axis=0. Its first line should be like "
        "def softmax(x, axis=-1).",
        "axis",
        lambda x: stable(x),
        lambda x: naive(x),
    ),
    mistake(
        "wrong-axis",
        "Your rows do not add up to 1, your columns do: the softmax runs over the wrong axis. "
        "Along the last axis means axis=-1, inside each row.",
        "axis",
        lambda x, axis=-1: stable(x, axis=0),
        lambda x, axis=-1: naive(x, axis=0),
        lambda x: stable(x, axis=0),
        lambda x: naive(x, axis=0),
        lambda x, axis=0: stable(x, axis),
        lambda x, axis=0: naive(x, axis),
        lambda x, axis=-1: naive(x - x.max(axis=-1, keepdims=True), 0),
    ),
    mistake(
        "axis-fixed-at-1",
        "Your softmax always runs over axis 1. A vector has no axis 1, and with three axes it is "
        "not the last one. Use the axis that is asked for.",
        "axis",
        lambda x, axis=-1: stable(x, axis=1),
        lambda x, axis=-1: naive(x, axis=1),
        lambda x, axis=1: stable(x, axis),
        lambda x, axis=1: naive(x, axis),
    ),
    mistake(
        "whole-array",
        "All numbers of your result together add up to 1. Each row must add up to 1 by itself: "
        "sum over one axis only.",
        "axis",
        lambda x, axis=-1: np.exp(x - x.max()) / np.exp(x - x.max()).sum(),
        lambda x, axis=-1: np.exp(x) / np.exp(x).sum(),
        lambda x, axis=-1: (
            np.exp(x - x.max(axis=axis, keepdims=True))
            / np.exp(x - x.max(axis=axis, keepdims=True)).sum()
        ),
        lambda x: np.exp(x - x.max()) / np.exp(x - x.max()).sum(),
        lambda x: np.exp(x) / np.exp(x).sum(),
    ),
    mistake(
        "sum-lost-its-axis",
        "The sum over an axis has one axis less than x, so NumPy lines it up with the wrong axis "
        "when it divides. Keep the axis: sum(axis=axis, keepdims=True).",
        "axis",
        without_keepdims,
        lambda x, axis=-1: np.exp(x) / np.exp(x).sum(axis=axis),
        lambda x, axis=-1: np.exp(x - np.max(x)) / np.exp(x - np.max(x)).sum(axis=axis),
        lambda x, axis=-1: (
            np.exp(x - x.max(axis=axis)) / np.exp(x - x.max(axis=axis)).sum(axis=axis)
        ),
    ),
    mistake(
        "maximum-lost-its-axis",
        "The maximum over an axis has one axis less than x, so NumPy subtracts it from the wrong "
        "entries. Keep the axis: max(axis=axis, keepdims=True).",
        "axis",
        max_without_keepdims,
    ),
    mistake(
        "overflow",
        "exp of a large number is inf, and inf / inf is nan; exp of a very negative one is 0, "
        "and 0 / 0 is nan. Subtract the maximum along the axis first: it changes nothing else.",
        "overflow",
        naive,
    ),
    mistake(
        "overflow-hidden",
        "Large numbers overflow to inf, inf / inf is nan, and you replace nan by 0. That hides the "
        "overflow and leaves wrong weights. Subtract the maximum along the axis first.",
        "overflow",
        lambda x, axis=-1: np.nan_to_num(naive(x, axis)),
    ),
    mistake(
        "numbers-cut-off",
        "You cut large numbers off before exp. Numbers beyond the limit then count as equal. "
        "Subtract the maximum along the axis instead: differences stay as they are.",
        "overflow",
        lambda x, axis=-1: naive(np.clip(x, -500, 500), axis),
        lambda x, axis=-1: naive(np.clip(x, -700, 700), axis),
        lambda x, axis=-1: naive(np.clip(x, -100, 100), axis),
        lambda x, axis=-1: naive(np.minimum(x, 500), axis),
        lambda x, axis=-1: naive(np.minimum(x, 700), axis),
        lambda x, axis=-1: naive(np.minimum(x, 709), axis),
    ),
    mistake(
        "maximum-of-everything",
        "You subtract the maximum of the whole array. A row far below the others then becomes "
        "0 / 0. Each row needs its own maximum.",
        "maximum",
        lambda x, axis=-1: naive(x - x.max(), axis),
    ),
    mistake(
        "maximum-of-other-axis",
        "You subtract a maximum taken along another axis than the sum. Numbers that belong to one "
        "sum must all be shifted by the same amount.",
        "maximum",
        lambda x, axis=-1: naive(x - x.max(axis=0, keepdims=True), axis),
    ),
    mistake(
        "shift-by-mean",
        "You subtract the mean. The largest number can still lie far above it and overflow. "
        "Subtract the maximum, so that no exponent is above 0.",
        "overflow",
        lambda x, axis=-1: naive(x - x.mean(axis=axis, keepdims=True), axis),
        lambda x, axis=-1: naive(x - x.mean(), axis),
    ),
    mistake(
        "shift-by-minimum",
        "You subtract the minimum. The exponents then grow with the spread of the numbers and "
        "overflow. Subtract the maximum, so that no exponent is above 0.",
        "overflow",
        lambda x, axis=-1: naive(x - x.min(axis=axis, keepdims=True), axis),
        lambda x, axis=-1: naive(x - x.min(), axis),
    ),
    mistake(
        "divided-by-largest-number",
        "You divide the numbers by their maximum. That changes the weights; subtract it instead: "
        "only differences count.",
        "overflow",
        lambda x, axis=-1: naive(x / x.max(axis=axis, keepdims=True), axis),
        lambda x, axis=-1: naive(x / np.abs(x).max(axis=axis, keepdims=True), axis),
        lambda x, axis=-1: naive(x / x.max(), axis),
        lambda x, axis=-1: naive(x / np.abs(x).max(), axis),
    ),
    mistake(
        "maximum-after-exp",
        "You subtract the maximum after exp. Subtract it from the numbers before exp.",
        "overflow",
        lambda x, axis=-1: (
            (np.exp(x) - np.exp(x).max(axis=axis, keepdims=True))
            / np.exp(x).sum(axis=axis, keepdims=True)
        ),
        lambda x, axis=-1: (
            (np.exp(x) - x.max(axis=axis, keepdims=True))
            / (np.exp(x) - x.max(axis=axis, keepdims=True)).sum(axis=axis, keepdims=True)
        ),
    ),
    mistake(
        "unchanged",
        "You return x as it was.",
        "definition",
        lambda x, axis=-1: x,
        lambda x: x,
    ),
    mistake(
        "no-exponential",
        "You divide the numbers by their sum; the exponential is missing. "
        "Negative numbers then give negative weights.",
        "definition",
        lambda x, axis=-1: x / x.sum(axis=axis, keepdims=True),
    ),
    mistake(
        "shifted-not-exponentiated",
        "You shift the numbers and divide them by their sum, without exp in between.",
        "definition",
        lambda x, axis=-1: (
            (x - x.max(axis=axis, keepdims=True))
            / (x - x.max(axis=axis, keepdims=True)).sum(axis=axis, keepdims=True)
        ),
        lambda x, axis=-1: (
            (x - x.min(axis=axis, keepdims=True))
            / (x - x.min(axis=axis, keepdims=True)).sum(axis=axis, keepdims=True)
        ),
    ),
    mistake(
        "absolute-values",
        "You divide absolute values by their sum. The softmax needs exp: -2 must get less weight "
        "than 1, not more.",
        "definition",
        lambda x, axis=-1: np.abs(x) / np.abs(x).sum(axis=axis, keepdims=True),
    ),
    mistake(
        "squares",
        "You divide squares by their sum. The softmax needs exp: -2 must get less weight than 1, "
        "not more.",
        "definition",
        lambda x, axis=-1: x**2 / (x**2).sum(axis=axis, keepdims=True),
    ),
    mistake(
        "base-two",
        "You use another base than e. Write np.exp(x).",
        "definition",
        lambda x, axis=-1: (
            2.0 ** (x - x.max(axis=axis, keepdims=True))
            / (2.0 ** (x - x.max(axis=axis, keepdims=True))).sum(axis=axis, keepdims=True)
        ),
        lambda x, axis=-1: 2.0**x / (2.0**x).sum(axis=axis, keepdims=True),
        lambda x, axis=-1: 10.0**x / (10.0**x).sum(axis=axis, keepdims=True),
        lambda x, axis=-1: (
            10.0 ** (x - x.max(axis=axis, keepdims=True))
            / (10.0 ** (x - x.max(axis=axis, keepdims=True))).sum(axis=axis, keepdims=True)
        ),
        lambda x, axis=-1: 2.718**x / (2.718**x).sum(axis=axis, keepdims=True),
    ),
    mistake(
        "not-divided",
        "You return the exponentials. Divide each by their sum, so that they add up to 1.",
        "definition",
        lambda x, axis=-1: np.exp(x),
        lambda x: np.exp(x),
        lambda x, axis=-1: np.exp(x - x.max(axis=axis, keepdims=True)),
    ),
    mistake(
        "divided-by-sum-of-numbers",
        "You divide the exponentials by the sum of the numbers. "
        "Divide by the sum of the exponentials.",
        "definition",
        lambda x, axis=-1: np.exp(x) / x.sum(axis=axis, keepdims=True),
    ),
    mistake(
        "divided-by-largest",
        "You divide by the largest exponential: the largest weight is 1. "
        "Divide by the sum of the exponentials.",
        "definition",
        lambda x, axis=-1: np.exp(x) / np.exp(x).max(axis=axis, keepdims=True),
    ),
    mistake(
        "divided-by-count",
        "You divide the exponentials by how many there are. Divide by their sum.",
        "definition",
        lambda x, axis=-1: np.exp(x) / x.shape[axis],
        lambda x, axis=-1: np.exp(x - x.max(axis=axis, keepdims=True)) / x.shape[axis],
    ),
    mistake(
        "sign-flipped",
        "Your largest weight goes to the smallest number: there is a minus sign too many.",
        "definition",
        lambda x, axis=-1: stable(-x, axis),
        lambda x, axis=-1: naive(-x, axis),
        lambda x, axis=-1: naive(x.max(axis=axis, keepdims=True) - x, axis),
    ),
    mistake(
        "sigmoid-instead",
        "You return 1 / (1 + exp(-x)) of each number by itself (the sigmoid). In a softmax the "
        "numbers of a row share their sum.",
        "definition",
        lambda x, axis=-1: 1 / (1 + np.exp(-x)),
        lambda x, axis=-1: (
            1 / (1 + np.exp(-x)) / (1 / (1 + np.exp(-x))).sum(axis=axis, keepdims=True)
        ),
    ),
    mistake(
        "logarithm",
        "You return the logarithm of the softmax: nothing of it is above 0. Take its exponential.",
        "definition",
        lambda x, axis=-1: (
            x
            - x.max(axis=axis, keepdims=True)
            - np.log(np.exp(x - x.max(axis=axis, keepdims=True)).sum(axis=axis, keepdims=True))
        ),
        lambda x, axis=-1: np.log(stable(x, axis)),
        lambda x, axis=-1: x - np.log(np.exp(x).sum(axis=axis, keepdims=True)),
    ),
    mistake(
        "hard-maximum",
        "You give all the weight to the largest number. A softmax is soft: the others keep some.",
        "soft",
        lambda x, axis=-1: (x == x.max(axis=axis, keepdims=True)).astype(float),
        lambda x, axis=-1: (
            np.arange(x.shape[axis]).reshape(
                [-1 if a == axis % x.ndim else 1 for a in range(x.ndim)]
            )
            == np.argmax(x, axis=axis, keepdims=True)
        ),
    ),
    mistake(
        "position-of-maximum",
        "You return where the largest number stands. The softmax gives a weight to every number.",
        "soft",
        lambda x, axis=-1: np.argmax(x, axis=axis),
    ),
    mistake(
        "normalised-twice",
        "You apply the softmax twice: the weights come out too equal.",
        "definition",
        lambda x, axis=-1: stable(stable(x, axis), axis),
        lambda x, axis=-1: naive(naive(x, axis), axis),
    ),
    mistake(
        "unit-length",
        "The squares of your weights add up to 1: you divide by the root of the sum of squares. "
        "Divide by the plain sum.",
        "definition",
        lambda x, axis=-1: np.exp(x) / np.sqrt((np.exp(x) ** 2).sum(axis=axis, keepdims=True)),
    ),
    mistake(
        "integers-cut",
        "For an array of integers your result is cut to integers: you write the weights into an "
        "array of the same dtype as x (zeros_like or copy). Use a float array.",
        "integers",
        integers_cut(stable),
        integers_cut(naive),
    ),
    mistake(
        "changes-input",
        "The values are right, but your function changes x: x -= … writes into the caller's array. "
        "Write x = x - … instead.",
        "overflow",
        changes_x,
    ),
)
