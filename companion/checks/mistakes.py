"""The known mistakes, in one table: code, message, wrong versions, section that explains it.

A candidate is compared with the wrong versions on every input, so a row needs no other rule than
its wrong version. Where two rows would give the same values, only one is kept; where several
people write the same mistake in ways that give different values, the row has several versions.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from companion import softmax


class Mistake(NamedTuple):
    code: str
    message: str
    section: str
    versions: tuple[Callable, ...]


def mistake(code, message, section, *versions):
    return Mistake(code, message, section, versions)


# Parts that the wrong versions share. They are written for what goes wrong, not for reuse.


def flip(K):
    return np.swapaxes(K, -1, -2)


def dots(Q, K):
    return Q @ flip(K)


def scores(Q, K):
    return dots(Q, K) / math.sqrt(Q.shape[-1])


def hidden(S, mask, value=-np.inf):
    """Scores with the masked ones replaced."""
    return S if mask is None else np.where(mask, S, value)


def zeros_for_nan(A):
    return np.where(np.isnan(A), 0, A)


def masked(S, mask=None, axis=-1):
    """The right weights, or those over another axis."""
    S = hidden(S, mask)
    top = np.max(S, axis=axis, keepdims=True)
    e = np.exp(S - np.where(np.isfinite(top), top, 0))
    total = e.sum(axis=axis, keepdims=True)
    return e / np.where(total == 0, 1, total)


def naive(x, axis=-1):
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)


def numbers_of(mask):
    """A mask as 1 (may attend) and 0; 1 everywhere without a mask."""
    return 1.0 if mask is None else np.asarray(mask, dtype=float)


def integers_cut(right):
    """Fill an array that has the dtype of the first input: integers lose their fraction."""

    def wrong(x, *args, **kwargs):
        return np.asarray(right(x, *args, **kwargs)).astype(np.asarray(x).dtype)

    return wrong


# ------------------------------------------------------------------------------------------- dot


def changes_second(a, b):
    b *= a
    return b.sum()


DOT = (
    mistake(
        "not-added-up",
        "You return the products of the entries, one for each. "
        "The dot product is their sum: a single number.",
        "smallest",
        lambda a, b: a * b,
    ),
    mistake(
        "outer-product",
        "You multiply every entry of a with every entry of b (the outer product, a matrix). "
        "The dot product multiplies entries at the same position only, and adds up.",
        "smallest",
        np.outer,
        np.multiply.outer,
    ),
    mistake(
        "one-element-array",
        "The number is right but wrapped in an array of one entry. Return the number itself.",
        "smallest",
        lambda a, b: np.array([np.dot(a, b)]),
        lambda a, b: np.array([[np.dot(a, b)]]),
    ),
    mistake(
        "added-not-multiplied",
        "You add the entries of a and b. They must be multiplied pair by pair first.",
        "smallest",
        lambda a, b: np.sum(a + b),
    ),
    mistake(
        "sums-multiplied",
        "You add up each vector first and multiply the two sums. "
        "Multiply entry by entry first, then add up.",
        "smallest",
        lambda a, b: np.sum(a) * np.sum(b),
    ),
    mistake(
        "product-of-products",
        "You multiply the products together. They must be added up.",
        "smallest",
        lambda a, b: np.prod(a * b),
    ),
    mistake(
        "mean-not-sum",
        "You take the mean of the products: the result is too small by the number of entries. "
        "Take their sum.",
        "smallest",
        lambda a, b: np.mean(a * b),
    ),
    mistake(
        "last-entry-missing",
        "Your loop stops one entry too early: the last product is missing. "
        "range(n) already stops before n.",
        "smallest",
        lambda a, b: np.dot(a[:-1], b[:-1]),
    ),
    mistake(
        "first-entry-missing",
        "The product of the first entries is missing. Positions start at 0.",
        "smallest",
        lambda a, b: np.dot(a[1:], b[1:]),
    ),
    mistake(
        "returns-in-loop",
        "You return the first product: the return stands inside the loop, so the loop ends after "
        "one round.",
        "smallest",
        lambda a, b: a[0] * b[0],
    ),
    mistake(
        "last-product-only",
        "You return the last product: each round replaces the total. Add to it (+=).",
        "smallest",
        lambda a, b: a[-1] * b[-1],
    ),
    mistake(
        "starts-at-one",
        "The result is too large by 1: the total must start at 0.",
        "smallest",
        lambda a, b: np.dot(a, b) + 1,
    ),
    mistake(
        "first-vector-twice",
        "You multiply a with itself; b has no influence.",
        "smallest",
        lambda a, b: np.dot(a, a),
    ),
    mistake(
        "second-vector-twice",
        "You multiply b with itself; a has no influence.",
        "smallest",
        lambda a, b: np.dot(b, b),
    ),
    mistake(
        "cosine-instead",
        "You return the cosine: the lengths are divided out. The dot product keeps them.",
        "cosine",
        lambda a, b: np.dot(a, b) / np.linalg.norm(a) / np.linalg.norm(b),
    ),
    mistake(
        "sign-lost",
        "Your result is never negative. Vectors that point in opposite directions have a negative "
        "dot product; no absolute value is taken.",
        "sign",
        lambda a, b: abs(np.dot(a, b)),
        lambda a, b: np.sum(np.abs(a * b)),
    ),
    mistake(
        "distance-instead",
        "You return the distance between the vectors: small where they agree. "
        "The dot product is large there.",
        "smallest",
        lambda a, b: np.linalg.norm(a - b),
        lambda a, b: np.sum((a - b) ** 2),
    ),
    mistake(
        "changes-input",
        "The result is right, but your function changes b. Work on new arrays: "
        "b *= a writes into the caller's array, a * b makes a new one.",
        "smallest",
        changes_second,
    ),
)

# ----------------------------------------------------------------------------- cosine_similarity

norm = np.linalg.norm

COSINE_SIMILARITY = (
    mistake(
        "not-divided",
        "You return the plain dot product. Divide it by both lengths.",
        "cosine",
        np.dot,
    ),
    mistake(
        "squared-lengths",
        "You divide by the squared lengths. The length of a is sqrt(a · a): a root is missing.",
        "cosine",
        lambda a, b: np.dot(a, b) / (np.dot(a, a) * np.dot(b, b)),
    ),
    mistake(
        "root-of-lengths",
        "You take one root too many: the length of a is sqrt(a · a), and the product of the two "
        "lengths is divided by as it is.",
        "cosine",
        lambda a, b: np.dot(a, b) / math.sqrt(norm(a) * norm(b)),
    ),
    mistake(
        "one-length-only",
        "You divide by the length of one vector only. Stretching the other still changes your "
        "result; a cosine depends on directions alone.",
        "cosine",
        lambda a, b: np.dot(a, b) / norm(a),
        lambda a, b: np.dot(a, b) / norm(b),
    ),
    mistake(
        "same-length-twice",
        "You divide by the length of the same vector twice. Use the length of a and that of b.",
        "cosine",
        lambda a, b: np.dot(a, b) / norm(a) ** 2,
        lambda a, b: np.dot(a, b) / norm(b) ** 2,
    ),
    mistake(
        "lengths-added",
        "You divide by the sum of the lengths. Divide by their product.",
        "cosine",
        lambda a, b: np.dot(a, b) / (norm(a) + norm(b)),
    ),
    mistake(
        "missing-brackets",
        "You divide by the first length and then multiply by the second: x / p * q is (x / p) * q. "
        "Write x / (p * q).",
        "cosine",
        lambda a, b: np.dot(a, b) / norm(a) * norm(b),
    ),
    mistake(
        "sum-for-length",
        "You use a sum of entries as the length. The length is the root of the sum of squares.",
        "cosine",
        lambda a, b: np.dot(a, b) / (np.sum(a) * np.sum(b)),
        lambda a, b: np.dot(a, b) / (np.sum(np.abs(a)) * np.sum(np.abs(b))),
    ),
    mistake(
        "largest-for-length",
        "You use the largest entry as the length. The length is the root of the sum of squares.",
        "cosine",
        lambda a, b: np.dot(a, b) / (np.abs(a).max() * np.abs(b).max()),
        lambda a, b: np.dot(a, b) / (np.max(a) * np.max(b)),
    ),
    mistake(
        "mean-not-sum",
        "Your result is too small by the number of entries: the dot product is a sum, not a mean.",
        "cosine",
        lambda a, b: np.mean(a * b) / (norm(a) * norm(b)),
        lambda a, b: np.dot(a, b) / len(a),
    ),
    mistake(
        "distance-instead",
        "You return 1 - cosine: 0 for the same direction. "
        "The similarity itself is 1 for the same direction.",
        "cosine",
        lambda a, b: 1 - np.dot(a, b) / (norm(a) * norm(b)),
    ),
    mistake(
        "sign-lost",
        "Your result is never negative. Opposite vectors have cosine -1: take no absolute value.",
        "sign",
        lambda a, b: abs(np.dot(a, b)) / (norm(a) * norm(b)),
    ),
    mistake(
        "negative-cut-off",
        "Your result is 0 where it should be negative: a cosine lies between -1 and 1.",
        "sign",
        lambda a, b: max(0.0, np.dot(a, b) / (norm(a) * norm(b))),
    ),
    mistake(
        "squared",
        "You return the square of the cosine: the sign is lost and everything else is too small.",
        "cosine",
        lambda a, b: (np.dot(a, b) / (norm(a) * norm(b))) ** 2,
    ),
    mistake(
        "angle-instead",
        "You return the angle. The similarity is its cosine; leave out the arccos.",
        "cosine",
        lambda a, b: np.arccos(np.clip(np.dot(a, b) / (norm(a) * norm(b)), -1, 1)),
        lambda a, b: np.degrees(np.arccos(np.clip(np.dot(a, b) / (norm(a) * norm(b)), -1, 1))),
    ),
    mistake(
        "centred",
        "You subtract the mean from each vector first: that is the correlation. "
        "The cosine is taken of the vectors as they are.",
        "cosine",
        lambda a, b: np.corrcoef(a, b)[0, 1],
    ),
)

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
        "overflow",
        lambda x, axis=-1: naive(x - x.max(), axis),
    ),
    mistake(
        "maximum-of-other-axis",
        "You subtract a maximum taken along another axis than the sum. Numbers that belong to one "
        "sum must all be shifted by the same amount.",
        "overflow",
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
        "You subtract the maximum and divide by the sum, without exp in between.",
        "definition",
        lambda x, axis=-1: (
            (x - x.max(axis=axis, keepdims=True))
            / (x - x.max(axis=axis, keepdims=True)).sum(axis=axis, keepdims=True)
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

# ------------------------------------------------------------------------------ attention_scores

ATTENTION_SCORES = (
    mistake(
        "not-scaled",
        "The dot products are right, but not scaled: divide them by sqrt(d_k), d_k = Q.shape[-1].",
        "scale",
        dots,
    ),
    mistake(
        "scaled-by-d_k",
        "You divide by d_k. The standard deviation of the dot products is sqrt(d_k): "
        "divide by the root.",
        "scale",
        lambda Q, K: dots(Q, K) / Q.shape[-1],
    ),
    mistake(
        "multiplied-by-scale",
        "You multiply by sqrt(d_k): the scores grow instead of shrinking. Divide.",
        "scale",
        lambda Q, K: dots(Q, K) * math.sqrt(Q.shape[-1]),
    ),
    mistake(
        "scaled-by-n_keys",
        "You divide by the root of the number of keys. The scale is the root of d_k, the length of "
        "each query: Q.shape[-1].",
        "scale",
        lambda Q, K: dots(Q, K) / math.sqrt(K.shape[-2]),
        lambda Q, K: dots(Q, K) / math.sqrt(K.shape[0]),
    ),
    mistake(
        "scaled-by-n_queries",
        "You divide by the root of the number of queries. The scale is the root of d_k, the length "
        "of each query: Q.shape[-1], not len(Q) or Q.shape[0].",
        "scale",
        lambda Q, K: dots(Q, K) / math.sqrt(Q.shape[-2]),
        lambda Q, K: dots(Q, K) / math.sqrt(Q.shape[0]),
    ),
    mistake(
        "scaled-by-8",
        "You always divide by 8. That is sqrt(64), right only where d_k is 64. "
        "Use the root of Q.shape[-1].",
        "scale",
        lambda Q, K: dots(Q, K) / 8,
    ),
    mistake(
        "scaled-by-size",
        "You divide by the root of how many numbers Q holds. Use the length of one query: "
        "Q.shape[-1].",
        "scale",
        lambda Q, K: dots(Q, K) / math.sqrt(Q.size),
    ),
    mistake(
        "scaled-once-too-little",
        "You divide by the fourth root of d_k. That is right only if both Q and K are divided by "
        "it; otherwise divide by the square root.",
        "scale",
        lambda Q, K: dots(Q, K) / Q.shape[-1] ** 0.25,
    ),
    mistake(
        "root-of-scores",
        "You take the root of the dot products. Only d_k is under the root.",
        "scale",
        lambda Q, K: np.sqrt(dots(Q, K)),
        lambda Q, K: np.sqrt(dots(Q, K) / Q.shape[-1]),
    ),
    mistake(
        "whole-division",
        "You divide with //, which rounds down. Divide with /.",
        "scale",
        lambda Q, K: dots(Q, K) // math.sqrt(Q.shape[-1]),
    ),
    mistake(
        "queries-and-keys-swapped",
        "Your table is transposed: queries and keys have changed places. Row i belongs to query i, "
        "column j to key j.",
        "table",
        lambda Q, K: scores(K, Q),
        lambda Q, K: np.dot(K, Q.T) / math.sqrt(Q.shape[-1]),
    ),
    mistake(
        "features-by-features",
        "You compute Q.T @ K: it adds up over tokens and compares features. Q @ K.T adds up over "
        "features and compares tokens.",
        "table",
        lambda Q, K: flip(Q) @ K / math.sqrt(Q.shape[-1]),
        lambda Q, K: flip(Q) @ K,
    ),
    mistake(
        "keys-not-transposed",
        "You multiply Q @ K without transposing K: that pairs the features of a query with "
        "different keys, or does not fit at all.",
        "table",
        lambda Q, K: Q @ K / math.sqrt(Q.shape[-1]),
        lambda Q, K: Q @ K,
    ),
    mistake(
        "same-position-only",
        "You compare query i with key i only. Every query meets every key.",
        "table",
        lambda Q, K: (Q * K).sum(axis=-1) / math.sqrt(Q.shape[-1]),
        lambda Q, K: Q * K / math.sqrt(Q.shape[-1]),
        lambda Q, K: (Q * K).sum(axis=-1),
        lambda Q, K: Q * K,
    ),
    mistake(
        "queries-for-keys",
        "You compare the queries with the queries; K has no influence.",
        "three-matrices",
        lambda Q, K: scores(Q, Q),
        lambda Q, K: dots(Q, Q),
    ),
    mistake(
        "keys-for-queries",
        "You compare the keys with the keys; Q has no influence.",
        "three-matrices",
        lambda Q, K: scores(K, K),
        lambda Q, K: dots(K, K),
    ),
    mistake(
        "all-axes-reversed",
        "K.T reverses all axes. That is right for one matrix and wrong for a batch: swap the last "
        "two axes only, K.swapaxes(-1, -2).",
        "table",
        lambda Q, K: Q @ K.T / math.sqrt(Q.shape[-1]),
        lambda Q, K: np.dot(Q, K.T) / math.sqrt(Q.shape[-1]),
    ),
    mistake(
        "batches-mixed",
        "np.dot (and tensordot) multiplies every matrix of one batch with every matrix of the "
        "other. Use @ (np.matmul): it keeps them apart.",
        "table",
        lambda Q, K: np.dot(Q, flip(K)) / math.sqrt(Q.shape[-1]),
        lambda Q, K: np.tensordot(Q, K, axes=(-1, -1)) / math.sqrt(Q.shape[-1]),
    ),
    mistake(
        "softmax-already",
        "You return weights: the softmax is the next step. Scores are any real numbers.",
        "table",
        lambda Q, K: softmax(scores(Q, K)),
        lambda Q, K: softmax(scores(Q, K), axis=-2),
    ),
    mistake(
        "cosines",
        "You divide by the lengths of queries and keys (cosines). Only sqrt(d_k) is divided by; "
        "the lengths count.",
        "scale",
        lambda Q, K: dots(Q, K) / (norm(Q, axis=-1)[..., None] * norm(K, axis=-1)[..., None, :]),
    ),
)

# ----------------------------------------------------------------------------------- causal_mask


def tri(n, k=0):
    return np.tri(n, k=k, dtype=bool)


NOT_BOOLEAN = (
    "The right positions, but as numbers. A mask is boolean here (True = may attend), and no "
    "function of the package accepts another: ~mask of numbers, or scores[mask], would do "
    "something else. Use dtype=bool or a comparison."
)

CAUSAL_MASK = (
    mistake(
        "not-boolean",
        NOT_BOOLEAN,
        "boolean",
        lambda n: np.tri(n),
        lambda n: np.tri(n, dtype=int),
    ),
    mistake(
        "upper-triangle",
        "Your mask is transposed: each query sees itself and the *later* keys. With queries as "
        "rows the lower triangle is True.",
        "triangles",
        lambda n: ~tri(n, -1),
        lambda n: np.triu(np.ones((n, n))),
    ),
    mistake(
        "inverted",
        "True and False are exchanged: your mask is True where a key is hidden. "
        "True means may attend.",
        "boolean",
        lambda n: ~tri(n),
        lambda n: np.triu(np.ones((n, n)), k=1),
    ),
    mistake(
        "no-diagonal",
        "A token cannot attend to itself in your mask, and the first one to nothing at all. "
        "The diagonal is True.",
        "triangles",
        lambda n: tri(n, -1),
        lambda n: np.tri(n, k=-1),
    ),
    mistake(
        "one-step-ahead",
        "Each query sees one token of the future: the triangle starts one diagonal too far.",
        "future",
        lambda n: tri(n, 1),
        lambda n: np.tri(n, k=1),
    ),
    mistake(
        "additive",
        "You return an additive mask (0 and a very negative number). Here a mask is boolean, "
        "True = may attend; the -inf comes later, when the scores are replaced.",
        "boolean",
        lambda n: np.where(tri(n), 0.0, -np.inf),
        lambda n: np.where(tri(n), 0.0, -1e9),
        lambda n: np.where(tri(n), 0.0, -1e10),
        lambda n: np.where(tri(n), 0.0, -10000.0),
        lambda n: np.where(tri(n), 1.0, -np.inf),
        lambda n: np.triu(np.full((n, n), -np.inf), k=1),
    ),
    mistake(
        "all-true",
        "Nothing is hidden in your mask: every query sees the future.",
        "future",
        lambda n: np.ones((n, n), dtype=bool),
        lambda n: np.ones((n, n)),
    ),
    mistake(
        "diagonal-only",
        "Each token sees only itself. It may also attend to all tokens before it.",
        "triangles",
        lambda n: np.eye(n, dtype=bool),
        lambda n: np.eye(n),
    ),
    mistake(
        "one-step-back",
        "Each token sees itself and the one before it only. It may attend to all tokens before it.",
        "triangles",
        lambda n: tri(n) & ~tri(n, -2),
    ),
    mistake(
        "everything-but-the-next",
        "Only the next token is hidden; those after it are visible. All later tokens are hidden.",
        "future",
        lambda n: ~np.eye(n, k=1, dtype=bool),
    ),
    mistake(
        "upside-down",
        "The order of the rows is reversed: the first query (top row) sees only the first key.",
        "triangles",
        lambda n: tri(n)[::-1],
    ),
    mistake(
        "left-right-reversed",
        "The order of the columns is reversed: the first query (top row) sees only the first key, "
        "which is the leftmost column.",
        "triangles",
        lambda n: tri(n)[:, ::-1],
    ),
    mistake(
        "too-large",
        "Your mask is one row and one column too large: n tokens give an (n, n) mask.",
        "triangles",
        lambda n: tri(n + 1),
    ),
    mistake(
        "one-row-only",
        "You return one row. Each of the n queries has a row of its own.",
        "triangles",
        lambda n: np.ones(n, dtype=bool),
    ),
)

# ---------------------------------------------------------------------------------- padding_mask


def real(lengths, n_keys, shift=0):
    """(batch, n_keys): which keys are real."""
    return np.arange(n_keys) < np.asarray(lengths)[:, None] + shift


PADDING_MASK = (
    mistake(
        "not-boolean",
        NOT_BOOLEAN,
        "boolean",
        lambda lengths, n_keys: real(lengths, n_keys)[:, None, :].astype(float),
        lambda lengths, n_keys: real(lengths, n_keys)[:, None, :].astype(int),
    ),
    mistake(
        "no-query-axis",
        "Your mask has shape (batch, n_keys). It needs an axis for the queries in between, "
        "(batch, 1, n_keys): otherwise it lines up with the wrong axis of the scores.",
        "padding",
        lambda lengths, n_keys: real(lengths, n_keys),
    ),
    mistake(
        "hides-queries",
        "Your mask has shape (batch, n_keys, 1): that hides the padding as *queries* and leaves "
        "it visible as keys. The keys are the last axis: (batch, 1, n_keys).",
        "padding",
        lambda lengths, n_keys: real(lengths, n_keys)[:, :, None],
    ),
    mistake(
        "hides-queries-too",
        "You hide padding as keys and as queries. Padding queries then have nothing to attend to, "
        "for no gain: their outputs are ignored anyway. Hide keys only, shape (batch, 1, n_keys).",
        "padding",
        lambda lengths, n_keys: (
            real(lengths, n_keys)[:, None, :] & real(lengths, n_keys)[:, :, None]
        ),
    ),
    mistake(
        "repeated-for-queries",
        "You repeat the same row for every query. Padding does not depend on the query: an axis of "
        "size 1 is enough, (batch, 1, n_keys), and fits any number of queries.",
        "padding",
        lambda lengths, n_keys: np.repeat(real(lengths, n_keys)[:, None, :], n_keys, axis=1),
    ),
    mistake(
        "batch-axis-moved",
        "The axes are in the wrong order: the batch comes first, then the axis of size 1 for the "
        "queries, then the keys.",
        "padding",
        lambda lengths, n_keys: real(lengths, n_keys)[None],
        lambda lengths, n_keys: real(lengths, n_keys).T[None],
        lambda lengths, n_keys: real(lengths, n_keys).T[:, None, :],
    ),
    mistake(
        "transposed",
        "Your mask has the keys first and the batch last.",
        "padding",
        lambda lengths, n_keys: real(lengths, n_keys).T,
    ),
    mistake(
        "inverted",
        "True and False are exchanged: your mask is True for the padding. True means may attend.",
        "boolean",
        lambda lengths, n_keys: ~real(lengths, n_keys)[:, None, :],
        lambda lengths, n_keys: ~real(lengths, n_keys),
        lambda lengths, n_keys: (~real(lengths, n_keys))[:, None, :].astype(float),
        lambda lengths, n_keys: (~real(lengths, n_keys)).astype(float),
    ),
    mistake(
        "one-too-many",
        "One padding key is visible: with length 2 the real keys are 0 and 1. Compare with <, "
        "not <=.",
        "padding",
        lambda lengths, n_keys: real(lengths, n_keys, 1)[:, None, :],
        lambda lengths, n_keys: real(lengths, n_keys, 1),
    ),
    mistake(
        "one-too-few",
        "The last real key is hidden: with length 2 the real keys are 0 and 1.",
        "padding",
        lambda lengths, n_keys: real(lengths, n_keys, -1)[:, None, :],
        lambda lengths, n_keys: real(lengths, n_keys, -1),
    ),
    mistake(
        "padding-in-front",
        "You hide keys at the beginning. The padding stands at the end.",
        "padding",
        lambda lengths, n_keys: real(lengths, n_keys)[:, None, ::-1],
        lambda lengths, n_keys: real(lengths, n_keys)[:, ::-1],
    ),
    mistake(
        "one-length-for-all",
        "All sequences get the same mask. Each has its own length.",
        "padding",
        lambda lengths, n_keys: real(np.full(len(lengths), max(lengths)), n_keys)[:, None, :],
        lambda lengths, n_keys: real(np.full(len(lengths), lengths[0]), n_keys)[:, None, :],
        lambda lengths, n_keys: np.arange(n_keys) < max(lengths),
        lambda lengths, n_keys: np.arange(n_keys) < lengths[0],
    ),
    mistake(
        "nothing-hidden",
        "Nothing is hidden in your mask: the lengths have no influence.",
        "padding",
        lambda lengths, n_keys: np.ones((len(lengths), 1, n_keys), dtype=bool),
        lambda lengths, n_keys: np.ones((len(lengths), n_keys), dtype=bool),
    ),
    mistake(
        "too-narrow",
        "Your mask is as wide as the longest sequence. It must be as wide as the scores: n_keys.",
        "padding",
        lambda lengths, n_keys: real(lengths, max(lengths))[:, None, :],
        lambda lengths, n_keys: real(lengths, max(lengths)),
    ),
    mistake(
        "last-key-only",
        "One key is marked for each sequence. All keys before the length are real.",
        "padding",
        lambda lengths, n_keys: (np.arange(n_keys) == np.asarray(lengths)[:, None] - 1)[:, None, :],
        lambda lengths, n_keys: (np.arange(n_keys) == np.asarray(lengths)[:, None])[:, None, :],
    ),
    mistake(
        "additive",
        "You return an additive mask (0 and a very negative number). Here a mask is boolean, "
        "True = may attend.",
        "boolean",
        lambda lengths, n_keys: np.where(real(lengths, n_keys)[:, None, :], 0.0, -np.inf),
        lambda lengths, n_keys: np.where(real(lengths, n_keys)[:, None, :], 0.0, -1e9),
        lambda lengths, n_keys: np.where(real(lengths, n_keys), 0.0, -np.inf),
        lambda lengths, n_keys: np.where(real(lengths, n_keys), 0.0, -1e9),
    ),
    mistake(
        "only-causal",
        "Your mask is a triangle: it hides later keys, not padding.",
        "padding",
        lambda lengths, n_keys: np.broadcast_to(tri(n_keys), (len(lengths), n_keys, n_keys)),
        lambda lengths, n_keys: real(lengths, n_keys)[:, None, :] & tri(n_keys),
    ),
)

# -------------------------------------------------------------------------------- masked_softmax


def changes_scores(scores, mask):
    scores[np.broadcast_to(~mask, scores.shape)] = -np.inf
    return masked(scores)


def renormalised_over_columns(scores, mask):
    A = softmax(scores) * mask
    return A / A.sum(axis=-2, keepdims=True)


def max_over_masked_too(scores, mask):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True)) * mask
    return e / e.sum(axis=-1, keepdims=True)


MASKED_SOFTMAX = (
    mistake(
        "empty-row-nan",
        "A query with nothing to attend to gives nan (0 / 0, or -inf minus -inf). "
        "Its weights must be 0.",
        "empty",
        lambda scores, mask: softmax(hidden(scores, mask)),
    ),
    mistake(
        "empty-row-uniform",
        "A query with nothing to attend to gets equal weights for all its masked keys, because "
        "equal very negative numbers are as good as equal zeros. Its weights must be 0.",
        "empty",
        lambda scores, mask: softmax(hidden(scores, mask, -1e9)),
        lambda scores, mask: softmax(hidden(scores, mask, -1e4)),
    ),
    mistake(
        "empty-row-unmasked",
        "A query with nothing to attend to gets the weights it would have without a mask: "
        "adding the same very negative number to all its scores changes nothing. "
        "Its weights must be 0.",
        "empty",
        lambda scores, mask: softmax(scores + (1 - numbers_of(mask)) * -1e9),
        lambda scores, mask: softmax(scores + (1 - numbers_of(mask)) * -1e4),
    ),
    mistake(
        "mask-ignored",
        "The mask has no influence on your result.",
        "before-softmax",
        lambda scores, mask: softmax(scores),
        lambda scores, mask: naive(scores),
    ),
    mistake(
        "inverted",
        "You hide what may be attended to, and show what is masked. True means may attend.",
        "boolean",
        lambda scores, mask: masked(scores, ~mask),
        lambda scores, mask: softmax(np.where(mask, -np.inf, scores)),
        lambda scores, mask: softmax(np.where(mask, -1e9, scores)),
    ),
    mistake(
        "scores-set-to-zero",
        "You set masked scores to 0. exp(0) is 1, so masked keys still get weight. "
        "Use -inf: exp(-inf) is 0.",
        "before-softmax",
        lambda scores, mask: softmax(scores * mask),
        lambda scores, mask: naive(scores * mask),
    ),
    mistake(
        "mask-added",
        "You add the mask to the scores: True counts as 1 and hides nothing.",
        "before-softmax",
        lambda scores, mask: softmax(scores + mask),
        lambda scores, mask: naive(scores + mask),
    ),
    mistake(
        "zeroed-after-softmax",
        "You set weights to 0 after the softmax: the rest no longer adds up to 1. "
        "Mask the scores before it.",
        "before-softmax",
        lambda scores, mask: softmax(scores) * mask,
        lambda scores, mask: naive(scores) * mask,
    ),
    mistake(
        "infinite-after-softmax",
        "You put -inf into the weights after the softmax. Put it into the scores before it.",
        "before-softmax",
        lambda scores, mask: np.where(mask, softmax(scores), -np.inf),
    ),
    mistake(
        "softmax-twice",
        "You apply a softmax, then the mask, then a softmax again. "
        "Mask the scores, then one softmax.",
        "before-softmax",
        lambda scores, mask: softmax(hidden(softmax(scores), mask)),
        lambda scores, mask: masked(softmax(scores), mask),
        lambda scores, mask: softmax(softmax(scores) * mask),
    ),
    mistake(
        "masked-maximum",
        "You subtract the maximum of all scores, also of masked ones. A large masked score then "
        "makes all others vanish: 0 / 0. Masked scores may not influence anything.",
        "before-softmax",
        max_over_masked_too,
        lambda scores, mask: zeros_for_nan(max_over_masked_too(scores, mask)),
        lambda scores, mask: (
            softmax(scores) * mask / ((softmax(scores) * mask).sum(axis=-1, keepdims=True) + 1e-9)
        ),
    ),
    mistake(
        "overflow",
        "exp of a large score is inf, and inf / inf is nan. Subtract the largest *allowed* score "
        "of the row first.",
        "before-softmax",
        lambda scores, mask: naive(hidden(scores, mask)),
        lambda scores, mask: zeros_for_nan(naive(hidden(scores, mask))),
        lambda scores, mask: (
            np.exp(scores) * mask / (np.exp(scores) * mask).sum(axis=-1, keepdims=True)
        ),
        lambda scores, mask: zeros_for_nan(
            np.exp(scores) * mask / (np.exp(scores) * mask).sum(axis=-1, keepdims=True)
        ),
    ),
    mistake(
        "not-negative-enough",
        "Your replacement for masked scores is not negative enough: masked keys keep a trace of "
        "weight, or even win against very negative scores. Use -inf.",
        "before-softmax",
        lambda scores, mask: softmax(hidden(scores, mask, -10)),
        lambda scores, mask: softmax(hidden(scores, mask, -100)),
        lambda scores, mask: softmax(hidden(scores, mask, -1000)),
        lambda scores, mask: softmax(scores + (1 - numbers_of(mask)) * -10),
        lambda scores, mask: softmax(scores + (1 - numbers_of(mask)) * -100),
        lambda scores, mask: softmax(scores + (1 - numbers_of(mask)) * -1000),
    ),
    mistake(
        "plus-infinity",
        "You replace masked scores by +inf, nan or a huge number: the row becomes nan, or the "
        "masked keys take everything. Use -inf.",
        "before-softmax",
        lambda scores, mask: softmax(hidden(scores, mask, np.inf)),
        lambda scores, mask: softmax(hidden(scores, mask, 1e9)),
        lambda scores, mask: softmax(hidden(scores, mask, np.nan)),
    ),
    mistake(
        "zero-times-infinity",
        "You multiply the mask by -inf: 0 * inf is nan, so every *allowed* score becomes nan. "
        "Choose with np.where(mask, scores, -np.inf).",
        "before-softmax",
        lambda scores, mask: softmax(scores + (1 - numbers_of(mask)) * -np.inf),
    ),
    mistake(
        "wrong-axis",
        "Your columns add up to 1, not your rows: the softmax runs over the queries. "
        "It runs over the keys, the last axis.",
        "before-softmax",
        lambda scores, mask: masked(scores, mask, axis=-2),
        lambda scores, mask: masked(scores, mask, axis=0),
        lambda scores, mask: softmax(hidden(scores, mask), axis=-2),
        lambda scores, mask: softmax(hidden(scores, mask), axis=0),
    ),
    mistake(
        "whole-array",
        "All weights together add up to 1. Each row must add up to 1 by itself.",
        "before-softmax",
        lambda scores, mask: (
            np.exp(hidden(scores, mask) - np.max(hidden(scores, mask)))
            / np.exp(hidden(scores, mask) - np.max(hidden(scores, mask))).sum()
        ),
    ),
    mistake(
        "renormalised-over-columns",
        "After masking you divide by the sums of the columns. Divide by the sums of the rows.",
        "before-softmax",
        renormalised_over_columns,
    ),
    mistake(
        "not-divided",
        "You return masked exponentials. Divide each row by its sum.",
        "before-softmax",
        lambda scores, mask: np.exp(hidden(scores, mask)),
        lambda scores, mask: np.exp(
            hidden(scores, mask) - hidden(scores, mask).max(axis=-1, keepdims=True)
        ),
        lambda scores, mask: np.exp(scores) * mask,
    ),
    mistake(
        "masked-scores-returned",
        "You return the masked scores; the softmax is missing.",
        "before-softmax",
        hidden,
        lambda scores, mask: scores * mask,
    ),
    mistake(
        "mask-transposed",
        "Your mask is transposed: rows are queries, columns are keys.",
        "triangles",
        lambda scores, mask: masked(scores, flip(mask)),
        lambda scores, mask: masked(scores, mask.T),
    ),
    mistake(
        "masked-keys-removed",
        "You remove the masked keys, so the result has another shape. They stay, with weight 0.",
        "before-softmax",
        lambda scores, mask: softmax(scores[np.broadcast_to(mask, scores.shape)]),
    ),
    mistake(
        "first-mask-for-all",
        "You use the mask of the first sequence for the whole batch.",
        "padding",
        lambda scores, mask: masked(scores, mask[0] if mask.ndim == scores.ndim > 2 else mask),
        lambda scores, mask: masked(scores, mask[0]),
    ),
    mistake(
        "first-row-for-all",
        "You use the first row of the mask for every query. Each query has its own row.",
        "before-softmax",
        lambda scores, mask: masked(scores, mask[..., :1, :]),
    ),
    mistake(
        "always-causal",
        "You use a causal mask of your own. Use the mask that is passed in.",
        "before-softmax",
        lambda scores, mask: masked(scores, np.tri(*scores.shape[-2:], dtype=bool)),
    ),
    mistake(
        "changes-input",
        "The weights are right, but your function writes -inf into the caller's scores. "
        "np.where makes a new array.",
        "before-softmax",
        changes_scores,
    ),
)

# ------------------------------------------------------------------------------- weighted_values


def weights_overwritten(weights, V):
    result = weights @ V
    weights[...] = 0
    return result


WEIGHTED_VALUES = (
    mistake(
        "weights-transposed",
        "You use the weights transposed: each key then hands out by column. "
        "Row i of the weights belongs to query i.",
        "weighted-sum",
        lambda weights, V: flip(weights) @ V,
        lambda weights, V: weights.T @ V,
    ),
    mistake(
        "order-swapped",
        "You compute V @ weights. The weights come first: each *row* of weights mixes the rows "
        "of V.",
        "weighted-sum",
        lambda weights, V: V @ weights,
    ),
    mistake(
        "values-transposed",
        "You transpose V. The weights add up over keys, and the keys are the rows of V already.",
        "weighted-sum",
        lambda weights, V: weights @ flip(V),
        lambda weights, V: weights @ V.T,
    ),
    mistake(
        "output-transposed",
        "Your result is transposed: rows are queries, columns are the features of the values.",
        "weighted-sum",
        lambda weights, V: flip(weights @ V),
    ),
    mistake(
        "elementwise",
        "You multiply entry by entry (*). Each output row is a sum over all keys: use @.",
        "weighted-sum",
        lambda weights, V: weights * V,
    ),
    mistake(
        "not-added-up",
        "You weight the values but do not add them up over the keys.",
        "weighted-sum",
        lambda weights, V: weights[..., None] * V[..., None, :, :],
    ),
    mistake(
        "added-over-wrong-axis",
        "You add up over the wrong axis: over the queries or the features, not over the keys.",
        "weighted-sum",
        lambda weights, V: (weights[..., None] * V[..., None, :, :]).sum(axis=-3),
        lambda weights, V: (weights[..., None] * V[..., None, :, :]).sum(axis=-1),
        lambda weights, V: (weights[..., None] * V[..., None, :, :]).sum(axis=0),
    ),
    mistake(
        "weights-ignored",
        "Every query gets the plain mean (or sum) of the values: the weights have no influence.",
        "weighted-sum",
        lambda weights, V: np.zeros_like(weights) @ V + V.mean(axis=-2, keepdims=True),
        lambda weights, V: np.ones_like(weights) @ V,
        lambda weights, V: V.mean(axis=-2),
    ),
    mistake(
        "mean-not-sum",
        "You divide by the number of keys. The weights add up to 1 already.",
        "weighted-sum",
        lambda weights, V: weights @ V / V.shape[-2],
    ),
    mistake(
        "softmax-again",
        "You apply a softmax to the weights. They are weights already.",
        "weighted-sum",
        lambda weights, V: softmax(weights) @ V,
    ),
    mistake(
        "renormalised",
        "You divide the weights by their sum once more. A row of zeros (a query with nothing to "
        "attend to) becomes 0 / 0; its output must be 0.",
        "weighted-sum",
        lambda weights, V: weights / weights.sum(axis=-1, keepdims=True) @ V,
    ),
    mistake(
        "largest-only",
        "You take only the value with the largest weight. All values count, each by its weight.",
        "weighted-sum",
        lambda weights, V: np.take_along_axis(V, weights.argmax(axis=-1)[..., None], axis=-2),
    ),
    mistake(
        "values-added",
        "You add the values to the result: that is not part of the weighted sum.",
        "residual",
        lambda weights, V: weights @ V + V,
    ),
    mistake(
        "batches-mixed",
        "np.dot (and tensordot) multiplies every matrix of one batch with every matrix of the "
        "other. Use @ (np.matmul): it keeps them apart.",
        "all-at-once",
        np.dot,
    ),
    mistake(
        "first-query-only",
        "You return the output of one query only. There is one row for each query.",
        "all-at-once",
        lambda weights, V: (weights @ V)[..., 0, :],
        lambda weights, V: (weights @ V)[..., -1, :],
    ),
    mistake(
        "integers-cut",
        "Your result is cut to integers: you write into an array of the dtype of V. "
        "Use a float array.",
        "weighted-sum",
        lambda weights, V: (weights @ V).astype(V.dtype),
        lambda weights, V: (weights @ V).astype(int),
    ),
    mistake(
        "changes-input",
        "The result is right, but your function changes its inputs. Work on new arrays.",
        "weighted-sum",
        weights_overwritten,
    ),
)

# ------------------------------------------------------------------------------------- attention


def attend(Q, K, V, mask=None, weights=masked, scale=None):
    """The right attention, with parts to exchange."""
    scale = 1 / math.sqrt(Q.shape[-1]) if scale is None else scale
    return weights(dots(Q, K) * scale, mask) @ V


def softmax_with(value):
    """Weights with another replacement for masked scores."""
    return lambda S, mask: softmax(hidden(S, mask, value))


def added(value):
    """Weights with something added to masked scores."""
    return lambda S, mask: softmax(S + (1 - numbers_of(mask)) * value)


def only_when_masked(S, mask):
    return softmax(S) if mask is None else softmax(S) * mask


def refuses_arrays(Q, K, V, mask=None):
    S = scores(Q, K)
    if mask:
        S = hidden(S, mask)
    return masked(S) @ V


ATTENTION = (
    mistake(
        "not-scaled",
        "The scores are not scaled: divide Q @ K.T by sqrt(d_k) before the softmax.",
        "scale",
        lambda Q, K, V, mask=None: attend(Q, K, V, mask, scale=1.0),
    ),
    mistake(
        "scaled-by-d_k",
        "You divide the scores by d_k. Divide by its square root.",
        "scale",
        lambda Q, K, V, mask=None: attend(Q, K, V, mask, scale=1 / Q.shape[-1]),
    ),
    mistake(
        "multiplied-by-scale",
        "You multiply the scores by sqrt(d_k). Divide by it.",
        "scale",
        lambda Q, K, V, mask=None: attend(Q, K, V, mask, scale=math.sqrt(Q.shape[-1])),
    ),
    mistake(
        "scaled-by-d_v",
        "You divide the scores by the root of d_v, the length of the values. Scores are dot "
        "products of queries and keys: d_k = Q.shape[-1].",
        "scale",
        lambda Q, K, V, mask=None: attend(Q, K, V, mask, scale=1 / math.sqrt(V.shape[-1])),
    ),
    mistake(
        "scaled-by-n_keys",
        "You divide the scores by the root of the number of keys. The scale is the root of d_k, "
        "the length of each query: Q.shape[-1].",
        "scale",
        lambda Q, K, V, mask=None: attend(Q, K, V, mask, scale=1 / math.sqrt(K.shape[-2])),
        lambda Q, K, V, mask=None: attend(Q, K, V, mask, scale=1 / math.sqrt(K.shape[0])),
    ),
    mistake(
        "scaled-by-n_queries",
        "You divide the scores by the root of the number of queries. The scale is the root of d_k, "
        "the length of each query: Q.shape[-1], not len(Q) or Q.shape[0].",
        "scale",
        lambda Q, K, V, mask=None: attend(Q, K, V, mask, scale=1 / math.sqrt(Q.shape[-2])),
        lambda Q, K, V, mask=None: attend(Q, K, V, mask, scale=1 / math.sqrt(Q.shape[0])),
    ),
    mistake(
        "scaled-by-8",
        "You always divide the scores by 8. That is sqrt(64), right only where d_k is 64. "
        "Use the root of Q.shape[-1].",
        "scale",
        lambda Q, K, V, mask=None: attend(Q, K, V, mask, scale=1 / 8),
    ),
    mistake(
        "scaled-after-softmax",
        "You divide the weights by sqrt(d_k), after the softmax: they no longer add up to 1. "
        "Divide the scores before it.",
        "scale",
        lambda Q, K, V, mask=None: attend(Q, K, V, mask, scale=1.0) / math.sqrt(Q.shape[-1]),
    ),
    mistake(
        "no-softmax",
        "The softmax is missing: you mix the values by scores.",
        "before-softmax",
        lambda Q, K, V, mask=None: scores(Q, K) @ V,
        lambda Q, K, V, mask=None: scores(Q, K) * numbers_of(mask) @ V,
        lambda Q, K, V, mask=None: hidden(scores(Q, K), mask) @ V,
    ),
    mistake(
        "no-softmax-no-scale",
        "Scale and softmax are both missing: you compute Q @ K.T @ V.",
        "scale",
        lambda Q, K, V, mask=None: dots(Q, K) @ V,
        lambda Q, K, V, mask=None: dots(Q, K) * numbers_of(mask) @ V,
    ),
    mistake(
        "wrong-axis",
        "Your softmax runs over the queries: the weights of a query do not add up to 1. "
        "It runs over the keys, the last axis of the scores.",
        "before-softmax",
        lambda Q, K, V, mask=None: masked(scores(Q, K), mask, axis=-2) @ V,
        lambda Q, K, V, mask=None: masked(scores(Q, K), mask, axis=0) @ V,
        lambda Q, K, V, mask=None: softmax(hidden(scores(Q, K), mask), axis=-2) @ V,
        lambda Q, K, V, mask=None: softmax(hidden(scores(Q, K), mask), axis=0) @ V,
    ),
    mistake(
        "axis-fixed-at-1",
        "Your softmax runs over axis 1. With a batch that is the queries. "
        "Use the last axis, axis=-1.",
        "all-at-once",
        lambda Q, K, V, mask=None: masked(scores(Q, K), mask, axis=1) @ V,
        lambda Q, K, V, mask=None: softmax(hidden(scores(Q, K), mask), axis=1) @ V,
    ),
    mistake(
        "whole-array",
        "All weights together add up to 1. The weights of each query must add up to 1.",
        "before-softmax",
        lambda Q, K, V, mask=None: (
            np.exp(hidden(scores(Q, K), mask)) / np.exp(hidden(scores(Q, K), mask)).sum() @ V
        ),
    ),
    mistake(
        "overflow",
        "exp of a large score is inf, and inf / inf is nan. "
        "Subtract the largest allowed score of each row before exp.",
        "overflow",
        lambda Q, K, V, mask=None: naive(hidden(scores(Q, K), mask)) @ V,
        lambda Q, K, V, mask=None: zeros_for_nan(naive(hidden(scores(Q, K), mask))) @ V,
    ),
    mistake(
        "queries-and-keys-swapped",
        "Queries and keys have changed places in the scores.",
        "table",
        lambda Q, K, V, mask=None: attend(K, Q, V, mask),
        lambda Q, K, V, mask=None: masked(flip(scores(Q, K)), mask) @ V,
    ),
    mistake(
        "keys-not-transposed",
        "You multiply Q @ K without transposing K.",
        "table",
        lambda Q, K, V, mask=None: masked(Q @ K / math.sqrt(Q.shape[-1]), mask) @ V,
    ),
    mistake(
        "all-axes-reversed",
        "K.T reverses all axes. That is right for one matrix and wrong for a batch: swap the last "
        "two axes only, K.swapaxes(-1, -2).",
        "all-at-once",
        lambda Q, K, V, mask=None: masked(Q @ K.T / math.sqrt(Q.shape[-1]), mask) @ V,
    ),
    mistake(
        "keys-for-values",
        "You mix the keys. The weights are for the values: weights @ V.",
        "weighted-sum",
        lambda Q, K, V, mask=None: attend(Q, K, K, mask),
    ),
    mistake(
        "queries-for-values",
        "You mix the queries. The weights are for the values: weights @ V.",
        "weighted-sum",
        lambda Q, K, V, mask=None: attend(Q, K, Q, mask),
    ),
    mistake(
        "queries-for-keys",
        "You compare the queries with the queries; K has no influence.",
        "three-matrices",
        lambda Q, K, V, mask=None: attend(Q, Q, V, mask),
    ),
    mistake(
        "keys-for-queries",
        "You compare the keys with the keys; Q has no influence.",
        "three-matrices",
        lambda Q, K, V, mask=None: attend(K, K, V, mask),
    ),
    mistake(
        "values-for-keys",
        "You compare the queries with the values. Queries are compared with keys.",
        "three-matrices",
        lambda Q, K, V, mask=None: attend(Q, V, V, mask),
    ),
    mistake(
        "weights-returned",
        "You return the weights. The output is weights @ V.",
        "weighted-sum",
        lambda Q, K, V, mask=None: masked(scores(Q, K), mask),
    ),
    mistake(
        "scores-returned",
        "You return the scores. Softmax and values are missing.",
        "weighted-sum",
        lambda Q, K, V, mask=None: scores(Q, K),
        lambda Q, K, V, mask=None: hidden(scores(Q, K), mask),
    ),
    mistake(
        "returns-two-things",
        "You return a tuple of two. Return the output alone.",
        "weighted-sum",
        lambda Q, K, V, mask=None: (attend(Q, K, V, mask), masked(scores(Q, K), mask)),
    ),
    mistake(
        "weights-transposed",
        "You use the weights transposed. Row i of the weights belongs to query i.",
        "weighted-sum",
        lambda Q, K, V, mask=None: flip(masked(scores(Q, K), mask)) @ V,
    ),
    mistake(
        "weights-ignored",
        "Every query gets the plain mean of all values.",
        "weighted-sum",
        lambda Q, K, V, mask=None: attend(Q * 0, K, V),
        lambda Q, K, V, mask=None: attend(Q * 0, K, V, mask),
    ),
    mistake(
        "queries-added",
        "You add the queries (or the values) to the output. That is the residual update, a step "
        "of its own.",
        "residual",
        lambda Q, K, V, mask=None: attend(Q, K, V, mask) + Q,
        lambda Q, K, V, mask=None: attend(Q, K, V, mask) + V,
    ),
    mistake(
        "mask-ignored",
        "The mask has no influence on your result.",
        "before-softmax",
        lambda Q, K, V, mask=None: attend(Q, K, V),
    ),
    mistake(
        "mask-required",
        "Your function fails without a mask. mask=None means that every key is visible.",
        "before-softmax",
        lambda Q, K, V, mask: attend(Q, K, V, mask | mask),
        lambda Q, K, V, mask=None: attend(Q, K, V, mask | mask),
    ),
    mistake(
        "no-mask-parameter",
        "Your function does not accept a mask. Its first line should be like "
        "def attention(Q, K, V, mask=None).",
        "before-softmax",
        lambda Q, K, V: attend(Q, K, V),
    ),
    mistake(
        "truth-of-mask",
        "`if mask:` asks for one truth value of a whole array and fails. "
        "Ask `if mask is not None:`.",
        "before-softmax",
        refuses_arrays,
    ),
    mistake(
        "inverted",
        "You hide what may be attended to, and show what is masked. True means may attend.",
        "boolean",
        lambda Q, K, V, mask=None: attend(Q, K, V, None if mask is None else ~mask),
        lambda Q, K, V, mask=None: (
            attend(Q, K, V) if mask is None else softmax(np.where(mask, -np.inf, scores(Q, K))) @ V
        ),
        lambda Q, K, V, mask=None: (
            attend(Q, K, V) if mask is None else softmax(np.where(mask, -1e9, scores(Q, K))) @ V
        ),
    ),
    mistake(
        "empty-row-nan",
        "A query with nothing to attend to gives nan. Its output must be 0.",
        "empty",
        lambda Q, K, V, mask=None: attend(Q, K, V, mask, softmax_with(-np.inf)),
    ),
    mistake(
        "empty-row-mean",
        "A query with nothing to attend to gets the mean of all values, because equal very "
        "negative scores give equal weights. Its output must be 0.",
        "empty",
        lambda Q, K, V, mask=None: attend(Q, K, V, mask, softmax_with(-1e9)),
        lambda Q, K, V, mask=None: attend(Q, K, V, mask, softmax_with(-1e4)),
    ),
    mistake(
        "empty-row-unmasked",
        "A query with nothing to attend to gets what it would get without a mask: adding the same "
        "very negative number to all its scores changes nothing. Its output must be 0.",
        "empty",
        lambda Q, K, V, mask=None: attend(Q, K, V, mask, added(-1e9)),
        lambda Q, K, V, mask=None: attend(Q, K, V, mask, added(-1e4)),
    ),
    mistake(
        "scores-set-to-zero",
        "You set masked scores to 0. exp(0) is 1, so masked keys still get weight. Use -inf.",
        "before-softmax",
        lambda Q, K, V, mask=None: softmax(scores(Q, K) * numbers_of(mask)) @ V,
    ),
    mistake(
        "mask-added",
        "You add the boolean mask to the scores: True counts as 1 and hides nothing.",
        "before-softmax",
        lambda Q, K, V, mask=None: softmax(scores(Q, K) + numbers_of(mask)) @ V,
    ),
    mistake(
        "zeroed-after-softmax",
        "You set weights to 0 after the softmax: the rest no longer adds up to 1. "
        "Mask the scores before it.",
        "before-softmax",
        lambda Q, K, V, mask=None: softmax(scores(Q, K)) * numbers_of(mask) @ V,
    ),
    mistake(
        "masked-before-scale",
        "You replace masked scores before the scaling by a number that the scaling then makes too "
        "small, or one that is not negative enough from the start. Use -inf.",
        "before-softmax",
        lambda Q, K, V, mask=None: softmax(hidden(scores(Q, K), mask, -10)) @ V,
        lambda Q, K, V, mask=None: softmax(hidden(scores(Q, K), mask, -100)) @ V,
        lambda Q, K, V, mask=None: (
            softmax(hidden(dots(Q, K), mask, -100) / math.sqrt(Q.shape[-1])) @ V
        ),
    ),
    mistake(
        "zero-times-infinity",
        "You multiply the mask by -inf: 0 * inf is nan, so every allowed score becomes nan. "
        "Choose with np.where(mask, scores, -np.inf).",
        "before-softmax",
        lambda Q, K, V, mask=None: (
            attend(Q, K, V)
            if mask is None
            else softmax(scores(Q, K) + (1 - numbers_of(mask)) * -np.inf) @ V
        ),
    ),
    mistake(
        "values-masked",
        "You set masked values (or keys) to 0. Their weights stay, so the others get too little. "
        "Mask the scores.",
        "before-softmax",
        lambda Q, K, V, mask=None: (
            attend(Q, K, V)
            if mask is None
            else softmax(scores(Q, K)) @ np.where(mask.any(axis=-2)[..., None], V, 0)
        ),
        lambda Q, K, V, mask=None: (
            attend(Q, K, V)
            if mask is None
            else softmax(scores(Q, np.where(mask.any(axis=-2)[..., None], K, 0))) @ V
        ),
    ),
    mistake(
        "mask-transposed",
        "Your mask is transposed: rows are queries, columns are keys.",
        "triangles",
        lambda Q, K, V, mask=None: attend(Q, K, V, None if mask is None else flip(mask)),
        lambda Q, K, V, mask=None: attend(Q, K, V, None if mask is None else mask.T),
    ),
    mistake(
        "always-causal",
        "You hide the future although no mask says so. Use the mask that is passed in, and none "
        "if it is None.",
        "future",
        lambda Q, K, V, mask=None: attend(Q, K, V, np.tri(Q.shape[-2], K.shape[-2], dtype=bool)),
    ),
    mistake(
        "softmax-twice",
        "You apply the softmax twice: the weights come out too equal.",
        "before-softmax",
        lambda Q, K, V, mask=None: masked(masked(scores(Q, K), mask), mask) @ V,
        lambda Q, K, V, mask=None: softmax(masked(scores(Q, K), mask)) @ V,
        lambda Q, K, V, mask=None: masked(softmax(scores(Q, K)), mask) @ V,
    ),
    mistake(
        "largest-only",
        "Each query takes only the value with the largest score. All values count, each by its "
        "weight.",
        "weighted-sum",
        lambda Q, K, V, mask=None: np.take_along_axis(
            V, hidden(scores(Q, K), mask).argmax(axis=-1)[..., None], axis=-2
        ),
    ),
)

# ------------------------------------------------------------------------------- residual_update


def added_in_place(E, delta_E):
    E += delta_E
    return E


def delta_overwritten(E, delta_E):
    delta_E += E
    return delta_E


def layer_norm(X):
    return (X - X.mean(axis=-1, keepdims=True)) / (X.std(axis=-1, keepdims=True) + 1e-5)


RESIDUAL_UPDATE = (
    mistake(
        "changes-input",
        "Your function writes into the caller's array (+=): what the tokens were is lost, and an "
        "array of integers cannot take fractions. E + delta_E makes a new array.",
        "residual",
        added_in_place,
        delta_overwritten,
    ),
    mistake(
        "replaced",
        "You return the update alone: what the token was is lost. Add the update to it.",
        "residual",
        lambda E, delta_E: delta_E,
    ),
    mistake(
        "not-updated",
        "You return E as it was: the update has no influence.",
        "residual",
        lambda E, delta_E: E,
    ),
    mistake(
        "update-twice",
        "You add the update to itself: E was overwritten before it was used.",
        "residual",
        lambda E, delta_E: delta_E + delta_E,
    ),
    mistake(
        "added-twice",
        "You add the update twice.",
        "residual",
        lambda E, delta_E: E + 2 * delta_E,
    ),
    mistake(
        "embeddings-twice",
        "You count E twice.",
        "residual",
        lambda E, delta_E: 2 * E + delta_E,
    ),
    mistake(
        "subtracted",
        "You subtract. The update is added.",
        "residual",
        lambda E, delta_E: E - delta_E,
        lambda E, delta_E: delta_E - E,
    ),
    mistake(
        "multiplied",
        "You multiply. The update is added.",
        "residual",
        lambda E, delta_E: E * delta_E,
        lambda E, delta_E: E * (1 + delta_E),
    ),
    mistake(
        "averaged",
        "You take the mean of E and the update. Their sum is the new embedding.",
        "residual",
        lambda E, delta_E: (E + delta_E) / 2,
    ),
    mistake(
        "side-by-side",
        "You put the update beside E (concatenate). It is added, entry by entry: the shape stays.",
        "residual",
        lambda E, delta_E: np.concatenate([E, delta_E], axis=-1),
        lambda E, delta_E: np.concatenate([E, delta_E], axis=0),
        lambda E, delta_E: np.stack([E, delta_E]),
    ),
    mistake(
        "one-update-for-all",
        "Every token gets the same update (the sum or mean of all, or that of the first). "
        "Each token has its own row.",
        "residual",
        lambda E, delta_E: E + delta_E.sum(axis=-2, keepdims=True),
        lambda E, delta_E: E + delta_E.mean(axis=-2, keepdims=True),
        lambda E, delta_E: E + delta_E[0],
        lambda E, delta_E: E + delta_E[..., :1, :],
        lambda E, delta_E: E + delta_E[..., -1:, :],
    ),
    mistake(
        "features-added-up",
        "You add the sum of a token's update to each of its features. "
        "Each feature has its own entry.",
        "residual",
        lambda E, delta_E: E + delta_E.sum(axis=-1, keepdims=True),
        lambda E, delta_E: E + delta_E.sum(),
        lambda E, delta_E: E + delta_E.mean(),
    ),
    mistake(
        "accumulated",
        "You carry updates on from token to token. Each token gets its own update only.",
        "residual",
        lambda E, delta_E: E + np.cumsum(delta_E, axis=-2),
    ),
    mistake(
        "last-token-only",
        "Only one token is updated. All are.",
        "residual",
        lambda E, delta_E: np.concatenate(
            [E[..., :-1, :], E[..., -1:, :] + delta_E[..., -1:, :]], axis=-2
        ),
        lambda E, delta_E: np.concatenate(
            [E[..., :1, :] + delta_E[..., :1, :], E[..., 1:, :]], axis=-2
        ),
    ),
    mistake(
        "normalised",
        "You normalise the sum (layer norm or unit length). The update itself is only a sum.",
        "residual",
        lambda E, delta_E: layer_norm(E + delta_E),
        lambda E, delta_E: (E + delta_E) / norm(E + delta_E, axis=-1, keepdims=True),
    ),
    mistake(
        "scaled",
        "You scale the update by the root of d_model. It is added as it is.",
        "residual",
        lambda E, delta_E: E + delta_E / math.sqrt(E.shape[-1]),
        lambda E, delta_E: (E + delta_E) / math.sqrt(E.shape[-1]),
    ),
    mistake(
        "integers-cut",
        "For integer embeddings your result is cut to integers: you write into an array of the "
        "dtype of E. Use a float array.",
        "residual",
        integers_cut(lambda E, delta_E: E + delta_E),
    ),
)

# ----------------------------------------------------------------------------------- split_heads


def in_rows(X, n_heads):
    """(..., n, n_heads, d): each row cut into pieces."""
    return X.reshape(*X.shape[:-1], n_heads, -1)


def split(X, n_heads):
    return np.swapaxes(in_rows(X, n_heads), -3, -2)


SPLIT_HEADS = (
    mistake(
        "bare-reshape",
        "The shape is right, the contents are not: reshaping straight to (n_heads, n, d) deals out "
        "whole rows, so one head gets the first tokens and another the last. "
        "Reshape to (n, n_heads, d), then swap the first two of these axes.",
        "reshape",
        lambda X, n_heads: X.reshape(*X.shape[:-2], n_heads, X.shape[-2], -1),
    ),
    mistake(
        "axes-not-swapped",
        "Your result has shape (n, n_heads, d). The heads come before the tokens: swap the axes.",
        "reshape",
        in_rows,
    ),
    mistake(
        "interleaved",
        "You deal the columns out one by one. A head gets a block of neighbouring columns: "
        "head 0 the first d, head 1 the next d.",
        "reshape",
        lambda X, n_heads: np.moveaxis(X.reshape(*X.shape[:-1], -1, n_heads), -1, -3),
    ),
    mistake(
        "heads-transposed",
        "Each of your heads is transposed: (n_heads, d, n) for (n_heads, n, d).",
        "reshape",
        lambda X, n_heads: np.moveaxis(in_rows(X, n_heads), -3, -1),
    ),
    mistake(
        "scrambled-transpose",
        "You transpose X before reshaping, and the entries end up in the wrong places. "
        "Reshape to (n, n_heads, d) first, then swap axes.",
        "reshape",
        lambda X, n_heads: X.T.reshape(n_heads, X.shape[-2], -1),
        lambda X, n_heads: flip(X).reshape(*X.shape[:-2], n_heads, X.shape[-2], -1),
    ),
    mistake(
        "piece-size-confused",
        "You make pieces of n_heads columns. n_heads is how many pieces there are; each has "
        "width // n_heads columns.",
        "reshape",
        lambda X, n_heads: split(X, X.shape[-1] // n_heads),
        lambda X, n_heads: in_rows(X, X.shape[-1] // n_heads),
    ),
    mistake(
        "tokens-split",
        "You split the rows (tokens) among the heads. Every head sees every token, and a part of "
        "its columns.",
        "reshape",
        lambda X, n_heads: np.stack(np.array_split(X, n_heads, axis=-2)),
        lambda X, n_heads: X.reshape(n_heads, -1, X.shape[-1]),
        lambda X, n_heads: X.reshape(n_heads, X.shape[0] // n_heads, X.shape[1]),
    ),
    mistake(
        "copied-not-split",
        "Every head gets all columns. The columns are divided among the heads.",
        "reshape",
        lambda X, n_heads: np.stack([X] * n_heads, axis=-3),
    ),
    mistake(
        "order-reversed",
        "The heads are in reverse order: head 0 gets the first columns.",
        "reshape",
        lambda X, n_heads: split(X, n_heads)[..., ::-1, :, :],
    ),
    mistake(
        "first-head-only",
        "You return one head. All of them go into one array (n_heads, n, d).",
        "reshape",
        lambda X, n_heads: X[..., : X.shape[-1] // n_heads],
        lambda X, n_heads: X[..., None, :, : X.shape[-1] // n_heads],
    ),
    mistake(
        "always-two-heads",
        "You always make two heads. Use n_heads.",
        "reshape",
        lambda X, n_heads: split(X, 2),
    ),
    mistake(
        "heads-before-batch",
        "For a batch your heads come first. They come after the batch axes: (..., n_heads, n, d).",
        "reshape",
        lambda X, n_heads: np.stack(np.split(X, n_heads, axis=-1)),
    ),
    mistake(
        "batch-lost",
        "One matrix is right, but a batch is not: its axes are fixed numbers in your code. "
        "Count axes from the end (swapaxes(-3, -2)), and keep X.shape[:-2] in front.",
        "reshape",
        lambda X, n_heads: in_rows(X, n_heads).swapaxes(0, 1),
        lambda X, n_heads: X.reshape(X.shape[0], n_heads, -1).swapaxes(0, 1),
        lambda X, n_heads: X.reshape(-1, n_heads, X.shape[-1] // n_heads).swapaxes(0, 1),
        lambda X, n_heads: in_rows(X, n_heads).transpose(1, 0, 2),
        lambda X, n_heads: (lambda n, width: split(X, n_heads))(*X.shape),
    ),
    mistake(
        "unchanged",
        "You return X as it was.",
        "reshape",
        lambda X, n_heads: X,
    ),
)

# ---------------------------------------------------------------------------------- concat_heads


def concat(heads):
    *leading, n_heads, n, d = heads.shape
    return np.swapaxes(heads, -3, -2).reshape(*leading, n, n_heads * d)


CONCAT_HEADS = (
    mistake(
        "bare-reshape",
        "The shape is right, the contents are not: reshaping (n_heads, n, d) straight to "
        "(n, n_heads * d) puts several tokens of one head into one row. "
        "Swap the axes to (n, n_heads, d) first.",
        "concat",
        lambda heads: heads.reshape(*heads.shape[:-3], heads.shape[-2], -1),
    ),
    mistake(
        "stacked-below",
        "You put the heads below each other: (n_heads * n, d). They go side by side, one row for "
        "each token: (n, n_heads * d).",
        "concat",
        lambda heads: heads.reshape(*heads.shape[:-3], -1, heads.shape[-1]),
        lambda heads: np.concatenate(heads, axis=0),
        lambda heads: np.concatenate(list(heads)),
    ),
    mistake(
        "averaged",
        "You average the heads. They are kept, side by side.",
        "concat",
        lambda heads: heads.mean(axis=-3),
        lambda heads: heads.mean(axis=0),
    ),
    mistake(
        "added",
        "You add the heads up. They are kept, side by side.",
        "concat",
        lambda heads: heads.sum(axis=-3),
        lambda heads: heads.sum(axis=0),
    ),
    mistake(
        "order-reversed",
        "The heads are in reverse order: head 0 comes first (left).",
        "concat",
        lambda heads: concat(heads[..., ::-1, :, :]),
    ),
    mistake(
        "interleaved",
        "You take turns between the heads, column by column. Each head's columns stay together.",
        "concat",
        lambda heads: np.moveaxis(heads, -3, -1).reshape(*heads.shape[:-3], heads.shape[-2], -1),
    ),
    mistake(
        "not-joined",
        "You swap the axes but do not join them: (n, n_heads, d) becomes (n, n_heads * d) by a "
        "reshape.",
        "concat",
        lambda heads: np.swapaxes(heads, -3, -2),
    ),
    mistake(
        "first-head-only",
        "You return one head. All heads go side by side.",
        "concat",
        lambda heads: heads[..., 0, :, :],
        lambda heads: heads[..., -1, :, :],
        lambda heads: heads[0],
    ),
    mistake(
        "flattened",
        "You return a single long row. There is one row for each token.",
        "concat",
        lambda heads: heads.reshape(-1),
        lambda heads: heads.reshape(*heads.shape[:-3], -1),
        lambda heads: np.swapaxes(heads, -3, -2).reshape(-1),
    ),
    mistake(
        "output-transposed",
        "Your result is transposed: rows are tokens.",
        "concat",
        lambda heads: flip(concat(heads)),
    ),
    mistake(
        "batch-joined",
        "One set of heads is right, but for a batch you join along the batch axis. "
        "The heads are the third axis from the end.",
        "concat",
        lambda heads: np.concatenate(heads, axis=-1),
        lambda heads: np.hstack(list(heads)),
    ),
    mistake(
        "batch-lost",
        "One set of heads is right, but a batch is not: its axes are fixed numbers in your code. "
        "Count axes from the end, and keep heads.shape[:-3] in front.",
        "concat",
        lambda heads: heads.swapaxes(0, 1).reshape(heads.shape[1], -1),
        lambda heads: np.swapaxes(heads, -3, -2).reshape(heads.shape[-2], -1),
        lambda heads: np.swapaxes(heads, -3, -2).reshape(-1, heads.shape[-3] * heads.shape[-1]),
        lambda heads: heads.transpose(1, 0, 2).reshape(heads.shape[1], -1),
        lambda heads: (lambda n_heads, n, d: concat(heads))(*heads.shape),
    ),
    mistake(
        "always-two-heads",
        "You join the first two heads only.",
        "concat",
        lambda heads: concat(heads[..., :2, :, :]),
    ),
    mistake(
        "unchanged",
        "You return the heads as they were.",
        "concat",
        lambda heads: heads,
    ),
)

# ------------------------------------------------------------------------------------ multi_head


def each_head(X, W_Q, W_K, W_V, weights=masked, scale=None):
    """(n_heads, n, d_v): what every head collects."""
    return attend(X @ W_Q, X @ W_K, X @ W_V, None, weights, scale)


def multi(X, W_Q, W_K, W_V, W_O, **options):
    return concat(each_head(X, W_Q, W_K, W_V, **options)) @ W_O


def compounding(X, W_Q, W_K, W_V, W_O):
    heads, Q, K, V = [], X, X, X
    for h in range(len(W_Q)):
        Q, K, V = Q @ W_Q[h], K @ W_K[h], V @ W_V[h]
        heads.append(attend(Q, K, V))
    return np.concatenate(heads, axis=-1) @ W_O


def chained(X, W_Q, W_K, W_V, W_O):
    heads = []
    for h in range(len(W_Q)):
        X = attend(X @ W_Q[h], X @ W_K[h], X @ W_V[h])
        heads.append(X)
    return np.concatenate(heads, axis=-1) @ W_O


def shared_weights(X, W_Q, W_K, W_V, W_O):
    A = masked(scores(X @ W_Q, X @ W_K)).mean(axis=0)
    return concat(A @ (X @ W_V)) @ W_O


def shared_scores(X, W_Q, W_K, W_V, W_O):
    A = masked(scores(X @ W_Q, X @ W_K).sum(axis=0))
    return concat(A @ (X @ W_V)) @ W_O


def mean_scores(X, W_Q, W_K, W_V, W_O):
    A = masked(scores(X @ W_Q, X @ W_K).mean(axis=0))
    return concat(A @ (X @ W_V)) @ W_O


def interleaved(heads):
    return np.moveaxis(heads, -3, -1).reshape(heads.shape[-2], -1)


MULTI_HEAD = (
    mistake(
        "no-output-matrix",
        "W_O is missing: you return the heads side by side. Multiply them by W_O.",
        "output-matrix",
        lambda X, W_Q, W_K, W_V, W_O: concat(each_head(X, W_Q, W_K, W_V)),
    ),
    mistake(
        "output-matrix-transposed",
        "You use W_O transposed: its rows belong to the concatenated heads, its columns to the "
        "output.",
        "output-matrix",
        lambda X, W_Q, W_K, W_V, W_O: concat(each_head(X, W_Q, W_K, W_V)) @ W_O.T,
    ),
    mistake(
        "heads-returned",
        "You return the heads. Put them side by side and multiply by W_O.",
        "concat",
        lambda X, W_Q, W_K, W_V, W_O: each_head(X, W_Q, W_K, W_V),
    ),
    mistake(
        "bare-reshape",
        "You reshape the heads (n_heads, n, d_v) straight to (n, n_heads * d_v): several tokens of "
        "one head end up in one row. Swap the axes to (n, n_heads, d_v) first.",
        "reshape",
        lambda X, W_Q, W_K, W_V, W_O: each_head(X, W_Q, W_K, W_V).reshape(len(X), -1) @ W_O,
    ),
    mistake(
        "interleaved",
        "You take turns between the heads, column by column. Each head's columns stay together, "
        "as the rows of W_O expect.",
        "concat",
        lambda X, W_Q, W_K, W_V, W_O: interleaved(each_head(X, W_Q, W_K, W_V)) @ W_O,
    ),
    mistake(
        "order-reversed",
        "The heads are in reverse order: the first rows of W_O belong to head 0.",
        "concat",
        lambda X, W_Q, W_K, W_V, W_O: concat(each_head(X, W_Q, W_K, W_V)[::-1]) @ W_O,
    ),
    mistake(
        "stacked-below",
        "You put the heads below each other. They go side by side: (n, n_heads * d_v).",
        "concat",
        lambda X, W_Q, W_K, W_V, W_O: np.concatenate(each_head(X, W_Q, W_K, W_V)) @ W_O,
    ),
    mistake(
        "heads-averaged",
        "You average the heads. Each keeps its own columns, and W_O mixes them.",
        "concat",
        lambda X, W_Q, W_K, W_V, W_O: multi(X, W_Q, W_K, W_V, W_O) / len(W_Q),
        lambda X, W_Q, W_K, W_V, W_O: (
            each_head(X, W_Q, W_K, W_V).mean(axis=0) @ W_O[: W_V.shape[-1]]
        ),
    ),
    mistake(
        "same-rows-for-all",
        "You use the first rows of W_O for every head. Head h has rows h * d_v to (h + 1) * d_v.",
        "output-matrix",
        lambda X, W_Q, W_K, W_V, W_O: (
            each_head(X, W_Q, W_K, W_V).sum(axis=0) @ W_O[: W_V.shape[-1]]
        ),
    ),
    mistake(
        "first-head-only",
        "Only one head reaches your result.",
        "concat",
        lambda X, W_Q, W_K, W_V, W_O: each_head(X, W_Q, W_K, W_V)[0] @ W_O[: W_V.shape[-1]],
        lambda X, W_Q, W_K, W_V, W_O: each_head(X, W_Q, W_K, W_V)[-1] @ W_O[-W_V.shape[-1] :],
    ),
    mistake(
        "first-head-repeated",
        "All your heads use the matrices of the first one.",
        "heads",
        lambda X, W_Q, W_K, W_V, W_O: (
            concat(each_head(X, *(np.repeat(W[:1], len(W), axis=0) for W in (W_Q, W_K, W_V)))) @ W_O
        ),
    ),
    mistake(
        "projections-compound",
        "Your loop overwrites X (or Q, K, V), so that the second head starts from what the first "
        "one made. Every head starts from the same X.",
        "heads",
        compounding,
        chained,
    ),
    mistake(
        "weights-averaged",
        "All your heads share one table of weights (a mean or sum over the heads). "
        "Each head has its own.",
        "heads",
        shared_weights,
        shared_scores,
        mean_scores,
    ),
    mistake(
        "not-scaled",
        "The scores are not scaled: divide them by sqrt(d_k), d_k = W_Q.shape[-1].",
        "scale",
        lambda X, W_Q, W_K, W_V, W_O: multi(X, W_Q, W_K, W_V, W_O, scale=1.0),
    ),
    mistake(
        "scaled-by-d_model",
        "You divide the scores by the root of d_model. Each head has queries of length d_k: "
        "d_k = W_Q.shape[-1].",
        "scale",
        lambda X, W_Q, W_K, W_V, W_O: multi(
            X, W_Q, W_K, W_V, W_O, scale=1 / math.sqrt(X.shape[-1])
        ),
    ),
    mistake(
        "scaled-by-d_k",
        "You divide the scores by d_k. Divide by its square root.",
        "scale",
        lambda X, W_Q, W_K, W_V, W_O: multi(X, W_Q, W_K, W_V, W_O, scale=1 / W_Q.shape[-1]),
    ),
    mistake(
        "scaled-by-all-heads",
        "You divide the scores by the root of n_heads * d_k. Each head has queries of length d_k.",
        "scale",
        lambda X, W_Q, W_K, W_V, W_O: multi(
            X, W_Q, W_K, W_V, W_O, scale=1 / math.sqrt(len(W_Q) * W_Q.shape[-1])
        ),
    ),
    mistake(
        "scaled-by-d_v",
        "You divide the scores by the root of d_v. Queries have length d_k = W_Q.shape[-1].",
        "scale",
        lambda X, W_Q, W_K, W_V, W_O: multi(
            X, W_Q, W_K, W_V, W_O, scale=1 / math.sqrt(W_V.shape[-1])
        ),
    ),
    mistake(
        "d_k-guessed",
        "You assume that d_k is d_model / n_heads. It often is, but the matrices say: "
        "d_k = W_Q.shape[-1].",
        "scale",
        lambda X, W_Q, W_K, W_V, W_O: multi(
            X, W_Q, W_K, W_V, W_O, scale=1 / math.sqrt(X.shape[-1] / len(W_Q))
        ),
        lambda X, W_Q, W_K, W_V, W_O: multi(
            X, W_Q, W_K, W_V, W_O, scale=1 / math.sqrt(X.shape[-1] // len(W_Q))
        ),
    ),
    mistake(
        "queries-and-keys-swapped",
        "Queries and keys have changed places: the weights are those of the transposed scores.",
        "table",
        lambda X, W_Q, W_K, W_V, W_O: multi(X, W_K, W_Q, W_V, W_O),
    ),
    mistake(
        "queries-for-keys",
        "You make the keys with W_Q. Queries and keys have matrices of their own.",
        "three-matrices",
        lambda X, W_Q, W_K, W_V, W_O: multi(X, W_Q, W_Q, W_V, W_O),
    ),
    mistake(
        "keys-for-queries",
        "You make the queries with W_K. Queries and keys have matrices of their own.",
        "three-matrices",
        lambda X, W_Q, W_K, W_V, W_O: multi(X, W_K, W_K, W_V, W_O),
    ),
    mistake(
        "keys-for-values",
        "You mix keys instead of values: use W_V.",
        "three-matrices",
        lambda X, W_Q, W_K, W_V, W_O: multi(X, W_Q, W_K, W_K, W_O),
    ),
    mistake(
        "queries-for-values",
        "You mix queries instead of values: use W_V.",
        "three-matrices",
        lambda X, W_Q, W_K, W_V, W_O: multi(X, W_Q, W_K, W_Q, W_O),
    ),
    mistake(
        "no-value-projection",
        "You mix the rows of X. Mix the values X @ W_V.",
        "three-matrices",
        lambda X, W_Q, W_K, W_V, W_O: concat(masked(scores(X @ W_Q, X @ W_K)) @ X) @ W_O,
    ),
    mistake(
        "no-query-projection",
        "The scores are made from X itself. Queries are X @ W_Q, keys X @ W_K.",
        "three-matrices",
        lambda X, W_Q, W_K, W_V, W_O: concat(masked(scores(X, X)) @ (X @ W_V)) @ W_O,
        lambda X, W_Q, W_K, W_V, W_O: (
            concat(masked(dots(X, X) / math.sqrt(W_Q.shape[-1])) @ (X @ W_V)) @ W_O
        ),
    ),
    mistake(
        "matrices-transposed",
        "You use the projection matrices transposed: X @ W, not X @ W.T (which other libraries "
        "need, because they store the transpose).",
        "three-matrices",
        lambda X, W_Q, W_K, W_V, W_O: multi(X, flip(W_Q), flip(W_K), flip(W_V), W_O),
    ),
    mistake(
        "wrong-axis",
        "Your softmax runs over the queries. It runs over the keys, the last axis.",
        "axis",
        lambda X, W_Q, W_K, W_V, W_O: (
            concat(masked(scores(X @ W_Q, X @ W_K), axis=-2) @ (X @ W_V)) @ W_O
        ),
    ),
    mistake(
        "softmax-over-heads",
        "Your softmax runs over the heads (axis 0). It runs over the keys, the last axis.",
        "axis",
        lambda X, W_Q, W_K, W_V, W_O: (
            concat(masked(scores(X @ W_Q, X @ W_K), axis=0) @ (X @ W_V)) @ W_O
        ),
    ),
    mistake(
        "no-softmax",
        "The softmax is missing: you mix the values by scores.",
        "heads",
        lambda X, W_Q, W_K, W_V, W_O: concat(scores(X @ W_Q, X @ W_K) @ (X @ W_V)) @ W_O,
    ),
    mistake(
        "overflow",
        "exp of a large score is inf, and inf / inf is nan. Subtract each row's maximum first.",
        "overflow",
        lambda X, W_Q, W_K, W_V, W_O: concat(naive(scores(X @ W_Q, X @ W_K)) @ (X @ W_V)) @ W_O,
    ),
    mistake(
        "input-added",
        "You add X to the output. That is the residual update, a step of its own.",
        "residual",
        lambda X, W_Q, W_K, W_V, W_O: multi(X, W_Q, W_K, W_V, W_O) + X,
    ),
    mistake(
        "always-causal",
        "You hide the future although no mask was asked for.",
        "future",
        lambda X, W_Q, W_K, W_V, W_O: (
            concat(masked(scores(X @ W_Q, X @ W_K), tri(len(X))) @ (X @ W_V)) @ W_O
        ),
    ),
    mistake(
        "weights-transposed",
        "You use the weights transposed. Row i of the weights belongs to query i.",
        "weighted-sum",
        lambda X, W_Q, W_K, W_V, W_O: (
            concat(flip(masked(scores(X @ W_Q, X @ W_K))) @ (X @ W_V)) @ W_O
        ),
    ),
)

MISTAKES = {
    "dot": DOT,
    "cosine_similarity": COSINE_SIMILARITY,
    "softmax": SOFTMAX,
    "attention_scores": ATTENTION_SCORES,
    "causal_mask": CAUSAL_MASK,
    "padding_mask": PADDING_MASK,
    "masked_softmax": MASKED_SOFTMAX,
    "weighted_values": WEIGHTED_VALUES,
    "attention": ATTENTION,
    "residual_update": RESIDUAL_UPDATE,
    "split_heads": SPLIT_HEADS,
    "concat_heads": CONCAT_HEADS,
    "multi_head": MULTI_HEAD,
}

# Where each thing is explained: chapter and section.
SECTIONS = {
    "smallest": (1, "Multiply and add"),
    "sign": (1, "Sign and angle"),
    "cosine": (1, "Length and cosine"),
    "definition": (2, "From numbers to a distribution"),
    "soft": (2, "Why soft"),
    "axis": (2, "Which axis"),
    "overflow": (2, "Large numbers"),
    "integers": (2, "Integers and half precision"),
    "table": (3, "The table of scores"),
    "scale": (3, "Why divide by √d_k"),
    "three-matrices": (3, "Why three matrices"),
    "future": (4, "Why hide the future"),
    "before-softmax": (4, "Before the softmax or after"),
    "triangles": (4, "Two triangles"),
    "boolean": (4, "True means may attend"),
    "padding": (4, "Padding"),
    "empty": (4, "Nothing left to attend to"),
    "weighted-sum": (5, "A weighted sum of values"),
    "residual": (5, "The update"),
    "all-at-once": (5, "All tokens at once"),
    "heads": (6, "Several heads"),
    "reshape": (6, "Split and reshape"),
    "concat": (6, "Side by side"),
    "output-matrix": (6, "The output matrix"),
}
