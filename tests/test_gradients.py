"""Gradients are compared with slopes measured by moving numbers, and with PyTorch's where it is."""

import math

import numpy as np
import oracle
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from numpydoc.validate import validate
from strategies import numbers, queries_keys_values

from companion import (
    MultiHeadAttention,
    attention,
    attention_steps,
    causal_mask,
    gradients,
    padding_mask,
    project,
    softmax,
    softmax_jacobian,
    weighted_values,
)
from companion.gradients import (
    attention_backward,
    finite_differences,
    multi_head_backward,
    project_backward,
    scores_backward,
    softmax_backward,
    weighted_values_backward,
)

rng = np.random.default_rng(8)
NAN, INF = np.nan, np.inf
T, F = True, False
CLOSE = {"rtol": 0, "atol": 2e-8}  # what measured slopes are good for, with numbers of size 1


def assert_slopes(gradient, loss, x):
    assert gradient.shape == np.shape(x)
    assert_allclose(gradient, finite_differences(loss, x), **CLOSE)


# finite_differences


def test_finite_differences_of_a_polynomial():
    x = np.array([[1.0, -2], [0.5, 3]])
    slopes = finite_differences(lambda x: (x**3).sum() + x[0, 0] * x[1, 1], x)
    assert_allclose(slopes, [[3 + 3, 12], [0.75, 27 + 1]], rtol=1e-8)


def test_finite_differences_go_to_both_sides():
    assert_allclose(finite_differences(lambda x: x[0] ** 2, [3.0], step=0.5), [6], rtol=1e-12)
    assert_allclose(finite_differences(lambda x: x[0] ** 3, [1.0], step=0.5), [3.25], rtol=1e-12)


def test_finite_differences_leave_the_input_alone_and_take_integers():
    x = np.array([2, 5])
    assert_allclose(finite_differences(lambda x: x[0] * x[1], x), [5, 2], rtol=1e-9)
    assert_array_equal(x, [2, 5])
    assert finite_differences(lambda x: x.sum(), np.float32([1])).dtype == np.float64


@pytest.mark.parametrize("step", [0, -1e-5, NAN])
def test_finite_differences_need_a_step_above_0(step):
    with pytest.raises(ValueError, match=r"step must be a finite number above 0"):
        finite_differences(lambda x: x.sum(), [1.0], step)


def test_measured_slopes_are_as_exact_as_the_tests_need():
    error = finite_differences(lambda x: math.sin(x[0]), [0.7])[0] - math.cos(0.7)
    assert abs(error) < 1e-9


# softmax_backward


def test_softmax_backward_by_hand():
    assert_array_equal(softmax_backward([0.25, 0.75], [8, 0]), [1.5, -1.5])
    assert_array_equal(softmax_backward([0.5, 0.25, 0.25], [0, 4, 8]), [-1.5, 0.25, 1.25])


@given(numbers(3, 5), numbers(3, 5))
def test_softmax_backward_is_the_jacobian_times_the_gradient(scores, grad):
    p = softmax(scores)
    rows = [softmax_jacobian(p[i]) @ grad[i] for i in range(3)]
    assert_allclose(softmax_backward(p, grad), rows, rtol=0, atol=1e-13)
    assert_allclose(softmax_backward(p, grad).sum(axis=-1), 0, atol=1e-13)


def test_softmax_backward_is_what_a_loop_measures():
    scores, grad = rng.normal(size=7), rng.normal(size=7)
    p = np.array(oracle.softmax(scores))
    assert_slopes(softmax_backward(p, grad), lambda s: oracle.dot(oracle.softmax(s), grad), scores)


@given(numbers(2, 4), numbers(2, 4))
def test_the_same_added_to_all_slopes_of_a_row_changes_nothing(scores, grad):
    p = softmax(scores)
    assert_allclose(softmax_backward(p, grad + 3), softmax_backward(p, grad), rtol=0, atol=1e-13)


