"""Vectors of trained models: a table of word vectors, and sentences recorded inside a transformer.

Taught in chapter 0, *Why one vector is not enough*. ``companion/data/README.md`` tells what the
files hold and where it comes from. Layers and heads are counted from 0. All arrays are read-only.
"""

from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path

import numpy as np

from companion import _validation as check
from companion.dot_product import cosine_similarity


class WordVectors:
    """A table with one vector for each word, the most frequent word first.

    Attributes
    ----------
    words : tuple of str
        The words of the table.
    vectors : ndarray, shape (n_words, d)
        The vector of ``words[i]`` in row ``i``.

    Examples
    --------
    >>> wv = load_word_vectors()
    >>> wv["mole"].shape, "mole" in wv, "octopodes" in wv
    ((50,), True, False)
    """

    def __init__(self, words, vectors):
        self.words = words
        self.vectors = vectors
        self._rows = {word: row for row, word in enumerate(words)}

    def __len__(self):
        return len(self.words)

    def __contains__(self, word):
        return word in self._rows

    def __getitem__(self, word):
        if word not in self:
            close = get_close_matches(str(word).lower(), self.words)
            hint = f"close spellings: {', '.join(close)}" if close else "no close spelling"
            raise KeyError(f"word must be one of the {len(self)} words kept; got {word!r} ({hint})")
        return self.vectors[self._rows[word]]

    def nearest(self, word, k=5):
        """List the `k` words of the table that point most nearly the same way.

        Parameters
        ----------
        word : str or array_like, shape (d,)
            A word of the table, which is then left out of the list, or any vector.
        k : int
            How many words to list.

        Returns
        -------
        list of (str, float)
            Words and their cosines, largest first.

        Raises
        ------
        KeyError
            If the word is not in the table; the message has close spellings.
        ValueError
            If a vector has another length than those of the table, or `k` is below 0.
        TypeError
            If a vector does not hold real numbers, or `k` is not an integer.

        Examples
        --------
        >>> [word for word, cosine in load_word_vectors().nearest("cat", 2)]
        ['dog', 'rabbit']
        """
        k = check.need_count(k, "k")
        is_word = isinstance(word, str)
        if not is_word:
            word = check.as_float(word, "word")
            check.need_shape(word, "word", self.vectors.shape[1:], "(d,)")
        cosines = cosine_similarity(self.vectors, self[word] if is_word else word)  # (n_words,)
        order = [row for row in np.argsort(-cosines) if not (is_word and self.words[row] == word)]
        return [(self.words[row], float(cosines[row])) for row in order[:k]]


@dataclass(frozen=True, eq=False, repr=False)
class Sentence:
    """A sentence recorded on its way through the trained model all-MiniLM-L6-v2.

    Attributes
    ----------
    name, text : str
        Its name in this book, and the sentence.
    tokens : tuple of str
        What the model reads; a token that continues a word begins with ``##``.
    states : ndarray, shape (n_layers + 1, n, d_model)
        ``states[i]`` enters layer ``i``, the last leaves the last layer. float32.
    weights : ndarray, shape (n_layers, n_heads, n, n)
        ``weights[layer, head, query, key]``. float16; `head_weights` has some in float32.

    Examples
    --------
    >>> s = load_sentence("animal_tired")
    >>> s.states.shape, s.weights.shape
    ((7, 16, 384), (6, 12, 16, 16))
    >>> it, animal = s.position("it"), s.position("animal")
    >>> print(s.head_weights(3, 1)[it, animal].round(3))
    0.677
    """

    name: str
    text: str
    tokens: tuple
    states: np.ndarray
    weights: np.ndarray
    _head_weights: dict
    _delta_E: dict

    def position(self, token, occurrence=0):
        """Return the row of a token: of its first occurrence, or of a later one (1, 2, ...)."""
        rows = [row for row, other in enumerate(self.tokens) if other == token]
        if not 0 <= occurrence < len(rows):
            raise ValueError(
                f"token must occur more than {occurrence} times in {self.name!r}; "
                f"got {token!r}, which occurs {len(rows)} times in: {' '.join(self.tokens)}"
            )
        return rows[occurrence]

    def head_weights(self, layer, head):
        """Return one head's weights in float32, shape (n, n), for the heads of `load_head`."""
        return _choose(self._head_weights, (layer, head), "(layer, head)")

    def delta_E(self, layer):
        """Return what all heads of a layer add to the states, shape (n, d_model), if kept."""
        return _choose(self._delta_E, layer, "layer")


@dataclass(frozen=True, eq=False, repr=False)
class Probes:
    """Words run alone through the same model, as ``[CLS] word [SEP]``: vectors to compare with.

    Attributes
    ----------
    words : tuple of str
        The words, each a single token.
    states : ndarray, shape (n_layers + 1, n_words, d_model)
        ``states[i, j]`` is the vector of ``words[j]`` that enters layer ``i``. float32.
    """

    words: tuple
    states: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class TrainedAttention:
    """What training gave one head, or all heads of a layer, for the convention ``X @ W``.

    Attributes
    ----------
    W_Q, W_K, W_V : ndarray, shape (d_model, d_k) or (n_heads, d_model, d_k)
        The projections, with biases ``b_Q, b_K, b_V``. float32, like the rest.
    W_O : ndarray, shape (d_k, d_model) or (n_heads * d_k, d_model)
        The rows of the output matrix, with the layer's bias ``b_O``, shape (d_model,).
    gamma, beta : ndarray, shape (d_model,)
        Scale and shift of the layer norm that follows: ``gamma * normalised + beta``.
    """

    W_Q: np.ndarray
    W_K: np.ndarray
    W_V: np.ndarray
    W_O: np.ndarray
    b_Q: np.ndarray
    b_K: np.ndarray
    b_V: np.ndarray
    b_O: np.ndarray
    gamma: np.ndarray
    beta: np.ndarray


