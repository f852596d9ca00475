"""A machine in words: every shape that a fact can have has its sentence, and unknown ones keep their reason."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from gpuassist.model.chain import Status
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.gpu import Gpu, PcieLink, Recovery
from gpuassist.model.machine import Machine
from gpuassist.model.text import Text, text
from gpuassist.model.words import ENGLISH
from gpuassist.present.overview import (
    GpuCard,
    driver_version,
    first_nvcc,
    gibibytes,
    gpu_cards,
    host_words,
    line,
    short_name,
    software_lines,
    title,
)
from tests.values import FEDORA, GTX_1080_TI, RTX_5090, machine

GIB = 1 << 30
DENIED = Unknown(text("permission denied"))


def table(lines: tuple[Any, ...]) -> dict[str, str]:
    """Rows as label and value."""
    return {ENGLISH(one.label): ENGLISH(one.value) for one in lines}


def card(of: Machine, place: int = 0) -> GpuCard:
    """The card of one GPU."""
    return gpu_cards(of)[place]


def with_gpu(**changes: Any) -> Machine:
    """A machine with one GPU that differs."""
    made = machine()
    assert isinstance(made.gpus, Known)
    return replace(made, gpus=Known((replace(made.gpus.value[0], **changes),), made.gpus.source))


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (machine(), "RTX 4090, driver 550, one toolkit"),
        (machine(gpus=(GTX_1080_TI, RTX_5090), driver="580.95.05"), "Two NVIDIA GPUs, driver 580, one toolkit"),
        (machine(gpus=(RTX_5090,) * 8), "8 NVIDIA GPUs, driver 550, one toolkit"),
        (machine(toolkits=("11.7.99", "12.4.131")), "RTX 4090, driver 550, two toolkits"),
        (machine(toolkits=("11.7.99", "12.4.131", "12.8.1")), "RTX 4090, driver 550, 3 toolkits"),
        (machine(toolkits=(), nvcc=""), "RTX 4090, driver 550"),
        (machine(gpus=(), driver=""), "No NVIDIA GPU, no driver, one toolkit"),
        (machine(driver="", bound="nouveau", toolkits=(), nvcc=""), "RTX 4090, nouveau instead of NVIDIA's driver"),
    ],
)
def test_the_title_names_gpus_driver_and_toolkits(made: Machine, words: str) -> None:
    assert ENGLISH(title(made)) == words


def test_a_title_of_nothing_known_says_so() -> None:
    assert ENGLISH(title(Machine())) == "The GPUs could not be read, driver not known"


def test_a_nameless_gpu_is_counted() -> None:
    assert ENGLISH(title(with_gpu(name=DENIED))).startswith("One NVIDIA GPU, ")


@pytest.mark.parametrize(
    ("name", "short"),
    [("NVIDIA GeForce RTX 4090", "RTX 4090"), ("NVIDIA A100-SXM4-80GB", "A100-SXM4-80GB"), ("Tesla T4", "Tesla T4"), ("", "")],
)
def test_names_lose_what_all_share(name: str, short: str) -> None:
    assert short_name(name) == short


def test_a_working_gpu_is_ready() -> None:
    made = card(machine())
    assert (made.status, ENGLISH(made.state)) == (Status.RIGHT, "ready")
    assert ENGLISH(made.subtitle) == "GPU 0 · 0000:01:00.0"


def test_a_sleeping_gpu_was_not_woken() -> None:
    made = card(machine(asleep=True))
    assert (made.status, ENGLISH(made.state)) == (Status.UNKNOWN, "asleep, not woken")


def test_a_gpu_under_nouveau_names_it() -> None:
    made = card(machine(driver="", bound="nouveau"))
    assert (made.status, ENGLISH(made.state)) == (Status.PROBLEM, "driven by nouveau")


def test_a_gpu_without_a_driver_says_so() -> None:
    made = card(machine(driver=""))
    assert (made.status, ENGLISH(made.state)) == (Status.PROBLEM, "no driver")


def test_a_gpu_that_nvml_leaves_out_is_a_problem() -> None:
    made = card(machine(gpus=(GTX_1080_TI, RTX_5090), driver="580.95.05", dead=(GTX_1080_TI,)))
    assert (made.status, ENGLISH(made.state)) == (Status.PROBLEM, "not used by the loaded driver")


def test_a_gpu_that_is_lost_or_was_not_started_is_told_as_the_chain_tells_it() -> None:
    for recovery, status, state in (
        (Recovery.POWER_CYCLE, Status.PROBLEM, "the driver no longer reaches this GPU"),
        (Recovery.START, Status.UNKNOWN, "the driver does not list this GPU"),
    ):
        two = machine(
            gpus=(GTX_1080_TI, RTX_5090), driver="580.95.05", dead=(RTX_5090,), told={"recovery": (Recovery.NONE, recovery)}
        )
        made = gpu_cards(two)[1]
        assert (made.status, ENGLISH(made.state)) == (status, state)
    alone = card(machine(gpus=(RTX_5090,), driver="580.95.05", dead=(RTX_5090,), told={"recovery": (Recovery.START,)}))
    assert (alone.status, ENGLISH(alone.state)) == (Status.PROBLEM, "the driver does not list this GPU")


def test_a_gpu_that_nothing_was_asked_of_is_unknown() -> None:
    made = card(Machine(gpus=Known((Gpu(pci_id=Known("10de:2684", "sysfs")),), "sysfs")))
    assert (made.status, ENGLISH(made.title)) == (Status.UNKNOWN, "NVIDIA GPU 10de:2684")


def test_a_bound_gpu_without_nvml_is_not_readable() -> None:
    bound = Gpu(kernel_driver=Known("nvidia", "sysfs"))
    assert ENGLISH(card(Machine(gpus=Known((bound,), "sysfs"))).state) == "not readable"


def test_the_card_says_architecture_and_capability() -> None:
    assert table(card(machine()).lines)["Architecture"] == "Ada Lovelace, compute capability 8.9"


def test_a_capability_without_a_known_architecture_stands_alone() -> None:
    assert table(card(with_gpu(architecture=DENIED)).lines)["Architecture"] == "compute capability 8.9"


def test_an_unknown_architecture_gives_its_reason() -> None:
    lines = card(with_gpu(architecture=DENIED, compute_capability=DENIED)).lines
    assert table(lines)["Architecture"] == "permission denied"
    assert not lines[0].known


def test_memory_says_total_and_used() -> None:
    total, used = Known(24 * GIB, "NVML"), Known(614 << 20, "NVML")
    assert table(card(with_gpu(memory_total_bytes=total, memory_used_bytes=used)).lines)["Memory"] == "24 GiB, 614 MiB used"


def test_memory_without_its_use_says_the_total() -> None:
    made = with_gpu(memory_total_bytes=Known(24 * GIB, "NVML"), memory_used_bytes=DENIED)
    assert table(card(made).lines)["Memory"] == "24 GiB"


@pytest.mark.parametrize(
    ("count", "words"), [(0, "0 MiB"), (GIB - 1, "1024 MiB"), (GIB, "1 GiB"), (25757220864, "23.99 GiB"), (80 * GIB, "80 GiB")]
)
def test_sizes_are_said_as_people_read_them(count: int, words: str) -> None:
    assert ENGLISH(gibibytes(count)) == words


@pytest.mark.parametrize(
    ("link", "words"),
    [
        (PcieLink(16, 16, 16.0, 16.0), "4.0 ×16"),
        (PcieLink(16, 16, 2.5, 16.0), "4.0 ×16 (now 1.0 ×16)"),
        (PcieLink(4, 16, 32.0, 32.0), "5.0 ×16 (now 5.0 ×4)"),
        (PcieLink(8, 8, 20.0, 20.0), "20 GT/s ×8"),
    ],
)
def test_the_link_says_what_it_can_and_what_it_does(link: PcieLink, words: str) -> None:
    assert table(card(with_gpu(pcie_link=Known(link, "sysfs"))).lines)["PCIe"] == words


def test_rows_that_nobody_needs_are_left_out() -> None:
    made = with_gpu(pcie_link=DENIED, display_active=DENIED, mig_enabled=Known(False, "NVML"))
    assert set(table(card(made).lines)) == {"Architecture", "Memory", "Kernel driver"}


def test_mig_counts_its_instances() -> None:
    made = with_gpu(mig_enabled=Known(True, "NVML"), mig_uuids=Known(("MIG-a", "MIG-b"), "NVML"))
    assert table(card(made).lines)["MIG"] == "on, 2 instances"


def test_no_bound_driver_is_said_in_words() -> None:
    assert table(card(with_gpu(kernel_driver=Known("", "sysfs"))).lines)["Kernel driver"] == "none bound"


def test_software_names_driver_toolkits_and_compiler() -> None:
    words = table(software_lines(machine(toolkits=("11.7.99", "12.4.131"), nvcc="11.7")))
    assert words["Driver"] == "550.54.14, proprietary module"
    assert (words["Toolkit 11.7"], words["Toolkit 12.4"]) == ("first on PATH", "installed")
    assert words["Host compiler"].endswith(" 11.4.0")


def test_the_open_module_is_named() -> None:
    assert table(software_lines(machine(open_module=True)))["Driver"] == "550.54.14, open module"


def test_nouveau_stands_where_the_driver_would() -> None:
    assert table(software_lines(machine(driver="", bound="nouveau")))["Driver"] == "nouveau is loaded"


def test_no_loaded_driver_is_said() -> None:
    assert table(software_lines(machine(driver="")))["Driver"] == "none loaded"


def test_no_toolkit_is_said_with_where_was_looked() -> None:
    lines = software_lines(machine(toolkits=(), nvcc=""))
    found = next(one for one in lines if ENGLISH(one.label) == "Toolkits")
    assert (ENGLISH(found.value), bool(found.source)) == ("none installed", True)


def test_unknown_toolkits_and_compilers_give_their_reasons() -> None:
    words = table(software_lines(replace(machine(), toolkits=DENIED, compilers=DENIED)))
    assert (words["Toolkits"], words["Host compiler"]) == ("permission denied", "permission denied")


def test_no_compiler_is_said() -> None:
    assert table(software_lines(machine(gcc=())))["Host compiler"] == "none installed"


def test_the_running_driver_is_nvmls_word_else_the_modules() -> None:
    made = machine()
    silent = replace(made, driver=replace(made.driver, version=DENIED))
    assert isinstance(driver_version(silent), Known)
    assert str(driver_version(silent).value) == "550.54.14"  # type: ignore[union-attr]
    assert driver_version(Machine()) == Machine().driver.version


def test_first_nvcc_is_the_real_file() -> None:
    assert first_nvcc(machine()).startswith("/usr/local/cuda-12.4")
    assert first_nvcc(machine(nvcc="")) == ""
    assert first_nvcc(Machine()) == ""


def test_the_host_line_says_what_matters() -> None:
    name, parts = host_words(machine(distribution=FEDORA, secure_boot=True).host, machine())
    words = [ENGLISH(name), *map(ENGLISH, parts)]
    assert words[:4] == [FEDORA.name, "kernel 6.8.0-60-generic", "x86_64", "Secure Boot on"]


@pytest.mark.parametrize(("changes", "words"), [({"wsl": 2}, "WSL 2"), ({"container": "docker"}, "in a container (docker)")])
def test_what_wraps_the_host_is_named(changes: dict[str, Any], words: str) -> None:
    made = machine(**changes)
    assert words in [ENGLISH(part) for part in host_words(made.host, made)[1]]


def test_an_unknown_host_is_called_linux() -> None:
    name, parts = host_words(Machine().host, Machine())
    assert (ENGLISH(name), parts) == ("Linux", ())


@pytest.mark.parametrize(("fact", "words", "known"), [(Known(3, "x"), "3", True), (DENIED, "permission denied", False)])
def test_any_fact_makes_a_line(fact: Any, words: str, known: bool) -> None:
    made = line(text("Label"), fact)
    assert (ENGLISH(made.value), made.known) == (words, known)


def test_a_line_may_say_its_value_in_words() -> None:
    made: Text = line(text("Label"), Known(3, "x"), text("three")).value
    assert ENGLISH(made) == "three"


def test_a_gpu_that_nvml_does_not_list_takes_no_number_of_another() -> None:
    cards = gpu_cards(machine(gpus=(GTX_1080_TI, RTX_5090), dead=(GTX_1080_TI,)))
    assert [card.index for card in cards] == [None, 0]
    assert [ENGLISH(card.subtitle) for card in cards] == ["0000:01:00.0", "GPU 0 · 0000:02:00.0"]
    without_driver = gpu_cards(machine(gpus=(GTX_1080_TI, RTX_5090), driver=""))
    assert [card.index for card in without_driver] == [0, 1]  # their order is all that there is to call them by


def test_a_gpu_that_the_driver_counts_and_hears_nothing_from_does_not_answer() -> None:
    (gpu,) = value_or(machine().gpus, ())
    lost = replace(gpu, uuid=DENIED, memory_total_bytes=DENIED)
    (made,) = gpu_cards(replace(machine(), gpus=Known((lost,), "NVML")))
    assert (made.status, ENGLISH(made.state)) == (Status.PROBLEM, "does not answer")