def test_a_saturated_softmax_lets_nothing_through():
    grad = softmax_backward(softmax([112, 96]), [1, -1])
    assert_allclose(grad, [2.2507e-7, -2.2507e-7], rtol=1e-4)
    assert_array_equal(softmax_backward([0, 1, 0], [5, -3, 2]), [0, 0, 0])


# scores_backward


def test_scores_backward_by_hand():
    grad_Q, grad_K = scores_backward([[1, 2, 3, 4]], [[2, 0, 0, 6], [0, 4, 0, 0]], [[1, 3]])
    assert_array_equal(grad_Q, [[1, 6, 0, 3]])
    assert_array_equal(grad_K, [[0.5, 1, 1.5, 2], [1.5, 3, 4.5, 6]])


@pytest.mark.parametrize("scale", [None, 0.7])
def test_scores_backward_is_what_a_loop_measures(scale):
    Q, K, G = rng.normal(size=(3, 5)), rng.normal(size=(7, 5)), rng.normal(size=(3, 7))

    def loss(Q, K):
        return (np.array(oracle.scores(Q.tolist(), K.tolist(), scale)) * G).sum()

    grad_Q, grad_K = scores_backward(Q, K, G, scale)
    assert_slopes(grad_Q, lambda Q: loss(Q, K), Q)
    assert_slopes(grad_K, lambda K: loss(Q, K), K)


# weighted_values_backward


def test_weighted_values_backward_by_hand():
    grad_weights, grad_V = weighted_values_backward(
        [[0.25, 0.75], [0.5, 0.5]], [[10, 1], [20, 0]], [[1, 2], [4, 0]]
    )
    assert_array_equal(grad_weights, [[12, 20], [40, 80]])
    assert_array_equal(grad_V, [[2.25, 0.5], [2.75, 1.5]])


def test_weighted_values_backward_is_what_is_measured():
    A, V, G = rng.random(size=(3, 5)), rng.normal(size=(5, 2)), rng.normal(size=(3, 2))
    grad_weights, grad_V = weighted_values_backward(A, V, G)
    assert_slopes(grad_weights, lambda A: (weighted_values(A, V) * G).sum(), A)
    assert_slopes(grad_V, lambda V: (weighted_values(A, V) * G).sum(), V)


# project_backward


def test_project_backward_by_hand():
    X, W, G = [[1, 2], [0, 3]], [[1, 2], [3, 4]], [[1, 0], [10, 1]]
    grad_X, grad_W, grad_b = project_backward(X, W, G)
    assert_array_equal(grad_X, [[1, 3], [12, 34]])
    assert_array_equal(grad_W, [[1, 0], [32, 3]])
    assert_array_equal(grad_b, [11, 1])


@pytest.mark.parametrize("leading", [(), (3,), (2, 3)])
def test_project_backward_is_what_is_measured(leading):
    X, W, b = rng.normal(size=(*leading, 5)), rng.normal(size=(5, 2)), rng.normal(size=2)
    G = rng.normal(size=(*leading, 2))
    grad_X, grad_W, grad_b = project_backward(X, W, G)
    assert_slopes(grad_X, lambda X: (project(X, W, b) * G).sum(), X)
    assert_slopes(grad_W, lambda W: (project(X, W, b) * G).sum(), W)
    assert_slopes(grad_b, lambda b: (project(X, W, b) * G).sum(), b)


# attention_backward

