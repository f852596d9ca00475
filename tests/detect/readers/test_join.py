"""Several accounts of one machine become one, and where they contradict each other is kept."""

from __future__ import annotations

import pytest

from gpuassist.detect.readers import contradictions
from gpuassist.detect.readers.facts import same_name
from gpuassist.detect.readers.join import join, unite
from gpuassist.model.driver import Driver, KernelModule
from gpuassist.model.environment import PythonEnvironment, Torch
from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Host, Machine
from gpuassist.model.text import text
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from tests.detect.readers.pasted import machine, paste
from tests.facts import value


def version(words: str, line: int = 1) -> Fact[Version]:
    return Known(Version.parse(words), f"pasted text, line {line}")


def with_gpus(*gpus: Gpu) -> Machine:
    return Machine(gpus=Known(gpus, "pasted text, line 9"))


def named(name: str, index: int | None = None) -> Gpu:
    return Gpu(name=Known(name, "a"), index=Known(index, "a") if index is not None else NOT_ASKED)


def with_toolkit(root: str, number: str) -> Machine:
    return Machine(toolkits=Known((Toolkit(root, version=version(number)),), "a"))


def with_torch(*versions: str, python: str = "3.11", prefix: str = "", name: str = "python") -> Machine:
    torches = tuple(Torch("", Known(one, "a")) for one in versions)
    environment = PythonEnvironment(prefix, name, python_version=version(python), torch=Known(torches, "a"))
    return Machine(environments=Known((environment,), "a"))


def test_nothing_joined_is_an_empty_machine() -> None:
    assert join(()).machine == Machine()


def test_an_account_that_is_alone_stays_as_it_is() -> None:
    told = with_gpus(named("Tesla T4"))
    assert join((Machine(), told, Machine())).machine == told


def test_what_is_known_wins_over_what_is_not() -> None:
    first = Machine(host=Host(kernel=Unknown(text("unreadable"))))
    both = unite(first, Machine(host=Host(kernel=Known("6.8.0", "a"), wsl=Known(0, "a"))))
    assert (value(both.host.kernel), value(both.host.wsl)) == ("6.8.0", 0)


def test_the_first_of_two_that_are_known_counts() -> None:
    both = unite(Machine(driver=Driver(version=version("550.54"))), Machine(driver=Driver(version=version("535.54"))))
    assert str(value(both.driver.version)) == "550.54"


def test_a_reason_wins_over_nobody_having_asked() -> None:
    reason = Unknown(text("unreadable"))
    assert unite(Machine(host=Host(kernel=reason)), Machine(holders=Known((), "a"))).host.kernel == reason
    assert unite(Machine(holders=Known((), "a")), Machine(host=Host(kernel=reason))).host.kernel == reason


def test_facts_of_one_gpu_come_together() -> None:
    memory = Gpu(name=Known("NVIDIA A100-SXM4-40GB", "a"), memory_total_bytes=Known(1 << 35, "a"))
    (gpu,) = value(unite(with_gpus(named("A100-SXM4-40GB", 0)), with_gpus(memory)).gpus)
    assert (value(gpu.index), value(gpu.memory_total_bytes)) == (0, 1 << 35)


def test_a_name_in_full_replaces_one_cut_short() -> None:
    (gpu,) = value(
        unite(with_gpus(named("NVIDIA GeForce RTX 3080 ...", 0)), with_gpus(named("NVIDIA GeForce RTX 3080 Ti", 0))).gpus
    )
    assert value(gpu.name) == "NVIDIA GeForce RTX 3080 Ti"


def test_gpus_of_one_name_stay_as_many_as_they_are() -> None:
    first = with_gpus(named("Tesla T4", 0), named("Tesla T4", 1))
    assert len(value(unite(first, with_gpus(named("Tesla T4"))).gpus)) == 2
    assert len(value(unite(with_gpus(named("Tesla T4")), first).gpus)) == 2


def test_gpus_of_two_machines_are_not_mixed() -> None:
    both = unite(with_gpus(named("Tesla T4", 0)), with_gpus(named("NVIDIA A100-SXM4-40GB", 0), named("NVIDIA L4", 1)))
    assert [value(gpu.name) for gpu in value(both.gpus)] == ["Tesla T4"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("NVIDIA A100-SXM4-40GB", "A100-SXM4-40GB"),
        ("NVIDIA GeForce RTX 4090", "RTX 4090"),
        ("A100", "NVIDIA A100 80GB PCIe"),
        ("NVIDIA RTX 6000 Ada Gene...", "NVIDIA RTX 6000 Ada Generation"),
        ("Tesla V100-SXM2...", "Tesla V100-SXM2-32GB"),
        ("GeForce GTX 1660 Ti with Max-Q Design", "NVIDIA GeForce GTX 1660 Ti with Max-Q Design"),
        ("", "Tesla T4"),
    ],
)
def test_two_spellings_of_a_name_are_one_card(one: str, other: str) -> None:
    assert same_name(one, other)
    assert same_name(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("NVIDIA GeForce RTX 4090", "NVIDIA GeForce RTX 4080"),
        ("NVIDIA GeForce RTX 3080", "NVIDIA GeForce RTX 3080 Ti"),
        ("NVIDIA GeForce RTX 4070", "NVIDIA GeForce RTX 4070 SUPER"),
        ("NVIDIA GeForce RTX 4090", "NVIDIA GeForce RTX 4090 Laptop GPU"),
        ("NVIDIA RTX 6000 Ada Gene...", "NVIDIA RTX 5000 Ada Generation"),
        ("Tesla T4", "NVIDIA GeForce"),
    ],
)
def test_names_of_two_cards_differ(one: str, other: str) -> None:
    assert not same_name(one, other)


