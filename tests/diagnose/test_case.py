"""A machine as rules look at it: names, the driver that runs, the nvcc and the compiler that win, the torch that counts."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from gpuassist.diagnose.case import RuleInput
from gpuassist.knowledge.compatibility import DriverFit
from gpuassist.knowledge.records import ModuleFlavour
from gpuassist.model.driver import NvmlStatus
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.machine import Machine
from gpuassist.model.shell import Command
from gpuassist.model.text import text
from gpuassist.model.version import Version
from tests.facts import value
from tests.values import GTX_1080_TI, RTX_4090, RTX_5090, Env, knowledge, machine, without

UNREADABLE = Unknown(text("it could not be read"))


def _case(one: Machine | None = None, **recipe: Any) -> RuleInput:
    return RuleInput(one if one is not None else machine(**recipe), knowledge())


def _renamed(name: str, pci_id: str) -> RuleInput:
    one = machine()
    assert isinstance(one.gpus, Known)
    named = replace(one.gpus.value[0], name=Known(name, "NVML"), pci_id=Known(pci_id, "/sys"))
    unknown = replace(named, compute_capability=UNREADABLE, architecture=UNREADABLE)
    return _case(replace(one, gpus=Known((unknown,), "/sys")))


def test_card_has_the_name_that_people_use() -> None:
    assert [card.name for card in _case(gpus=(RTX_4090, GTX_1080_TI)).cards] == ["RTX 4090", "GTX 1080 Ti"]


def test_card_without_a_name_is_a_gpu() -> None:
    assert _renamed("", "10de:ffff").cards[0].name == "NVIDIA GPU"


def test_card_whose_id_is_new_is_known_by_its_name() -> None:
    card = _renamed("NVIDIA GeForce RTX 4090", "10de:ffff").cards[0]
    assert (card.chip, card.flavour) == ("AD102", ModuleFlavour.OPEN_POSSIBLE)


def test_card_that_nobody_knows_has_no_flavour() -> None:
    card = _renamed("NVIDIA Prototype", "10de:ffff").cards[0]
    assert (card.flavour, card.chip, card.architecture) == (None, "", None)


@pytest.mark.parametrize(
    ("gpu", "flavour"),
    [
        (GTX_1080_TI, ModuleFlavour.OPEN_IMPOSSIBLE),
        (RTX_4090, ModuleFlavour.OPEN_POSSIBLE),
        (RTX_5090, ModuleFlavour.OPEN_REQUIRED),
    ],
)
def test_flavour_follows_the_architecture(gpu: str, flavour: ModuleFlavour) -> None:
    assert _case(gpus=(gpu,)).cards[0].flavour is flavour


def test_loaded_module_says_which_driver_runs() -> None:
    one = machine()
    told = replace(one.driver, version=Known(Version.parse("999.1"), "NVML"))
    assert _case(replace(one, driver=told)).driver == Known(Version.parse("550.54.14"), "/proc/driver/nvidia/version")


def test_nvml_says_it_where_the_module_does_not() -> None:
    case = _case(without(machine(), ["driver.loaded"]))
    assert isinstance(case.driver, Known)
    assert "NVML" in case.driver.source


@pytest.mark.parametrize(("code", "running"), [(0, True), (18, True), (9, False), (12, False), (999, False)])
def test_nvml_tells_whether_a_driver_is_at_work(code: int, running: bool) -> None:
    one = without(machine(), ["driver.loaded"])
    assert _case(replace(one, driver=replace(one.driver, nvml_status=Known(NvmlStatus(code, "told"), "NVML")))).running is running


def test_gpu_that_the_driver_cannot_serve_is_not_usable() -> None:
    case = _case(gpus=(GTX_1080_TI, RTX_5090), driver="580.95.05", open_module=True)
    assert [card.name for card in case.usable] == ["RTX 5090"]


def test_without_a_driver_no_gpu_is_ruled_out() -> None:
    assert len(_case(gpus=(GTX_1080_TI, RTX_5090), driver="").usable) == 2


@pytest.mark.parametrize(
    ("gpu", "driver", "fit"),
    [
        (RTX_5090, "550.54.14", DriverFit.TOO_OLD),
        (GTX_1080_TI, "595.45.04", DriverFit.DROPPED),
        (RTX_4090, "550.54.14", DriverFit.FINE),
        (RTX_4090, "", DriverFit.UNKNOWN),
    ],
)
def test_driver_is_held_against_each_gpu(gpu: str, driver: str, fit: DriverFit) -> None:
    case = _case(gpus=(gpu,), driver=driver)
    assert case.fit(case.cards[0]) is fit


def test_winning_toolkit_is_the_one_whose_nvcc_is_found() -> None:
    toolkit = _case(toolkits=("11.7.99", "12.4.131"), nvcc="11.7").toolkit
    assert toolkit is not None
    assert toolkit.root == "/usr/local/cuda-11.7"


def test_wrapper_elsewhere_leads_to_its_toolkit() -> None:
    one = machine()
    assert isinstance(one.toolkits, Known)
    assert isinstance(one.shell.new_terminal, Known)
    toolkit = replace(one.toolkits.value[0], wrappers=("/usr/bin/nvcc",))
    terminal = replace(one.shell.new_terminal.value, commands=(Command("nvcc", "/usr/bin/nvcc", "/usr/bin/nvcc"),))
    changed = replace(one, toolkits=Known((toolkit,), "/usr"), shell=replace(one.shell, new_terminal=Known(terminal, "bash")))
    assert _case(changed).toolkit == toolkit


@pytest.mark.parametrize(
    ("directory", "root"),
    [
        ("/usr/local/cuda-12.4", "/usr/local/cuda-12.4"),
        ("/usr/local/cuda-12.4/", "/usr/local/cuda-12.4"),
        ("/usr/local/cuda", "/usr/local/cuda-12.4"),
        ("/usr/local/cuda-9.0", ""),
        ("", ""),
    ],
)
def test_variable_names_a_toolkit_by_directory_or_link(directory: str, root: str) -> None:
    toolkit = _case(link="12.4").toolkit_at(directory)
    assert (toolkit.root if toolkit else "") == root


def test_host_compiler_is_the_one_of_a_new_terminal() -> None:
    compiler = _case(gcc=("11.4.0", "13.3.0")).gcc
    assert compiler is not None
    assert (compiler.path, value(compiler.version)) == ("/usr/bin/g++", Version.parse("11.4.0"))


def test_no_host_compiler_where_no_terminal_could_be_asked() -> None:
    assert _case(without(machine(), ["shell.new_terminal"])).gcc is None


def _changed(section: str, **facts: object) -> Machine:
    one = machine(gpus=(GTX_1080_TI, RTX_4090))
    inner = replace(getattr(one, section), **facts)
    return replace(one, **{section: inner})


def _with_bound(*drivers: str | None) -> RuleInput:
    one = machine(gpus=(GTX_1080_TI, RTX_4090))
    assert isinstance(one.gpus, Known)
    facts = [UNREADABLE if driver is None else Known(driver, "/sys") for driver in drivers]
    gpus = [replace(gpu, kernel_driver=fact) for gpu, fact in zip(one.gpus.value, facts, strict=True)]
    return _case(replace(one, gpus=Known(tuple(gpus), "/sys")))


@pytest.mark.parametrize(
    ("fact", "place", "expected"),
    [
        (Known(0, "/proc"), "wsl", False),
        (Known(2, "/proc"), "wsl", True),
        (UNREADABLE, "wsl", False),
        (Known("docker", "/.dockerenv"), "container", "docker"),
        (UNREADABLE, "container", ""),
        (Known(True, "/proc/device-tree"), "jetson", True),
        (UNREADABLE, "jetson", False),
    ],
)
def test_place_is_special_only_where_that_was_read(fact: object, place: str, expected: object) -> None:
    assert getattr(_case(_changed("host", **{place: fact})), place) == expected


@pytest.mark.parametrize(
    ("drivers", "kept", "aside", "usable"),
    [
        (("nvidia", "nvidia"), 2, 0, 2),
        (("vfio-pci", "nvidia"), 1, 1, 1),
        (("nouveau", "nvidia"), 2, 0, 1),
        (("", "nvidia"), 2, 0, 2),
        ((None, "nvidia"), 2, 0, 2),
        (("vfio-pci", "vfio-pci"), 0, 2, 0),
    ],
)
def test_card_is_set_aside_only_for_a_virtual_machine(drivers: tuple[str | None, ...], kept: int, aside: int, usable: int) -> None:
    case = _with_bound(*drivers)
    assert (len(case.cards), len(case.set_aside), len(case.usable)) == (kept, aside, usable)


@pytest.mark.parametrize("loaded", [Known((), "/sys/module"), UNREADABLE])
def test_without_a_module_there_is_no_flavour_to_judge(loaded: object) -> None:
    case = _case(_changed("driver", loaded=loaded))
    assert case.loaded == ()
    assert isinstance(case.open_module, Unknown)


def test_module_of_unread_flavour_rules_no_card_out() -> None:
    one = machine(gpus=(GTX_1080_TI,), driver="580.95.05", open_module=True)
    assert isinstance(one.driver.loaded, Known)
    module = replace(one.driver.loaded.value[0], open_flavour=UNREADABLE)
    case = _case(replace(one, driver=replace(one.driver, loaded=Known((module,), "/sys/module"))))
    assert [card.name for card in case.usable] == ["GTX 1080 Ti"]


def test_module_of_unread_version_leaves_it_to_nvml() -> None:
    one = machine()
    assert isinstance(one.driver.loaded, Known)
    module = replace(one.driver.loaded.value[0], version=UNREADABLE)
    case = _case(replace(one, driver=replace(one.driver, loaded=Known((module,), "/sys/module"))))
    assert case.driver == one.driver.version


@pytest.mark.parametrize("real", ["/usr/local/cuda-12.4/bin/nvcc", "/usr/local/cuda-12.4/wrapped/nvcc"])
def test_nvcc_inside_a_toolkit_is_that_toolkits(real: str) -> None:
    one = machine()
    assert isinstance(one.shell.new_terminal, Known)
    terminal = replace(one.shell.new_terminal.value, commands=(Command("nvcc", real, real),))
    toolkit = _case(replace(one, shell=replace(one.shell, new_terminal=Known(terminal, "bash")))).toolkit
    assert toolkit is not None
    assert toolkit.root == "/usr/local/cuda-12.4"


def test_nvcc_that_belongs_to_nobody_has_no_toolkit() -> None:
    one = machine()
    assert isinstance(one.shell.new_terminal, Known)
    terminal = replace(one.shell.new_terminal.value, commands=(Command("nvcc", "/usr/local/cuda-12.40/bin/nvcc", "/x/nvcc"),))
    assert _case(replace(one, shell=replace(one.shell, new_terminal=Known(terminal, "bash")))).toolkit is None


def test_variables_are_empty_where_no_terminal_could_be_asked() -> None:
    case = _case(without(machine(variables={"CUDA_HOME": "/usr/local/cuda"}), ["shell.new_terminal"]))
    assert (case.variable("CUDA_HOME"), case.nvcc, case.toolkit) == ("", None, None)


def test_torch_of_the_active_environment_counts() -> None:
    case = _case(environments=(Env("a", "2.5.1+cu124"), Env("b", "2.6.0+cpu", active=True)))
    assert [one.version for one in case.torches] == ["2.6.0+cpu"]
    assert case.cuda_torches == ()


def test_all_count_where_none_is_active() -> None:
    case = _case(environments=(Env("a", "2.5.1+cu124"), Env("b", "2.6.0+cpu"), Env("c")))
    assert [one.environment.name for one in case.torches] == ["a", "b"]
    assert [one.environment.name for one in case.cuda_torches] == ["a"]


def test_active_environment_without_torch_leaves_it_to_the_others() -> None:
    case = _case(environments=(Env("a", "2.5.1+cu124"), Env("b", active=True)))
    assert [one.environment.name for one in case.torches] == ["a"]


def test_capabilities_are_each_told_once() -> None:
    assert list(map(str, _case(gpus=(RTX_4090, RTX_4090, GTX_1080_TI), driver="").capabilities)) == ["6.1", "8.9"]
