"""Each rule on a machine that has its problem, and on the neighbour that has not."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from gpuassist.diagnose.judge import judge
from gpuassist.model.environment import Manager
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.finding import Diagnosis, Finding
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.model.text import text
from gpuassist.model.toolkit import Origin, Toolkit
from tests.rows import for_each
from tests.values import ARCH, DEBIAN, GTX_1080_TI, RTX_3090, RTX_4090, RTX_5090, Env, knowledge, machine, without

TITAN_V, GTX_680, RTX_2080, H100, GT_730 = "10de:1d81", "10de:1180", "10de:1e82", "10de:2330", "10de:1287"
CUDA_13 = {"driver": "580.95.05", "cuda": "13.0", "open_module": True}


def _judge(one: Machine) -> Diagnosis:
    return judge(one, knowledge())


def _found(**recipe: Any) -> list[str]:
    return [finding.problem for finding in _judge(machine(**recipe)).findings]


def _only(**recipe: Any) -> Finding:
    findings = _judge(machine(**recipe)).findings
    assert len(findings) == 1, [one.problem for one in findings]
    return findings[0]


PROBLEMS: list[tuple[str, dict[str, Any]]] = [
    ("no-nvidia-gpu", {"gpus": (), "driver": "", "toolkits": (), "nvcc": ""}),
    ("several-toolkits", {"toolkits": ("11.8.89", "12.4.131")}),
    ("several-toolkits", {"toolkits": ("12.1.105", "12.4.131"), "nvcc": "12.1"}),
    ("no-driver", {"driver": "", "toolkits": (), "nvcc": "", "environments": ()}),
    ("driver-not-loaded", {"driver": "", "on_disk": "550.54.14", "libcuda": "550.54.14"}),
    ("driver-not-loaded", {"driver": "", "on_disk": "", "libcuda": "550.54.14"}),
    ("nouveau-active", {"gpus": (RTX_5090,), "driver": "", "bound": "nouveau", "toolkits": (), "nvcc": "", "environments": ()}),
    ("nouveau-active", {"driver": "", "bound": "nova_core", "toolkits": (), "nvcc": "", "environments": ()}),
    ("container-no-gpu-flag", {"driver": "", "container": "docker"}),
    ("driver-library-mismatch", {"libcuda": "550.90.07", "on_disk": "550.90.07"}),
    ("driver-library-mismatch", {"libcuda": "545.23.08"}),
    ("libcuda-missing", {"libcuda": "", "dead": (RTX_4090,)}),
    ("driver-too-old-for-gpu", {"gpus": (RTX_5090,), "toolkits": (), "nvcc": "", "environments": ()}),
    ("driver-too-old-for-gpu", {"driver": "470.256.02", "toolkits": (), "nvcc": "", "environments": ()}),
    ("legacy-driver-branch-needed", {"gpus": (GTX_1080_TI,), "driver": "595.45", "toolkits": (), "nvcc": "", "environments": ()}),
    ("legacy-driver-branch-needed", {"gpus": (TITAN_V,), "driver": "610.43", "toolkits": (), "nvcc": "", "environments": ()}),
    ("legacy-driver-branch-needed", {"gpus": (GTX_680,), "driver": "550.54.14", "toolkits": (), "nvcc": "", "environments": ()}),
    ("open-module-required", {"gpus": (RTX_5090,), "driver": "580.95.05", "toolkits": (), "nvcc": "", "environments": ()}),
    (
        "open-module-required",
        {"gpus": (GTX_1080_TI, RTX_5090), "dead": (GTX_1080_TI,), "toolkits": (), "nvcc": "", "environments": (), **CUDA_13},
    ),
    ("open-module-unsupported-gpu", {"gpus": (GTX_1080_TI,), "toolkits": (), "nvcc": "", "environments": (), **CUDA_13}),
    ("driver-too-old-for-cuda", {"environments": (Env("t", "2.11.0+cu130", active=True),), "toolkits": (), "nvcc": ""}),
    (
        "driver-too-old-for-cuda",
        {"gpus": (RTX_3090,), "driver": "470.256.02", "environments": (Env("t", "2.7.1+cu126"),), "toolkits": (), "nvcc": ""},
    ),
    ("device-permissions", {"node_mode": 0o660}),
    ("torch-cpu-only", {"environments": (Env("t", "2.6.0+cpu"),)}),
    ("torch-cpu-only", {"environments": (Env("t", "2.6.0+cpu", active=True), Env("u", "2.5.1+cu124"))}),
    ("torch-lacks-sm", {"gpus": (RTX_5090,), "environments": (Env("t", "2.6.0+cu124"),), "toolkits": (), "nvcc": "", **CUDA_13}),
    (
        "torch-lacks-sm",
        {"gpus": (GTX_1080_TI,), "driver": "580.95.05", "environments": (Env("t", "2.11.0+cu130"),), "toolkits": (), "nvcc": ""},
    ),
    (
        "gpu-too-old-for-torch",
        {"gpus": (GTX_680,), "driver": "470.256.02", "environments": (Env("t", "1.13.1+cu117"),), "toolkits": (), "nvcc": ""},
    ),
    ("nvcc-not-on-path", {"nvcc": ""}),
    ("nvcc-arch-too-new", {"toolkits": ("11.7.99", "12.4.131"), "nvcc": "11.7"}),
    ("nvcc-arch-too-new", {"gpus": (RTX_5090,), "environments": (), **CUDA_13}),
    (
        "nvcc-arch-dropped",
        {"gpus": (GTX_1080_TI,), "driver": "580.95.05", "toolkits": ("13.0.88",), "nvcc": "13.0", "environments": ()},
    ),
    ("path-order-wrong-nvcc", {"toolkits": ("13.0.88", "12.4.131"), "nvcc": "13.0"}),
    ("cuda-home-disagrees", {"variables": {"CUDA_HOME": "/usr/local/cuda-11.8"}, "toolkits": ("11.8.89", "12.4.131")}),
    ("cuda-home-disagrees", {"variables": {"CUDA_HOME": "/usr/local/cuda-9.0"}}),
    ("cuda-home-disagrees", {"variables": {"CUDA_PATH": "/usr/local/cuda-9.0"}}),
    ("nvcc-host-gcc-too-new", {"gcc": ("14.2.0",)}),
    ("nvcc-glibc-too-new", {"glibc": "2.41"}),
    ("torch-cuda-vs-toolkit-mismatch", {"toolkits": ("13.0.88",), "nvcc": "13.0", **CUDA_13}),
    ("toolkit-newer-than-driver", {"toolkits": ("13.0.88",), "nvcc": "13.0", "environments": ()}),
    ("toolkit-newer-than-driver", {"toolkits": ("12.8.93",), "nvcc": "12.8"}),
    ("ld-library-path-empty-element", {"variables": {"LD_LIBRARY_PATH": "/usr/local/cuda-12.4/lib64:"}}),
    ("ld-library-path-empty-element", {"variables": {"LD_LIBRARY_PATH": ":/opt/x"}}),
    ("ld-library-path-empty-element", {"variables": {"LD_LIBRARY_PATH": "/a::/b"}}),
    ("ld-library-path-missing-directory", {"variables": {"LD_LIBRARY_PATH": "/opt/gone"}, "missing": ("/opt/gone",)}),
    (
        "ld-library-path-other-toolkit",
        {"variables": {"LD_LIBRARY_PATH": "/usr/local/cuda-11.8/lib64"}, "toolkits": ("11.8.89", "12.4.131")},
    ),
    ("ld-library-path-stubs", {"variables": {"LD_LIBRARY_PATH": "/usr/local/cuda-12.4/lib64/stubs"}}),
    ("cuda-visible-devices-bad", {"variables": {"CUDA_VISIBLE_DEVICES": ""}}),
    ("cuda-visible-devices-bad", {"variables": {"CUDA_VISIBLE_DEVICES": "1"}}),
    ("cuda-visible-devices-bad", {"variables": {"CUDA_VISIBLE_DEVICES": "-1"}}),
    ("cuda-visible-devices-bad", {"variables": {"CUDA_VISIBLE_DEVICES": "GPU-ffff"}}),
    ("wsl-driver-or-windows", {"wsl": 2, "driver": "", "libcuda": "", "toolkits": (), "nvcc": "", "environments": ()}),
]


@for_each(("problem", "recipe"), PROBLEMS)
def test_machine_has_exactly_its_problem(problem: str, recipe: dict[str, Any]) -> None:
    assert _found(**recipe) == [problem]


SOUND: dict[str, dict[str, Any]] = {
    "plain": {},
    "no toolkit beside a CUDA torch": {"toolkits": (), "nvcc": ""},
    "no toolkit, no compiler": {"toolkits": (), "nvcc": "", "gcc": ()},
    "no torch": {"environments": ()},
    "sm_86 code on an 8.9 card": {"environments": (Env("t", "1.13.1+cu117", active=True),), "toolkits": (), "nvcc": ""},
    "torch of a newer minor than the driver": {
        "driver": "535.54.03",
        "cuda": "12.2",
        "environments": (Env("t", "2.8.0+cu128"),),
        "toolkits": (),
        "nvcc": "",
    },
    "torch's minor differs from nvcc's": {"environments": (Env("t", "2.6.0+cu126", active=True),)},
    "CPU torch in an environment that is not active": {
        "environments": (Env("t", "2.5.1+cu124", active=True), Env("w", "2.6.0+cpu"))
    },
    "CPU torch beside a CUDA one, none active": {"environments": (Env("w", "2.5.1+cu124"), Env("t", "2.6.0+cpu"))},
    "Blackwell under the open module": {
        "gpus": (RTX_5090,),
        "toolkits": (),
        "nvcc": "",
        "environments": (Env("t", "2.9.1+cu128"),),
        **CUDA_13,
    },
    "Turing under either module": {"gpus": (RTX_2080,), "toolkits": (), "nvcc": "", "environments": ()},
    "Pascal under its last branch": {"gpus": (GTX_1080_TI,), "driver": "580.95.05", "environments": (Env("t", "2.7.1+cu126"),)},
    "two kinds that mix": {"gpus": (RTX_5090, RTX_2080), "toolkits": (), "nvcc": "", "environments": (), **CUDA_13},
    "asleep": {"asleep": True},
    "WSL2": {"wsl": 2, "driver": "566.36"},
    "old and new GPU under WSL2": {
        "wsl": 2,
        "gpus": (RTX_5090, GTX_1080_TI),
        "driver": "576.02",
        "toolkits": (),
        "nvcc": "",
        "environments": (),
    },
    "LD_LIBRARY_PATH set but empty": {"variables": {"LD_LIBRARY_PATH": ""}},
    "LD_LIBRARY_PATH of the toolkit that wins": {"variables": {"LD_LIBRARY_PATH": "/usr/local/cuda-12.4/lib64"}},
    "CUDA_HOME through the link": {"variables": {"CUDA_HOME": "/usr/local/cuda"}, "link": "12.4"},
    "CUDA_HOME with a slash at the end": {"variables": {"CUDA_HOME": "/usr/local/cuda-12.4/"}},
    "devices by number": {"gpus": (RTX_4090, RTX_4090), "variables": {"CUDA_VISIBLE_DEVICES": "1, 0"}},
    "devices by UUID": {"variables": {"CUDA_VISIBLE_DEVICES": "GPU-2684"}},
    "gcc told to nvcc": {"gcc": ("14.2.0",), "variables": {"NVCC_PREPEND_FLAGS": "-ccbin /usr/bin/g++-12"}},
    "another distribution": {"distribution": ARCH},
}


@for_each("recipe", SOUND.values())
def test_sound_machine_has_no_finding(recipe: dict[str, Any]) -> None:
    assert _found(**recipe) == []


@for_each("recipe", SOUND.values())
def test_sound_machine_leaves_nothing_undetermined(recipe: dict[str, Any]) -> None:
    assert _judge(machine(**recipe)).undetermined == ()


def test_sound_machine_names_what_is_fine() -> None:
    assert len(_judge(machine()).passed) > 10


def test_every_finding_has_evidence_with_source() -> None:
    for problem, recipe in PROBLEMS:
        for finding in _judge(machine(**recipe)).findings:
            assert finding.evidence, problem
            assert all(one.source for one in finding.evidence), problem


def test_installed_alternative_is_offered() -> None:
    finding = _only(toolkits=("11.7.99", "12.4.131"), nvcc="11.7")
    assert (finding.parameter("alternative"), finding.parameter("edge"), finding.parameter("newest")) == ("12.4", "11.8", "8.7")


def test_alternative_must_serve_the_compiler_too() -> None:
    findings = _judge(machine(toolkits=("11.7.99", "12.4.131"), nvcc="11.7", gcc=("14.2.0",))).findings
    assert [finding.parameter("alternative") for finding in findings] == ["", ""]


def test_dropped_card_names_last_toolkit() -> None:
    finding = _only(gpus=(GTX_1080_TI,), driver="580.95.05", toolkits=("13.0.88",), nvcc="13.0", environments=())
    assert (finding.parameter("edge"), finding.parameter("oldest")) == ("12.9", "7.5")


def test_mixed_rig_says_which_card_is_dead() -> None:
    finding = _only(gpus=(GTX_1080_TI, RTX_5090), dead=(GTX_1080_TI,), toolkits=(), nvcc="", environments=(), **CUDA_13)
    assert (finding.parameter("dead"), finding.parameter("alive")) == ("GTX 1080 Ti", "RTX 5090")


def test_mixed_rig_under_old_module_loses_new_card() -> None:
    finding = _only(gpus=(GTX_1080_TI, RTX_5090), dead=(RTX_5090,), toolkits=(), nvcc="", environments=(), driver="580.95.05")
    assert (finding.parameter("dead"), finding.parameter("old_branch")) == ("RTX 5090", "580")


def test_mixed_rig_without_driver_gets_no_single_branch() -> None:
    findings = _judge(machine(gpus=(GTX_1080_TI, RTX_5090), driver="", toolkits=(), nvcc="", environments=())).findings
    assert [one.parameter("split") for one in findings if one.problem == "no-driver"] == ["yes"]


def test_pascal_is_sent_to_the_index_that_has_it() -> None:
    finding = _only(gpus=(GTX_1080_TI,), driver="580.95.05", environments=(Env("t", "2.11.0+cu130"),), toolkits=(), nvcc="")
    assert (finding.parameter("tag"), finding.parameter("newer")) == ("cu126", "")


def test_blackwell_is_sent_to_a_build_that_has_it() -> None:
    finding = _only(gpus=(RTX_5090,), environments=(Env("t", "2.6.0+cu124"),), toolkits=(), nvcc="", **CUDA_13)
    assert finding.parameter("newer") == "yes"
    assert finding.parameter("tag") in {"cu128", "cu130", "cu132"}


def test_old_driver_is_told_from_which_on_it_would_do() -> None:
    finding = _only(gpus=(RTX_3090,), driver="470.256.02", environments=(Env("t", "2.7.1+cu126"),), toolkits=(), nvcc="")
    assert finding.parameter("floor") == "525.60.13"


def test_reboot_is_enough_when_disk_has_the_new_one() -> None:
    assert _only(libcuda="550.90.07", on_disk="550.90.07").parameter("reboot_is_enough") == "yes"
    assert _only(libcuda="550.90.07", on_disk="550.54.14").parameter("reboot_is_enough") == ""


def test_group_of_the_device_is_named() -> None:
    assert _only(node_mode=0o660).parameter("group") == "video"


def test_distribution_toolkit_that_shadows_a_newer_one() -> None:
    one = machine(toolkits=("12.0.140", "12.4.131"), nvcc="12.0", distribution=DEBIAN)
    assert isinstance(one.toolkits, Known)
    first, second = one.toolkits.value
    shadowed = replace(one, toolkits=Known((_packaged(first), second), "x"))
    assert [finding.problem for finding in _judge(shadowed).findings] == ["path-order-wrong-nvcc"]


def _packaged(toolkit: Toolkit) -> Toolkit:
    return replace(toolkit, origin=Known(Origin.PACKAGE, "dpkg"))


def test_conda_environment_is_judged_like_any() -> None:
    assert _found(environments=(Env("t", "2.6.0+cpu", manager=Manager.CONDA),)) == ["torch-cpu-only"]


UNKNOWN = {
    "gpus": "no-nvidia-gpu",
    "driver.device_nodes": "device-permissions",
    "shell.new_terminal": "nvcc-not-on-path",
}


@pytest.mark.parametrize(("name", "problem"), UNKNOWN.items(), ids=UNKNOWN)
def test_unknown_fact_is_told_and_not_guessed(name: str, problem: str) -> None:
    diagnosis = _judge(without(machine(), [name]))
    assert diagnosis.findings == ()
    assert problem in {one.problem for one in diagnosis.undetermined}


def test_fact_that_nobody_asked_never_counts_as_absent() -> None:
    assert _judge(Machine(gpus=Known((Gpu(pci_id=Known(RTX_4090, "text")),), "text"))).findings == ()


def test_empty_machine_has_no_finding() -> None:
    diagnosis = _judge(Machine())
    assert diagnosis.findings == ()
    assert diagnosis.undetermined != ()


def test_unknown_module_with_answering_nvml_is_a_driver() -> None:
    assert _judge(without(machine(), ["driver.loaded"])).findings == ()


def test_card_without_a_record_is_not_judged() -> None:
    one = machine()
    stranger = Gpu(pci_id=Known("10de:ffff", "sysfs"), kernel_driver=Known("nvidia", "sysfs"))
    assert _judge(replace(one, gpus=Known((stranger,), "sysfs"))).findings == ()


def test_crashed_rule_is_told_and_the_rest_goes_on() -> None:
    def broken(case: object) -> Any:
        raise ZeroDivisionError("ours")

    diagnosis = judge(machine(), knowledge(), (broken,))
    assert [one.problem for one in diagnosis.undetermined] == ["own-check-failed"]


def test_h100_runs_under_the_proprietary_module() -> None:
    assert _found(gpus=(H100,), toolkits=(), nvcc="", environments=()) == []


def test_torch_without_targets_leaves_it_open() -> None:
    one = machine()
    assert isinstance(one.environments, Known)
    environment = one.environments.value[0]
    assert isinstance(environment.torch, Known)
    torch = replace(environment.torch.value[0], targets=Unknown(text("stripped")))
    changed = replace(one, environments=Known((replace(environment, torch=Known((torch,), "x")),), "x"))
    assert "torch-lacks-sm" in {open_.problem for open_ in _judge(changed).undetermined}
