import math
import re

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from strategies import queries_keys_values, table

from companion import (
    attention_scores,
    causal_mask,
    masked_softmax,
    padding_mask,
    softmax,
    weighted_values,
)

rng = np.random.default_rng(14)
NAN, INF = np.nan, np.inf
LN3 = math.log(3)
T, F = True, False
E = math.e


# causal_mask


def test_causal_by_hand():
    assert_array_equal(causal_mask(3), [[T, F, F], [T, T, F], [T, T, T]])
    assert_array_equal(causal_mask(1), [[T]])
    assert causal_mask(3).dtype == bool


@pytest.mark.parametrize("n_queries", range(6))
@pytest.mark.parametrize("n_keys", range(6))
def test_CA_03_queries_are_the_last_positions(n_queries, n_keys):
    mask = causal_mask(n_queries, n_keys)
    assert mask.shape == (n_queries, n_keys)
    assert mask.dtype == bool
    for i in range(n_queries):
        position = n_keys - n_queries + i
        assert_array_equal(mask[i], [j <= position for j in range(n_keys)])


@pytest.mark.parametrize(
    ("n_queries", "expected"),
    [(1, [2]), (2, [1.5, 2]), (5, [0, 0.5, 1, 1.5, 2]), (6, [0, 0, 0.5, 1, 1.5, 2])],
)
def test_CA_03_means_of_prefixes(n_queries, expected):
    weights = masked_softmax(np.zeros((n_queries, 5)), causal_mask(n_queries, 5))
    output = weighted_values(weights, np.arange(5)[:, None])
    assert_allclose(output[:, 0], expected, rtol=1e-15)


def test_CA_01_the_diagonal_is_allowed():
    weights = masked_softmax(np.zeros((3, 3)), causal_mask(3))
    assert_allclose(weights, [[1, 0, 0], [0.5, 0.5, 0], [1 / 3] * 3], rtol=1e-15)
    V = rng.normal(size=(3, 2))
    assert_array_equal(weighted_values(weights, V)[0], V[0])


def test_CA_05_the_mask_itself_not_only_its_effect():
    additive = np.where(causal_mask(2), 0, -INF)
    assert_array_equal(additive, [[0, -INF], [0, 0]])


@given(table())
def test_causal_mask_for_queries_in_columns_is_the_transpose(scores):
    square = scores[: min(scores.shape), : min(scores.shape)]
    n = len(square)
    rows = masked_softmax(square, causal_mask(n))
    upper = np.triu(np.ones((n, n), dtype=bool))  # column convention: keys down, queries across
    columns = softmax(np.where(upper, square.T, -np.inf), axis=0)
    assert_allclose(columns.T, rows, rtol=1e-14)


# padding_mask


def test_padding_by_hand():
    assert_array_equal(padding_mask([3, 1, 0], 4), [[[T, T, T, F]], [[T, F, F, F]], [[F] * 4]])
    assert_array_equal(padding_mask(2, 3), [[T, T, F]])
    assert padding_mask([3, 1], 4).dtype == bool


@given(st.lists(st.integers(0, 7), max_size=5))
def test_padding_counts_the_real_keys(lengths):
    mask = padding_mask(lengths, 7)
    assert mask.shape == (len(lengths), 1, 7)
    for row, length in zip(mask[:, 0], lengths, strict=True):
        assert row.tolist() == [True] * length + [False] * (7 - length)


def test_padding_of_several_leading_axes():
    lengths = np.array([[1, 2, 3], [5, 0, 4]], np.uint8)
    mask = padding_mask(lengths, 5)
    assert mask.shape == (2, 3, 1, 5)
    assert_array_equal(mask.sum(axis=-1)[..., 0], lengths)


def test_padding_of_nothing():
    assert padding_mask([], 3).shape == (0, 1, 3)
    assert padding_mask([0, 0], 0).shape == (2, 1, 0)


def test_MP_05_padding_comes_from_lengths_not_from_the_numbers():
    scores = np.zeros((1, 2, 2))
    for V in ([[1, -1], [0, 0]], [[0.5, 0.5], [7, 7]]):
        weights = masked_softmax(scores, padding_mask([1], 2))
        assert_array_equal(weighted_values(weights, V)[0], [V[0], V[0]])


