import re

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from strategies import SIZES, numbers

from companion import (
    MultiHeadAttention,
    attention,
    attention_steps,
    causal_mask,
    concat_heads,
    padding_mask,
    project,
    split_heads,
)

rng = np.random.default_rng(16)
NAN, INF = np.nan, np.inf
T, F = True, False
N_HEADS, D_MODEL, D_K, D_V, D_OUT = 3, 5, 2, 7, 11
SHAPES = {
    "W_Q": (N_HEADS, D_MODEL, D_K),
    "W_K": (N_HEADS, D_MODEL, D_K),
    "W_V": (N_HEADS, D_MODEL, D_V),
    "W_O": (N_HEADS * D_V, D_OUT),
    "b_Q": (N_HEADS, D_K),
    "b_K": (N_HEADS, D_K),
    "b_V": (N_HEADS, D_V),
    "b_O": (D_OUT,),
}


def parameters(dtype=np.float64, biases=True):
    """Random matrices (and biases), with every axis of its own size."""
    return {
        name: rng.normal(size=shape).astype(dtype)
        for name, shape in SHAPES.items()
        if biases or name.startswith("W")
    }


def expected_output(p, X, C=None, masks=None):
    """The oracle's output; `masks` has one mask a head."""
    C = X if C is None else C
    if masks is None:
        masks = np.ones((N_HEADS, len(X), len(C)), bool)
    biases = [p.get(name, np.zeros(SHAPES[name])) for name in ("b_Q", "b_K", "b_V", "b_O")]
    matrices = [p[name] for name in ("W_Q", "W_K", "W_V", "W_O")]
    return oracle.multi_head(X, C, *matrices, *biases, masks.tolist())


# split_heads, concat_heads


def test_MH_01_heads_are_columns_not_a_bare_reshape():
    X = np.arange(8).reshape(2, 4)
    assert_array_equal(split_heads(X, 2), [[[0, 1], [4, 5]], [[2, 3], [6, 7]]])
    assert_array_equal(split_heads(X, 4)[1], [[1], [5]])
    assert_array_equal(split_heads(X, 1), [X])
    assert_array_equal(concat_heads([[[0, 1], [4, 5]], [[2, 3], [6, 7]]]), X)
    assert_array_equal(concat_heads([[[1], [2], [3]], [[4], [5], [6]]]), [[1, 4], [2, 5], [3, 6]])


@given(SIZES, SIZES, SIZES, st.lists(st.integers(0, 3), max_size=2))
def test_MH_01_head_h_holds_its_columns(n_heads, n, d, leading):
    X = np.arange(np.prod([*leading, n, n_heads * d])).reshape(*leading, n, n_heads * d)
    heads = split_heads(X, n_heads)
    assert heads.shape == (*leading, n_heads, n, d)
    for h in range(n_heads):
        assert_array_equal(heads[..., h, :, :], X[..., h * d : (h + 1) * d])
    assert_array_equal(concat_heads(heads), X)
    assert_array_equal(split_heads(concat_heads(heads), n_heads), heads)


@pytest.mark.parametrize(
    "dtype", [np.float16, np.float32, np.float64, np.int8, bool, "U3", complex]
)
def test_splitting_and_joining_keep_the_dtype(dtype):
    X = np.ones((2, 6)).astype(dtype)
    assert split_heads(X, 3).dtype == X.dtype
    assert concat_heads(split_heads(X, 3)).dtype == X.dtype


def test_splitting_and_joining_copy():
    X = np.zeros((2, 6))
    heads = split_heads(X, 3)
    joined = concat_heads(heads)
    heads[...] = 1
    joined[...] = 2
    split_heads(X, 1)[...] = 3
    concat_heads(X[None])[...] = 4
    assert_array_equal(X, np.zeros((2, 6)))
    assert_array_equal(heads, np.ones((3, 2, 2)))