MASKS = {
    "no mask": None,
    "causal": causal_mask(3, 7),
    "a row without keys": np.array([[T] * 7, [F] * 7, [T, F, T, T, F, F, T]]),
}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("scale", [None, 1.3])
def test_attention_backward_is_what_a_loop_measures(mask, scale):
    Q, K, V = rng.normal(size=(3, 5)), rng.normal(size=(7, 5)), rng.normal(size=(7, 2))
    G = rng.normal(size=(3, 2))

    def loss(Q, K, V):
        allowed = None if mask is None else mask.tolist()
        output = oracle.attention(Q.tolist(), K.tolist(), V.tolist(), allowed, scale)[2]
        return (np.array(output) * G).sum()

    weights = attention_steps(Q, K, V, mask, scale).weights
    grads = attention_backward(Q, K, V, weights, G, scale)
    assert_slopes(grads.Q, lambda Q: loss(Q, K, V), Q)
    assert_slopes(grads.K, lambda K: loss(Q, K, V), K)
    assert_slopes(grads.V, lambda V: loss(Q, K, V), V)


@given(queries_keys_values())
def test_a_masked_key_has_no_slopes(inputs):
    Q, K, V, mask = inputs
    weights = attention_steps(Q, K, V, mask).weights
    grads = attention_backward(Q, K, V, weights, np.ones((len(Q), V.shape[1])))
    unseen = ~mask.any(axis=0)
    assert_array_equal(grads.K[unseen], 0)
    assert_array_equal(grads.V[unseen], 0)
    assert_array_equal(grads.Q[~mask.any(axis=1)], 0)


def test_attention_backward_of_a_batch_is_a_loop():
    Q, K, V, G = (rng.normal(size=(2, 3, *s)) for s in [(5, 7), (11, 7), (11, 13), (5, 13)])
    mask = padding_mask(rng.integers(1, 12, size=(2, 3)), 11)
    weights = attention_steps(Q, K, V, mask).weights
    grads = attention_backward(Q, K, V, weights, G)
    for i in np.ndindex(2, 3):
        one = attention_backward(Q[i], K[i], V[i], weights[i], G[i])
        for whole, part in zip(grads, one, strict=True):
            assert_allclose(whole[i], part, rtol=1e-12, atol=1e-14)


@given(queries_keys_values())
def test_the_same_vector_added_to_all_keys_changes_no_slope(inputs):
    """Every score of a row moves alike, so the weights stay."""
    Q, K, V, _ = inputs
    G = np.ones((len(Q), V.shape[1]))
    weights = attention_steps(Q, K, V).weights
    grads = attention_backward(Q, K, V, weights, G)
    moved = attention_backward(Q, K + 2, V, weights, G)
    assert_allclose(moved.Q, grads.Q, rtol=0, atol=1e-11)
    assert_allclose(grads.K.sum(axis=0), 0, atol=1e-11)


# multi_head_backward

SHAPES = {  # n_heads 3, d_model 5, d_k 2, d_v 7, d_out 11
    "W_Q": (3, 5, 2),
    "W_K": (3, 5, 2),
    "W_V": (3, 5, 7),
    "W_O": (21, 11),
    "b_Q": (3, 2),
    "b_K": (3, 2),
    "b_V": (3, 7),
    "b_O": (11,),
}


def random_parts():
    return {name: rng.normal(size=shape) / 2 for name, shape in SHAPES.items()}


def multi_head_loss(parts, X, context, mask, G):
    """The oracle's output, each number times its entry of `G`, added up."""
    masks = [mask.tolist()] * 3
    lists = {name: part.tolist() for name, part in parts.items()}
    C = X if context is None else context
    return (np.array(oracle.multi_head(X.tolist(), C.tolist(), **lists, masks=masks)) * G).sum()


@pytest.mark.parametrize("context", [None, rng.normal(size=(6, 5))], ids=["self", "cross"])
def test_multi_head_backward_is_what_a_loop_measures(context):
    parts, X, G = random_parts(), rng.normal(size=(4, 5)), rng.normal(size=(4, 11))
    mask = causal_mask(4, 4 if context is None else 6)
    mha = MultiHeadAttention(**parts)
    grads = multi_head_backward(mha, X, mha.steps(X, context, mask), G, context)

    assert_slopes(grads.X, lambda X: multi_head_loss(parts, X, context, mask, G), X)
    if context is None:
        assert grads.context is None
    else:
        slopes_of = lambda C: multi_head_loss(parts, X, C, mask, G)  # noqa: E731
        assert_slopes(grads.context, slopes_of, context)
    for name, part in parts.items():

        def loss(changed, name=name):
            return multi_head_loss({**parts, name: changed}, X, context, mask, G)

        assert_slopes(getattr(grads, name), loss, part)


