import math
import re

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from strategies import numbers, queries_keys_values, tokens

from companion import (
    attention,
    attention_scores,
    attention_steps,
    causal_mask,
    masked_softmax,
    padding_mask,
    project,
    residual_update,
    softmax,
    weighted_values,
)

rng = np.random.default_rng(15)
NAN, INF = np.nan, np.inf
LN3 = math.log(3)
T, F = True, False


def steps_of_a_loop(Q, K, V, mask, scale=None):
    """The oracle's scores, weights and outputs for every item of the leading axes of `Q`."""
    leading = Q.shape[:-2]
    steps = [
        oracle.attention(Q[i], K[i], V[i], mask[i].tolist(), scale) for i in np.ndindex(leading)
    ]
    return [np.reshape(part, (*leading, *np.shape(part[0]))) for part in zip(*steps, strict=True)]


# weighted_values


def test_weighted_values_by_hand():
    weights = [[0.25, 0.75, 0], [0.5, 0, 0.5]]
    V = [[4, 0], [8, -4], [2, 10]]
    assert_array_equal(weighted_values(weights, V), [[7, -3], [3, 5]])


@pytest.mark.parametrize(
    ("weights", "V", "expected"),
    [
        ([[0.25, 0.75], [0.5, 0.5]], [[10], [20]], [[17.5], [15]]),
        ([[1, 0], [0.75, 0.25]], [[4, 8], [-4, 0]], [[4, 8], [2, 6]]),
        ([[0.25, 0.75, 0]], [[1], [5], [7]], [[4]]),
    ],
)
def test_PJ_03_row_i_of_the_weights_belongs_to_query_i(weights, V, expected):
    assert_array_equal(weighted_values(weights, V), expected)


def test_weighted_values_of_a_batch_are_a_loop():
    weights, V = rng.random(size=(2, 3, 5, 7)), rng.normal(size=(2, 3, 7, 11))
    result = weighted_values(weights, V)
    assert result.shape == (2, 3, 5, 11)
    for i in np.ndindex(2, 3):
        assert_allclose(result[i], oracle.weighted_values(weights[i], V[i]), rtol=1e-11)


@given(numbers(3, 5), numbers(5, 2))
def test_weighted_values_are_a_sum_over_keys(weights, V):
    total = sum(np.outer(weights[:, j], V[j]) for j in range(5))
    assert_array_equal(weighted_values(weights, V), total)


@pytest.mark.parametrize(("n_queries", "n_keys", "d_v"), [(0, 3, 2), (2, 0, 3), (2, 3, 0)])
def test_weighted_values_of_nothing(n_queries, n_keys, d_v):
    result = weighted_values(np.ones((n_queries, n_keys)), np.ones((n_keys, d_v)))
    assert_array_equal(result, np.full((n_queries, d_v), n_keys))


# attention


def test_attention_by_hand():
    Q = [[1, 0, 0, 0], [0, 1, 0, 0]]
    K = [[0, 0, 5, 0], [2 * LN3, 0, 0, 5]]
    V = [[4, 0, 8], [8, -4, 0]]
    scores, weights, output = attention_steps(Q, K, V)
    assert_allclose(scores, [[0, LN3], [0, 0]], rtol=1e-15)
    assert_allclose(weights, [[0.25, 0.75], [0.5, 0.5]], rtol=1e-15)
    assert_allclose(output, [[7, -3, 2], [6, -2, 4]], rtol=1e-15)
    assert_array_equal(attention(Q, K, V), output)


def test_attention_by_hand_with_a_mask():
    Q = [[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0]]
    K = [[0, 0, 5, 0], [2 * LN3, 0, 0, 5], [9, 9, 9, 9]]
    V = [[4, 0], [8, -4], [100, 100]]
    scores, weights, output = attention_steps(Q, K, V, [[T, T, F], [F, T, F], [F, F, F]])
    assert_allclose(scores[:, 2], [4.5, 4.5, 9])  # before the mask
    assert_allclose(weights, [[0.25, 0.75, 0], [0, 1, 0], [0, 0, 0]], rtol=1e-15)
    assert_allclose(output, [[7, -3], [8, -4], [0, 0]], rtol=1e-15)