@pytest.mark.parametrize(
    ("shape", "n_heads", "error", "message"),
    [
        (
            (2, 5),
            2,
            ValueError,
            "the last axis of X must be a multiple of n_heads=2; got X of shape",
        ),
        ((4,), 2, ValueError, "X must have shape (..., n, n_heads * d); got shape (4,)"),
        ((2, 4), 0, ValueError, "n_heads must be at least 1; got 0"),
        ((2, 4), -2, ValueError, "n_heads must be at least 1; got -2"),
        ((2, 4), 2.0, TypeError, "n_heads must be an integer; got 2.0"),
        ((2, 4), None, TypeError, "n_heads must be an integer; got None"),
    ],
)
def test_what_cannot_be_split(shape, n_heads, error, message):
    with pytest.raises(error, match=re.escape(message)):
        split_heads(np.ones(shape), n_heads)


def test_what_cannot_be_joined():
    with pytest.raises(ValueError, match=re.escape("heads must have shape (..., n_heads, n, d)")):
        concat_heads([[1, 2], [3, 4]])


# MultiHeadAttention


def test_multi_head_by_hand():
    # zero queries: both heads average the tokens; head 1 doubles them, head 2 takes their sum
    W_Q, W_K = np.zeros((2, 2, 1)), np.ones((2, 2, 1))
    W_V = [[[2, 0], [0, 2]], [[1, 0], [1, 0]]]
    W_O = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 100]]
    mha = MultiHeadAttention(W_Q, W_K, W_V, W_O)
    assert_array_equal(mha([[1, 5], [3, -1]]), [[4, 4, 4]] * 2)
    assert_array_equal(mha([[1, 5], [3, -1]], mask=causal_mask(2)), [[2, 10, 6], [4, 4, 4]])
    biased = MultiHeadAttention(W_Q, W_K, W_V, W_O, b_V=[[1, 0], [0, -1]], b_O=[0, 0, 7])
    assert_array_equal(biased([[1, 5], [3, -1]]), [[5, 4, 4 - 100 + 7]] * 2)


