"""Arrow arrays of lists and of numpy's arrays, by their buffers.

`pyarrow.array` imports pandas where that is installed, which takes some 45 MB of every process.
"""

from array import array
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

Bools = NDArray[np.bool_]
_CODES = {"int32": "i", "int64": "q", "double": "d"}


def of_values(values: Sequence[Any], wanted: "pa.DataType") -> "pa.Array":
    """Give Python's values as an array; None is null.

    Args:
        values: Numbers, texts, truths, or lists or rows of these.
        wanted: Their type: one of those that tables have (pcaplat.tables.columns).
    """
    import pyarrow as pa  # noqa: PLC0415 - slow to import, seldom needed

    is_null = None
    if None in values:
        is_null = np.fromiter((one is None for one in values), np.bool_, len(values))
    if pa.types.is_struct(wanted):
        fields = [of_values([one[of.name] for one in values], of.type) for of in wanted]
        return pa.StructArray.from_arrays(fields, fields=list(wanted))
    if pa.types.is_list(wanted):
        lists = [one or () for one in values]
        inner = of_values([*chain.from_iterable(lists)], wanted.value_type)
        return _of_parts(wanted, lists, is_null, children=[inner])
    if pa.types.is_string(wanted):
        octets = [(one or "").encode() for one in values]
        return _of_parts(wanted, octets, is_null, [pa.py_buffer(b"".join(octets))])
    if pa.types.is_boolean(wanted):
        truths = np.array([bool(one) for one in values], np.bool_)
        packed = np.packbits(truths, bitorder="little")
        return _array(wanted, len(values), is_null, [pa.py_buffer(packed)])
    # unlike numpy's, it takes no fraction for a whole number
    known = values if is_null is None else [0 if one is None else one for one in values]
    numbers = array(_CODES[str(wanted)], known)
    return _array(wanted, len(values), is_null, [pa.py_buffer(numbers)])


def of_numbers(values: NDArray[Any], is_null: Bools | None = None) -> "pa.Array":
    """Give numpy's numbers as an array, null where `is_null` says so."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import, seldom needed

    wanted = pa.from_numpy_dtype(values.dtype)
    buffers = [pa.py_buffer(np.ascontiguousarray(values))]
    return _array(wanted, len(values), is_null, buffers)


def _of_parts(
    wanted: "pa.DataType",
    parts: Sequence[Sequence[Any]],
    is_null: Bools | None,
    buffers: "Sequence[pa.Buffer]" = (),
    children: "Sequence[pa.Array] | None" = None,
) -> "pa.Array":
    """Give an array of stretches, of so many octets or values each."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import, seldom needed

    ends = np.cumsum([0, *map(len, parts)], dtype=np.int32)
    return _array(wanted, len(parts), is_null, [pa.py_buffer(ends), *buffers], children)


def _array(
    wanted: "pa.DataType",
    n: int,
    is_null: Bools | None,
    buffers: "Sequence[pa.Buffer]",
    children: "Sequence[pa.Array] | None" = None,
) -> "pa.Array":
    import pyarrow as pa  # noqa: PLC0415 - slow to import, seldom needed

    known = None
    if is_null is not None and is_null.any():
        known = pa.py_buffer(np.packbits(~is_null, bitorder="little"))
    return pa.Array.from_buffers(wanted, n, [known, *buffers], children=children)
