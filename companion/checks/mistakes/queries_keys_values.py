"""Known mistakes in the exercises of chapter 3."""

import math

import numpy as np
from numpy.linalg import norm

from companion import softmax
from companion.checks.mistakes.parts import dots, flip, mistake, scores

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
        "divisors",
        lambda Q, K: dots(Q, K) / Q.shape[-1],
    ),
    mistake(
        "multiplied-by-scale",
        "You multiply by sqrt(d_k): the scores grow instead of shrinking. Divide.",
        "divisors",
        lambda Q, K: dots(Q, K) * math.sqrt(Q.shape[-1]),
    ),
    mistake(
        "scaled-by-n_keys",
        "You divide by the root of the number of keys. The scale is the root of d_k, the length of "
        "each query: Q.shape[-1].",
        "divisors",
        lambda Q, K: dots(Q, K) / math.sqrt(K.shape[-2]),
        lambda Q, K: dots(Q, K) / math.sqrt(K.shape[0]),
    ),
    mistake(
        "scaled-by-n_queries",
        "You divide by the root of the number of queries. The scale is the root of d_k, the length "
        "of each query: Q.shape[-1], not len(Q) or Q.shape[0].",
        "divisors",
        lambda Q, K: dots(Q, K) / math.sqrt(Q.shape[-2]),
        lambda Q, K: dots(Q, K) / math.sqrt(Q.shape[0]),
    ),
    mistake(
        "axis-counted-from-front",
        "You take d_k from axis 1. That is right for one matrix; in a batch, axis 1 holds the "
        "tokens. Count from the end: Q.shape[-1].",
        "divisors",
        lambda Q, K: dots(Q, K) / math.sqrt(K.shape[1]),
        lambda Q, K: dots(Q, K) / math.sqrt(Q.shape[1]),
    ),
    mistake(
        "scaled-by-8",
        "You always divide by 8. That is sqrt(64), right only where d_k is 64. "
        "Use the root of Q.shape[-1].",
        "divisors",
        lambda Q, K: dots(Q, K) / 8,
    ),
    mistake(
        "scaled-by-size",
        "You divide by the root of how many numbers Q holds. Use the length of one query: "
        "Q.shape[-1].",
        "divisors",
        lambda Q, K: dots(Q, K) / math.sqrt(Q.size),
    ),
    mistake(
        "scaled-once-too-little",
        "You divide by the fourth root of d_k. That is right only if both Q and K are divided by "
        "it; otherwise divide by the square root.",
        "divisors",
        lambda Q, K: dots(Q, K) / Q.shape[-1] ** 0.25,
    ),
    mistake(
        "missing-brackets",
        "x / d_k ** 1 / 2 is (x / d_k) / 2: powers come first. Write d_k ** 0.5 or np.sqrt(d_k).",
        "scale",
        lambda Q, K: dots(Q, K) / Q.shape[-1] / 2,
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
