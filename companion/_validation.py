"""Input checks shared by every module, kept apart so that the taught lines stay readable.

Each check returns what the caller goes on with, or raises a ``TypeError`` or ``ValueError``
that states the rule, what was expected and what was received.
"""

import math
import operator

import numpy as np

# nan and inf in the input travel to the output without a warning, in their own row only.
SILENT = {"all": "ignore"}


def as_floats(**arrays):
    """Return the arrays in the dtype to compute in, and the dtype that the result gets.

    float16 is computed in float32; integers and booleans count as float64.
    """
    converted = {name: as_float(value, name) for name, value in arrays.items()}
    result = np.result_type(*converted.values())
    compute = np.result_type(result, np.float32)
    return [a.astype(compute, copy=False) for a in converted.values()], result


def as_float(value, name):
    """Return `value` as a float16, float32 or float64 array; never modifies it."""
    array = as_array(value, name)
    if array.dtype.kind in "iub":
        return array.astype(np.float64)
    if array.dtype.type not in (np.float16, np.float32, np.float64):
        raise TypeError(
            f"{name} must hold real numbers (float16, float32, float64, integers or booleans); "
            f"got dtype {array.dtype}"
        )
    return array


def as_array(value, name):
    """Return `value` as an array; rows of unequal length are an error with a clear message."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(
            f"{name} must be a plain array: its own mask would be ignored here. "
            f"Pass {name}.data, and a boolean attention mask (True = may attend) beside it"
        )
    try:
        return np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} must be a full array: its rows differ in length") from None


def need_axes(array, name, shape):
    """Check that `array` has at least as many axes as `shape` names, such as "(n, d)"."""
    least = shape.count(",") + (not shape.endswith(",)"))
    if array.ndim < least:
        sizes = shape.strip("(),")
        raise ValueError(f"{name} must have shape (..., {sizes}); got shape {array.shape}")


def need_same(first, first_name, axis, second, second_name, second_axis, size_name):
    """Check that two axes that a product runs over have the same size."""
    expected = first.shape[axis]
    if second.shape[second_axis] != expected:
        words = {-1: "last axis", -2: "second-to-last axis", -3: "axis of heads", 0: "first axis"}
        as_what = (
            f"the same {words[axis]} as {first_name}"
            if axis == second_axis
            else f"a {words[second_axis]} as long as the {words[axis]} of {first_name}"
        )
        raise ValueError(
            f"{second_name} must have {as_what} ({size_name}={expected}); "
            f"got {second_name} of shape {second.shape}"
        )


def need_leading(first, first_name, second, second_name, own_axes):
    """Check that the axes before the last `own_axes` ones can be broadcast together."""
    one = first.shape[: max(first.ndim - own_axes, 0)]
    two = second.shape[: max(second.ndim - own_axes, 0)]
    try:
        return np.broadcast_shapes(one, two)
    except ValueError:
        raise ValueError(
            f"the leading axes of {first_name} and {second_name} must agree; "
            f"got {first_name} of shape {first.shape} and {second_name} of shape {second.shape}"
        ) from None


def need_shape(array, name, expected, meaning):
    """Check an exact shape; `meaning` names its sizes, such as "(d_out,)"."""
    if array.shape != expected:
        raise ValueError(f"{name} must have shape {meaning} = {expected}; got shape {array.shape}")


def need_count(value, name, least=0):
    """Return `value` as an int of at least `least`."""
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        count = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer; got {value!r}") from None
    if count < least:
        raise ValueError(f"{name} must be at least {least}; got {count}")
    return count


def need_axis(axis, array, name):
    """Return `axis` as an int that `array` has."""
    try:
        if isinstance(axis, bool | np.bool_):
            raise TypeError
        number = operator.index(axis)
    except TypeError:
        raise TypeError(f"axis must be one integer; got {axis!r}") from None
    if not -array.ndim <= number < array.ndim:
        raise ValueError(
            f"axis must lie between {-array.ndim} and {array.ndim - 1} for {name} "
            f"of shape {array.shape}; got {number}"
        )
    return number


def need_number(value, name, dtype=np.float64, positive=False):
    """Return `value` as a Python float that is finite, and not lost, in `dtype`."""
    array = as_array(value, name)
    if array.ndim != 0 or array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be one number; got {value!r}")
    number = float(array)
    with np.errstate(all="ignore"):
        held = float(np.dtype(dtype).type(number))
    if not math.isfinite(held) or (positive and held <= 0):
        rule = "a finite number above 0" if positive else "a finite number"
        raise ValueError(f"{name} must be {rule} in {np.dtype(dtype).name}; got {value!r}")
    return number


def need_mask(mask, shape):
    """Return `mask` as a boolean array of the scores' shape (True = may attend)."""
    mask = as_array(mask, "mask")
    if mask.dtype != bool:
        raise TypeError(
            f"mask must be boolean, True where a query may attend; got dtype {mask.dtype}. "
            "An additive mask (0 and -inf) becomes one by `mask == 0`; a 0/1 mask by "
            "`mask == 1` where 1 means may attend, by `mask == 0` where 1 means hidden"
        )
    try:
        fits = np.broadcast_shapes(mask.shape, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            "mask must be broadcastable to the scores' shape (..., n_queries, n_keys) = "
            f"{shape} without enlarging it; got shape {mask.shape}"
        )
    return np.broadcast_to(mask, shape)
