"""The figure of chapter 4: what two masks leave of the weights, and what they leave nothing of."""

from companion.interactive._figure import (
    BLUE,
    FULL,
    WIDTH,
    calculate,
    checkbox,
    compact,
    entry,
    figure,
    heading,
    numbers,
    pixels,
    readout,
    slider,
    text,
    words,
    words_axis,
)
from companion.masking import causal_mask, masked_softmax

LABELS = 66  # pixels for the words in front


def masks(scores, tokens):
    """Let the reader lay a causal mask and padding on a table of weights.

    Parameters
    ----------
    scores : array_like, shape (n, n)
        Queries are rows.
    tokens : sequence of str
        A word for each row, no two the same.

    Returns
    -------
    InteractiveFigure
        The weights, a cross where a query may not attend, and which queries have nothing left.

    Examples
    --------
    >>> figure = masks([[0, 0], [0, 0]], ["a", "b"])
    >>> figure.spec["description"].split(". ")[-1]
    'Weights of the last query a 0.50, b 0.50.'
    """
    scores = numbers("scores", scores, ndim=2)
    n = len(scores)
    if scores.shape != (n, n):
        raise ValueError(f"scores must have as many keys as queries; got shape {scores.shape}")
    tokens = words("tokens", tokens, n)
    cell = (WIDTH - LABELS) / n
    last = masked_softmax(scores, causal_mask(n))[-1]
    table = {
        "width": WIDTH - LABELS,
        "height": {"step": 24},
        "data": {"sequence": {"start": 0, "stop": n * n, "as": "i"}},
        "transform": [
            *calculate(
                q=f"floor(datum.i / {n})",
                k=f"datum.i % {n}",
                token="tokens[datum.q]",
                left=f"datum.k * {cell}",
                right=f"(datum.k + 1) * {cell}",
                middle=f"(datum.k + 0.5) * {cell}",
                may="datum.k >= front && datum.k < end && (!causal || datum.k <= datum.q)",
                score=f"datum.may ? {entry('S', 'datum.q', 'datum.k')} : null",
            ),
            {
                "joinaggregate": [{"op": "max", "field": "score", "as": "largest"}],
                "groupby": ["q"],
            },
            *calculate(exponential="datum.may ? exp(datum.score - datum.largest) : 0"),
            {
                "joinaggregate": [{"op": "sum", "field": "exponential", "as": "total"}],
                "groupby": ["q"],
            },
            *calculate(
                weight="datum.total ? datum.exponential / datum.total : 0",
                number="datum.may ? format(datum.weight, '.2f') : '×'",
                says="datum.token + ' to ' + tokens[datum.k] + ': '"
                " + (datum.may ? datum.number : 'masked, 0')",
                opacity=f"{FULL} * datum.weight",
            ),
        ],
        "encoding": {
            "y": {"field": "token", "type": "nominal", "sort": None, "axis": words_axis(LABELS)}
        },
        "layer": [
            {
                "mark": {"type": "bar", "color": BLUE, "aria": False},
                "encoding": {
                    "x": pixels("left"),
                    "x2": {"field": "right"},
                    "opacity": {"field": "opacity", "type": "quantitative", "scale": None},
                },
            },
            text("middle", "number", description={"field": "says"}),
            *(heading(token, (k + 0.5) * cell, angle=320) for k, token in enumerate(tokens)),
        ],
    }
    return figure(
        f"Table of the weights of {n} queries (rows) and {n} keys, with a cross where a query may "
        "not attend. At first with a causal mask and no padding: the upper half is crossed out, "
        "and every query has a key. Weights of the last query "
        + ", ".join(f"{token} {w:.2f}" for token, w in zip(tokens, last, strict=True))
        + ".",
        [
            checkbox("causal", "causal mask", True),
            slider("front", "padding in front", 0, n, 1, 0),
            slider("back", "padding at end", 0, n, 1, 0),
            {"name": "end", "expr": f"{n} - back"},
            {"name": "tokens", "value": tokens},
            {"name": "S", "value": compact(scores)},
        ],
        vconcat=[
            table,
            readout(
                ["nothing left:"],
                calculate(
                    # as many rows as come before the first key that is no padding
                    n_lost=f"front >= end ? {n} : causal ? front : 0",
                    some="tokens[0] + ' … ' + tokens[datum.n_lost - 1]",
                    text="['no query', tokens[0]][datum.n_lost]"
                    f" || datum.some + ' (' + datum.n_lost + ' of {n})'",
                ),
            ),
        ],
    )
