"""The invented heads do what the chapters say of them."""

import numpy as np
import pytest

from companion import (
    MultiHeadAttention,
    attention_scores,
    attention_steps,
    project,
    residual_update,
    softmax,
    weighted_values,
)
from companion.examples import creature_head, thinking_machines


@pytest.fixture
def head():
    return creature_head()


def test_every_feature_has_a_name(head):
    assert head.X.shape == (len(head.tokens), len(head.features)) == (8, 12)


def test_every_word_is_of_one_kind(head):
    np.testing.assert_array_equal(head.X[:, :4].sum(axis=1), 1)


def test_nouns_attend_to_the_adjectives_in_front_of_them(head):
    Q, K, V = (project(head.X, W) for W in (head.W_Q, head.W_K, head.W_V))
    weights = attention_steps(Q, K, V).weights
    at = head.tokens.index
    creature, forest = weights[at("creature")], weights[at("forest")]
    assert creature[[at("fluffy"), at("blue")]].sum() > 0.95
    assert creature[at("fluffy")] == pytest.approx(creature[at("blue")])
    assert creature[at("verdant")] < 0.02
    assert forest.argmax() == at("verdant")
    assert forest[at("verdant")] > 0.9


def test_the_creature_becomes_fluffy_and_blue_and_stays_a_creature(head):
    Q, K, V = (project(head.X, W) for W in (head.W_Q, head.W_K, head.W_V))
    delta_E = weighted_values(softmax(attention_scores(Q, K)), V) @ head.W_O
    E = residual_update(head.X, delta_E)
    creature = dict(zip(head.features, E[head.tokens.index("creature")], strict=True))
    assert creature["fluffy"] == pytest.approx(creature["blue"])
    assert 0.45 < creature["blue"] < 0.5
    assert creature["green"] < 0.02
    assert creature["noun"] == creature["animal"] == 1


def test_thinking_scores_112_and_96():
    example = thinking_machines()
    Q, K = (project(example.X, W[0]) for W in (example.W_Q, example.W_K))
    scores = attention_scores(Q, K)
    np.testing.assert_allclose(scores[0], [14, 12], atol=1e-9)
    np.testing.assert_allclose(softmax(scores)[0], [0.8807970780, 0.1192029220], atol=1e-9)


def test_eight_heads_of_64_from_512():
    example = thinking_machines(np.random.default_rng(5))
    mha = MultiHeadAttention(example.W_Q, example.W_K, example.W_V, example.W_O)
    assert (mha.n_heads, mha.d_model, mha.d_k, mha.d_v, mha.d_out) == (8, 512, 64, 64, 512)
    assert mha(example.X).shape == (2, 512)
    scores = mha.steps(example.X).scores
    for h in range(8):  # PJ-05: W_Q and W_K differ, so no head's table is symmetric
        assert not np.allclose(scores[h], scores[h].T)
    np.testing.assert_allclose(mha.steps(example.X).scores[0, 0], [14, 12], atol=1e-9)