def test_multi_head_backward_of_a_batch_adds_up():
    mha = MultiHeadAttention(**random_parts())
    X, G = rng.normal(size=(2, 3, 4, 5)), rng.normal(size=(2, 3, 4, 11))
    grads = multi_head_backward(mha, X, mha.steps(X), G)
    each = [multi_head_backward(mha, X[i], mha.steps(X[i]), G[i]) for i in np.ndindex(2, 3)]
    assert_allclose(grads.X, np.reshape([one.X for one in each], X.shape), atol=1e-12)
    for name in SHAPES:
        total = np.sum([getattr(one, name) for one in each], axis=0)
        assert_allclose(getattr(grads, name), total, rtol=0, atol=1e-12)


def test_one_head_with_identity_matrices_is_attention_backward():
    eye = np.eye(5)
    mha = MultiHeadAttention([eye], [eye], [eye], eye)
    X, C, G = rng.normal(size=(4, 5)), rng.normal(size=(3, 5)), rng.normal(size=(4, 5))
    steps = mha.steps(X, C)
    whole = multi_head_backward(mha, X, steps, G, C)
    parts = attention_backward(X, C, C, steps.weights[0], G)
    assert_allclose(whole.X, parts.Q, rtol=1e-12)
    assert_allclose(whole.context, parts.K + parts.V, rtol=1e-12)


def test_the_bias_of_the_keys_has_no_slope():
    """It adds the same to all scores of a row."""
    mha = MultiHeadAttention(**random_parts())
    X = rng.normal(size=(4, 5))
    grads = multi_head_backward(mha, X, mha.steps(X), rng.normal(size=(4, 11)))
    assert_allclose(grads.b_K, 0, atol=1e-13)
    assert np.abs(grads.b_Q).max() > 0.01


# numbers and errors


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (np.float16, np.float16),
        (np.float32, np.float32),
        (np.float64, np.float64),
        (int, np.float64),
    ],
)
def test_gradients_have_the_dtype_of_the_inputs(given, expected):
    Q, K, V, A, G = (np.ones(s, dtype=given) for s in [(2, 3), (5, 3), (5, 7), (2, 5), (2, 7)])
    results = [
        *attention_backward(Q, K, V, A, G),
        *project_backward(Q, K.T, A),
        softmax_backward(A, A),
    ]
    assert {r.dtype for r in results} == {np.dtype(expected)}


def test_float16_is_computed_in_float32():
    """300 · 300 is too large for float16, half of it is not."""
    Q, K, G = (np.full(s, 300, np.float16) for s in [(1, 4), (1, 4), (1, 1)])
    grad_Q, grad_K = scores_backward(Q, K, G)
    assert_array_equal(grad_Q, np.full((1, 4), np.float16(45000)))
    assert_array_equal(grad_K, np.full((1, 4), np.float16(45000)))


def test_nan_stays_in_its_row():
    grads = softmax_backward([[0.5, 0.5], [0.25, 0.75]], [[NAN, 1], [8, 0]])
    assert_array_equal(grads, [[NAN, NAN], [1.5, -1.5]])


def test_inputs_are_never_modified():
    parts, X, G = random_parts(), rng.normal(size=(4, 5)), rng.normal(size=(4, 11))
    mha = MultiHeadAttention(**parts)
    steps = mha.steps(X)
    everything = [X, G, *steps, *(getattr(mha, name) for name in SHAPES)]
    before = [a.copy() for a in everything]
    multi_head_backward(mha, X, steps, G)
    for a, b in zip(everything, before, strict=True):
        assert_array_equal(a, b)


