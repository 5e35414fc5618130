"""The script docs/examples.py, which runs what the pages show."""

import importlib.util
from functools import cache
from types import ModuleType

from tests.conftest import ROOT


@cache
def examples() -> ModuleType:
    """Import it: docs/ is no package."""
    spec = importlib.util.spec_from_file_location("examples", ROOT / "docs" / "examples.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
