"""A transformer encoder, from the parts of the chapters before.

Taught in chapter 7, *A real transformer, opened*. ``companion.minilm`` fills it with the weights
of a trained model.
"""

import math
from typing import NamedTuple

import numpy as np

from companion import _validation as check
from companion.multi_head import MultiHeadAttention, MultiHeadSteps
from companion.queries_keys_values import project
from companion.value_updates import residual_update

__all__ = [
    "Encoder",
    "EncoderLayer",
    "EncoderSteps",
    "LayerSteps",
    "feed_forward",
    "gelu",
    "layer_norm",
    "mean_pooling",
    "sinusoidal_positions",
]


@np.errstate(**check.SILENT)
def layer_norm(X, gamma, beta, eps=1e-12):
    r"""Bring every vector to mean 0 and standard deviation 1, then scale and shift its entries.

    .. math:: y = \gamma \, \frac{x - \mathrm{mean}(x)}{\sqrt{\mathrm{var}(x) + \epsilon}} + \beta

    Parameters
    ----------
    X : array_like, shape (..., d_model)
        One vector a token; each is treated alone.
    gamma, beta : array_like, shape (d_model,)
        Learned scale and shift of each entry.
    eps : float
        A small number above 0 that keeps a vector of equal entries from being divided by 0.

    Returns
    -------
    ndarray, shape (..., d_model)

    Raises
    ------
    ValueError
        If `gamma` or `beta` is not as long as the vectors, or `eps` not above 0.
    TypeError
        If an input does not hold real numbers.

    Notes
    -----
    Ba, Kiros and Hinton (2016). The variance divides by d_model, not by d_model - 1.

    Examples
    --------
    >>> print(layer_norm([[1, 3], [5, 5]], [1, 1], [0, 10]))
    [[-1. 11.]
     [ 0. 10.]]
    """
    (X, gamma, beta), dtype = check.as_floats(X=X, gamma=gamma, beta=beta)
    check.need_axes(X, "X", "(d_model,)")
    check.need_shape(gamma, "gamma", X.shape[-1:], "(d_model,)")
    check.need_shape(beta, "beta", X.shape[-1:], "(d_model,)")
    eps = check.need_number(eps, "eps", X.dtype, positive=True)

    centred = X - X.mean(axis=-1, keepdims=True)  # (..., d_model)
    variance = (centred**2).mean(axis=-1, keepdims=True)  # (..., 1)
    normed = centred / np.sqrt(variance + eps)  # (..., d_model)
    return (gamma * normed + beta).astype(dtype, copy=False)


@np.errstate(**check.SILENT)
def gelu(x):
    r"""Let large numbers through and hold small and negative ones back.

    .. math:: \mathrm{gelu}(x) = \frac{x}{2} \left(1 + \mathrm{erf} \frac{x}{\sqrt 2}\right)

    Parameters
    ----------
    x : array_like
        Any real numbers.

    Returns
    -------
    ndarray, same shape as `x`

    Raises
    ------
    TypeError
        If `x` does not hold real numbers.

    Notes
    -----
    Hendrycks and Gimpel (2016): x times the probability that a standard normal number is below
    x. NumPy has no erf, so Python's ``math.erf`` is called for every number, in double
    precision: exact and slow. Some models use an approximation with tanh; this one does not.

    Examples
    --------
    >>> print(gelu([-10, -1, 0, 1, 10]).round(4))
    [-0.     -0.1587  0.      0.8413 10.    ]
    """
    (x,), dtype = check.as_floats(x=x)

    erf = np.vectorize(math.erf, otypes=[np.float64])
    return (x / 2 * (1 + erf(x / math.sqrt(2)))).astype(dtype, copy=False)


def feed_forward(X, W_1, b_1, W_2, b_2):
    r"""Widen every vector, hold back the negative entries, and narrow it again.

    .. math:: \Delta E = \mathrm{gelu}(X W_1 + b_1) \, W_2 + b_2

    Parameters
    ----------
    X : array_like, shape (..., d_model)
        One vector a token; each is treated alone.
    W_1, b_1 : array_like, shapes (d_model, d_ff) and (d_ff,)
    W_2, b_2 : array_like, shapes (d_ff, d_model) and (d_model,)

    Returns
    -------
    ndarray, shape (..., d_model)
        What is added to `X`.

    Raises
    ------
    ValueError
        If shapes do not fit.
    TypeError
        If an input does not hold real numbers.

    Notes
    -----
    Section 3.3 of Vaswani et al. (2017), there with ReLU for gelu. Also called MLP.

    Examples
    --------
    >>> print(feed_forward([[10]], [[1, -1]], [0, 0], [[2], [3]], [1]))
    [[21.]]
    """
    hidden = gelu(project(X, W_1, b_1))  # (..., d_ff)
    return project(hidden, W_2, b_2)  # (..., d_model)


