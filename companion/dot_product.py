"""Dot products and what they measure. Taught in chapter 1, *Dot-product alignment*."""

import numpy as np

from companion import _validation as check


@np.errstate(**check.SILENT)
def dot(a, b):
    r"""Multiply two vectors entry by entry and add up.

    .. math:: a \cdot b = \sum_i a_i b_i

    Parameters
    ----------
    a, b : array_like, shape (..., d)
        Vectors along the last axis. Leading axes are broadcast, so one vector can be
        compared with each of many.

    Returns
    -------
    float or ndarray, shape (...)
        One number for each pair of vectors; large where they point the same way and are long.

    Raises
    ------
    ValueError
        If the vectors differ in length, or the leading axes do not agree.
    TypeError
        If an input does not hold real numbers.

    Notes
    -----
    Also called the scalar or inner product. Integers and booleans are computed in float64,
    float16 in float32; the result has the dtype of the inputs.

    Examples
    --------
    >>> print(dot([1, 2, 3], [4, 5, 6]))
    32.0
    >>> print(dot([[1, 0], [0, 1], [-1, 0]], [2, 1]))
    [ 2.  1. -2.]
    """
    (a, b), dtype = check.as_floats(a=a, b=b)
    check.need_axes(a, "a", "(d,)")
    check.need_axes(b, "b", "(d,)")
    check.need_same(a, "a", -1, b, "b", -1, "d")
    check.need_leading(a, "a", b, "b", own_axes=1)

    return (a * b).sum(axis=-1).astype(dtype, copy=False)  # (...)


@np.errstate(**check.SILENT)
def cosine_similarity(a, b):
    r"""Return the cosine of the angle between two vectors: their alignment without their length.

    .. math:: \cos(a, b) = \frac{a \cdot b}{\lVert a \rVert \, \lVert b \rVert}

    Parameters
    ----------
    a, b : array_like, shape (..., d)
        Vectors along the last axis. Leading axes are broadcast.

    Returns
    -------
    float or ndarray, shape (...)
        Between -1 (opposite) and 1 (same direction); 0 for perpendicular vectors.
        A vector of zeros, or of no entries, has no direction: its cosine is nan.

    Raises
    ------
    ValueError
        If the vectors differ in length, or the leading axes do not agree.
    TypeError
        If an input does not hold real numbers.

    Notes
    -----
    Each vector is divided by its largest entry first, so that neither huge nor tiny vectors
    overflow or vanish in the squares. The result is clipped to [-1, 1], so that ``np.arccos``
    accepts it.

    Examples
    --------
    >>> print(cosine_similarity([1, 0], [10, 0]))
    1.0
    >>> print(round(float(cosine_similarity([3, 4], [4, 3])), 2))
    0.96
    """
    (a, b), dtype = check.as_floats(a=a, b=b)
    a, b = _in_range(a, "a"), _in_range(b, "b")

    cosine = dot(a, b) / (np.sqrt(dot(a, a)) * np.sqrt(dot(b, b)))  # (...)
    return np.clip(cosine, -1, 1).astype(dtype, copy=False)  # (...)


@np.errstate(**check.SILENT)
def alignment_matrix(A, B):
    r"""Take the dot product of every row of one matrix with every row of another.

    .. math:: S = A B^\top, \qquad S_{ij} = a_i \cdot b_j

    Parameters
    ----------
    A : array_like, shape (..., n, d)
    B : array_like, shape (..., m, d)

    Returns
    -------
    ndarray, shape (..., n, m)
        Row i holds the dot products of A's row i.

    Raises
    ------
    ValueError
        If the rows differ in length, an input has fewer than two axes, or the leading axes
        do not agree.
    TypeError
        If an input does not hold real numbers.

    Notes
    -----
    With queries as rows of `A` and keys as rows of `B` this is the table of attention scores
    before scaling.

    Examples
    --------
    >>> print(alignment_matrix([[1, 0], [1, 1]], [[2, 0], [0, 3], [1, -1]]))
    [[2. 0. 1.]
     [2. 3. 0.]]
    """
    (A, B), dtype = check.as_floats(A=A, B=B)
    check.need_axes(A, "A", "(n, d)")
    check.need_axes(B, "B", "(m, d)")
    check.need_same(A, "A", -1, B, "B", -1, "d")
    check.need_leading(A, "A", B, "B", own_axes=2)

    return (A @ B.mT).astype(dtype, copy=False)  # (..., n, m)


def _in_range(a, name):
    """Return `a` divided by its largest entry, which has the same direction."""
    check.need_axes(a, name, "(d,)")
    return a / np.abs(a).max(axis=-1, keepdims=True, initial=0)  # (..., d)
