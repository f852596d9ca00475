"""A step takes its lines, its kind and who takes it from the one list of commands."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.install.place import NEW, InstallPlace, TorchSurroundings, programs_of, step
from gpuassist.knowledge.commands import UsedCommand, use
from gpuassist.knowledge.families import Family
from gpuassist.model.environment import Package
from gpuassist.model.plan import Proves, Step, StepKind, StepProof, StepRun, Tool
from gpuassist.model.text import text
from tests.values import knowledge

RUN = StepRun((), Tool.PIP, "/home/you/train", "/home/you/train/bin/python")
HERE = InstallPlace((Family.UBUNTU, Family.ANY))
WORDS = (text("do it"), None)


def made(*uses: UsedCommand, place: InstallPlace = HERE, run: StepRun | None = None, proof: StepProof | None = None) -> Step:
    return step(uses, place, knowledge().commands, WORDS, run=run, proof=proof)


@pytest.mark.parametrize(
    ("families", "driver", "packages"),
    [
        ((Family.UBUNTU, Family.ANY), Family.UBUNTU, Family.UBUNTU),
        ((Family.WSL, Family.UBUNTU, Family.ANY), Family.WSL, Family.UBUNTU),
        ((Family.CONTAINER, Family.DEBIAN, Family.ANY), Family.CONTAINER, Family.DEBIAN),
        ((Family.WSL, Family.ANY), Family.WSL, Family.ANY),
        ((Family.CONTAINER,), Family.CONTAINER, Family.ANY),
        ((Family.ANY,), Family.ANY, Family.ANY),
    ],
)
def test_whose_driver_and_whose_packages(families: tuple[Family, ...], driver: Family, packages: Family) -> None:
    assert (InstallPlace(families).family, InstallPlace(families).packages) == (driver, packages)


@pytest.mark.parametrize(
    ("one", "kind", "root"),
    [
        (use("reboot"), StepKind.REBOOT, True),
        (use("prime-on-demand"), StepKind.ROOT_COMMAND, True),
        (use("container-check"), StepKind.COMMAND, False),
        (use("wsl-update"), StepKind.COMMAND, False),
    ],
)
def test_a_step_takes_its_kind_from_its_command(one: UsedCommand, kind: StepKind, root: bool) -> None:
    found = made(one)
    assert (found.kind, found.needs_root) == (kind, root)


def test_lines_come_in_the_order_of_the_commands() -> None:
    found = made(use("container-check"), use("wsl-update"))
    assert found.commands == ("docker run --rm --gpus all ubuntu nvidia-smi", "wsl.exe --update", "wsl.exe --shutdown")


def test_a_restart_among_commands_decides() -> None:
    assert made(use("prime-on-demand"), use("reboot")).kind is StepKind.REBOOT


def test_a_command_that_the_family_lacks_has_no_line() -> None:
    found = made(use("key-prepare"), place=InstallPlace((Family.ARCH,)))
    assert (found.commands, found.needs_root, found.kind) == ((), False, StepKind.COMMAND)


def test_what_needs_root_is_never_run() -> None:
    assert made(use("prime-on-demand"), run=RUN).run is None


def test_what_is_run_is_what_is_shown() -> None:
    found = made(use("container-check"), run=RUN)
    assert found.run is not None
    assert [shlex.join(program) for program in found.run.programs] == list(found.commands)
    assert found.run.environment == "/home/you/train"


def test_without_somebody_to_run_it_it_is_the_users() -> None:
    assert made(use("container-check")).run is None


def test_the_proof_is_kept() -> None:
    proof = StepProof(Proves.DRIVER, wanted="595")
    assert made(use("reboot"), proof=proof).proof == proof


@pytest.mark.parametrize(
    ("lines", "programs"),
    [
        (("pip install torch",), (("pip", "install", "torch"),)),
        (("pip install 'numpy<2'",), (("pip", "install", "numpy<2"),)),
        ((". train/bin/activate", "pip list"), (("pip", "list"),)),
        (("source train/bin/activate",), ()),
        (("conda activate train", "conda install cuda"), (("conda", "install", "cuda"),)),
        (("conda deactivate",), (("conda", "deactivate"),)),
        (("", "true"), (("true",),)),
        (("echo 'a b' \"c d\"",), (("echo", "a b", "c d"),)),
        ((), ()),
    ],
)
def test_the_programs_of_lines(lines: tuple[str, ...], programs: tuple[tuple[str, ...], ...]) -> None:
    assert programs_of(lines) == programs


WORDS_OF_LINES = st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=4).filter(lambda one: one[0] not in {".", "source"})


@given(WORDS_OF_LINES.filter(lambda one: one[:2] != ["conda", "activate"]))
def test_quoted_words_come_back_one_by_one(words: list[str]) -> None:
    assert programs_of((shlex.join(words),)) == (tuple(words),)


@pytest.mark.parametrize(
    ("root", "new", "expected"),
    [
        ("/opt/conda/envs", "/home/you/torch-gpu", "/opt/conda/envs/torch-gpu"),
        ("/opt/conda/envs", "torch-gpu-2", "/opt/conda/envs/torch-gpu-2"),
        ("", "/home/you/torch-gpu", "/home/you/torch-gpu"),
        ("", NEW, "torch-gpu"),
    ],
)
def test_conda_makes_a_new_one_beside_its_own(root: str, new: str, expected: str) -> None:
    assert TorchSurroundings(new=new, conda_root=root).new_of_conda == expected


@pytest.mark.parametrize(("name", "there"), [("torch", True), ("torchvision", False), ("Torch", False), ("", False)])
def test_a_package_is_there_by_its_own_name(name: str, there: bool) -> None:
    assert TorchSurroundings(packages=(Package("torch", "2.7.1"), Package("numpy", "2.1"))).has(name) is there


def test_nothing_is_known_of_an_empty_environment() -> None:
    around = TorchSurroundings()
    assert (around.prefix, around.packages, around.wished, around.of_conda) == ("", (), None, False)
