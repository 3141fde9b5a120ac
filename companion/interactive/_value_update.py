"""The figure of chapter 5: which values a token takes, and how far they move it."""

import numpy as np

from companion.interactive._figure import (
    BLUE,
    TEXT,
    WIDTH,
    bar,
    calculate,
    compact,
    entry,
    figure,
    heading,
    menu,
    readout,
    signed,
    slider,
    text,
    words_axis,
)
from companion.queries_keys_values import project
from companion.value_updates import attention_steps

LABELS = 66  # pixels for the words in front
BAR, VALUE = 130, 150  # a weight of 1, and where the values begin
CHANGE = WIDTH - LABELS - 40  # for the vector; the rest is for its numbers
STRONGEST = 3


def value_update(head, token=0):
    """Let the reader choose a token, and follow its weights, values and update.

    Parameters
    ----------
    head : companion.examples.ExampleHead
        One head, with a name for each entry of its vectors.
    token : int
        The row that is chosen at first.

    Returns
    -------
    InteractiveFigure
        The token's weights and what each key's value adds, its vector before and after, and the
        length of the update.

    Examples
    --------
    >>> from companion.examples import creature_head
    >>> figure = value_update(creature_head(), token=3)
    >>> figure.spec["description"].split(", ")[-1]
    'verdant 0.01 and moves by 0.70.'
    """
    Q, K, V = (project(head.X, W) for W in (head.W_Q, head.W_K, head.W_V))
    weights, output = attention_steps(Q, K, V)[1:]
    hands_over = project(V, head.W_O)  # (n, d_model): what a weight of 1 would add
    delta_E = project(output, head.W_O)  # (n, d_model)
    moved, lengths = np.linalg.norm([delta_E, head.X], axis=-1)  # each (n,)
    n, d_model = head.X.shape
    takes = [k for k in range(n) if hands_over[k].any() and weights[token, k] >= 0.005]
    keys = {
        "width": WIDTH - LABELS,
        "height": {"step": 20},
        "data": {"sequence": {"start": 0, "stop": n, "as": "k"}},
        "transform": calculate(
            word="tokens[datum.k]",
            weight=entry("A", "token", "datum.k"),
            end=f"{BAR} * datum.weight",
            number="format(datum.weight, '.2f')",
            value="values[datum.k]",
            says="datum.word + ' weight ' + datum.number + ', value ' + datum.value",
        ),
        "encoding": {"y": row_names("word")},
        "layer": [
            bar(0, "end"),
            text(3, "number", "left", description={"field": "says"}),
            text(VALUE, "value", "left"),
            heading("weight", 0),
            heading("value", VALUE),
        ],
    }
    reach = {"domain": [min(-1, head.X.min()), max(1, STRONGEST * delta_E.max())], "nice": False}
    along = {"type": "quantitative", "scale": reach}
    entries = {
        "width": CHANGE,
        "height": {"step": 20},
        "data": {"sequence": {"start": 0, "stop": d_model, "as": "i"}},
        "transform": calculate(
            feature="features[datum.i]",
            before=entry("X", "token", "datum.i"),
            change=f"strength * {entry('D', 'token', 'datum.i')}",
            after="datum.before + datum.change",
            number=signed("datum.after", 2),
            says="datum.feature + ' ' + datum.number",
        ),
        "encoding": {"y": row_names("feature")},
        "layer": [
            {
                "mark": {"type": "bar", "color": BLUE, "aria": False},
                "encoding": {
                    "x": {"field": "before", **along, "axis": {"title": "entry", "tickCount": 5}},
                    "x2": {"field": "after"},
                },
            },
            {
                "mark": {"type": "bar", "fill": None, "stroke": TEXT, "aria": False},
                "encoding": {"x": {"field": "before", **along}, "x2": {"datum": 0}},
            },
            text(WIDTH - LABELS, "number", "right", description={"field": "says"}),
            heading("E (outline) and ΔE (filled)", 0),
            heading("E′", WIDTH - LABELS, align="right"),
        ],
    }
    return figure(
        "One token: bars for its weights, what each token's value hands over, and its vector "
        f"before (outline) with what is added (filled). At first, {head.tokens[token]} takes "
        + ", ".join(f"{head.tokens[k]} {weights[token, k]:.2f}" for k in takes)
        + f" and moves by {moved[token]:.2f}.",
        [
            menu("token", "token", head.tokens, token),
            slider("strength", "W_O ×", 0, STRONGEST, 0.1, 1),
            {"name": "tokens", "value": list(head.tokens)},
            {"name": "features", "value": list(head.features)},
            {"name": "values", "value": [named(row, head.features) for row in hands_over]},
            {"name": "A", "value": compact(weights)},
            {"name": "X", "value": compact(head.X)},
            {"name": "D", "value": compact(delta_E)},
            {"name": "moved", "value": moved.round(4).tolist()},
            {"name": "lengths", "value": lengths.round(4).tolist()},
        ],
        vconcat=[
            keys,
            entries,
            readout(
                ["length of E", "length of ΔE"],
                calculate(text="format([lengths[token], strength * moved[token]][datum.i], '.2f')"),
            ),
        ],
    )


def row_names(field):
    """Describe the words in front of the rows."""
    return {"field": field, "type": "nominal", "sort": None, "axis": words_axis(LABELS)}


def named(row, features):
    """Write the entries that are not 0, each with its name."""
    return ", ".join(f"{x:g} {name}" for x, name in zip(row, features, strict=True) if x) or "0"
