"""Checks for the exercises: each runs a function and says which mistake was made, if any.

>>> from companion import checks
>>> checks.check_softmax(lambda x, axis=-1: x)  # doctest: +ELLIPSIS
softmax: not right yet
...

Any callable is fine: loops, einsum, other dtypes and other orders of operations are right if the
values are. Nested lists of numbers count as arrays. What the function prints is a hint, and so is
a warning; what it raises, or does to its inputs, is a failure.
"""

from companion.checks.exercises import EXERCISES
from companion.checks.judging import judge
from companion.checks.report import Failure, Report

__all__ = ["Failure", "Report", *(f"check_{name}" for name in EXERCISES)]


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
    """Check a ``padding_mask(lengths, n_keys)``: boolean, (..., 1, n_keys), True = may attend."""
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