@pytest.mark.parametrize(
    ("V", "expected"), [([[1], [2], [6]], 1.5), ([[4], [0], [1e300]], 2), ([[3], [3], [NAN]], 3)]
)
def test_MS_01_padding_hides_keys_and_leaves_queries_alone(V, expected):
    weights = masked_softmax(np.zeros((3, 3)), padding_mask(2, 3))
    assert_array_equal(weights, [[0.5, 0.5, 0]] * 3)
    assert_array_equal(weights[:, :2] @ np.array(V)[:2], np.full((3, 1), expected))


@pytest.mark.parametrize("lengths", [[1, 2], [2, 1], [2, 2]])
def test_MS_03_every_sequence_meets_its_own_mask(lengths):
    scores = rng.normal(size=(2, 3, 5, 2))  # batch, heads, queries, keys
    mask = padding_mask(lengths, 2)[:, None]  # an axis for the heads
    weights = masked_softmax(scores, mask)
    for b, length in enumerate(lengths):
        allowed = [j < length for j in range(2)]
        for h in range(3):
            expected = [oracle.masked_softmax(row, allowed) for row in scores[b, h]]
            assert_allclose(weights[b, h], expected, rtol=1e-14)
    flat = np.repeat(mask, 3, axis=1).reshape(6, 1, 2)  # sequence by sequence, head by head
    assert_array_equal(masked_softmax(scores.reshape(6, 5, 2), flat).reshape(2, 3, 5, 2), weights)


def test_MS_05_padding_queries_are_no_empty_rows():
    mask = causal_mask(5) & padding_mask(3, 5)
    assert_array_equal(
        mask.astype(int),
        [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 1, 1, 0, 0], [1, 1, 1, 0, 0], [1, 1, 1, 0, 0]],
    )
    weights = masked_softmax(np.zeros((5, 5)), mask)
    output = weighted_values(weights, np.array([[1, 2, 3, 100, 200]]).T)
    assert_allclose(output[:, 0], [1, 1.5, 2, 2, 2], rtol=1e-15)


