import math
import re
import tracemalloc

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from strategies import numbers, queries_keys_values, tokens

from companion import (
    KeyValueCache,
    MultiHeadAttention,
    attention,
    attention_bytes,
    attention_flops,
    attention_parameters,
    blockwise_attention,
    causal_mask,
    grouped_query_attention,
    padding_mask,
)

rng = np.random.default_rng(9)
NAN, INF = np.nan, np.inf
T, F = True, False
BLOCKS = st.tuples(st.integers(1, 7), st.integers(1, 7))  # queries, keys


def normals(*shapes, dtype=np.float64):
    return [rng.normal(size=shape).astype(dtype) for shape in shapes]


# counting


def test_parameters_of_the_base_transformer():
    counts = attention_parameters(512, n_heads=8)
    assert sum(counts.values()) == 4 * 512**2 == 1_048_576
    assert counts["W_Q"] + counts["W_K"] + counts["W_V"] == 8 * 98_304
    assert counts["W_O"] == 262_144


def test_parameters_of_narrower_keys():
    # Vaswani et al. (2017), table 3: d_k = 16 in 18 layers of attention
    wide = attention_parameters(512, n_heads=8, d_k=64, d_v=64)
    narrow = attention_parameters(512, n_heads=8, d_k=16, d_v=64)
    assert 18 * (sum(wide.values()) - sum(narrow.values())) == 7_077_888
    assert narrow == {"W_Q": 65_536, "W_K": 65_536, "W_V": 262_144, "W_O": 262_144}


def test_parameters_of_gpt_3():
    counts = attention_parameters(12_288, n_heads=96, d_k=128)
    assert 96 * counts["W_Q"] == 14_495_514_624
    assert sum(counts.values()) == 603_979_776
    assert 96 * sum(counts.values()) == 57_982_058_496
    assert attention_parameters(12_288, n_heads=1, d_k=128)["W_Q"] == 1_572_864


def test_parameters_of_shared_keys_and_values():
    counts = attention_parameters(512, n_heads=8, n_kv_heads=2)
    assert counts == {"W_Q": 262_144, "W_K": 65_536, "W_V": 65_536, "W_O": 262_144}


def test_parameters_are_the_sizes_of_the_matrices():
    d_model, n_heads, d_k, d_v = 7, 3, 5, 2
    shapes = [(n_heads, d_model, d_k)] * 2 + [(n_heads, d_model, d_v), (n_heads * d_v, d_model)]
    mha = MultiHeadAttention(*normals(*shapes))
    counts = attention_parameters(d_model, n_heads, d_k, d_v)
    assert counts == {name: getattr(mha, name).size for name in counts}


def test_operations_of_gpt_2():
    # the sizing notebook of nanoGPT: d_model 768, 12 heads, 1,024 tokens
    counts = attention_flops(1024, 768, n_heads=12)
    assert counts == {
        "projections": 3_623_878_656,
        "scores": 1_610_612_736,
        "weighted_values": 1_610_612_736,
        "output": 1_207_959_552,
    }
    # with the 768 weights of the layer norm in front
    parameters = attention_parameters(768, n_heads=12)
    assert sum(parameters.values()) + 768 == 2_360_064
    assert sum(parameters[name] for name in ("W_Q", "W_K", "W_V")) == 1_769_472


def test_operations_are_those_of_a_loop():
    n, n_cached, d_model, n_heads, d_k, d_v, n_kv_heads = 3, 4, 7, 6, 5, 2, 3

    def product(a, b, c):
        return sum(2 for _ in range(a) for _ in range(b) for _ in range(c))

    assert attention_flops(n, d_model, n_heads, d_k, d_v, n_kv_heads, n_cached) == {
        "projections": n_heads * product(n, d_model, d_k)
        + n_kv_heads * (product(n, d_model, d_k) + product(n, d_model, d_v)),
        "scores": n_heads * product(n, d_k, n + n_cached),
        "weighted_values": n_heads * product(n, n + n_cached, d_v),
        "output": product(n, n_heads * d_v, d_model),
    }


@pytest.mark.parametrize(("d_model", "n_heads"), [(512, 8), (768, 12), (12_288, 96)])
def test_the_quadratic_part_is_half_at_twice_the_width(d_model, n_heads):
    counts = attention_flops(2 * d_model, d_model, n_heads)
    assert 2 * (counts["scores"] + counts["weighted_values"]) == sum(counts.values())


