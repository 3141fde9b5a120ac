"""How a loss changes with every matrix of an attention. Taught in chapter 8, *Learning*.

A *gradient* here is an array of the same shape as what it belongs to: each entry is the slope of
the loss with respect to that entry. A backward function takes what its forward function took,
and the gradient of what that returned. Unlike there, a masked key must hold finite numbers.
"""

from typing import NamedTuple

import numpy as np

from companion import _validation as check
from companion.multi_head import concat_heads, split_heads

__all__ = [
    "AttentionGradients",
    "MultiHeadGradients",
    "attention_backward",
    "finite_differences",
    "multi_head_backward",
    "project_backward",
    "scores_backward",
    "softmax_backward",
    "weighted_values_backward",
]


class AttentionGradients(NamedTuple):
    """Gradients of the three inputs of an attention."""

    Q: np.ndarray
    """Same shape as the queries."""
    K: np.ndarray
    """Same shape as the keys."""
    V: np.ndarray
    """Same shape as the values."""


class MultiHeadGradients(NamedTuple):
    """Gradients of the inputs, matrices and biases of a multi-head attention."""

    X: np.ndarray
    """Same shape as `X`; all three ways together where keys and values are made from it too."""
    context: np.ndarray | None
    """Same shape as the context; None if there was none."""
    W_Q: np.ndarray
    """Shape (n_heads, d_model, d_k)."""
    W_K: np.ndarray
    """Shape (n_heads, d_model, d_k)."""
    W_V: np.ndarray
    """Shape (n_heads, d_model, d_v)."""
    W_O: np.ndarray
    """Shape (n_heads * d_v, d_out)."""
    b_Q: np.ndarray
    """Shape (n_heads, d_k)."""
    b_K: np.ndarray
    """Shape (n_heads, d_k)."""
    b_V: np.ndarray
    """Shape (n_heads, d_v)."""
    b_O: np.ndarray
    """Shape (d_out,)."""


@np.errstate(**check.SILENT)
def softmax_backward(p, grad_p):
    r"""Bring a gradient from the weights of a softmax back to its scores.

    .. math::

        \frac{\partial L}{\partial s_j} = p_j \Bigl( g_j - \sum_i p_i\, g_i \Bigr),
        \qquad g_i = \frac{\partial L}{\partial p_i}

    Parameters
    ----------
    p : array_like, shape (..., n)
        What the softmax returned: weights that add up to 1 along the last axis.
    grad_p : array_like, shape (..., n)
        Slope of the loss with respect to each weight.

    Returns
    -------
    ndarray, shape (..., n)
        Slope of the loss with respect to each score. Each row adds up to 0; where a weight is 0,
        as for every masked key, the slope is 0.

    Raises
    ------
    ValueError
        If the shapes differ.
    TypeError
        If an input does not hold real numbers.

    Notes
    -----
    The same as ``softmax_jacobian(p) @ grad_p`` in each row, without building the n × n slopes.

    Examples
    --------
    >>> print(softmax_backward([0.25, 0.75], [8, 0]))
    [ 1.5 -1.5]
    """
    (p, grad_p), dtype = check.as_floats(p=p, grad_p=grad_p)
    check.need_axes(p, "p", "(n,)")
    check.need_shape(grad_p, "grad_p", p.shape, "p.shape")

    mean = (p * grad_p).sum(axis=-1, keepdims=True)  # (..., 1), each slope by its weight
    return (p * (grad_p - mean)).astype(dtype, copy=False)  # (..., n)


