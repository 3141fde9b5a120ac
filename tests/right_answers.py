"""Right but unusual answers to the exercises: each check has to accept all of them."""

import functools
import math
import statistics
from fractions import Fraction

import numpy as np

from companion import MultiHeadAttention, attention, concat_heads, encoder, softmax, split_heads

# ------------------------------------------------------------------------------------------- dot


def dot_loop(a, b):
    total = 0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


def dot_recursive(a, b):
    return 0 if len(a) == 0 else a[0] * b[0] + dot_recursive(a[1:], b[1:])


def dot_backwards_in_float32(a, b):
    return np.float32(sum(float(x) * float(y) for x, y in reversed(list(zip(a, b, strict=True)))))


def dot_in_fractions(a, b):
    return sum(Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a, b, strict=True))


def dot_from_lengths(a, b):
    """(|a + b|² - |a - b|²) / 4"""
    return (np.sum((a + b) ** 2) - np.sum((a - b) ** 2)) / 4


class Dot:
    """A callable object, with a parameter that has a default and a name of its own."""

    def __call__(self, one, two, start=0.0):
        return start + np.vdot(one, two)


# ----------------------------------------------------------------------------- cosine_similarity


def cosine_from_unit_vectors(a, b):
    return (a / np.linalg.norm(a)) @ (b / np.linalg.norm(b))


def cosine_by_hand(a, b):
    ab = aa = bb = 0.0
    for x, y in zip(a, b, strict=True):
        ab, aa, bb = ab + x * y, aa + x * x, bb + y * y
    return ab / math.sqrt(aa * bb)


def cosine_by_law_of_cosines(a, b):
    p, q, r = (np.linalg.norm(v) for v in (a, b, a - b))
    return (p**2 + q**2 - r**2) / (2 * p * q)


# --------------------------------------------------------------------------------------- softmax


def softmax_along(x, axis=-1):
    return np.apply_along_axis(
        lambda row: np.exp(row - row.max()) / np.exp(row - row.max()).sum(), axis, x
    )


def softmax_through_logarithm(x, axis=-1):
    top = np.max(x, axis=axis, keepdims=True)
    return np.exp(x - top - np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)))


def softmax_logaddexp(x, axis=-1):
    return np.exp(x - np.logaddexp.reduce(x, axis=axis, keepdims=True))


def softmax_of_differences(x, axis=-1):
    """1 / sum of exp(x_j - x_i): no shift needed, only one overflow to inf, and 1 / inf is 0."""
    x = np.moveaxis(np.asarray(x, dtype=float), axis, -1)
    with np.errstate(over="ignore", invalid="ignore"):
        differences = np.nan_to_num(x[..., None, :] - x[..., :, None], nan=np.inf, neginf=-np.inf)
        p = 1 / np.exp(differences).sum(axis=-1)
    return np.moveaxis(p, -1, axis)


def softmax_one_walk(x, axis=-1):
    x = np.moveaxis(np.asarray(x, dtype=float), axis, 0)
    m, s = np.full(x.shape[1:], -1e300), np.zeros(x.shape[1:])
    for row in x:
        new = np.maximum(m, row)
        s = s * np.exp(m - new) + np.exp(row - new)
        m = new
    return np.moveaxis(np.exp(x - m) / s, 0, axis)


def softmax_in_lists(x, axis=-1):
    x = np.swapaxes(x, axis, -1)

    def walk(part):
        if np.ndim(part) > 1:
            return [walk(p) for p in part]
        top = max(part)
        e = [math.exp(v - top) for v in part]
        return [v / math.fsum(e) for v in e]

    return np.swapaxes(walk(x), axis, -1).tolist()


def softmax_shifted_too_far(x, axis=-1):
    """A little above the maximum is as good."""
    e = np.exp(x - x.max(axis=axis, keepdims=True) - 1)
    return e / e.sum(axis=axis, keepdims=True)


def softmax_with_axis_only(*args, **kwargs):
    return softmax(np.array(args[0]), axis=kwargs.get("axis", -1))


def softmax_in_float32(x, axis=-1):
    return softmax(x.astype(np.float32), axis=axis)


def softmax_in_float16(x, axis=-1):
    return softmax(x, axis=axis).astype(np.float16)


def softmax_fortran(x, axis=-1):
    return np.asfortranarray(softmax(x, axis=axis))


def softmax_other_axis_name(x, dim=-1):
    return softmax(x, axis=dim)


def softmax_keywords_only(*, x, axis=-1):
    return softmax(x, axis=axis)


