"""Known mistakes in the exercises of chapter 6."""

import math

import numpy as np

from companion.checks.mistakes.parts import attend, dots, flip, masked, mistake, naive, scores, tri

# ----------------------------------------------------------------------------------- split_heads


def in_rows(X, n_heads):
    """(..., n, n_heads, d): each row cut into pieces."""
    return X.reshape(*X.shape[:-1], n_heads, -1)


def split(X, n_heads):
    return np.swapaxes(in_rows(X, n_heads), -3, -2)


def split_of_matrix(X, n_heads):
    n, width = X.shape
    return X.reshape(n, n_heads, width // n_heads).swapaxes(0, 1)


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
        split_of_matrix,
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


def concat_of_matrices(heads):
    n_heads, n, d = heads.shape
    return heads.swapaxes(0, 1).reshape(n, n_heads * d)


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
        concat_of_matrices,
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
        "not-side-by-side",
        "Your heads do not fit W_O: you put them below each other, or add or average them. "
        "They go side by side: (n, n_heads * d_v).",
        "concat",
        lambda X, W_Q, W_K, W_V, W_O: np.concatenate(each_head(X, W_Q, W_K, W_V)) @ W_O,
        lambda X, W_Q, W_K, W_V, W_O: each_head(X, W_Q, W_K, W_V).sum(axis=0) @ W_O,
    ),
    mistake(
        "heads-averaged",
        "You average the heads. Each keeps its own columns, and W_O mixes them.",
        "output-matrix",
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
        "overwritten",
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
        "divisors",
        lambda X, W_Q, W_K, W_V, W_O: multi(
            X, W_Q, W_K, W_V, W_O, scale=1 / math.sqrt(X.shape[-1])
        ),
    ),
    mistake(
        "scaled-by-d_k",
        "You divide the scores by d_k. Divide by its square root.",
        "divisors",
        lambda X, W_Q, W_K, W_V, W_O: multi(X, W_Q, W_K, W_V, W_O, scale=1 / W_Q.shape[-1]),
    ),
    mistake(
        "scaled-by-all-heads",
        "You divide the scores by the root of n_heads * d_k. Each head has queries of length d_k.",
        "divisors",
        lambda X, W_Q, W_K, W_V, W_O: multi(
            X, W_Q, W_K, W_V, W_O, scale=1 / math.sqrt(len(W_Q) * W_Q.shape[-1])
        ),
    ),
    mistake(
        "scaled-by-d_v",
        "You divide the scores by the root of d_v. Queries have length d_k = W_Q.shape[-1].",
        "divisors",
        lambda X, W_Q, W_K, W_V, W_O: multi(
            X, W_Q, W_K, W_V, W_O, scale=1 / math.sqrt(W_V.shape[-1])
        ),
    ),
    mistake(
        "d_k-guessed",
        "You assume that d_k is d_model / n_heads. It often is, but the matrices say: "
        "d_k = W_Q.shape[-1].",
        "divisors",
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
        "keys-mixed",
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
        "transposed-matrix",
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
        "weights-transposed",
        lambda X, W_Q, W_K, W_V, W_O: (
            concat(flip(masked(scores(X @ W_Q, X @ W_K))) @ (X @ W_V)) @ W_O
        ),
    ),
)
