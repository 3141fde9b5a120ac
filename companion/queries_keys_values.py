"""Projections and attention scores. Taught in chapter 3, *Queries, keys and values*."""

import math

import numpy as np

from companion import _validation as check


@np.errstate(**check.SILENT)
def project(X, W, b=None):
    r"""Map every vector by one matrix: into queries, keys or values.

    .. math:: Q = X W_Q + b_Q

    Parameters
    ----------
    X : array_like, shape (..., d_in)
        One vector, or one a row.
    W : array_like, shape (d_in, d_out)
        Rows belong to the entries of the input, columns to those of the output.
    b : array_like, shape (d_out,), optional
        Bias added to every row.

    Returns
    -------
    ndarray, shape (..., d_out)

    Raises
    ------
    ValueError
        If `W` is not a matrix with d_in rows, or `b` not a vector of length d_out.
    TypeError
        If an input does not hold real numbers.

    Notes
    -----
    PyTorch's ``nn.Linear`` stores the transpose, of shape (d_out, d_in), and computes
    ``X @ W.T``. A square matrix used the wrong way round gives no error, only wrong numbers.

    Examples
    --------
    >>> print(project([1, 0], [[1, 2], [3, 4]]))
    [1. 2.]
    """
    arrays = {"X": X, "W": W} if b is None else {"X": X, "W": W, "b": b}
    (X, W, *b), dtype = check.as_floats(**arrays)
    check.need_axes(X, "X", "(d_in,)")
    if W.ndim != 2:
        raise ValueError(f"W must have shape (d_in, d_out); got shape {W.shape}")
    check.need_same(X, "X", -1, W, "W", 0, "d_in")

    projected = X @ W  # (..., d_out)
    if b:
        check.need_shape(b[0], "b", (W.shape[1],), "(d_out,)")
        projected = projected + b[0]
    return projected.astype(dtype, copy=False)


@np.errstate(**check.SILENT)
def attention_scores(Q, K, scale=None):
    r"""Score every query against every key: how well the key answers the query.

    .. math:: S = \frac{Q K^\top}{\sqrt{d_k}}

    Parameters
    ----------
    Q : array_like, shape (..., n_queries, d_k)
    K : array_like, shape (..., n_keys, d_k)
    scale : float, optional
        What the dot products are multiplied by; ``1 / sqrt(d_k)`` if not given.

    Returns
    -------
    ndarray, shape (..., n_queries, n_keys)
        Scores before any mask and before the softmax. Row i belongs to query i.

    Raises
    ------
    ValueError
        If the queries and keys differ in length or have no entries, an input has fewer than
        two axes, or the leading axes do not agree.
    TypeError
        If an input does not hold real numbers.

    Notes
    -----
    Equation 1 of Vaswani et al. (2017) without softmax and values. Dot products of independent
    entries with variance 1 have variance d_k; dividing by its root brings it back to 1.
    Others call the scores logits or energies.

    Examples
    --------
    >>> print(attention_scores([[2, 0, 0, 0]], [[1, 5, 5, 5], [3, 0, 0, 0]]))
    [[1. 3.]]
    """
    (Q, K), dtype = check.as_floats(Q=Q, K=K)
    check.need_axes(Q, "Q", "(n_queries, d_k)")
    check.need_axes(K, "K", "(n_keys, d_k)")
    check.need_same(Q, "Q", -1, K, "K", -1, "d_k")
    check.need_leading(Q, "Q", K, "K", own_axes=2)
    d_k = Q.shape[-1]
    if scale is None:
        if d_k == 0:
            raise ValueError(f"d_k must be at least 1; got Q of shape {Q.shape}")
        scale = 1 / math.sqrt(d_k)
    scale = check.need_number(scale, "scale", Q.dtype)

    scores = Q @ K.mT * scale  # (..., n_queries, n_keys)
    return scores.astype(dtype, copy=False)