def softmax_own_copy(x, axis=-1):
    x = x.astype(float)
    x -= x.max(axis=axis, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(axis=axis, keepdims=True)
    return x


def softmax_that_prints(x, axis=-1):
    print("x =", x)
    return softmax(x, axis=axis)


# ------------------------------------------------------------------------------ attention_scores


def scores_loop(Q, K):
    if Q.ndim > 2:
        return [scores_loop(q, k) for q, k in zip(Q, K, strict=True)]
    return [[float(q @ k) / Q.shape[1] ** 0.5 for k in K] for q in Q]


def scores_both_scaled(Q, K):
    root = Q.shape[-1] ** 0.25
    return (Q / root) @ np.swapaxes(K / root, -1, -2)


# ------------------------------------------------------------------------------------------ masks


def causal_lists(n):
    return [[j <= i for j in range(n)] for i in range(n)]


def padding_loop(lengths, n_keys):
    mask = np.zeros((len(lengths), 1, n_keys), dtype=bool)
    for b, length in enumerate(lengths):
        mask[b, 0, :length] = True
    return mask


# -------------------------------------------------------------------------------- masked_softmax


def masked_rows(scores, mask):
    mask = np.broadcast_to(mask, scores.shape)
    weights = np.zeros(scores.shape)
    for index in np.ndindex(scores.shape[:-1]):
        kept = mask[index]
        if kept.any():
            weights[index][kept] = softmax(scores[index][kept])
    return weights


def masked_where_sum(scores, mask):
    mask = np.broadcast_to(mask, scores.shape)
    top = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    e = np.exp(np.where(mask, scores - top, -np.inf))
    total = e.sum(axis=-1, keepdims=True)
    return np.divide(e, total, out=np.zeros_like(e), where=total > 0)


def masked_additive(scores, mask):
    """Adds -inf to zeros; nan is repaired in empty rows only."""
    S = np.where(mask, scores, 0.0) + np.where(mask, 0.0, -np.inf)
    empty = ~np.broadcast_to(mask, scores.shape).any(axis=-1, keepdims=True)
    return np.where(empty, 0.0, softmax(S))


def masked_log(scores, mask):
    S = np.where(mask, scores, 0) + np.log(mask)
    return np.nan_to_num(softmax(S))


def masked_zeroed_again(scores, mask):
    """A finite replacement, but what is left in masked places is removed."""
    return softmax(np.where(mask, scores, -1e30)) * mask


def masked_array_module(scores, mask):
    S = np.ma.masked_array(scores, mask=~np.broadcast_to(mask, scores.shape))
    e = np.ma.exp(S - S.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True)).filled(0.0)


# -------------------------------------------------------------------------------------- attention


def attention_loop(Q, K, V, mask=None):
    if Q.ndim > 2:
        masks = (
            [None] * len(Q) if mask is None else np.broadcast_to(mask, (*Q.shape[:-1], K.shape[-2]))
        )
        return [attention_loop(*four) for four in zip(Q, K, V, masks, strict=True)]
    output = []
    for i, q in enumerate(Q):
        allowed = [
            j
            for j in range(len(K))
            if mask is None or np.broadcast_to(mask, (len(Q), len(K)))[i, j]
        ]
        s = [sum(x * y for x, y in zip(q, K[j], strict=True)) / math.sqrt(len(q)) for j in allowed]
        e = [math.exp(v - max(s)) for v in s]
        output.append(
            sum((w / sum(e) * V[j] for w, j in zip(e, allowed, strict=True)), np.zeros(V.shape[1]))
        )
    return output


def attention_einsum(Q, K, V, mask=None):
    S = np.einsum("...qd,...kd->...qk", Q, K) / Q.shape[-1] ** 0.5
    if mask is not None:
        S = np.where(mask, S, -1e30)
    A = np.exp(S - S.max(-1, keepdims=True))
    A = A if mask is None else A * mask
    total = A.sum(-1, keepdims=True)
    return np.einsum("...qk,...kd->...qd", A, V) / np.where(total > 0, total, 1)


def attention_query_first_scaled(Q, K, V, mask=None):
    """The queries are scaled, not the scores; keys as columns, transposed back."""
    S = K @ np.swapaxes(Q / math.sqrt(Q.shape[-1]), -1, -2)
    if mask is not None:
        S = np.where(np.swapaxes(mask, -1, -2), S, -np.inf)
    top = S.max(-2, keepdims=True)
    e = np.exp(S - np.where(np.isfinite(top), top, 0))
    total = e.sum(-2, keepdims=True)
    A = e / np.where(total > 0, total, 1)
    return np.swapaxes(np.swapaxes(V, -1, -2) @ A, -1, -2)


# ------------------------------------------------------------------------------------ multi_head


def multi_head_sum(X, W_Q, W_K, W_V, W_O):
    d_v, output = W_V.shape[-1], 0
    for h in range(len(W_Q)):
        head = attention(X @ W_Q[h], X @ W_K[h], X @ W_V[h])
        output = output + head @ W_O[h * d_v : (h + 1) * d_v]
    return output