@np.errstate(**check.SILENT)
def scores_backward(Q, K, grad_scores, scale=None):
    r"""Bring a gradient from the scores back to queries and keys.

    .. math::

        \frac{\partial L}{\partial Q} = \frac{G K}{\sqrt{d_k}}, \qquad
        \frac{\partial L}{\partial K} = \frac{G^\top Q}{\sqrt{d_k}}, \qquad
        G = \frac{\partial L}{\partial S}

    Parameters
    ----------
    Q : array_like, shape (..., n_queries, d_k)
    K : array_like, shape (..., n_keys, d_k)
    grad_scores : array_like, shape (..., n_queries, n_keys)
        Slope of the loss with respect to each scaled score.
    scale : float, optional
        What the dot products were multiplied by; ``1 / sqrt(d_k)`` if not given.

    Returns
    -------
    grad_Q : ndarray, same shape as `Q`
    grad_K : ndarray, same shape as `K`

    Raises
    ------
    ValueError
        If shapes do not fit. Leading axes must be equal.
    TypeError
        If an input does not hold real numbers.

    Examples
    --------
    >>> grad_Q, grad_K = scores_backward([[2, 0, 0, 0]], [[1, 5, 5, 5], [3, 0, 0, 0]], [[1, -1]])
    >>> print(grad_Q)
    [[-1.   2.5  2.5  2.5]]
    >>> print(grad_K[:, 0])
    [ 1. -1.]
    """
    (Q, K, grad_scores), dtype = check.as_floats(Q=Q, K=K, grad_scores=grad_scores)
    check.need_axes(Q, "Q", "(n_queries, d_k)")
    check.need_axes(K, "K", "(n_keys, d_k)")
    *leading, n_queries, d_k = Q.shape
    n_keys = K.shape[-2]
    check.need_shape(K, "K", (*leading, n_keys, d_k), "(..., n_keys, d_k)")
    shape = (*leading, n_queries, n_keys)
    check.need_shape(grad_scores, "grad_scores", shape, "(..., n_queries, n_keys)")
    if scale is None:
        scale = 1 / np.sqrt(check.need_count(d_k, "d_k", least=1))
    scale = check.need_number(scale, "scale", Q.dtype)

    grad_Q = grad_scores @ K * scale  # (..., n_queries, d_k)
    grad_K = grad_scores.mT @ Q * scale  # (..., n_keys, d_k)
    return grad_Q.astype(dtype, copy=False), grad_K.astype(dtype, copy=False)


@np.errstate(**check.SILENT)
def weighted_values_backward(weights, V, grad_output):
    r"""Bring a gradient from the output of an attention back to weights and values.

    .. math::

        \frac{\partial L}{\partial A} = G V^\top, \qquad
        \frac{\partial L}{\partial V} = A^\top G, \qquad
        G = \frac{\partial L}{\partial O}

    Parameters
    ----------
    weights : array_like, shape (..., n_queries, n_keys)
    V : array_like, shape (..., n_keys, d_v)
    grad_output : array_like, shape (..., n_queries, d_v)
        Slope of the loss with respect to each number of the output.

    Returns
    -------
    grad_weights : ndarray, same shape as `weights`
        As if weights could move freely; `softmax_backward` takes care that they add up to 1.
    grad_V : ndarray, same shape as `V`

    Raises
    ------
    ValueError
        If shapes do not fit. Leading axes must be equal.
    TypeError
        If an input does not hold real numbers.

    Examples
    --------
    >>> grad_weights, grad_V = weighted_values_backward([[0.25, 0.75]], [[10], [20]], [[2]])
    >>> print(grad_weights, grad_V.T)
    [[20. 40.]] [[0.5 1.5]]
    """
    arrays = {"weights": weights, "V": V, "grad_output": grad_output}
    (weights, V, grad_output), dtype = check.as_floats(**arrays)
    check.need_axes(weights, "weights", "(n_queries, n_keys)")
    check.need_axes(V, "V", "(n_keys, d_v)")
    *leading, n_queries, n_keys = weights.shape
    d_v = V.shape[-1]
    check.need_shape(V, "V", (*leading, n_keys, d_v), "(..., n_keys, d_v)")
    shape = (*leading, n_queries, d_v)
    check.need_shape(grad_output, "grad_output", shape, "(..., n_queries, d_v)")

    grad_weights = grad_output @ V.mT  # (..., n_queries, n_keys)
    grad_V = weights.mT @ grad_output  # (..., n_keys, d_v)
    return grad_weights.astype(dtype, copy=False), grad_V.astype(dtype, copy=False)


