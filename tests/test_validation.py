"""Promises that every function makes: inputs stay as they are, dtypes are kept, nothing warns."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from companion import (
    MultiHeadAttention,
    alignment_matrix,
    attention,
    attention_scores,
    attention_steps,
    concat_heads,
    cosine_similarity,
    dot,
    log_softmax,
    masked_softmax,
    padding_mask,
    project,
    residual_update,
    softmax,
    softmax_jacobian,
    split_heads,
    weighted_values,
)

rng = np.random.default_rng(17)
NAN, INF = np.nan, np.inf


def multi_head(X, C, W_Q, W_K, W_V, W_O, b_Q, b_K, b_V, b_O, mask):
    return MultiHeadAttention(W_Q, W_K, W_V, W_O, b_Q, b_K, b_V, b_O)(X, C, mask)


def multi_head_steps(X, C, W_Q, W_K, W_V, W_O, b_Q, b_K, b_V, b_O, mask):
    return MultiHeadAttention(W_Q, W_K, W_V, W_O, b_Q, b_K, b_V, b_O).steps(X, C, mask)


def masked_attention(Q, K, V, mask):
    return attention(Q, K, V, mask)


HEADS = {
    "X": (5, 3),
    "C": (7, 3),
    "W_Q": (2, 3, 5),
    "W_K": (2, 3, 5),
    "W_V": (2, 3, 7),
    "W_O": (14, 11),
    "b_Q": (2, 5),
    "b_K": (2, 5),
    "b_V": (2, 7),
    "b_O": (11,),
    "mask": (5, 7),
}
# every function that computes, with the names and shapes of its inputs
FUNCTIONS = {
    dot: {"a": (2, 5), "b": (2, 5)},
    cosine_similarity: {"a": (2, 5), "b": (2, 5)},
    alignment_matrix: {"A": (2, 5), "B": (3, 5)},
    softmax: {"x": (2, 5)},
    log_softmax: {"x": (2, 5)},
    softmax_jacobian: {"p": (2, 5)},
    project: {"X": (2, 5), "W": (5, 3), "b": (3,)},
    attention_scores: {"Q": (2, 5), "K": (3, 5)},
    masked_softmax: {"scores": (2, 3), "mask": (2, 3)},
    weighted_values: {"weights": (2, 3), "V": (3, 5)},
    attention: {"Q": (2, 5), "K": (3, 5), "V": (3, 7)},
    masked_attention: {"Q": (2, 5), "K": (3, 5), "V": (3, 7), "mask": (2, 3)},
    attention_steps: {"Q": (2, 5), "K": (3, 5), "V": (3, 7), "mask": (2, 3)},
    residual_update: {"E": (2, 5), "delta_E": (2, 5)},
    multi_head: HEADS,
    multi_head_steps: HEADS,
}
EVERY = pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
DTYPES = [np.float16, np.float32, np.float64, np.int8, np.uint8, np.int64, bool]


def inputs_for(function, dtype=np.float64):
    """Random inputs by name; a distribution where one is needed."""
    arrays = {}
    for name, shape in FUNCTIONS[function].items():
        if name == "mask":
            arrays[name] = np.tri(*shape, dtype=bool)
        elif name == "p":
            arrays[name] = np.eye(*shape).astype(dtype)
        elif np.dtype(dtype).kind == "f":
            arrays[name] = rng.normal(size=shape).astype(dtype)
        else:
            arrays[name] = rng.integers(0, 2, size=shape).astype(dtype)
    return arrays


def parts(result):
    """The arrays of a result: one, or those of a named tuple."""
    return list(result) if isinstance(result, tuple) else [np.asarray(result)]


def layouts(array):
    """The same numbers in C order, Fortran order, backwards in memory, and read-only."""
    frozen = array.copy()
    frozen.flags.writeable = False
    return [array.copy(), np.asfortranarray(array), array[::-1].copy()[::-1], frozen]


@EVERY
@pytest.mark.parametrize("layout", range(4), ids=["C", "transposed view", "reversed", "read-only"])
def test_SM_11_inputs_are_neither_modified_nor_shared(function, layout):
    arrays = {name: layouts(array)[layout] for name, array in inputs_for(function).items()}
    before = {name: array.copy() for name, array in arrays.items()}
    result = parts(function(**arrays))
    for name, array in arrays.items():
        assert_array_equal(array, before[name])
        assert not any(np.shares_memory(array, part) for part in result)
    for i, part in enumerate(result):
        assert not any(np.shares_memory(part, other) for other in result[i + 1 :])
        assert part.flags.writeable or part.ndim == 0
    reference = parts(function(**before))
    for part, expected in zip(result, reference, strict=True):
        assert_allclose(part, expected, rtol=1e-12)


@pytest.mark.parametrize(
    "function",
    [lambda x: split_heads(x, 3), concat_heads, lambda x: padding_mask(x, 12)],
    ids=["split_heads", "concat_heads", "padding_mask"],
)
def test_SM_11_neither_by_those_that_only_rearrange(function):
    array = np.arange(12).reshape(1, 2, 6)
    result = function(array)
    assert_array_equal(array, np.arange(12).reshape(1, 2, 6))
    assert not np.shares_memory(array, result)
    assert result.flags.writeable


@EVERY
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda t: t.__name__)
def test_PJ_07_floats_keep_their_dtype_and_the_rest_becomes_float64(function, dtype):
    expected = dtype if np.dtype(dtype).kind == "f" else np.float64
    for part in parts(function(**inputs_for(function, dtype))):
        assert part.dtype == expected


@EVERY
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda t: t.__name__)
def test_every_dtype_gives_the_numbers_that_float64_gives(function, dtype):
    arrays = inputs_for(function, dtype)
    as_float64 = {
        name: array if name == "mask" else array.astype(np.float64)
        for name, array in arrays.items()
    }
    tolerance = {np.float16: 3e-3, np.float32: 2e-5}.get(dtype, 1e-13)
    for part, expected in zip(
        parts(function(**arrays)), parts(function(**as_float64)), strict=True
    ):
        assert_allclose(part, expected, rtol=tolerance, atol=tolerance)


@EVERY
def test_lists_are_arrays(function):
    arrays = inputs_for(function)
    lists = {name: array.tolist() for name, array in arrays.items()}
    for part, expected in zip(parts(function(**lists)), parts(function(**arrays)), strict=True):
        assert_array_equal(part, expected)


@EVERY
def test_a_mix_of_dtypes_gives_the_wider_one(function):
    arrays = inputs_for(function, np.float32)
    first = next(iter(arrays))
    for dtype in (np.float16, np.float64, np.int64):
        mixed = {**arrays, first: arrays[first].astype(dtype)}
        if dtype is np.int64 and first == "p":
            mixed[first] = np.eye(2, 5, dtype=int)
        alone = len([name for name in arrays if name != "mask"]) == 1
        others = [] if alone else [np.float32]
        expected = np.result_type(np.float64 if dtype is np.int64 else dtype, *others)
        for part in parts(function(**mixed)):
            assert part.dtype == expected


@EVERY
@pytest.mark.parametrize("value", [NAN, INF, -INF, 1e308, -1e308, 5e-324, 0.0])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_no_number_makes_a_warning(function, value, dtype):
    with np.errstate(all="ignore"):
        value = dtype(value)
    for name, shape in FUNCTIONS[function].items():
        if name in ("mask", "p"):
            continue
        arrays = inputs_for(function, dtype)
        arrays[name][...] = value
        for setting in ("warn", "raise"):
            with np.errstate(all=setting):
                result = parts(function(**arrays))
        assert all(part.dtype == dtype for part in result)
        one = inputs_for(function, dtype)
        one[name].flat[np.prod(shape) // 2] = value
        with np.errstate(all="raise"):
            function(**one)


NOT_NUMBERS = {
    "complex": (lambda shape: np.ones(shape, complex), "dtype complex128"),
    "strings": (lambda shape: np.full(shape, "a"), "dtype <U1"),
    "objects": (lambda shape: np.full(shape, None), "dtype object"),
    "dates": (lambda shape: np.ones(shape, "m8[s]"), "dtype timedelta64[s]"),
    "longdouble": (lambda shape: np.ones(shape, np.longdouble), f"dtype {np.dtype(np.longdouble)}"),
}


@EVERY
@pytest.mark.parametrize("kind", NOT_NUMBERS)
def test_what_holds_no_real_numbers_is_refused_by_name(function, kind):
    make, received = NOT_NUMBERS[kind]
    if np.dtype(np.longdouble) == np.float64 and kind == "longdouble":
        pytest.skip("longdouble is float64 here")
    for name, shape in FUNCTIONS[function].items():
        if name == "mask":
            continue
        message = (
            f"{name} must hold real numbers (float16, float32, float64, integers or booleans); "
            f"got {received}"
        )
        if function in (multi_head, multi_head_steps) and name == "C":
            message = message.replace("C must", "context must")
        with pytest.raises(TypeError, match=re.escape(message)):
            function(**{**inputs_for(function), name: make(shape)})


@EVERY
def test_masked_arrays_are_refused_because_their_mask_would_be_ignored(function):
    for name in FUNCTIONS[function]:
        arrays = inputs_for(function)
        masked = np.ma.masked_array(arrays[name], mask=np.zeros(arrays[name].shape, bool))
        with pytest.raises(TypeError, match="must be a plain array: its own mask would be ignored"):
            function(**{**arrays, name: masked})


@EVERY
def test_rows_of_different_length_are_refused(function):
    for name in FUNCTIONS[function]:
        with pytest.raises(ValueError, match="must be a full array: its rows differ in length"):
            function(**{**inputs_for(function), name: [[1.0, 2.0], [3.0]]})


@EVERY
def test_one_number_is_no_array(function):
    if function is residual_update:
        with pytest.raises(ValueError, match=r"delta_E must have shape E\.shape"):
            residual_update(np.ones((2, 5)), 1)
        return
    for name in FUNCTIONS[function]:
        if name == "mask":
            continue
        with pytest.raises(ValueError, match=r" must (have shape|be) .*got shape \(\)"):
            function(**{**inputs_for(function), name: 3.5})


def test_byte_order_and_subclasses_do_not_matter():
    class Subclass(np.ndarray):
        pass

    x = np.array([[0, 1.5], [2, -1]])
    for other in (x.astype(">f8"), x.view(Subclass)):
        result = softmax(other)
        assert type(result) is np.ndarray
        assert result.dtype == np.float64
        assert_array_equal(result, softmax(x))