def mean_pooling(X):
    r"""Make one vector of a sentence: the mean of its tokens' vectors, at length 1.

    .. math:: s = m / \lVert m \rVert, \qquad m = \frac{1}{n} \sum_i x_i

    Parameters
    ----------
    X : array_like, shape (..., n, d_model)

    Returns
    -------
    ndarray, shape (..., d_model)
        The dot product of two such vectors is their cosine.

    Raises
    ------
    ValueError
        If `X` has fewer than two axes.
    TypeError
        If `X` does not hold real numbers.

    Examples
    --------
    >>> print(mean_pooling([[1, 8], [5, 0]]))
    [0.6 0.8]
    """
    (X,), dtype = check.as_floats(X=X)
    check.need_axes(X, "X", "(n, d_model)")

    mean = X.mean(axis=-2)  # (..., d_model)
    return (mean / np.linalg.norm(mean, axis=-1, keepdims=True)).astype(dtype, copy=False)


def sinusoidal_positions(n, d_model):
    r"""Return one vector for each position, made of sines and cosines instead of learned.

    .. math::

        P_{t, 2i} = \sin(t / 10000^{2i / d}), \qquad
        P_{t, 2i + 1} = \cos(t / 10000^{2i / d})

    Parameters
    ----------
    n : int
        How many positions.
    d_model : int
        Length of the vectors, even.

    Returns
    -------
    ndarray, shape (n, d_model)

    Raises
    ------
    ValueError
        If `n` is negative, or `d_model` not even and at least 2.
    TypeError
        If one of them is not an integer.

    Notes
    -----
    Section 3.5 of Vaswani et al. (2017). all-MiniLM-L6-v2 uses a learned table in its place.

    Examples
    --------
    >>> print(sinusoidal_positions(2, 4).round(4))
    [[0.     1.     0.     1.    ]
     [0.8415 0.5403 0.01   1.    ]]
    """
    n = check.need_count(n, "n")
    d_model = check.need_count(d_model, "d_model", least=2)
    if d_model % 2:
        raise ValueError(f"d_model must be even, a sine and a cosine each; got {d_model}")

    speeds = 10000.0 ** (-np.arange(0, d_model, 2) / d_model)  # (d_model / 2,)
    angles = np.arange(n)[:, None] * speeds  # (n, d_model / 2)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d_model)


class LayerSteps(NamedTuple):
    """What one layer computes on the way from its input to its output."""

    attention: MultiHeadSteps
    """Everything inside the attention; its `output` is what attention adds."""
    middle: np.ndarray
    """After the first sum and layer norm, shape (..., n, d_model)."""
    feed_forward: np.ndarray
    """What the feed-forward layer adds, shape (..., n, d_model)."""
    output: np.ndarray
    """After the second sum and layer norm, shape (..., n, d_model)."""


class EncoderLayer(NamedTuple):
    """The weights of one layer: attention, then feed-forward, each with a sum and a layer norm.

    Examples
    --------
    One token with two entries, and weights that are all zero: nothing is added.

    >>> nothing, zero = np.zeros((1, 2, 2)), np.zeros(2)
    >>> attention = MultiHeadAttention(nothing, nothing, nothing, nothing[0])
    >>> norm, W = (np.ones(2), zero), nothing[0]
    >>> layer = EncoderLayer(attention, *norm, W, zero, W, zero, *norm)
    >>> print(layer.steps([[1, 3]]).output)
    [[-1.  1.]]
    """

    attention: MultiHeadAttention
    """All heads of the layer."""
    gamma_1: np.ndarray
    """Scale of the first layer norm, shape (d_model,)."""
    beta_1: np.ndarray
    """Shift of the first layer norm, shape (d_model,)."""
    W_1: np.ndarray
    """The matrix that widens, shape (d_model, d_ff)."""
    b_1: np.ndarray
    """Its bias, shape (d_ff,)."""
    W_2: np.ndarray
    """The matrix that narrows, shape (d_ff, d_model)."""
    b_2: np.ndarray
    """Its bias, shape (d_model,)."""
    gamma_2: np.ndarray
    """Scale of the second layer norm, shape (d_model,)."""
    beta_2: np.ndarray
    """Shift of the second layer norm, shape (d_model,)."""

    def steps(self, X):
        """Run the layer on the vectors of one sentence.

        Parameters
        ----------
        X : array_like, shape (..., n, d_model)

        Returns
        -------
        LayerSteps
            Named tuple of `attention`, `middle`, `feed_forward`, `output`.
        """
        attention = self.attention.steps(X)
        summed = residual_update(X, attention.output)  # (..., n, d_model)
        middle = layer_norm(summed, self.gamma_1, self.beta_1)
        added = feed_forward(middle, self.W_1, self.b_1, self.W_2, self.b_2)
        summed = residual_update(middle, added)  # (..., n, d_model)
        output = layer_norm(summed, self.gamma_2, self.beta_2)
        return LayerSteps(attention, middle, added, output)


