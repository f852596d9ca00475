"""Asks NVML in a child of our own that is killed when it hangs; what it said until then is kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, cast

from msgspec import Struct

from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.json_reader import NotJsonError, read_json
from gpuassist.model.text import Text, text
from gpuassist.system import nvml_report, nvml_sense
from gpuassist.system.nvml import GPUS_AT_MOST, Refusal
from gpuassist.system.own_child import clean, own_child
from gpuassist.system.processes import Ending, Processes

HIDDEN_ARGUMENT = "--nvml-report"  # a frozen gpuassist has no interpreter to start: it starts itself with this
SECONDS = 5.0
CRASHES = {4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 11: "SIGSEGV"}

Key = tuple[int | None, str]


class Report(Struct, frozen=True):
    """NVML's answers by device (None: of the whole system) and question; `silence` says why one that is missing is.

    `hung` is true where the child had to be killed, `crash` the signal that ended it otherwise.
    """

    answers: Mapping[Key, Any]
    silence: Text
    hung: bool = False
    crash: str = ""

    def fact(self, question: str, gpu: int | None = None) -> Fact[Any]:
        """The answer to a question of `system.nvml_report`, or why there is none."""
        if (gpu, question) not in self.answers:
            return Unknown(self._reason(question, gpu))
        answer = self.answers[gpu, question]
        if isinstance(answer, Refusal):
            return Unknown(_refused(question, answer))
        return Known(answer, f"NVML {question}")

    @property
    def started(self) -> Fact[int]:
        """The code of nvmlInit, 0 where it succeeded."""
        answer = self.answers.get((None, nvml_report.INIT))
        if isinstance(answer, Refusal):
            return Known(answer.code, f"NVML {nvml_report.INIT}")
        return self.fact(nvml_report.INIT)

    def _reason(self, question: str, gpu: int | None) -> Text:
        for earlier in ((None, nvml_report.INIT), (gpu, nvml_report.HANDLE)):
            answer = self.answers.get(earlier)
            if isinstance(answer, Refusal):
                return _refused(earlier[1], answer)
        return text("NVML did not answer {question}: {why}", question=question, why=self.silence)


def report(processes: Processes, variables: Mapping[str, str], seconds: float = SECONDS) -> Report:
    """Runs the child for at most `seconds` in an environment of those variables."""
    outcome = processes.run(command(), seconds=seconds, environment=clean(variables))
    if outcome.ending is Ending.TIMED_OUT:
        silence = text("nothing more came within {seconds:.0f} s, so the driver may hang", seconds=seconds)
    elif outcome.ending is Ending.KILLED:
        silence = text("the process that asks it was ended by signal {signal}", signal=outcome.status)
    elif outcome.ending is Ending.EXITED and outcome.status == 0:
        silence = text("it was not asked")
    else:
        words = outcome.words or outcome.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        silence = text("the process that asks it failed ({words})", words=words or str(outcome.status))
    # Signals of a crash alone: a child that somebody ended says nothing of the library.
    crash = CRASHES.get(outcome.status, "") if outcome.ending is Ending.KILLED else ""
    return Report(_answers(outcome.text), silence, outcome.ending is Ending.TIMED_OUT, crash)


def command() -> tuple[str, ...]:
    return own_child("gpuassist.system.nvml_report", HIDDEN_ARGUMENT)


def _answers(output: str) -> dict[Key, Any]:
    answers: dict[Key, Any] = {}
    for words in output.splitlines():
        try:
            line = read_json(words)
        except NotJsonError:  # a library that prints, or the line that was cut when the child was killed
            continue
        if not isinstance(line, dict):
            continue
        gpu, fact = line.get("gpu"), line.get("fact")
        if not isinstance(fact, str) or not (gpu is None or (_is_number(gpu) and 0 <= gpu < GPUS_AT_MOST)):
            continue
        # The library may print anything on the child's output: a line must have the shape of an answer to that question.
        code, value = line.get("code"), line.get("value")
        if "code" not in line and _SHAPES.get(fact, _is_number)(value):
            answers[gpu, fact] = value
        elif _is_number(code):
            answers[gpu, fact] = Refusal(cast(int, code), str(line.get("name", "")), str(line.get("words", "")))
    return answers


def _is_number(told: object) -> bool:
    return isinstance(told, int) and not isinstance(told, bool)


def _is_text(told: object) -> bool:
    return isinstance(told, str)


def _is_memory(told: object) -> bool:
    return isinstance(told, dict) and all(_is_number(told.get(name)) for name in ("total", "used", "free"))


def _is_place(told: object) -> bool:
    if not isinstance(told, dict) or not isinstance(told.get("id"), str) or not isinstance(told.get("address"), str):
        return False
    return _ADDRESS.fullmatch(told["address"]) is not None


def _is_capability(told: object) -> bool:
    return isinstance(told, list) and len(told) == len(("major", "minor")) and all(map(_is_number, told))


def _is_process(told: object) -> bool:
    if not isinstance(told, list) or len(told) != len(("pid", "kind", "memory")):
        return False
    return _is_number(told[0]) and isinstance(told[1], str) and (told[2] is None or _is_number(told[2]))


_ADDRESS = re.compile(r"[0-9A-Fa-f]{1,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]")
_SHAPES: dict[str, Callable[[object], bool]] = {
    nvml_report.SYSTEM[0]: _is_text,
    nvml_report.LIBRARY_VERSION: _is_text,
    nvml_report.LIBRARY: _is_text,
    nvml_report.COUNT: lambda told: _is_number(told) and 0 <= cast(int, told) <= GPUS_AT_MOST,
    "nvmlDeviceGetName": _is_text,
    "nvmlDeviceGetUUID": _is_text,
    "nvmlDeviceGetCudaComputeCapability": _is_capability,
    nvml_report.PCI: _is_place,
    nvml_report.MEMORY: _is_memory,
    nvml_report.MIG_MODE: lambda told: isinstance(told, bool),
    nvml_report.MIG_DEVICES: lambda told: isinstance(told, list) and all(map(_is_text, told)),
    nvml_report.PROCESSES: lambda told: isinstance(told, list) and all(map(_is_process, told)),
}


def _refused(question: str, refusal: Refusal) -> Text:
    return nvml_sense.nonsense(refusal) or text(
        "NVML refused {question}: {name} ({code}, {words})",
        question=question,
        name=refusal.name,
        code=refusal.code,
        words=refusal.words,
    )
