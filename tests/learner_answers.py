"""What beginners wrote from the texts of the exercises alone.

WRONG: exercise, function, the codes that the report must contain. RIGHT: exercise, function.
"""

import math

import numpy as np

# ------------------------------------------------------------------------------------- chapter 1


def dot_overwritten(a, b):
    for i in range(len(a)):
        result = a[i] * b[i]
    return result


def dot_early_return(a, b):
    total = 0
    for x, y in zip(a, b):  # noqa: B905
        total = total + x * y
        return total


def dot_of_lengths(a, b):
    total = 0
    for i in range(len(a)):
        total += a[i]
        total *= b[i]
    return total


def dot_printed(a, b):
    total = 0
    for i in range(len(a)):
        total += a[i] * b[i]
    print(total)


def dot_three_entries(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def dot_integer(a, b):
    total = 0
    for i in range(len(a)):
        total += int(a[i] * b[i])
    return total


def dot_map(a, b):
    return sum(map(lambda p: p[0] * p[1], zip(a, b)))  # noqa: B905


def dot_while(a, b):
    i, s = 0, 0
    while i < len(a):
        s += a[i] * b[i]
        i += 1
    return s


def dot_forgot_to_count(a, b):
    i, s = 0, 0
    while i < len(a):
        s += a[i] * b[i]
    return s


def cosine_of_squares(a, b):
    ab = np.sum(a * b)
    aa = np.sum(a * a)
    bb = np.sum(b * b)
    return ab / (aa * bb)


def cosine_brackets(a, b):
    ab = np.sum(a * b)
    aa = np.sqrt(np.sum(a * a))
    bb = np.sqrt(np.sum(b * b))
    return ab / aa * bb


def cosine_one_root(a, b):
    ab = np.sum(a * b)
    return ab / np.sqrt(np.sum(a * a)) * np.sum(b * b)


def cosine_rounded(a, b):
    return round(np.sum(a * b) / np.sqrt(np.sum(a * a) * np.sum(b * b)), 2)


def cosine_loop(a, b):
    dot = norm_a = norm_b = 0
    for i in range(len(a)):
        dot += a[i] * b[i]
        norm_a += a[i] ** 2
        norm_b += b[i] ** 2
    return dot / (norm_a**0.5 * norm_b**0.5)


# ------------------------------------------------------------------------------------- chapter 2


def softmax_of_vector(x, axis=-1):
    e = [math.exp(v) for v in x]
    return [v / sum(e) for v in e]


def softmax_forgot_axis(x, axis=-1):
    x = np.asarray(x, dtype=float)
    x = x - np.max(x)
    e = np.exp(x)
    return e / np.sum(e)


def softmax_half_axis(x, axis=-1):
    x = np.asarray(x, dtype=float)
    m = np.max(x, axis=axis, keepdims=True)
    e = np.exp(x - m)
    return e / np.sum(e, keepdims=True)


def softmax_no_keepdims(x, axis=-1):
    x = np.asarray(x, dtype=float)
    e = np.exp(x - np.max(x, axis=axis))
    return e / np.sum(e, axis=axis)


def softmax_asarray_in_place(x, axis=-1):
    x = np.asarray(x, dtype=float)
    x -= np.max(x, axis=axis, keepdims=True)
    np.exp(x, out=x)
    return x / np.sum(x, axis=axis, keepdims=True)


def softmax_max_axis_zero(x, axis=-1):
    x = np.asarray(x, dtype=float)
    e = np.exp(x - np.max(x, axis=0))
    return e / np.sum(e, axis=axis, keepdims=True)


def softmax_only_positive(x, axis=-1):
    x = np.asarray(x, dtype=float)
    x = x - np.min(x, axis=axis, keepdims=True)
    return x / np.sum(x, axis=axis, keepdims=True)


def softmax_by_rows(x, axis=-1):
    out = np.zeros_like(x)
    for i, row in enumerate(x):
        e = np.exp(row - row.max())
        out[i] = e / e.sum()
    return out


def softmax_capped(x, axis=-1):
    x = np.asarray(x, dtype=float)
    e = np.exp(np.minimum(x, 700))
    return e / np.sum(e, axis=axis, keepdims=True)


def softmax_scaled_down(x, axis=-1):
    x = np.asarray(x, dtype=float)
    x = x / np.max(np.abs(x))
    e = np.exp(x)
    return e / np.sum(e, axis=axis, keepdims=True)


def softmax_from_the_book(x, axis=-1):
    x = np.asarray(x, dtype=float)
    shifted = x - x.max(axis=axis, keepdims=True)
    e = np.exp(shifted)
    return e / e.sum(axis=axis, keepdims=True)


def softmax_swap_and_loop(x, axis=-1):
    x = np.moveaxis(np.asarray(x, dtype=float), axis, -1)
    rows = x.reshape(-1, x.shape[-1])
    out = np.empty(rows.shape)
    for i in range(len(rows)):
        e = np.exp(rows[i] - max(rows[i]))
        out[i] = e / sum(e)
    return np.moveaxis(out.reshape(x.shape), -1, axis)


# ------------------------------------------------------------------------------------- chapter 3


def scores_t(Q, K):
    d_k = Q.shape[-1]
    return Q @ K.T / np.sqrt(d_k)


def scores_len(Q, K):
    return Q @ np.swapaxes(K, -1, -2) / np.sqrt(len(Q))


def scores_precedence(Q, K):
    return Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 1 / 2


def scores_root_of_shape(Q, K):
    return Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-2])


