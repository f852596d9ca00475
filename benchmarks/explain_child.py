"""A fresh process that explains texts and prints what each took, in milliseconds of processor time."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from gpuassist.app import compose
from gpuassist.diagnose.recognise import families
from gpuassist.session.context import Session
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
    measured = {
        "texts": len(texts),
        "first": _milliseconds(session, longest),
        "later": max(_milliseconds(session, one) for one in texts),
        "log": _milliseconds(session, log),
        "errors": _milliseconds(session, errors),
    }
    sys.stdout.write(json.dumps(measured))


def _milliseconds(session: Session, words: str) -> float:
    began = time.process_time()
    explain(session, words)
    return (time.process_time() - began) * 1000


if __name__ == "__main__":
    main()