@pytest.mark.parametrize("n", [0, 1])
def test_nothing_in_nothing_out(n):
    grads = attention_backward(
        np.ones((n, 2)), np.ones((3, 2)), np.ones((3, 5)), np.ones((n, 3)), np.ones((n, 5))
    )
    assert [g.shape for g in grads] == [(n, 2), (3, 2), (3, 5)]
    grad_X, grad_W, grad_b = project_backward(np.ones((n, 2)), np.ones((2, 3)), np.ones((n, 3)))
    assert grad_X.shape == (n, 2)
    assert_array_equal(grad_W, np.full((2, 3), n))
    assert_array_equal(grad_b, np.full(3, n))


def shapes(*all_shapes):
    return [np.ones(s) for s in all_shapes]


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (
            softmax_backward,
            shapes((2, 3), (2, 4)),
            r"grad_p .* p\.shape = \(2, 3\); got .*\(2, 4\)",
        ),
        (softmax_backward, [1.0, 1.0], r"p must have shape \(\.\.\., n\)"),
        (scores_backward, shapes((2, 3), (5, 4), (2, 5)), r"K must .* = \(5, 3\); got .*\(5, 4\)"),
        (
            scores_backward,
            shapes((2, 3), (5, 3), (5, 2)),
            r"grad_scores must .* \(2, 5\); got .*\(5, 2\)",
        ),
        (scores_backward, shapes((6, 2, 3), (5, 3), (6, 2, 5)), r"K must .* = \(6, 5, 3\)"),
        (scores_backward, shapes((2, 0), (5, 0), (2, 5)), r"d_k must be at least 1; got 0"),
        (
            weighted_values_backward,
            shapes((2, 5), (4, 3), (2, 3)),
            r"V must .* = \(5, 3\); got .*\(4, 3\)",
        ),
        (
            weighted_values_backward,
            shapes((2, 5), (5, 3), (1, 3)),
            r"grad_output must .* = \(2, 3\); got .*\(1, 3\)",
        ),
        (project_backward, shapes((2, 3), (4, 5), (2, 5)), r"W must .*d_in=3"),
        (project_backward, shapes((2, 3), (3,), (2, 5)), r"W must have shape \(d_in, d_out\)"),
        (
            project_backward,
            shapes((2, 3), (3, 5), (2, 3)),
            r"grad_output must .* = \(2, 5\); got .*\(2, 3\)",
        ),
    ],
)
def test_shapes_that_do_not_fit(function, arguments, message):
    with pytest.raises(ValueError, match=message):
        function(*arguments)


@pytest.mark.parametrize(
    "call",
    [
        lambda bad: softmax_backward(bad, bad),
        lambda bad: scores_backward(bad, bad, bad),
        lambda bad: weighted_values_backward(bad, bad, bad),
        lambda bad: project_backward(bad, bad, bad),
        lambda bad: attention_backward(bad, bad, bad, bad, bad),
        lambda bad: finite_differences(lambda x: 0.0, bad),
    ],
)
def test_only_real_numbers(call):
    with pytest.raises(TypeError, match=r"must hold real numbers"):
        call([[1j]])


@pytest.mark.parametrize("name", gradients.__all__)
def test_docstrings_have_all_parts_in_order(name):
    not_asked = {"ES01", "SA01", "PR07", "RT03"}
    if name[0].isupper():  # records: their fields are documented one by one
        not_asked |= {"PR01", "EX01"}
    errors = validate(f"companion.gradients.{name}")["errors"]
    assert [e for e in errors if e[0] not in not_asked] == []


# PyTorch's automatic differentiation, where it is installed


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")


def leaf(torch, array):
    return torch.tensor(array, dtype=torch.float64, requires_grad=True)


def assert_same(gradient, tensor):
    assert_allclose(gradient, tensor.grad.numpy(), rtol=0, atol=1e-8)


