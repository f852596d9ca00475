"""The three users' set-ups from start to end, on a machine that becomes another one at each look; and what is remembered."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.model.fact import Known
from gpuassist.model.machine import Machine
from gpuassist.model.plan import StepKind
from gpuassist.model.words import ENGLISH
from gpuassist.session import setup_record, verifications
from gpuassist.session.inspect import inspection_of
from gpuassist.session.navigation import Destination, GoTo, ToInstall, ToRepair, ToWaitingInstall, WizardStep
from gpuassist.session.plan import InstallWish
from gpuassist.session.setup import note_setup
from gpuassist.session.setup_values import Setup, SetupRecord, SetupStageId
from gpuassist.system.files import Files
from tests.fakes import put
from tests.install.installs_made import begun, by_user, script, session_at
from tests.rows import for_each
from tests.session.setup_cases import BARE, INSTALLED, READY, TORCH, WITH_DRIVER, letters, verification
from tests.values import RTX_4090, Env, machine

DRIVER = ToInstall(InstallWish(driver="any"))
TORCH_WISH = ToInstall(InstallWish(torch="any"))


class User:
    """Somebody at one machine, which is looked at as it is then, in the boot that it is in."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.session = session_at(root / "home")
        self.boot("boot-1")

    def boot(self, boot: str) -> None:
        put(self._root / "root", "/proc/sys/kernel/random/boot_id", boot)
        put(self._root / "root", "/etc/machine-id", "0123456789abcdef")
        self.session = replace(self.session, world=replace(self.session.world, files=Files(str(self._root / "root"))))

    def look(self, made: Machine, *, recorded: bool = False) -> Setup:
        return note_setup(self.session, replace(inspection_of(self.session, made), recorded=recorded))

    def verify(self, made: Machine, *verdicts: str, **others: str) -> None:
        one = verification(made, *verdicts, **others)
        assert verifications.keep(self.session.world, one) is None

    @property
    def record(self) -> SetupRecord:
        return setup_record.load(self.session.world)[0]


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


def told(setup: Setup) -> tuple[str, str, Destination | None, str]:
    now = setup.now
    if now is None:
        return letters(setup), "", None, ""
    return letters(setup), now.id.value, now.destination, now.command


def first_of(setup: Setup) -> str:
    """What is done first."""
    assert setup.now is not None
    assert setup.now.does is not None
    return ENGLISH(setup.now.does)


def test_a_new_gpu_from_nouveau_to_live_memory(user: User) -> None:
    assert told(user.look(machine(BARE, bound="nouveau"))) == ("NL-LLL", "driver", DRIVER, "gpuassist plan driver")
    assert told(user.look(machine(INSTALLED))) == ("WN-LLL", "restart", DRIVER, "sudo systemctl reboot")
    assert user.look(machine(INSTALLED)).back is None
    user.boot("boot-2")
    back = user.look(machine(WITH_DRIVER))
    assert told(back) == ("DD-NLL", "torch", TORCH_WISH, "gpuassist plan torch")
    assert back.back is not None
    assert ENGLISH(back.back) == "After the restart driver 595.71.05 is loaded. Next: torch"
    assert user.look(machine(WITH_DRIVER)).back == back.back  # as long as that is next
    ready = user.look(machine(READY))
    assert (told(ready), ready.back) == (("DD-DNL", "verify", GoTo(WizardStep.VERIFY), "gpuassist verify"), None)
    user.verify(machine(READY), "pass")
    assert told(user.look(machine(READY))) == ("DD-DDN", "live", GoTo(WizardStep.LIVE), "gpuassist monitor")
    assert setup_record.live_was_seen(user.session.world)
    done = user.look(machine(READY))
    assert (told(done)[0], done.now, done.closed) == ("DD-DDD", None, False)
    assert all(one.at for one in done.needed)


def test_nvcc_that_does_not_know_the_gpu_until_it_builds_for_it(user: User) -> None:
    old = machine(toolkits=("11.7.99", "12.4.131"), nvcc="11.7")
    assert told(user.look(old)) == ("D-NDLL", "toolkit", ToRepair("12.4"), "gpuassist use cuda 12.4")
    mended = machine(toolkits=("11.7.99", "12.4.131"), nvcc="12.4")
    assert told(user.look(mended))[:2] == ("D-DDNL", "verify")
    user.verify(mended, "pass", driver="550.54.14", torch="2.5.1+cu124")
    assert told(user.look(mended))[:2] == ("D-DDDN", "live")
    setup_record.live_was_seen(user.session.world)
    assert told(user.look(mended))[0] == "D-DDDD"


