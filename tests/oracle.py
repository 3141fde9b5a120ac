"""Attention a second time, in plain Python: loops, lists, `math.exp` and `math.fsum`.

Nothing here calls NumPy, so that a fault of the package cannot repeat itself in its tests.
Masks are nested lists of booleans, True = may attend.
"""

from math import exp, fsum, log, sqrt


def dot(a, b):
    assert len(a) == len(b)
    return fsum(a[i] * b[i] for i in range(len(a)))


def matmul(X, W):
    """Rows of X by columns of W."""
    return [[dot(row, [line[j] for line in W]) for j in range(len(W[0]))] for row in X]


def project(X, W, b=None):
    bias = [0.0] * len(W[0]) if b is None else b
    return [[value + bias[j] for j, value in enumerate(row)] for row in matmul(X, W)]


def softmax(x, temperature=1.0):
    largest = max(x)
    exponentials = [exp((value - largest) / temperature) for value in x]
    total = fsum(exponentials)
    return [e / total for e in exponentials]


def log_softmax(x):
    largest = max(x)
    return [value - largest - log(fsum(exp(v - largest) for v in x)) for value in x]


def masked_softmax(x, allowed):
    """Softmax over the allowed entries alone; zeros if there is none."""
    kept = [value for value, allow in zip(x, allowed, strict=True) if allow]
    weights = iter(softmax(kept) if kept else [])
    return [next(weights) if allow else 0.0 for allow in allowed]


def scores(Q, K, scale=None):
    if scale is None:
        scale = 1 / sqrt(len(Q[0]))
    return [[dot(q, k) * scale for k in K] for q in Q]


def weighted_values(weights, V):
    """Keys of weight 0 are left out, whatever their value holds."""
    return [
        [fsum(w * v[c] for w, v in zip(row, V, strict=True) if w != 0.0) for c in range(len(V[0]))]
        for row in weights
    ]


def attention(Q, K, V, mask=None, scale=None):
    """Return scores, weights and output."""
    table = scores(Q, K, scale)
    if mask is None:
        mask = [[True] * len(K) for _ in Q]
    weights = [masked_softmax(row, allowed) for row, allowed in zip(table, mask, strict=True)]
    return table, weights, weighted_values(weights, V)


def multi_head(X, C, W_Q, W_K, W_V, W_O, b_Q, b_K, b_V, b_O, masks):
    """Return the output as a sum over heads: each head goes through its own rows of W_O."""
    output = [list(b_O) for _ in X]
    d_v = len(W_V[0][0])
    for h, mask in enumerate(masks):
        _, _, head = attention(
            project(X, W_Q[h], b_Q[h]),
            project(C, W_K[h], b_K[h]),
            project(C, W_V[h], b_V[h]),
            mask,
        )
        update = matmul(head, W_O[h * d_v : (h + 1) * d_v])
        output = [
            [fsum(pair) for pair in zip(row, extra, strict=True)]
            for row, extra in zip(output, update, strict=True)
        ]
    return output