def test_all_steps_of_decoding_cost_less_than_starting_again_each_time():
    cached = [sum(attention_flops(1, 64, 4, n_cached=i).values()) for i in range(10)]
    again = [sum(attention_flops(i + 1, 64, 4).values()) for i in range(10)]
    assert cached[0] == again[0]
    assert all(c < a for c, a in zip(cached[1:], again[1:], strict=True))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_bytes_are_those_of_the_arrays(dtype):
    d_model, n_heads, d_k, d_v, n = 7, 3, 5, 2, 11
    shapes = [(n_heads, d_model, d_k)] * 2 + [(n_heads, d_model, d_v), (n_heads * d_v, d_model)]
    mha = MultiHeadAttention(*normals(*shapes, dtype=dtype))
    steps = mha.steps(*normals((n, d_model), dtype=dtype))
    counts = attention_bytes(n, n_heads, d_k, d_v, dtype=dtype)
    assert counts.pop("output") == steps.heads.nbytes
    assert counts == {name: getattr(steps, name).nbytes for name in counts}


def test_bytes_of_long_texts():
    counts = attention_bytes(16_384, n_heads=8, d_k=64)
    assert counts["scores"] == 8 * 2**30  # 1 GiB a head
    assert counts["Q"] == counts["output"] == 32 * 2**20
    shared = attention_bytes(16_384, n_heads=8, d_k=64, n_kv_heads=2)
    assert 4 * shared["K"] == 4 * shared["V"] == counts["K"]
    assert shared["scores"] == counts["scores"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"d_model": 0, "n_heads": 1}, "d_model must be at least 1; got 0"),
        ({"d_model": 6, "n_heads": 4}, "d_model must be a multiple of n_heads=4; got 6"),
        (
            {"d_model": 8, "n_heads": 4, "n_kv_heads": 3},
            "n_heads must be a multiple of n_kv_heads=3; got n_heads=4",
        ),
        ({"d_model": 8, "n_heads": 4, "n_kv_heads": 0}, "n_kv_heads must be at least 1; got 0"),
    ],
)
def test_sizes_that_make_no_layer(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        attention_parameters(**arguments)
    with pytest.raises(ValueError, match=re.escape(message)):
        attention_flops(3, **arguments)


def test_sizes_that_are_no_integers():
    with pytest.raises(TypeError, match=r"d_k must be an integer; got 0\.5"):
        attention_parameters(8, 2, d_k=0.5)
    with pytest.raises(ValueError, match="n_cached must be at least 0; got -1"):
        attention_flops(1, 8, 2, n_cached=-1)
    with pytest.raises(ValueError, match="n must be at least 0; got -1"):
        attention_bytes(-1, 8, 64)


# blockwise_attention


def test_blockwise_by_hand():
    # three scores ln 1, ln 2, ln 5 in blocks of one key each: weights 1/8, 2/8, 5/8
    K = np.log([[1], [2], [5]])
    V = [[8, 0], [16, -8], [0, 8]]
    for block_size in (1, 2, 3, 100):
        assert_allclose(
            blockwise_attention([[1]], K, V, block_queries=block_size, block_keys=block_size),
            [[5, 3]],
            rtol=1e-15,
        )


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)])
@pytest.mark.parametrize("step", [0.5, 3, 300])
def test_scores_that_rise_or_fall_from_block_to_block(order, step):
    K = (step * np.arange(7.0)[:, None])[order]
    V = rng.normal(size=(7, 3))
    Q = [[1.0], [-1.0], [0.25]]
    for block_size in (1, 2, 3):
        assert_allclose(
            blockwise_attention(Q, K, V, block_queries=block_size, block_keys=block_size),
            attention(Q, K, V),
            rtol=1e-14,
            atol=1e-14,
        )


@given(queries_keys_values(), st.booleans(), st.sampled_from([None, 0.5, -20.0]), BLOCKS)
def test_blockwise_is_attention(inputs, causal, scale, blocks):
    Q, K, V, mask = inputs
    past = causal_mask(len(Q), len(K)) if causal else True
    for m in (None, mask, mask[:1], mask[:, :1], mask[0], mask[0, 0]):
        expected = attention(Q, K, V, np.asarray(past if m is None else past & m), scale)
        result = blockwise_attention(Q, K, V, m, causal, scale, *blocks)
        assert_allclose(result, expected, rtol=1e-12, atol=1e-13)