def test_attention_with_scale_by_hand():
    steps = attention_steps([[1, 0]], [[0, 7], [4, 7]], [[1], [5]], scale=LN3 / 4)
    assert_allclose(steps.weights, [[0.25, 0.75]], rtol=1e-15)
    assert_allclose(steps.output, [[4]], rtol=1e-15)


@pytest.mark.parametrize("scale", [None, 0.2])
def test_attention_of_a_batch_is_a_loop(scale):
    Q, K, V = (rng.normal(size=(2, 3, *s)) for s in [(5, 11), (7, 11), (7, 13)])
    mask = rng.random((2, 3, 5, 7)) < 0.7
    steps = attention_steps(Q, K, V, mask, scale)
    assert [part.shape for part in steps] == [(2, 3, 5, 7), (2, 3, 5, 7), (2, 3, 5, 13)]
    for part, expected in zip(steps, steps_of_a_loop(Q, K, V, mask, scale), strict=True):
        assert_allclose(part, expected, rtol=1e-9, atol=1e-12)


def test_attention_shares_keys_and_values_over_a_batch():
    Q, K, V = rng.normal(size=(2, 3, 5)), rng.normal(size=(7, 5)), rng.normal(size=(7, 2))
    assert_allclose(attention(Q, K, V)[1], oracle.attention(Q[1], K, V)[2], rtol=1e-11)
    values = rng.normal(size=(2, 7, 2))
    result = attention(Q[0], K, values)
    assert_allclose(result[1], oracle.attention(Q[0], K, values[1])[2], rtol=1e-11)


@given(queries_keys_values(), st.sampled_from([None, 0.5, 2.0]))
def test_attention_is_the_oracle(inputs, scale):
    Q, K, V, mask = inputs
    for m in (None, mask):
        steps = attention_steps(Q, K, V, m, scale)
        expected = oracle.attention(Q, K, V, None if m is None else m.tolist(), scale)
        for part, wanted in zip(steps, expected, strict=True):
            assert_allclose(part, wanted, rtol=1e-12, atol=1e-13)


@given(queries_keys_values())
def test_attention_is_its_three_steps(inputs):
    Q, K, V, mask = inputs
    steps = attention_steps(Q, K, V, mask)
    assert_array_equal(steps.scores, attention_scores(Q, K))
    assert_array_equal(steps.weights, masked_softmax(steps.scores, mask))
    assert_array_equal(steps.output, weighted_values(steps.weights, V))
    assert_array_equal(attention(Q, K, V, mask), steps.output)


@given(queries_keys_values())
def test_an_all_true_mask_is_no_mask(inputs):
    Q, K, V, mask = inputs
    assert_array_equal(attention(Q, K, V, np.ones_like(mask)), attention(Q, K, V))


@given(queries_keys_values(), st.randoms(use_true_random=False))
def test_permuted_keys_change_nothing_and_permuted_queries_permute(inputs, random):
    Q, K, V, mask = inputs
    keys = random.sample(range(len(K)), len(K))
    queries = random.sample(range(len(Q)), len(Q))
    result = attention(Q[queries], K[keys], V[keys], mask[np.ix_(queries, keys)])
    assert_allclose(result, attention(Q, K, V, mask)[queries], rtol=1e-12, atol=1e-13)


@given(queries_keys_values())
def test_outputs_lie_between_the_values(inputs):
    Q, K, V, _ = inputs
    output = attention(Q, K, V)
    assert (output >= V.min(axis=0) - 1e-12).all()
    assert (output <= V.max(axis=0) + 1e-12).all()


@given(queries_keys_values())
def test_columns_as_tokens_give_the_transpose(inputs):
    Q, K, V, mask = inputs
    q, k, v, allowed = Q.T, K.T, V.T, mask.T  # one token a column
    scores = np.where(allowed, k.T @ q / math.sqrt(len(q)), -INF)
    weights = np.zeros_like(scores)
    some = allowed.any(axis=0)
    weights[:, some] = softmax(scores[:, some], axis=0)
    assert_allclose(v @ weights, attention(Q, K, V, mask).T, rtol=1e-12, atol=1e-13)


