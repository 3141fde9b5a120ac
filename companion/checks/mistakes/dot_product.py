"""Known mistakes in the exercises of chapter 1."""

import math

import numpy as np
from numpy.linalg import norm

from companion.checks.mistakes.parts import mistake

# ------------------------------------------------------------------------------------------- dot


def changes_second(a, b):
    b *= a
    return b.sum()


DOT = (
    mistake(
        "not-added-up",
        "You return the products of the entries, one for each. "
        "The dot product is their sum: a single number.",
        "smallest",
        lambda a, b: a * b,
    ),
    mistake(
        "outer-product",
        "You multiply every entry of a with every entry of b (the outer product, a matrix). "
        "The dot product multiplies entries at the same position only, and adds up.",
        "smallest",
        np.outer,
        np.multiply.outer,
    ),
    mistake(
        "one-element-array",
        "The number is right but wrapped in an array of one entry. Return the number itself.",
        "smallest",
        lambda a, b: np.array([np.dot(a, b)]),
        lambda a, b: np.array([[np.dot(a, b)]]),
    ),
    mistake(
        "added-not-multiplied",
        "You add the entries of a and b. They must be multiplied pair by pair first.",
        "smallest",
        lambda a, b: np.sum(a + b),
    ),
    mistake(
        "sums-multiplied",
        "You add up each vector first and multiply the two sums. "
        "Multiply entry by entry first, then add up.",
        "smallest",
        lambda a, b: np.sum(a) * np.sum(b),
    ),
    mistake(
        "product-of-products",
        "You multiply the products together. They must be added up.",
        "smallest",
        lambda a, b: np.prod(a * b),
    ),
    mistake(
        "mean-not-sum",
        "You take the mean of the products: the result is too small by the number of entries. "
        "Take their sum.",
        "smallest",
        lambda a, b: np.mean(a * b),
    ),
    mistake(
        "last-entry-missing",
        "Your loop stops one entry too early: the last product is missing. "
        "range(n) already stops before n.",
        "smallest",
        lambda a, b: np.dot(a[:-1], b[:-1]),
    ),
    mistake(
        "first-entry-missing",
        "The product of the first entries is missing. Positions start at 0.",
        "smallest",
        lambda a, b: np.dot(a[1:], b[1:]),
    ),
    mistake(
        "returns-in-loop",
        "You return the first product: the return stands inside the loop, so the loop ends after "
        "one round.",
        "smallest",
        lambda a, b: a[0] * b[0],
    ),
    mistake(
        "last-product-only",
        "You return the last product: each round replaces the total. Add to it (+=).",
        "smallest",
        lambda a, b: a[-1] * b[-1],
    ),
    mistake(
        "starts-at-one",
        "The result is too large by 1: the total must start at 0.",
        "smallest",
        lambda a, b: np.dot(a, b) + 1,
    ),
    mistake(
        "first-vector-twice",
        "You multiply a with itself; b has no influence.",
        "smallest",
        lambda a, b: np.dot(a, a),
    ),
    mistake(
        "second-vector-twice",
        "You multiply b with itself; a has no influence.",
        "smallest",
        lambda a, b: np.dot(b, b),
    ),
    mistake(
        "cosine-instead",
        "You return the cosine: the lengths are divided out. The dot product keeps them.",
        "cosine",
        lambda a, b: np.dot(a, b) / np.linalg.norm(a) / np.linalg.norm(b),
    ),
    mistake(
        "sign-lost",
        "Your result is never negative. Vectors that point in opposite directions have a negative "
        "dot product; no absolute value is taken.",
        "sign",
        lambda a, b: abs(np.dot(a, b)),
        lambda a, b: np.sum(np.abs(a * b)),
    ),
    mistake(
        "distance-instead",
        "You return the distance between the vectors: small where they agree. "
        "The dot product is large there.",
        "smallest",
        lambda a, b: np.linalg.norm(a - b),
        lambda a, b: np.sum((a - b) ** 2),
    ),
    mistake(
        "integers-cut",
        "You cut the result (or each product) to a whole number. Leave out int() and //.",
        "smallest",
        lambda a, b: int(np.dot(a, b)),
        lambda a, b: sum(int(p) for p in a * b),
        lambda a, b: round(float(np.dot(a, b))),
        lambda a, b: np.dot(a.astype(int), b.astype(int)),
    ),
    mistake(
        "changes-input",
        "The result is right, but your function changes b. Work on new arrays: "
        "b *= a writes into the caller's array, a * b makes a new one.",
        "smallest",
        changes_second,
    ),
)

# ----------------------------------------------------------------------------- cosine_similarity