@pytest.mark.parametrize(
    "shape", [(4, 2, 3), (1, 2, 3), (3, 3), (2, 1, 3), (2, 4), (3, 1), (2,), (0, 3), (2, 0)]
)
def test_MS_07_a_mask_may_not_enlarge_the_scores(shape):
    message = (
        "mask must be broadcastable to the scores' shape (..., n_queries, n_keys) = (2, 3) "
        f"without enlarging it; got shape {shape}"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        masked_softmax(np.zeros((2, 3)), np.ones(shape, dtype=bool))


@pytest.mark.parametrize(
    "shape", [(2, 3, 5), (3, 5), (1, 1, 1), (2, 1, 1), (1, 5), (3, 1), (5,), ()]
)
def test_a_smaller_mask_is_repeated(shape):
    scores = rng.normal(size=(2, 3, 5))
    mask = rng.random(shape) < 0.6
    full = np.broadcast_to(mask, scores.shape)
    result = masked_softmax(scores, mask)
    for s, m, w in zip(scores, full, result, strict=True):
        expected = [oracle.masked_softmax(*pair) for pair in zip(s, m, strict=True)]
        assert_allclose(w, expected, rtol=1e-14)


# masked_softmax


@pytest.mark.parametrize(
    ("scores", "mask", "weights"),
    [
        ([0, LN3, 9], [T, T, F], [0.25, 0.75, 0]),
        ([9, LN3, 0], [F, T, T], [0, 0.75, 0.25]),
        ([5, 6], [F, T], [0, 1]),
        ([0, 1, 2], [T, T, T], [1 / (1 + E + E * E), E / (1 + E + E * E), E * E / (1 + E + E * E)]),
        ([1, 2], [F, F], [0, 0]),
    ],
)
def test_masked_softmax_by_hand(scores, mask, weights):
    assert_allclose(masked_softmax(scores, mask), weights, rtol=1e-15)


@given(queries_keys_values())
def test_masked_softmax_is_the_softmax_of_the_allowed_scores(inputs):
    Q, K, _, mask = inputs
    scores = attention_scores(Q, K)
    weights = masked_softmax(scores, mask)
    expected = [oracle.masked_softmax(*pair) for pair in zip(scores, mask, strict=True)]
    assert_allclose(weights, expected, rtol=1e-13)
    assert_array_equal(weights[~mask], 0)
    assert (weights[mask] > 0).all()
    assert_allclose(weights.sum(axis=-1), mask.any(axis=-1), rtol=1e-14)


@given(table())
def test_an_all_true_mask_is_no_mask(scores):
    assert_array_equal(masked_softmax(scores, np.ones(scores.shape, bool)), softmax(scores))
    assert_array_equal(masked_softmax(scores), softmax(scores))
    assert_array_equal(masked_softmax(scores, True), softmax(scores))


@pytest.mark.parametrize(
    ("scores", "mask"),
    [
        ([2, 1, 0.5], [T, T, F]),
        ([2, 1, 0.5], [F, T, T]),
        ([-3, 1, -2, 4], [T, F, T, F]),
        ([-30, -31, 0], [T, T, F]),
    ],
)
def test_MK_01_masked_scores_are_not_merely_zero(scores, mask):
    weights = masked_softmax(scores, mask)
    assert_allclose(weights, oracle.masked_softmax(scores, mask), rtol=1e-14)
    assert_array_equal(weights[~np.array(mask)], 0)


def test_MK_01_worked_example():
    weights = masked_softmax([2, 1, 0.5], [T, T, F])
    assert_allclose(weights, [E / (1 + E), 1 / (1 + E), 0], rtol=1e-15)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("masked", [1000, -1000, 1e38, -1e38, INF, -INF, NAN, 0])
@pytest.mark.parametrize("position", [0, 1, 2])
def test_MK_03_masked_score_cannot_matter(dtype, masked, position):
    scores = np.insert(np.array([0, LN3], dtype), position, masked)
    mask = np.insert([T, T], position, F)
    expected = np.insert(softmax(np.array([0, LN3], dtype)), position, 0)
    assert_array_equal(masked_softmax(scores, mask), expected)


def test_MK_03_masked_1e300_cannot_matter():
    assert_array_equal(masked_softmax([0, 0, 1e300], [T, T, F]), [0.5, 0.5, 0])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("allowed", [0, -12, -100, -60000, -1e9, -1e30, -1e300])
def test_MK_05_no_sentinel_is_large_enough(dtype, allowed):
    allowed = dtype(max(allowed, float(np.finfo(dtype).min)))
    scores = np.array([allowed, 12, allowed], dtype)
    assert_array_equal(masked_softmax(scores, [T, F, T]), [0.5, 0, 0.5])


@pytest.mark.parametrize("value", [1e15, 1e300])
def test_MK_05_a_masked_key_leaves_no_trace_in_a_large_value(value):
    weights = masked_softmax([[0, 0]], [[T, F]])
    assert_array_equal(weights, [[1, 0]])
    assert weighted_values(weights, [[1], [value]]) == 1


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_MK_07_causal_and_padding_are_joined_as_booleans(dtype):
    mask = causal_mask(3) & np.array([F, F, T])
    weights = masked_softmax(np.zeros((3, 3), dtype), mask)
    V = np.array([[1], [2], [6]], dtype)
    assert_array_equal(weighted_values(weights, V), [[0], [0], [6]])


@pytest.mark.parametrize("scores", [[0, 0], [-5, 5], [700, -700]])
def test_MK_09_a_masked_key_is_not_the_largest(scores):
    assert_array_equal(masked_softmax(scores, [T, F]), [1, 0])
    assert_array_equal(masked_softmax(scores, [F, T]), [0, 1])


@pytest.mark.parametrize("scores", [[[0, 0], [0, 0]], [[3, 4], [INF, NAN]], [[0, 1], [-INF, -INF]]])
def test_FM_01_a_query_with_nothing_to_attend_to_gets_zeros(scores):
    weights = masked_softmax(scores, [[T, F], [F, F]])
    assert_array_equal(weights, [[1, 0], [0, 0]])
    assert_array_equal(weighted_values(weights, [[1, 2], [3, 4]]), [[1, 2], [0, 0]])


@pytest.mark.parametrize("n_pads", [1, 2, 3])
def test_FM_03_left_padding_and_causal_leave_the_first_rows_empty(n_pads):
    real = np.array([F] * n_pads + [T] * 2)
    weights = masked_softmax(np.zeros((n_pads + 2,) * 2), causal_mask(n_pads + 2) & real)
    output = weighted_values(weights, np.arange(n_pads + 2)[:, None])
    assert_array_equal(output[:, 0], [0] * n_pads + [n_pads, n_pads + 0.5])


@pytest.mark.parametrize("mask", [None, True, [[T, T, T], [T, T, T]], [[T, T, F], [T, T, T]]])
def test_FM_05_a_real_nan_is_not_hidden(mask):
    weights = masked_softmax([[0, NAN, 1], [0, LN3, -INF]], mask)
    assert np.isnan(weights[0, :2]).all()
    assert_allclose(weights[1], [0.25, 0.75, 0], rtol=1e-15)


def test_FM_05_allowed_scores_of_minus_infinity_are_no_empty_row():
    assert np.isnan(masked_softmax([-INF, -INF], [T, T])).all()
    assert_array_equal(np.isnan(masked_softmax([-INF, 3], [T, F])), [T, F])


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_MP_01_true_means_may_attend(n):
    weights = masked_softmax(np.zeros((n, n)), np.tril(np.ones((n, n), bool)))
    expected = [[1 / (i + 1) if j <= i else 0 for j in range(n)] for i in range(n)]
    assert_allclose(weights, expected, rtol=1e-15)


@pytest.mark.parametrize(
    "mask",
    [
        [0.0, -INF],
        [0, -1e9],
        [1, 0],
        np.array([1, 0], np.uint8),
        np.array([0, 0], np.float32),
        ["yes", "no"],
        [None, True],
        1,
    ],
)
def test_MP_03_only_a_boolean_is_a_mask(mask):
    with pytest.raises(TypeError) as caught:
        masked_softmax([0, LN3], mask)
    message = str(caught.value)
    assert "mask must be boolean, True where a query may attend; got dtype " in message
    assert str(np.asarray(mask).dtype) in message
    assert "additive mask (0 and -inf) becomes one by `mask == 0`" in message
    assert "a 0/1 mask by `mask == 1` where 1 means may attend" in message


def test_MP_03_the_conversions_that_the_message_names():
    assert_array_equal(masked_softmax([0, 0], np.array([0, -INF]) == 0), [1, 0])
    assert_array_equal(masked_softmax([0, 0], np.array([1, 0]) == 1), [1, 0])
    assert_array_equal(masked_softmax([0, 0], np.array([1, 0]) == 0), [0, 1])


@pytest.mark.parametrize("scores", ["zero then renormalise", "-inf before the softmax"])
def test_both_ways_of_masking_after_and_before_are_the_same_table(scores):
    # Raschka, section 3.5
    X = rng.normal(size=(6, 3))
    raw = attention_scores(X, X)
    weights = masked_softmax(raw, causal_mask(6))
    if scores == "zero then renormalise":
        other = softmax(raw) * np.tri(6)
        other = other / other.sum(axis=-1, keepdims=True)
    else:
        other = softmax(np.where(np.tri(6) == 1, raw, -INF))
    assert_allclose(other, weights, rtol=1e-14)


@pytest.mark.parametrize("shape", [(0, 3), (2, 0), (0, 0), (0,), (3, 0, 5)])
def test_masked_softmax_of_nothing(shape):
    for mask in (None, True, np.ones(shape, bool)):
        assert masked_softmax(np.ones(shape), mask).shape == shape


# wrong input


@pytest.mark.parametrize(
    ("n_queries", "n_keys", "error", "message"),
    [
        (-1, None, ValueError, "n_queries must be at least 0; got -1"),
        (2, -3, ValueError, "n_keys must be at least 0; got -3"),
        (2.0, None, TypeError, "n_queries must be an integer; got 2.0"),
        (2, "3", TypeError, "n_keys must be an integer; got '3'"),
        (True, None, TypeError, "n_queries must be an integer; got True"),
        ([2], None, TypeError, "n_queries must be an integer; got [2]"),
    ],
)
def test_wrong_counts(n_queries, n_keys, error, message):
    with pytest.raises(error, match=re.escape(message)):
        causal_mask(n_queries, n_keys)


@pytest.mark.parametrize(
    ("lengths", "n_keys", "error", "message"),
    [
        ([1, 5], 4, ValueError, "lengths must lie between 0 and n_keys=4; got lengths from 1 to 5"),
        (
            [-1, 2],
            4,
            ValueError,
            "lengths must lie between 0 and n_keys=4; got lengths from -1 to 2",
        ),
        ([1.0, 2.0], 4, TypeError, "lengths must be integers; got dtype float64"),
        ([True, False], 4, TypeError, "lengths must be integers; got dtype bool"),
        ([1, 2], 4.0, TypeError, "n_keys must be an integer; got 4.0"),
        ([[1, 2], [3]], 4, ValueError, "lengths must be a full array: its rows differ in length"),
    ],
)
def test_wrong_lengths(lengths, n_keys, error, message):
    with pytest.raises(error, match=re.escape(message)):
        padding_mask(lengths, n_keys)


def test_one_score_is_no_row():
    with pytest.raises(ValueError, match=re.escape("scores must have shape (..., n_keys); got")):
        masked_softmax(3)
