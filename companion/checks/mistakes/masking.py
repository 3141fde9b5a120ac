"""Known mistakes in the exercises of chapter 4."""

import numpy as np

from companion import softmax
from companion.checks.mistakes.parts import (
    flip,
    hidden,
    masked,
    mistake,
    naive,
    numbers_of,
    tri,
    zeros_for_nan,
)

# ----------------------------------------------------------------------------------- causal_mask


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
        "causal",
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
        "causal",
        lambda n: np.eye(n, dtype=bool),
        lambda n: np.eye(n),
    ),
    mistake(
        "one-step-back",
        "Each token sees itself and the one before it only. It may attend to all tokens before it.",
        "causal",
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
        "causal",
        lambda n: tri(n)[::-1],
    ),
    mistake(
        "left-right-reversed",
        "The order of the columns is reversed: the first query (top row) sees only the first key, "
        "which is the leftmost column.",
        "causal",
        lambda n: tri(n)[:, ::-1],
    ),
    mistake(
        "too-large",
        "Your mask is one row and one column too large: n tokens give an (n, n) mask.",
        "causal",
        lambda n: tri(n + 1),
    ),
    mistake(
        "one-row-only",
        "You return one row. Each of the n queries has a row of its own.",
        "causal",
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


def divided(e):
    """Each row divided by its sum; a row of zeros stays."""
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


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
        lambda scores, mask: softmax(hidden(scores, mask)) if mask.any() else scores * 0,
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
        "not-infinite",
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
        "after-softmax",
        lambda scores, mask: softmax(scores) * mask,
        lambda scores, mask: naive(scores) * mask,
    ),
    mistake(
        "infinite-after-softmax",
        "You put -inf into the weights after the softmax. Put it into the scores before it.",
        "after-softmax",
        lambda scores, mask: np.where(mask, softmax(scores), -np.inf),
    ),
    mistake(
        "softmax-twice",
        "You apply a softmax, then the mask, then a softmax again. "
        "Mask the scores, then one softmax.",
        "after-softmax",
        lambda scores, mask: softmax(hidden(softmax(scores), mask)),
        lambda scores, mask: masked(softmax(scores), mask),
        lambda scores, mask: softmax(softmax(scores) * mask),
    ),
    mistake(
        "masked-maximum",
        "You subtract the maximum of all scores, also of masked ones. A large masked score then "
        "makes all others vanish: 0 / 0. Masked scores may not influence anything.",
        "not-infinite",
        max_over_masked_too,
        lambda scores, mask: zeros_for_nan(max_over_masked_too(scores, mask)),
        lambda scores, mask: divided(
            np.where(mask, np.exp(scores - scores.max(axis=-1, keepdims=True)), 0)
        ),
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
        "not-infinite",
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
        "adds-to-anything",
        "A masked score that is inf or nan reaches your result: inf + -inf and nan + -inf are nan. "
        "Replace masked scores (np.where) rather than adding to them.",
        "forbidden",
        lambda scores, mask: masked(scores + np.where(mask, 0, -np.inf)),
        lambda scores, mask: zeros_for_nan(softmax(scores + np.where(mask, 0, -np.inf))),
        lambda scores, mask: np.where(mask, softmax(scores + np.where(mask, 0, -np.inf)), 0),
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
        "after-softmax",
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
