"""What the wrong versions share. It is written for what goes wrong, not for reuse."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Mistake(NamedTuple):
    code: str
    message: str
    section: str
    versions: tuple[Callable, ...]


def mistake(code, message, section, *versions):
    return Mistake(code, message, section, versions)


def flip(K):
    return np.swapaxes(K, -1, -2)


def dots(Q, K):
    return Q @ flip(K)


def scores(Q, K):
    return dots(Q, K) / math.sqrt(Q.shape[-1])


def hidden(S, mask, value=-np.inf):
    """Scores with the masked ones replaced."""
    return S if mask is None else np.where(mask, S, value)


def zeros_for_nan(A):
    return np.where(np.isnan(A), 0, A)


def masked(S, mask=None, axis=-1):
    """The right weights, or those over another axis."""
    S = hidden(S, mask)
    top = np.max(S, axis=axis, keepdims=True)
    e = np.exp(S - np.where(np.isfinite(top), top, 0))
    total = e.sum(axis=axis, keepdims=True)
    return e / np.where(total == 0, 1, total)


def attend(Q, K, V, mask=None, weights=masked, scale=None):
    """The right attention, with parts to exchange."""
    scale = 1 / math.sqrt(Q.shape[-1]) if scale is None else scale
    return weights(dots(Q, K) * scale, mask) @ V


def naive(x, axis=-1):
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)


def tri(n, k=0):
    return np.tri(n, k=k, dtype=bool)


def numbers_of(mask):
    """A mask as 1 (may attend) and 0; 1 everywhere without a mask."""
    return 1.0 if mask is None else np.asarray(mask, dtype=float)


def integers_cut(right):
    """Fill an array that has the dtype of the first input: integers lose their fraction."""

    def wrong(x, *args, **kwargs):
        return np.asarray(right(x, *args, **kwargs)).astype(np.asarray(x).dtype)

    return wrong
