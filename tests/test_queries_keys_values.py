import math
import re

import numpy as np
import oracle
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from strategies import numbers, queries_keys_values

from companion import alignment_matrix, attention_scores, project, softmax

rng = np.random.default_rng(13)
NAN, INF = np.nan, np.inf
LN3 = math.log(3)


# project


def test_project_by_hand():
    X = [[1, 0, 2], [0, -1, 3]]
    W = [[1, 2], [3, 4], [5, 7]]
    assert_array_equal(project(X, W), [[11, 16], [12, 17]])
    assert_array_equal(project(X, W, [100, -10]), [[111, 6], [112, 7]])
    assert_array_equal(project(X[0], W), [11, 16])


def test_project_is_the_oracle():
    X, W, b = rng.normal(size=(3, 5)), rng.normal(size=(5, 7)), rng.normal(size=7)
    assert_allclose(project(X, W), oracle.project(X, W), rtol=1e-12)
    assert_allclose(project(X, W, b), oracle.project(X, W, b), rtol=1e-12)


def test_project_of_a_batch_is_a_loop():
    X, W, b = rng.normal(size=(2, 3, 5, 7)), rng.normal(size=(7, 11)), rng.normal(size=11)
    result = project(X, W, b)
    assert result.shape == (2, 3, 5, 11)
    for i in range(2):
        for j in range(3):
            assert_allclose(result[i, j], oracle.project(X[i, j], W, b), rtol=1e-11)


def test_project_512_features_to_64():
    # Vaswani et al. 2017: one head of the base model
    X, W = rng.normal(size=(2, 512)), rng.normal(size=(512, 64)) / math.sqrt(512)
    result = project(X, W)
    assert result.shape == (2, 64)
    assert_allclose(result, oracle.project(X, W), rtol=1e-9, atol=1e-12)


@given(numbers(2, 3, 5), numbers(5, 3))
def test_project_is_linear(X, W):
    assert_array_equal(project(X[0] - 2 * X[1], W), project(X[0], W) - 2 * project(X[1], W))
    assert_array_equal(project(X, np.eye(5)), X)


@pytest.mark.parametrize(
    ("x", "W", "expected"),
    [
        ([1, 0], [[1, 2], [3, 4]], [1, 2]),
        ([0, 1], [[1, 2], [3, 4]], [3, 4]),
        ([1, 10], [[1, 2, 3], [4, 5, 6]], [41, 52, 63]),
    ],
)
def test_PJ_01_rows_of_the_matrix_belong_to_the_input(x, W, expected):
    assert_array_equal(project(x, W), expected)
    if np.shape(W)[0] != np.shape(W)[1]:
        with pytest.raises(ValueError, match="W must have a first axis as long as"):
            project(x, np.transpose(W))


@pytest.mark.parametrize(("n", "d_in", "d_out"), [(0, 3, 2), (2, 3, 0), (2, 0, 3)])
def test_project_of_nothing(n, d_in, d_out):
    result = project(np.ones((n, d_in)), np.ones((d_in, d_out)), np.full(d_out, 4))
    assert_array_equal(result, np.full((n, d_out), d_in + 4))


@pytest.mark.parametrize("bad", [NAN, INF])
def test_project_keeps_nan_and_inf_in_their_own_row(bad):
    X, W = rng.normal(size=(3, 5)), rng.normal(size=(5, 7))
    expected = project(X, W)
    X[1, 2] = bad
    result = project(X, W)
    assert not np.isfinite(result[1]).any()
    assert_array_equal(result[[0, 2]], expected[[0, 2]])


# attention_scores


def test_scores_by_hand():
    Q = [[2, 0, 0, 0], [0, 1, 1, 2]]
    K = [[1, 5, 5, 5], [3, 0, 0, 0], [0, 2, 0, -3]]
    assert_array_equal(attention_scores(Q, K), [[1, 3, 0], [10, 0, -2]])
    assert_array_equal(attention_scores(Q, K, scale=1), [[2, 6, 0], [20, 0, -4]])
    assert_array_equal(attention_scores(Q, K, scale=0), np.zeros((2, 3)))
    assert_array_equal(attention_scores(Q, K, scale=-0.5), [[-1, -3, 0], [-10, 0, 2]])


def test_scores_of_illustrated_transformer():
    # Alammar: 112 and 96 with 64 entries are 14 and 12 after the division by 8
    q = np.full((1, 64), 2.0)
    K = np.stack([np.full(64, 0.875), np.full(64, 0.75)])
    assert_array_equal(attention_scores(q, K, scale=1), [[112, 96]])
    assert_array_equal(attention_scores(q, K), [[14, 12]])
    assert_allclose(
        softmax(attention_scores(q, K)), [[0.8807970780, 0.1192029220]], rtol=0, atol=5e-11
    )