class EncoderSteps(NamedTuple):
    """What an encoder computes for one sentence; named like a recorded `Sentence`."""

    text: str
    """The sentence, or an empty text if it was given as numbers."""
    tokens: tuple
    """What the model reads."""
    states: np.ndarray
    """``states[i]`` enters layer i, the last leaves; shape (n_layers + 1, n, d_model)."""
    weights: np.ndarray
    """``weights[layer, head, query, key]``, shape (n_layers, n_heads, n, n)."""
    layers: tuple
    """The `LayerSteps` of every layer."""
    embedding: np.ndarray
    """The sentence as one vector of length 1, shape (d_model,)."""


class Encoder:
    """A transformer encoder: a table of words, a table of positions, and layers.

    Parameters
    ----------
    words : array_like, shape (n_words, d_model)
        One row for each token of the vocabulary.
    positions : array_like, shape (n_positions, d_model)
        One row for each position in a sentence.
    gamma, beta : array_like, shape (d_model,)
        Layer norm of the sum of both.
    layers : sequence of EncoderLayer
    tokenizer : tokenizers.Tokenizer, optional
        Turns a text into row numbers of `words`.

    Notes
    -----
    BERT (Devlin et al. 2019) without its token types: all-MiniLM-L6-v2 is only ever given type
    0, whose vector `load_encoder` adds to every row of `positions`.

    Examples
    --------
    An encoder without layers only looks up, adds and norms:

    >>> encoder = Encoder([[1, 3], [0, 0]], [[0, 0], [5, 1]], [1, 1], [0, 0], [])
    >>> print(encoder([0, 1]))
    [[-1.  1.]
     [ 1. -1.]]
    """

    def __init__(self, words, positions, gamma, beta, layers, tokenizer=None):
        self.words = check.as_float(words, "words")
        self.positions = check.as_float(positions, "positions")
        self.gamma, self.beta = gamma, beta
        self.layers = tuple(layers)
        self.tokenizer = tokenizer

    def __call__(self, ids):
        """Return the vectors that leave the last layer.

        Parameters
        ----------
        ids : array_like of int, shape (n,)

        Returns
        -------
        ndarray, shape (n, d_model)
        """
        return self.steps(ids).states[-1]

    def embed(self, ids):
        """Return the vectors that enter the first layer.

        Parameters
        ----------
        ids : array_like of int, shape (n,)
            Row numbers of `words`, in the order of the sentence.

        Returns
        -------
        ndarray, shape (n, d_model)

        Raises
        ------
        ValueError
            If the sentence is empty or longer than the table of positions, or `ids` is not one
            list of row numbers.
        """
        n = len(ids)
        if not 1 <= n <= len(self.positions):
            raise ValueError(f"a sentence must have 1 to {len(self.positions)} tokens; got {n}")
        ids, last = np.asarray(ids), len(self.words) - 1
        if ids.ndim != 1 or ids.dtype.kind not in "iu" or ids.min() < 0 or ids.max() > last:
            raise ValueError(f"ids must be one list of integers from 0 to {last}; got {ids}")
        E = self.words[ids]  # (n, d_model)
        return layer_norm(E + self.positions[:n], self.gamma, self.beta)

    def steps(self, ids, tokens=(), text=""):
        """Run all layers and keep what lies on the way.

        Parameters
        ----------
        ids : array_like of int, shape (n,)
        tokens, text
            Handed on to the result.

        Returns
        -------
        EncoderSteps
            Named tuple of `text`, `tokens`, `states`, `weights`, `layers`, `embedding`.
        """
        states, layers = [self.embed(ids)], []
        for layer in self.layers:
            layers.append(layer.steps(states[-1]))
            states.append(layers[-1].output)
        weights = np.array([layer.attention.weights for layer in layers])
        embedding = mean_pooling(states[-1])
        return EncoderSteps(text, tokens, np.array(states), weights, tuple(layers), embedding)

    def read(self, text):
        """Cut a text into tokens and run all layers.

        Parameters
        ----------
        text : str

        Returns
        -------
        EncoderSteps
            As from `steps`.
        """
        encoding = self.tokenizer.encode(text)
        return self.steps(encoding.ids, tuple(encoding.tokens), text)

    def without_head(self, layer, head):
        """Return an encoder in which one head's output is zero.

        Parameters
        ----------
        layer, head : int
            Which one, each counted from 0.

        Returns
        -------
        Encoder
            A new one; all other weights are the same.
        """
        old = self.layers[layer].attention
        W_O = old.W_O.copy()
        W_O[head * old.d_v : (head + 1) * old.d_v] = 0  # its rows of W_O: zero in, zero out
        attention = MultiHeadAttention(
            old.W_Q, old.W_K, old.W_V, W_O, old.b_Q, old.b_K, old.b_V, old.b_O
        )
        layers = list(self.layers)
        layers[layer] = layers[layer]._replace(attention=attention)
        return Encoder(self.words, self.positions, self.gamma, self.beta, layers, self.tokenizer)