def test_memory_is_watched_first_and_all_else_is_proved_later(user: User) -> None:
    assert told(user.look(machine(READY)))[:2] == ("D--DNL", "verify")
    assert setup_record.live_was_seen(user.session.world)
    assert not setup_record.live_was_seen(user.session.world)
    assert told(user.look(machine(READY)))[:2] == ("D--DND", "verify")
    user.verify(machine(READY), "pass")
    assert told(user.look(machine(READY)))[0] == "D--DDD"


def test_a_restart_that_did_not_help_is_not_asked_for_twice(user: User) -> None:
    assert told(user.look(machine(INSTALLED)))[:2] == ("WN-LLL", "restart")
    user.boot("boot-2")
    again = user.look(machine(INSTALLED))
    assert (told(again)[:2], again.back is not None) == (("NL-LLL", "driver"), True)
    assert "keep it from taking it" in first_of(again)
    assert told(user.look(machine(INSTALLED)))[:2] == ("NL-LLL", "driver")
    user.boot("boot-3")
    assert told(user.look(machine(WITH_DRIVER)))[:2] == ("DD-NLL", "torch")


@for_each("on_disk", ["550.54.14", "550.90.07"])
def test_after_a_restart_that_did_not_help_something_else_comes_first(tmp_path: Path, on_disk: str) -> None:
    user, mismatched = User(tmp_path), machine(libcuda="550.90.07", on_disk=on_disk)
    user.look(mismatched)
    user.boot("boot-2")
    assert first_of(user.look(mismatched)).startswith("If they still differ after the restart")
    user.boot("boot-3")
    pending = machine(INSTALLED, bound="", secure_boot=True, host_facts={"key_pending": Known(True, "mokutil")})
    assert told(user.look(pending))[1] == "restart"
    user.boot("boot-4")
    assert first_of(user.look(pending)).startswith("If the password is forgotten")


def test_a_restart_into_another_kernel_says_so(user: User) -> None:
    realtime = machine(BARE, gpus=(RTX_4090,), libcuda="535.183.01", host_facts={"realtime": Known(True, "/sys/kernel/realtime")})
    assert told(user.look(realtime))[1] == "restart"
    assert first_of(user.look(realtime)).startswith("Restart and choose the distribution's standard kernel")
    assert user.look(machine(INSTALLED)).now.does is None  # type: ignore[union-attr]  # there is a stage


def test_what_was_cut_short_neither_failed_nor_takes_back_what_passed(user: User) -> None:
    user.verify(machine(READY), "skipped")
    now = user.look(machine(READY)).now
    assert now is not None
    assert (ENGLISH(now.why), now.failed) == ("The verification of 2026-11-22 was not complete on RTX 5090", False)
    user.verify(machine(READY), "pass")
    user.verify(machine(READY), "skipped")
    assert told(user.look(machine(READY)))[1] == "live"


def test_a_restart_for_something_else_is_asked_for_anew(user: User) -> None:
    user.look(machine(INSTALLED))
    user.boot("boot-2")
    mismatched = machine(libcuda="550.90.07")
    assert told(user.look(mismatched))[:2] == ("WNDDLL", "restart")


def test_what_is_unknown_of_the_boot_is_no_restart(user: User) -> None:
    user.boot("")
    user.look(machine(INSTALLED))
    assert told(user.look(machine(INSTALLED)))[:2] == ("WN-LLL", "restart")


def test_an_install_that_waits_is_gone_on_with(user: User) -> None:
    begun(user.session, script("pass"), by_user(StepKind.REBOOT))
    assert told(user.look(machine(WITH_DRIVER)))[2:] == (ToWaitingInstall(), "gpuassist plan --resume")
    user.look(machine(READY))
    assert told(user.look(machine(READY)))[2] == GoTo(WizardStep.VERIFY)