def scores_no_scale(Q, K):
    return Q @ np.swapaxes(K, -1, -2)


def scores_einsum_fixed(Q, K):
    return np.einsum("qd,kd->qk", Q, K) / np.sqrt(Q.shape[-1])


def scores_transpose_axes(Q, K):
    axes = list(range(K.ndim))
    axes[-1], axes[-2] = axes[-2], axes[-1]
    return np.matmul(Q, K.transpose(axes)) * (1.0 / math.sqrt(K.shape[-1]))


# ------------------------------------------------------------------------------------- chapter 4


def causal_triu(n):
    return np.triu(np.ones((n, n), dtype=bool))


def causal_triu_1(n):
    return np.triu(np.ones((n, n)), k=1).astype(bool)


def causal_tril_numbers(n):
    return np.tril(np.ones((n, n)))


def causal_range(n):
    mask = np.zeros((n, n), dtype=bool)
    for i in range(n):
        for j in range(i):
            mask[i, j] = True
    return mask


def causal_slices(n):
    mask = np.full((n, n), False)
    for i in range(n):
        mask[i, : i + 1] = True
    return mask


def padding_two_axes(lengths, n_keys):
    return np.arange(n_keys) < np.array(lengths)[:, None]


def padding_inclusive(lengths, n_keys):
    return np.arange(n_keys)[None, None, :] <= np.array(lengths)[:, None, None]


def padding_list(lengths, n_keys):
    return np.array([[[i < n for i in range(n_keys)]] for n in lengths])


def masked_times(scores, mask):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    p = e / e.sum(axis=-1, keepdims=True)
    return p * mask


def masked_minus_infinity(scores, mask):
    s = np.where(mask, scores, -np.inf)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def masked_billion(scores, mask):
    s = np.where(mask, scores, -1e9)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def masked_assignment(scores, mask):
    scores[~mask] = -np.inf
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def masked_with_repair(scores, mask):
    s = np.where(mask, scores, -np.inf)
    m = s.max(axis=-1, keepdims=True)
    m = np.where(np.isinf(m), 0, m)
    e = np.exp(s - m)
    total = e.sum(axis=-1, keepdims=True)
    total[total == 0] = 1
    return e / total


# ------------------------------------------------------------------------------------- chapter 5


def values_star(weights, V):
    return (weights * V).sum(axis=-1)


def values_sum_rows(weights, V):
    return np.array([weights[i] * V[i] for i in range(len(V))]).sum(axis=0)


def values_loop(weights, V):
    out = np.zeros((weights.shape[0], V.shape[1]))
    for i in range(weights.shape[0]):
        for j in range(V.shape[0]):
            out[i] += weights[i, j] * V[j]
    return out


def values_matmul(weights, V):
    return np.matmul(weights, V)


