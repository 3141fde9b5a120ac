"""The figure of chapter 3: every query with every key, and what the division is for."""

import numpy as np

from companion.distributions import softmax
from companion.interactive._figure import (
    BLUE,
    FULL,
    ORANGE,
    TEXT,
    WIDTH,
    bar,
    calculate,
    compact,
    entry,
    figure,
    heading,
    menu,
    minus,
    numbers,
    pixels,
    signed,
    slider,
    text,
    words,
    words_axis,
)
from companion.queries_keys_values import attention_scores

LABELS = 66  # pixels for the words in front
BAR = 46  # for a weight of 1
# where the columns below the table are: right ends of numbers, left ends of bars
KEY, PRODUCT, PLAIN, SCORE, DIVIDED = 90, 128, 137, 219, 228


def score_table(Q, K, tokens, query=0):
    """Let the reader choose a query, and compare weights with and without the division.

    Parameters
    ----------
    Q, K : array_like, shape (n, d_k)
        Queries and keys with few entries.
    tokens : sequence of str
        A word for each row, no two the same.
    query : int
        The row that is chosen at first.

    Returns
    -------
    InteractiveFigure
        The table of scores and, for the query chosen, its entries, every key, dot products,
        scores, and the weights of both. For a larger d_k the dot products grow with its root,
        as they do with entries of unchanged size, and the scores stay.

    Examples
    --------
    >>> figure = score_table([[2, 0], [0, 1]], [[1, 0], [0, 1]], ["a", "b"])
    >>> figure.spec["description"].split(": ")[-1]
    'weights a 0.80, b 0.20.'
    """
    Q, K = numbers("Q", Q, ndim=2), numbers("K", K, ndim=2)
    if Q.shape != K.shape:
        raise ValueError(f"Q and K must have the same shape; got {Q.shape} and {K.shape}")
    tokens = words("tokens", tokens, len(Q))
    scores = attention_scores(Q, K)  # (n, n)
    n, d_k = Q.shape
    weights = softmax(scores[query])
    cell = (WIDTH - LABELS) / n
    of_row = {"field": "token", "type": "nominal", "sort": None, "axis": words_axis(LABELS)}
    size = {"width": WIDTH - LABELS, "height": {"step": 22}}
    product = " + ".join(
        f"{entry('Q', 'datum.q', i)} * {entry('K', 'datum.k', i)}" for i in range(d_k)
    )
    query_entries = ", ".join(signed(entry("Q", "query", i), 2) for i in range(d_k))
    key_entries = ", ".join(signed(entry("K", "datum.k", i), 2) for i in range(d_k))
    table = {
        **size,
        "data": {"sequence": {"start": 0, "stop": n * n, "as": "i"}},
        "transform": calculate(
            q=f"floor(datum.i / {n})",
            k=f"datum.i % {n}",
            token="tokens[datum.q]",
            left=f"datum.k * {cell}",
            right=f"(datum.k + 1) * {cell}",
            middle=f"(datum.k + 0.5) * {cell}",
            score=f"({product}) / sqrt({d_k})",
            number=f"{signed('datum.score', 1)}",
            says="datum.token + ' with ' + tokens[datum.k] + ' ' + datum.number",
        ),
        "encoding": {"y": of_row},
        "layer": [
            {
                "mark": {"type": "bar", "aria": False},
                "encoding": {
                    "x": pixels("left"),
                    "x2": {"field": "right"},
                    "color": {
                        "condition": {"test": "datum.score < 0", "value": ORANGE},
                        "value": BLUE,
                    },
                    "opacity": {
                        "field": "score",
                        "type": "quantitative",
                        "legend": None,
                        "scale": {
                            "domain": [-np.abs(scores).max(), 0, np.abs(scores).max()],
                            "range": [FULL, 0, FULL],
                        },
                    },
                },
            },
            text("middle", "number", description={"field": "says"}),
            {
                "transform": [{"filter": "datum.q == query && datum.k == 0"}],
                "mark": {"type": "bar", "fill": None, "stroke": TEXT, "strokeWidth": 2},
                "encoding": {"x": {"value": 0}, "x2": {"value": WIDTH - LABELS}},
            },
            *(
                heading(token, (k + 0.5) * cell, angle=320, align="left")
                for k, token in enumerate(tokens)
            ),
        ],
    }
    one_query = {
        **size,
        "data": {"sequence": {"start": 0, "stop": n, "as": "k"}},
        "transform": [
            *calculate(
                q="query",
                token="tokens[datum.k]",
                key=f"join([{key_entries}], '  ')",
                score=f"({product}) / sqrt({d_k})",
                product="datum.score * sqrt(d_k)",
            ),
            {
                "joinaggregate": [
                    {"op": "max", "field": name, "as": f"largest_{name}"}
                    for name in ("product", "score")
                ]
            },
            *calculate(
                exp_product="exp(datum.product - datum.largest_product)",
                exp_score="exp(datum.score - datum.largest_score)",
            ),
            {
                "joinaggregate": [
                    {"op": "sum", "field": f"exp_{name}", "as": f"total_{name}"}
                    for name in ("product", "score")
                ]
            },
            *calculate(
                plain="datum.exp_product / datum.total_product",
                divided="datum.exp_score / datum.total_score",
                plain_end=f"{PLAIN} + {BAR} * datum.plain",
                divided_end=f"{DIVIDED} + {BAR} * datum.divided",
                product_number=signed("datum.product", 1),
                score_number=signed("datum.score", 1),
                plain_number="format(datum.plain, '.2f')",
                divided_number="format(datum.divided, '.2f')",
                says="datum.token + ': ' + datum.product_number + ' gives ' + datum.plain_number"
                " + ', ' + datum.score_number + ' gives ' + datum.divided_number",
            ),
        ],
        "encoding": {"y": of_row},
        "layer": [
            bar(PLAIN, "plain_end"),
            bar(DIVIDED, "divided_end"),
            text(KEY, "key", "right", 11),
            text(PRODUCT, "product_number", "right", 11),
            text(PLAIN + 3, "plain_number", "left", 11),
            text(SCORE, "score_number", "right", 11),
            {
                "name": "readout",
                **text(DIVIDED + 3, "divided_number", "left", 11, description={"field": "says"}),
            },
            heading("key", KEY, align="right"),
            heading("q · k", PRODUCT, align="right"),
            heading("weight", PLAIN),
            heading("score", SCORE, align="right"),
            heading("weight", DIVIDED),
        ],
        "title": {
            "text": {"expr": f"'query of ' + tokens[query] + ': ' + join([{query_entries}], ', ')"},
            "offset": 16,
        },
    }
    return figure(
        minus(
            f"Table of the scores of {n} queries with {n} keys, and below it one query with "
            "every key: their dot product and its weight, their score (the dot product divided "
            f"by the root of d_k = {d_k}) and its weight. At first, query {tokens[query]} ("
            + ", ".join(f"{x:.2f}" for x in Q[query])
            + "): weights "
            + ", ".join(f"{token} {w:.2f}" for token, w in zip(tokens, weights, strict=True))
            + "."
        ),
        [
            menu("query", "query", tokens, query),
            slider("d_k", "d_k", d_k, 128, 1, d_k),
            {"name": "tokens", "value": tokens},
            {"name": "Q", "value": compact(Q)},
            {"name": "K", "value": compact(K)},
        ],
        vconcat=[table, one_query],
    )
