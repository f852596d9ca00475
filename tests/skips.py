"""Which tests may skip: everywhere else a missing program is said and forgiven, in CI one that nobody listed fails the run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_LIST = Path(__file__).with_name("allowed_skips.txt")
_ASKED_FOR = "GPUASSIST_SKIPS"  # `listed` where .ci/run starts the suite


def reasons() -> tuple[str, ...]:
    """How a reason may begin."""
    return tuple(line for line in _LIST.read_text("utf-8").splitlines() if line and not line.startswith("#"))


def hold_to_the_list(config: pytest.Config) -> None:
    """Registers the check where it was asked for, once: workers of pytest-xdist report to the process that started them."""
    if os.environ.get(_ASKED_FOR) == "listed" and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_OnlyListed(reasons()))


class _OnlyListed:
    def __init__(self, allowed: tuple[str, ...]) -> None:
        self._allowed = allowed
        self._others: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._note(report)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._others and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for one in self._others:
            terminalreporter.write_line(f"SKIPPED FOR NO REASON IN {_LIST.name}: {one}", red=True)

    def _note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.skipped and isinstance(report.longrepr, tuple):
            reason = report.longrepr[2].removeprefix("Skipped: ")
            if not reason.startswith(self._allowed):
                self._others.append(f"{report.nodeid}: {reason}")
