"""Checks for the exercises: each runs a function and says which mistake was made, if any.

>>> from companion import checks
>>> checks.check_dot(lambda a, b: a * b)
dot: not right yet
<BLANKLINE>
✗ not-added-up
  You return the products of the entries, one for each. The dot product is their sum: ...
  a = [3]
  b = [-2]
  expected: -6
  received: [-6]
  see chapter 1, Dot-product alignment: Two lists that agree

Each takes one callable, `candidate`, with the signature that its docstring names, and returns a
`Report`, which is what a notebook shows. It raises nothing, whatever the callable does.

Any callable is fine. Loops, einsum, other dtypes and other orders of operations are right if the
values are; nested lists of numbers count as arrays. Only a mask must be boolean, because nothing
in the package accepts another. What the function raises, returns of another type or shape, or
does to its inputs is a failure; what it prints, and a warning, is a hint and costs nothing. A
function that does not end is stopped after 3 seconds (``companion.checks.running`` says how).
"""

from companion.checks.exercises import EXERCISES
from companion.checks.judging import judge
from companion.checks.mistakes import MISTAKES
from companion.checks.report import Failure, Report

__all__ = ["Failure", "Report", *(f"check_{name}" for name in EXERCISES), "known_mistakes"]


def check_dot(candidate):
    """Check a ``dot(a, b)``: the dot product of two vectors."""
    return judge("dot", candidate)


def check_cosine_similarity(candidate):
    """Check a ``cosine_similarity(a, b)`` of two vectors."""
    return judge("cosine_similarity", candidate)


def check_softmax(candidate):
    """Check a ``softmax(x, axis=-1)``."""
    return judge("softmax", candidate)


def check_attention_scores(candidate):
    """Check an ``attention_scores(Q, K)``: scaled dot products, (..., n_queries, n_keys)."""
    return judge("attention_scores", candidate)


def check_causal_mask(candidate):
    """Check a ``causal_mask(n)``: boolean, (n, n), True = may attend."""
    return judge("causal_mask", candidate)


def check_padding_mask(candidate):
    """Check a ``padding_mask(lengths, n_keys)``: boolean, (batch, 1, n_keys), True = real key."""
    return judge("padding_mask", candidate)


def check_masked_softmax(candidate):
    """Check a ``masked_softmax(scores, mask)``; a row without any True gets zeros."""
    return judge("masked_softmax", candidate)


def check_weighted_values(candidate):
    """Check a ``weighted_values(weights, V)``: (..., n_queries, d_v)."""
    return judge("weighted_values", candidate)


def check_attention(candidate):
    """Check an ``attention(Q, K, V, mask=None)``: (..., n_queries, d_v)."""
    return judge("attention", candidate)


def check_residual_update(candidate):
    """Check a ``residual_update(E, delta_E)`` that leaves `E` as it was."""
    return judge("residual_update", candidate)


def check_split_heads(candidate):
    """Check a ``split_heads(X, n_heads)``: (..., n, n_heads * d) to (..., n_heads, n, d)."""
    return judge("split_heads", candidate)


def check_concat_heads(candidate):
    """Check a ``concat_heads(heads)``: (..., n_heads, n, d) to (..., n, n_heads * d)."""
    return judge("concat_heads", candidate)


def check_multi_head(candidate):
    """Check a ``multi_head(X, W_Q, W_K, W_V, W_O)`` for `X` of shape (n, d_model)."""
    return judge("multi_head", candidate)


def check_layer_norm(candidate):
    """Check a ``layer_norm(X, gamma, beta)`` with eps = 1e-12, over the last axis."""
    return judge("layer_norm", candidate)


def check_feed_forward(candidate):
    """Check a ``feed_forward(X, W_1, b_1, W_2, b_2)`` with gelu: what is added to `X`."""
    return judge("feed_forward", candidate)


def known_mistakes():
    """Return (exercise, code, message) of every mistake that the checks know by name."""
    return [(name, row.code, row.message) for name, table in MISTAKES.items() for row in table]