@given(tokens(), st.sampled_from([0.0, 3.5, 1e200, NAN, INF]))
def test_changing_the_future_changes_nothing_earlier(inputs, changed):
    Q, K, V, now = inputs
    mask = causal_mask(len(Q))
    before = attention_steps(Q, K, V, mask)
    Q, K, V = Q.copy(), K.copy(), V.copy()
    Q[now:] = K[now:] = V[now:] = changed
    after = attention_steps(Q, K, V, mask)
    assert after.output[:now].tobytes() == before.output[:now].tobytes()
    assert after.weights[:now].tobytes() == before.weights[:now].tobytes()


@given(tokens())
def test_decoding_one_token_at_a_time_gives_the_same(inputs):
    Q, K, V, now = inputs
    everything = attention(Q, K, V, causal_mask(len(Q)))
    last = attention(Q[now:], K, V, causal_mask(len(Q) - now, len(K)))
    assert_allclose(last, everything[now:], rtol=1e-12, atol=1e-13)
    for i in range(len(Q)):
        alone = attention(Q[i : i + 1], K[: i + 1], V[: i + 1])
        assert_allclose(alone[0], everything[i], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("bad", [1e300, -1e300, INF, -INF, NAN])
@pytest.mark.parametrize("spoiled", ["K", "V", "K and V"])
@pytest.mark.parametrize("key", [0, 2])
def test_MK_03_a_masked_key_cannot_matter_whatever_it_holds(bad, spoiled, key):
    Q, K, V = rng.normal(size=(5, 3)), rng.normal(size=(3, 3)), rng.normal(size=(3, 2))
    mask = np.ones((5, 3), bool)
    mask[:, key] = F
    mask[4] = F  # a query with nothing to attend to
    before = attention_steps(Q, K, V, mask)
    if "K" in spoiled:
        K[key, 1] = bad
    if "V" in spoiled:
        V[key, 0] = bad
    after = attention_steps(Q, K, V, mask)
    assert_array_equal(after.weights, before.weights)
    assert_array_equal(after.output, before.output)
    assert_array_equal(after.output[4], 0)


@pytest.mark.parametrize("bad", [INF, -INF, NAN])
def test_MK_03_a_key_masked_for_some_queries_reaches_the_others_only(bad):
    Q, K, V = rng.normal(size=(3, 5)), rng.normal(size=(2, 5)), rng.normal(size=(2, 2))
    mask = [[T, T], [T, F], [F, T]]
    before = attention(Q, K, V, mask)
    V[1, 0] = bad
    after = attention(Q, K, V, mask)
    assert_array_equal(after[1], before[1])
    assert_array_equal(after[:, 1], before[:, 1])
    assert_array_equal(after[[0, 2], 0], [bad, bad])


def test_MK_03_values_of_a_batch_with_heads_and_a_shared_mask():
    Q, K, V = (rng.normal(size=(2, 3, *s)) for s in [(5, 3), (7, 3), (7, 2)])
    mask = padding_mask([4, 6], 7)[:, None]
    before = attention(Q, K, V, mask)
    V[0, 1, 5] = NAN
    V[1, :, 6] = INF
    assert_array_equal(attention(Q, K, V, mask), before)


def test_MK_05_large_values_of_masked_keys_leave_no_trace():
    assert attention([[1]], [[0], [0]], [[1], [1e15]], [[T, F]]) == 1


@pytest.mark.parametrize("bad", [NAN, INF])
def test_nan_in_a_query_stays_in_its_row(bad):
    Q, K, V = rng.normal(size=(3, 5)), rng.normal(size=(7, 5)), rng.normal(size=(7, 2))
    before = attention(Q, K, V)
    Q[1, 0] = bad
    after = attention(Q, K, V)
    assert np.isnan(after[1]).all()
    assert_array_equal(after[[0, 2]], before[[0, 2]])


def test_FM_01_a_query_with_nothing_to_attend_to_gets_zeros():
    steps = attention_steps(np.zeros((2, 2)), np.zeros((2, 2)), [[1, 2], [3, 4]], [[T, F], [F, F]])
    assert_array_equal(steps.weights, [[1, 0], [0, 0]])
    assert_array_equal(steps.output, [[1, 2], [0, 0]])


def test_FM_03_left_padding_and_causal():
    mask = causal_mask(2) & np.array([F, T])
    zeros = np.zeros((2, 3))
    assert_array_equal(attention(zeros, zeros, [[1], [2]], mask), [[0], [2]])


@pytest.mark.parametrize("mask", [None, [[T, T], [T, T]]])
def test_FM_05_a_real_nan_is_not_hidden(mask):
    output = attention([[1, 0], [0, 1]], [[NAN, 0], [0, 0]], [[1], [2]], mask)
    assert np.isnan(output).all()
    output = attention([[1, 0], [0, 1]], [[0, 0], [0, 0]], [[NAN, 1], [2, 3]], mask)
    assert_array_equal(output, [[NAN, 2], [NAN, 2]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_MP_01_true_means_may_attend(dtype):
    zeros = np.zeros((3, 2), dtype)
    output = attention(zeros, zeros, np.eye(3, dtype=dtype), np.tri(3, dtype=bool))
    assert_allclose(output, [[1, 0, 0], [0.5, 0.5, 0], [1 / 3] * 3], rtol=1e-7)


@pytest.mark.parametrize("mask", [[[0.0, -INF]], [[1, 0]], np.array([[0, 0]], np.float32)])
def test_MP_03_only_a_boolean_is_a_mask(mask):
    with pytest.raises(TypeError, match="mask must be boolean, True where a query may attend"):
        attention([[1, 2]], [[1, 2], [3, 4]], [[1], [2]], mask)


@pytest.mark.parametrize("shape", [(5, 3, 7), (2, 3, 3, 7), (3, 5), (7, 3)])
def test_MS_07_the_shape_of_the_output_comes_from_queries_and_values(shape):
    Q, K, V = rng.normal(size=(2, 3, 5)), rng.normal(size=(2, 7, 5)), rng.normal(size=(2, 7, 2))
    with pytest.raises(
        ValueError, match=re.escape(f"(2, 3, 7) without enlarging it; got shape {shape}")
    ):
        attention(Q, K, V, np.ones(shape, bool))


@pytest.mark.parametrize("causal", [False, True])
def test_MS_09_left_padding_right_padding_and_none_agree(causal):
    x = np.array([[1.0, 0], [0, 2]])
    pad = np.array([[9.0, 9]])
    structure = causal_mask(3) if causal else np.ones((3, 3), bool)
    alone = attention(x, x, x, causal_mask(2) if causal else None)
    right = np.vstack([x, pad])
    left = np.vstack([pad, x])
    masked_right = attention(right, right, right, structure & np.array([T, T, F]))
    masked_left = attention(left, left, left, structure & np.array([F, T, T]))
    assert_allclose(masked_right[:2], alone, rtol=1e-15)
    assert_allclose(masked_left[1:], alone, rtol=1e-15)
    if not causal:
        expected = [[0.66976155, 0.66047690], [0.05580722, 1.88838556]]
        assert_allclose(alone, expected, rtol=0, atol=5e-9)


def test_CA_01_the_first_token_sees_itself():
    Q, V = rng.normal(size=(3, 5)), rng.normal(size=(3, 2))
    assert_array_equal(attention(Q, Q, V, causal_mask(3))[0], V[0])


@pytest.mark.parametrize(("n_queries", "expected"), [(1, [2]), (2, [1.5, 2])])
def test_CA_03_queries_are_the_last_positions(n_queries, expected):
    Q, K, V = np.zeros((n_queries, 3)), np.zeros((5, 3)), np.arange(5.0)[:, None]
    output = attention(Q, K, V, causal_mask(n_queries, 5))
    assert_allclose(output[:, 0], expected, rtol=1e-15)


@pytest.mark.parametrize("n_heads", [1, 2, 4])
def test_SC_01_the_scale_comes_from_the_length_of_the_queries(n_heads):
    d_k = 16 // n_heads
    Q, K = np.zeros((1, d_k)), np.zeros((2, d_k))
    Q[0, 0], K[1, 0] = 1, math.sqrt(d_k) * LN3
    assert_allclose(attention(Q, K, [[0], [1]]), [[0.75]], rtol=1e-14)


def test_SC_05_float16_is_computed_in_float32_from_end_to_end():
    Q = np.full((1, 64), 40, np.float16)
    K = np.full((2, 64), 40, np.float16)
    K[1, 0] = 39.75
    steps = attention_steps(Q, K, np.array([[0], [1]], np.float16))
    assert_allclose(steps.weights, [[0.77729986, 0.22270014]], rtol=1e-3)
    assert_allclose(steps.output, [[0.22270014]], rtol=1e-3)
    huge = np.full((2, 4), 400, np.float16)  # the scores do not fit into float16, the output does
    assert_array_equal(attention(huge, huge, [[1], [2]], scale=1), [[1.5], [1.5]])


def test_MH_05_the_values_are_averaged_not_the_keys():
    assert attention([[1.0]], [[0.0], [0.0]], [[1.0], [3.0]]) == 2


@pytest.mark.parametrize("mask", [None, np.ones((2, 2), bool)])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_PJ_07_the_dtype_is_kept_on_every_path(dtype, mask):
    x = np.ones((2, 2), dtype)
    for scale in (None, 0.5):
        assert [part.dtype for part in attention_steps(x, x, x, mask, scale)] == [dtype] * 3
    x[0, 0] = NAN
    assert [part.dtype for part in attention_steps(x, x, x, mask)] == [dtype] * 3


def test_attention_of_raschkas_journey():
    # Build a Large Language Model (From Scratch), section 3.3; X @ X.T is symmetric, so this
    # cannot show exchanged axes
    X = np.array(
        [
            [0.43, 0.15, 0.89],  # Your
            [0.55, 0.87, 0.66],  # journey
            [0.57, 0.85, 0.64],  # starts
            [0.22, 0.58, 0.33],  # with
            [0.77, 0.25, 0.10],  # one
            [0.05, 0.80, 0.55],  # step
        ]
    )
    scores, weights, output = attention_steps(X, X, X, scale=1)
    assert_allclose(
        scores[1], [0.9544, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865], rtol=0, atol=5.1e-5
    )
    assert_allclose(
        weights[1], [0.1385, 0.2379, 0.2333, 0.1240, 0.1082, 0.1581], rtol=0, atol=5.1e-5
    )
    assert_allclose(output[1], [0.4419, 0.6515, 0.5683], rtol=0, atol=5.1e-5)
    assert_array_equal(scores, scores.T)


def test_attention_of_prince_notebook_12_1_where_columns_are_tokens():
    # Understanding Deep Learning, notebook 12.1: x is a column, v = beta_v + omega_v @ x
    inputs, parameters = np.random.RandomState(3), np.random.RandomState(0)
    columns = np.hstack([inputs.normal(size=(4, 1)) for _ in range(3)])
    omega_q, omega_k, omega_v = (parameters.normal(size=(4, 4)) for _ in range(3))
    beta_q, beta_k, beta_v = (parameters.normal(size=(4, 1)) for _ in range(3))
    X = columns.T
    Q = project(X, omega_q.T, beta_q[:, 0])
    K = project(X, omega_k.T, beta_k[:, 0])
    V = project(X, omega_v.T, beta_v[:, 0])
    unscaled = attention(Q, K, V, scale=1)
    published = [0.94744244, -0.24348429, -0.91310441, -0.44522983]
    assert_allclose(unscaled[0], published, rtol=0, atol=5e-9)
    scaled = [0.97411966, -0.23738409, -0.72333202, -0.34413007]
    assert_allclose(attention(Q, K, V)[0], scaled, rtol=0, atol=5e-9)

    q, k, v = (
        o @ columns + b for o, b in [(omega_q, beta_q), (omega_k, beta_k), (omega_v, beta_v)]
    )
    assert_allclose(v @ softmax(k.T @ q, axis=0), unscaled.T, rtol=1e-12)


@pytest.mark.parametrize(
    ("Q", "K", "V", "shape"),
    [
        ((0, 3), (2, 3), (2, 5), (0, 5)),
        ((2, 3), (0, 3), (0, 5), (2, 5)),
        ((0, 3), (0, 3), (0, 5), (0, 5)),
        ((0, 2, 3), (0, 5, 3), (0, 5, 7), (0, 2, 7)),
        ((2, 3), (5, 3), (5, 0), (2, 0)),
    ],
)
def test_attention_of_nothing_is_zero(Q, K, V, shape):
    arrays = np.ones(Q), np.ones(K), np.ones(V)
    for mask in (None, True, False):
        assert_array_equal(attention(*arrays, mask), np.zeros(shape))


# residual_update


@pytest.mark.parametrize(
    ("E", "delta_E"),
    [([1, 2], [10, 20]), ([[0.5, -1]], [[0.25, 3]]), (rng.normal(size=(2, 3)), np.ones((2, 3)))],
)
def test_RS_01_the_update_is_added_to_what_was_there(E, delta_E):
    expected = [a + b for a, b in zip(np.ravel(E), np.ravel(delta_E), strict=True)]
    result = residual_update(E, delta_E)
    assert result.shape == np.shape(E)
    assert_array_equal(result.ravel(), expected)


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.float32, np.float64, bool])
def test_RS_03_the_embeddings_given_stay_as_they_were(dtype):
    E, delta_E = np.array([[1, 0], [1, 1]], dtype), np.array([[10, 20], [30, 40]], np.float64)
    result = residual_update(E, delta_E)
    assert_array_equal(result, [[11, 20], [31, 41]])
    assert_array_equal(E, np.array([[1, 0], [1, 1]], dtype))
    result[...] = 7
    assert_array_equal(E, np.array([[1, 0], [1, 1]], dtype))
    assert_array_equal(delta_E, [[10, 20], [30, 40]])


@given(numbers(3, 5), numbers(3, 5))
def test_an_update_can_be_taken_back(E, delta_E):
    updated = residual_update(E, delta_E)
    assert_array_equal(updated - E, delta_E)
    assert_array_equal(residual_update(updated, -delta_E), E)


@pytest.mark.parametrize("shape", [(3,), (1, 3), (2, 1), (2, 3, 1), (1, 2, 3), ()])
def test_an_update_is_never_repeated(shape):
    message = f"delta_E must have shape E.shape = (2, 3); got shape {shape}"
    with pytest.raises(ValueError, match=re.escape(message)):
        residual_update(np.ones((2, 3)), np.ones(shape))


# wrong input


@pytest.mark.parametrize(
    ("weights", "V", "message"),
    [
        (
            np.ones((2, 3)),
            np.ones((2, 3)),
            "V must have a second-to-last axis as long as the last axis of weights (n_keys=3); "
            "got V of shape (2, 3)",
        ),
        ([1, 2], [[1], [2]], "weights must have shape (..., n_queries, n_keys); got shape (2,)"),
        ([[1, 2]], [1, 2], "V must have shape (..., n_keys, d_v); got shape (2,)"),
        (
            np.ones((2, 5, 3)),
            np.ones((7, 3, 4)),
            "the leading axes of weights and V must agree; "
            "got weights of shape (2, 5, 3) and V of shape (7, 3, 4)",
        ),
    ],
)
def test_weights_and_values_that_do_not_fit(weights, V, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        weighted_values(weights, V)


@pytest.mark.parametrize("function", [attention, attention_steps])
@pytest.mark.parametrize(
    ("Q", "K", "V", "message"),
    [
        (
            (5, 64),
            (10, 32),
            (10, 3),
            "K must have the same last axis as Q (d_k=64); got K of shape",
        ),
        ((5, 2), (3, 2), (4, 7), "as long as the last axis of weights (n_keys=3); got V of shape"),
        ((2,), (3, 2), (3, 7), "Q must have shape (..., n_queries, d_k); got shape (2,)"),
        ((5, 2), (3, 2), (3,), "V must have shape (..., n_keys, d_v); got shape (3,)"),
        ((2, 5, 2), (3, 3, 2), (3, 7), "the leading axes of Q and K must agree"),
        ((2, 5, 2), (3, 2), (3, 3, 7), "the leading axes of weights and V must agree"),
        ((5, 0), (3, 0), (3, 7), "d_k must be at least 1; got Q of shape (5, 0)"),
    ],
)
def test_attention_of_what_does_not_fit(function, Q, K, V, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        function(np.ones(Q), np.ones(K), np.ones(V))


def test_attention_with_a_wrong_scale():
    with pytest.raises(ValueError, match="scale must be a finite number"):
        attention([[1.0]], [[1.0]], [[1.0]], scale=NAN)
