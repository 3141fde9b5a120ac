"""Known mistakes in the exercises of chapter 5."""

import math

import numpy as np
from numpy.linalg import norm

from companion import softmax
from companion.checks.mistakes.parts import (
    attend,
    dots,
    flip,
    hidden,
    integers_cut,
    masked,
    mistake,
    naive,
    numbers_of,
    scores,
    zeros_for_nan,
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
        "weights-transposed",
        lambda weights, V: flip(weights) @ V,
        lambda weights, V: weights.T @ V,
    ),
    mistake(
        "order-swapped",
        "You compute V @ weights. The weights come first: each *row* of weights mixes the rows "
        "of V.",
        "weights-transposed",
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
        lambda weights, V: (weights * V).sum(axis=-1),
        lambda weights, V: (weights * V).sum(axis=0),
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


def over_queries(S, mask, axis):
    """The maximum of each row is subtracted, but the sums run over another axis."""
    e = np.exp(S - S.max(axis=-1, keepdims=True)) * numbers_of(mask)
    return e / e.sum(axis=axis, keepdims=True)


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
        "divisors",
        lambda Q, K, V, mask=None: attend(Q, K, V, mask, scale=1 / Q.shape[-1]),
    ),
    mistake(
        "multiplied-by-scale",
        "You multiply the scores by sqrt(d_k). Divide by it.",
        "divisors",
        lambda Q, K, V, mask=None: attend(Q, K, V, mask, scale=math.sqrt(Q.shape[-1])),
    ),
    mistake(
        "scaled-by-d_v",
        "You divide the scores by the root of d_v, the length of the values. Scores are dot "
        "products of queries and keys: d_k = Q.shape[-1].",
        "divisors",
        lambda Q, K, V, mask=None: attend(Q, K, V, mask, scale=1 / math.sqrt(V.shape[-1])),
    ),
    mistake(
        "scaled-by-n_keys",
        "You divide the scores by the root of the number of keys. The scale is the root of d_k, "
        "the length of each query: Q.shape[-1].",
        "divisors",
        lambda Q, K, V, mask=None: attend(Q, K, V, mask, scale=1 / math.sqrt(K.shape[-2])),
        lambda Q, K, V, mask=None: attend(Q, K, V, mask, scale=1 / math.sqrt(K.shape[0])),
    ),
    mistake(
        "scaled-by-n_queries",
        "You divide the scores by the root of the number of queries. The scale is the root of d_k, "
        "the length of each query: Q.shape[-1], not len(Q) or Q.shape[0].",
        "divisors",
        lambda Q, K, V, mask=None: attend(Q, K, V, mask, scale=1 / math.sqrt(Q.shape[-2])),
        lambda Q, K, V, mask=None: attend(Q, K, V, mask, scale=1 / math.sqrt(Q.shape[0])),
    ),
    mistake(
        "axis-counted-from-front",
        "You take d_k from axis 1. That is right for one matrix; in a batch, axis 1 holds the "
        "tokens. Count from the end: Q.shape[-1].",
        "divisors",
        lambda Q, K, V, mask=None: attend(Q, K, V, mask, scale=1 / math.sqrt(K.shape[1])),
        lambda Q, K, V, mask=None: attend(Q, K, V, mask, scale=1 / math.sqrt(Q.shape[1])),
    ),
    mistake(
        "scaled-by-8",
        "You always divide the scores by 8. That is sqrt(64), right only where d_k is 64. "
        "Use the root of Q.shape[-1].",
        "divisors",
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
        lambda Q, K, V, mask=None: over_queries(scores(Q, K), mask, -2) @ V,
        lambda Q, K, V, mask=None: over_queries(scores(Q, K), mask, 0) @ V,
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
        "keys-mixed",
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
        "weights-transposed",
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
        "`if mask:` and `if mask == None:` ask for one truth value of a whole array and fail. "
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
        "not-infinite",
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
        "after-softmax",
        lambda Q, K, V, mask=None: softmax(scores(Q, K)) * numbers_of(mask) @ V,
    ),
    mistake(
        "masked-before-scale",
        "You replace masked scores before the scaling by a number that the scaling then makes too "
        "small, or one that is not negative enough from the start. Use -inf.",
        "not-infinite",
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
        "after-softmax",
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
        "in-place",
        added_in_place,
        delta_overwritten,
    ),
    mistake(
        "replaced",
        "You return the update alone: what the token was is lost. Add the update to it.",
        "left-out",
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
        "overwritten",
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
        np.append,
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
        "For integer embeddings your result is cut to integers, or NumPy refuses to: you write "
        "into an array of the dtype of E (zeros_like or copy). E + delta_E makes a float array.",
        "in-place",
        lambda E, delta_E: E.copy().__iadd__(delta_E),
        integers_cut(lambda E, delta_E: E + delta_E),
    ),
)
