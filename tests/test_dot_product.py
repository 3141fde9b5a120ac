import math
import re

import numpy as np
import oracle
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from strategies import SIZES, numbers, table

from companion import alignment_matrix, cosine_similarity, dot

rng = np.random.default_rng(11)
NAN, INF = np.nan, np.inf


# dot


def test_dot_by_hand():
    assert dot([1, 2, 3], [4, -5, 6]) == 4 - 10 + 18
    assert dot([0.5], [-3]) == -1.5


def test_dot_sums_over_the_last_axis_only():
    a = rng.normal(size=(2, 3, 5))
    b = rng.normal(size=(2, 3, 5))
    expected = [[oracle.dot(a[i, j], b[i, j]) for j in range(3)] for i in range(2)]
    result = dot(a, b)
    assert result.shape == (2, 3)
    assert_allclose(result, expected, rtol=1e-12)


def test_dot_compares_one_vector_with_each_of_many():
    assert_array_equal(dot([[1, 0, 2], [0, 1, 5]], [2, 1, 0]), [2, 1])
    assert dot(np.ones((2, 1, 5)), np.ones((3, 5))).shape == (2, 3)


def test_dot_of_illustrated_transformer_is_112_and_96():
    # Alammar: q1·k1 = 112 and q1·k2 = 96 with 64 entries each; any such vectors must do
    q = np.full(64, 2.0)
    k1, k2 = np.full(64, 0.875), np.full(64, 0.75)
    assert dot(q, k1) == 112
    assert dot(q, k2) == 96


def test_dot_of_empty_vectors_is_zero():
    assert dot([], []) == 0
    assert_array_equal(dot(np.ones((2, 0)), np.ones((2, 0))), [0, 0])


@given(numbers(2, 5))
def test_dot_is_symmetric_and_linear(pair):
    a, b = pair
    assert dot(a, b) == dot(b, a)
    assert dot(2 * a - b, b) == 2 * dot(a, b) - dot(b, b)


# cosine_similarity


@pytest.mark.parametrize(
    ("a", "b", "cosine"),
    [
        ([3, 4], [4, 3], 0.96),
        ([1, 0], [0, 7], 0),
        ([1, 2], [-10, -20], -1),
        ([1, 1], [5, 0], math.sqrt(0.5)),
        ([1, 2, 3], [4, 5, 6], 32 / math.sqrt(14 * 77)),
    ],
)
def test_cosine_by_hand(a, b, cosine):
    assert_allclose(cosine_similarity(a, b), cosine, rtol=1e-15, atol=1e-16)


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e-5, 1e5, 1e200, 1e308])
def test_cosine_ignores_the_lengths(size):
    a = np.array([0.75, -1.0]) * size
    assert_allclose(cosine_similarity(a, [4, 3]), 0, atol=1e-3)
    assert_allclose(cosine_similarity(a, [0, -2]), 0.8, rtol=1e-3)
    assert_allclose(cosine_similarity([0, -2], a), 0.8, rtol=1e-3)


def test_cosine_never_leaves_its_range():
    vectors = rng.normal(size=(500, 7))
    assert (np.abs(cosine_similarity(vectors, vectors)) <= 1).all()
    assert_allclose(cosine_similarity(vectors, vectors), 1, rtol=1e-15)
    assert_allclose(cosine_similarity(vectors, -3 * vectors), -1, rtol=1e-15)
    assert (cosine_similarity(vectors, -vectors) >= -1).all()


def test_cosine_of_a_vector_without_direction_is_nan_and_spoils_no_other():
    result = cosine_similarity([[0, 0], [1, 0]], [1, 1])
    assert np.isnan(result[0])
    assert_allclose(result[1], math.sqrt(0.5))
    assert np.isnan(cosine_similarity([], []))


@pytest.mark.parametrize("bad", [NAN, INF, -INF])
def test_cosine_of_nan_or_inf_is_nan_in_its_own_row(bad):
    result = cosine_similarity([[1, bad], [3, 4]], [4, 3])
    assert np.isnan(result[0])
    assert_allclose(result[1], 0.96)