@pytest.mark.parametrize("scale", [None, 1, 0.3])
def test_scores_of_a_batch_are_a_loop(scale):
    Q, K = rng.normal(size=(2, 3, 5, 11)), rng.normal(size=(2, 3, 7, 11))
    result = attention_scores(Q, K, scale)
    assert result.shape == (2, 3, 5, 7)
    for i in range(2):
        for j in range(3):
            assert_allclose(result[i, j], oracle.scores(Q[i, j], K[i, j], scale), rtol=1e-10)


def test_scores_share_keys_over_a_batch():
    Q, K = rng.normal(size=(2, 3, 5)), rng.normal(size=(7, 5))
    assert_allclose(attention_scores(Q, K)[1], oracle.scores(Q[1], K), rtol=1e-12)


@given(queries_keys_values())
def test_scores_with_queries_and_keys_exchanged_are_the_transpose(inputs):
    Q, K, _, _ = inputs
    assert_array_equal(attention_scores(K, Q), attention_scores(Q, K).T)


@given(queries_keys_values())
def test_scores_are_scaled_dot_products(inputs):
    Q, K, _, _ = inputs
    raw = alignment_matrix(Q, K)
    assert_allclose(attention_scores(Q, K), raw / math.sqrt(Q.shape[1]), rtol=1e-15)
    assert_array_equal(attention_scores(Q, K, scale=1), raw)


@pytest.mark.parametrize(("d_model", "n_heads"), [(16, 4), (12, 3), (32, 2), (18, 2)])
def test_SC_01_the_scale_is_that_of_one_head(d_model, n_heads):
    d_k = d_model // n_heads
    Q, K = np.zeros((2, 1, d_k))
    Q[0, 0], K[0, 0] = 1, math.sqrt(d_k) * LN3
    scores = attention_scores(Q, np.vstack([0 * K, K]))
    assert_allclose(softmax(scores), [[0.25, 0.75]], rtol=1e-14)


@pytest.mark.parametrize("d_k", [1, 2, 4, 7, 64, 100])
def test_SC_03_the_scale_makes_scores_smaller(d_k):
    ones = np.ones((1, d_k))
    assert_allclose(attention_scores(ones, ones), math.sqrt(d_k), rtol=1e-15)


def test_SC_05_float16_scores_do_not_overflow_on_the_way():
    q = np.full((1, 64), 40, np.float16)
    K = np.full((2, 64), 40, np.float16)
    K[1, 0] = 39.75
    assert_array_equal(attention_scores(q, K), np.array([[12800, 12798.75]], np.float16))
    scores = attention_scores(q.astype(np.float32), K.astype(np.float32))
    assert_allclose(softmax(scores), [[0.77729986, 0.22270014]], rtol=1e-7)


def test_SC_05_a_score_that_float16_cannot_hold_is_inf():
    q = np.full((1, 4), 400, np.float16)
    assert np.isposinf(attention_scores(q, q, scale=1)).all()
    assert np.isneginf(attention_scores(q, -q, scale=1)).all()


def test_SC_07_scaling_both_sides_by_the_fourth_root_is_the_same():
    Q, K = rng.normal(size=(3, 4)), rng.normal(size=(5, 4))
    root = 4**-0.25
    assert_allclose(
        attention_scores(Q * root, K * root, scale=1), attention_scores(Q, K), rtol=1e-14
    )
    Q = np.array([[1, 0, 0, 0]])
    K = np.array([[0, 0, 0, 0], [2 * LN3, 0, 0, 0]])  # q·k = 0 and 2 ln 3
    for scores in (attention_scores(Q, K), attention_scores(Q * root, K * root, scale=1)):
        assert_allclose(softmax(scores), [[0.25, 0.75]], rtol=1e-15)


def test_PJ_05_different_matrices_give_asymmetric_scores():
    X = [[1, 0], [1, 1]]
    Q, K = project(X, [[1, 2], [0, 1]]), project(X, [[1, 0], [1, 1]])
    assert_array_equal(attention_scores(Q, K, scale=1), [[1, 4], [1, 5]])
    assert_array_equal(attention_scores(K, Q, scale=1), [[1, 1], [4, 5]])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("scale", [None, 0.5, np.float64(0.5), 1])
def test_PJ_07_the_scale_does_not_change_the_dtype(dtype, scale):
    Q = np.ones((2, 2), dtype)
    assert attention_scores(Q, Q, scale).dtype == dtype