def test_release_and_full_version_are_one_toolkit() -> None:
    (toolkit,) = value(unite(with_toolkit("", "12.4.131"), with_toolkit("/usr/local/cuda-12.4", "12.4")).toolkits)
    assert (toolkit.root, str(value(toolkit.version))) == ("/usr/local/cuda-12.4", "12.4.131")


def test_toolkits_of_two_versions_are_two() -> None:
    assert len(value(unite(with_toolkit("", "12.4"), with_toolkit("/usr/local/cuda-11.8", "11.8")).toolkits)) == 2


def test_torch_with_and_without_its_tag_is_one() -> None:
    (environment,) = value(unite(with_torch("2.6.0"), with_torch("2.6.0+cu124")).environments)
    assert [value(one.version) for one in value(environment.torch)] == ["2.6.0+cu124"]


def test_torch_of_two_builds_is_of_two_environments() -> None:
    assert len(value(unite(with_torch("2.6.0+cpu"), with_torch("2.6.0+cu124")).environments)) == 2


def test_two_torches_of_one_environment_stay_two() -> None:
    (environment,) = value(unite(with_torch("1.3.0", "1.2.0"), with_torch("1.2.0")).environments)
    assert [value(one.version) for one in value(environment.torch)] == ["1.3.0", "1.2.0"]


def test_environments_of_two_pythons_are_two() -> None:
    assert len(value(unite(with_torch("2.6.0"), with_torch("2.6.0", python="3.12")).environments)) == 2


def test_a_named_environment_keeps_its_name() -> None:
    (environment,) = value(unite(with_torch("2.6.0"), with_torch("2.6.0", prefix="/opt/envs/llm", name="llm")).environments)
    assert (environment.name, environment.prefix) == ("llm", "/opt/envs/llm")


def test_absent_torch_is_of_another_environment() -> None:
    assert len(value(unite(with_torch("2.6.0"), with_torch()).environments)) == 2


def test_loaded_module_keeps_facts_of_both() -> None:
    first = Machine(driver=Driver(loaded=Known((KernelModule("", version("550.54.14")),), "a")))
    second = Machine(driver=Driver(loaded=Known((KernelModule("/lib/nvidia.ko", licence=Known("NVIDIA", "a")),), "a")))
    (module,) = value(unite(first, second).driver.loaded)
    assert (module.path, value(module.licence), str(value(module.version))) == ("/lib/nvidia.ko", "NVIDIA", "550.54.14")


def test_two_driver_versions_in_one_text_contradict() -> None:
    table = "| NVIDIA-SMI 550.54.14      Driver Version: 550.54.14      CUDA Version: 12.4      |\n"
    (one,) = contradictions(paste(table + "PyTorch version: 2.4.0\nNvidia driver version: 535.104.05\n"))
    assert ENGLISH(one.fact) == "the driver's version"
    assert (one.values, one.lines) == (("550.54.14", "535.104.05"), (1, 3))


def test_one_contradiction_is_told_once() -> None:
    words = "PyTorch version: 2.4.0\nNvidia driver version: {}\n"
    table = "| NVIDIA-SMI 550.54.14      Driver Version: 550.54.14      CUDA Version: 12.4      |\n"
    assert len(contradictions(paste(table + words.format("535.104.05") + words.format("535.104.05")))) == 1


def test_answers_of_nvml_contradict_by_their_names() -> None:
    table = "| NVIDIA-SMI 550.54.14      Driver Version: 550.54.14      CUDA Version: 12.4      |\n"
    (one,) = contradictions(paste(table + "Failed to initialize NVML: Unknown Error"))
    assert one.values == ("NVML_ERROR_UNKNOWN", "NVML_SUCCESS")


def test_loaded_module_and_library_of_two_versions_contradict() -> None:
    words = """
        NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.90.07  Fri May 31 09:35:42 UTC 2024
        | NVIDIA-SMI 550.107.02     Driver Version: 550.107.02     CUDA Version: 12.4      |
    """
    assert [ENGLISH(one.fact) for one in contradictions(paste(words))] == ["the loaded kernel module"]


def test_other_gpus_in_one_text_contradict() -> None:
    words = "GPU 0: Tesla T4 (UUID: GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77)\nPyTorch version: 2.4.0\nGPU 0: NVIDIA L40S\n"
    (one,) = contradictions(paste(words))
    assert one.values == ("Tesla T4", "NVIDIA L40S")
    assert [value(gpu.name) for gpu in value(machine(words).gpus)] == ["Tesla T4"]


def test_more_numbers_of_a_version_are_no_contradiction() -> None:
    words = "Nvidia driver version: 550.54\nNVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Fri"
    assert contradictions(paste(words)) == ()


def test_consistent_text_has_no_contradiction() -> None:
    table = "| NVIDIA-SMI 550.54.14  Driver Version: 550.54.14  CUDA Version: 12.4 |\n"
    assert contradictions(paste(table + "Nvidia driver version: 550.54.14")) == ()
