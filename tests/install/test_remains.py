"""What installs have left: by their way back, and by hand with the line that takes each away."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.install.records import Install, InstallState, StepState, save
from gpuassist.install.remains import on_record, remains, unread
from gpuassist.model.plan import Step, StepKind
from gpuassist.model.text import verbatim
from gpuassist.session.install import alone
from gpuassist.session.installs_left import installs_left
from tests.install.installs_made import begun, by_user, script, session_at
from tests.rows import for_each


def _done(session: Session, *steps: Step, made: bool = False) -> Install:
    install = begun(session, *steps)
    for number, one in enumerate(install.steps):
        install = install.with_step(number, replace(one, state=StepState.DONE, made=made and one.step.run is not None))
    save(session.world, install)
    return install


def _by_root(*lines: str) -> Step:
    return Step(StepKind.ROOT_COMMAND, verbatim("Install"), lines, needs_root=True)


@for_each(
    "line, removes",
    [
        ("sudo apt install nvidia-driver-580-open", "sudo apt remove nvidia-driver-580-open"),
        ("sudo apt-get install -y a b=1.2", "sudo apt remove a b"),
        ("sudo apt install linux-headers-$(uname -r) nvidia-driver", "sudo apt remove nvidia-driver"),
        ("sudo dnf install akmod-nvidia xorg-x11-drv-nvidia-cuda", "sudo dnf remove akmod-nvidia xorg-x11-drv-nvidia-cuda"),
        ("sudo dnf install epel-release  # releases 8 and 9 only", "sudo dnf remove epel-release"),
        ("sudo pacman -Syu nvidia-open", "sudo pacman -Rs nvidia-open"),
        ("sudo pacman -S --needed linux-headers", "sudo pacman -Rs linux-headers"),
        ("sudo zypper install nvidia-open", "sudo zypper remove nvidia-open"),
        ("sudo rpm-ostree install akmod-nvidia", "sudo rpm-ostree uninstall akmod-nvidia"),
        ("sudo transactional-update -n --continue pkg install a", "sudo transactional-update pkg remove a"),
        *((line, "") for line in (
            "sudo pacman -Syu", "sudo apt update", "sudo apt install --reinstall a", "sudo apt install a && sudo reboot",
            "sudo apt install `curl x`", "sudo apt install 'a; reboot'", "curl x | sudo sh -", "sudo apt install 'open",
            "sudo",
        )),
    ],
)  # fmt: skip
def test_lines_of_each_package_manager_are_turned_round(home: Path, line: str, removes: str) -> None:
    session = session_at(home)
    told = remains(session, _done(session, _by_root(line)))
    assert told is not None
    assert told.by_hand[0].removes == ((removes,) if removes else ())


def test_what_was_made_is_left_as_long_as_it_is_there(home: Path) -> None:
    session = session_at(home)
    place = home / "env"
    install = _done(session, script("pass", creates=str(place)), made=True)
    assert remains(session, install) is None
    place.mkdir()
    told = remains(session, install)
    assert told is not None
    assert told.needs_record
    assert told.back[0].commands == (f"rm -r {place}",)


def test_what_was_taken_back_and_what_nobody_did_is_not_left(home: Path) -> None:
    session = session_at(home)
    install = _done(session, _by_root("sudo apt install a"))
    waits = begun(session, by_user(StepKind.ROOT_COMMAND))
    save(session.world, replace(install, state=InstallState.TAKEN_BACK))
    assert [one.id for one in on_record(session.world)] == [waits.id]
    assert remains(session, waits) is None


def test_steps_that_are_the_journals_are_not_told(home: Path) -> None:
    session = session_at(home)
    edit = Step(StepKind.EDIT, verbatim("Use it"), ("gpuassist use cuda 12.4",))
    assert remains(session, _done(session, edit, by_user(StepKind.REBOOT))) is None


def test_a_record_that_cannot_be_read_is_named(home: Path) -> None:
    session = session_at(home)
    install = begun(session, script("pass"))
    path = Path(session.world.surroundings.state(), "installs", install.id)
    (path / "install.json").write_text("{")
    assert unread(session.world) == (str(path),)
    assert installs_left(session).unread == (str(path),)


def test_while_another_is_at_an_install_nothing_is_asked_and_that_is_said(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuassist.install.records._LOCK_SECONDS", 0.0)
    session = session_at(home)
    _done(session, script("pass", creates=str(home)), made=True)
    with alone(session):
        (told,) = installs_left(session).left
    assert told.unknown is not None
    assert told.needs_record


def test_where_no_install_is_nothing_is_made(home: Path) -> None:
    assert installs_left(session_at(home)).left == ()
    assert not (home / ".local").exists()


@pytest.mark.parametrize("state", [StepState.WAITING, StepState.TAKEN_BACK])
def test_a_step_by_hand_that_was_not_done_is_not_told(home: Path, state: StepState) -> None:
    session = session_at(home)
    install = _done(session, _by_root("sudo apt install a"))
    assert remains(session, install.with_step(0, replace(install.steps[0], state=state))) is None
