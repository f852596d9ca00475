"""torch by conda: the build by its name, the channels that have it, and an environment that conda made."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.install.conda import conda_ways, notes_on_conda
from gpuassist.install.place import InstallPlace, TorchSurroundings
from gpuassist.knowledge.change import TorchMove
from gpuassist.knowledge.conda import conda_builds
from gpuassist.knowledge.records import Channel, CondaRecord
from gpuassist.model.environment import Package
from gpuassist.model.outlook import Method
from gpuassist.model.plan import Proves, Step, StepProof, StepRun, Tool
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from tests.values import knowledge

ROOT = "/home/you/miniforge3/envs"
TRAIN = f"{ROOT}/train"
PACKAGES = (Package("pytorch", "2.4.1", "py3.11_cuda12.4_cudnn9.1.0_0"), Package("pytorch-cuda", "12.4", "hc786d27_7"))
AROUND = TorchSurroundings(
    TRAIN, "train", "/home/you/torch-gpu", PACKAGES, f"{TRAIN}/lib/python3.11/site-packages/torch", python=Version.parse("3.11.9")
)
THERE = InstallPlace(
    python=f"{TRAIN}/bin/python", torch_there=True, around=replace(AROUND, of_conda=True, torch_of_conda=True, conda_root=ROOT)
)
VENV = InstallPlace(
    python="/home/you/train/bin/python", tool="pip", torch_there=True, around=replace(AROUND, prefix="/home/you/train")
)


def record(channel: Channel, version: str, cuda: str) -> CondaRecord:
    wanted = (channel, Version.parse(version), Version.parse(cuda), "linux-64")
    return next(one for one in knowledge().conda() if (one.channel, one.version, one.cuda, one.platform) == wanted)


NEW = record(Channel.CONDA_FORGE, "2.13.0", "13.0")


def ways(one: CondaRecord = NEW, place: InstallPlace = THERE) -> dict[Method, tuple[Step, ...]]:
    (build,) = conda_builds((one,), knowledge().torch_builds())
    return {way.way: way.steps for way in conda_ways(TorchMove(build), one, place, knowledge())}


def test_ways_into_condas_own_environment() -> None:
    assert list(ways()) == [Method.NEW, Method.CLEAN, Method.IN_PLACE]


def test_another_managers_environment_gets_a_new_one_beside_it() -> None:
    assert list(ways(place=VENV)) == [Method.NEW]


def test_pips_torch_in_condas_environment_is_left_there() -> None:
    assert list(ways(place=replace(THERE, around=replace(THERE.around, torch_of_conda=False)))) == [Method.NEW]


def test_a_python_that_the_build_is_not_for_needs_a_new_environment() -> None:
    place = replace(THERE, around=replace(THERE.around, python=Version.parse("3.8")))
    assert list(ways(place=place)) == [Method.NEW]
    assert "python=3.12" in ways(place=place)[Method.NEW][0].commands[0].split()


def test_an_environment_without_torch_takes_it_first() -> None:
    assert list(ways(place=replace(THERE, torch_there=False))) == [Method.IN_PLACE, Method.NEW]


def test_a_new_one_stands_beside_condas_others() -> None:
    (step,) = ways()[Method.NEW]
    place = f"{ROOT}/torch-gpu"
    assert step.run is not None
    assert step.run == StepRun(step.run.programs, Tool.CONDA, place, f"{place}/bin/python", place)
    assert step.run.programs[0][:5] == ("conda", "create", "--yes", "--prefix", place)
    assert len(step.run.programs) == 1
    assert step.proof == StepProof(Proves.TORCH, f"{place}/bin/python", "2.13.0")


def test_a_clean_out_takes_what_conda_calls_torch() -> None:
    removal, installed = ways()[Method.CLEAN]
    assert removal.commands == (f"conda remove --yes --prefix {TRAIN} pytorch pytorch-cuda",)
    assert removal.proof == StepProof(Proves.ABSENT, f"{TRAIN}/lib/python3.11/site-packages/torch")
    assert installed.commands[0].startswith(f"conda install --yes --prefix {TRAIN} -c conda-forge ")


def test_conda_forge_is_asked_for_a_build_with_cuda() -> None:
    (step,) = ways()[Method.IN_PLACE]
    assert step.commands[0].endswith("-c conda-forge 'pytorch=2.13.0=cuda*' cuda-version=13.0")


@pytest.mark.parametrize(
    ("version", "cuda", "expected"),
    [
        ("2.5.1", "12.4", "pytorch=2.5.1=py3.11_cuda12.4_cudnn9.1.0_0 torchvision=0.20.1 pytorch-cuda=12.4"),
        ("2.0.1", "11.7", "pytorch=2.0.1=py3.11_cuda11.7_cudnn8.5.0_0 torchvision=0.15.2 'mkl<2024.1' 'numpy<2' pytorch-cuda=11.7"),
        (
            "1.12.1",
            "11.3",
            "pytorch=1.12.1=py3.10_cuda11.3_cudnn8.3.2_0 torchvision=0.13.1 'mkl<2024.1' 'numpy<2' cudatoolkit=11.3",
        ),
    ],
)
def test_the_old_channel_is_asked_for_the_very_build(version: str, cuda: str, expected: str) -> None:
    one = record(Channel.PYTORCH, version, cuda)
    line = ways(one)[Method.NEW][0].commands[0]
    assert line.endswith(expected)
    assert [f"-c {channel}" in line for channel in one.channels] == [True] * len(one.channels)


def test_companions_of_the_environment_come_from_the_same_channel() -> None:
    around = replace(THERE.around, packages=(*PACKAGES, Package("torchaudio", "2.4.1", "py311_cu124")))
    old = ways(record(Channel.PYTORCH, "2.5.1", "12.4"), replace(THERE, around=around))[Method.NEW][0].commands[0]
    new = ways(record(Channel.CONDA_FORGE, "2.11.0", "13.0"), replace(THERE, around=around))[Method.NEW][0].commands[0]
    assert "torchaudio=2.5.1" in old.split()
    assert "torchaudio" in new.split()


@pytest.mark.parametrize("name", ["torchaudio", "torchtext", "xformers", "flash-attn"])
def test_what_has_no_match_is_left_out_and_named(name: str) -> None:
    place = replace(THERE, around=replace(THERE.around, packages=(*PACKAGES, Package(name, "1.0", "py311_0"))))
    assert name not in ways(NEW, place)[Method.NEW][0].commands[0].split()
    (told,) = notes_on_conda(NEW, place, knowledge())
    assert ENGLISH(told).startswith(f"{name} 1.0 is built for the torch that is there")


def test_the_old_channel_is_said_to_be_frozen() -> None:
    (told,) = notes_on_conda(record(Channel.PYTORCH, "2.5.1", "12.4"), THERE, knowledge())
    assert "is frozen" in ENGLISH(told)
    assert notes_on_conda(NEW, THERE, knowledge()) == ()


def test_conda_is_named_where_nothing_shows_that_it_is_there() -> None:
    def notes(place: InstallPlace) -> list[str]:
        (build,) = conda_builds((NEW,), knowledge().torch_builds())
        return [ENGLISH(note) for note in conda_ways(TorchMove(build), NEW, place, knowledge())[0].notes]

    assert any("takes conda" in note for note in notes(VENV))
    assert not any("takes conda" in note for note in notes(THERE))