def multi_head_einsum(X, W_Q, W_K, W_V, W_O):
    Q, K, V = (np.einsum("nm,hmd->hnd", X, W) for W in (W_Q, W_K, W_V))
    A = softmax(np.einsum("hqd,hkd->hqk", Q, K) / math.sqrt(Q.shape[-1]))
    W = W_O.reshape(len(W_V), W_V.shape[-1], -1)
    return np.einsum("hqk,hkd,hdo->qo", A, V, W)


def multi_head_joined(X, W_Q, W_K, W_V, W_O):
    """Joined matrices, one product, split and concatenated."""
    Q, K, V = (split_heads(X @ np.concatenate(W, axis=1), len(W)) for W in (W_Q, W_K, W_V))
    return concat_heads(attention(Q, K, V)) @ W_O


def multi_head_value_maps(X, W_Q, W_K, W_V, W_O):
    """W_V and W_O of a head multiplied first."""
    rows = np.split(W_O, len(W_V))
    return sum(
        attention(X @ q, X @ k, X @ (v @ o)) for q, k, v, o in zip(W_Q, W_K, W_V, rows, strict=True)
    )


def layer_norm_moments(X, gamma, beta):
    """The variance as the mean of the squares less the square of the mean, in long doubles."""
    X = np.asarray(X, np.longdouble)
    mean = X.mean(axis=-1, keepdims=True)
    variance = np.maximum((X**2).mean(axis=-1, keepdims=True) - mean**2, 0)
    return (gamma * (X - mean) / np.sqrt(variance + 1e-12) + beta).astype(float)


def layer_norm_rows(X, gamma, beta):
    """Row by row, with the statistics module."""
    rows = []
    for row in np.reshape(X, (-1, np.shape(X)[-1])).tolist():
        mean, deviation = statistics.fmean(row), math.sqrt(statistics.pvariance(row) + 1e-12)
        columns = zip(row, gamma, beta, strict=True)
        rows.append([g * (x - mean) / deviation + b for x, g, b in columns])
    return np.reshape(rows, np.shape(X))


def feed_forward_units(X, W_1, b_1, W_2, b_2):
    """One unit after the other, each adding its row of W_2."""
    added = np.zeros(np.shape(X)) + b_2
    for unit in range(len(b_1)):
        evidence = X @ W_1[:, unit] + b_1[unit]
        share = np.array([statistics.NormalDist().cdf(x) for x in np.ravel(evidence)])
        opened = evidence * share.reshape(evidence.shape)
        added += opened[..., None] * W_2[unit]
    return added


