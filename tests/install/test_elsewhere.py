"""What is planned where the driver is another system's: Windows' under WSL2, a Jetson's own."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from gpuassist.model.driver import Library, NvmlStatus
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.outlook import Outlook
from gpuassist.model.text import text
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from gpuassist.session.plan import parse_goal, plan_goals
from tests.cli.made_session import live_session
from tests.rows import for_each
from tests.values import GTX_1080_TI, RTX_4090, RTX_5090, Env, knowledge, machine

SESSION = live_session({})


def planned(one: Machine, *goals: str) -> Outlook:
    return plan_goals(SESSION, one, tuple(parse_goal(words, knowledge()) for words in goals))


def lines(outlook: Outlook) -> list[str]:
    return [line for step in outlook.steps for line in step.commands]


def told(outlook: Outlook) -> str:
    return " / ".join(ENGLISH(step.text) for step in outlook.steps)


def windows(driver: str, cuda: str, *gpus: str, torch: str = "", **changes: Any) -> Machine:
    environments = (Env("train", torch, active=True),)
    recipe = {"toolkits": (), "nvcc": "", "environments": environments, **changes}
    return machine(wsl=2, gpus=gpus or (RTX_4090,), driver=driver, cuda=cuda, **recipe)


WSL_UPDATE = ["wsl.exe --update", "wsl.exe --shutdown"]


@for_each(
    "case",
    [  # machine, goal, whether Windows gets another driver, words of the step
        (windows("582.28", "13.0", GTX_1080_TI), "driver", False, ""),
        (windows("581.80", "13.0", GTX_1080_TI, RTX_5090), "driver", False, ""),
        (windows("591.86", "13.1", GTX_1080_TI), "driver", True, "580.xx, 581.xx and 582.xx"),
        (windows("566.36", "12.7", RTX_4090), "driver==580", True, "580 or newer"),
        (windows("581.80", "13.0", RTX_4090), "driver==580", False, ""),
        (windows("581.80", "13.0", RTX_4090), "driver==581.80", False, ""),
        (windows("581.29", "13.0", RTX_4090), "driver==581.80", True, "581.80 or newer"),
        (windows("566.36", "12.7", RTX_5090), "driver", True, "or newer"),
        (windows("616.56", "13.4", RTX_4090), "driver", False, ""),
    ],
)
def test_windows_gets_the_driver_that_linux_numbers_otherwise(case: tuple[Machine, str, bool, str]) -> None:
    one, goal, moves, words = case
    outlook = planned(one, goal)
    assert (lines(outlook) == WSL_UPDATE, bool(outlook.steps), outlook.blocked_by) == (moves, moves, ())
    assert words in told(outlook)


@for_each(
    "case",
    [  # machine, the build that is suggested
        (windows("582.28", "13.0", GTX_1080_TI), "/whl/cu126"),
        (windows("582.28", "13.0", RTX_4090), "/whl/cu13"),
        (windows("581.80", "13.0", GTX_1080_TI, RTX_5090), "/whl/cu126"),
        (windows("566.36", "12.7", RTX_4090), "/whl/cu12"),
        (windows("622.10", "13.5", RTX_5090), "/whl/cu13"),
    ],
)
def test_torch_under_wsl_asks_for_no_driver_that_is_there(case: tuple[Machine, str]) -> None:
    one, build = case
    outlook = planned(one, "torch")
    if outlook.blocked_by:  # no build has code for both: said, and no driver is asked for
        assert build == "/whl/cu126"
        assert "driver" not in " ".join(map(ENGLISH, outlook.blocked_by))
        return
    assert build in "\n".join(lines(outlook))
    assert "wsl.exe" not in "\n".join(lines(outlook))


def with_linux_driver(one: Machine, *, answers: bool) -> Machine:
    """The libcuda of a Linux package beside that of Windows."""
    path = "/usr/lib/x86_64-linux-gnu/libcuda.so.595.45.04"
    libraries = (*value_or(one.driver.libcuda, ()), Library(path, Known(Version.parse("595.45.04"), "file name")))
    driver = replace(one.driver, libcuda=Known(libraries, "/usr/lib*/libcuda.so*"))
    if not answers:
        silent = Unknown(text("NVML does not start"))
        driver = replace(
            driver, version=silent, cuda_version=silent, nvml_status=Known(NvmlStatus(9, "NVML_ERROR_DRIVER_NOT_LOADED"), "NVML")
        )
    return replace(one, driver=driver)


@for_each("goal", ["driver", "torch"])
@for_each("answers", [True, False])
def test_linux_driver_under_wsl_goes_first(goal: str, *, answers: bool) -> None:
    outlook = planned(with_linux_driver(windows("581.80", "13.0"), answers=answers), goal)
    first = outlook.steps[0].commands
    assert first[0].startswith("sudo apt purge")
    assert first[1] == "sudo ldconfig"
    assert (outlook.blocked_by, outlook.undetermined) == ((), ())
