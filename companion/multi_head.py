"""Several attentions side by side. Taught in chapter 6, *Multi-head attention*."""

from typing import NamedTuple

import numpy as np

from companion import _validation as check
from companion.queries_keys_values import project
from companion.value_updates import attention_steps


def split_heads(X, n_heads):
    r"""Cut every row into equal pieces, one a head, and put the heads in front.

    .. math:: H_h = X_{:,\; h d : (h + 1) d}

    Parameters
    ----------
    X : array_like, shape (..., n, n_heads * d)
    n_heads : int

    Returns
    -------
    ndarray, shape (..., n_heads, n, d)
        Head h holds columns ``h * d`` to ``(h + 1) * d`` of every row. Same dtype as `X`.

    Raises
    ------
    ValueError
        If the last axis is not a multiple of `n_heads`, or `X` has fewer than two axes.
    TypeError
        If `n_heads` is not an integer.

    Notes
    -----
    Reshaping straight to (n_heads, n, d) has the right shape and mixes tokens between heads.

    Examples
    --------
    >>> print(split_heads(np.arange(8).reshape(2, 4), 2))
    [[[0 1]
      [4 5]]
    <BLANKLINE>
     [[2 3]
      [6 7]]]
    """
    X = check.as_array(X, "X")
    check.need_axes(X, "X", "(n, n_heads * d)")
    n_heads = check.need_count(n_heads, "n_heads", least=1)
    *leading, n, width = X.shape
    if width % n_heads:
        raise ValueError(
            f"the last axis of X must be a multiple of n_heads={n_heads}; got X of shape {X.shape}"
        )

    rows_of_heads = X.reshape(*leading, n, n_heads, width // n_heads)  # (..., n, n_heads, d)
    return rows_of_heads.swapaxes(-3, -2).copy()  # (..., n_heads, n, d)


def concat_heads(heads):
    r"""Put the heads' rows side by side again: the inverse of `split_heads`.

    .. math:: X = [\, H_1 \; H_2 \; \cdots \; H_h \,]

    Parameters
    ----------
    heads : array_like, shape (..., n_heads, n, d)

    Returns
    -------
    ndarray, shape (..., n, n_heads * d)
        Same dtype as `heads`.

    Raises
    ------
    ValueError
        If `heads` has fewer than three axes.

    Examples
    --------
    >>> print(concat_heads([[[0, 1], [4, 5]], [[2, 3], [6, 7]]]))
    [[0 1 2 3]
     [4 5 6 7]]
    """
    heads = check.as_array(heads, "heads")
    check.need_axes(heads, "heads", "(n_heads, n, d)")
    *leading, n_heads, n, d = heads.shape

    rows_of_heads = heads.swapaxes(-3, -2)  # (..., n, n_heads, d)
    return rows_of_heads.copy().reshape(*leading, n, n_heads * d)  # (..., n, n_heads * d)


class MultiHeadSteps(NamedTuple):
    """What multi-head attention computes on the way to its output."""

    Q: np.ndarray
    """Queries, shape (..., n_heads, n_queries, d_k)."""
    K: np.ndarray
    """Keys, shape (..., n_heads, n_keys, d_k)."""
    V: np.ndarray
    """Values, shape (..., n_heads, n_keys, d_v)."""
    scores: np.ndarray
    """Scaled, before the mask, shape (..., n_heads, n_queries, n_keys)."""
    weights: np.ndarray
    """Shape (..., n_heads, n_queries, n_keys)."""
    heads: np.ndarray
    """Each head's weighted values, shape (..., n_heads, n_queries, d_v)."""
    concat: np.ndarray
    """The heads side by side, shape (..., n_queries, n_heads * d_v)."""
    output: np.ndarray
    """After W_O, shape (..., n_queries, d_out)."""


class MultiHeadAttention:
    r"""Attention with several heads, each with its own matrices, joined by one output matrix.

    .. math::

        \mathrm{head}_h = \mathrm{attention}(X W_Q^h,\, C W_K^h,\, C W_V^h), \qquad
        \mathrm{output} = [\,\mathrm{head}_1 \cdots \mathrm{head}_H\,]\, W_O

    Parameters
    ----------
    W_Q, W_K : array_like, shape (n_heads, d_model, d_k)
    W_V : array_like, shape (n_heads, d_model, d_v)
    W_O : array_like, shape (n_heads * d_v, d_out)
    b_Q, b_K : array_like, shape (n_heads, d_k), optional
    b_V : array_like, shape (n_heads, d_v), optional
    b_O : array_like, shape (d_out,), optional
        Biases; none if not given.

    Attributes
    ----------
    n_heads, d_model, d_k, d_v, d_out : int
        The sizes, read from the matrices.

    Raises
    ------
    ValueError
        If the shapes do not fit together.
    TypeError
        If an input does not hold real numbers.

    Notes
    -----
    Section 3.2.2 of Vaswani et al. (2017). The arrays are copied, so changing yours later
    changes nothing here.

    Examples
    --------
    One token attends to itself alone, so its value passes through unchanged:

    >>> one = np.ones((1, 1, 1))
    >>> mha = MultiHeadAttention(one, one, [[[1, 2]]], 2 * np.eye(2))
    >>> print(mha([[1]]))
    [[2. 4.]]
    """

    def __init__(self, W_Q, W_K, W_V, W_O, b_Q=None, b_K=None, b_V=None, b_O=None):
        self.W_Q = check.as_float(W_Q, "W_Q").copy()
        self.W_K = check.as_float(W_K, "W_K").copy()
        self.W_V = check.as_float(W_V, "W_V").copy()
        self.W_O = check.as_float(W_O, "W_O").copy()
        if self.W_Q.ndim != 3:
            raise ValueError(
                f"W_Q must have shape (n_heads, d_model, d_k); got shape {self.W_Q.shape}"
            )
        self.n_heads, self.d_model, self.d_k = self.W_Q.shape
        if self.n_heads == 0 or self.d_k == 0:
            raise ValueError(
                f"n_heads and d_k must be at least 1; got W_Q of shape {self.W_Q.shape}"
            )
        check.need_shape(self.W_K, "W_K", self.W_Q.shape, "(n_heads, d_model, d_k)")
        if self.W_V.ndim != 3 or self.W_V.shape[:2] != self.W_Q.shape[:2]:
            raise ValueError(
                f"W_V must have shape (n_heads={self.n_heads}, d_model={self.d_model}, d_v); "
                f"got shape {self.W_V.shape}"
            )
        self.d_v = self.W_V.shape[2]
        if self.W_O.ndim != 2 or self.W_O.shape[0] != self.n_heads * self.d_v:
            raise ValueError(
                f"W_O must have shape (n_heads * d_v={self.n_heads * self.d_v}, d_out); "
                f"got shape {self.W_O.shape}"
            )
        self.d_out = self.W_O.shape[1]
        self.b_Q = _bias(b_Q, "b_Q", (self.n_heads, self.d_k), "(n_heads, d_k)")
        self.b_K = _bias(b_K, "b_K", (self.n_heads, self.d_k), "(n_heads, d_k)")
        self.b_V = _bias(b_V, "b_V", (self.n_heads, self.d_v), "(n_heads, d_v)")
        self.b_O = _bias(b_O, "b_O", (self.d_out,), "(d_out,)")

    def __call__(self, X, context=None, mask=None):
        """Return the output of all heads together.

        Parameters
        ----------
        X : array_like, shape (..., n_queries, d_model)
            What the queries are made from.
        context : array_like, shape (..., n_keys, d_model), optional
            What keys and values are made from; `X` itself if not given (self-attention).
        mask : array_like of bool, optional
            True where a query may attend to a key. Broadcastable to (..., n_queries, n_keys)
            and then shared by all heads; with one axis more than `X` it is
            (..., n_heads, n_queries, n_keys).

        Returns
        -------
        ndarray, shape (..., n_queries, d_out)

        Raises
        ------
        ValueError
            If shapes do not fit.
        TypeError
            If an input does not hold real numbers, or `mask` is not boolean.
        """
        return self.steps(X, context, mask).output

    @np.errstate(**check.SILENT)
    def steps(self, X, context=None, mask=None):
        """Return everything that lies on the way to the output.

        Parameters
        ----------
        X, context, mask
            As for calling the object.

        Returns
        -------
        MultiHeadSteps
            Named tuple of `Q`, `K`, `V`, `scores`, `weights`, `heads`, `concat`, `output`.
        """
        X, C, dtype = self._inputs(X, context)

        Q = split_heads(project(X, *_joined(self.W_Q, self.b_Q)), self.n_heads)
        K = split_heads(project(C, *_joined(self.W_K, self.b_K)), self.n_heads)
        V = split_heads(project(C, *_joined(self.W_V, self.b_V)), self.n_heads)
        mask = self._mask_for_heads(mask, X, C)
        scores, weights, heads = attention_steps(Q, K, V, mask)  # heads: (..., n_heads, n, d_v)
        concat = concat_heads(heads)  # (..., n_queries, n_heads * d_v)
        output = project(concat, self.W_O, self.b_O)  # (..., n_queries, d_out)

        steps = (Q, K, V, scores, weights, heads, concat, output)
        return MultiHeadSteps(*(a.astype(dtype, copy=False) for a in steps))

    def _inputs(self, X, context):
        """Return `X` and the context in the dtype to compute in, and the result's dtype."""
        arrays = {"X": X, "context": X if context is None else context}
        weights = {
            name: getattr(self, name)
            for name in ("W_Q", "W_K", "W_V", "W_O", "b_Q", "b_K", "b_V", "b_O")
            if getattr(self, name) is not None
        }
        (X, C, *_), dtype = check.as_floats(**arrays, **weights)
        for array, name, rows in ((X, "X", "n_queries"), (C, "context", "n_keys")):
            check.need_axes(array, name, f"({rows}, d_model)")
            if array.shape[-1] != self.d_model:
                raise ValueError(
                    f"{name} must have shape (..., {rows}, d_model={self.d_model}); "
                    f"got shape {array.shape}"
                )
        if C.shape[:-2] != X.shape[:-2]:
            raise ValueError(
                "context must have the same leading axes as X; "
                f"got X of shape {X.shape} and context of shape {C.shape}"
            )
        return X, C, dtype

    def _mask_for_heads(self, mask, X, C):
        """Return the mask with an axis for the heads, of size 1 where they share it."""
        if mask is None:
            return None
        shape = (*X.shape[:-1], C.shape[-2])  # (..., n_queries, n_keys)
        mask = check.as_array(mask, "mask")
        if mask.ndim > X.ndim:
            return check.need_mask(mask, (*shape[:-2], self.n_heads, *shape[-2:]))
        return check.need_mask(mask, shape)[..., None, :, :]  # (..., 1, n_queries, n_keys)


def _bias(b, name, shape, meaning):
    if b is None:
        return None
    b = check.as_float(b, name).copy()
    check.need_shape(b, name, shape, meaning)
    return b


def _joined(W, b):
    """Put the heads' matrices side by side, so that one product serves all heads."""
    return np.concatenate(W, axis=-1), None if b is None else b.reshape(-1)
