"""Random inputs for the property tests: small, unsaturated, with every axis of its own size."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

SIZES = st.integers(1, 6)


def numbers(*shape):
    """Eighths from -4 to 4: sums and products of a few of them are exact in float64."""
    return arrays(np.int64, shape, elements=st.integers(-32, 32)).map(lambda a: a / 8)


def masks(*shape):
    return arrays(bool, shape)


@st.composite
def table(draw):
    """One matrix of scores."""
    return draw(numbers(draw(SIZES), draw(SIZES)))


@st.composite
def queries_keys_values(draw):
    """Q, K, V and a mask."""
    n_queries, n_keys, d_k, d_v = (draw(SIZES) for _ in range(4))
    return (
        draw(numbers(n_queries, d_k)),
        draw(numbers(n_keys, d_k)),
        draw(numbers(n_keys, d_v)),
        draw(masks(n_queries, n_keys)),
    )


@st.composite
def tokens(draw):
    """Q, K and V of the same tokens, and a position from which on they are "the future"."""
    n, d_k, d_v = draw(st.integers(2, 6)), draw(SIZES), draw(SIZES)
    parts = [draw(numbers(n, d)) for d in (d_k, d_k, d_v)]
    return (*parts, draw(st.integers(1, n - 1)))
