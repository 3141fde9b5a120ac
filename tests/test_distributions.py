import math
import re
from fractions import Fraction

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from strategies import table

from companion import log_softmax, softmax, softmax_jacobian

rng = np.random.default_rng(12)
NAN, INF = np.nan, np.inf
LN3 = math.log(3)
E = math.e
ONE_APART = [1 / (1 + E), E / (1 + E)]  # softmax of two numbers that differ by 1


# softmax


@pytest.mark.parametrize(
    ("x", "weights"),
    [
        ([0, 1], ONE_APART),
        ([1, 0], ONE_APART[::-1]),
        ([0, LN3], [0.25, 0.75]),
        ([math.log(2), 0, math.log(5)], [0.25, 0.125, 0.625]),
        ([7], [1]),
        ([-5, -5, -5, -5], [0.25] * 4),
    ],
)
def test_softmax_by_hand(x, weights):
    assert_allclose(softmax(x), weights, rtol=1e-15)


def test_softmax_of_illustrated_transformer():
    # Alammar: 112 and 96, divided by sqrt(64) = 8, are 14 and 12
    assert_allclose(softmax([112 / 8, 96 / 8]), [0.8807970780, 0.1192029220], atol=5e-11)
    assert_allclose(softmax([112, 96]), [0.9999998875, 1.125e-7], rtol=1e-4, atol=5e-11)
    assert softmax([112, 96])[0] == pytest.approx(0.9999998875, abs=5e-11)


@pytest.mark.parametrize(
    ("x", "axis"), [((2, 3, 5), 0), ((2, 3, 5), 1), ((2, 3, 5), -1), ((2, 3, 5), -2)]
)
def test_softmax_along_each_axis(x, axis):
    x = rng.normal(size=x)
    result = softmax(x, axis=axis)
    assert result.shape == x.shape
    lines = np.moveaxis(x, axis, -1).reshape(-1, x.shape[axis])
    expected = [oracle.softmax(line) for line in lines]
    assert_allclose(np.moveaxis(result, axis, -1).reshape(-1, x.shape[axis]), expected, rtol=1e-13)


@pytest.mark.parametrize("temperature", [0.1, 0.5, 2, 10, np.float32(3)])
def test_temperature_divides_the_numbers(temperature):
    x = rng.normal(size=(3, 5))
    expected = [oracle.softmax(row, float(temperature)) for row in x]
    assert_allclose(softmax(x, temperature=temperature), expected, rtol=1e-12)


def test_temperature_by_hand():
    assert_allclose(softmax([0, 2 * LN3], temperature=2), [0.25, 0.75], rtol=1e-15)
    assert_allclose(softmax([0, LN3 / 2], temperature=0.5), [0.25, 0.75], rtol=1e-15)
    assert_array_equal(softmax([1, 2, 3], temperature=1e-300), [0, 0, 1])
    assert_allclose(softmax([1, 2, 3], temperature=1e300), [1 / 3] * 3, rtol=1e-15)


@given(table(), st.sampled_from([0.5, 1.0, 3.0]))
def test_softmax_rows_are_distributions_in_the_order_of_the_numbers(x, temperature):
    p = softmax(x, temperature=temperature)
    assert (p > 0).all()
    assert_allclose(p.sum(axis=-1), 1, rtol=1e-14)
    order = np.argsort(x, axis=-1, kind="stable")
    assert (np.diff(np.take_along_axis(p, order, axis=-1), axis=-1) >= 0).all()


@given(table(), st.integers(-(2**20), 2**20))
def test_softmax_is_the_same_after_a_shift(x, shift):
    assert_array_equal(softmax(x + shift), softmax(x))


@given(table(), st.randoms(use_true_random=False))
def test_softmax_of_permuted_numbers_is_permuted(x, random):
    order = random.sample(range(x.shape[1]), x.shape[1])
    assert_allclose(softmax(x[:, order]), softmax(x)[:, order], rtol=1e-14)


@given(table())
def test_softmax_down_the_columns_is_the_transpose(x):
    assert_allclose(softmax(x, axis=0), softmax(x.T).T, rtol=1e-14)


@given(table())
def test_softmax_is_the_oracle(x):
    assert_allclose(softmax(x), [oracle.softmax(row) for row in x], rtol=1e-14)


@pytest.mark.parametrize(
    ("x", "weights"),
    [
        ([800.0, 1, 1], [1, 0, 0]),
        ([1000.0, 1000], [0.5, 0.5]),
        ([-1000.0, -1000], [0.5, 0.5]),
        ([1e308, -1e308], [1, 0]),
        ([-1e308, 1e308, 1e308], [0, 0.5, 0.5]),
        ([5e-324, 0], [0.5, 0.5]),
        (np.array([89, 0], np.float32), [1, math.exp(-89)]),
        (np.array([3e38, -3e38], np.float32), [1, 0]),
        (np.array([65504, -65504], np.float16), [1, 0]),
    ],
)
def test_SM_01_large_numbers_do_not_overflow(x, weights):
    assert_allclose(softmax(x), weights, rtol=1e-5, atol=1e-300)


