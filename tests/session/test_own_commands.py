"""Our own command lines lead to the place of the window that does the same, and nothing else leads anywhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.session.navigation import (
    Destination,
    GoTo,
    RepairPart,
    SideTool,
    ToGuide,
    ToHolders,
    ToInstall,
    ToProject,
    ToRepair,
    ToRepairPart,
    ToVerify,
    WizardStep,
)
from gpuassist.session.own_commands import _PLACES, commands_in, place_of, places_in
from gpuassist.session.plan import ANY, InstallWish

PLACES: dict[str, Destination | None] = {
    "gpuassist use cuda 12.4": ToRepair("12.4"),
    "gpuassist use cuda 12.4 --scope project:/home/you": None,
    "gpuassist use devices 0,2": ToRepairPart(RepairPart.DEVICES),
    "gpuassist shell --clean": ToRepairPart(RepairPart.CLEAN),
    "gpuassist shell": ToRepairPart(RepairPart.LINES),
    "gpuassist plan driver": ToInstall(InstallWish(driver=ANY)),
    "gpuassist plan driver==595": ToInstall(InstallWish(driver="595")),
    "gpuassist plan torch==2.8.0+cu128 cuda==12.8 --as uv": ToInstall(InstallWish(torch="2.8.0+cu128", toolkit="12.8", tool="uv")),
    "gpuassist plan torch --no-root": ToInstall(InstallWish(torch=ANY, no_root=True)),
    "gpuassist plan torch --as tarball": None,
    "gpuassist plan --back 20261122-1": GoTo(SideTool.INSTALL),
    "gpuassist plan --project '/home/you/my net'": ToProject("/home/you/my net"),
    "gpuassist plan vllm": None,
    "gpuassist plan hold": None,
    'gpuassist plan gpu="RTX 5090"': None,
    "gpuassist verify": GoTo(WizardStep.VERIFY),
    "gpuassist verify --level full --python /home/you/env/bin/python": ToVerify("/home/you/env/bin/python"),
    "gpuassist verify --python": GoTo(WizardStep.VERIFY),
    "gpuassist undo 20261122-1": GoTo(WizardStep.REPAIR),
    "gpuassist undo 20261122-1 --take-out": None,
    "gpuassist holders": ToHolders(),
    "gpuassist holders --stop 39021": ToHolders(39021),
    "gpuassist monitor": GoTo(WizardStep.LIVE),
    "gpuassist changes": GoTo(WizardStep.FOUND),
    "gpuassist explain --topic precision": ToGuide("precision"),
    "gpuassist know gpu 4090": None,
    "gpuassist": None,
    "gpuassist use cuda '12.4": None,
    "sudo gpuassist undo": None,
    "nvidia-smi": None,
}


@pytest.mark.parametrize("line", PLACES)
def test_a_line_leads_to_what_does_the_same(line: str) -> None:
    assert place_of(line) == PLACES[line]


@given(st.lists(st.one_of(st.sampled_from([*_PLACES, "--python", "--topic", "--as", "driver", "=="]), st.text(max_size=8))))
def test_no_line_raises(words: list[str]) -> None:
    place_of(" ".join(("gpuassist", *words)))


def test_several_lines_name_a_place_once() -> None:
    assert places_in(("gpuassist verify", "pip list", "gpuassist verify")) == (GoTo(WizardStep.VERIFY),)


def test_what_a_sentence_says_to_type_is_found_in_it() -> None:
    said = "`gpuassist plan driver==595` tells how, and `nvidia-smi` shows it."
    assert commands_in(said) == ("gpuassist plan driver==595",)
