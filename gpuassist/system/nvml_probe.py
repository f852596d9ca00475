"""Asks NVML in a child of our own that is killed when it hangs; what it said until then is kept."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.text import Text, text
from gpuassist.system import nvml_report, nvml_sense
from gpuassist.system.nvml import Refusal
from gpuassist.system.processes import Ending, Outcome, Processes, clean

HIDDEN_ARGUMENT = "--nvml-report"  # a frozen gpuassist has no interpreter to start: it starts itself with this
SECONDS = 5.0
_SCRIPT = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from gpuassist.system.nvml_report import main; sys.exit(main())"
_HOME = Path(__file__).resolve().parents[2]

CRASHES = {4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 11: "SIGSEGV"}

Key = tuple[int | None, str]


@dataclass(frozen=True, slots=True)
class Report:
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
    return Report(_answers(outcome.text), _silence(outcome, seconds), outcome.ending is Ending.TIMED_OUT, _crash(outcome))


def command() -> tuple[str, ...]:
    """The child's command line; isolated, but with the very modules that this process would find."""
    if getattr(sys, "frozen", False):
        return (sys.executable, HIDDEN_ARGUMENT)
    # An empty entry is the directory that Python was started in: nothing of ours lies there.
    return (sys.executable, "-I", "-c", _SCRIPT, json.dumps([*filter(None, sys.path), str(_HOME)]))


def _answers(output: str) -> dict[Key, Any]:
    answers: dict[Key, Any] = {}
    for words in output.splitlines():
        try:
            line = json.loads(words)
        except ValueError:  # a library that prints, or the line that was cut when the child was killed
            continue
        if isinstance(line, dict) and "fact" in line:
            answers[line.get("gpu"), cast(str, line["fact"])] = _answer(line)
    return answers


def _answer(line: Mapping[str, Any]) -> Any:
    if "code" in line:
        return Refusal(int(line["code"]), str(line.get("name", "")), str(line.get("words", "")))
    return line.get("value")


def _refused(question: str, refusal: Refusal) -> Text:
    return nvml_sense.nonsense(refusal) or text(
        "NVML refused {question}: {name} ({code}, {words})",
        question=question,
        name=refusal.name,
        code=refusal.code,
        words=refusal.words,
    )


def _crash(outcome: Outcome) -> str:
    """Signals of a crash alone: a child that somebody ended says nothing of the library."""
    return CRASHES.get(outcome.status, "") if outcome.ending is Ending.KILLED else ""


def _silence(outcome: Outcome, seconds: float) -> Text:
    if outcome.ending is Ending.TIMED_OUT:
        return text("nothing more came within {seconds:.0f} s, so the driver may hang", seconds=seconds)
    if outcome.ending is Ending.KILLED:
        return text("the process that asks it was ended by signal {signal}", signal=outcome.status)
    if outcome.ending is Ending.EXITED and outcome.status == 0:
        return text("it was not asked")
    words = outcome.words or outcome.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return text("the process that asks it failed ({words})", words=words or str(outcome.status))
