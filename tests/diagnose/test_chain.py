"""The chain of each GPU: what its boxes say, and which pair is to blame."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from msgspec.structs import replace

from gpuassist.diagnose.chain import chains
from gpuassist.model.chain import Chain, Part, Status
from gpuassist.model.fact import Known
from gpuassist.model.machine import Machine
from gpuassist.model.version import ComputeCapability
from gpuassist.model.words import ENGLISH
from tests.values import GTX_1080_TI, RTX_3090, RTX_4090, RTX_5090, Env, knowledge, machine, without

ORDER = (Part.GPU, Part.DRIVER, Part.TORCH, Part.TOOLKIT, Part.COMPILER)
NO_TOOLKIT: dict[str, Any] = {"toolkits": (), "nvcc": ""}


def _chain(one: Machine | None = None, **recipe: Any) -> Chain:
    (chain,) = chains(one if one is not None else machine(**recipe), knowledge())
    return chain


def _box(chain: Chain, part: Part) -> tuple[str, str, Status]:
    node = next(node for node in chain.nodes if node.part is part)
    return ENGLISH(node.name), ENGLISH(node.detail), node.status


def _wrong(chain: Chain) -> list[tuple[str, str, str]]:
    wrong = (joint for joint in chain.joints if joint.status in {Status.PROBLEM, Status.WARNING})
    return [(joint.first.value, joint.second.value, ENGLISH(joint.reason)) for joint in wrong]


def _blamed(chain: Chain) -> list[str]:
    return [node.part.value for node in chain.nodes if node.status is Status.PROBLEM]


def test_five_boxes_stand_in_their_order() -> None:
    assert tuple(node.part for node in _chain().nodes) == ORDER


def test_boxes_of_a_sound_machine() -> None:
    chain = _chain()
    assert _box(chain, Part.GPU) == ("RTX 4090", "Ada Lovelace · 8.9", Status.RIGHT)
    assert _box(chain, Part.DRIVER) == ("550.54.14", "runs CUDA up to 12.x", Status.RIGHT)
    assert _box(chain, Part.TORCH) == ("2.5.1+cu124", "train", Status.RIGHT)
    assert _box(chain, Part.TOOLKIT) == ("nvcc 12.4", "/usr/local/cuda-12.4", Status.RIGHT)
    assert _box(chain, Part.COMPILER) == ("g++ 11.4", "Ubuntu 22.04.4 LTS", Status.RIGHT)


def test_sound_machine_has_only_right_pairs_of_neighbours() -> None:
    pairs = [(joint.first, joint.second, joint.status) for joint in _chain().joints]
    assert pairs == [(first, second, Status.RIGHT) for first, second in pairwise(ORDER)]


def test_old_nvcc_is_an_arc_from_the_gpu() -> None:
    chain = _chain(toolkits=("11.7.99", "12.4.131"), nvcc="11.7")
    assert ("gpu", "toolkit", "nvcc 11.7 cannot build for 8.9") in _wrong(chain)
    assert _blamed(chain) == ["toolkit"]


def test_old_torch_is_an_arc_from_the_gpu() -> None:
    recipe: dict[str, Any] = {
        "gpus": (RTX_5090,),
        "driver": "580.95.05",
        "open_module": True,
        "environments": (Env("t", "2.6.0+cu124"),),
    }
    chain = _chain(**recipe, **NO_TOOLKIT)
    assert _wrong(chain) == [("gpu", "torch", "torch has no code for 12.0")]
    assert _blamed(chain) == ["torch"]


def test_torch_of_another_major_warns_about_extensions() -> None:
    chain = _chain(toolkits=("13.0.88",), nvcc="13.0", driver="580.95.05")
    assert _wrong(chain) == [("torch", "toolkit", "extensions need a toolkit of CUDA 12")]
    assert _blamed(chain) == []


def test_new_gcc_is_between_toolkit_and_compiler() -> None:
    chain = _chain(gcc=("14.2.0",))
    assert _wrong(chain) == [("toolkit", "compiler", "accepts gcc up to 13")]
    assert _blamed(chain) == ["compiler"]


def test_cpu_build_does_not_use_the_driver() -> None:
    chain = _chain(environments=(Env("t", "2.6.0+cpu"),), **NO_TOOLKIT)
    assert ("driver", "torch", "a CPU build: it does not use the driver") in _wrong(chain)
    assert _blamed(chain) == ["torch"]


def test_old_driver_is_between_driver_and_torch() -> None:
    chain = _chain(gpus=(RTX_3090,), driver="470.256.02", environments=(Env("t", "2.8.0+cu128"),), **NO_TOOLKIT)
    assert _wrong(chain) == [("driver", "torch", "too old for CUDA 12.8")]


@pytest.mark.parametrize(
    ("recipe", "name", "reason"),
    [
        ({"driver": "", "bound": "nouveau"}, "nouveau", "NVIDIA's driver does not run this GPU"),
        ({"driver": ""}, "none", "NVIDIA's driver does not run this GPU"),
        ({"gpus": (RTX_5090,)}, "550.54.14", "driver 550.54.14 is older than this GPU"),
        ({"gpus": (GTX_1080_TI,), "driver": "595.45.04"}, "595.45.04", "driver 595.45.04 no longer serves this GPU"),
        ({"gpus": (RTX_5090,), "driver": "580.95.05"}, "580.95.05", "this GPU needs the open module"),
        (
            {"gpus": (GTX_1080_TI,), "driver": "580.95.05", "open_module": True},
            "580.95.05",
            "the open module does not run this GPU",
        ),
        ({"libcuda": "550.90.07"}, "550.54.14", "its module and its libraries are of different versions"),
        ({"libcuda": ""}, "550.54.14", "its library libcuda is missing"),
        ({"node_mode": 0o600}, "550.54.14", "this user may not open the GPU's device"),
    ],
)
def test_driver_is_blamed_for_its_own_faults(recipe: dict[str, Any], name: str, reason: str) -> None:
    chain = _chain(**recipe, environments=(), **NO_TOOLKIT)
    assert _wrong(chain) == [("gpu", "driver", reason)]
    assert _box(chain, Part.DRIVER)[0] == name
    assert _blamed(chain) == ["driver"]


def test_parts_that_nobody_needs_are_absent() -> None:
    chain = _chain(environments=(), gcc=(), **NO_TOOLKIT)
    assert [node.status for node in chain.nodes[2:]] == [Status.ABSENT] * 3
    assert _wrong(chain) == []


def test_toolkit_that_is_not_on_path_is_named_so() -> None:
    assert _box(_chain(nvcc=""), Part.TOOLKIT) == ("no nvcc", "installed, not on PATH", Status.ABSENT)


def test_unread_parts_are_unknown_and_not_absent() -> None:
    chain = _chain(without(machine(), ["driver.loaded", "driver.version", "shell.new_terminal"]))
    assert _box(chain, Part.DRIVER)[2] is Status.UNKNOWN
    assert _box(chain, Part.TOOLKIT)[2] is Status.UNKNOWN
    assert _wrong(chain) == []


def test_driver_without_nvml_shows_its_module() -> None:
    assert _box(_chain(asleep=True), Part.DRIVER) == ("550.54.14", "proprietary module", Status.RIGHT)


def test_each_gpu_gets_the_torch_that_runs_on_it() -> None:
    recipe: dict[str, Any] = {
        "gpus": (GTX_1080_TI, RTX_4090),
        "driver": "580.95.05",
        "environments": (Env("new", "2.11.0+cu130"), Env("old", "2.7.1+cu126")),
    }
    old, new = chains(machine(**recipe, **NO_TOOLKIT), knowledge())
    assert (_box(old, Part.TORCH)[1], _box(new, Part.TORCH)[1]) == ("old", "new")


def test_machine_without_gpu_has_no_chain() -> None:
    assert chains(machine(gpus=(), driver=""), knowledge()) == ()


def test_two_cards_have_two_chains() -> None:
    assert len(chains(machine(gpus=(RTX_4090, RTX_4090)), knowledge())) == 2


def test_a_chain_has_the_drivers_number_of_its_gpu_and_never_that_of_another() -> None:
    both = machine(gpus=(GTX_1080_TI, RTX_5090), dead=(GTX_1080_TI,))
    assert [one.gpu for one in chains(both, knowledge())] == ["0000:01:00.0", "0"]


def test_driver_too_old_for_programs_of_the_toolkit() -> None:
    found = _wrong(_chain(toolkits=("13.0.88",), nvcc="13.0", environments=()))
    assert found == [("driver", "toolkit", "too old for programs of CUDA 13.0")]


def test_c_library_that_clashes_with_the_toolkit() -> None:
    assert _wrong(_chain(glibc="2.41")) == [("toolkit", "compiler", "its headers clash with glibc 2.41")]


def test_gpu_that_its_driver_rules_out_is_judged_no_further() -> None:
    assert _wrong(_chain(gpus=(RTX_5090,))) == [("gpu", "driver", "driver 550.54.14 is older than this GPU")]


def test_thorough_chain_judges_it_all_the_same() -> None:
    (chain,) = chains(machine(gpus=(RTX_5090,)), knowledge(), thorough=True)
    assert [pair[:2] for pair in _wrong(chain)] == [("gpu", "driver"), ("gpu", "torch"), ("gpu", "toolkit")]


def test_code_that_the_driver_is_too_old_to_compile() -> None:
    # torch 2.9 for CUDA 13.0 has PTX for 12.0 and no machine code for the capability of this card's successor.
    torch = (Env("e", "2.9.1+cu130", active=True),)
    made = machine(driver="580.95.05", cuda="12.8", environments=torch, **NO_TOOLKIT)
    gpus = made.gpus
    assert isinstance(gpus, Known)
    newer = replace(gpus.value[0], compute_capability=Known(ComputeCapability(13, 0), "test"))
    found = _wrong(_chain(replace(made, gpus=Known((newer,), "test"))))
    assert ("gpu", "torch", "the driver is too old to compile torch's code for 13.0") in found
