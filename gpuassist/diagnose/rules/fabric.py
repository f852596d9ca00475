"""Are the GPUs of a server's baseboard joined: do the switches between them have the service that sets them up?"""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.verdicts import Verdict, finding, proof, undetermined
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.finding import Passed
from gpuassist.model.text import text, verbatim

_COMPLETED = "completed"


def fabric_is_ready(case: RuleInput) -> Iterator[Verdict]:
    """Until Fabric Manager, of exactly the driver's version, has set up the switches, CUDA does not start (error 802)."""
    board = case.baseboard
    if board is None or case.wsl or case.container or not case.loaded or isinstance(case.driver, Unknown):
        return
    driver = case.machine.driver
    states = [card.gpu.fabric for card in case.usable if value_or(card.gpu.fabric, "")]
    waiting = [state for state in states if value_or(state, "") != _COMPLETED]
    runs, version, program = driver.fabric_running, driver.fabric_version, driver.fabric_manager
    stopped = isinstance(runs, Known) and not runs.value
    differs = isinstance(version, Known) and version.value != case.driver.value
    missing = isinstance(program, Known) and not program.value
    if states and not waiting:
        yield Passed(text("NVSwitches are set up"))
    elif waiting or stopped or differs:
        yield finding(
            "fabric-manager-not-running",
            *(proof(text("GPUs and NVSwitches"), state, verbatim(value_or(state, ""))) for state in waiting[:1]),
            proof(text("Fabric Manager"), program, text("none")) if missing else None,
            proof(text("Fabric Manager runs"), runs, text("no")) if stopped and not missing else None,
            proof(text("version of Fabric Manager"), version) if differs else None,
            proof(text("driver"), case.driver),
            driver=str(case.driver.value),
            branch=str(case.driver.value.major),
            board=board.name,
            missing="yes" if missing else "",
            other=str(value_or(version, "")) if differs else "",
            subnet="yes" if board.subnet_manager else "",
        )
    elif runs.is_true:
        yield Passed(text("Fabric Manager runs"))
    else:
        label = text("whether Fabric Manager runs, for which the NVSwitches of {board} wait", board=board.name)
        yield from undetermined("fabric-manager-not-running", label, runs)


RULES = (fabric_is_ready,)
