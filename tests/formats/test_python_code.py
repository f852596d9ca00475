"""Python that somebody else wrote: read, never run, never complained of."""

from __future__ import annotations

import ast
import warnings

import pytest

from gpuassist.formats.torch import parsed


def test_statements_are_read() -> None:
    tree = parsed("x = 1\nprint(x)\n")
    assert isinstance(tree, ast.Module)
    assert len(tree.body) == 2


@pytest.mark.parametrize("source", ["x =", "(" * 3000, "-" * 100_000 + "1", "a." * 50_000 + "b", "\0", "\ud800", "9" * 5000])
def test_what_is_none_or_too_much_is_none(source: str) -> None:
    assert parsed(source) is None


@pytest.mark.parametrize("source", ["x = 1if y else 2", "x = '\\d'", "assert (x, 'y')", "x = 5 is 5"])
def test_odd_python_warns_nobody(source: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert parsed(source) is not None
