"""What is set up for every program, against the driver and the toolkit of a machine."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from gpuassist.diagnose.judge import judge
from gpuassist.diagnose.rules import driver, presence, shell, system_wide, toolkit
from gpuassist.model.driver import Library
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.finding import Finding
from gpuassist.model.machine import Machine
from gpuassist.model.system_wide import ContainerList, LoaderDirectory, SystemWide, ToolkitLink
from gpuassist.model.text import text
from gpuassist.model.toolkit import Origin
from gpuassist.model.version import Version
from tests.values import knowledge, machine

CUDA = "/usr/local/cuda"
RULES = (*presence.RULES, *driver.RULES, *toolkit.RULES, *system_wide.RULES, *shell.RULES)
TWO: dict[str, Any] = {"toolkits": ("12.1.105", "12.4.131")}


def _found(one: Machine, *, problem: str = "") -> list[Finding]:
    return [finding for finding in judge(one, knowledge(), RULES).findings if problem in {"", finding.problem}]


def _with(
    one: Machine,
    *,
    links: tuple[ToolkitLink, ...] = (),
    loader: tuple[LoaderDirectory, ...] = (),
    lists: tuple[ContainerList, ...] = (),
) -> Machine:
    system = SystemWide(Known(links, CUDA), Known(loader, "/etc/ld.so.conf.d"), Known(lists, "/etc/cdi"))
    return replace(one, system=system)


def _link(target: str, *, exists: bool = True, alternatives: bool = False) -> ToolkitLink:
    return ToolkitLink(CUDA, target, exists, alternatives)


def _loader(directory: str, *libraries: str) -> LoaderDirectory:
    return LoaderDirectory("/etc/ld.so.conf.d/cuda.conf", directory, directory, libraries or ("libcudart.so",))


def _list(version: str) -> ContainerList:
    return ContainerList("/etc/cdi/nvidia.yaml", Known(Version.parse(version), "/etc/cdi/nvidia.yaml"))


def _with_library(one: Machine, path: str, version: str) -> Machine:
    libraries = value_or(one.driver.libcuda, ())
    more = (*libraries, Library(path, Known(Version.parse(version), path)))
    return replace(one, driver=replace(one.driver, libcuda=Known(more, "/usr/lib*/libcuda.so*")))


def test_link_that_leads_nowhere_is_told_with_the_toolkit_that_is_there() -> None:
    (found,) = _found(_with(machine(), links=(_link("/usr/local/cuda-11.8", exists=False, alternatives=True),)))
    assert found.problem == "cuda-link-dangling"
    assert (found.parameter("better_root"), found.parameter("alternatives")) == ("/usr/local/cuda-12.4", "yes")
    assert found.parameter("used") == ""


@pytest.mark.parametrize(
    ("variables", "used"),
    [({"CUDA_HOME": CUDA}, "CUDA_HOME"), ({"PATH": f"{CUDA}/bin:/usr/bin"}, "PATH"), ({"PATH": "/usr/local/cuda-12/bin"}, "")],
)
def test_link_that_a_terminal_names_matters_more(variables: dict[str, str], used: str) -> None:
    one = _with(machine(variables=variables), links=(_link("/usr/local/cuda-11.8", exists=False),))
    (found,) = _found(one, problem="cuda-link-dangling")
    assert found.parameter("used") == used


def test_several_toolkits_say_which_one_compiles() -> None:
    (found,) = _found(_with(machine(**TWO), links=(_link("/usr/local/cuda-12.1"),)))
    assert (found.problem, found.parameter("nvcc"), found.parameter("root")) == ("several-toolkits", "12.4", "/usr/local/cuda-12.4")
    assert found.parameter("others") == "CUDA 12.1 (/usr/local/cuda-12.1)"
    assert found.parameter("link_root") == "/usr/local/cuda-12.1"


def test_link_to_the_toolkit_that_wins_is_not_worth_a_word() -> None:
    (found,) = _found(_with(machine(**TWO), links=(_link("/usr/local/cuda-12.4"),)))
    assert found.parameter("link_root") == ""


def test_loader_that_offers_another_toolkit_is_told() -> None:
    one = _with(machine(**TWO), loader=(_loader("/usr/local/cuda-12.1/lib64"),))
    (found,) = _found(one, problem="loader-cache-other-cuda")
    assert (found.parameter("other"), found.parameter("nvcc")) == ("12.1", "12.4")


@pytest.mark.parametrize(
    "directory", ["/usr/local/cuda-12.4/targets/x86_64-linux/lib", "/usr/local/cuda-11.8/lib64", "/usr/lib/cuda", "/opt/lib"]
)
def test_loader_with_the_same_or_another_major_is_sound(directory: str) -> None:
    one = _with(machine(toolkits=("11.8.89", "12.4.131")), loader=(_loader(directory),))
    assert _found(one, problem="loader-cache-other-cuda") == []


@pytest.mark.parametrize("element", [f"{CUDA}-12.8/compat", f"{CUDA}/compat/lib", f"{CUDA}-13.0/compat/"])
def test_compatibility_library_before_the_drivers_breaks_a_geforce(element: str) -> None:
    (found,) = _found(machine(variables={"LD_LIBRARY_PATH": element}), problem="cuda-compat-conflict")
    assert (found.parameter("directory"), found.parameter("gpu")) == (element, "RTX 4090")


def test_compatibility_library_of_the_loader_counts_as_well() -> None:
    one = _with(machine(), loader=(_loader(f"{CUDA}-12.8/compat", "libcuda.so"),))
    assert [found.problem for found in _found(one)] == ["cuda-compat-conflict"]


@pytest.mark.parametrize(
    "recipe",
    [
        {"gpus": ("10de:2330",), "variables": {"LD_LIBRARY_PATH": f"{CUDA}-12.8/compat"}},
        {"variables": {"LD_LIBRARY_PATH": f"{CUDA}/compat/lib"}, "missing": (f"{CUDA}/compat/lib",)},
        {"variables": {"LD_LIBRARY_PATH": "/opt/compat"}},
    ],
)
def test_compatibility_library_that_serves_or_is_not_there_is_sound(recipe: dict[str, Any]) -> None:
    assert _found(machine(**recipe), problem="cuda-compat-conflict") == []


def test_library_of_a_second_driver_is_told() -> None:
    (found,) = _found(_with_library(machine(), "/usr/lib/libcuda.so.535.54.03", "535.54.03"))
    assert (found.problem, found.parameter("stray")) == ("libcuda-twice", "/usr/lib/libcuda.so.535.54.03")


def test_second_copy_of_the_same_version_is_sound() -> None:
    assert _found(_with_library(machine(), "/usr/lib64/libcuda.so.550.54.14", "550.54.14")) == []


def test_list_for_containers_of_an_older_driver_is_stale() -> None:
    (found,) = _found(_with(machine(), lists=(_list("535.161.07"),)))
    assert (found.problem, found.parameter("listed"), found.parameter("driver")) == (
        "container-cdi-stale",
        "535.161.07",
        "550.54.14",
    )


@pytest.mark.parametrize(("recipe", "version"), [({}, "550.54.14"), ({"container": "docker"}, "535.161.07")])
def test_current_list_or_one_in_a_container_is_sound(recipe: dict[str, Any], version: str) -> None:
    assert _found(_with(machine(**recipe), lists=(_list(version),)), problem="container-cdi-stale") == []


def test_toolkit_of_the_distribution_that_shadows_a_newer_one_is_named_as_such() -> None:
    one = machine(toolkits=("11.5.119", "12.4.131"), nvcc="11.5", gpus=("10de:2204",))
    old, new = value_or(one.toolkits, ())
    packaged = replace(old, origin=Known(Origin.PACKAGE, old.root))
    (found,) = _found(replace(one, toolkits=Known((packaged, new), "/usr/local/cuda*")), problem="path-order-wrong-nvcc")
    assert found.parameter("distribution") == "yes"


STUBS = "/usr/local/cuda-12.4/lib64/stubs"


def _taken(path: str, **recipe: Any) -> Machine:
    one = machine(**recipe)
    return replace(one, driver=replace(one.driver, libcuda_taken=Known(path, "/etc/ld.so.cache")))


@pytest.mark.parametrize("recipe", [{}, {"container": "docker"}, {"wsl": 2}])
def test_library_to_which_the_loader_is_not_led_is_told(recipe: dict[str, Any]) -> None:
    one = _taken("", **recipe)
    (found,) = _found(one, problem="libcuda-not-found")
    assert found.parameter("path") == value_or(one.driver.libcuda, ())[0].path


@pytest.mark.parametrize("recipe", [{"driver": "", "libcuda": "550.54.14"}, {"libcuda": ""}])
def test_library_is_not_missed_where_another_cause_stands(recipe: dict[str, Any]) -> None:
    assert _found(_taken("", **recipe), problem="libcuda-not-found") == []


def test_stub_in_the_cache_is_told_with_the_file_that_adds_it() -> None:
    one = _with(_taken(f"{STUBS}/libcuda.so.1"), loader=(_loader(STUBS, "libcuda.so"),))
    (found,) = _found(one, problem="ld-library-path-stubs")
    assert (found.parameter("cached"), found.parameter("file")) == ("yes", "/etc/ld.so.conf.d/cuda.conf")


def test_stub_by_the_variable_is_told_once() -> None:
    one = _taken(f"{STUBS}/libcuda.so.1", variables={"LD_LIBRARY_PATH": STUBS})
    (found,) = _found(one, problem="ld-library-path-stubs")
    assert found.parameter("cached") == ""


def test_unknown_choice_of_the_loader_is_undetermined_where_somebody_asked() -> None:
    one = machine()
    told = [replace(one.driver, libcuda_taken=Unknown(text("too late"), asked)) for asked in (True, False)]
    found = [judge(replace(one, driver=driver), knowledge(), RULES).undetermined for driver in told]
    assert [[each.problem for each in each_found] for each_found in found] == [["libcuda-not-found"], []]
