"""Known mistakes in the exercises of chapter 7."""

import math

import numpy as np

from companion.checks.mistakes.parts import integers_cut, mistake
from companion.encoder import gelu

EPS = 1e-12

# ------------------------------------------------------------------------------------ layer_norm


def norm(X, gamma, beta, mean_axis=-1, axis=-1, eps=EPS, ddof=0):
    """The right layer norm, with parts to exchange."""
    centred = X - X.mean(axis=mean_axis, keepdims=True)
    variance = X.var(axis=axis, keepdims=True, ddof=ddof)
    return gamma * centred / np.sqrt(variance + eps) + beta


def centred_in_place(X, gamma, beta):
    X -= X.mean(axis=-1, keepdims=True)
    return gamma * X / np.sqrt((X**2).mean(axis=-1, keepdims=True) + EPS) + beta


def one_sided(X, gamma, beta):
    """The deviation from 0 in place of that from the mean."""
    centred = X - X.mean(axis=-1, keepdims=True)
    return gamma * centred / np.sqrt((X**2).mean(axis=-1, keepdims=True) + EPS) + beta


LAYER_NORM = (
    mistake(
        "changes-input",
        "Your function writes into the caller's array (-= or /=). X - mean makes a new array.",
        "norm",
        centred_in_place,
    ),
    mistake(
        "over-the-tokens",
        "You take mean or deviation over the tokens, one for each column. A layer norm treats "
        "each token's vector alone: over the last axis.",
        "norm-axis",
        lambda X, gamma, beta: norm(X, gamma, beta, mean_axis=-2, axis=-2),
        lambda X, gamma, beta: norm(X, gamma, beta, mean_axis=0, axis=0),
        lambda X, gamma, beta: norm(X, gamma, beta, axis=-2),
        lambda X, gamma, beta: norm(X, gamma, beta, mean_axis=-2),
    ),
    mistake(
        "one-norm-for-all",
        "You take one mean or one deviation for the whole array. Each token's vector has its own.",
        "norm-axis",
        lambda X, gamma, beta: norm(X, gamma, beta, mean_axis=None, axis=None),
        lambda X, gamma, beta: norm(X, gamma, beta, axis=None),
        lambda X, gamma, beta: norm(X, gamma, beta, mean_axis=None),
    ),
    mistake(
        "mean-left-in",
        "You divide by the deviation and do not subtract the mean.",
        "norm",
        lambda X, gamma, beta: gamma * X / np.sqrt(X.var(axis=-1, keepdims=True) + EPS) + beta,
    ),
    mistake(
        "no-mean-at-all",
        "You divide by the root of the mean square (RMS norm): the mean stays in. It belongs out "
        "first.",
        "norm",
        lambda X, gamma, beta: (
            gamma * X / np.sqrt((X**2).mean(axis=-1, keepdims=True) + EPS) + beta
        ),
    ),
    mistake(
        "deviation-from-zero",
        "You subtract the mean, and then divide by the root mean square of what was there before. "
        "The deviation is that from the mean.",
        "norm",
        one_sided,
    ),
    mistake(
        "no-root",
        "You divide by the variance. The standard deviation is its root.",
        "norm",
        lambda X, gamma, beta: (
            gamma * (X - X.mean(axis=-1, keepdims=True)) / (X.var(axis=-1, keepdims=True) + EPS)
            + beta
        ),
    ),
    mistake(
        "not-divided",
        "You subtract the mean and stop there. Divide by the standard deviation as well.",
        "norm",
        lambda X, gamma, beta: gamma * (X - X.mean(axis=-1, keepdims=True)) + beta,
    ),
    mistake(
        "one-less",
        "Your variance divides by d_model - 1 (ddof=1, or the default of other libraries). Here it "
        "is the mean of the squares: divided by d_model.",
        "norm",
        lambda X, gamma, beta: norm(X, gamma, beta, ddof=1),
    ),
    mistake(
        "no-eps",
        "A vector of equal entries becomes nan: its deviation is 0. Add eps under the root.",
        "norm",
        lambda X, gamma, beta: norm(X, gamma, beta, eps=0),
    ),
    mistake(
        "large-eps",
        "Your eps is far larger than 1e-12: it changes vectors whose entries are nearly equal.",
        "norm",
        lambda X, gamma, beta: norm(X, gamma, beta, eps=1e-5),
        lambda X, gamma, beta: norm(X, gamma, beta, eps=1e-6),
        lambda X, gamma, beta: norm(X, gamma, beta, eps=1e-3),
    ),
    mistake(
        "length-one",
        "You divide by the length of the vector. The standard deviation is the length divided by "
        "the root of d_model.",
        "norm",
        lambda X, gamma, beta: (
            norm(X, gamma, beta) / math.sqrt(X.shape[-1]) + beta * (1 - 1 / math.sqrt(X.shape[-1]))
        ),
    ),
    mistake(
        "no-gamma",
        "You leave out gamma, the scale of each entry.",
        "norm",
        lambda X, gamma, beta: norm(X, 1, beta),
    ),
    mistake(
        "no-beta",
        "You leave out beta, the shift of each entry.",
        "norm",
        lambda X, gamma, beta: norm(X, gamma, 0),
    ),
    mistake(
        "no-gamma-no-beta",
        "You leave out gamma and beta: scale and shift what is normed.",
        "norm",
        lambda X, gamma, beta: norm(X, 1, 0),
    ),
    mistake(
        "gamma-and-beta-swapped",
        "You exchange gamma and beta: gamma scales, beta shifts.",
        "norm",
        lambda X, gamma, beta: norm(X, beta, gamma),
    ),
    mistake(
        "shifted-first",
        "You add beta before you multiply by gamma. Scale first, then shift.",
        "norm",
        lambda X, gamma, beta: gamma * (norm(X, 1, 0) + beta),
    ),
    mistake(
        "scaled-first",
        "You scale and shift before the norm, which takes most of it away again.",
        "norm",
        lambda X, gamma, beta: norm(gamma * X + beta, 1, 0),
    ),
    mistake(
        "integers-cut",
        "For integers your result is cut to integers, because you write into an array of the dtype "
        "of X.",
        "norm",
        integers_cut(norm),
    ),
)