RIGHT = {
    "dot": [
        dot_loop,
        dot_recursive,
        dot_backwards_in_float32,
        dot_in_fractions,
        dot_from_lengths,
        Dot(),
        np.dot,
        np.inner,
        lambda a, b: (a[None, :] @ b[:, None]).item(),
        lambda a, b: np.trace(np.outer(a, b)),
        lambda a, b: np.einsum("i,i", a, b),
        lambda *vectors: math.sumprod(*vectors) if hasattr(math, "sumprod") else dot_loop(*vectors),
        functools.partial(np.tensordot, axes=1),
    ],
    "cosine_similarity": [
        cosine_from_unit_vectors,
        cosine_by_hand,
        cosine_by_law_of_cosines,
        lambda a, b: math.cos(math.acos(np.clip(cosine_by_hand(a, b), -1, 1))),
        lambda a, b: np.float32(cosine_by_hand(a, b)),
        lambda a, b: np.dot(a, b) / (np.sum(a**2) * np.sum(b**2)) ** 0.5,
        lambda u, v: dot_loop(u, v) / math.hypot(*u) / math.hypot(*v),
    ],
    "softmax": [
        softmax_along,
        softmax_through_logarithm,
        softmax_logaddexp,
        softmax_of_differences,
        softmax_one_walk,
        softmax_in_lists,
        softmax_shifted_too_far,
        softmax_with_axis_only,
        softmax_in_float32,
        softmax_in_float16,
        softmax_fortran,
        softmax_other_axis_name,
        softmax_keywords_only,
        softmax_own_copy,
        softmax_that_prints,
        lambda x, axis=-1: softmax(x, axis=axis, temperature=1.0),
        lambda x, axis=-1: np.moveaxis(softmax(np.moveaxis(x, axis, -1)), -1, axis),
    ],
    "attention_scores": [
        scores_loop,
        scores_both_scaled,
        lambda Q, K: np.einsum("...id,...jd->...ij", Q, K) / np.sqrt(K.shape[-1]),
        lambda Q, K: np.swapaxes(K @ np.swapaxes(Q, -1, -2), -1, -2) / np.sqrt(Q.shape[-1]),
        lambda Q, K: (Q[..., :, None, :] * K[..., None, :, :]).sum(-1) * Q.shape[-1] ** -0.5,
        lambda Q, K: (
            (Q.astype(np.float32) @ K.mT.astype(np.float32)) / np.float32(math.sqrt(Q.shape[-1]))
        ),
    ],
    "causal_mask": [
        causal_lists,
        lambda n: np.tril(np.ones((n, n))) == 1,
        lambda n: ~np.triu(np.ones((n, n), dtype=bool), k=1),
        lambda n: np.arange(n)[:, None] >= np.arange(n),
        lambda n: np.fromfunction(lambda i, j: i >= j, (n, n)),
        lambda n: np.cumsum(np.eye(n), axis=1).T.astype(bool),
        lambda n, m=None: np.add.outer(np.arange(n), -np.arange(n)) >= 0,
    ],
    "padding_mask": [
        padding_loop,
        lambda lengths, n_keys: [[[j < n for j in range(n_keys)]] for n in lengths],
        lambda lengths, n_keys: np.arange(n_keys)[None, None] < lengths[:, None, None],
        lambda lengths, n_keys: ~(np.arange(1, n_keys + 1) > lengths.reshape(-1, 1, 1)),
        lambda n, m: np.expand_dims(np.less.outer(np.arange(m), n).T, 1),
    ],
    "masked_softmax": [
        masked_rows,
        masked_where_sum,
        masked_additive,
        masked_log,
        masked_zeroed_again,
        masked_array_module,
        lambda scores, mask=None: np.nan_to_num(softmax(np.where(mask, scores, -np.inf))),
        lambda scores, mask: masked_where_sum(scores, mask).astype(np.float32),
    ],
    "weighted_values": [
        lambda weights, V: weights @ V,
        lambda weights, V: np.einsum("...qk,...kd->...qd", weights, V),
        lambda weights, V: (weights[..., None] * V[..., None, :, :]).sum(axis=-2),
        lambda weights, V: np.swapaxes(V.mT @ weights.mT, -1, -2),
        lambda weights, V: (weights @ V).tolist(),
        lambda A, V: sum(A[..., j : j + 1] * V[..., j : j + 1, :] for j in range(V.shape[-2])),
    ],
    "attention": [
        attention_loop,
        attention_einsum,
        attention_query_first_scaled,
        lambda Q, K, V, mask=None, scale=None: attention(Q, K, V, mask, scale),
        lambda *inputs, **options: attention(*inputs, **options),
        lambda queries, keys, values, allowed=None: attention(queries, keys, values, allowed),
        functools.partial(attention, scale=None),
    ],
    "residual_update": [
        lambda E, delta_E: E + delta_E,
        lambda E, delta_E: delta_E + E,
        lambda E, delta_E: np.add(E, delta_E).tolist(),
        lambda E, delta_E: np.sum([E, delta_E], axis=0),
        lambda x, y: x - (-y),
        lambda E, delta_E: np.vectorize(lambda e, d: e + d, otypes=[float])(E, delta_E),
    ],
    "split_heads": [
        lambda X, n_heads: np.stack(np.split(X, n_heads, axis=-1), axis=-3),
        lambda X, n_heads: np.moveaxis(X.reshape(*X.shape[:-1], n_heads, -1), -2, -3),
        lambda X, h: np.einsum("...nhd->...hnd", X.reshape(*X.shape[:-1], h, -1)),
        lambda X, n_heads: (
            tuple(np.split(X, n_heads, axis=-1)) if X.ndim == 2 else split_heads(X, n_heads)
        ),
        lambda X, n_heads: split_heads(X, n_heads).astype(np.float32).tolist(),
    ],
    "concat_heads": [
        lambda heads: np.concatenate(np.moveaxis(heads, -3, 0), axis=-1),
        lambda heads: np.concatenate([heads[..., h, :, :] for h in range(heads.shape[-3])], -1),
        lambda heads: np.moveaxis(heads, -3, -2).reshape(*heads.shape[:-3], heads.shape[-2], -1),
        lambda heads: concat_heads(heads).astype(float).tolist(),
    ],
    "multi_head": [
        multi_head_sum,
        multi_head_einsum,
        multi_head_joined,
        multi_head_value_maps,
        lambda X, W_Q, W_K, W_V, W_O: MultiHeadAttention(W_Q, W_K, W_V, W_O)(X),
    ],
    "layer_norm": [
        layer_norm_moments,
        layer_norm_rows,
        lambda X, gamma, beta: (
            gamma * (X - X.mean(-1)[..., None]) / (X.std(-1)[..., None] + 1e-12) + beta
        ),
    ],
    "feed_forward": [
        feed_forward_units,
        lambda X, W_1, b_1, W_2, b_2: (
            np.einsum("...u,um->...m", encoder.gelu(np.einsum("...m,mu->...u", X, W_1) + b_1), W_2)
            + b_2
        ),
        lambda X, *arrays: [encoder.feed_forward(row, *arrays) for row in X],
    ],
}
