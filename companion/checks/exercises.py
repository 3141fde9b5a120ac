"""The exercises that have a check: signature, right function, and inputs to try.

The numbers are small, different on every axis, and far from saturating a softmax: equal sizes,
symmetric scores and saturated weights let wrong code pass. Each list starts with inputs that can
be worked out by hand.
"""

import functools
import math
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import companion
from companion import encoder

LN3 = math.log(3)
CHAPTERS = {
    1: "Dot-product alignment",
    2: "Softmax",
    3: "Queries, keys and values",
    4: "Masking",
    5: "Value updates",
    6: "Multi-head attention",
    7: "A real transformer, opened",
}


@dataclass
class Case:
    """One input."""

    args: tuple
    kwargs: dict

    @property
    def size(self):
        return sum(np.size(a) for a in (*self.args, *self.kwargs.values()))


@dataclass(eq=False)
class Exercise:
    name: str
    signature: str
    chapter: int
    right: Callable
    cases: list[Case]

    def __post_init__(self):
        self.cases.sort(key=lambda case: case.size)  # the smallest that shows a fault comes first
        self.names = re.findall(r"\w+", self.signature)[1:]

    def by_name(self, case):
        """Return the inputs of a case as a dict."""
        return dict(zip(self.names, case.args, strict=False)) | case.kwargs

    @functools.cache  # noqa: B019  an exercise lives as long as the program
    def expected(self, i):
        """Return the right result for case i."""
        case = self.cases[i]
        return np.asarray(self.right(*case.args, **case.kwargs))


def numbers(*shape, seed=1):
    """Return irregular numbers between -2 and 2 with one decimal, the same on every machine."""
    steps = np.arange(1, math.prod(shape) + 1)
    return np.round(2 * np.sin(37.0 * steps + seed), 1).reshape(shape) + 0.0


def case(*args, **kwargs):
    return Case(args, kwargs)


def array(*values):
    return np.array(values, dtype=float)


def allow(*rows):
    """Return a mask written as rows of 1 (may attend) and 0."""
    return np.array([[mark == "1" for mark in row] for row in rows])


def multi_head(X, W_Q, W_K, W_V, W_O):
    return companion.MultiHeadAttention(W_Q, W_K, W_V, W_O)(X)


def heads_case(n, d_model, n_heads, d_k, d_v, d_out, seed=1):
    return case(
        numbers(n, d_model, seed=seed),
        numbers(n_heads, d_model, d_k, seed=seed + 1),
        numbers(n_heads, d_model, d_k, seed=seed + 2),
        numbers(n_heads, d_model, d_v, seed=seed + 3),
        numbers(n_heads * d_v, d_out, seed=seed + 4),
    )


def forward_case(*sizes, seed=1):
    """Inputs of a feed-forward layer, of sizes (..., n, d_model, d_ff)."""
    *shape, d_ff = sizes
    d_model = shape[-1]
    return case(
        numbers(*shape, seed=seed),
        numbers(d_model, d_ff, seed=seed + 1),
        numbers(d_ff, seed=seed + 2),
        numbers(d_ff, d_model, seed=seed + 3),
        numbers(d_model, seed=seed + 4),
    )