@pytest.mark.parametrize("biases", [False, True])
def test_multi_head_is_the_sum_over_heads_of_the_oracle(biases):
    p = parameters(biases=biases)
    X, C = rng.normal(size=(13, D_MODEL)), rng.normal(size=(17, D_MODEL))
    mha = MultiHeadAttention(**p)
    assert_allclose(mha(X), expected_output(p, X), rtol=1e-8, atol=1e-10)
    assert_allclose(mha(X, C), expected_output(p, X, C), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("name", ["b_Q", "b_K", "b_V", "b_O"])
def test_each_bias_alone(name):
    p = {**parameters(biases=False), name: rng.normal(size=SHAPES[name])}
    X, C = rng.normal(size=(13, D_MODEL)), rng.normal(size=(17, D_MODEL))
    result = MultiHeadAttention(**p)(X, C)
    assert_allclose(result, expected_output(p, X, C), rtol=1e-8, atol=1e-10)
    without = MultiHeadAttention(**{**p, name: None})(X, C)
    changes = not np.allclose(result, without)
    assert changes == (name != "b_K")  # it adds the same to all scores of a query


def test_multi_head_of_a_batch_is_a_loop():
    p = parameters()
    X, C = rng.normal(size=(2, 19, 13, D_MODEL)), rng.normal(size=(2, 19, 17, D_MODEL))
    mask = rng.random((2, 19, 13, 17)) < 0.7
    steps = MultiHeadAttention(**p).steps(X, C, mask)
    assert steps.output.shape == (2, 19, 13, D_OUT)
    for i in np.ndindex(2, 19):
        expected = expected_output(p, X[i], C[i], np.stack([mask[i]] * N_HEADS))
        assert_allclose(steps.output[i], expected, rtol=1e-8, atol=1e-10)


def test_steps_are_the_plain_functions_head_by_head():
    p = parameters()
    X, C = rng.normal(size=(13, D_MODEL)), rng.normal(size=(17, D_MODEL))
    mask = rng.random((13, 17)) < 0.7
    mha = MultiHeadAttention(**p)
    steps = mha.steps(X, C, mask)
    for h in range(N_HEADS):
        Q, K, V = (
            project(tokens, p[f"W_{x}"][h], p[f"b_{x}"][h])
            for x, tokens in [("Q", X), ("K", C), ("V", C)]
        )
        one = attention_steps(Q, K, V, mask)
        for part, expected in [
            (steps.Q, Q),
            (steps.K, K),
            (steps.V, V),
            (steps.scores, one.scores),
            (steps.weights, one.weights),
            (steps.heads, one.output),
        ]:
            assert_allclose(part[h], expected, rtol=1e-9, atol=1e-12)
    assert_array_equal(steps.concat, np.hstack(steps.heads))
    assert_allclose(steps.output, steps.concat @ p["W_O"] + p["b_O"], rtol=1e-10)
    assert_array_equal(mha(X, C, mask), steps.output)


def test_concat_times_W_O_is_the_sum_of_the_heads_updates():
    p = parameters()
    X = rng.normal(size=(13, D_MODEL))
    steps = MultiHeadAttention(**p).steps(X)
    slices = p["W_O"].reshape(N_HEADS, D_V, D_OUT)
    updates = [steps.heads[h] @ slices[h] for h in range(N_HEADS)]
    assert_allclose(steps.output, sum(updates) + p["b_O"], rtol=1e-9, atol=1e-12)


@given(numbers(4, 3), numbers(2, 3, 2), numbers(3, 5))
def test_one_head_is_plain_attention(X, W, W_V):
    mha = MultiHeadAttention(W[:1], W[1:], W_V[None], np.eye(5))
    mask = causal_mask(4)
    expected = attention(X @ W[0], X @ W[1], X @ W_V, mask)
    assert_allclose(mha(X, mask=mask), expected, rtol=1e-12, atol=1e-13)


@given(st.permutations(range(5)))
def test_permuted_tokens_give_permuted_outputs(order):
    seeded = np.random.default_rng(0)
    p = {name: seeded.normal(size=shape) for name, shape in SHAPES.items()}
    X = seeded.normal(size=(5, D_MODEL))
    mha = MultiHeadAttention(**p)
    assert_allclose(mha(X[order]), mha(X)[order], rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("changed", [3.5, 1e150, NAN, INF])
@pytest.mark.parametrize("now", [1, 2, 6])
def test_changing_the_future_changes_nothing_earlier(changed, now):
    mha = MultiHeadAttention(**parameters())
    X = rng.normal(size=(2, 7, D_MODEL))
    before = mha(X, mask=causal_mask(7))
    X[:, now:, 1] = changed
    after = mha(X, mask=causal_mask(7))
    assert after[:, :now].tobytes() == before[:, :now].tobytes()
    assert not np.isclose(after[:, now:], before[:, now:]).all()


# its mask


def test_a_mask_is_shared_by_all_heads():
    p = parameters()
    X = rng.normal(size=(4, D_MODEL))
    mha = MultiHeadAttention(**p)
    for mask in (
        causal_mask(4),
        padding_mask(3, 4),
        np.array([T, F, T, T]),
        rng.random((4, 1)) < 0.5,
    ):
        full = np.broadcast_to(mask, (N_HEADS, 4, 4))
        assert_allclose(mha(X, mask=mask), expected_output(p, X, None, full), rtol=1e-8, atol=1e-10)
    assert_array_equal(mha(X, mask=np.ones((4, 4), bool)), mha(X))


def test_each_head_may_have_its_own_mask():
    p = parameters()
    X, C = rng.normal(size=(2, 4, D_MODEL)), rng.normal(size=(2, 6, D_MODEL))
    mask = rng.random((2, N_HEADS, 4, 6)) < 0.6
    result = MultiHeadAttention(**p)(X, C, mask)
    for b in range(2):
        expected = expected_output(p, X[b], C[b], mask[b])
        assert_allclose(result[b], expected, rtol=1e-8, atol=1e-10)
    for shape in [(N_HEADS, 1, 1), (N_HEADS, 1, 6), (1, 4, 6), (N_HEADS, 4, 6)]:
        small = rng.random(shape) < 0.6
        full = np.broadcast_to(small, (N_HEADS, 4, 6))
        expected = expected_output(p, X[0], C[0], full)
        result = MultiHeadAttention(**p)(X[0], C[0], small)
        assert_allclose(result, expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("lengths", [[1, 4], [4, 2], [3, 0]])
def test_MS_03_every_sequence_meets_its_own_mask_in_every_head(lengths):
    p = parameters()
    X = rng.normal(size=(2, 4, D_MODEL))
    mask = padding_mask(lengths, 4) & causal_mask(4)
    result = MultiHeadAttention(**p)(X, mask=mask)
    for b in range(2):
        expected = expected_output(p, X[b], None, np.stack([mask[b]] * N_HEADS))
        assert_allclose(result[b], expected, rtol=1e-8, atol=1e-10)


def test_MS_03_as_many_sequences_as_heads():
    p = parameters()
    X = rng.normal(size=(N_HEADS, 4, D_MODEL))
    mask = padding_mask([1, 2, 4], 4)
    result = MultiHeadAttention(**p)(X, mask=mask)
    for b in range(N_HEADS):
        full = np.broadcast_to(mask[b], (N_HEADS, 4, 4))
        assert_allclose(result[b], expected_output(p, X[b], None, full), rtol=1e-8, atol=1e-10)


def test_MS_01_padding_cannot_be_seen_whatever_it_holds():
    mha = MultiHeadAttention(**parameters())
    X = rng.normal(size=(2, 6, D_MODEL))
    mask = padding_mask([4, 6], 6)
    before = mha(X, mask=mask)
    for garbage in (0, 1e150, NAN, INF):
        X[0, 4:] = garbage
        after = mha(X, mask=mask)
        assert_array_equal(after[0, :4], before[0, :4])
        assert_array_equal(after[1], before[1])


@pytest.mark.parametrize(
    "shape",
    [
        (2, 2, N_HEADS, 4, 6),  # more axes than heads need
        (3, 4, 6),  # neither the batch nor 1
        (2, 2, 4, 6),  # as many heads as sequences, but there are three heads
        (2, 6, 4),
        (5,),
    ],
)
def test_MS_07_a_mask_that_does_not_fit(shape):
    X, C = rng.normal(size=(2, 4, D_MODEL)), rng.normal(size=(2, 6, D_MODEL))
    with pytest.raises(ValueError, match=re.escape(f"without enlarging it; got shape {shape}")):
        MultiHeadAttention(**parameters())(X, C, np.ones(shape, bool))


@pytest.mark.parametrize(
    "mask", [np.zeros((4, 4)), np.ones((4, 4), int), np.zeros((N_HEADS, 4, 4))]
)
def test_MP_03_only_a_boolean_is_a_mask(mask):
    with pytest.raises(TypeError, match="mask must be boolean, True where a query may attend"):
        MultiHeadAttention(**parameters())(np.ones((4, D_MODEL)), mask=mask)


def test_FM_01_a_query_with_nothing_to_attend_to_gets_the_output_bias():
    p = parameters()
    steps = MultiHeadAttention(**p).steps(np.ones((2, D_MODEL)), mask=[[T, F], [F, F]])
    assert_array_equal(steps.weights[:, 1], 0)
    assert_array_equal(steps.heads[:, 1], 0)
    assert_array_equal(steps.output[1], p["b_O"])


# what goes wrong elsewhere


@pytest.mark.parametrize(
    ("W_O", "expected"), [(2 * np.eye(2), [[2, 4]]), ([[1, 0, 2], [3, 1, 0]], [[7, 2, 2]])]
)
def test_MH_03_the_output_matrix_is_applied(W_O, expected):
    one = np.ones((1, 1, 1))
    mha = MultiHeadAttention(one, one, [[[1, 2]]], W_O)
    assert_array_equal(mha([[1]]), expected)


def test_MH_03_the_output_may_have_another_width():
    W = rng.normal(size=(2, 5, 2))
    assert MultiHeadAttention(W, W, W, np.ones((4, 3)))(np.ones((7, 5))).shape == (7, 3)


def test_MH_05_every_head_starts_from_the_original_tokens():
    W = np.array([2.0, 3.0]).reshape(2, 1, 1)
    steps = MultiHeadAttention(W, W, W, np.eye(2)).steps([[1], [2]])
    assert_allclose(steps.heads[1, :, 0], [5.99962982, 5.99999995], rtol=0, atol=5e-9)
    for h, w in enumerate((2.0, 3.0)):
        x = [[w], [2 * w]]
        assert_allclose(steps.heads[h], oracle.attention(x, x, x)[2], rtol=1e-13)


def test_MH_07_values_may_have_another_width_than_keys():
    W_K = rng.normal(size=(2, 3, 4))
    mha = MultiHeadAttention(W_K, W_K, rng.normal(size=(2, 3, 1)), rng.normal(size=(2, 7)))
    steps = mha.steps(rng.normal(size=(3, 3)), rng.normal(size=(5, 3)))
    assert steps.heads.shape == (2, 3, 1)
    assert steps.concat.shape == (3, 2)
    assert steps.output.shape == (3, 7)
    assert (mha.n_heads, mha.d_model, mha.d_k, mha.d_v, mha.d_out) == (2, 3, 4, 1, 7)


def test_MH_09_the_weights_of_every_head_are_kept():
    big = 100.0
    W_Q = [[[big, 0], [0, 0]], [[0, 0], [0, big]]]
    W_K = [[[1, 0], [0, 0]], [[0, 0], [0, 1]]]
    steps = MultiHeadAttention(W_Q, W_K, [np.eye(2)] * 2, np.eye(4)).steps(
        [[1, 1]], [[1, 0], [0, 1]]
    )
    assert_allclose(steps.weights, [[[1, 0]], [[0, 1]]], atol=1e-25)
    assert_allclose(steps.heads, [[[1, 0]], [[0, 1]]], atol=1e-25)


@pytest.mark.parametrize("n_heads", [1, 2, 4, 8])
def test_SC_01_the_scale_is_that_of_one_head(n_heads):
    d_model = 16
    d_k = d_model // n_heads
    p = [rng.normal(size=(n_heads, d_model, d_k)) for _ in range(3)]
    X = rng.normal(size=(3, d_model))
    steps = MultiHeadAttention(*p, np.eye(d_model)).steps(X)
    for h in range(n_heads):
        expected = oracle.scores(X @ p[0][h], X @ p[1][h], scale=d_k**-0.5)
        assert_allclose(steps.scores[h], expected, rtol=1e-10)


def test_SC_05_float16_is_computed_in_float32_from_end_to_end():
    W_Q = np.full((1, 1, 64), 40, np.float16)
    one = np.ones((1, 1, 1), np.float16)
    mha = MultiHeadAttention(W_Q, W_Q, one, one[0])
    steps = mha.steps(np.full((1, 1), 10, np.float16), np.array([[10], [9.75]], np.float16))
    assert np.isposinf(steps.scores).all()  # 128,000 rounded to float16
    assert_array_equal(steps.weights, [[[1, 0]]])
    assert_array_equal(steps.output, [[10]])


def test_PJ_05_queries_and_keys_have_their_own_matrices():
    X = np.array([[1, 0], [1, 1]])
    W_Q, W_K = [[[1, 2], [0, 1]]], [[[1, 0], [1, 1]]]
    steps = MultiHeadAttention(W_Q, W_K, W_K, np.eye(2)).steps(X)
    assert_allclose(steps.scores[0] * np.sqrt(2), [[1, 4], [1, 5]], rtol=1e-15)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("biases", [False, True])
def test_PJ_07_the_dtype_is_kept(dtype, biases):
    mha = MultiHeadAttention(**parameters(dtype, biases))
    X = rng.normal(size=(3, D_MODEL)).astype(dtype)
    assert {part.dtype for part in mha.steps(X, mask=causal_mask(3))} == {np.dtype(dtype)}
    assert mha(X).dtype == dtype
    assert mha(np.ones((3, D_MODEL), int)).dtype == np.float64


@pytest.mark.parametrize(
    ("d_model", "n_heads", "total"), [(512, 8, 4 * 512**2), (768, 12, 2_359_296)]
)
def test_number_of_weights_of_a_layer(d_model, n_heads, total):
    # Vaswani et al. 2017 (base): 1,048,576, of which each head has 98,304 and W_O 262,144
    d_k = d_model // n_heads
    W = np.zeros((n_heads, d_model, d_k))
    mha = MultiHeadAttention(W, W, W, np.zeros((d_model, d_model)))
    sizes = [m.size for m in (mha.W_Q, mha.W_K, mha.W_V, mha.W_O)]
    assert sum(sizes) == total
    if d_model == 512:
        assert total == 1_048_576
        assert sum(sizes[:3]) // n_heads == 98_304
        assert sizes[3] == 262_144
        assert mha(np.ones((2, 512))).shape == (2, 512)


@pytest.mark.parametrize(
    ("X", "C"), [((0, 5), None), ((3, 5), (0, 5)), ((0, 5), (4, 5)), ((0, 3, 5), None)]
)
def test_multi_head_of_nothing_is_the_output_bias(X, C):
    p = parameters()
    context = None if C is None else np.ones(C)
    result = MultiHeadAttention(**p)(np.ones(X), context)
    assert_array_equal(result, np.broadcast_to(p["b_O"], (*X[:-1], D_OUT)))


def test_later_changes_to_the_arrays_given_change_nothing():
    p = parameters()
    X = rng.normal(size=(3, D_MODEL))
    mha = MultiHeadAttention(**p)
    before = mha(X)
    for array in p.values():
        array[...] = 7
    assert_array_equal(mha(X), before)


# wrong input


@pytest.mark.parametrize(
    ("name", "shape", "message"),
    [
        ("W_Q", (5, 2), "W_Q must have shape (n_heads, d_model, d_k); got shape (5, 2)"),
        ("W_Q", (0, 5, 2), "n_heads and d_k must be at least 1; got W_Q of shape (0, 5, 2)"),
        ("W_Q", (3, 5, 0), "n_heads and d_k must be at least 1; got W_Q of shape (3, 5, 0)"),
        ("W_K", (3, 5, 4), "W_K must have shape (n_heads, d_model, d_k) = (3, 5, 2); got shape"),
        ("W_K", (2, 5, 2), "W_K must have shape (n_heads, d_model, d_k) = (3, 5, 2); got shape"),
        ("W_V", (2, 5, 7), "W_V must have shape (n_heads=3, d_model=5, d_v); got shape (2, 5, 7)"),
        ("W_V", (5, 7), "W_V must have shape (n_heads=3, d_model=5, d_v); got shape (5, 7)"),
        ("W_O", (11, 21), "W_O must have shape (n_heads * d_v=21, d_out); got shape (11, 21)"),
        ("W_O", (3, 7, 11), "W_O must have shape (n_heads * d_v=21, d_out); got shape (3, 7, 11)"),
        ("b_Q", (2,), "b_Q must have shape (n_heads, d_k) = (3, 2); got shape (2,)"),
        ("b_K", (6,), "b_K must have shape (n_heads, d_k) = (3, 2); got shape (6,)"),
        ("b_V", (3, 2), "b_V must have shape (n_heads, d_v) = (3, 7); got shape (3, 2)"),
        ("b_O", (21,), "b_O must have shape (d_out,) = (11,); got shape (21,)"),
    ],
)
def test_parameters_that_do_not_fit(name, shape, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        MultiHeadAttention(**{**parameters(), name: np.ones(shape)})


@pytest.mark.parametrize("name", SHAPES)
def test_parameters_that_are_no_numbers(name):
    with pytest.raises(TypeError, match=f"{name} must hold real numbers"):
        MultiHeadAttention(**{**parameters(), name: np.full(SHAPES[name], "a")})


@pytest.mark.parametrize(
    ("X", "C", "message"),
    [
        ((4, 6), None, "X must have shape (..., n_queries, d_model=5); got shape (4, 6)"),
        ((5,), None, "X must have shape (..., n_queries, d_model); got shape (5,)"),
        ((4, 5), (4, 6), "context must have shape (..., n_keys, d_model=5); got shape (4, 6)"),
        ((4, 5), (5,), "context must have shape (..., n_keys, d_model); got shape (5,)"),
        (
            (2, 4, 5),
            (3, 4, 5),
            "context must have the same leading axes as X; "
            "got X of shape (2, 4, 5) and context of shape (3, 4, 5)",
        ),
        ((2, 4, 5), (4, 5), "context must have the same leading axes as X"),
    ],
)
def test_tokens_that_do_not_fit(X, C, message):
    context = None if C is None else np.ones(C)
    with pytest.raises(ValueError, match=re.escape(message)):
        MultiHeadAttention(**parameters())(np.ones(X), context)
