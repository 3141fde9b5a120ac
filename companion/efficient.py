"""What attention costs, and how to pay less. Taught in chapter 9, *What it costs*."""

import json
import math
from importlib import resources

import numpy as np

from companion import _validation as check
from companion.masking import causal_mask
from companion.value_updates import attention

# --- counting ---------------------------------------------------------------------------------


def attention_parameters(d_model, n_heads, d_k=None, d_v=None, n_kv_heads=None):
    r"""Count the numbers in the four matrices of one multi-head layer.

    .. math:: d_{model} \, (h\, d_k + h_{kv}\, d_k + h_{kv}\, d_v + h\, d_v)

    Parameters
    ----------
    d_model : int
    n_heads : int
    d_k, d_v : int, optional
        Width of a head's queries and keys, and of its values; ``d_model // n_heads`` if not given.
    n_kv_heads : int, optional
        Heads that keys and values have, `n_heads` if not given. Fewer: grouped-query attention;
        one: multi-query attention.

    Returns
    -------
    dict of int
        Counts for `W_Q`, `W_K`, `W_V` and `W_O` of all heads, without biases.

    Raises
    ------
    ValueError
        If a size is below 1, or the heads can't be split evenly.
    TypeError
        If a size is not an integer.

    Examples
    --------
    >>> attention_parameters(512, n_heads=8)
    {'W_Q': 262144, 'W_K': 262144, 'W_V': 262144, 'W_O': 262144}
    """
    d_model, n_heads, d_k, d_v, n_kv_heads = _sizes(d_model, n_heads, d_k, d_v, n_kv_heads)
    return {
        "W_Q": d_model * n_heads * d_k,
        "W_K": d_model * n_kv_heads * d_k,
        "W_V": d_model * n_kv_heads * d_v,
        "W_O": d_model * n_heads * d_v,
    }


