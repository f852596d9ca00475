"""A worker in an interpreter of its own, over what is torch by name alone: a fork of whoever started CUDA cannot use it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from gpuassist.verify.child import fresh
from tests.rows import for_each
from tests.torch_environment import CHILD

TORCH = """
import os
__version__, born = "2.6.0", os.getpid()
class _C:
    _cuda_isInBadFork = staticmethod(lambda: {started} and os.getpid() != born)
class version:
    cuda, hip = "12.4", None
class backends:
    class cudnn:
        is_available = staticmethod(lambda: False)
class cuda:
    @staticmethod
    def init():
        raise RuntimeError("forked" if os.getpid() != born else "by itself")
"""
REQUEST = {
    "devices": ["cuda"],
    "level": "quick",
    "limits": {"start": 60.0, "gpu": 60.0, "cpu": 60.0, "compiling": 60.0, "all": 60.0},
    "scratch": "",
}


def told(folder: Path, torch: str) -> list[dict[str, Any]]:
    (folder / "torch.py").write_text(torch)
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as report:
        child = subprocess.Popen(
            [sys.executable, CHILD, str(writing), json.dumps(REQUEST)],
            pass_fds=(writing,),
            env={**os.environ, "PYTHONPATH": str(folder)},
            stderr=subprocess.DEVNULL,
        )
        os.close(writing)
        lines = [json.loads(line) for line in report]
    child.wait()
    return lines


@for_each("started, words", [("True", "by itself"), ("False", "forked")])
def test_where_cuda_was_started_each_worker_is_a_process_of_its_own(started: str, words: str, tmp_path: Path) -> None:
    folder = tmp_path / started
    folder.mkdir()
    imported, refused = told(folder, TORCH.format(started=started))
    assert (imported["type"], refused["type"], refused["stage"]) == ("imported", "error", "devices")
    assert refused["error"].endswith(words)


def test_signs_of_life_are_few() -> None:
    heard: list[str] = []
    alive = fresh.pulse(heard.append)
    for _ in range(100):
        alive()
    assert heard == ["alive"]
