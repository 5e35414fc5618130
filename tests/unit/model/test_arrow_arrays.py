"""Arrow arrays made by their buffers: those that pyarrow makes, without what it imports."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcaplat.tables.arrow_arrays import of_numbers, of_values
from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

WHOLE = st.integers(-(2**63), 2**63 - 1)
FRACTIONS = st.floats(allow_nan=False)
STEP = st.fixed_dictionaries({"t_ns": WHOLE, "step_ns": FRACTIONS})
TYPES = [
    (pa.int64(), WHOLE),
    (pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    (pa.float64(), FRACTIONS),
    (pa.string(), st.text()),
    (pa.bool_(), st.booleans()),
    (pa.list_(pa.int64()), st.lists(WHOLE, max_size=4)),
    (pa.list_(pa.float64()), st.lists(FRACTIONS, max_size=4)),
    (
        pa.list_(pa.struct({"t_ns": pa.int64(), "step_ns": pa.float64()})),
        st.lists(STEP, max_size=3),
    ),
]


@pytest.mark.parametrize(("wanted", "values"), TYPES)
@given(data=st.data())
def test_values_are_what_pyarrow_makes_of_them(
    wanted: pa.DataType, values: st.SearchStrategy[Any], data: st.DataObject
) -> None:
    given = data.draw(st.lists(st.none() | values, max_size=20))
    found = of_values(given, wanted)
    found.validate(full=True)
    assert found.equals(pa.array(given, wanted))


@pytest.mark.parametrize("kind", ["i8", "i4", "f8"])
def test_numbers_of_a_column_among_others_are_what_pyarrow_makes_of_them(kind: str) -> None:
    rows = np.zeros(100, dtype=[("before", "i8"), ("number", kind)])
    rows["number"] = np.arange(100)
    is_null = np.arange(100) % 7 == 3
    found = of_numbers(rows["number"], is_null)
    assert found.equals(pa.array(np.ascontiguousarray(rows["number"]), mask=is_null))
    assert of_numbers(rows["number"]).to_pylist() == list(range(100))


def test_a_fraction_is_no_whole_number() -> None:
    with pytest.raises(TypeError):
        of_values([1, 1.5], pa.int64())


def test_writing_tables_imports_no_pandas(tmp_path: Path) -> None:
    """It is no part of pcaplat, and takes 45 MB where it is installed for others."""
    pytest.importorskip("pandas")
    captures = [str(one) for one in sorted((ROOT / "samples" / "vxlan").glob("*.pcap"))]
    code = f"""
import sys, pcaplat
with pcaplat.merge({captures}, same_clock=["all"]) as result:
    pcaplat.write(result, {str(tmp_path / "out")!r})
assert "pandas" not in sys.modules
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=120)