@pytest.mark.parametrize(("limit", "dtype"), [(710, np.float64), (89, np.float32)])
def test_SM_01_the_plain_formula_is_nan_from_710_and_89(limit, dtype):
    def plain(x):
        with np.errstate(over="ignore", invalid="ignore"):
            return np.exp(x) / np.exp(x).sum()

    below, at = np.array([limit - 1, 0], dtype), np.array([limit, 0], dtype)
    assert np.isfinite(plain(below)).all()
    assert np.isnan(plain(at)[0])
    assert softmax(at)[0] == 1


@pytest.mark.parametrize("below", [-2000, -1e6, -1e300])
def test_SM_03_every_row_has_its_own_maximum(below):
    x = np.array([[0.0, LN3], [below, below]])
    assert_allclose(softmax(x), [[0.25, 0.75], [0.5, 0.5]], rtol=1e-15)
    assert_allclose(softmax(x.T, axis=0), [[0.25, 0.5], [0.75, 0.5]], rtol=1e-15)
    assert_allclose(softmax([[0, 1], [-2000, -1999]]), [ONE_APART, ONE_APART], rtol=1e-14)


def test_SM_05_the_last_axis_adds_up_to_one():
    assert_allclose(softmax([[0, LN3], [0, 0]]), [[0.25, 0.75], [0.5, 0.5]], rtol=1e-15)
    assert_allclose(
        softmax([[0, LN3, 0], [0, 0, math.log(2)]]), [[0.2, 0.6, 0.2], [0.25, 0.25, 0.5]]
    )


@pytest.mark.parametrize(
    ("x", "dtype", "weights"),
    [
        ([0, 1], np.uint8, ONE_APART),
        ([127, -128], np.int8, [1, math.exp(-255)]),
        ([255, 0], np.uint8, [1, math.exp(-255)]),
        ([-32768, 32767], np.int16, [0, 1]),
        ([2**63 - 1, -(2**63)], np.int64, [1, 0]),
        ([0, 2**64 - 1], np.uint64, [0, 1]),
        ([False, True], bool, ONE_APART),
    ],
)
def test_SM_07_integers_are_converted_before_the_subtraction(x, dtype, weights):
    result = softmax(np.array(x, dtype))
    assert result.dtype == np.float64
    assert_allclose(result, weights, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("row", [[INF, 0], [INF, INF], [NAN, 0], [-INF, -INF], [NAN, INF]])
def test_SM_09_a_row_without_a_distribution_is_nan_and_spoils_no_other(row):
    result = softmax([[0, LN3], row, [0, 0]])
    assert np.isnan(result[1]).all()
    assert_allclose(result[[0, 2]], [[0.25, 0.75], [0.5, 0.5]], rtol=1e-15)


def test_SM_09_minus_infinity_has_exactly_no_weight():
    assert_array_equal(softmax([0, -INF]), [1, 0])
    assert_allclose(softmax([0, -INF, LN3]), [0.25, 0, 0.75], rtol=1e-15)


@pytest.mark.parametrize("function", [softmax, log_softmax])
@pytest.mark.parametrize("axis", [-1, 0])
def test_SM_11_the_array_given_is_not_overwritten(function, axis):
    for x in (rng.normal(size=(2, 3)), rng.normal(size=(3, 2)).T):
        before = x.copy()
        result = function(x, axis=axis)
        assert_array_equal(x, before)
        result[...] = 7
        assert_array_equal(x, before)


def test_float16_is_computed_in_float32():
    x = np.array([11, 10.5, 0.25], np.float16)
    assert_array_equal(softmax(x), np.array(oracle.softmax(x.tolist())).astype(np.float16))
    many = softmax(np.zeros(70_000, np.float16))  # in float16 the sum would be inf
    assert_array_equal(many, np.float16(1 / 70_000))


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0), (2, 0, 3)])
@pytest.mark.parametrize("function", [softmax, log_softmax])
def test_empty_in_empty_out(function, shape):
    for axis in range(len(shape)):
        result = function(np.ones(shape), axis=axis)
        assert result.shape == shape


# log_softmax


def test_log_softmax_by_hand():
    assert_allclose(log_softmax([0, LN3]), [math.log(0.25), math.log(0.75)], rtol=1e-15)
    assert_array_equal(log_softmax([0, -1000]), [0, -1000])
    assert_array_equal(log_softmax([1e6, 0]), [0, -1e6])
    assert_array_equal(log_softmax([0, -INF]), [0, -INF])