def test_torch_softmax(torch):
    scores, G = rng.normal(size=(3, 7)), rng.normal(size=(3, 7))
    s = leaf(torch, scores)
    (torch.softmax(s, dim=-1) * torch.tensor(G)).sum().backward()
    assert_same(softmax_backward(softmax(scores), G), s)


@pytest.mark.parametrize("mask", [None, causal_mask(5, 11)], ids=["no mask", "causal"])
@pytest.mark.parametrize("scale", [None, 0.7])
def test_torch_attention(torch, mask, scale):
    Q, K, V, G = (rng.normal(size=(2, 3, *s)) for s in [(5, 7), (11, 7), (11, 13), (5, 13)])
    q, k, v = (leaf(torch, a) for a in (Q, K, V))
    allowed = None if mask is None else torch.tensor(mask)
    output = torch.nn.functional.scaled_dot_product_attention(q, k, v, allowed, scale=scale)
    assert_allclose(attention(Q, K, V, mask, scale), output.detach().numpy(), rtol=0, atol=1e-12)
    (output * torch.tensor(G)).sum().backward()
    weights = attention_steps(Q, K, V, mask, scale).weights
    grads = attention_backward(Q, K, V, weights, G, scale)
    for gradient, tensor in zip(grads, (q, k, v), strict=True):
        assert_same(gradient, tensor)


@pytest.mark.parametrize("cross", [False, True], ids=["self", "cross"])
def test_torch_multi_head(torch, cross):
    """nn.MultiheadAttention: matrices transposed, heads side by side, True in a mask = hidden."""
    n_heads, d_model, d = 3, 15, 5
    parts = {name: rng.normal(size=(n_heads, d_model, d)) / 3 for name in ("W_Q", "W_K", "W_V")}
    parts |= {name: rng.normal(size=(n_heads, d)) for name in ("b_Q", "b_K", "b_V")}
    parts |= {"W_O": rng.normal(size=(d_model, d_model)) / 3, "b_O": rng.normal(size=d_model)}
    X, C = rng.normal(size=(2, 7, d_model)), rng.normal(size=(2, 11, d_model))
    G, mask = rng.normal(size=(2, 7, d_model)), causal_mask(7, 11 if cross else 7)

    layer = torch.nn.MultiheadAttention(d_model, n_heads, batch_first=True, dtype=torch.float64)
    joined = [np.concatenate(parts[name], axis=-1).T for name in ("W_Q", "W_K", "W_V")]
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.tensor(np.concatenate(joined)))
        biases = [parts[name].reshape(-1) for name in ("b_Q", "b_K", "b_V")]
        layer.in_proj_bias.copy_(torch.tensor(np.concatenate(biases)))
        layer.out_proj.weight.copy_(torch.tensor(parts["W_O"].T))
        layer.out_proj.bias.copy_(torch.tensor(parts["b_O"]))
    x = leaf(torch, X)
    c = leaf(torch, C) if cross else x
    output, _ = layer(x, c, c, attn_mask=torch.tensor(~mask), need_weights=False)

    mha, context = MultiHeadAttention(**parts), C if cross else None
    steps = mha.steps(X, context, mask)
    assert_allclose(steps.output, output.detach().numpy(), rtol=0, atol=1e-12)
    (output * torch.tensor(G)).sum().backward()
    grads = multi_head_backward(mha, X, steps, G, context)
    assert_same(grads.X, x)
    if cross:
        assert_same(grads.context, c)
    in_matrix = [np.concatenate(g, axis=-1).T for g in (grads.W_Q, grads.W_K, grads.W_V)]
    assert_same(np.concatenate(in_matrix), layer.in_proj_weight)
    in_bias = [g.reshape(-1) for g in (grads.b_Q, grads.b_K, grads.b_V)]
    assert_same(np.concatenate(in_bias), layer.in_proj_bias)
    assert_same(grads.W_O.T, layer.out_proj.weight)
    assert_same(grads.b_O, layer.out_proj.bias)
