"""Masks: which key a query may attend to. Taught in chapter 4, *Masking*.

Everywhere in this package a mask is boolean and ``True`` means *may attend*.
"""

import numpy as np

from companion import _validation as check
from companion.distributions import softmax


def causal_mask(n_queries, n_keys=None):
    r"""Let each query attend to its own position and the ones before it.

    .. math:: M_{ij} = \bigl[\, j \le i + n_{keys} - n_{queries} \,\bigr]

    Parameters
    ----------
    n_queries : int
    n_keys : int, optional
        As many as queries if not given.

    Returns
    -------
    ndarray of bool, shape (n_queries, n_keys)
        True where the query (row) may attend to the key (column): the lower triangle.

    Raises
    ------
    ValueError
        If a count is negative.
    TypeError
        If a count is not an integer.

    Notes
    -----
    With fewer queries than keys the queries are the *last* positions (bottom-right alignment),
    as in decoding one token at a time with stored keys. With more queries than keys the first
    rows have nothing to attend to. Where queries are columns, the same mask is the *upper*
    triangle.

    Examples
    --------
    >>> print(causal_mask(3).astype(int))
    [[1 0 0]
     [1 1 0]
     [1 1 1]]
    >>> print(causal_mask(2, 5).astype(int))
    [[1 1 1 1 0]
     [1 1 1 1 1]]
    """
    n_queries = check.need_count(n_queries, "n_queries")
    n_keys = n_queries if n_keys is None else check.need_count(n_keys, "n_keys")

    return np.tri(n_queries, n_keys, k=n_keys - n_queries, dtype=bool)  # (n_queries, n_keys)


def padding_mask(lengths, n_keys):
    r"""Hide the padding at the end of shorter sequences from every query.

    .. math:: M_{b1j} = [\, j < \mathrm{length}_b \,]

    Parameters
    ----------
    lengths : array_like of int, shape (...)
        How many of the keys are real, for each sequence of the batch.
    n_keys : int
        The length that all sequences were padded to.

    Returns
    -------
    ndarray of bool, shape (..., 1, n_keys)
        True for real keys. The axis of size 1 stands for the queries, so that the mask of
        sequence b meets the scores of sequence b.

    Raises
    ------
    ValueError
        If a length is below 0 or above `n_keys`.
    TypeError
        If the lengths or `n_keys` are not integers.

    Notes
    -----
    Padding queries are left alone: their outputs are computed and ignored. Combine with
    ``causal_mask(n) & padding_mask(lengths, n)``.

    Examples
    --------
    >>> print(padding_mask([3, 1], 4).astype(int))
    [[[1 1 1 0]]
    <BLANKLINE>
     [[1 0 0 0]]]
    """
    n_keys = check.need_count(n_keys, "n_keys")
    lengths = check.as_array(lengths, "lengths")
    if lengths.dtype.kind not in "iu" and lengths.size:
        raise TypeError(f"lengths must be integers; got dtype {lengths.dtype}")
    if lengths.size and (lengths.min() < 0 or lengths.max() > n_keys):
        raise ValueError(
            f"lengths must lie between 0 and n_keys={n_keys}; "
            f"got lengths from {lengths.min()} to {lengths.max()}"
        )

    return np.arange(n_keys) < lengths[..., None, None]  # (..., 1, n_keys)


@np.errstate(**check.SILENT)
def masked_softmax(scores, mask=None):
    r"""Spread each query's weight over the keys that it may attend to.

    .. math::

        A_{ij} = \frac{M_{ij}\, e^{S_{ij}}}{\sum_{j'} M_{ij'}\, e^{S_{ij'}}}

    Parameters
    ----------
    scores : array_like, shape (..., n_queries, n_keys)
    mask : array_like of bool, broadcastable to the shape of `scores`, optional
        True where the query may attend to the key.

    Returns
    -------
    ndarray, same shape as `scores`
        Weights. Exactly 0 where masked. Each row adds up to 1, or to 0 if its query has nothing
        to attend to.

    Raises
    ------
    ValueError
        If `mask` would enlarge the scores or does not fit them.
    TypeError
        If `mask` is not boolean; the message says how to convert an additive or a 0/1 mask.

    Notes
    -----
    Masked scores are replaced before the softmax, so what they hold (huge, inf, nan) cannot
    reach the result. A nan among the *allowed* scores makes the allowed weights of its row nan.
    A query with nothing to attend to gets zeros, as in PyTorch's
    ``scaled_dot_product_attention`` since 2.5 and in ONNX; others return the mean or nan.

    Examples
    --------
    >>> print(masked_softmax([[0, np.log(3), 9]], [[True, True, False]]).round(2))
    [[0.25 0.75 0.  ]]
    >>> print(masked_softmax([[1, 2]], [[False, False]]))
    [[0. 0.]]
    """
    (scores,), dtype = check.as_floats(scores=scores)
    check.need_axes(scores, "scores", "(n_keys,)")
    mask = check.need_mask(True if mask is None else mask, scores.shape)

    weights = softmax(np.where(mask, scores, -np.inf))  # (..., n_queries, n_keys)
    weights = np.where(mask, weights, 0)  # a row without any True came out as nan
    return weights.astype(dtype, copy=False)
