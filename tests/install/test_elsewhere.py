"""What is planned where the driver is another system's: Windows' under WSL2, a Jetson's own."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from gpuassist.diagnose.catalogue import Catalogue
from gpuassist.diagnose.judge import judge
from gpuassist.install.drivers.packages import surroundings_of
from gpuassist.knowledge.families import families_of
from gpuassist.model.driver import Library, NvmlStatus
from gpuassist.model.environment import Accelerator, Torch
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.outlook import Outlook
from gpuassist.model.text import text
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from gpuassist.session.plan import parse_goal, plan_goals
from gpuassist.system.resources import Resources
from tests.cli.made_session import live_session
from tests.plans import machine_of
from tests.rows import for_each
from tests.values import GTX_1080_TI, RTX_4090, RTX_5090, Env, knowledge, machine

SESSION = live_session({})
CATALOGUE = Catalogue(Resources().read, knowledge().commands)


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


def jetson(gpu: str, driver: str, cuda: str, system: str, *, torch: str = "", python: str = "3.10", **facts: Any) -> Machine:
    """A board as its own tools describe it."""
    case = {
        "machine": {
            "toolkits": [],
            "nvcc": "",
            "gpus": [gpu],
            "architecture": "aarch64",
            "jetson": True,
            "driver": driver,
            "cuda": cuda,
            "distribution": f"ubuntu {system}",
            "open_module": True,
            "environments": [{"name": "train", "torch": torch, "python": python, "active": True}],
        }
    }
    one = machine_of(case)
    return replace(one, host=replace(one.host, **{name: Known(value, "a file") for name, value in facts.items()}))


ORIN, THOR, XAVIER = "Jetson AGX Orin", "Jetson AGX Thor", "Jetson AGX Xavier"
JETPACK_5 = jetson(ORIN, "35.4.1", "11.4", "20.04", python="3.8")
JETPACK_6 = jetson(ORIN, "540.4.0", "12.6", "22.04")
JETPACK_7 = jetson(THOR, "580.00", "13.0", "24.04", python="3.12")
BOARDS = {
    "JetPack 5": JETPACK_5,
    "JetPack 5, Xavier": jetson(XAVIER, "35.4.1", "11.4", "20.04", python="3.8"),
    "JetPack 6.0": jetson(ORIN, "540.3.0", "12.2", "22.04"),
    "JetPack 6": JETPACK_6,
    "JetPack 6, by Jetson Linux alone": jetson(ORIN, "", "12.6", "22.04", l4t="36.4.3"),
    "JetPack 7": JETPACK_7,
    "JetPack 7.2, Thor": jetson(THOR, "595.21", "13.2", "24.04", python="3.12"),
    "JetPack 7.2, Orin": jetson(ORIN, "595.21", "13.2", "24.04", python="3.12"),
}
OF_JETPACK_5 = "developer.download.nvidia.com/compute/redist/jp/v512/pytorch/torch-2.1.0"
PYTORCHS = "download.pytorch.org/whl/cu13"


@for_each(
    "case",
    [
        ("JetPack 5", OF_JETPACK_5),
        ("JetPack 5, Xavier", OF_JETPACK_5),
        ("JetPack 6.0", "pypi.jetson-ai-lab.io/jp6/cu126"),
        ("JetPack 6", "pypi.jetson-ai-lab.io/jp6/cu126"),
        ("JetPack 7", PYTORCHS),
        ("JetPack 7.2, Thor", PYTORCHS),
        ("JetPack 7.2, Orin", PYTORCHS),
    ],
)
def test_torch_of_a_jetson_is_that_of_its_system(case: tuple[str, str]) -> None:
    name, words = case
    outlook = planned(BOARDS[name], "torch")
    assert words in "\n".join(lines(outlook)), outlook.blocked_by
    assert not any(step.needs_root for step in outlook.steps)


@for_each("name", [name for name in BOARDS if "alone" not in name])
def test_driver_of_a_jetson_stays(name: str) -> None:
    assert lines(planned(BOARDS[name], "driver")) == []
    pinned = planned(BOARDS[name], "driver==570")
    assert (pinned.steps, bool(pinned.blocked_by)) == ((), True)


@for_each(
    "case",
    [("JetPack 5", "11-4"), ("JetPack 6.0", "12-2"), ("JetPack 6", "12-6"), ("JetPack 7", "13-0"), ("JetPack 7.2, Orin", "13-2")],
)
def test_toolkit_of_a_jetson_is_that_of_its_system(case: tuple[str, str]) -> None:
    name, release = case
    assert lines(planned(BOARDS[name], "cuda"))[0] == f"sudo apt install cuda-toolkit-{release}"


@for_each("case", [("JetPack 7", "cuda==12.8"), ("JetPack 6", "cuda==12.8"), ("JetPack 7", "cuda==13.2")])
def test_jetpack_has_no_other_toolkit(case: tuple[str, str]) -> None:
    name, goal = case
    assert not [line for line in lines(planned(BOARDS[name], goal)) if "apt" in line]


@for_each(
    "case",
    [  # the torch of an environment, and what doctor says of it
        (JETPACK_6, "2.13.0+cu130", ["torch-needs-newer-jetpack"]),
        (JETPACK_5, "2.7.1+cu126", ["torch-needs-newer-jetpack"]),
        (JETPACK_6, "2.9.1+cpu", ["torch-cpu-only"]),
        (JETPACK_7, "2.13.0+cu130", []),
    ],
)
def test_torch_of_another_system_leads_to_no_driver(case: tuple[Machine, str, list[str]]) -> None:
    board, torch, problems = case
    one = with_torch_in(board, torch)
    report = judge(one, knowledge())
    assert [each.problem for each in report.findings if each.problem != "torch-lacks-sm"] == problems
    for finding in report.findings:
        answer = CATALOGUE.answer(finding, families=families_of(one), words=ENGLISH, surroundings=surroundings_of(one))
        said = "\n".join(line for remedy in answer.remedies for use in remedy.commands for line in use.lines)
        assert "driver" not in said
        assert "apt" not in said
    assert not any("driver" in line for line in lines(planned(one, "torch")))


def with_torch_in(one: Machine, torch: str) -> Machine:
    (environment,) = value_or(one.environments, ())
    build = next(each for each in knowledge().torch_builds(Version.parse(torch)) if each.tag == torch.partition("+")[2])
    made = Torch(
        "/home/you/train/torch",
        Known(torch, "a file"),
        Known(Accelerator.CUDA if build.cuda else Accelerator.CPU, "a file"),
        Known(build.cuda, "a file") if build.cuda else Unknown(text("built for no CUDA")),
        Known(build.targets, "a file"),
        Known("pip", "a file"),
    )
    return replace(one, environments=Known((replace(environment, torch=Known((made,), "a file")),), "a file"))
