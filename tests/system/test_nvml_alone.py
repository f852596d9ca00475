"""The binding imported by itself, without the part of the standard library that it never uses."""

from __future__ import annotations

import json
import subprocess
import sys

_PROGRAM = """
import json, sys
from gpuassist.system.nvml import ask, import_alone
import_alone()
without = "subprocess" not in sys.modules
import ctypes.util
print(json.dumps([without, "pynvml" in sys.modules, hasattr(ctypes.util, "_findLib_gcc"), type(ask("nvmlInit")).__name__]))
"""


def _run(before: str = "") -> list[object]:
    done = subprocess.run([sys.executable, "-c", before + _PROGRAM], capture_output=True, text=True, timeout=100, check=True)
    answers: list[object] = json.loads(done.stdout)
    return answers


def test_binding_comes_without_what_it_never_calls() -> None:
    assert _run()[:2] == [True, True]


def test_real_module_is_there_for_everybody_else() -> None:
    assert _run()[2] is True


def test_binding_answers_or_refuses_as_ever() -> None:
    assert _run()[3] in {"Refusal", "NoneType"}


def test_module_that_is_imported_already_is_left_alone() -> None:
    assert _run("import ctypes.util\n")[1:3] == [False, True]