@np.errstate(**check.SILENT)
def project_backward(X, W, grad_output):
    r"""Bring a gradient from a projection back to its input, its matrix and its bias.

    .. math::

        \frac{\partial L}{\partial X} = G W^\top, \qquad
        \frac{\partial L}{\partial W} = X^\top G, \qquad
        \frac{\partial L}{\partial b} = \sum_i G_i

    Parameters
    ----------
    X : array_like, shape (..., d_in)
    W : array_like, shape (d_in, d_out)
    grad_output : array_like, shape (..., d_out)
        Slope of the loss with respect to each number of ``X @ W + b``.

    Returns
    -------
    grad_X : ndarray, same shape as `X`
    grad_W : ndarray, same shape as `W`
        Summed over all rows, of all sequences: they share the matrix.
    grad_b : ndarray, shape (d_out,)

    Raises
    ------
    ValueError
        If shapes do not fit.
    TypeError
        If an input does not hold real numbers.

    Examples
    --------
    >>> grad_X, grad_W, grad_b = project_backward([1, 0], [[1, 2], [3, 4]], [10, 1])
    >>> print(grad_X, grad_b)
    [12. 34.] [10.  1.]
    >>> print(grad_W)
    [[10.  1.]
     [ 0.  0.]]
    """
    (X, W, grad_output), dtype = check.as_floats(X=X, W=W, grad_output=grad_output)
    check.need_axes(X, "X", "(d_in,)")
    if W.ndim != 2:
        raise ValueError(f"W must have shape (d_in, d_out); got shape {W.shape}")
    check.need_same(X, "X", -1, W, "W", 0, "d_in")
    shape = (*X.shape[:-1], W.shape[1])
    check.need_shape(grad_output, "grad_output", shape, "(..., d_out)")

    rows = int(np.prod(X.shape[:-1]))
    all_X = X.reshape(rows, W.shape[0])  # (rows, d_in)
    all_grad = grad_output.reshape(rows, W.shape[1])  # (rows, d_out)
    grads = (grad_output @ W.T, all_X.T @ all_grad, all_grad.sum(axis=0))
    return tuple(grad.astype(dtype, copy=False) for grad in grads)


def attention_backward(Q, K, V, weights, grad_output, scale=None):
    r"""Bring a gradient from the output of an attention back to queries, keys and values.

    Parameters
    ----------
    Q : array_like, shape (..., n_queries, d_k)
    K : array_like, shape (..., n_keys, d_k)
    V : array_like, shape (..., n_keys, d_v)
    weights : array_like, shape (..., n_queries, n_keys)
        The weights that the forward pass computed; 0 where a mask forbids.
    grad_output : array_like, shape (..., n_queries, d_v)
        Slope of the loss with respect to each number of the output.
    scale : float, optional
        What the dot products were multiplied by; ``1 / sqrt(d_k)`` if not given.

    Returns
    -------
    AttentionGradients
        Named tuple of the gradients of `Q`, `K` and `V`.

    Raises
    ------
    ValueError
        If shapes do not fit. Leading axes must be equal.
    TypeError
        If an input does not hold real numbers.

    Notes
    -----
    The mask is not needed: a masked key has weight 0, and with it every slope of its score.

    Examples
    --------
    >>> grads = attention_backward([[1]], [[0], [2]], [[10], [20]], [[0.5, 0.5]], [[1]], scale=1)
    >>> print(grads.Q, grads.K.T, grads.V.T)
    [[5.]] [[-2.5  2.5]] [[0.5 0.5]]
    """
    grad_weights, grad_V = weighted_values_backward(weights, V, grad_output)
    grad_scores = softmax_backward(weights, grad_weights)  # (..., n_queries, n_keys)
    grad_Q, grad_K = scores_backward(Q, K, grad_scores, scale)
    return AttentionGradients(grad_Q, grad_K, grad_V)


