"""A fresh process that explains texts and prints what each took, in milliseconds of processor time."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from gpuassist.app import compose
from gpuassist.context import Session
from gpuassist.diagnose.judge import families
from gpuassist.session.explain import explain

_MEGABYTE = 1 << 20
_CASES = Path(__file__).parent.parent / "tests" / "cases" / "texts" / "public.jsonl"
_STEP = "[2026-11-21 13:00:00] step {step:06d} of 100000, loss=0.251, lr=1e-4, eta 0:12:33, memory 12.3GB, error 0.1\n"


def main() -> None:
    """The first paste, then the others, then the long ones."""
    session = compose("en")
    families()  # the modules of the signatures are loaded, as those of the window are
    texts = [json.loads(line)["text"] for line in _CASES.read_text("utf-8").splitlines()]
    longest = max(texts, key=len)
    log = "".join(_STEP.format(step=step) for step in range(_MEGABYTE // len(_STEP))) + texts[1]
    failure = "\n".join(text for text in texts if "RuntimeError" in text)
    errors = (f"{failure}\n" * (_MEGABYTE // len(failure) + 1))[:_MEGABYTE]
    numbered = _filled(lambda turn: "".join(f"worker-{turn:x}: {line}\n" for line in failure.split("\n")))
    measured = {
        "texts": len(texts),
        "first": _milliseconds(session, longest),
        "later": max(_milliseconds(session, one) for one in texts),
        "log": _milliseconds(session, log),
        "errors": _milliseconds(session, errors),
        "numbered": _milliseconds(session, numbered),
        "reports": max(_milliseconds(session, _filled(partial(_again, one))) for one in texts if "\nPyTorch version:" in one),
    }
    sys.stdout.write(json.dumps(measured))


def _filled(piece: Callable[[int], str]) -> str:
    """A megabyte of pieces, each made for its turn."""
    made: list[str] = []
    length = 0
    while length < _MEGABYTE:
        made.append(piece(len(made)))
        length += len(made[-1])
    return "".join(made)[:_MEGABYTE]


def _again(report: str, turn: int) -> str:
    return "".join(f"{line} #{turn}\n" for line in report.split("\n"))


def _milliseconds(session: Session, words: str) -> float:
    began = time.process_time()
    explain(session, words)
    return (time.process_time() - began) * 1000


if __name__ == "__main__":
    main()
