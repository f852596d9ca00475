"""Choosing GPUs: what is written, what is said, and that toolkit and GPUs do not take each other's lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.changes.carry_out import carry_out
from gpuassist.changes.devices_plan import plan_use_devices
from gpuassist.changes.plan import ChangePlan
from gpuassist.changes.undo import undo
from gpuassist.changes.use_toolkit import plan_use_cuda
from gpuassist.changes.wishes import UseCuda, UseDevices
from gpuassist.context import Session
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.fact import Known
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Result
from gpuassist.model.shell import Shell
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from gpuassist.session.use import look_at_gpus
from gpuassist.shellfiles.lines import Choice, ChoiceError, LineChoice
from gpuassist.system.world import World
from tests.changes.homes import made, make_toolkit, world_at


@pytest.fixture
def world(home: Path) -> World:
    return world_at(home)


def _machine(shell: str = "/bin/bash") -> Machine:
    gpus = tuple(Gpu(name=Known(f"RTX {n}", "x"), index=Known(n, "x"), uuid=Known(f"GPU-{n}{n}", "x")) for n in range(3))
    return Machine(gpus=Known(gpus, "x"), shell=Shell(login_shell=Known(shell, "x")))


def _plan(world: World, devices: str, rc: str = "") -> ChangePlan:
    return plan_use_devices(world, _machine(), UseDevices(devices, rc))


def _notes(plan: ChangePlan) -> str:
    return "\n".join(ENGLISH(note) for note in plan.plan.notes)


def test_writes_the_choice_and_proves_it(world: World, home: Path) -> None:
    outcome = carry_out(world, _plan(world, "0,2"))
    assert outcome.outcome.result is Result.MODIFIED
    assert b"export CUDA_DEVICE_ORDER=PCI_BUS_ID\nexport CUDA_VISIBLE_DEVICES=0,2\n" in (home / ".bashrc").read_bytes()
    assert outcome.proof is not None
    assert outcome.proof.holds == Known(True, "/bin/bash -l, then /bin/bash -i")
    assert "CUDA_VISIBLE_DEVICES=0,2" in ENGLISH(outcome.proof.words)


def test_the_block_stands_in_front_of_what_ends_the_file(world: World, home: Path) -> None:
    (home / ".bashrc").write_bytes(b"alias x=y\n[ -e ~/.local_bash ] || return\nalias z=w\n")
    outcome = carry_out(world, _plan(world, "1"))
    assert outcome.proof is not None
    assert outcome.proof.holds == Known(True, "/bin/bash -l, then /bin/bash -i")
    undo(world, "")
    assert (home / ".bashrc").read_bytes() == b"alias x=y\n[ -e ~/.local_bash ] || return\nalias z=w\n"


def test_says_what_is_hidden_and_from_whom(world: World) -> None:
    notes = _notes(_plan(world, "0,2"))
    assert "1: RTX 1 (GPU-11) is hidden from all of them" in notes
    assert "no shell starts" in notes


def test_choosing_all_by_hand_hides_none(world: World) -> None:
    assert "none is hidden" in _notes(_plan(world, "0,1,2"))


def test_the_same_choice_again_changes_nothing(world: World) -> None:
    made(world, _plan(world, "0"))
    again = _plan(world, "0")
    assert again.diff == ""
    assert made(world, again).result is Result.UNCHANGED


def test_all_takes_the_lines_out_and_the_block_with_them(world: World, home: Path) -> None:
    (home / ".bashrc").write_text("alias x=y\n")
    made(world, _plan(world, "0"))
    outcome = carry_out(world, _plan(world, "all"))
    assert (home / ".bashrc").read_text() == "alias x=y\n"
    assert outcome.proof is not None
    assert outcome.proof.holds == Known(True, "/bin/bash -l, then /bin/bash -i")


def _toolkit(home: Path, version: str) -> Machine:
    root = home / f"cuda-{version}"
    if not root.exists():
        make_toolkit(root, f"{version}.1")
    toolkits = Known((Toolkit(str(root), version=Known(Version.parse(version), "x")),), "x")
    return Machine(toolkits=toolkits, shell=Shell(login_shell=Known("/bin/bash", "x")))


def _use(world: World, home: Path, version: str) -> None:
    assert made(world, plan_use_cuda(world, _toolkit(home, version), UseCuda(version))).result is Result.MODIFIED


def test_toolkit_and_gpus_keep_each_others_lines(world: World, home: Path) -> None:
    _use(world, home, "12.4")
    made(world, _plan(world, "1"))
    _use(world, home, "12.6")
    content = (home / ".bashrc").read_text()
    assert content.count("# >>> gpuassist") == 1
    assert "CUDA_VISIBLE_DEVICES=1\n" in content
    assert f"CUDA_HOME={home}/cuda-12.6\n" in content
    made(world, _plan(world, "all"))
    assert f"CUDA_HOME={home}/cuda-12.6\n" in (home / ".bashrc").read_text()


def test_undo_takes_each_choice_back(world: World, home: Path) -> None:
    (home / ".bashrc").write_text("alias x=y\n")
    _use(world, home, "12.4")
    before = (home / ".bashrc").read_bytes()
    made(world, _plan(world, "1"))
    undo(world, "")
    assert (home / ".bashrc").read_bytes() == before
    undo(world, "")
    assert (home / ".bashrc").read_text() == "alias x=y\n"


@pytest.mark.parametrize(
    ("files", "says"),
    [
        (
            {".bashrc": "export CUDA_VISIBLE_DEVICES=1\n"},
            "line 1 of {home}/.bashrc loses to the block (export CUDA_V",
        ),
        ({".profile": ". ~/.bashrc\nexport CUDA_VISIBLE_DEVICES=1\n"}, "line 2 of {home}/.profile loses to the block"),
        ({".bashrc": ". ~/.gpu\n", ".gpu": "CUDA_DEVICE_ORDER=FASTEST_FIRST\n"}, "line 1 of {home}/.gpu"),
    ],
)
def test_names_the_users_own_lines(world: World, home: Path, files: dict[str, str], says: str) -> None:
    for name, content in files.items():
        (home / name).write_text(content)
    assert says.format(home=home) in _notes(_plan(world, "0"))


_OWN = b"alias x=y\r\nexport CUDA_VISIBLE_DEVICES=1 # mine\n\texport CUDA_DEVICE_ORDER=PCI_BUS_ID\nno newline=1"


def test_a_line_of_ones_own_is_commented_out_when_all_are_wished_and_comes_back_to_the_byte(world: World, home: Path) -> None:
    (home / ".bashrc").write_bytes(_OWN)
    plan = _plan(world, "all")
    assert f"line 2 of {home}/.bashrc is your own and chooses GPUs" in _notes(plan)
    assert [(line.line, line.choice) for line in plan.lines] == [(2, Choice.COMMENT_OUT), (3, Choice.KEEP)]
    made(world, plan)
    changed = (home / ".bashrc").read_bytes().split(b"\n")
    assert [number for number, line in enumerate(changed) if b"gpuassist retired" in line] == [1]
    undo(world, "")
    assert (home / ".bashrc").read_bytes() == _OWN


def test_new_terminals_then_see_every_gpu(world: World, home: Path) -> None:
    (home / ".bashrc").write_text(". ~/.gpu\n")
    (home / ".gpu").write_text("export CUDA_VISIBLE_DEVICES=1\n")
    outcome = carry_out(world, _plan(world, "all"))
    assert outcome.proof is not None
    assert outcome.proof.holds.is_true
    assert (home / ".gpu").read_text().startswith("# gpuassist retired ")
    undo(world, "")
    assert ((home / ".bashrc").read_text(), (home / ".gpu").read_text()) == (". ~/.gpu\n", "export CUDA_VISIBLE_DEVICES=1\n")


def test_lines_that_are_kept_are_named_when_all_are_wished(world: World, home: Path) -> None:
    path = str(home / ".bashrc")
    (home / ".bashrc").write_text("export CUDA_VISIBLE_DEVICES=1\n")
    kept = plan_use_devices(world, _machine(), UseDevices("all", lines=()))
    assert f"line 1 of {path} chooses GPUs all the same" in _notes(kept)
    assert kept.edit.after == kept.edit.before
    with pytest.raises(ChoiceError):
        plan_use_devices(world, _machine(), UseDevices("all", lines=(LineChoice(path, 1, Choice.REPLACE),)))


@pytest.mark.parametrize(
    "line",
    [
        "CUDA_VISIBLE_DEVICES=1 python train.py",
        "unset CUDA_VISIBLE_DEVICES",
        "export CUDA_VISIBLE_DEVICES=1 CUDA_HOME=/usr/local/cuda",
        "case $- in *i*) export CUDA_VISIBLE_DEVICES=1;; esac",
    ],
)
def test_what_would_take_more_along_or_has_no_effect_is_kept(world: World, home: Path, line: str) -> None:
    (home / ".bashrc").write_text(f"{line}\n")
    plan = _plan(world, "all")
    assert not any(one.ticked for one in plan.lines)
    assert plan.edit.after == plan.edit.before


@pytest.mark.needs("fish")
def test_fish_reads_the_block_below_what_its_owner_wrote(world: World, home: Path) -> None:
    folder = home / ".config" / "fish"
    (folder / "conf.d").mkdir(parents=True)
    for path in (folder / "config.fish", folder / "conf.d" / "zz.fish"):
        path.write_text("set -gx CUDA_VISIBLE_DEVICES 7\n")
    fishy = replace(world, surroundings=replace(world.surroundings, login_shell="/usr/bin/fish"))
    outcome = carry_out(fishy, plan_use_devices(fishy, _machine("/usr/bin/fish"), UseDevices("0,2")))
    assert outcome.proof is not None
    assert outcome.proof.holds == Known(True, "/usr/bin/fish -l, then /usr/bin/fish -i")
    assert b"set -gx CUDA_VISIBLE_DEVICES 0,2\n" in (folder / "config.fish").read_bytes()
    undo(fishy, "")
    assert (folder / "config.fish").read_text() == "set -gx CUDA_VISIBLE_DEVICES 7\n"


def test_an_obstacle_leaves_the_lines_to_paste(world: World, home: Path) -> None:
    (home / ".bashrc").write_text("")
    (home / ".bashrc").chmod(0o444)
    plan = _plan(world, "0")
    assert made(world, plan).result is Result.REFUSED
    assert plan.block.startswith("# Programs see these GPUs alone")
    assert plan.paste == ("export CUDA_DEVICE_ORDER=PCI_BUS_ID", "export CUDA_VISIBLE_DEVICES=0")


def test_looking_at_gpus_starts_no_shell(world: World) -> None:
    machine = look_at_gpus(Session(world, Knowledge(lambda name: b"[]"), ENGLISH))
    assert isinstance(machine.shell.login_shell, Known)
    assert not isinstance(machine.shell.new_terminal, Known)
