"""Toolkits wherever they are put, each once, on made-up machines and on this one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpuassist.detect import toolkits
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.shell import Terminal, Variable
from gpuassist.model.text import text
from gpuassist.model.toolkit import Origin, Toolkit
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from gpuassist.system.processes import Ending, ProcessResult
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.detect.made_toolkit import make_toolkit, version_text
from tests.fakes import ScriptedProcesses, link, put, world_under
from tests.strangers import OwnedFiles

Answers = dict[str, str | ProcessResult | Callable[[], ProcessResult]]

DRY_RUN = "-dryrun -x cu -c /dev/null -o /dev/null"


def _terminal(**variables: str) -> Known[Terminal]:
    return Known(Terminal("/bin/bash", tuple(Variable(*one) for one in variables.items()), ()), "a test")


def _found(root: Path, answers: Answers | dict[str, str], terminal: Fact[Terminal] | None = None) -> tuple[Toolkit, ...]:
    world = world_under(root, processes=ScriptedProcesses({**answers}), variables={"PATH": ""})
    fact = toolkits.probe(world, terminal or _terminal())
    assert isinstance(fact, Known)
    return fact.value


def _ran(directory: str) -> ProcessResult:
    return ProcessResult(Ending.EXITED, 0, b"", f"#$ _NVVM_BRANCH_=nvvm\n#$ _HERE_={directory}\n".encode(), 0.0)


def _why(fact: Fact[Any]) -> str:
    assert isinstance(fact, Unknown), fact
    return ENGLISH(fact.reason)


def _value(fact: Fact[Any]) -> str:
    assert isinstance(fact, Known), fact
    return str(fact.value)


def test_toolkit_is_described_by_its_own_files_and_nvcc(tmp_path: Path) -> None:
    (found,) = _found(tmp_path, make_toolkit(tmp_path, "/usr/local/cuda-12.4", "12.4.131", json="12.4.1"))
    assert found.version == Known(Version.parse("12.4.1"), "/usr/local/cuda-12.4/version.json")
    assert found.nvcc_version == Known(Version.parse("12.4.131"), "/usr/local/cuda-12.4/bin/nvcc --version")
    assert (_value(found.nvcc), _value(found.gcc_limit), _value(found.clang_limit)) == ("/usr/local/cuda-12.4/bin/nvcc", "13", "17")
    assert isinstance(found.targets, Known)
    assert [str(target) for target in found.targets.value] == ["compute_80", "compute_89"]


def test_several_come_newest_first(tmp_path: Path) -> None:
    answers = make_toolkit(tmp_path, "/usr/local/cuda-11.7", "11.7.99") | make_toolkit(tmp_path, "/usr/local/cuda-12.4", "12.4.131")
    assert [one.root for one in _found(tmp_path, answers)] == ["/usr/local/cuda-12.4", "/usr/local/cuda-11.7"]


def test_symlinks_are_listed_and_the_toolkit_once(tmp_path: Path) -> None:
    answers = make_toolkit(tmp_path, "/usr/local/cuda-12.4", "12.4.131")
    link(tmp_path, "/etc/alternatives/cuda", "/usr/local/cuda-12.4")
    link(tmp_path, "/usr/local/cuda", "/etc/alternatives/cuda")
    link(tmp_path, "/usr/local/cuda-12", "cuda-12.4")
    (found,) = _found(tmp_path, answers)
    assert (found.root, found.links) == ("/usr/local/cuda-12.4", ("/usr/local/cuda", "/usr/local/cuda-12"))


def test_dangling_symlink_is_no_toolkit(tmp_path: Path) -> None:
    link(tmp_path, "/usr/local/cuda", "/usr/local/cuda-11.8")
    assert _found(tmp_path, {}) == ()


def test_directory_of_samples_is_no_toolkit(tmp_path: Path) -> None:
    put(tmp_path, "/usr/local/cuda-samples/README.md")
    assert _found(tmp_path, {}) == ()


@pytest.mark.parametrize(
    ("path", "origin"),
    [
        ("/usr/local/cuda-12.4", Origin.LOCAL),
        ("/opt/cuda-12.4", Origin.LOCAL),
        ("/opt/cuda", Origin.PACKAGE),
        ("/opt/nvidia/hpc_sdk/Linux_x86_64/24.5/cuda/12.4", Origin.LOCAL),
        ("/usr/lib/nvidia-cuda-toolkit", Origin.PACKAGE),
        ("/home/you/cuda-12.4", Origin.HOME),
        ("/home/you/.local/cuda-12.4", Origin.HOME),
    ],
)
def test_origin_follows_from_the_place(tmp_path: Path, path: str, origin: Origin) -> None:
    (found,) = _found(tmp_path, make_toolkit(tmp_path, path, "12.4.131"))
    assert found.origin == Known(origin, path)


def test_conda_environment_with_nvcc_is_a_toolkit(tmp_path: Path) -> None:
    prefix = "/home/you/miniconda3/envs/build"
    put(tmp_path, f"{prefix}/conda-meta/history")
    (found,) = _found(tmp_path, make_toolkit(tmp_path, prefix, "12.4.131"))
    assert (found.root, _value(found.origin)) == (prefix, str(Origin.CONDA))


def test_wheel_with_nvcc_is_a_toolkit(tmp_path: Path) -> None:
    put(tmp_path, "/home/you/project/.venv/pyvenv.cfg", "version = 3.12.1\n")
    path = "/home/you/project/.venv/lib/python3.12/site-packages/nvidia/cu13"
    (found,) = _found(tmp_path, make_toolkit(tmp_path, path, "13.0.88"))
    assert (found.root, _value(found.origin)) == (path, str(Origin.WHEEL))


def test_cuda_home_outside_the_usual_places_is_found(tmp_path: Path) -> None:
    answers = make_toolkit(tmp_path, "/data/nvidia/12.4", "12.4.131")
    assert [one.root for one in _found(tmp_path, answers, _terminal(CUDA_HOME="/data/nvidia/12.4/"))] == ["/data/nvidia/12.4"]


def test_nvcc_on_path_is_found_wherever_it_is(tmp_path: Path) -> None:
    answers = make_toolkit(tmp_path, "/data/cuda", "12.4.131")
    (found,) = _found(tmp_path, answers, _terminal(PATH="/usr/bin:/data/cuda/bin"))
    assert (found.root, _value(found.nvcc_version)) == ("/data/cuda", "12.4.131")


def test_wrapper_leads_to_the_toolkit_that_it_runs(tmp_path: Path) -> None:
    answers: Answers = {**make_toolkit(tmp_path, "/usr/lib/nvidia-cuda-toolkit", "11.8.89")}
    put(tmp_path, "/usr/bin/nvcc", "#!/bin/sh\nexec /usr/lib/nvidia-cuda-toolkit/bin/nvcc\n", mode=0o755)
    answers[f"/usr/bin/nvcc {DRY_RUN}"] = _ran("/usr/lib/nvidia-cuda-toolkit/bin")
    (found,) = _found(tmp_path, answers, _terminal(PATH="/usr/bin"))
    assert (found.root, found.wrappers) == ("/usr/lib/nvidia-cuda-toolkit", ("/usr/bin/nvcc",))


def test_wrapper_that_tells_nothing_is_an_unknown_toolkit(tmp_path: Path) -> None:
    put(tmp_path, "/usr/local/bin/nvcc", "#!/bin/sh\n", mode=0o755)
    junk = {f"/usr/local/bin/nvcc {DRY_RUN}": "", "/usr/local/bin/nvcc --version": "module: not loaded\n"}
    (found,) = _found(tmp_path, junk, _terminal(PATH="/usr/local/bin"))
    assert "module: not loaded" in _why(found.nvcc_version)
    assert _value(found.nvcc) == "/usr/local/bin/nvcc"


def test_symlink_on_path_is_no_wrapper(tmp_path: Path) -> None:
    answers = make_toolkit(tmp_path, "/usr/local/cuda-12.4", "12.4.131")
    link(tmp_path, "/usr/local/bin/nvcc", "../cuda-12.4/bin/nvcc")
    (found,) = _found(tmp_path, answers, _terminal(PATH="/usr/local/bin"))
    assert (found.root, found.wrappers) == ("/usr/local/cuda-12.4", ())


def test_toolkit_without_compiler_says_so(tmp_path: Path) -> None:
    put(tmp_path, "/usr/local/cuda-12.4/version.json", '{"cuda": {"version": "12.4.1"}}')
    (found,) = _found(tmp_path, {})
    assert (_value(found.nvcc), _value(found.version)) == ("", "12.4.1")
    assert _why(found.targets) == "/usr/local/cuda-12.4 holds no nvcc"
    assert _why(found.gcc_limit) == "/usr/local/cuda-12.4 holds no crt/host_config.h"


def test_version_falls_back_to_nvccs(tmp_path: Path) -> None:
    answers = make_toolkit(tmp_path, "/usr/local/cuda-13.0", "13.0.88")
    put(tmp_path, "/usr/local/cuda-13.0/version.json", "{damaged")
    (found,) = _found(tmp_path, answers)
    assert found.version == found.nvcc_version


def test_old_version_txt_is_read(tmp_path: Path) -> None:
    put(tmp_path, "/usr/local/cuda-10.2/version.txt", "CUDA Version 10.2.89\n")
    assert _value(_found(tmp_path, {})[0].version) == "10.2.89"


def test_headers_of_another_target_count(tmp_path: Path) -> None:
    answers = make_toolkit(tmp_path, "/usr/local/cuda-12.4", "12.4.131")
    place = tmp_path / "usr/local/cuda-12.4"
    (place / "targets/x86_64-linux").mkdir(parents=True)
    (place / "include").rename(place / "targets/x86_64-linux/include")
    assert _value(_found(tmp_path, answers)[0].gcc_limit) == "13"


def test_crashing_nvcc_leaves_the_others(tmp_path: Path) -> None:
    def crash() -> ProcessResult:
        raise RuntimeError("a fault of ours")

    answers = make_toolkit(tmp_path, "/usr/local/cuda-12.4", "12.4.131") | make_toolkit(tmp_path, "/usr/local/cuda-11.7", "11.7.99")
    processes = ScriptedProcesses(dict(answers))
    processes.answers["/usr/local/cuda-11.7/bin/nvcc --version"] = crash
    fact = toolkits.probe(world_under(tmp_path, processes=processes, variables={"PATH": ""}), _terminal())
    assert isinstance(fact, Known)
    assert [_value(fact.value[0].nvcc_version), "a fault of ours" in _why(fact.value[1].nvcc_version)] == ["12.4.131", True]


def test_unknown_terminal_still_finds_what_is_installed(tmp_path: Path) -> None:
    answers = make_toolkit(tmp_path, "/usr/local/cuda-12.4", "12.4.131")
    assert len(_found(tmp_path, answers, Unknown(text("no")))) == 1


def _real_nvcc(directory: Path, body: str) -> Toolkit:
    put(directory, "cuda/bin/nvcc", f"#!/bin/sh\n{body}\n", mode=0o755)
    fact = toolkits.probe(World(Surroundings(str(directory), "you", os.geteuid(), {"PATH": ""})), _terminal())
    assert isinstance(fact, Known)
    return next(one for one in fact.value if one.root == str(directory / "cuda"))


def test_real_program_that_prints_a_version_is_asked(home: Path) -> None:
    found = _real_nvcc(home, f"cat <<'END'\n{version_text('12.4.131')}END")
    assert _value(found.nvcc_version) == "12.4.131"


def test_file_without_permission_is_not_executable(home: Path) -> None:
    put(home, "cuda/bin/nvcc", b"\x7fELF", mode=0o644)
    fact = toolkits.probe(World(Surroundings(str(home), "you", os.geteuid(), {"PATH": ""})), _terminal())
    assert isinstance(fact, Known)
    found = next(one for one in fact.value if one.root == str(home / "cuda"))
    assert _why(found.nvcc_version) == f"{home}/cuda/bin/nvcc is not executable"


@pytest.mark.needs("nvcc")
def test_real_toolkit_of_this_machine_is_described() -> None:
    nvcc = shutil.which("nvcc") or ""
    world = World(Surroundings("/nonexistent", "you", os.geteuid(), {"PATH": os.path.dirname(nvcc)}))
    fact = toolkits.probe(world, _terminal(PATH=os.path.dirname(nvcc)))
    assert isinstance(fact, Known)
    found = fact.value[0]
    assert isinstance(found.targets, Known)
    assert isinstance(found.gcc_limit, Known)
    assert found.nvcc == Known(f"{found.root}/bin/nvcc", f"{found.root}/bin/nvcc")
    assert nvcc in (*found.wrappers, f"{found.root}/bin/nvcc") or os.path.realpath(nvcc) == f"{found.root}/bin/nvcc"


def test_an_nvcc_that_others_could_have_put_there_is_not_run_as_root(tmp_path: Path) -> None:
    answers = make_toolkit(tmp_path, f"{tmp_path}/shared", "12.4.131")
    nvcc = put(tmp_path / "shared", "bin/nvcc", "#!/bin/sh\n", mode=0o755)
    processes = ScriptedProcesses({**answers})
    around = Surroundings("/root", "root", 0, {"PATH": str(nvcc.parent)})
    fact = toolkits.probe(World(around, OwnedFiles(given={str(nvcc.parent): (0, 0o777)}), processes), _terminal())
    assert isinstance(fact, Known)
    found = next(one for one in fact.value if one.root == str(tmp_path / "shared"))
    for said in (found.nvcc_version, found.targets):
        assert "is not run as root" in _why(said)
        assert "everybody may write in it" in _why(said)
    assert not any(command[0] == str(nvcc) for command in processes.asked)


@pytest.mark.parametrize(
    ("packages", "origin"),
    [
        (("pip", "setuptools", "cuda_toolkit", "nvidia_cuda_nvcc", "nvidia_nvvm"), Origin.HOME),
        (("nvidia_cuda_nvcc", "pip", "torch"), Origin.WHEEL),
        (("nvidia_cuda_nvcc", "numba"), Origin.WHEEL),
    ],
)
def test_environment_that_was_made_for_the_compiler_alone_is_the_place_of_a_toolkit(
    tmp_path: Path, packages: tuple[str, ...], origin: Origin
) -> None:
    put(tmp_path, "/home/you/cuda-13.0/pyvenv.cfg", "version = 3.12.1\n")
    site = "/home/you/cuda-13.0/lib/python3.12/site-packages"
    for name in packages:
        put(tmp_path, f"{site}/{name}-1.0.dist-info/METADATA")
    (found,) = _found(tmp_path, make_toolkit(tmp_path, f"{site}/nvidia/cu13", "13.0.88"))
    assert (found.root, found.origin) == (f"{site}/nvidia/cu13", Known(origin, f"{site}/nvidia/cu13"))
