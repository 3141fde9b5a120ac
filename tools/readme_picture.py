"""Draws the README's picture, book/_static/readme.png, from a trained model's recorded weights."""

from pathlib import Path

import matplotlib

from companion import load_sentence, plotting

TARGET = Path(__file__).parent.parent / "book" / "_static" / "readme.png"
LAYER, HEAD = 5, 11


def main():
    matplotlib.use("agg")
    figure, axes = plotting.figure(rows=2, width=6, height=6.6)
    for ax, name in zip(axes, ("animal_tired", "animal_wide"), strict=True):
        sentence = load_sentence(name)
        query = sentence.position("it")
        weights = sentence.head_weights(LAYER, HEAD)[query]
        plotting.attention_lines(weights, query, sentence.tokens, ax=ax)
    figure.savefig(TARGET, metadata={"Software": None})


if __name__ == "__main__":
    main()
