"""The one way on from an answer."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.model.fact import Known
from gpuassist.model.finding import Action, CommandUse, Remedy
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Step, StepKind
from gpuassist.model.text import text
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from gpuassist.session.explain import Basis, Explanation
from gpuassist.session.navigation import GoTo, ToHolders, ToInstall, ToRepair, WayOn, WizardStep
from gpuassist.session.plan import ANY, InstallWish
from gpuassist.ui.pages.explain.way_on import way_on
from tests.session.explained import ALONE, ANSWER, OTHER, explained, remedy

HERE = Machine(
    gpus=Known((Gpu(),), "made up"),
    toolkits=Known((Toolkit("/usr/local/cuda-12.4", version=Known(Version.parse("12.4.1"), "version.json")),), "made up"),
)
MEMORY = replace(ANSWER, id="oom-true", remedies=())


def install(key: str, parameters: dict[str, str]) -> Remedy:
    return Remedy(
        "Install it.", (CommandUse(key, tuple(parameters.items()), ("…",)),), needs_root=True, action=Action.COMMAND, check=""
    )


def lead(explanation: Explanation, machine: Machine | None = HERE, *, recorded: bool = False) -> WayOn | None:
    return way_on(explanation, machine, recorded=recorded)


@pytest.mark.parametrize("recorded", [False, True])
def test_an_installed_toolkit_leads_to_repair(recorded: bool) -> None:
    found = lead(explained(ANSWER), recorded=recorded)
    assert found is not None
    assert found.destination == ToRepair("12.4")
    assert ENGLISH(found.title) == "Switch to CUDA 12.4…"


@pytest.mark.parametrize("root", ["12.1", "11.4", "12.40.1"])
def test_a_toolkit_that_is_not_here_leads_nowhere(root: str) -> None:
    toolkit = Toolkit(f"/usr/local/cuda-{root}", version=Known(Version.parse(root), "version.json"))
    assert lead(explained(ANSWER), replace(HERE, toolkits=Known((toolkit,), "made up"))) is None


@pytest.mark.parametrize("basis", [ALONE, OTHER])
def test_a_text_that_is_not_of_this_machine_leads_nowhere(basis: Basis) -> None:
    assert lead(explained(ANSWER, basis=basis)) is None
    assert lead(explained(MEMORY, basis=basis)) is None


def test_a_machine_that_was_not_read_leads_nowhere() -> None:
    assert lead(explained(ANSWER), None) is None


def test_a_text_that_nobody_knows_leads_nowhere() -> None:
    assert lead(explained()) is None


@pytest.mark.parametrize("problem", ["oom-true", "oom-fragmentation", "gpu-memory-held-by-dead-process", "cublas-init-failed-oom"])
def test_too_little_memory_leads_to_the_live_plot(problem: str) -> None:
    found = lead(explained(replace(MEMORY, id=problem)))
    assert found is not None
    assert found.destination == GoTo(WizardStep.LIVE)


@pytest.mark.parametrize("gpus", [(), None])
def test_memory_is_not_watched_without_a_gpu(gpus: tuple[Gpu, ...] | None) -> None:
    machine = Machine() if gpus is None else Machine(gpus=Known(gpus, "made up"))
    assert lead(explained(MEMORY), machine) is None


def test_the_memory_of_a_recorded_machine_is_not_watched() -> None:
    assert lead(explained(MEMORY), recorded=True) is None


def test_an_installation_leads_to_its_plan() -> None:
    steps = (Step(StepKind.COMMAND, text("Install it.")),)
    planned = Remedy("Install it.", (), needs_root=False, action=Action.COMMAND, check="", goal="torch", steps=steps)
    found = lead(explained(replace(ANSWER, remedies=(remedy("check it first"), planned))))
    assert found is not None
    assert (ENGLISH(found.title), found.destination) == ("Plan torch…", ToInstall(InstallWish(torch=ANY)))


def test_what_no_page_does_is_copied() -> None:
    found = lead(explained(replace(ANSWER, remedies=(remedy("pip install torch", key="torch-install-default"),))))
    assert found is not None
    assert (found.destination, found.lines) == (None, ("pip install torch",))


def test_what_is_done_by_hand_leads_nowhere() -> None:
    assert lead(explained(replace(ANSWER, remedies=(remedy(),)))) is None


def test_the_first_cause_decides_and_not_what_is_easily_mended() -> None:
    found = lead(explained(MEMORY, ANSWER))
    assert found is not None
    assert found.destination == GoTo(WizardStep.LIVE)


@pytest.mark.parametrize("recorded", [False, True])
def test_memory_that_others_hold_leads_to_who_holds_it(recorded: bool) -> None:
    remedies = (install("gpu-processes", {}), install("process-end", {"pid": "39021"}))
    found = lead(explained(replace(MEMORY, id="oom-other-process", remedies=remedies)), recorded=recorded)
    assert found is not None
    assert (ENGLISH(found.title), found.destination) == ("Show GPU processes", ToHolders(39021))


def test_holders_that_come_later_leave_the_live_plot_first() -> None:
    remedies = (install("visible-devices-set", {}), install("gpu-processes", {}))
    found = lead(explained(replace(MEMORY, remedies=remedies)))
    assert found is not None
    assert found.destination == GoTo(WizardStep.LIVE)