def multi_head_backward(mha, X, steps, grad_output, context=None):
    r"""Bring a gradient from the output of a multi-head attention back to all its matrices.

    Parameters
    ----------
    mha : MultiHeadAttention
    X : array_like, shape (..., n_queries, d_model)
        What the queries were made from.
    steps : MultiHeadSteps
        What ``mha.steps(X, context, mask)`` returned.
    grad_output : array_like, shape (..., n_queries, d_out)
        Slope of the loss with respect to each number of ``steps.output``.
    context : array_like, shape (..., n_keys, d_model), optional
        What keys and values were made from; `X` itself if not given.

    Returns
    -------
    MultiHeadGradients
        Named tuple of the gradients of `X`, `context`, `W_Q`, `W_K`, `W_V`, `W_O`, `b_Q`, `b_K`,
        `b_V` and `b_O`; those of the biases also if there are none.

    Raises
    ------
    ValueError
        If shapes do not fit.
    TypeError
        If an input does not hold real numbers.

    Notes
    -----
    What the forward pass split, the backward pass concatenates, and the other way round.

    Examples
    --------
    >>> from companion import MultiHeadAttention
    >>> mha = MultiHeadAttention([[[0]]], [[[0]]], [[[1]]], [[2]])
    >>> X = [[10], [20]]
    >>> grads = multi_head_backward(mha, X, mha.steps(X), [[1], [0]])
    >>> print(grads.W_O, grads.W_V, grads.X.T)
    [[15.]] [[[30.]]] [[1. 1.]]
    """
    C = X if context is None else context

    grad_concat, grad_W_O, grad_b_O = project_backward(steps.concat, mha.W_O, grad_output)
    grad_heads = split_heads(grad_concat, mha.n_heads)  # (..., n_heads, n_queries, d_v)
    grads = attention_backward(steps.Q, steps.K, steps.V, steps.weights, grad_heads)
    grad_X, grad_W_Q, grad_b_Q = _heads_backward(X, mha.W_Q, grads.Q)
    grad_C_K, grad_W_K, grad_b_K = _heads_backward(C, mha.W_K, grads.K)
    grad_C_V, grad_W_V, grad_b_V = _heads_backward(C, mha.W_V, grads.V)
    grad_C = grad_C_K + grad_C_V  # (..., n_keys, d_model)
    if context is None:
        grad_X, grad_C = grad_X + grad_C, None

    matrices = (grad_W_Q, grad_W_K, grad_W_V, grad_W_O)
    biases = (grad_b_Q, grad_b_K, grad_b_V, grad_b_O)
    return MultiHeadGradients(grad_X, grad_C, *matrices, *biases)


def _heads_backward(X, W, grad_heads):
    """Go back through one projection for every head: W is (n_heads, d_model, d)."""
    n_heads, _, d = W.shape
    grads = project_backward(X, concat_heads(W), concat_heads(grad_heads))
    grad_X, grad_W, grad_b = grads  # grad_W: (d_model, n_heads * d)
    return grad_X, split_heads(grad_W, n_heads), grad_b.reshape(n_heads, d)


def finite_differences(f, x, step=1e-5):
    r"""Measure every slope of a function by moving one number at a time.

    .. math::

        \frac{\partial f}{\partial x_i} \approx \frac{f(x + h e_i) - f(x - h e_i)}{2 h}

    Parameters
    ----------
    f : callable
        Takes an array of the shape of `x` and returns one number.
    x : array_like
        Where to measure.
    step : float
        How far each number is moved to either side: the h of the formula.

    Returns
    -------
    ndarray, same shape as `x`
        In float64. Errors are of the size of ``step ** 2``, and of rounding divided by `step`.

    Raises
    ------
    ValueError
        If `step` is not above 0.
    TypeError
        If `x` does not hold real numbers.

    Notes
    -----
    Calls `f` twice for each number of `x`: good for checking a gradient, too slow for learning.

    Examples
    --------
    >>> print(finite_differences(lambda x: x[0] * x[1] ** 2, [5, 3]).round(6))
    [ 9. 30.]
    """
    x = check.as_float(x, "x").astype(np.float64)
    step = check.need_number(step, "step", positive=True)

    slopes = np.empty_like(x)
    for i in np.ndindex(x.shape):
        move = np.zeros_like(x)
        move[i] = step
        slopes[i] = (f(x + move) - f(x - move)) / (2 * step)
    return slopes