@given(table())
def test_log_softmax_is_the_logarithm_of_softmax(x):
    assert_allclose(log_softmax(x), np.log(softmax(x)), rtol=1e-13, atol=1e-14)
    assert_allclose(log_softmax(x), [oracle.log_softmax(row) for row in x], atol=1e-14)
    assert_allclose(log_softmax(x, axis=0), log_softmax(x.T).T, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("row", [[INF, 0], [NAN, 0], [-INF, -INF]])
def test_log_softmax_is_nan_where_softmax_is(row):
    result = log_softmax([row, [0, LN3]])
    assert np.isnan(result[0]).all()
    assert_allclose(result[1], [math.log(0.25), math.log(0.75)], rtol=1e-15)


# softmax_jacobian


def test_jacobian_by_hand():
    expected = [
        [0.1875, -0.0625, -0.125],
        [-0.0625, 0.1875, -0.125],
        [-0.125, -0.125, 0.25],
    ]
    assert_array_equal(softmax_jacobian([0.25, 0.25, 0.5]), expected)
    assert_array_equal(softmax_jacobian([0, 1]), np.zeros((2, 2)))


def test_jacobian_in_exact_fractions():
    p = [Fraction(1, 8), Fraction(5, 8), Fraction(1, 4)]
    expected = [[float(p[i] * ((i == j) - p[j])) for j in range(3)] for i in range(3)]
    assert_array_equal(softmax_jacobian([float(v) for v in p]), expected)


@given(table())
def test_jacobian_is_the_slope_of_softmax(x):
    step = 1e-5
    jacobian = softmax_jacobian(softmax(x))
    assert jacobian.shape == (*x.shape, x.shape[1])
    for j in range(x.shape[1]):
        change = np.zeros(x.shape[1])
        change[j] = step
        slope = (softmax(x + change) - softmax(x - change)) / (2 * step)
        assert_allclose(jacobian[..., j], slope, atol=1e-9)


@given(table())
def test_jacobian_is_symmetric_and_its_rows_add_up_to_zero(x):
    jacobian = softmax_jacobian(softmax(x))
    assert_array_equal(jacobian, jacobian.mT)
    assert_allclose(jacobian.sum(axis=-1), 0, atol=1e-15)


def test_jacobian_of_a_query_with_nothing_to_attend_to_is_zero():
    assert_array_equal(softmax_jacobian([[0, 0], [0.5, 0.5]])[0], np.zeros((2, 2)))


def test_jacobian_keeps_nan_in_its_own_row():
    result = softmax_jacobian([[NAN, 0.5], [0.25, 0.75]])
    assert np.isnan(result[0, 0]).any()
    assert_array_equal(result[1], [[0.1875, -0.1875], [-0.1875, 0.1875]])


def test_jacobian_accepts_rounded_distributions():
    p = softmax(rng.normal(size=(3, 1001))).astype(np.float16)
    assert softmax_jacobian(p).shape == (3, 1001, 1001)
    assert softmax_jacobian(np.ones((2, 0))).shape == (2, 0, 0)


@pytest.mark.parametrize(
    ("p", "received"),
    [
        ([1, 2], "adds up to 3 and whose smallest entry is 1"),
        ([0.5, 0.4], "adds up to 0.9 and whose smallest entry is 0.4"),
        ([-0.5, 1.5], "adds up to 1 and whose smallest entry is -0.5"),
        ([[0.5, 0.5], [0.5, 0.6]], "adds up to 1.1 and whose smallest entry is 0.5"),
        ([INF, 0], "adds up to inf and whose smallest entry is 0"),
    ],
)
def test_jacobian_wants_weights_not_scores(p, received):
    message = (
        "p must be a distribution along its last axis (at least 0, adding up to 1): "
        f"pass softmax(scores), not the scores; got a row that {received}"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        softmax_jacobian(p)


# wrong input


@pytest.mark.parametrize("function", [softmax, log_softmax])
@pytest.mark.parametrize(
    ("x", "axis", "error", "message"),
    [
        (3, -1, ValueError, "x must have shape (..., n); got shape ()"),
        (
            [1, 2],
            1,
            ValueError,
            "axis must lie between -1 and 0 for x of shape (2,); got 1",
        ),
        ([[1, 2]], -3, ValueError, "axis must lie between -2 and 1"),
        ([[1, 2]], None, TypeError, "axis must be one integer; got None"),
        ([[1, 2]], (0, 1), TypeError, "axis must be one integer; got (0, 1)"),
        ([[1, 2]], 0.0, TypeError, "axis must be one integer; got 0.0"),
        ([[1, 2]], True, TypeError, "axis must be one integer; got True"),
    ],
)
def test_wrong_axis(function, x, axis, error, message):
    with pytest.raises(error, match=re.escape(message)):
        function(x, axis=axis)


@pytest.mark.parametrize(
    ("temperature", "error"),
    [
        (0, ValueError),
        (-1, ValueError),
        (INF, ValueError),
        (NAN, ValueError),
        (None, TypeError),
        ("2", TypeError),
        (True, TypeError),
        ([1.0], TypeError),
        (1j, TypeError),
    ],
)
def test_wrong_temperature(temperature, error):
    rule = "temperature must be a finite number above 0" if error is ValueError else "one number"
    with pytest.raises(error, match=rule):
        softmax([1, 2], temperature=temperature)


def test_a_temperature_that_rounds_to_zero_is_no_temperature():
    x = np.array([1, 2], np.float32)
    with pytest.raises(ValueError, match="above 0 in float32; got 1e-50"):
        softmax(x, temperature=1e-50)
    assert_array_equal(softmax(x.astype(np.float64), temperature=1e-50), [0, 1])