# ---------------------------------------------------------------------------------- feed_forward


def corner(x):
    return np.maximum(x, 0)


def share(x):
    """The share of a normal distribution below x."""
    return (1 + np.vectorize(math.erf, otypes=[float])(x / math.sqrt(2))) / 2


def with_tanh(x):
    return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def with_sigmoid(x):
    return x / (1 + np.exp(-1.702 * x))


def forward(X, W_1, b_1, W_2, b_2, function=gelu):
    """The right feed-forward layer, with the function to exchange."""
    return function(X @ W_1 + b_1) @ W_2 + b_2


def with_function(function):
    return lambda X, W_1, b_1, W_2, b_2: forward(X, W_1, b_1, W_2, b_2, function)


FEED_FORWARD = (
    mistake(
        "no-gelu",
        "You leave out gelu: two products in a row are one matrix, so no unit can stay closed.",
        "feed-forward",
        with_function(lambda x: x),
    ),
    mistake(
        "sharp-corner",
        "You use max(x, 0), ReLU. This layer has gelu, which lets a little through below 0.",
        "corner",
        with_function(corner),
    ),
    mistake(
        "approximation",
        "You use an approximation of gelu, with tanh or a sigmoid. gelu of the companion is exact.",
        "feed-forward",
        with_function(with_tanh),
        with_function(with_sigmoid),
    ),
    mistake(
        "other-function",
        "You use another function: tanh, a sigmoid, or SiLU. This layer has gelu.",
        "feed-forward",
        with_function(np.tanh),
        with_function(lambda x: 1 / (1 + np.exp(-x))),
        with_function(lambda x: x / (1 + np.exp(-x))),
    ),
    mistake(
        "share-only",
        "You take the share of the normal distribution alone. gelu is x times that share.",
        "feed-forward",
        with_function(share),
    ),
    mistake(
        "no-root",
        "Your erf takes x itself, or x / 2. It takes x divided by the root of 2.",
        "feed-forward",
        with_function(lambda x: x * share(x * math.sqrt(2))),
        with_function(lambda x: x * share(x / math.sqrt(2))),
    ),
    mistake(
        "not-halved",
        "You forget to halve: gelu is x / 2 times (1 + erf).",
        "feed-forward",
        with_function(lambda x: 2 * gelu(x)),
    ),
    mistake(
        "gelu-at-the-end",
        "You apply gelu to the narrow vectors. It stands between the two products.",
        "feed-forward",
        lambda X, W_1, b_1, W_2, b_2: gelu((X @ W_1 + b_1) @ W_2 + b_2),
        lambda X, W_1, b_1, W_2, b_2: gelu((X @ W_1 + b_1) @ W_2) + b_2,
    ),
    mistake(
        "gelu-twice",
        "You apply gelu a second time at the end. What is added may be negative.",
        "feed-forward",
        lambda *arrays: gelu(forward(*arrays)),
    ),
    mistake(
        "gelu-first",
        "You apply gelu to X. First the wide product, then gelu.",
        "feed-forward",
        lambda X, W_1, b_1, W_2, b_2: (gelu(X) @ W_1 + b_1) @ W_2 + b_2,
    ),
    mistake(
        "no-b_1",
        "You leave out b_1: it says how much evidence each unit needs.",
        "feed-forward",
        lambda X, W_1, b_1, W_2, b_2: forward(X, W_1, 0, W_2, b_2),
    ),
    mistake(
        "no-b_2",
        "You leave out b_2.",
        "feed-forward",
        lambda X, W_1, b_1, W_2, b_2: forward(X, W_1, b_1, W_2, 0),
    ),
    mistake(
        "no-biases",
        "You leave out both biases.",
        "feed-forward",
        lambda X, W_1, b_1, W_2, b_2: forward(X, W_1, 0, W_2, 0),
    ),
    mistake(
        "b_1-after-gelu",
        "You add b_1 after gelu. It belongs to the evidence, inside.",
        "feed-forward",
        lambda X, W_1, b_1, W_2, b_2: (gelu(X @ W_1) + b_1) @ W_2 + b_2,
    ),
    mistake(
        "b_1-subtracted",
        "You subtract b_1. It is added.",
        "feed-forward",
        lambda X, W_1, b_1, W_2, b_2: forward(X, W_1, -b_1, W_2, b_2),
    ),
    mistake(
        "sum-included",
        "You add X. The function returns what is to be added, the sum comes after it.",
        "feed-forward",
        lambda X, *arrays: X + forward(X, *arrays),
    ),
    mistake(
        "wide-returned",
        "You return the wide vectors. The second matrix narrows them again.",
        "feed-forward",
        lambda X, W_1, b_1, W_2, b_2: gelu(X @ W_1 + b_1),
    ),
    mistake(
        "integers-cut",
        "For integers your result is cut to integers, because you write into an array of the dtype "
        "of X.",
        "feed-forward",
        integers_cut(forward),
    ),
)
