"""What holds for every row of some data, as one test: a case a row costs more than most rows, and 20,000 of them half a minute
before the first one runs.
"""

from __future__ import annotations

import inspect
import os
import reprlib
import traceback
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import pytest

EVERY_ROW = os.environ.get("GPUASSIST_ROWS") == "all"  # `make sweep` sets it
_SHOWN = reprlib.Repr()
_SHOWN.maxstring = _SHOWN.maxother = 120


def for_each(
    names: str | tuple[str, ...], rows: Iterable[Any] | Callable[[], Iterable[Any]], *, every: int = 1
) -> Callable[[Callable[..., None]], Any]:
    """Takes what `pytest.mark.parametrize` takes, runs the test for every row whatever came of the others, tells each that fails.

    For tests that leave nothing behind: the fixtures are those of one test. `rows` that have to be read or made come from a
    function, which is called when the test runs. With `every`, for rows that take seconds together and seldom fail alone, the suite
    runs each third or fourth of them, and `make sweep` all.
    """
    wanted = tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else names
    single = isinstance(names, str) and len(wanted) == 1
    given = rows if callable(rows) else tuple(rows)

    def over_all(test: Callable[..., None]) -> Any:
        @wraps(test)
        def run(**fixtures: Any) -> None:
            made = tuple(given() if callable(given) else given)
            assert made, "no rows"
            made = made if EVERY_ROW else made[::every]
            told = [words for row in made if (words := _failure(test, fixtures, wanted, (row,) if single else row))]
            if told:
                pytest.fail(f"{len(told)} of {len(made)} rows\n" + "\n".join(told), pytrace=False)

        asked = inspect.signature(test)
        left = [parameter for name, parameter in asked.parameters.items() if name not in wanted]
        vars(run)["__signature__"] = asked.replace(parameters=left)
        return run

    return over_all


def _failure(test: Callable[..., None], fixtures: dict[str, Any], names: tuple[str, ...], row: tuple[Any, ...]) -> str:
    values = dict(zip(names, row, strict=True))
    try:
        test(**fixtures, **values)
    except Exception:  # noqa: BLE001 -- whatever it is belongs to this row, and the others are looked at all the same
        shown = ", ".join(f"{name}={_SHOWN.repr(value)}" for name, value in values.items())
        return f"{shown}\n{traceback.format_exc()}"
    return ""