def softmax_plain(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attention_nan(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        s = np.where(mask, s, -np.inf)
    return softmax_plain(s) @ V


def attention_if_mask(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    if mask:
        s = np.where(mask, s, -np.inf)
    return softmax_plain(s) @ V


def attention_mask_after(Q, K, V, mask=None):
    w = softmax_plain(Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1]))
    if mask is not None:
        w = w * mask
    return w @ V


def attention_forgets_scale(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2)
    if mask is not None:
        s = np.where(mask, s, -np.inf)
    w = softmax_plain(s)
    if mask is not None:
        w = np.where(mask, w, 0)
    return w @ V


def attention_softmax_axis(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    if mask is not None:
        e = e * mask
    return e / e.sum(axis=0) @ V


def attention_repaired(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    if mask is None:
        return softmax_plain(s) @ V
    w = softmax_plain(np.where(mask, s, -np.inf))
    w = np.where(mask.any(axis=-1, keepdims=True), w, 0)
    return w @ V


def residual_in_place(E, delta_E):
    E += delta_E
    return E


def residual_copy(E, delta_E):
    E = E.copy()
    E += delta_E
    return E


def residual_forgotten(E, delta_E):
    E + delta_E


def residual_float_copy(E, delta_E):
    new = np.array(E, dtype=float)
    new += delta_E
    return new


# ------------------------------------------------------------------------------------- chapter 6


def split_reshape(X, n_heads):
    *leading, n, width = X.shape
    return X.reshape(*leading, n_heads, n, width // n_heads)


def split_no_swap(X, n_heads):
    *leading, n, width = X.shape
    return X.reshape(*leading, n, n_heads, width // n_heads)


def split_fixed(X, n_heads):
    n, width = X.shape
    return X.reshape(n, n_heads, width // n_heads).transpose(1, 0, 2)


def split_list(X, n_heads):
    d = X.shape[-1] // n_heads
    return [X[..., h * d : (h + 1) * d] for h in range(n_heads)]


def split_swap(X, n_heads):
    *leading, n, width = X.shape
    return X.reshape(*leading, n, n_heads, width // n_heads).swapaxes(-3, -2)


def concat_straight(heads):
    *leading, h, n, d = heads.shape
    return heads.reshape(*leading, n, h * d)


def concat_list(heads):
    return np.concatenate(list(heads), axis=1)


def concat_swap(heads):
    *leading, h, n, d = heads.shape
    return heads.swapaxes(-2, -3).reshape(*leading, n, h * d)


def heads_no_output(X, W_Q, W_K, W_V, W_O):
    heads = [attention_repaired(X @ W_Q[h], X @ W_K[h], X @ W_V[h]) for h in range(len(W_Q))]
    return np.concatenate(heads, axis=-1)


def heads_running_x(X, W_Q, W_K, W_V, W_O):
    out = []
    for q, k, v in zip(W_Q, W_K, W_V):  # noqa: B905
        Q, K, V = X @ q, X @ k, X @ v
        X = attention_repaired(Q, K, V)
        out.append(X)
    return np.concatenate(out, axis=-1) @ W_O


def heads_stacked(X, W_Q, W_K, W_V, W_O):
    out = attention_repaired(X @ W_Q, X @ W_K, X @ W_V)
    return out.reshape(X.shape[0], -1) @ W_O


def heads_d_model(X, W_Q, W_K, W_V, W_O):
    heads = []
    for h in range(W_Q.shape[0]):
        s = (X @ W_Q[h]) @ (X @ W_K[h]).T / np.sqrt(X.shape[1])
        heads.append(softmax_plain(s) @ (X @ W_V[h]))
    return np.hstack(heads) @ W_O


def heads_loop(X, W_Q, W_K, W_V, W_O):
    heads = []
    for h in range(W_Q.shape[0]):
        heads.append(attention_repaired(X @ W_Q[h], X @ W_K[h], X @ W_V[h]))
    return np.concatenate(heads, axis=1) @ W_O


def heads_not_done(X, W_Q, W_K, W_V, W_O):
    """The stub as it was handed out."""
    raise NotImplementedError


# ------------------------------------------------------------- a second round, with less luck


def softmax_expm1(x, axis=-1):
    e = np.expm1(x)
    return e / e.sum(axis=axis, keepdims=True)


def causal_times_a_billion(n):
    return np.tril(np.ones((n, n))) * -1e9


def padding_greater(lengths, n_keys):
    return np.arange(n_keys) > lengths[:, None, None]


def masked_large_maximum(scores, mask):
    e = np.exp(scores - scores.max(-1, keepdims=True))
    e = np.where(mask, e, 0)
    total = e.sum(-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


def masked_any_at_all(scores, mask):
    if not mask.any():
        return np.zeros_like(scores)
    return softmax_plain(np.where(mask, scores, -np.inf))


def scores_second_axis(Q, K):
    return Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[1])


def attention_equals_none(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    if mask == None:  # noqa: E711
        mask = np.ones(s.shape, bool)
    return np.nan_to_num(softmax_plain(np.where(mask, s, -np.inf))) @ V


def residual_append(E, delta_E):
    return np.append(E, delta_E)


def heads_added(X, W_Q, W_K, W_V, W_O):
    heads = [attention_repaired(X @ W_Q[h], X @ W_K[h], X @ W_V[h]) for h in range(len(W_Q))]
    return sum(heads) @ W_O


def cosine_length_of_products(a, b):
    return a @ b / np.linalg.norm(a * b)


WRONG = [
    ("dot", dot_overwritten, ["last-product-only"]),
    ("dot", dot_early_return, ["returns-in-loop"]),
    ("dot", dot_of_lengths, ["unknown"]),
    ("dot", dot_printed, ["returns-nothing"]),
    ("dot", dot_three_entries, ["raises"]),
    ("dot", dot_integer, ["integers-cut"]),
    ("cosine_similarity", cosine_of_squares, ["squared-lengths"]),
    ("cosine_similarity", cosine_brackets, ["missing-brackets"]),
    ("cosine_similarity", cosine_one_root, ["missing-brackets"]),
    ("cosine_similarity", cosine_rounded, ["rounded"]),
    ("softmax", softmax_of_vector, ["overflow"]),
    ("softmax", softmax_forgot_axis, ["whole-array"]),
    ("softmax", softmax_half_axis, ["whole-array"]),
    ("softmax", softmax_no_keepdims, ["sum-lost-its-axis"]),
    ("softmax", softmax_asarray_in_place, ["changes-input"]),
    ("softmax", softmax_max_axis_zero, ["maximum-of-other-axis"]),
    ("softmax", softmax_only_positive, ["shifted-not-exponentiated"]),
    ("softmax", softmax_by_rows, ["not-a-distribution"]),
    ("softmax", softmax_capped, ["numbers-cut-off"]),
    ("softmax", softmax_scaled_down, ["divided-by-largest-number"]),
    ("attention_scores", scores_t, ["all-axes-reversed"]),
    ("attention_scores", scores_len, ["scaled-by-n_queries"]),
    ("attention_scores", scores_precedence, ["missing-brackets"]),
    ("attention_scores", scores_root_of_shape, ["scaled-by-n_keys"]),
    ("attention_scores", scores_no_scale, ["not-scaled"]),
    ("attention_scores", scores_einsum_fixed, ["too-many-axes"]),
    ("causal_mask", causal_triu, ["upper-triangle"]),
    ("causal_mask", causal_triu_1, ["inverted"]),
    ("causal_mask", causal_tril_numbers, ["not-boolean"]),
    ("causal_mask", causal_range, ["no-diagonal"]),
    ("padding_mask", padding_two_axes, ["no-query-axis"]),
    ("padding_mask", padding_inclusive, ["one-too-many"]),
    ("masked_softmax", masked_times, ["zeroed-after-softmax"]),
    ("masked_softmax", masked_minus_infinity, ["empty-row-nan"]),
    ("masked_softmax", masked_billion, ["empty-row-uniform"]),
    ("masked_softmax", masked_assignment, ["empty-row-nan", "raises", "changes-input"]),
    ("weighted_values", values_star, ["elementwise"]),
    ("weighted_values", values_sum_rows, ["elementwise"]),
    ("weighted_values", values_loop, ["too-many-axes"]),
    ("attention", attention_nan, ["empty-row-nan"]),
    ("attention", attention_if_mask, ["truth-of-mask"]),
    ("attention", attention_mask_after, ["zeroed-after-softmax"]),
    ("attention", attention_forgets_scale, ["not-scaled"]),
    ("attention", attention_softmax_axis, ["wrong-axis"]),
    ("residual_update", residual_in_place, ["changes-input"]),
    ("residual_update", residual_copy, ["integers-cut"]),
    ("residual_update", residual_forgotten, ["returns-nothing"]),
    ("split_heads", split_reshape, ["bare-reshape"]),
    ("split_heads", split_no_swap, ["axes-not-swapped"]),
    ("split_heads", split_fixed, ["batch-lost"]),
    ("split_heads", split_list, ["heads-before-batch"]),
    ("concat_heads", concat_straight, ["bare-reshape"]),
    ("concat_heads", concat_list, ["batch-joined"]),
    ("multi_head", heads_no_output, ["no-output-matrix"]),
    ("multi_head", heads_running_x, ["projections-compound"]),
    ("multi_head", heads_stacked, ["bare-reshape"]),
    ("multi_head", heads_d_model, ["scaled-by-d_model"]),
    ("multi_head", heads_not_done, ["not-done"]),
    ("dot", dot_forgot_to_count, ["endless"]),
    ("softmax", softmax_expm1, ["overflow", "unknown"]),
    ("causal_mask", causal_times_a_billion, ["not-boolean"]),
    ("padding_mask", padding_greater, ["hides-too-much"]),
    ("masked_softmax", masked_large_maximum, ["masked-maximum"]),
    ("masked_softmax", masked_any_at_all, ["empty-row-nan"]),
    ("attention_scores", scores_second_axis, ["axis-counted-from-front"]),
    ("attention", attention_equals_none, ["truth-of-mask"]),
    ("residual_update", residual_append, ["side-by-side"]),
    ("multi_head", heads_added, ["not-side-by-side"]),
    ("cosine_similarity", cosine_length_of_products, ["length-of-products"]),
]

RIGHT = [
    ("dot", dot_map),
    ("dot", dot_while),
    ("cosine_similarity", cosine_loop),
    ("softmax", softmax_from_the_book),
    ("softmax", softmax_swap_and_loop),
    ("attention_scores", scores_transpose_axes),
    ("causal_mask", causal_slices),
    ("padding_mask", padding_list),
    ("masked_softmax", masked_with_repair),
    ("weighted_values", values_matmul),
    ("attention", attention_repaired),
    ("residual_update", residual_float_copy),
    ("split_heads", split_swap),
    ("concat_heads", concat_swap),
    ("multi_head", heads_loop),
]