EXERCISES = {
    exercise.name: exercise
    for exercise in (
        Exercise(
            "dot",
            "dot(a, b)",
            1,
            companion.dot,
            [
                case(array(3), array(-2)),
                case(array(1, 2), array(3, -1)),
                case(array(1, 2, 3), array(4, 5, 6)),
                case(array(0.5, 1), array(1, 0.25)),
                case(array(0.5, -2, 1), array(2, 0, -3)),
                case(np.array([2, -1, 3]), np.array([1, 4, 2])),
                case(numbers(7), numbers(7, seed=2)),
            ],
        ),
        Exercise(
            "cosine_similarity",
            "cosine_similarity(a, b)",
            1,
            companion.cosine_similarity,
            [
                case(array(3, 4), array(4, 3)),
                case(array(1, 0), array(10, 0)),
                case(array(1, 2), array(-2, -4)),
                case(array(2, 1), array(-1, 2)),
                case(np.array([3, 4]), np.array([5, 12])),
                case(array(1, 2, 2), array(2, 3, 6)),
                case(array(0.5, -2, 1), array(2, 0, -3)),
                case(numbers(5), numbers(5, seed=2)),
            ],
        ),
        Exercise(
            "softmax",
            "softmax(x, axis=-1)",
            2,
            companion.softmax,
            [
                case(array(0, LN3)),
                case(np.array([1, 3])),
                case(array(-1, 0.5)),
                case(array(1, 2, 0.5)),
                case(array(1000, 1000)),
                case(array(800, 1, 1)),
                case(array(-1000, -1001)),
                case(np.array([[0, LN3], [0, 0]])),
                case(np.array([[0, LN3], [0, 0]]), axis=0),
                case(array(0, -np.inf)),
                case(np.array([[0.0, 1.0], [-2000.0, -1999.0]])),
                case(numbers(2, 3)),
                case(numbers(3, 2), axis=0),
                case(numbers(3, 2, seed=3), axis=1),
                case(numbers(2, 2, 3)),
                case(numbers(2, 3, 2), axis=-2),
                case(numbers(2, 3, 5)),
                case(numbers(2, 3, 5, seed=2), axis=1),
                case(numbers(2, 3, 5, seed=3), axis=0),
            ],
        ),
        Exercise(
            "attention_scores",
            "attention_scores(Q, K)",
            3,
            companion.attention_scores,
            [
                case(array([2, 0, 0, 0]), array([1, 5, 5, 5], [3, 0, 0, 0])),
                case(array([1, 2], [0, 1]), array([3, 1], [1, -1])),
                case(np.array([[112, 2], [1, 3]]), np.array([[1, 0], [0, 4], [2, 1]])),
                case(numbers(2, 5), numbers(3, 5, seed=2)),
                case(numbers(3, 7), numbers(3, 7, seed=2)),
                case(numbers(2, 1, 2), numbers(2, 3, 2, seed=2)),
                case(numbers(2, 3, 7), numbers(2, 5, 7, seed=2)),
                case(numbers(2, 3, 3, 7), numbers(2, 3, 5, 7, seed=2)),
            ],
        ),
        Exercise(
            "causal_mask",
            "causal_mask(n)",
            4,
            companion.causal_mask,
            [case(n) for n in (1, 2, 3, 5)],
        ),
        Exercise(
            "padding_mask",
            "padding_mask(lengths, n_keys)",
            4,
            companion.padding_mask,
            [
                case(np.array([1]), 2),
                case(np.array([2, 1]), 3),
                case(np.array([3, 0, 1]), 4),
                case(np.array([2, 2]), 2),
                case(np.array([1, 5, 2]), 5),
            ],
        ),
        Exercise(
            "masked_softmax",
            "masked_softmax(scores, mask)",
            4,
            companion.masked_softmax,
            [
                case(array([0, LN3]), allow("11")),
                case(array([0, LN3]), allow("10")),
                case(array([1, 2]), allow("00")),
                case(array([0, LN3, 9]), allow("110")),
                case(array([0, 12]), allow("10")),
                case(array([0, 0, 1000]), allow("110")),
                case(array([-1000, -1001, 0]), allow("110")),
                case(array([1000, 1000, 0]), allow("111")),
                case(array([2, 1, 0.5], [1, -1, 2]), allow("110", "011")),
                case(numbers(2, 2), allow("10", "11")),
                case(numbers(2, 3), allow("000", "101")),
                case(numbers(2, 3, seed=2), allow("101")),
                case(numbers(3, 3), np.tri(3, dtype=bool)),
                case(numbers(2, 1, 3), np.array([allow("110"), allow("011")])),
                case(numbers(2, 3, 5), np.array([allow("11010"), allow("01101")])),
                case(numbers(2, 3, 3, 5), allow("11110", "01101", "00011")),
                case(array([0, LN3, np.inf]), allow("110")),
                case(array([0, LN3, np.nan]), allow("110")),
            ],
        ),
        Exercise(
            "weighted_values",
            "weighted_values(weights, V)",
            5,
            companion.weighted_values,
            [
                case(array([0.25, 0.75], [0.5, 0.5]), array([10], [20])),
                case(array([0.25, 0.75], [0.5, 0.5]), array([1, 2], [3, 5])),
                case(array([0, 0], [0.5, 0.5]), array([1, 2], [3, 5])),
                case(array([0.25, 0.75], [0.5, 0.5]), np.array([[1, 2], [4, 6]])),
                case(np.array([[0, 1], [1, 0]]), np.array([[1, 2, 3], [4, 5, 6]])),
                case(companion.softmax(numbers(2, 3)).round(2), numbers(3, 5)),
                case(companion.softmax(numbers(2, 1, 3)).round(2), numbers(2, 3, 2)),
                case(companion.softmax(numbers(2, 3, 5)).round(2), numbers(2, 5, 7)),
            ],
        ),
        Exercise(
            "attention",
            "attention(Q, K, V, mask=None)",
            5,
            companion.attention,
            [
                case(array([0, 0]), array([1, 2], [3, 4]), array([10], [20])),
                case(array([2, 0, 0, 0]), array([0, 5, 5, 5], [LN3, 0, 0, 0]), array([0], [4])),
                case(
                    array([1, 0], [0, 1]),
                    array([1, 2], [0.5, -1]),
                    array([1, 2], [3, 5]),
                ),
                case(numbers(2, 5), numbers(3, 5, seed=2), numbers(3, 2, seed=3)),
                case(numbers(2, 5), numbers(3, 5, seed=2), numbers(3, 2, seed=3), mask=None),
                case(
                    array([1, 0]),
                    array([1, 2], [2, 0]),
                    array([1], [3]),
                    mask=allow("10"),
                ),
                case(
                    numbers(2, 2),
                    numbers(3, 2, seed=2),
                    array([1], [2], [6]),
                    mask=allow("110", "011"),
                ),
                case(
                    numbers(2, 2),
                    numbers(2, 2, seed=2),
                    array([1, 2], [3, 4]),
                    mask=allow("10", "00"),
                ),
                case(
                    array([200, 0], [0, 1]),
                    array([10, 2], [-10, 5], [9, 1]),
                    array([1], [2], [6]),
                    mask=allow("011", "111"),
                ),
                case(array([200]), array([10], [9]), array([1], [4])),
                case(
                    array([100]),
                    array([-10], [-10.01], [0]),
                    array([1], [2], [6]),
                    mask=allow("110"),
                ),
                case(
                    numbers(3, 2),
                    numbers(3, 2, seed=2),
                    numbers(3, 2, seed=3),
                    mask=np.tri(3, dtype=bool),
                ),
                case(numbers(2, 1, 2), numbers(2, 3, 2, seed=2), numbers(2, 3, 1, seed=3)),
                case(
                    numbers(2, 3, 5),
                    numbers(2, 7, 5, seed=2),
                    numbers(2, 7, 3, seed=3),
                ),
                case(
                    numbers(2, 3, 5),
                    numbers(2, 7, 5, seed=2),
                    numbers(2, 7, 3, seed=3),
                    mask=companion.padding_mask([4, 6], 7),
                ),
            ],
        ),
        Exercise(
            "residual_update",
            "residual_update(E, delta_E)",
            5,
            companion.residual_update,
            [
                case(array([1, 2]), array([10, 20])),
                case(np.array([[1, 2]]), np.array([[10, 20]])),
                case(np.array([[1, 2]]), array([0.5, 0.25])),
                case(numbers(2, 3), numbers(2, 3, seed=2)),
                case(numbers(2, 3, 5), numbers(2, 3, 5, seed=2)),
            ],
        ),
        Exercise(
            "split_heads",
            "split_heads(X, n_heads)",
            6,
            companion.split_heads,
            [
                case(np.arange(8).reshape(2, 4), 2),
                case(np.arange(6.0).reshape(2, 3), 1),
                case(np.arange(12).reshape(2, 6), 3),
                case(np.arange(18).reshape(3, 6), 2),
                case(np.arange(30).reshape(5, 6), 3),
                case(np.arange(12).reshape(2, 3, 2), 2),
                case(np.arange(2 * 5 * 6.0).reshape(2, 5, 6), 3),
                case(np.arange(2 * 3 * 5 * 4.0).reshape(2, 3, 5, 4), 2),
            ],
        ),
        Exercise(
            "concat_heads",
            "concat_heads(heads)",
            6,
            companion.concat_heads,
            [
                case(np.array([[[0, 1], [4, 5]], [[2, 3], [6, 7]]])),
                case(np.arange(6.0).reshape(1, 2, 3)),
                case(np.arange(12).reshape(3, 2, 2)),
                case(np.arange(30).reshape(2, 5, 3)),
                case(np.arange(12).reshape(2, 2, 3, 1)),
                case(np.arange(2 * 3 * 5 * 2.0).reshape(2, 3, 5, 2)),
            ],
        ),
        Exercise(
            "multi_head",
            "multi_head(X, W_Q, W_K, W_V, W_O)",
            6,
            multi_head,
            [
                case(
                    array([1]),
                    array([[1]]),
                    array([[1]]),
                    array([[1, 2]]),
                    array([2, 0], [0, 2]),
                ),
                case(array([200], [1]), array([[5]]), array([[1]]), array([[1]]), array([1])),
                heads_case(2, 2, 1, 1, 1, 1),
                heads_case(2, 2, 1, 2, 1, 1, seed=4),
                heads_case(2, 2, 2, 1, 1, 2, seed=2),
                heads_case(3, 2, 2, 2, 2, 3, seed=5),
                heads_case(2, 3, 2, 3, 3, 6, seed=6),
                heads_case(3, 4, 2, 2, 2, 4, seed=3),
                heads_case(5, 6, 3, 4, 2, 7, seed=4),
            ],
        ),
        Exercise(
            "layer_norm",
            "layer_norm(X, gamma, beta)",
            7,
            encoder.layer_norm,
            [
                case(array([1, 3]), array(1, 2), array(0, 10)),
                case(array([5, 5]), array(1, 2), array(3, 4)),
                case(np.array([[1, 2], [10, 40]]), array(3, 2), array(0.5, -1)),
                case(array([0.001, 0, 0.002]), array(1, 1, 1), array(0, 0, 0)),
                case(numbers(2, 3), numbers(3, seed=2), numbers(3, seed=3)),
                case(numbers(2, 3, 5), numbers(5, seed=2), numbers(5, seed=3)),
            ],
        ),
        Exercise(
            "feed_forward",
            "feed_forward(X, W_1, b_1, W_2, b_2)",
            7,
            encoder.feed_forward,
            [
                case(array([1]), array([2]), array(-1), array([3]), array(0.5)),
                case(np.array([[2]]), array([1, -1]), array(1, 0.5), array([1], [2]), array(1)),
                forward_case(2, 2, 3),
                forward_case(3, 4, 5, seed=2),
                forward_case(2, 3, 4, 5, seed=3),
            ],
        ),
    )
}