COSINE_SIMILARITY = (
    mistake(
        "not-divided",
        "You return the plain dot product. Divide it by both lengths.",
        "cosine",
        np.dot,
    ),
    mistake(
        "squared-lengths",
        "You divide by the squared lengths. The length of a is sqrt(a · a): a root is missing.",
        "cosine",
        lambda a, b: np.dot(a, b) / (np.dot(a, a) * np.dot(b, b)),
        lambda a, b: np.dot(a, b) / (norm(a) * np.dot(b, b)),
        lambda a, b: np.dot(a, b) / (np.dot(a, a) * norm(b)),
    ),
    mistake(
        "root-of-lengths",
        "You take one root too many: the length of a is sqrt(a · a), and the product of the two "
        "lengths is divided by as it is.",
        "cosine",
        lambda a, b: np.dot(a, b) / math.sqrt(norm(a) * norm(b)),
    ),
    mistake(
        "one-length-only",
        "You divide by the length of one vector only. Stretching the other still changes your "
        "result; a cosine depends on directions alone.",
        "cosine",
        lambda a, b: np.dot(a, b) / norm(a),
        lambda a, b: np.dot(a, b) / norm(b),
    ),
    mistake(
        "same-length-twice",
        "You divide by the length of the same vector twice. Use the length of a and that of b.",
        "cosine",
        lambda a, b: np.dot(a, b) / norm(a) ** 2,
        lambda a, b: np.dot(a, b) / norm(b) ** 2,
    ),
    mistake(
        "lengths-added",
        "You divide by the sum of the lengths. Divide by their product.",
        "cosine",
        lambda a, b: np.dot(a, b) / (norm(a) + norm(b)),
    ),
    mistake(
        "missing-brackets",
        "You divide by the first length and then multiply by the second: x / p * q is (x / p) * q. "
        "Write x / (p * q).",
        "cosine",
        lambda a, b: np.dot(a, b) / norm(a) * norm(b),
        lambda a, b: np.dot(a, b) / norm(a) * np.dot(b, b),
        lambda a, b: np.dot(a, b) / np.dot(a, a) * np.dot(b, b),
    ),
    mistake(
        "sum-for-length",
        "You use a sum of entries as the length. The length is the root of the sum of squares.",
        "cosine",
        lambda a, b: np.dot(a, b) / (np.sum(a) * np.sum(b)),
        lambda a, b: np.dot(a, b) / (np.sum(np.abs(a)) * np.sum(np.abs(b))),
    ),
    mistake(
        "length-of-products",
        "You divide by the length of a * b, the products. Divide by the length of a and by that "
        "of b.",
        "cosine",
        lambda a, b: np.dot(a, b) / norm(a * b),
    ),
    mistake(
        "largest-for-length",
        "You use the largest entry as the length. The length is the root of the sum of squares.",
        "cosine",
        lambda a, b: np.dot(a, b) / (np.abs(a).max() * np.abs(b).max()),
        lambda a, b: np.dot(a, b) / (np.max(a) * np.max(b)),
    ),
    mistake(
        "mean-not-sum",
        "Your result is too small by the number of entries: the dot product is a sum, not a mean.",
        "cosine",
        lambda a, b: np.mean(a * b) / (norm(a) * norm(b)),
        lambda a, b: np.dot(a, b) / len(a),
    ),
    mistake(
        "distance-instead",
        "You return 1 - cosine: 0 for the same direction. "
        "The similarity itself is 1 for the same direction.",
        "cosine",
        lambda a, b: 1 - np.dot(a, b) / (norm(a) * norm(b)),
    ),
    mistake(
        "sign-lost",
        "Your result is never negative. Opposite vectors have cosine -1: take no absolute value.",
        "sign",
        lambda a, b: abs(np.dot(a, b)) / (norm(a) * norm(b)),
    ),
    mistake(
        "negative-cut-off",
        "Your result is 0 where it should be negative: a cosine lies between -1 and 1.",
        "sign",
        lambda a, b: max(0.0, np.dot(a, b) / (norm(a) * norm(b))),
    ),
    mistake(
        "squared",
        "You return the square of the cosine: the sign is lost and everything else is too small.",
        "cosine",
        lambda a, b: (np.dot(a, b) / (norm(a) * norm(b))) ** 2,
    ),
    mistake(
        "angle-instead",
        "You return the angle. The similarity is its cosine; leave out the arccos.",
        "cosine",
        lambda a, b: np.arccos(np.clip(np.dot(a, b) / (norm(a) * norm(b)), -1, 1)),
        lambda a, b: np.degrees(np.arccos(np.clip(np.dot(a, b) / (norm(a) * norm(b)), -1, 1))),
    ),
    mistake(
        "centred",
        "You subtract the mean from each vector first: that is the correlation. "
        "The cosine is taken of the vectors as they are.",
        "cosine",
        lambda a, b: np.corrcoef(a, b)[0, 1],
    ),
)
