"""A board whose every answer a test decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpuassist.monitor.remote import Addresses, Answer

MIB = 1 << 20
LOST = {"code": 15, "name": "NVML_ERROR_GPU_IS_LOST", "words": "GPU is lost"}


class Answers:
    """Gives one after the other, the last one for ever; remembers what was wanted."""

    def __init__(self, answers: Sequence[Answer]) -> None:
        self.answers: list[Answer] = list(answers)
        self.wanted: list[tuple[str, ...]] = []
        self.closed = 0
        self.waited = 0.0

    def read(self, _addresses: Addresses, wanted: Sequence[str] = ()) -> Answer:
        self.wanted.append(tuple(wanted))
        if not self.answers:
            return {"gpus": [], "events": []}
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def close(self) -> None:
        self.closed += 1

    def interrupt(self) -> None:
        """Nothing waits here."""


def told(*gpus: Mapping[str, Any], events: Sequence[Sequence[int]] = ()) -> Mapping[str, Any]:
    return {"gpus": list(gpus), "events": list(events)}


def card(index: int = 0, **figures: Any) -> dict[str, Any]:
    """An idle GPU as a board tells of it, its name by its index unless another is given."""
    idle = {"name": f"GPU {index}", "uuid": f"GPU-{index}", "memory": [1000 * MIB, 100 * MIB, 900 * MIB], "percent": 0}
    return {"index": index, **idle, "celsius": 40, "milliwatts": 50_000, "reasons": 0, "processes": [], **figures}
