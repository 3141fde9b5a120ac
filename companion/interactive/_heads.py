"""The figure of chapter 6: where a token looks, in every head of two recorded sentences."""

import numpy as np

from companion.interactive._figure import (
    BLUE,
    FULL,
    TEXT,
    WIDTH,
    calculate,
    figure,
    menu,
    text,
)

GAP = 16  # pixels between the two sentences
PANEL = (WIDTH - GAP) / 2


def heads(first, second, token, layer, head):
    """Let the reader choose layer, head and token, and show where it looks in two sentences.

    Parameters
    ----------
    first, second : companion.Sentence
        Two recorded sentences with equally many tokens.
    token, layer, head : int
        What is chosen at first: the token's row, and the head.

    Returns
    -------
    InteractiveFigure
        Both sentences as columns of tokens, each as strongly filled as the chosen token attends
        to it. Pointing at a token chooses it.

    Examples
    --------
    >>> from companion import load_sentence
    >>> first, second = load_sentence("animal_tired"), load_sentence("animal_wide")
    >>> figure = heads(first, second, first.position("it"), layer=5, head=11)
    >>> figure.spec["description"].split(": ")[-1]
    'it attends most to animal, 0.673, in the first, and to animal, 0.558, in the second.'
    """
    both = (first, second)
    if len(first.tokens) != len(second.tokens):
        lengths = f"{len(first.tokens)} and {len(second.tokens)}"
        raise ValueError(f"first and second must have equally many tokens; got {lengths}")
    n_heads, n = first.weights.shape[1:3]
    most = [s.weights[layer, head, token].astype(float) for s in both]
    tops = [f"{s.tokens[w.argmax()]}, {w.max():.3f}" for s, w in zip(both, most, strict=True)]
    choices = [f"{i}: {token}" for i, token in enumerate(first.tokens)]
    pick = menu("pick", "token", choices, token)
    return figure(
        "Two sentences as columns of tokens, with the weights that one token gives to each token "
        f"of its sentence: {first.text} {second.text} At first, layer {layer} and head {head}: "
        f"{first.tokens[token]} attends most to {tops[0]}, in the first, and to {tops[1]}, in the "
        "second.",
        [
            menu("layer", "layer", range(len(first.weights)), layer),
            menu("head", "head", range(n_heads), head),
            {
                "name": "pick",
                "select": {
                    "type": "point",
                    "on": "pointerover",
                    "fields": ["i"],
                    "toggle": False,
                    "clear": False,
                },
                "value": [{"i": token}],
                "bind": {"i": pick["bind"]},
                "views": ["first", "second"],
            },
            *(
                parameter
                for i, sentence in enumerate(both)
                for parameter in (
                    {"name": f"tokens_{i}", "value": list(sentence.tokens)},
                    {"name": f"W_{i}", "value": thousandths(sentence.weights)},
                )
            ),
        ],
        hconcat=[panel("first", 0, n, n_heads), panel("second", 1, n, n_heads)],
        spacing=GAP,
    )


def panel(name, i, n, n_heads):
    """Describe one sentence."""
    return {
        "width": PANEL,
        "height": {"step": 20},
        "data": {"sequence": {"start": 0, "stop": n, "as": "i"}},
        "transform": calculate(
            word=f"tokens_{i}[datum.i]",
            weight=f"toNumber(split(W_{i}[layer * {n_heads} + head], ' ')"
            f"[pick.i[0] * {n} + datum.i]) / 1000",
            number="format(datum.weight, '.3f')",
            opacity=f"{FULL} * datum.weight",
            says=f"tokens_{i}[pick.i[0]] + ' to ' + datum.word + ' ' + datum.number",
        ),
        "encoding": {"y": {"field": "i", "type": "ordinal", "axis": None}},
        "layer": [
            {
                "name": name,
                "mark": {"type": "bar", "color": BLUE, "aria": False},
                "encoding": {
                    "x": {"value": 0},
                    "x2": {"value": PANEL},
                    "fillOpacity": {"field": "opacity", "type": "quantitative", "scale": None},
                    "stroke": {
                        "condition": {"test": "datum.i == pick.i[0]", "value": TEXT},
                        "value": None,
                    },
                },
            },
            {
                "name": f"readout_{i}",
                "transform": [
                    {"joinaggregate": [{"op": "max", "field": "weight", "as": "largest"}]},
                    {"filter": "datum.weight == datum.largest"},
                    *calculate(most=f"tokens_{i}[pick.i[0]] + ' → ' + datum.word"),
                ],
                "mark": {"type": "text", "align": "left"},
                "encoding": {
                    "x": {"value": 0},
                    "y": {"value": -10},
                    "text": {"field": "most"},
                    "description": {"field": "says"},
                },
            },
            text(6, "word", "left", 12),
            text(int(PANEL) - 6, "number", "right", 12, description={"field": "says"}),
        ],
    }


def thousandths(weights):
    """Write each head's weights as one string of whole numbers: short in a page and a file."""
    rows = np.rint(1000 * weights.astype(float)).astype(int).reshape(-1, weights[0, 0].size)
    return [" ".join(map(str, row)) for row in rows.tolist()]
