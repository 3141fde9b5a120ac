"""The figure of chapter 2: scores, temperature, and the distribution that they give."""

import numpy as np

from companion.distributions import softmax
from companion.interactive._figure import (
    BLUE,
    TEXT,
    WIDTH,
    figure,
    numbers,
    slider,
    words,
)

REACH = 5  # of the sliders


def distribution(scores, labels):
    """Let the reader change scores and temperature, and show what the softmax makes of them.

    Parameters
    ----------
    scores : array_like, shape (n,)
        The scores at first, from −5 to 5; they are rounded to two decimals.
    labels : sequence of str
        A word for each score.

    Returns
    -------
    InteractiveFigure
        Bars for the weights, outlines for the hard maximum, which equal largest scores share.

    Examples
    --------
    >>> figure = distribution([1, 0, -1], ["a", "b", "c"])
    >>> figure.spec["description"].split(": ")[-1]
    'weights a 0.665, b 0.245, c 0.090.'
    """
    scores = numbers("scores", scores, ndim=1).round(2)
    labels = words("labels", labels, len(scores))
    if np.abs(scores).max() > REACH:
        raise ValueError(f"scores must be from −{REACH} to {REACH}; got {scores.tolist()}")
    weights = ", ".join(f"{w} {p:.3f}" for w, p in zip(labels, softmax(scores), strict=True))
    names = [f"score_{i}" for i in range(len(scores))]
    rows = [{"word": word, "row": i} for i, word in enumerate(labels)]
    return figure(
        "Bars for the weights that the softmax makes of the scores, and outlines for the hard "
        "maximum, which gives everything to the largest score. At temperature 1 and with the "
        f"scores {', '.join(f'{x:g}' for x in scores)}: weights {weights}.".replace("-", "−"),
        [
            slider("temperature", "temperature", 0.05, 5, 0.05, 1),
            *(
                slider(name, f"score of {word}", -REACH, REACH, 0.01, float(x))
                for name, word, x in zip(names, labels, scores, strict=True)
            ),
        ],
        data={"values": rows},
        transform=[
            {"calculate": f"[{', '.join(names)}][datum.row]", "as": "score"},
            {"joinaggregate": [{"op": "max", "field": "score", "as": "largest"}]},
            {"calculate": "exp((datum.score - datum.largest) / temperature)", "as": "exponential"},
            {"calculate": "datum.score == datum.largest ? 1 : 0", "as": "is_largest"},
            {
                "joinaggregate": [
                    {"op": "sum", "field": "exponential", "as": "total"},
                    {"op": "sum", "field": "is_largest", "as": "n_largest"},
                ]
            },
            {"calculate": "datum.exponential / datum.total", "as": "weight"},
            {"calculate": "datum.is_largest / datum.n_largest", "as": "hard"},
            {"calculate": "format(datum.weight, '.3f')", "as": "number"},
            {"calculate": "datum.word + ' ' + datum.number", "as": "says"},
        ],
        width=WIDTH - 115,
        height={"step": 34},
        encoding={"y": {"field": "word", "type": "nominal", "sort": None, "axis": Y_AXIS}},
        layer=[
            {
                "mark": {"type": "bar", "color": BLUE, "aria": False},
                "encoding": {"x": {"field": "weight", "type": "quantitative", "axis": X_AXIS}},
            },
            {
                "mark": {"type": "bar", "fill": None, "stroke": TEXT, "aria": False},
                "encoding": {"x": {"field": "hard", "type": "quantitative", "scale": UNIT}},
            },
            {
                "name": "readout",
                "mark": {"type": "text", "align": "left", "dx": 6},
                "encoding": {
                    "x": {"value": WIDTH - 115},
                    "text": {"field": "number"},
                    "description": {"field": "says"},
                },
            },
        ],
    )


UNIT = {"domain": [0, 1]}
X_AXIS = {"title": "weight (bar) and hard maximum (outline)", "values": [0, 0.5, 1]}
Y_AXIS = {"title": None, "minExtent": 60, "maxExtent": 60, "domain": False, "ticks": False}