def test_scaling_keeps_the_softmax_unsaturated():
    published = {  # d_k: std of q·k; then unscaled, scaled: mean largest weight, mean p(1 - p)
        1: (0.994, (0.307, 0.307), (0.0981, 0.0981)),
        16: (3.989, (0.748, 0.355), (0.0436, 0.0963)),
        64: (7.967, (0.873, 0.356), (0.0224, 0.0964)),
        256: (15.902, (0.937, 0.356), (0.0113, 0.0964)),
        1024: (31.923, (0.967, 0.361), (0.0059, 0.0960)),
    }
    seeded = np.random.default_rng(0)
    for d_k in (1, 4, 16, 64, 128, 256, 512, 1024):  # one generator for all, in this order
        Q = seeded.standard_normal((4000, 1, d_k))
        K = seeded.standard_normal((4000, 8, d_k))
        if d_k not in published:
            continue
        std, largest, slope = published[d_k]
        raw = attention_scores(Q, K, scale=1)
        assert round(raw.std(), 3) == std
        for i, scores in enumerate([raw, attention_scores(Q, K)]):
            p = softmax(scores)
            assert round(p.max(axis=-1).mean(), 3) == largest[i]
            assert round((p * (1 - p)).mean(), 4) == slope[i]


@pytest.mark.parametrize(("n_queries", "n_keys"), [(0, 3), (2, 0), (0, 0)])
def test_scores_of_no_tokens_are_empty(n_queries, n_keys):
    result = attention_scores(np.ones((n_queries, 5)), np.ones((n_keys, 5)))
    assert result.shape == (n_queries, n_keys)


def test_scores_of_vectors_without_entries():
    with pytest.raises(
        ValueError, match=re.escape("d_k must be at least 1; got Q of shape (2, 0)")
    ):
        attention_scores(np.ones((2, 0)), np.ones((3, 0)))
    assert_array_equal(attention_scores(np.ones((2, 0)), np.ones((3, 0)), 1), np.zeros((2, 3)))


@pytest.mark.parametrize("bad", [NAN, INF, 1e308])
def test_scores_keep_nan_inf_and_huge_numbers_in_their_own_row_and_column(bad):
    Q, K = rng.normal(size=(3, 5)), rng.normal(size=(7, 5))
    expected = attention_scores(Q, K)
    Q[1, 2] = K[4, 0] = bad
    result = attention_scores(Q, K)
    others = np.ix_([0, 2], [0, 1, 2, 3, 5, 6])
    assert_array_equal(result[others], expected[others])
    assert not np.isclose(result[1], expected[1], rtol=1).any()
    assert not np.isclose(result[:, 4], expected[:, 4], rtol=1).any()


# wrong input


@pytest.mark.parametrize(
    ("X", "W", "b", "message"),
    [
        (1, [[1]], None, "X must have shape (..., d_in); got shape ()"),
        ([1, 2], [1, 2], None, "W must have shape (d_in, d_out); got shape (2,)"),
        ([1, 2], np.ones((1, 2, 3)), None, "W must have shape (d_in, d_out); got shape (1, 2, 3)"),
        (
            np.ones((5, 3)),
            np.ones((5, 3)),
            None,
            "W must have a first axis as long as the last axis of X (d_in=3); "
            "got W of shape (5, 3)",
        ),
        ([1, 2], np.ones((2, 3)), [1], "b must have shape (d_out,) = (3,); got shape (1,)"),
        ([1, 2], np.ones((2, 3)), 1, "b must have shape (d_out,) = (3,); got shape ()"),
        (
            np.ones((3, 2)),
            np.ones((2, 3)),
            np.ones((3, 3)),
            "b must have shape (d_out,) = (3,); got shape (3, 3)",
        ),
    ],
)
def test_project_what_does_not_fit(X, W, b, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        project(X, W, b)


@pytest.mark.parametrize(
    ("Q", "K", "message"),
    [
        (
            np.ones((5, 64)),
            np.ones((10, 32)),
            "K must have the same last axis as Q (d_k=64); got K of shape (10, 32)",
        ),
        ([1, 2], [[1, 2]], "Q must have shape (..., n_queries, d_k); got shape (2,)"),
        ([[1, 2]], [1, 2], "K must have shape (..., n_keys, d_k); got shape (2,)"),
        (
            np.ones((2, 5, 3)),
            np.ones((7, 5, 3)),
            "the leading axes of Q and K must agree; "
            "got Q of shape (2, 5, 3) and K of shape (7, 5, 3)",
        ),
    ],
)
def test_scores_of_what_does_not_fit(Q, K, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        attention_scores(Q, K)


@pytest.mark.parametrize(
    ("scale", "error"),
    [
        (INF, ValueError),
        (NAN, ValueError),
        ("1", TypeError),
        (True, TypeError),
        ([0.5], TypeError),
        (1j, TypeError),
    ],
)
def test_wrong_scale(scale, error):
    rule = "scale must be a finite number" if error is ValueError else "scale must be one number"
    with pytest.raises(error, match=rule):
        attention_scores([[1, 2]], [[3, 4]], scale)


def test_a_scale_that_float32_cannot_hold():
    x = np.ones((1, 2), np.float32)
    with pytest.raises(ValueError, match="scale must be a finite number in float32; got 1e\\+300"):
        attention_scores(x, x, 1e300)
