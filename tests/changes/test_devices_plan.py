"""Choosing GPUs: what is written, what is said, and that toolkit and GPUs do not take each other's lines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from gpuassist.session.devices_plan import DevicesPlan, UseDevices, look_at_gpus, plan_use_devices, prove_devices
from gpuassist.session.shell_plan import make

from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.fact import Known
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Result
from gpuassist.model.shell import Shell
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Version
from gpuassist.session import fix
from gpuassist.session.context import Session
from gpuassist.session.words import ENGLISH
from tests.changes.homes import make_toolkit, world_at


@pytest.fixture
def session(home: Path) -> Session:
    return Session(world_at(home), Knowledge(lambda name: b"[]"), ENGLISH)


def _machine(shell: str = "/bin/bash") -> Machine:
    gpus = tuple(Gpu(name=Known(f"RTX {n}", "x"), index=Known(n, "x"), uuid=Known(f"GPU-{n}{n}", "x")) for n in range(3))
    return Machine(gpus=Known(gpus, "x"), shell=Shell(login_shell=Known(shell, "x")))


def _plan(session: Session, devices: str, rc: str = "") -> DevicesPlan:
    return plan_use_devices(session, _machine(), UseDevices(devices, rc))


def _notes(plan: DevicesPlan) -> str:
    return "\n".join(ENGLISH(note) for note in plan.shell.plan.notes)


def test_writes_the_choice_and_proves_it(session: Session, home: Path) -> None:
    plan = _plan(session, "0,2")
    assert make(session, plan.shell).outcome.result is Result.MODIFIED
    content = (home / ".bashrc").read_text()
    assert "export CUDA_DEVICE_ORDER='PCI_BUS_ID'\nexport CUDA_VISIBLE_DEVICES='0,2'\n" in content
    proof = prove_devices(session.world, plan)
    assert proof.holds == Known(True, "/bin/bash -l, then /bin/bash -i")
    assert "CUDA_VISIBLE_DEVICES=0,2" in ENGLISH(proof.words)


def test_says_what_is_hidden_and_from_whom(session: Session) -> None:
    notes = _notes(_plan(session, "0,2"))
    assert "1: RTX 1 (GPU-11) is hidden from all of them" in notes
    assert "no shell starts" in notes


def test_choosing_all_by_hand_hides_none(session: Session) -> None:
    assert "none is hidden" in _notes(_plan(session, "0,1,2"))


def test_the_same_choice_again_changes_nothing(session: Session) -> None:
    make(session, _plan(session, "0").shell)
    again = _plan(session, "0")
    assert again.shell.diff == ""
    assert make(session, again.shell).outcome.result is Result.UNCHANGED


def test_all_takes_the_lines_out_and_the_block_with_them(session: Session, home: Path) -> None:
    (home / ".bashrc").write_text("alias x=y\n")
    make(session, _plan(session, "0").shell)
    plan = _plan(session, "all")
    make(session, plan.shell)
    assert (home / ".bashrc").read_text() == "alias x=y\n"
    assert prove_devices(session.world, plan).holds == Known(True, "/bin/bash -l, then /bin/bash -i")


def _toolkit(home: Path, version: str) -> Machine:
    root = home / f"cuda-{version}"
    if not root.exists():
        make_toolkit(root, f"{version}.1")
    toolkits = Known((Toolkit(str(root), version=Known(Version.parse(version), "x")),), "x")
    return Machine(toolkits=toolkits, shell=Shell(login_shell=Known("/bin/bash", "x")))


def _use(session: Session, home: Path, version: str) -> None:
    assert fix.apply(session, fix.plan_use_cuda(session, _toolkit(home, version), fix.UseCuda(version))).result is Result.MODIFIED


def test_toolkit_and_gpus_keep_each_others_lines(session: Session, home: Path) -> None:
    _use(session, home, "12.4")
    make(session, _plan(session, "1").shell)
    _use(session, home, "12.6")
    content = (home / ".bashrc").read_text()
    assert content.count("# >>> gpuassist") == 1
    assert "CUDA_VISIBLE_DEVICES='1'" in content
    assert f"CUDA_HOME='{home}/cuda-12.6'" in content
    make(session, _plan(session, "all").shell)
    assert f"CUDA_HOME='{home}/cuda-12.6'" in (home / ".bashrc").read_text()


def test_undo_takes_each_choice_back(session: Session, home: Path) -> None:
    (home / ".bashrc").write_text("alias x=y\n")
    _use(session, home, "12.4")
    before = (home / ".bashrc").read_bytes()
    make(session, _plan(session, "1").shell)
    fix.undo(session)
    assert (home / ".bashrc").read_bytes() == before
    fix.undo(session)
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
def test_names_the_users_own_lines(session: Session, home: Path, files: dict[str, str], says: str) -> None:
    for name, content in files.items():
        (home / name).write_text(content)
    assert says.format(home=home) in _notes(_plan(session, "0"))


def test_lines_that_stay_are_named_when_all_are_wished(session: Session, home: Path) -> None:
    (home / ".bashrc").write_text("export CUDA_VISIBLE_DEVICES=1\n")
    assert f"line 1 of {home}/.bashrc chooses GPUs all the same" in _notes(_plan(session, "all"))


@pytest.mark.needs("fish")
def test_fish_gets_a_file_of_its_own(session: Session, home: Path) -> None:
    folder = home / ".config" / "fish"
    folder.mkdir(parents=True)
    (folder / "config.fish").write_text("set -gx CUDA_VISIBLE_DEVICES 7\n")
    around = replace(session.world.surroundings, login_shell="/usr/bin/fish")
    fishy = replace(session, world=replace(session.world, surroundings=around))
    plan = plan_use_devices(fishy, _machine("/usr/bin/fish"), UseDevices("0,2"))
    assert "config.fish is read after the block and wins over it" in _notes(plan)
    assert make(fishy, plan.shell).outcome.result is Result.MODIFIED
    assert b"set -gx CUDA_VISIBLE_DEVICES '0,2'" in (folder / "conf.d" / "gpuassist.fish").read_bytes()
    assert prove_devices(fishy.world, plan).holds == Known(False, "/usr/bin/fish -l, then /usr/bin/fish -i")
    fix.undo(fishy)
    assert not (folder / "conf.d").exists()


def test_an_obstacle_leaves_the_lines_to_paste(session: Session, home: Path) -> None:
    (home / ".bashrc").write_text("")
    (home / ".bashrc").chmod(0o444)
    plan = _plan(session, "0")
    assert make(session, plan.shell).outcome.result is Result.REFUSED
    assert plan.shell.block.startswith("# Programs see these GPUs alone")
    assert plan.shell.paste == ("export CUDA_DEVICE_ORDER='PCI_BUS_ID'", "export CUDA_VISIBLE_DEVICES='0'")


def test_looking_at_gpus_starts_no_shell(session: Session) -> None:
    machine = look_at_gpus(session)
    assert isinstance(machine.shell.login_shell, Known)
    assert not isinstance(machine.shell.new_terminal, Known)