def attention_flops(n, d_model, n_heads, d_k=None, d_v=None, n_kv_heads=None, n_cached=0):
    r"""Count the floating-point operations of one multi-head layer, in its matrix products.

    .. math:: (a, b) \text{ times } (b, c): \quad 2\,a\,b\,c \text{ operations}

    Parameters
    ----------
    n : int
        Tokens that are computed: all of them, or 1 when decoding with a cache.
    d_model, n_heads : int
    d_k, d_v, n_kv_heads : int, optional
        As for `attention_parameters`.
    n_cached : int
        Earlier tokens whose keys and values are stored already.

    Returns
    -------
    dict of int
        Counts for the `projections` to Q, K and V, the `scores`, the `weighted_values` and the
        `output` projection. The middle two grow with the square of the number of tokens.

    Raises
    ------
    ValueError
        If a size is too small, or the heads can't be split evenly.
    TypeError
        If a size is not an integer.

    Notes
    -----
    A multiplication and the addition after it count as two. The softmax, the mask and the biases
    are left out, as in most published counts. All scores are counted, also those that a causal
    mask hides.

    Examples
    --------
    >>> attention_flops(2, d_model=6, n_heads=1)
    {'projections': 432, 'scores': 48, 'weighted_values': 48, 'output': 144}
    """
    n = check.need_count(n, "n")
    n_keys = n + check.need_count(n_cached, "n_cached")
    parameters = attention_parameters(d_model, n_heads, d_k, d_v, n_kv_heads)
    width_k, width_v = (parameters[name] // d_model for name in ("W_Q", "W_O"))  # of all heads
    return {
        "projections": 2 * n * (parameters["W_Q"] + parameters["W_K"] + parameters["W_V"]),
        "scores": 2 * n * n_keys * width_k,
        "weighted_values": 2 * n * n_keys * width_v,
        "output": 2 * n * parameters["W_O"],
    }


def attention_bytes(n, n_heads, d_k, d_v=None, n_kv_heads=None, dtype=np.float32):
    r"""Count the bytes of the arrays of one multi-head attention of `n` tokens.

    .. math:: \text{scores}: \quad h \cdot n \cdot n \cdot (\text{bytes of a number})

    Parameters
    ----------
    n : int
    n_heads, d_k : int
    d_v, n_kv_heads : int, optional
        As many as `d_k` and `n_heads` if not given.
    dtype : dtype

    Returns
    -------
    dict of int
        Bytes of `Q`, `K`, `V`, `scores`, `weights` and `output`, each over all heads.

    Raises
    ------
    ValueError
        If a size is too small, or the heads can't be split evenly.
    TypeError
        If a size is not an integer.

    Notes
    -----
    ``K`` and ``V`` together are also what a key-value cache holds, for one layer.

    Examples
    --------
    >>> attention_bytes(1024, n_heads=1, d_k=64)["scores"] // 2**20  # MiB
    4
    """
    n = check.need_count(n, "n")
    d_v = d_k if d_v is None else d_v
    _, n_heads, d_k, d_v, n_kv_heads = _sizes(1, n_heads, d_k, d_v, n_kv_heads)
    numbers = {
        "Q": n_heads * n * d_k,
        "K": n_kv_heads * n * d_k,
        "V": n_kv_heads * n * d_v,
        "scores": n_heads * n * n,
        "weights": n_heads * n * n,
        "output": n_heads * n * d_v,
    }
    return {name: count * np.dtype(dtype).itemsize for name, count in numbers.items()}


# --- attention in blocks ----------------------------------------------------------------------

SLACK = 4  # how far a score may lie above the shift before the shift is raised: e^4 is 55


@np.errstate(**check.SILENT)
def blockwise_attention(
    Q, K, V, mask=None, causal=False, scale=None, block_queries=1024, block_keys=256
):
    r"""Return what `attention` returns, without ever holding all scores at once.

    .. math::

        m' = \max(m, \max_j s_j), \quad c = e^{m - m'}, \quad p_j = e^{s_j - m'}

        \ell' = c\,\ell + \sum_j p_j, \qquad o' = c\,o + \sum_j p_j v_j

    Parameters
    ----------
    Q : array_like, shape (..., n_queries, d_k)
    K : array_like, shape (..., n_keys, d_k)
    V : array_like, shape (..., n_keys, d_v)
    mask : array_like of bool, broadcastable to (..., n_queries, n_keys), optional
        True where the query may attend to the key. A padding mask of shape (..., 1, n_keys) is
        never spread out over the queries.
    causal : bool
        Also hide the future, as ``causal_mask(n_queries, n_keys)`` does, without making it.
    scale : float, optional
        What the dot products are multiplied by; ``1 / sqrt(d_k)`` if not given.
    block_queries, block_keys : int
        How many are looked at together. They change the result by rounding only.

    Returns
    -------
    ndarray, shape (..., n_queries, d_v)
        Zero for a query with nothing to attend to.

    Raises
    ------
    ValueError
        If shapes do not fit, or a block has none of them.
    TypeError
        If an input does not hold real numbers, or `mask` is not boolean.

    See Also
    --------
    companion.value_updates.attention :
        The same in three lines, with memory that grows with n_queries * n_keys.

    Notes
    -----
    For each query the largest score so far (m), the sum (l) and the weighted values (o) are kept;
    when a block brings a larger score, the old sums are multiplied by c. This is the online
    softmax of Milakov and Gimelshein (2018) in the blocks of Dao et al. (2022). Any m near the
    largest score gives the same result, so here it moves only when a score lies far above it.
    Beyond inputs and output it holds one block of scores and one head's keys and values.

    Examples
    --------
    >>> blockwise_attention([[0, 0]], [[1, 2], [3, 4]], [[10], [20]], block_keys=1)
    array([[15.]])
    """
    (Q, K, V), dtype = check.as_floats(Q=Q, K=K, V=V)
    leading, mask, scale = _options(Q, K, V, mask, scale)
    block_queries = check.need_count(block_queries, "block_queries", least=1)
    block_keys = check.need_count(block_keys, "block_keys", least=1)
    n_queries, n_keys = Q.shape[-2], K.shape[-2]
    offset = n_keys - n_queries if causal else n_keys  # query i sees keys up to i + offset
    Q, K, V = (np.broadcast_to(a, (*leading, *a.shape[-2:])) for a in (Q, K, V))

    size = (min(block_queries, n_queries), min(block_keys, n_keys))
    scores = np.empty(size, Q.dtype)  # the memory is used again for every block
    output = np.empty((*leading, n_queries, V.shape[-1]), dtype)
    for head in np.ndindex(leading):
        keys_1 = _with_column(K[head], 1)  # [k, 1]
        for rows in _blocks(n_queries, block_queries):
            queries = _with_column(Q[head][rows] * Q.dtype.type(scale), 0)  # [q, -shift]
            total = np.zeros((len(queries), 1), Q.dtype)
            mixed = np.zeros((len(queries), V.shape[-1]), Q.dtype)
            any_key = np.zeros((len(queries), 1), bool)
            past = min(rows.stop + offset, n_keys)  # blocks of the future are left out
            for keys in _blocks(past, block_keys):
                first = max(rows.start, keys.start - offset)  # earlier ones see none of the keys
                seeing = slice(first - rows.start, None)
                allowed = _allowed(mask[head], slice(first, rows.stop), keys, offset)
                any_key[seeing] |= allowed.any(axis=-1, keepdims=True)
                state = total[seeing], mixed[seeing], queries[seeing]
                _add_block(*state, keys_1[keys], V[head][keys], allowed, scores)
            output[head][rows] = np.where(any_key, mixed / total, 0)
    return output


def _add_block(total, mixed, queries, keys, values, allowed, scores):
    """Add one block of keys to what a block of queries has collected; writes over `scores`."""
    scores = scores[: len(queries), : len(keys)]
    np.matmul(queries, keys.mT, out=scores)  # [q, -shift] times [k, 1]: score - shift
    if not allowed.all():
        np.copyto(scores, -np.inf, where=~allowed)
    if not (scores.max() <= SLACK and total.all()):  # far above the shift, or no shift found yet
        _raise_shift(total, mixed, queries, scores)
    weights = np.exp(scores, out=scores)  # in place, and not yet divided by their sum
    total += weights @ np.ones((len(keys), 1), weights.dtype)  # a sum; the product is quicker
    mixed += _mix(weights, values, allowed)


def _raise_shift(total, mixed, queries, scores):
    """Subtract the largest score where it is needed: here, in earlier blocks and in later ones."""
    rise = scores.max(axis=-1, keepdims=True)  # (rows, 1), counted from the shift so far
    stays = (rise <= SLACK) & (total > 0)  # for each query by itself: no other may matter
    stays |= rise == -np.inf  # no key yet
    rise = np.where(stays, 0, rise)
    rescale = np.exp(-np.maximum(rise, 0))
    scores -= rise  # this block
    total *= rescale  # earlier blocks
    mixed *= rescale
    queries[:, -1:] -= rise  # later blocks


def _with_column(matrix, value):
    """Return a copy of the matrix with one more column, of equal numbers."""
    column = np.full((len(matrix), 1), value, matrix.dtype)
    return np.concatenate((matrix, column), axis=1)


def _blocks(n, step):
    """Return slices that cover 0 to `n`; none for `n` below 1."""
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


def _allowed(mask, rows, keys, offset):
    """Return the mask of one block, the future hidden too."""
    allowed = mask[rows if len(mask) > 1 else slice(None), keys]  # one row if it serves all
    if keys.stop - 1 > rows.start + offset:  # the first query must not see the last key
        i, j = np.arange(rows.start, rows.stop), np.arange(keys.start, keys.stop)
        allowed = allowed & (j <= i[:, None] + offset)
    return allowed


def _mix(weights, V, allowed):
    """Return ``weights @ V`` where a hidden key adds nothing, even if its value is nan or inf."""
    if allowed.all() or np.isfinite(V).all():
        return weights @ V
    odd = ~np.isfinite(V).all(axis=-1)  # (keys,)
    mixed = weights @ np.where(odd[:, None], 0, V)
    for j in np.flatnonzero(odd):
        mixed += np.where(allowed[:, [j]], weights[:, [j]] * V[j], 0)
    return mixed


def _options(Q, K, V, mask, scale):
    """Check the inputs as `attention` does; returns leading axes, mask and scale."""
    check.need_axes(Q, "Q", "(n_queries, d_k)")
    check.need_axes(K, "K", "(n_keys, d_k)")
    check.need_axes(V, "V", "(n_keys, d_v)")
    check.need_same(Q, "Q", -1, K, "K", -1, "d_k")
    check.need_same(K, "K", -2, V, "V", -2, "n_keys")
    leading = check.need_leading(Q, "Q", K, "K", own_axes=2)
    if scale is None:
        if Q.shape[-1] == 0:
            raise ValueError(f"d_k must be at least 1; got Q of shape {Q.shape}")
        scale = 1 / math.sqrt(Q.shape[-1])
    scale = check.need_number(scale, "scale", Q.dtype)
    n_queries, n_keys = Q.shape[-2], K.shape[-2]
    if mask is None:
        mask = np.ones((1, 1), bool)
    check.need_mask(mask, (*leading, n_queries, n_keys))
    scores = np.broadcast_to(Q.dtype.type(0), (*leading, n_queries, n_keys))  # a shape, no memory
    leading = check.need_leading(scores, "the scores", V, "V", own_axes=2)
    mask = np.atleast_2d(mask)
    rows = 1 if mask.shape[-2] == 1 else n_queries  # one row for all queries stays one row
    mask = np.broadcast_to(mask, (*leading, rows, n_keys))
    return leading, mask, scale


# --- fewer keys and values ----------------------------------------------------------------------


def grouped_query_attention(Q, K, V, mask=None, scale=None):
    r"""Let several heads of queries share one head of keys and values.

    .. math:: \mathrm{head}_h = \mathrm{attention}(Q_h, K_g, V_g), \qquad g = \lfloor h / r \rfloor

    Parameters
    ----------
    Q : array_like, shape (..., n_heads, n_queries, d_k)
    K : array_like, shape (..., n_kv_heads, n_keys, d_k)
    V : array_like, shape (..., n_kv_heads, n_keys, d_v)
        `n_heads` must be a multiple of `n_kv_heads`; r is the quotient.
    mask : array_like of bool, broadcastable to (..., n_heads, n_queries, n_keys), optional
        True where the query may attend to the key.
    scale : float, optional
        What the dot products are multiplied by; ``1 / sqrt(d_k)`` if not given.

    Returns
    -------
    ndarray, shape (..., n_heads, n_queries, d_v)

    Raises
    ------
    ValueError
        If shapes do not fit.
    TypeError
        If an input does not hold real numbers, or `mask` is not boolean.

    Notes
    -----
    With one head of keys and values it is multi-query attention (Shazeer 2019), with as many as
    of queries the usual multi-head attention, and in between grouped-query attention (Ainslie et
    al. 2023). Keys and values are not repeated in memory: they get an axis that broadcasts.

    Examples
    --------
    >>> Q = np.zeros((4, 1, 2))  # 4 heads of queries, 2 of keys and values
    >>> K, V = np.zeros((2, 3, 2)), np.array([[[1], [2], [3]], [[10], [20], [30]]])
    >>> print(grouped_query_attention(Q, K, V).ravel())
    [ 2.  2. 20. 20.]
    """
    Q, K, V = (check.as_float(a, name) for a, name in ((Q, "Q"), (K, "K"), (V, "V")))
    check.need_axes(Q, "Q", "(n_heads, n_queries, d_k)")
    check.need_axes(K, "K", "(n_kv_heads, n_keys, d_k)")
    check.need_axes(V, "V", "(n_kv_heads, n_keys, d_v)")
    *leading, n_heads, n_queries, d_k = Q.shape
    n_kv_heads = K.shape[-3]
    check.need_same(K, "K", -3, V, "V", -3, "n_kv_heads")
    _need_groups(n_heads, n_kv_heads)
    groups = (n_kv_heads, n_heads // n_kv_heads)
    if mask is not None:
        mask = check.as_array(mask, "mask")
        check.need_mask(mask, (*leading, n_heads, n_queries, K.shape[-2]))
        if mask.ndim > 2:  # its axis of heads becomes two, as that of Q
            split = (1, 1) if mask.shape[-3] == 1 else groups
            mask = mask.reshape(*mask.shape[:-3], *split, *mask.shape[-2:])

    Q = Q.reshape(*leading, *groups, n_queries, d_k)  # (..., n_kv_heads, r, n_queries, d_k)
    K, V = K[..., None, :, :], V[..., None, :, :]  # (..., n_kv_heads, 1, n_keys, d)
    output = attention(Q, K, V, mask, scale)  # (..., n_kv_heads, r, n_queries, d_v)
    return output.reshape(*output.shape[:-4], n_heads, n_queries, V.shape[-1])


class KeyValueCache:
    r"""Keys and values of the tokens so far, so that each is computed only once.

    .. math:: o_i = \mathrm{attention}(q_i,\; K_{0 \ldots i},\; V_{0 \ldots i})

    Parameters
    ----------
    capacity : int
        Tokens that there is room for. The memory is taken when the first ones arrive.

    Raises
    ------
    ValueError
        If `capacity` is below 1.
    TypeError
        If `capacity` is not an integer.

    Notes
    -----
    Queries are not kept: a token asks once, when it is new, and is asked by all that follow.

    Examples
    --------
    >>> cache = KeyValueCache(capacity=10)
    >>> for token in ([[1.0, 0.0]], [[0.0, 1.0]]):
    ...     output = cache.attend(Q=[[0.0, 0.0]], K=token, V=token)
    >>> print(len(cache), output)
    2 [[0.5 0.5]]
    """

    def __init__(self, capacity):
        self.capacity = check.need_count(capacity, "capacity", least=1)
        self._K = self._V = None
        self._n = 0

    def __len__(self):
        return self._n

    @property
    def K(self):
        """Keys so far, shape (..., n, d_k)."""
        return None if self._K is None else self._K[..., : self._n, :]

    @property
    def V(self):
        """Values so far, shape (..., n, d_v)."""
        return None if self._V is None else self._V[..., : self._n, :]

    @property
    def nbytes(self):
        """Bytes of the keys and values so far."""
        return 0 if self._K is None else self.K.nbytes + self.V.nbytes

    def append(self, K, V):
        """Store the keys and values of new tokens behind the ones that are there.

        Parameters
        ----------
        K : array_like, shape (..., n_new, d_k)
        V : array_like, shape (..., n_new, d_v)

        Raises
        ------
        ValueError
            If there is no room left, or the shapes do not fit those that came before.
        TypeError
            If an input does not hold real numbers.
        """
        K, V = check.as_float(K, "K"), check.as_float(V, "V")
        check.need_axes(K, "K", "(n_new, d_k)")
        check.need_axes(V, "V", "(n_new, d_v)")
        check.need_same(K, "K", -2, V, "V", -2, "n_new")
        start, stop = self._n, self._n + K.shape[-2]
        if stop > self.capacity:
            raise ValueError(f"the cache has room for {self.capacity} tokens; got {stop}")
        if self._K is None:
            self._K, self._V = (
                np.empty((*a.shape[:-2], self.capacity, a.shape[-1]), a.dtype) for a in (K, V)
            )
        for stored, new, name in ((self._K, K, "K"), (self._V, V, "V")):
            expected = (*stored.shape[:-2], stop - start, stored.shape[-1])
            check.need_shape(new, name, expected, "that of earlier tokens")
            if new.dtype != stored.dtype:
                raise TypeError(f"{name} must stay of dtype {stored.dtype}; got {new.dtype}")

        self._K[..., start:stop, :] = K
        self._V[..., start:stop, :] = V
        self._n = stop

    def attend(self, Q, K, V):
        """Store the new tokens' keys and values, and return what their queries collect.

        Parameters
        ----------
        Q : array_like, shape (..., n_new, d_k)
            With an axis of heads, it may have more of them than `K` and `V`.
        K : array_like, shape (..., n_new, d_k)
        V : array_like, shape (..., n_new, d_v)

        Returns
        -------
        ndarray, shape (..., n_new, d_v)
            The same rows that causal attention over all tokens has for these.

        Raises
        ------
        ValueError
            If there is no room left, or shapes do not fit.
        TypeError
            If an input does not hold real numbers.
        """
        Q, K, V = (check.as_float(a, name) for a, name in ((Q, "Q"), (K, "K"), (V, "V")))
        for array, name in ((Q, "Q"), (K, "K")):
            check.need_axes(array, name, "(n_new, d_k)")
        check.need_same(K, "K", -1, Q, "Q", -1, "d_k")  # before anything is stored
        check.need_same(K, "K", -2, Q, "Q", -2, "n_new")

        self.append(K, V)
        mask = causal_mask(Q.shape[-2], len(self))  # the new tokens are the last ones
        attend = attention if Q.ndim == 2 else grouped_query_attention
        return attend(Q, self.K, self.V, mask)


def load_benchmark():
    """Return the recorded run of ``make bench``: its `machine`, and `runs` by length `n`.

    Returns
    -------
    dict
        Each run has `times` (median `seconds`, and `ratio` to the blockwise version) and `bytes`
        (growth of the process beyond its inputs) of every version.
    """
    text = (resources.files("companion.data") / "benchmark.json").read_text(encoding="utf-8")
    return json.loads(text)


def _sizes(d_model, n_heads, d_k, d_v, n_kv_heads):
    """Return checked sizes, those not given filled in."""
    d_model = check.need_count(d_model, "d_model", least=1)
    n_heads = check.need_count(n_heads, "n_heads", least=1)
    if None in (d_k, d_v) and d_model % n_heads:
        raise ValueError(f"d_model must be a multiple of n_heads={n_heads}; got {d_model}")
    d_k = d_model // n_heads if d_k is None else check.need_count(d_k, "d_k", least=1)
    d_v = d_model // n_heads if d_v is None else check.need_count(d_v, "d_v", least=1)
    n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
    n_kv_heads = check.need_count(n_kv_heads, "n_kv_heads", least=1)
    _need_groups(n_heads, n_kv_heads)
    return d_model, n_heads, d_k, d_v, n_kv_heads


def _need_groups(n_heads, n_kv_heads):
    if n_kv_heads < 1 or n_heads % n_kv_heads:
        raise ValueError(
            f"n_heads must be a multiple of n_kv_heads={n_kv_heads}; got n_heads={n_heads}"
        )