def test_cosine_broadcasts_like_dot():
    a, b = rng.normal(size=(2, 1, 5)), rng.normal(size=(3, 5))
    result = cosine_similarity(a, b)
    assert result.shape == (2, 3)
    for i in range(2):
        for j in range(3):
            x, y = a[i, 0], b[j]
            expected = oracle.dot(x, y) / math.sqrt(oracle.dot(x, x) * oracle.dot(y, y))
            assert_allclose(result[i, j], expected, rtol=1e-12)


# alignment_matrix


def test_alignment_by_hand():
    A = [[1, 0], [1, 1], [0, -2]]
    B = [[2, 0], [0, 3]]
    assert_array_equal(alignment_matrix(A, B), [[2, 0], [2, 3], [0, -6]])
    assert_array_equal(alignment_matrix(B, A), [[2, 2, 0], [0, 3, -6]])


def test_alignment_of_a_batch_is_a_loop():
    A, B = rng.normal(size=(2, 3, 5, 11)), rng.normal(size=(2, 3, 7, 11))
    result = alignment_matrix(A, B)
    assert result.shape == (2, 3, 5, 7)
    for i in range(2):
        for j in range(3):
            assert_allclose(result[i, j], oracle.scores(A[i, j], B[i, j], scale=1), rtol=1e-11)


def test_alignment_shares_one_matrix_over_a_batch():
    A, B = rng.normal(size=(2, 3, 5)), rng.normal(size=(7, 5))
    assert_allclose(alignment_matrix(A, B)[1], oracle.scores(A[1], B, scale=1), rtol=1e-12)


@given(table())
def test_alignment_with_itself_is_symmetric_with_squared_lengths(X):
    S = alignment_matrix(X, X)
    assert_array_equal(S, S.T)
    assert_array_equal(np.diag(S), dot(X, X))


@given(SIZES.flatmap(lambda d: numbers(5, d)))
def test_alignment_is_every_dot_product(X):
    A, B = X[:2], X[2:]
    assert_array_equal(alignment_matrix(A, B), [[dot(a, b) for b in B] for a in A])


@pytest.mark.parametrize(("n", "m"), [(0, 3), (2, 0), (0, 0)])
def test_alignment_of_no_rows_is_empty(n, m):
    assert alignment_matrix(np.ones((n, 5)), np.ones((m, 5))).shape == (n, m)


@pytest.mark.parametrize("bad", [NAN, INF])
def test_alignment_keeps_nan_and_inf_in_their_own_row_and_column(bad):
    A, B = rng.normal(size=(3, 5)), rng.normal(size=(7, 5))
    expected = alignment_matrix(A, B)
    A[1, 2] = B[4, 0] = bad
    result = alignment_matrix(A, B)
    assert not np.isfinite(result[1]).any()
    assert not np.isfinite(result[:, 4]).any()
    others = np.ix_([0, 2], [0, 1, 2, 3, 5, 6])
    assert_array_equal(result[others], expected[others])


# wrong input


@pytest.mark.parametrize("function", [dot, cosine_similarity])
@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([1, 2, 3], [1, 2], "b must have the same last axis as a (d=3); got b of shape (2,)"),
        ([1, 2], [1], "b must have the same last axis as a (d=2); got b of shape (1,)"),
        (1, [1, 2], "a must have shape (..., d); got shape ()"),
        ([1, 2], 3.5, "b must have shape (..., d); got shape ()"),
        (
            np.ones((2, 5)),
            np.ones((3, 5)),
            "the leading axes of a and b must agree; got a of shape (2, 5) and b of shape (3, 5)",
        ),
        ([[1, 2], [3]], [1, 2], "a must be a full array: its rows differ in length"),
    ],
)
def test_vectors_that_do_not_fit(function, a, b, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        function(a, b)


@pytest.mark.parametrize(
    ("A", "B", "message"),
    [
        (
            np.ones((2, 5)),
            np.ones((5, 3)),
            "B must have the same last axis as A (d=5); got B of shape (5, 3)",
        ),
        ([1, 2], [[1, 2]], "A must have shape (..., n, d); got shape (2,)"),
        ([[1, 2]], [1, 2], "B must have shape (..., m, d); got shape (2,)"),
        (
            np.ones((2, 3, 5)),
            np.ones((3, 7, 5)),
            "the leading axes of A and B must agree; "
            "got A of shape (2, 3, 5) and B of shape (3, 7, 5)",
        ),
    ],
)
def test_matrices_that_do_not_fit(A, B, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        alignment_matrix(A, B)