@given(queries_keys_values(), BLOCKS)
def test_blockwise_is_the_oracle(inputs, blocks):
    Q, K, V, mask = inputs
    _, _, expected = oracle.attention(Q, K, V, mask.tolist())
    result = blockwise_attention(Q, K, V, mask, False, None, *blocks)
    assert_allclose(result, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("causal", [F, T])
@pytest.mark.parametrize(("n_queries", "n_keys"), [(1, 1), (700, 700), (613, 1100), (1100, 613)])
def test_blockwise_in_float32_agrees_to_a_millionth(n_queries, n_keys, causal):
    Q, K, V = normals((3, n_queries, 64), (3, n_keys, 64), (3, n_keys, 64), dtype=np.float32)
    mask = padding_mask([n_keys, n_keys // 2 + 1, 1], n_keys)
    expected = attention(Q, K, V, mask & causal_mask(n_queries, n_keys) if causal else mask)
    result = blockwise_attention(Q, K, V, mask, causal)
    assert result.dtype == np.float32
    assert_allclose(result, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int64, bool])
def test_blockwise_keeps_the_dtype(dtype):
    Q, K, V = (a.astype(dtype) for a in normals((5, 3), (7, 3), (7, 2)))
    result, expected = (
        blockwise_attention(Q, K, V, block_queries=2, block_keys=2),
        attention(Q, K, V),
    )
    assert result.dtype == expected.dtype
    tolerance = {np.float16: 1e-3, np.float32: 1e-6}.get(dtype, 1e-14)
    assert_allclose(result, expected, rtol=tolerance, atol=tolerance)


def test_blockwise_shares_leading_axes_as_attention_does():
    Q, K, V = normals((2, 3, 5, 11), (3, 7, 11), (7, 13))
    mask = rng.random((2, 1, 5, 7)) < 0.7
    for m in (None, mask, mask[:, :, :1], padding_mask([[4], [6]], 7)):
        expected = attention(Q, K, V, m)
        result = blockwise_attention(Q, K, V, m, block_queries=3, block_keys=3)
        assert result.shape == expected.shape == (2, 3, 5, 13)
        assert_allclose(result, expected, rtol=1e-12, atol=1e-14)
    values = normals((2, 7, 13))[0]  # only the values have a leading axis
    result = blockwise_attention(Q[0, 0], K[0], values, mask[0, 0], block_queries=3, block_keys=3)
    assert_allclose(result, attention(Q[0, 0], K[0], values, mask[0, 0]), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    "shapes", [[(0, 3), (5, 3), (5, 2)], [(4, 3), (0, 3), (0, 2)], [(4, 3), (5, 3), (5, 0)]]
)
@pytest.mark.parametrize("leading", [(), (0,), (2,)])
def test_blockwise_of_nothing(shapes, leading):
    Q, K, V = (np.ones((*leading, *shape)) for shape in shapes)
    assert_array_equal(blockwise_attention(Q, K, V), attention(Q, K, V))


@pytest.mark.parametrize("block_size", [1, 2, 5])
def test_blockwise_gives_zeros_to_a_query_with_nothing_to_attend_to(block_size):
    Q, K, V = normals((5, 3), (4, 3), (4, 2))
    mask = np.array([[F, F, F, F], [T, F, F, F], [F, F, F, T], [F, F, F, F], [T, T, T, T]])
    result = blockwise_attention(Q, K, V, mask, block_queries=block_size, block_keys=block_size)
    assert_array_equal(result[[0, 3]], 0)
    assert_allclose(result, attention(Q, K, V, mask), rtol=1e-13)
    Q[0] = NAN
    assert_array_equal(
        blockwise_attention(Q, K, V, mask, block_queries=block_size, block_keys=block_size), result
    )
    first_sees_nothing = blockwise_attention(
        Q[1:], K[:2], V[:2], causal=True, block_queries=1, block_keys=1
    )
    assert_array_equal(first_sees_nothing[:2], 0)
    assert (first_sees_nothing[2:] != 0).all()


@pytest.mark.parametrize("bad", [1e300, -1e300, INF, -INF, NAN])
@pytest.mark.parametrize("spoiled", ["K", "V", "K and V"])
@pytest.mark.parametrize("block_size", [1, 2, 5])
def test_blockwise_a_masked_key_cannot_matter_whatever_it_holds(bad, spoiled, block_size):
    Q, K, V = normals((5, 3), (5, 3), (5, 2))
    mask = np.ones((5, 5), bool)
    mask[:, 1] = F
    mask[4] = F
    before = blockwise_attention(Q, K, V, mask, block_queries=block_size, block_keys=block_size)
    if "K" in spoiled:
        K[1, 1] = bad
    if "V" in spoiled:
        V[1, 0] = bad
    after = blockwise_attention(Q, K, V, mask, block_queries=block_size, block_keys=block_size)
    assert_array_equal(after, before)


@pytest.mark.parametrize("bad", [INF, -INF, NAN])
@pytest.mark.parametrize("spoiled", ["Q", "K", "V"])
@pytest.mark.parametrize("block_size", [1, 2, 5])
@pytest.mark.parametrize("causal", [F, T])
def test_blockwise_nan_and_inf_reach_the_rows_that_attention_lets_them_reach(
    bad, spoiled, block_size, causal
):
    inputs = dict(zip("QKV", normals((4, 3), (4, 3), (4, 2)), strict=True))
    inputs[spoiled][1, 0] = bad
    mask = np.array([[T, F, T, T], [T, T, T, T], [F, T, F, F], [T, F, F, T]])
    past = causal_mask(4) if causal else np.ones((4, 4), bool)
    for m in (None, mask):
        expected = attention(**inputs, mask=past if m is None else m & past)
        result = blockwise_attention(
            **inputs, mask=m, causal=causal, block_queries=block_size, block_keys=block_size
        )
        assert_allclose(result, expected, rtol=1e-12, atol=1e-14)


@given(tokens(), st.sampled_from([0.0, 3.5, 1e200, NAN, INF]), st.integers(1, 7))
def test_blockwise_changing_the_future_changes_nothing_earlier(inputs, changed, block_size):
    Q, K, V, now = inputs
    before = blockwise_attention(
        Q, K, V, causal=True, block_queries=block_size, block_keys=block_size
    )
    Q, K, V = Q.copy(), K.copy(), V.copy()
    Q[now:] = K[now:] = V[now:] = changed
    after = blockwise_attention(
        Q, K, V, causal=True, block_queries=block_size, block_keys=block_size
    )
    assert after[:now].tobytes() == before[:now].tobytes()


@given(queries_keys_values(), st.integers(1, 7))
def test_blockwise_leaves_its_inputs_alone(inputs, block_size):
    Q, K, V, mask = inputs
    copies = [a.copy() for a in inputs]
    blockwise_attention(Q, K, V, mask, block_queries=block_size, block_keys=block_size)
    for array, copy in zip(inputs, copies, strict=True):
        assert_array_equal(array, copy)


def test_blockwise_scores_that_overflow_a_plain_exponential():
    Q, K, V = np.array([[1.0]]), np.array([[5000.0], [-5000.0], [5001.0]]), np.eye(3)
    for block_size in (1, 2, 3):
        result = blockwise_attention(Q, K, V, block_queries=block_size, block_keys=block_size)
        assert_allclose(result, [[1 / (1 + math.e), 0, math.e / (1 + math.e)]], rtol=1e-12)
    assert_allclose(blockwise_attention(Q, -K, V, block_queries=1, block_keys=1), [[0, 1, 0]])
    assert_allclose(blockwise_attention(Q, K[1:2], V[1:2]), [[0, 1, 0]])


def peak_beyond_inputs(function, *inputs, **options):
    tracemalloc.start()
    try:
        function(*inputs, **options)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("hidden", [F, T])
def test_blockwise_memory_grows_with_n_and_not_with_its_square(hidden):
    peaks = []
    for n in (2048, 4096):
        Q, K, V = normals((n, 16), (n, 16), (n, 16), dtype=np.float32)
        mask = padding_mask(n // 3, n) if hidden else None
        peaks.append(peak_beyond_inputs(blockwise_attention, Q, K, V, mask, causal=hidden))
    assert peaks[1] < 4 * 2**20  # the scores alone would be 64 MiB
    assert peaks[1] < 1.5 * peaks[0]


def test_the_memory_of_attention_grows_with_the_square():
    Q, K, V = normals((1024, 16), (1024, 16), (1024, 16), dtype=np.float32)
    assert peak_beyond_inputs(attention, Q, K, V) > 8 * 2**20  # scores and weights: 4 MiB each


@pytest.mark.parametrize(
    ("error", "message", "change"),
    [
        (
            ValueError,
            "K must have the same last axis as Q (d_k=3); got K of shape (7, 4)",
            {"K": np.ones((7, 4))},
        ),
        (
            ValueError,
            "V must have the same second-to-last axis as K (n_keys=7); got V of shape (6, 2)",
            {"V": np.ones((6, 2))},
        ),
        (ValueError, "Q must have shape (..., n_queries, d_k); got shape (3,)", {"Q": np.ones(3)}),
        (ValueError, "block_queries must be at least 1; got 0", {"block_queries": 0}),
        (ValueError, "block_keys must be at least 1; got -1", {"block_keys": -1}),
        (TypeError, "mask must be boolean", {"mask": np.ones((5, 7))}),
        (ValueError, "mask must be broadcastable", {"mask": np.ones((2, 5, 7), bool)}),
        (ValueError, "d_k must be at least 1", {"Q": np.ones((5, 0)), "K": np.ones((7, 0))}),
        (ValueError, "scale must be a finite number", {"scale": INF}),
        (TypeError, "V must hold real numbers", {"V": np.ones((7, 2), complex)}),
        (
            ValueError,
            "the leading axes of Q and K must agree",
            {"Q": np.ones((2, 5, 3)), "K": np.ones((4, 7, 3))},
        ),
        (
            ValueError,
            "the leading axes of the scores and V must agree",
            {"Q": np.ones((2, 5, 3)), "V": np.ones((4, 7, 2))},
        ),
    ],
)
def test_blockwise_errors(error, message, change):
    inputs = {"Q": np.ones((5, 3)), "K": np.ones((7, 3)), "V": np.ones((7, 2))} | change
    with pytest.raises(error, match=re.escape(message)):
        blockwise_attention(**inputs)


# grouped_query_attention


@pytest.mark.parametrize("n_kv_heads", [1, 2, 3, 6])
@pytest.mark.parametrize("leading", [(), (2,)])
def test_grouped_queries_are_attention_with_keys_and_values_repeated(n_kv_heads, leading):
    Q, K, V = normals(
        (*leading, 6, 5, 11), (*leading, n_kv_heads, 7, 11), (*leading, n_kv_heads, 7, 13)
    )
    repeated = [np.repeat(a, 6 // n_kv_heads, axis=-3) for a in (K, V)]
    full = rng.random((*leading, 6, 5, 7)) < 0.7
    for mask in (None, full, full[..., :1, :, :], full[..., :1, :1, :], causal_mask(5, 7)):
        result = grouped_query_attention(Q, K, V, mask)
        assert result.shape == (*leading, 6, 5, 13)
        assert_allclose(result, attention(Q, *repeated, mask), rtol=1e-13, atol=1e-14)
    assert_allclose(
        grouped_query_attention(Q, K, V, scale=0.2),
        attention(Q, *repeated, scale=0.2),
        rtol=1e-13,
        atol=1e-14,
    )


def test_grouped_queries_by_hand():
    # heads 0 and 1 read the first keys and values, heads 2 and 3 the second
    Q = np.array([[[0]], [[1]], [[0]], [[1]]])
    K = np.log([[[1], [3]], [[1], [7]]])
    V = [[[4], [8]], [[8], [16]]]
    assert_allclose(grouped_query_attention(Q, K, V).ravel(), [6, 7, 12, 15], rtol=1e-15)


def test_grouped_queries_that_do_not_divide():
    Q, K, V = np.ones((4, 5, 3)), np.ones((3, 7, 3)), np.ones((3, 7, 2))
    with pytest.raises(ValueError, match=r"n_heads must be a multiple of n_kv_heads=3"):
        grouped_query_attention(Q, K, V)
    with pytest.raises(ValueError, match=re.escape("(n_kv_heads=3); got V of shape (2, 7, 2)")):
        grouped_query_attention(np.ones((6, 5, 3)), K, V[:2])
    with pytest.raises(ValueError, match=re.escape("Q must have shape (..., n_heads,")):
        grouped_query_attention(Q[0], K, V)
    with pytest.raises(ValueError, match="mask must be broadcastable"):
        grouped_query_attention(Q, K[:2], V[:2], np.ones((2, 5, 7), bool))


# KeyValueCache


@given(tokens(), st.data())
def test_decoding_with_a_cache_is_the_full_causal_pass(inputs, data):
    Q, K, V, _ = inputs
    expected = attention(Q, K, V, causal_mask(len(Q)))
    cache = KeyValueCache(capacity=len(Q))
    start = 0
    while start < len(Q):
        new = slice(start, start + data.draw(st.integers(1, len(Q) - start)))
        result = cache.attend(Q[new], K[new], V[new])
        assert_allclose(result, expected[new], rtol=1e-12, atol=1e-13)
        start = new.stop
        assert len(cache) == start
        assert cache.K.tobytes() == K[:start].tobytes()
        assert cache.V.tobytes() == V[:start].tobytes()


def test_a_step_with_a_cache_is_bit_for_bit_the_step_without():
    Q, K, V = normals((3, 40, 16), (3, 40, 16), (3, 40, 8))
    cache = KeyValueCache(capacity=50)
    for i in range(40):
        new = slice(i, i + 1)
        with_cache = cache.attend(Q[:, new], K[:, new], V[:, new])
        without = attention(Q[:, new], K[:, : i + 1], V[:, : i + 1])
        assert with_cache.tobytes() == without.tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_kv_heads", [1, 2, 4])
def test_a_cache_of_fewer_heads(dtype, n_kv_heads):
    Q, K, V = normals((4, 9, 5), (n_kv_heads, 9, 5), (n_kv_heads, 9, 3), dtype=dtype)
    cache = KeyValueCache(capacity=9)
    steps = [cache.attend(*(a[:, i : i + 1] for a in (Q, K, V))) for i in range(9)]
    result = np.concatenate(steps, axis=-2)
    assert result.dtype == dtype
    tolerance = {np.float32: 1e-6, np.float64: 1e-12}[dtype]
    expected = grouped_query_attention(Q, K, V, causal_mask(9))
    assert_allclose(result, expected, rtol=0, atol=tolerance)
    sizes = attention_bytes(9, 4, 5, 3, n_kv_heads, dtype)
    assert cache.nbytes == sizes["K"] + sizes["V"]


def test_an_empty_cache():
    cache = KeyValueCache(capacity=3)
    assert len(cache) == 0 and cache.nbytes == 0 and cache.K is None and cache.V is None


def test_a_cache_is_a_copy():
    K = np.ones((1, 2))
    cache = KeyValueCache(capacity=3)
    cache.append(K, K)
    K[:] = 7
    assert_array_equal(cache.K, [[1, 1]])


@pytest.mark.parametrize(
    ("error", "message", "Q", "K", "V"),
    [
        (ValueError, "the cache has room for 3 tokens; got 4", (2, 5), (2, 5), (2, 7)),
        (ValueError, "K must have shape that of earlier tokens = (1, 5)", (1, 6), (1, 6), (1, 7)),
        (ValueError, "V must have shape that of earlier tokens = (1, 7)", (1, 5), (1, 5), (1, 6)),
        (ValueError, "(d_k=5); got Q of shape (1, 6)", (1, 6), (1, 5), (1, 7)),
        (ValueError, "(n_new=1); got Q of shape (2, 5)", (2, 5), (1, 5), (1, 7)),
        (ValueError, "(n_new=1); got V of shape (2, 7)", (1, 5), (1, 5), (2, 7)),
    ],
)
def test_cache_errors_leave_the_cache_as_it_was(error, message, Q, K, V):
    cache = KeyValueCache(capacity=3)
    cache.append(np.ones((2, 5)), np.ones((2, 7)))
    with pytest.raises(error, match=re.escape(message)):
        cache.attend(np.ones(Q), np.ones(K), np.ones(V))
    assert len(cache) == 2


def test_a_cache_has_room_and_one_dtype():
    with pytest.raises(ValueError, match="capacity must be at least 1; got 0"):
        KeyValueCache(capacity=0)
    cache = KeyValueCache(capacity=3)
    cache.append(*normals((1, 2), (1, 2), dtype=np.float32))
    with pytest.raises(TypeError, match="K must stay of dtype float32; got float64"):
        cache.append(*normals((1, 2), (1, 2)))


@given(numbers(6, 3), numbers(6, 3), numbers(6, 2))
def test_what_comes_later_cannot_reach_back_through_a_cache(Q, K, V):
    def decode(K, V):
        cache = KeyValueCache(capacity=6)
        return [cache.attend(Q[[i]], K[[i]], V[[i]]) for i in range(6)]

    changed = np.where(np.arange(6)[:, None] < 4, 0, 99)
    before, after = decode(K, V), decode(K + changed, V + changed)
    for i in range(4):
        assert after[i].tobytes() == before[i].tobytes()