def test_one_environment_is_set_up_and_no_other(user: User) -> None:
    two = machine(WITH_DRIVER, environments=(TORCH, Env("old", "2.9.1+cpu", python="3.12")))
    assert told(user.look(two))[:2] == ("D--DNL", "verify")
    setup_record.save(user.session.world, SetupRecord(begun_at="2026", environment="/home/you/old"))
    assert told(user.look(two))[:2] == ("D--NLL", "torch")
    assert told(user.look(machine(READY)))[:2] == ("D--DNL", "verify")  # it is gone
    user.verify(two, "pass")
    twins = machine(WITH_DRIVER, environments=(TORCH, replace(TORCH, name="old")))
    assert told(user.look(twins))[1:] == ("verify", GoTo(WizardStep.VERIFY), "gpuassist verify --python /home/you/old")
    setup_record.save(user.session.world, SetupRecord(begun_at="2026", environment="/home/you/gpu-env"))
    assert told(user.look(twins))[1] == "live"


def test_nothing_is_remembered_of_a_recording_nor_of_a_machine_without_gpus(user: User) -> None:
    user.look(machine(BARE), recorded=True)
    user.look(machine(BARE, gpus=()))
    assert not user.session.world.disk.exists(setup_record.path(user.session.world))


def test_what_was_said_once_all_was_done_is_said_anew_after_another_stage(user: User) -> None:
    setup_record.save(user.session.world, SetupRecord(begun_at="2026", live_at="2026", closed=True))
    user.verify(machine(READY), "pass")
    assert user.look(machine(READY)).closed
    user.look(machine(BARE))
    assert not user.look(machine(READY)).closed


def test_it_is_kept_for_this_user_alone_and_forgotten(user: User) -> None:
    world = user.session.world
    record = SetupRecord("2026", "/a", True, "b", "c", "d", "torch", "2026", True, True, "/p", (("driver", "2026"),))
    assert setup_record.save(world, record) is None
    assert setup_record.load(world) == (record, None)
    assert Path(setup_record.path(world)).stat().st_mode & 0o077 == 0
    assert Path(setup_record.path(world)).parent.stat().st_mode & 0o077 == 0
    assert (setup_record.forget(world), setup_record.forget(world)) == (True, False)
    assert setup_record.load(world) == (SetupRecord(), None)


@for_each(
    "content",
    [
        b"",
        b"no json",
        b"[" * 5000,
        b"[1]",
        b'{"schema": 2}',
        b'{"schema": 1, "hidden": "yes"}',
        b'{"schema": 1, "done": {"driver": 1}}',
        b'{"schema": 1, "done": [["driver"]]}',
        b'{"schema": 1, "done": [[1, 2]]}',
        b'{"schema": true, "begun_at": null}',
        b"\xff\xfe",
    ],
)
def test_a_damaged_record_is_set_aside_and_named(tmp_path: Path, content: bytes) -> None:
    user = User(tmp_path)
    path = Path(setup_record.path(user.session.world))
    setup_record.save(user.session.world, SetupRecord(begun_at="2026"))
    path.write_bytes(content)
    notice = user.look(machine(READY)).notice
    assert notice is not None
    assert path.with_name(f"{path.name}.damaged").read_bytes() == content
    assert user.look(machine(READY)).notice is None
    assert user.record.begun_at


def test_a_record_that_another_user_could_have_written_is_not_used(user: User) -> None:
    setup_record.save(user.session.world, SetupRecord(begun_at="2026", hidden=True))
    Path(setup_record.path(user.session.world)).chmod(0o666)
    setup = user.look(machine(READY))
    assert (setup.hidden, setup.notice is not None) == (False, True)


def test_where_nothing_can_be_written_nothing_is_remembered(user: User) -> None:
    Path(user.session.world.surroundings.home, ".local").write_text("a file")
    assert told(user.look(machine(INSTALLED)))[:2] == ("WN-LLL", "restart")


def test_each_stage_has_its_day(user: User) -> None:
    setup = user.look(machine(READY))
    assert {one.id for one in setup.stages if one.at} == set()
    setup = user.look(machine(READY))
    assert {one.id for one in setup.stages if one.at} == {SetupStageId.DRIVER, SetupStageId.TORCH}
