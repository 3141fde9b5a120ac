"""The figure of chapter 1: two vectors in their plane, dot product, cosine and projection."""

import numpy as np

from companion.dot_product import cosine_similarity, dot
from companion.interactive._figure import (
    BLUE,
    ORANGE,
    TEXT,
    WIDTH,
    calculate,
    figure,
    minus,
    numbers,
    readout,
    slider,
    words,
)

LONGEST = 1.5  # times the length at first


def vectors(a, b, names):
    """Let the reader turn a vector and stretch two, and show what the dot product does.

    Parameters
    ----------
    a, b : array_like, shape (d,)
        Two vectors that are not zero, with any number of entries.
    names : sequence of two str
        What they are called.

    Returns
    -------
    InteractiveFigure
        The plane of the two, `b` along the first axis, and the shadow of `a` on `b`.

    Examples
    --------
    >>> figure = vectors([1, 3], [4, 2], ["a", "b"])
    >>> figure.spec["description"].split(". ")[-1]
    'Dot product 10.00, cosine 0.707, angle 45 degrees, shadow 2.24.'
    """
    a, b = numbers("a", a, ndim=1), numbers("b", b, ndim=1)
    a_name, b_name = words("names", names, 2)
    lengths = np.sqrt([dot(a, a), dot(b, b)])
    if not lengths.all():
        raise ValueError(f"a and b must not be zero; got lengths {lengths.tolist()}")
    cosine = cosine_similarity(a, b)
    angle = np.degrees(np.arccos(cosine))
    reach = LONGEST * lengths.max()
    size = WIDTH - 52
    plane = {"type": "quantitative", "scale": {"domain": [-reach, reach], "nice": False}}
    x = {**plane, "axis": {"title": f"along {b_name}", "tickCount": 5}}
    y = {**plane, "axis": {"title": f"across {b_name}", "tickCount": 5, "titlePadding": 0}}
    y["axis"] |= {"minExtent": 22, "maxExtent": 22}
    place = {"x": {"field": "x", **x}, "y": {"field": "y", **y}}
    return figure(
        f"Arrows of {a_name} and {b_name}, true to length and angle, with {b_name} to the right, "
        f"and the shadow that {a_name} throws on the line of {b_name}. "
        + minus(
            f"Dot product {dot(a, b):.2f}, cosine {cosine:.3f}, angle {angle:.0f} degrees, "
            f"shadow {cosine * lengths[0]:.2f}."
        ),
        [
            slider("turn", f"turn {a_name} by (°)", -180, 180, 1, 0),
            slider("stretch_a", f"length of {a_name} ×", 0.1, LONGEST, 0.05, 1),
            slider("stretch_b", f"length of {b_name} ×", 0.1, LONGEST, 0.05, 1),
            {"name": "angle", "expr": f"({angle} + turn) * PI / 180"},
            {"name": "length_a", "expr": f"{lengths[0]} * stretch_a"},
            {"name": "length_b", "expr": f"{lengths[1]} * stretch_b"},
            {"name": "cosine", "expr": "cos(angle)"},
            {"name": "shadow", "expr": "length_a * cosine"},
        ],
        vconcat=[
            {
                "width": size,
                "height": size,
                "data": {"values": [{"name": a_name, "i": 0}, {"name": b_name, "i": 1}]},
                "transform": calculate(
                    x="[shadow, length_b][datum.i]",
                    y="[length_a * sin(angle), 0][datum.i]",
                    turned="90 - [angle * 180 / PI, 0][datum.i]",
                    above="(datum.i == 0) == (angle % (2 * PI) < PI && angle > 0)",
                ),
                "layer": [
                    {
                        "mark": {"type": "rule", "opacity": 0.3, "aria": False},
                        "encoding": {"y": {"datum": 0, **y}},
                    },
                    {
                        "mark": {"type": "rule", "opacity": 0.3, "aria": False},
                        "encoding": {"x": {"datum": 0, **x}},
                    },
                    {
                        "transform": [{"filter": "datum.i == 0"}],
                        "mark": {"type": "rule", "strokeDash": [4, 4], "aria": False},
                        "encoding": {**place, "y2": {"datum": 0}},
                    },
                    {
                        "transform": [{"filter": "datum.i == 0"}],
                        "mark": {"type": "rule", "strokeWidth": 9, "aria": False},
                        "encoding": {
                            "x": place["x"],
                            "x2": {"datum": 0},
                            "y": {"datum": 0, **y},
                            "color": {
                                "condition": {"test": "shadow < 0", "value": ORANGE},
                                "value": BLUE,
                            },
                        },
                    },
                    {
                        "mark": {"type": "rule", "strokeWidth": 2.5, "aria": False},
                        "encoding": {**place, "x2": {"datum": 0}, "y2": {"datum": 0}},
                    },
                    {
                        "mark": {
                            "type": "point",
                            "shape": "triangle",
                            "filled": True,
                            "color": TEXT,
                            "opacity": 1,
                            "size": 90,
                            "aria": False,
                        },
                        "encoding": {
                            **place,
                            "angle": {"field": "turned", "type": "quantitative", "scale": None},
                        },
                    },
                    *(
                        {
                            "transform": [{"filter": side}],
                            "mark": {
                                "type": "text",
                                "dy": shift,
                                "fontSize": 13,
                                "fontWeight": "bold",
                            },
                            "encoding": {**place, "text": {"field": "name"}},
                        }
                        for side, shift in (("datum.above", -14), ("!datum.above", 16))
                    ),
                ],
            },
            readout(
                ["dot product", f"shadow of {a_name}", "cosine"],
                calculate(
                    number="format([shadow * length_b, shadow, cosine][datum.i],"
                    " ['.2f', '.2f', '.3f'][datum.i])",
                    a="format(length_a, '.2f') + ' × '",
                    b="format(length_b, '.2f') + ' × '",
                    cosine="format(cosine, '.3f')",
                    degrees="format(acos(cosine) * 180 / PI, '.0f') + ' degrees'",
                    why="[' = ' + datum.a + datum.b + datum.cosine, ' = ' + datum.a + datum.cosine,"
                    " ', angle ' + datum.degrees][datum.i]",
                    text="datum.number + datum.why",
                ),
            ),
        ],
    )
