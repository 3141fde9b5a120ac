"""From any numbers to a distribution, and back to slopes. Taught in chapter 2, *Softmax*."""

import numpy as np

from companion import _validation as check


@np.errstate(**check.SILENT)
def softmax(x, axis=-1, temperature=1.0):
    r"""Turn numbers into weights that are positive and add up to 1.

    .. math:: p_i = \frac{e^{x_i / T}}{\sum_j e^{x_j / T}}

    Parameters
    ----------
    x : array_like, shape (..., n, ...)
        Any real numbers, often called logits or scores.
    axis : int
        The axis that the weights add up to 1 along.
    temperature : float
        T above 0. Small: the largest number takes nearly all. Large: nearly uniform.

    Returns
    -------
    ndarray, same shape as `x`
        The distribution along `axis`.

    Raises
    ------
    ValueError
        If `x` has no axis or not this one, or the temperature is not above 0.
    TypeError
        If `x` does not hold real numbers, or `axis` is not one integer.

    Notes
    -----
    The maximum along `axis` is subtracted first. That changes nothing in the result (shift
    invariance) and keeps every exponential at most 1. ``-inf`` gets weight 0. A row with nan
    or ``+inf``, or with nothing but ``-inf``, is nan: it has no well-defined distribution.
    An axis of length 0 gives an empty result.

    Examples
    --------
    >>> print(softmax([0.0, np.log(3)]).round(2))
    [0.25 0.75]
    >>> print(softmax([14, 12]).round(2))
    [0.88 0.12]
    >>> print(softmax([1000, 1000]))
    [0.5 0.5]
    """
    (x,), dtype = check.as_floats(x=x)
    axis, temperature = _options(x, axis, temperature)

    exponentials = np.exp(_shifted(x, axis) / temperature)
    p = exponentials / exponentials.sum(axis=axis, keepdims=True)
    return p.astype(dtype, copy=False)


@np.errstate(**check.SILENT)
def log_softmax(x, axis=-1):
    r"""Return the logarithm of the softmax, exact where the softmax itself rounds to 0.

    .. math:: \log p_i = x_i - \log \sum_j e^{x_j}

    Parameters
    ----------
    x : array_like, shape (..., n, ...)
        Any real numbers.
    axis : int
        The axis that the weights add up to 1 along.

    Returns
    -------
    ndarray, same shape as `x`
        Natural logarithms of the weights, all at most 0.

    Raises
    ------
    ValueError
        If `x` has no axis, or not this one.
    TypeError
        If `x` does not hold real numbers, or `axis` is not one integer.

    Notes
    -----
    ``np.log(softmax(x))`` gives ``-inf`` as soon as a weight rounds to 0; this does not.

    Examples
    --------
    >>> print(log_softmax([0, -1000]))
    [    0. -1000.]
    """
    (x,), dtype = check.as_floats(x=x)
    axis, _ = _options(x, axis, 1.0)

    shifted = _shifted(x, axis)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))
    return log_p.astype(dtype, copy=False)


@np.errstate(**check.SILENT)
def softmax_jacobian(p):
    r"""Return how each weight of a softmax changes with each of the numbers it was made from.

    .. math:: \frac{\partial p_i}{\partial x_j} = p_i (\delta_{ij} - p_j)

    Parameters
    ----------
    p : array_like, shape (..., n)
        Softmax outputs: at least 0, adding up to 1 along the last axis. A row of zeros (a query
        with nothing to attend to) is allowed.

    Returns
    -------
    ndarray, shape (..., n, n)
        Entry (i, j) is the slope of weight i with respect to number j. Symmetric; each row adds
        up to 0, since the weights always add up to 1.

    Raises
    ------
    ValueError
        If a row of `p` is not a distribution.
    TypeError
        If `p` does not hold real numbers.

    Notes
    -----
    All slopes vanish as one weight nears 1: that is why large, unscaled scores stop learning.

    Examples
    --------
    >>> print(softmax_jacobian([0.25, 0.75]))
    [[ 0.1875 -0.1875]
     [-0.1875  0.1875]]
    """
    (p,), dtype = check.as_floats(p=p)
    check.need_axes(p, "p", "(n,)")
    total = p.sum(axis=-1)
    # 1 % forgives rounded input and still catches scores passed for weights; nan stays nan
    wrong = (p < 0).any(axis=-1) | ((np.abs(total - 1) > 0.01) & (p != 0).any(axis=-1))
    if wrong.any():
        raise ValueError(
            "p must be a distribution along its last axis (at least 0, adding up to 1): "
            f"pass softmax(scores), not the scores; got a row that adds up to {total[wrong][0]:g} "
            f"and whose smallest entry is {p[wrong].min(axis=-1)[0]:g}"
        )

    on_diagonal = p[..., :, None] * np.eye(p.shape[-1], dtype=p.dtype)  # (..., n, n)
    jacobian = on_diagonal - p[..., :, None] * p[..., None, :]  # (..., n, n)
    return jacobian.astype(dtype, copy=False)


def _shifted(x, axis):
    """Return `x` minus its maximum along `axis`: the largest becomes 0."""
    return x - x.max(axis=axis, keepdims=True, initial=-np.inf)


def _options(x, axis, temperature):
    check.need_axes(x, "x", "(n,)")
    return (
        check.need_axis(axis, x, "x"),
        check.need_number(temperature, "temperature", x.dtype, positive=True),
    )
