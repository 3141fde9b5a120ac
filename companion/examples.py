"""Two invented heads that several chapters look at; chapter 3 builds both step by step.

The numbers are made up to teach, and nothing here was trained. For trained vectors see
``companion.embeddings``.
"""

from typing import NamedTuple

import numpy as np

from companion.queries_keys_values import project

__all__ = ["ExampleHead", "creature_head", "thinking_machines"]


class ExampleHead(NamedTuple):
    """Tokens with their vectors, and the matrices that attention uses on them."""

    tokens: tuple
    """The words, n of them."""
    features: tuple
    """A name for each of the d_model entries of a vector; empty if they have no meaning."""
    X: np.ndarray
    """The tokens' vectors, shape (n, d_model)."""
    W_Q: np.ndarray
    """Shape (d_model, d_k), or (n_heads, d_model, d_k)."""
    W_K: np.ndarray
    """Same shape as `W_Q`."""
    W_V: np.ndarray
    """Shape (d_model, d_v), or (n_heads, d_model, d_v)."""
    W_O: np.ndarray
    """Shape (d_v, d_model), or (n_heads * d_v, d_model)."""


HOUR = np.pi / 6  # positions are hours on a clock face: 30 degrees apart


def creature_head():
    """Return one head in which a noun asks for adjectives just in front of it.

    Every vector has twelve readable entries: four for the kind of word, two for the position
    (a hand on a clock face, one hour further with each word), six for the meaning.

    Returns
    -------
    ExampleHead
        With d_model = 12, d_k = 3 and d_v = 3.

    Notes
    -----
    A query asks for an adjective if its word is a noun, and turns its clock hand back by an
    hour and a half, so that it points between the two words in front. A key says whether its
    word is an adjective and where it stands. A value holds what an adjective means.

    Examples
    --------
    >>> from companion import attention_scores, project, softmax
    >>> head = creature_head()
    >>> Q, K = project(head.X, head.W_Q), project(head.X, head.W_K)
    >>> weights = softmax(attention_scores(Q, K))
    >>> creature = head.tokens.index("creature")
    >>> [(t, round(float(w), 2)) for t, w in zip(head.tokens, weights[creature]) if w > 0.1]
    [('fluffy', 0.49), ('blue', 0.49)]
    """
    tokens = ("a", "fluffy", "blue", "creature", "roamed", "the", "verdant", "forest")
    kinds = ("noun", "adjective", "verb", "article")
    meanings = ("fluffy", "blue", "green", "animal", "place", "movement")
    features = (*kinds, "clock x", "clock y", *meanings)
    kinds_in_order = "article adjective adjective noun verb article adjective noun".split()
    kind_of = dict(zip(tokens, kinds_in_order, strict=True))
    meaning_of = {
        "fluffy": "fluffy",
        "blue": "blue",
        "verdant": "green",
        "creature": "animal",
        "forest": "place",
        "roamed": "movement",
    }

    X = np.zeros((8, 12))
    for position, token in enumerate(tokens):
        X[position, kinds.index(kind_of[token])] = 1
        X[position, 4:6] = np.cos(HOUR * position), np.sin(HOUR * position)
        if token in meaning_of:
            X[position, 6 + meanings.index(meaning_of[token])] = 1

    back = 1.5 * HOUR
    W_Q = np.zeros((12, 3))
    W_Q[0, 0] = 8  # a noun asks for adjectives
    W_Q[4:6, 1:3] = 4 * np.array([[np.cos(back), -np.sin(back)], [np.sin(back), np.cos(back)]])
    W_K = np.zeros((12, 3))
    W_K[1, 0] = 1  # an adjective says that it is one
    W_K[4:6, 1:3] = np.eye(2)  # and where it stands
    W_V = np.zeros((12, 3))
    W_V[6:9] = np.eye(3)  # what it means: fluffy, blue, green
    W_O = W_V.T  # back to the entries that the meaning came from

    return ExampleHead(tokens, features, X, W_Q, W_K, W_V, W_O)


def thinking_machines(rng=None):
    """Return *Thinking Machines* as 512-vectors with eight heads of 64 dimensions.

    The entries are random, except that in head 0 the query of *Thinking* was made to score
    112 with its own key and 96 with that of *Machines*, as in Alammar's *Illustrated
    Transformer*.

    Parameters
    ----------
    rng : numpy.random.Generator, optional
        ``np.random.default_rng(0)`` if not given.

    Returns
    -------
    ExampleHead
        X of shape (2, 512), W_Q, W_K, W_V of shape (8, 512, 64), W_O of shape (512, 512).

    Examples
    --------
    >>> from companion import alignment_matrix, project
    >>> example = thinking_machines()
    >>> Q, K = project(example.X, example.W_Q[0]), project(example.X, example.W_K[0])
    >>> print(alignment_matrix(Q, K)[0].round(6))
    [112.  96.]
    """
    rng = np.random.default_rng(0) if rng is None else rng
    X = rng.normal(size=(2, 512))
    W_Q, W_K, W_V = rng.normal(size=(3, 8, 512, 64)) / np.sqrt(512)
    W_O = rng.normal(size=(512, 512)) / np.sqrt(512)

    # the smallest change of W_K that gives the query of "Thinking" the two published scores
    query = project(X, W_Q[0])[0]  # (64,)
    missing = np.array([112, 96]) - project(X, W_K[0]) @ query  # (2,)
    W_K[0] += np.outer(np.linalg.pinv(X) @ missing, query / (query @ query))

    return ExampleHead(("Thinking", "Machines"), (), X, W_Q, W_K, W_V, W_O)
