"""What a token takes over from others. Taught in chapter 5, *Value updates*."""

from typing import NamedTuple

import numpy as np

from companion import _validation as check
from companion.masking import masked_softmax
from companion.queries_keys_values import attention_scores


class AttentionSteps(NamedTuple):
    """What one attention computes on the way from queries, keys and values to its output."""

    scores: np.ndarray
    """Scaled dot products before the mask, shape (..., n_queries, n_keys)."""
    weights: np.ndarray
    """Softmax of the scores over the allowed keys, shape (..., n_queries, n_keys)."""
    output: np.ndarray
    """Weighted sums of the values, shape (..., n_queries, d_v)."""


@np.errstate(**check.SILENT)
def weighted_values(weights, V):
    r"""Mix the values of all keys, each by its weight.

    .. math:: O = A V, \qquad o_i = \sum_j A_{ij} v_j

    Parameters
    ----------
    weights : array_like, shape (..., n_queries, n_keys)
        Row i says how much query i takes from each key.
    V : array_like, shape (..., n_keys, d_v)

    Returns
    -------
    ndarray, shape (..., n_queries, d_v)

    Raises
    ------
    ValueError
        If there are not as many values as keys, an input has fewer than two axes, or the
        leading axes do not agree.
    TypeError
        If an input does not hold real numbers.

    Notes
    -----
    The result is often called the context vector.

    Examples
    --------
    >>> print(weighted_values([[0.25, 0.75], [0.5, 0.5]], [[10], [20]]))
    [[17.5]
     [15. ]]
    """
    (weights, V), dtype = check.as_floats(weights=weights, V=V)
    check.need_axes(weights, "weights", "(n_queries, n_keys)")
    check.need_axes(V, "V", "(n_keys, d_v)")
    check.need_same(weights, "weights", -1, V, "V", -2, "n_keys")
    check.need_leading(weights, "weights", V, "V", own_axes=2)

    return (weights @ V).astype(dtype, copy=False)  # (..., n_queries, d_v)


def attention(Q, K, V, mask=None, scale=None):
    r"""Return what each query collects from the values: scaled dot-product attention.

    .. math:: \mathrm{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V

    Parameters
    ----------
    Q : array_like, shape (..., n_queries, d_k)
    K : array_like, shape (..., n_keys, d_k)
    V : array_like, shape (..., n_keys, d_v)
    mask : array_like of bool, broadcastable to (..., n_queries, n_keys), optional
        True where the query may attend to the key.
    scale : float, optional
        What the dot products are multiplied by; ``1 / sqrt(d_k)`` if not given.

    Returns
    -------
    ndarray, shape (..., n_queries, d_v)
        Zero for a query with nothing to attend to.

    Raises
    ------
    ValueError
        If shapes do not fit.
    TypeError
        If an input does not hold real numbers, or `mask` is not boolean.

    See Also
    --------
    attention_steps : The same, with scores and weights.

    Notes
    -----
    Equation 1 of Vaswani et al. (2017). PyTorch: ``scaled_dot_product_attention``, where a
    boolean mask has the same meaning; in ``nn.MultiheadAttention`` it has the opposite one.
    Axes are matched from the right, as everywhere in NumPy: beside ``Q`` of shape
    (batch, heads, n_queries, d_k), one padding mask a text is (batch, 1, 1, n_keys).

    Examples
    --------
    >>> print(attention([[0, 0]], [[1, 2], [3, 4]], [[10], [20]]))
    [[15.]]
    """
    return attention_steps(Q, K, V, mask, scale).output


@np.errstate(**check.SILENT)
def attention_steps(Q, K, V, mask=None, scale=None):
    r"""Compute attention and keep what lies on the way.

    .. math::

        S = \frac{Q K^\top}{\sqrt{d_k}}, \qquad
        A = \mathrm{softmax}(S), \qquad
        O = A V

    Parameters
    ----------
    Q : array_like, shape (..., n_queries, d_k)
    K : array_like, shape (..., n_keys, d_k)
    V : array_like, shape (..., n_keys, d_v)
    mask : array_like of bool, broadcastable to (..., n_queries, n_keys), optional
        True where the query may attend to the key.
    scale : float, optional
        What the dot products are multiplied by; ``1 / sqrt(d_k)`` if not given.

    Returns
    -------
    AttentionSteps
        Named tuple of `scores` (scaled, before the mask), `weights` and `output`.

    Raises
    ------
    ValueError
        If shapes do not fit.
    TypeError
        If an input does not hold real numbers, or `mask` is not boolean.

    Notes
    -----
    A masked key takes no part at all: not even if its score or its value is inf or nan.
    float16 input is computed in float32 from end to end and rounded once.

    Examples
    --------
    >>> steps = attention_steps([[2, 0, 0, 0]], [[1, 5, 5, 5], [3, 0, 0, 0]], [[0], [1]])
    >>> print(steps.scores, steps.weights.round(3), steps.output.round(3))
    [[1. 3.]] [[0.119 0.881]] [[0.881]]
    """
    (Q, K, V), dtype = check.as_floats(Q=Q, K=K, V=V)

    scores = attention_scores(Q, K, scale)  # (..., n_queries, n_keys)
    weights = masked_softmax(scores, mask)  # (..., n_queries, n_keys)
    output = weighted_values(weights, V)  # (..., n_queries, d_v)
    if mask is not None and not np.isfinite(V).all():
        output = _without_masked_values(weights, V, mask)

    return AttentionSteps(*(a.astype(dtype, copy=False) for a in (scores, weights, output)))


@np.errstate(**check.SILENT)
def residual_update(E, delta_E):
    r"""Add an update to the embeddings that it was computed from.

    .. math:: E' = E + \Delta E

    Parameters
    ----------
    E : array_like, shape (..., n, d_model)
        What the tokens were.
    delta_E : array_like, same shape as `E`
        What attention adds to each.

    Returns
    -------
    ndarray, same shape as `E`
        A new array; `E` stays as it was.

    Raises
    ------
    ValueError
        If the shapes differ: an update belongs to one token each and is never broadcast.
    TypeError
        If an input does not hold real numbers.

    Notes
    -----
    Also called a residual or skip connection: the input is kept and the update is added to it.

    Examples
    --------
    >>> print(residual_update([[1, 2]], [[10, 20]]))
    [[11. 22.]]
    """
    (E, delta_E), dtype = check.as_floats(E=E, delta_E=delta_E)
    check.need_shape(delta_E, "delta_E", E.shape, "E.shape")

    return (E + delta_E).astype(dtype, copy=False)  # (..., n, d_model)


def _without_masked_values(weights, V, mask):
    """Return ``weights @ V`` where a masked key adds nothing; a plain product has 0 * nan = nan."""
    mask = np.broadcast_to(mask, weights.shape)
    finite = np.isfinite(V)
    output = weighted_values(weights, np.where(finite, V, 0))
    meets_nonfinite = mask @ ~finite  # (..., n_queries, d_v), boolean: any allowed key holds one
    terms = weights[..., None] * V[..., None, :, :]  # (..., n_queries, n_keys, d_v)
    total = np.where(mask[..., None], terms, 0).sum(axis=-2)
    return np.where(meets_nonfinite, total, output)