@cache
def load_word_vectors():
    """Load the kept words of GloVe, with 50 float32 numbers each.

    Returns
    -------
    WordVectors
        The table of words and vectors.

    Examples
    --------
    >>> load_word_vectors().vectors.shape
    (604, 50)
    """
    arrays = _read("word_vectors.npz")
    return WordVectors(tuple(arrays["words"].tolist()), arrays["vectors"])


@cache
def sentence_names():
    """List the names of the recorded sentences.

    Returns
    -------
    tuple of str
        The names that `load_sentence` takes.

    Examples
    --------
    >>> sentence_names()[:3]
    ('animal_tired', 'animal_wide', 'creature')
    """
    return tuple(_read("sentences.npz", "names")[""].tolist())


@cache
def load_sentence(name):
    """Load a recorded sentence.

    Parameters
    ----------
    name : str
        One of `sentence_names`.

    Returns
    -------
    Sentence
        Its tokens, states and attention weights.

    Raises
    ------
    ValueError
        If no sentence has that name; the message lists them.

    Examples
    --------
    >>> load_sentence("mole_chemistry").tokens
    ('[CLS]', 'one', 'mole', 'of', 'carbon', 'dioxide', '.', '[SEP]')
    """
    if name not in sentence_names():
        raise ValueError(f"name must be one of {', '.join(sentence_names())}; got {name!r}")
    arrays = _read("sentences.npz", f"{name}/")
    return Sentence(
        name=name,
        text=str(arrays["text"]),
        tokens=tuple(arrays["tokens"].tolist()),
        states=arrays["states"],
        weights=arrays["weights"],
        _head_weights=dict(zip(recorded_heads(), arrays["head_weights"], strict=True)),
        _delta_E={5: arrays["delta_E_5"]},
    )


@cache
def load_probes():
    """Load the words that were run alone through the model.

    Returns
    -------
    Probes
        The words and their states.

    Examples
    --------
    >>> load_probes().words[:3], load_probes().states.shape
    (('animal', 'mammal', 'rat'), (7, 40, 384))
    """
    arrays = _read("sentences.npz", "probes/")
    return Probes(tuple(arrays["words"].tolist()), arrays["states"])


@cache
def recorded_heads():
    """List the heads whose matrices are kept.

    Returns
    -------
    tuple of (int, int)
        Layer and head, each counted from 0, as `load_head` takes them.

    Examples
    --------
    >>> recorded_heads()[:3]
    ((0, 2), (0, 3), (1, 8))
    """
    return tuple(map(tuple, _read("heads.npz", "heads")[""].tolist()))


@cache
def load_head(layer, head):
    """Load the matrices of one trained head.

    Parameters
    ----------
    layer, head : int
        One of the pairs of `recorded_heads`.

    Returns
    -------
    TrainedAttention
        Its matrices; ``b_O, gamma, beta`` are those of its layer.

    Raises
    ------
    ValueError
        If the matrices of that head are not kept; the message lists those that are.

    Examples
    --------
    >>> load_head(3, 1).W_Q.shape
    (384, 32)
    """
    if (layer, head) not in recorded_heads():
        heads = ", ".join(map(str, recorded_heads()))
        raise ValueError(f"(layer, head) must be one of {heads}; got {(layer, head)}")
    own, shared = _read("heads.npz", f"{layer}.{head}/"), _read("heads.npz", f"{layer}/")
    return TrainedAttention(**own, **shared)


@cache
def load_layer(layer):
    """Load all heads of a trained layer, shaped for `MultiHeadAttention`.

    Parameters
    ----------
    layer : int
        The layer whose heads are all kept: 5, the last.

    Returns
    -------
    TrainedAttention
        The matrices of its heads, stacked along a first axis; ``W_O`` is the whole matrix.

    Raises
    ------
    ValueError
        For any other layer.

    Examples
    --------
    >>> load_layer(5).W_Q.shape, load_layer(5).W_O.shape
    ((12, 384, 32), (384, 384))
    """
    if layer != 5:
        raise ValueError(f"layer must be 5, the one whose heads are all kept; got {layer}")
    heads = [vars(load_head(5, head)) for head in range(12)]
    joined = {key: np.stack([head[key] for head in heads]) for key in heads[0] if key[-1] in "QKV"}
    joined["W_O"] = np.concatenate([head["W_O"] for head in heads])  # (n_heads * d_k, d_model)
    for array in joined.values():
        array.flags.writeable = False
    return TrainedAttention(**(heads[0] | joined))


def _choose(kept, key, rule):
    if key not in kept:
        raise ValueError(f"{rule} must be one of {', '.join(map(str, kept))}; got {key}")
    return kept[key]


def _read(file, prefix=""):
    """Read the arrays whose names begin with `prefix`, read-only, under the rest of their names."""
    with np.load(Path(__file__).parent / "data" / file, allow_pickle=False) as archive:
        arrays = {key: archive[key] for key in archive.files if key.startswith(prefix)}
    for array in arrays.values():
        array.flags.writeable = False
    return {key.removeprefix(prefix): array for key, array in arrays.items()}
