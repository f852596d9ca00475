"""Machines kept while they were healthy: what is kept of them, when anew, for how long, and what is not used."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.model.codec import decode, encode
from gpuassist.model.fact import NOT_ASKED, Known, Unknown
from gpuassist.model.finding import Answer, Diagnosis, Severity
from gpuassist.model.gpu import Gpu, Holder, PowerState
from gpuassist.model.machine import Machine
from gpuassist.model.next_start import NextStart
from gpuassist.model.past import KeptMachine
from gpuassist.model.shell import Shadow, ShadowKind, StartupFile, Terminal, Variable
from gpuassist.model.text import text
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from gpuassist.session import kept_machines
from gpuassist.session.inspect import Inspection, examples, open_example
from gpuassist.session.kept_document import tells_nothing_new
from gpuassist.session.kept_machines import (
    AT_MOST,
    DOCTOR,
    VERIFY,
    forget,
    is_due,
    is_healthy,
    keep,
    keep_healthy,
    keep_verified,
    keeping,
    kept,
    now_of,
    root,
    set_keeping,
    thinned_out,
)
from gpuassist.session.steady_machine import steady
from gpuassist.system.clock import iso
from gpuassist.system.files import Files
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.fakes import FixedClock
from tests.strangers import given_away
from tests.values import Env, knowledge, machine

HEALTHY = machine(environments=(Env("train", "2.6.0+cu124"),))
UPGRADED = machine(environments=(Env("train", "2.7.0+cu126"),))
LATER = timedelta(hours=1)


class _Clock(FixedClock):
    def later(self, by: timedelta = LATER) -> None:
        self.moment += by


@pytest.fixture
def clock() -> _Clock:
    return _Clock()


@pytest.fixture
def world(home: Path, clock: _Clock) -> World:
    return World(Surroundings(str(home), "you", os.geteuid(), {}, str(home)), clock=clock)


def looked_at(one: Machine, world: World) -> Machine:
    """The machine as a look of now finds it."""
    files = Known((StartupFile(f"{world.surroundings.home}/.bashrc", exists=True),), "the home directory")
    return replace(one, taken_at=iso(world.clock.now()), shell=replace(one.shell, startup_files=files))


def seen(world: World, one: Machine = HEALTHY, by: str = DOCTOR) -> KeptMachine:
    """Keeps what a look of now finds."""
    now = now_of(world, looked_at(one, world), by)
    assert keep(world, now) is None
    return now


def inspection(one: Machine, *severities: Severity, recorded: bool = False) -> Inspection:
    answers = tuple(Answer("some", severity, "", "", (), (), ()) for severity in severities)
    return Inspection(one, Diagnosis(), answers, (), 0.1, recorded, "")


def places(world: World) -> list[Path]:
    return sorted(Path(root(world)).iterdir())


def rewritten(place: Path, **fields: Any) -> None:
    """The file with other fields of the machine that was kept."""
    told = json.loads(place.read_text("utf-8"))
    told["kept"].update(fields)
    place.write_text(json.dumps(told), "utf-8")


def moment(at: str) -> datetime:
    return datetime.fromisoformat(at)


def test_what_is_kept_is_read_back(world: World) -> None:
    now = seen(world)
    (one,) = kept(world).machines
    assert kept(world).notes == ()
    assert (one.identity, one.by, one.startup, one.boot) == (now.identity, DOCTOR, now.startup, now.boot)
    assert moment(one.at) == moment(one.first) == world.clock.now()
    assert tells_nothing_new(one, now)
    assert tells_nothing_new(now, one)


@pytest.mark.parametrize(
    "name", [example.name for example in examples(Session(World(Surroundings("/", "", 0)), knowledge(), ENGLISH))]
)
def test_every_machine_comes_back_as_it_was(world: World, name: str) -> None:
    one = open_example(Session(world, knowledge(), ENGLISH), name).machine
    seen(world, one)
    back = replace(kept(world).machines[0].machine, taken_at="")
    told = steady(replace(one, shell=back.shell))
    assert _without_reasons(encode(back, ENGLISH)) == _without_reasons(encode(told, ENGLISH))


def _without_reasons(told: Any) -> Any:
    if isinstance(told, dict):
        return {name: _without_reasons(value) for name, value in told.items() if name != "reason"}
    return [_without_reasons(one) for one in told] if isinstance(told, list) else told


def test_nothing_kept_is_nothing(world: World) -> None:
    assert kept(world) == kept_machines.KeptMachines()


def test_only_this_user_may_read_them(world: World) -> None:
    seen(world)
    assert stat.S_IMODE(Path(root(world)).stat().st_mode) == 0o700
    assert [stat.S_IMODE(place.stat().st_mode) for place in places(world)] == [0o600]


# Once more, and anew.


def test_the_same_machine_is_not_written_again(world: World, clock: _Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    first = seen(world)
    clock.later()

    def never(path: str, content: bytes) -> None:
        raise AssertionError(path)

    monkeypatch.setattr(world.disk, "write", never)
    seen(world)
    (one,) = kept(world).machines
    assert (moment(one.first), moment(one.at)) == (moment(first.at), clock.moment)


def test_another_machine_is_kept_beside_it(world: World, clock: _Clock) -> None:
    seen(world)
    clock.later()
    seen(world, UPGRADED)
    assert len(kept(world).machines) == 2
    assert moment(kept(world).machines[0].at) == clock.moment


def test_one_that_is_as_it_was_before_a_change_is_kept_anew(world: World, clock: _Clock) -> None:
    for one in (HEALTHY, UPGRADED, HEALTHY):
        seen(world, one)
        clock.later()
    assert len(kept(world).machines) == 3


OF_THE_MOMENT: tuple[Callable[[Gpu], Gpu], ...] = (
    lambda gpu: replace(gpu, memory_used_bytes=Known(1 << 30, "NVML")),
    lambda gpu: replace(gpu, processes=Known((), "NVML")),
    lambda gpu: replace(gpu, power_state=Known(PowerState.ASLEEP, "sysfs")),
    lambda gpu: replace(gpu, display_active=Known(value=True, source="NVML")),
    lambda gpu: replace(gpu, slowdowns=Known(("heat",), "NVML")),
    lambda gpu: replace(gpu, uuid=Unknown(text("NVML was not asked"))),
    lambda gpu: replace(gpu, name=replace(gpu.name, source="another place")) if isinstance(gpu.name, Known) else gpu,
)


@pytest.mark.parametrize("change", OF_THE_MOMENT)
def test_what_changes_with_every_look_makes_no_other_machine(world: World, clock: _Clock, change: Callable[[Gpu], Gpu]) -> None:
    seen(world)
    clock.later()
    assert isinstance(HEALTHY.gpus, Known)
    seen(world, replace(HEALTHY, gpus=replace(HEALTHY.gpus, value=tuple(map(change, HEALTHY.gpus.value)))))
    assert len(kept(world).machines) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda one: replace(one, holders=Known((Holder(1, "you", "python --token=secret", ("/dev/nvidia0",)),), "/proc")),
        lambda one: replace(one, host=replace(one.host, slept=Known(7, "/sys"))),
        lambda one: replace(one, shell=replace(one.shell, own=Known(Terminal("bash", (Variable("PATH", "/venv"),), ()), "own"))),
        lambda one: replace(one, environments=Unknown(text("looking took longer than 30 s"))),
    ],
)
def test_so_it_is_with_what_only_this_look_met(world: World, clock: _Clock, change: Callable[[Machine], Machine]) -> None:
    seen(world)
    clock.later()
    seen(world, change(HEALTHY))
    assert len(kept(world).machines) == 1
    assert "secret" not in places(world)[0].read_text("utf-8")


def test_what_was_not_known_before_is_kept_once_it_is(world: World, clock: _Clock) -> None:
    seen(world, replace(HEALTHY, environments=NOT_ASKED))
    clock.later()
    seen(world)
    assert len(kept(world).machines) == 2


def test_directories_of_a_session_are_no_change(world: World, clock: _Clock) -> None:
    def with_path(path: str) -> Machine:
        terminal = Terminal("bash", (Variable("PATH", path),), ())
        return replace(HEALTHY, shell=replace(HEALTHY.shell, new_terminal=Known(terminal, "bash")))

    seen(world, with_path("/run/user/1000/fnm_multishells/1_2/bin:/usr/bin"))
    clock.later()
    seen(world, with_path("/run/user/1000/fnm_multishells/8_9/bin:/usr/bin"))
    assert len(kept(world).machines) == 1
    clock.later()
    seen(world, with_path("/opt/cuda/bin:/usr/bin"))
    assert len(kept(world).machines) == 2


def test_a_function_is_kept_without_the_keys_in_it(world: World) -> None:
    shadow = Shadow("python", ShadowKind.FUNCTION, "python () { HF_TOKEN='hunter two' OPENAI_API_KEY=sk-1 command python; }")
    terminal = Known(Terminal("bash", (), (), (shadow,)), "bash")
    seen(world, replace(HEALTHY, shell=replace(HEALTHY.shell, new_terminal=terminal)))
    told = places(world)[0].read_text("utf-8")
    assert "command python" in told
    assert "hunter" not in told
    assert "sk-1" not in told


def test_a_changed_line_of_a_startup_file_is_a_change(world: World, clock: _Clock, home: Path) -> None:
    (home / ".bashrc").write_text("alias ll='ls -l'\nexport PATH=/usr/local/cuda-12.4/bin:$PATH TOKEN=secret\n", "utf-8")
    seen(world)
    clock.later()
    (home / ".bashrc").write_text("alias ll='ls -l'\nexport PATH=/usr/local/cuda-11.8/bin:$PATH TOKEN=secret\n", "utf-8")
    seen(world)
    told = [one for each in kept(world).machines for one in each.startup if one.path == f"{home}/.bashrc"]
    assert [(line.number, line.text) for one in told for line in one.lines] == [
        (2, "PATH=/usr/local/cuda-11.8/bin:$PATH"),
        (2, "PATH=/usr/local/cuda-12.4/bin:$PATH"),
    ]
    assert told[0].digest != told[1].digest
    assert not [place for place in places(world) if "secret" in place.read_text("utf-8")]


def test_a_file_that_a_startup_file_reads_in_is_kept_as_well(world: World, home: Path) -> None:
    (home / ".bashrc").write_text(". ~/.cuda.sh\n. /no/such/file\n", "utf-8")
    (home / ".cuda.sh").write_text("export CUDA_HOME=/opt/cuda\n", "utf-8")
    assert f"{home}/.cuda.sh" in [one.path for one in seen(world).startup]


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.write_bytes(b"#" * (2 << 20))])
def test_a_startup_file_that_cannot_be_read_has_no_digest(world: World, home: Path, make: Callable[[Path], None]) -> None:
    make(home / ".bashrc")
    (one,) = [one for one in seen(world).startup if one.path == f"{home}/.bashrc"]
    assert (one.digest, one.lines) == ("", ())


def test_a_verified_machine_stays_that_while_it_is_the_same(world: World, clock: _Clock) -> None:
    for by in (DOCTOR, VERIFY, DOCTOR):
        seen(world, by=by)
        clock.later()
    (one,) = kept(world).machines
    assert one.by == VERIFY
    assert moment(one.at) - moment(one.first) == 2 * LATER


def test_another_boot_is_told_of_the_same_machine(world: World, clock: _Clock) -> None:
    first = seen(world)
    clock.later()
    again = replace(now_of(world, looked_at(HEALTHY, world), DOCTOR), boot="another-boot")
    assert keep(world, again) is None
    (one,) = kept(world).machines
    assert (one.boot, moment(one.first)) == ("another-boot", moment(first.at))


# How many.


def test_the_last_ones_and_one_of_each_day_week_and_month_stay(world: World, clock: _Clock) -> None:
    clock.moment = datetime(2025, 1, 1, tzinfo=timezone.utc)
    begun = clock.moment
    one, other = (now_of(world, looked_at(one, world), DOCTOR) for one in (HEALTHY, UPGRADED))
    for number in range(200):
        assert keep(world, replace(one if number % 2 else other, at=iso(clock.moment))) is None
        clock.later(timedelta(days=1, hours=15))
    moments = [moment(one.at) for one in kept(world).machines]
    assert len(moments) <= AT_MOST
    assert moments[-1] - begun < timedelta(days=31)
    gaps = [(after - before).days for after, before in pairwise(moments)]
    assert max(gaps) <= 33
    assert max(gaps[:8]) <= 2


def test_a_busy_day_does_not_push_out_yesterday(world: World, clock: _Clock) -> None:
    yesterday = clock.moment
    one, other = (now_of(world, looked_at(one, world), DOCTOR) for one in (HEALTHY, UPGRADED))
    for number in range(40):
        assert keep(world, replace(one if number % 2 else other, at=iso(clock.moment))) is None
        clock.later(timedelta(days=1) if not number else timedelta(minutes=3))
    assert moment(kept(world).machines[-1].at) == yesterday


@pytest.mark.parametrize("count", [0, 1, 7, 200])
def test_thinning_out_what_is_thinned_out_changes_nothing(count: int) -> None:
    base = datetime(2026, 11, 23, tzinfo=timezone.utc)
    names = [f"{base - number * timedelta(hours=17):%Y%m%d-%H%M%S}-1.json" for number in range(count)]
    gone = thinned_out(names)
    left = [name for name in names if name not in gone]
    assert len(left) <= AT_MOST
    assert left[:1] == names[:1]
    assert thinned_out(left) == []


# What is not used, and says so.


def only_note(world: World) -> str:
    found = kept(world)
    assert len(found.notes) == 1
    return ENGLISH(found.notes[0])


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no json",
        b"[1]",
        b"[" * 5000,
        b'{"schema": 1}',
        b'{"schema": 1, "kept": {"machine": 3}}',
        b'{"schema": 1, "kept": {"at": 3, "identity": "", "by": "", "machine": {}}}',
        b'{"schema": 1, "kept": {"machine": ' + b"[" * 900 + b"]" * 900 + b"}}",
        b'{"schema": 0, "kept": {}}',
        b'{"schema": 99, "kept": {}}',
        b"x" * ((1 << 20) + 1),
    ],
)
def test_a_file_that_cannot_be_used_is_named(world: World, clock: _Clock, content: bytes) -> None:
    seen(world)
    damaged = places(world)[0].with_name("20200101-000000-1.json")
    damaged.write_bytes(content)
    assert str(damaged) in only_note(world)
    assert len(kept(world).machines) == 1
    clock.later()
    seen(world, UPGRADED)
    assert len(kept(world).machines) == 2


def test_a_name_that_is_no_time_is_named(world: World) -> None:
    seen(world)
    (place,) = places(world)
    place.rename(place.with_name("20269999-999999-1.json"))
    assert kept(world).machines == () or moment(kept(world).machines[0].at).year == 1970


def test_a_link_is_not_followed(world: World, tmp_path: Path) -> None:
    seen(world)
    (place,) = places(world)
    place.rename(tmp_path / "elsewhere.json")
    place.symlink_to(tmp_path / "elsewhere.json")
    assert str(place) in only_note(world)


def test_a_file_that_others_may_write_is_named(world: World) -> None:
    seen(world)
    places(world)[0].chmod(0o666)
    assert "everybody may write" in only_note(world)


def test_a_file_of_another_user_is_named(world: World) -> None:
    seen(world)
    found = kept(given_away(world, places(world)[0]))
    assert found.machines == ()
    assert len(found.notes) == 1


def test_a_directory_that_others_may_write_is_not_used(world: World) -> None:
    seen(world)
    Path(root(world)).chmod(0o777)
    assert kept(world).machines == ()
    assert len(kept(world).notes) == 1
    assert keep(world, now_of(world, looked_at(UPGRADED, world), DOCTOR)) is not None


def test_others_that_share_the_home_are_told_in_one_note(world: World, clock: _Clock) -> None:
    for one in (HEALTHY, UPGRADED):
        seen(world, one)
        clock.later()
    for place in places(world):
        rewritten(place, identity="another")
    assert only_note(world).startswith("2 kept machines")
    seen(world, UPGRADED)
    assert len(kept(world).machines) == 1


def test_a_clock_that_once_ran_ahead_costs_no_machine_that_was_seen_before(world: World, clock: _Clock) -> None:
    seen(world)
    first = iso(clock.now())
    clock.later(timedelta(days=9000))
    seen(world)  # the same: its file is named by the later moment
    clock.later(LATER - timedelta(days=9000))
    (one,) = kept(world).machines
    assert (one.at, one.machine.taken_at) == (first, first)
    assert "time to come" in only_note(world)


def test_a_time_to_come_is_told_and_no_measure(world: World, clock: _Clock) -> None:
    clock.later(timedelta(days=9000))
    seen(world)
    clock.later(-timedelta(days=9000))
    assert kept(world).machines == ()
    assert "time to come" in only_note(world)
    for _ in range(2):
        seen(world)
        clock.later()
    assert len(kept(world).machines) == 1
    assert len(places(world)) == 2


def test_an_older_file_with_fewer_fields_is_read(world: World) -> None:
    seen(world)
    (place,) = places(world)
    told = json.loads(place.read_text("utf-8"))
    for name in ("startup", "boot", "first"):
        del told["kept"][name]
    del told["kept"]["machine"]["host"]["board"]
    del told["kept"]["machine"]["package_settings"]
    told["kept"]["from-the-future"] = {"more": [1]}
    told["kept"]["machine"]["driver"]["from-the-future"] = 1
    place.write_text(json.dumps(told), "utf-8")
    (one,) = kept(world).machines
    assert one.machine.host.board == NOT_ASKED
    assert one.first == one.at


@pytest.mark.parametrize("first", ["", "yesterday", "2026-11-21", "9999-01-01T00:00:00+00:00", 3])
def test_a_first_moment_that_is_none_is_the_last_one(world: World, first: object) -> None:
    seen(world)
    rewritten(places(world)[0], first=first)
    assert [one.first == one.at for one in kept(world).machines] in ([True], [])


def test_names_that_are_no_utf_8_come_back(world: World) -> None:
    odd = machine(environments=(Env("tr\udcffin", "2.6.0+cu124"),))
    seen(world, odd)
    seen(world, odd)
    (one,) = kept(world).machines
    assert isinstance(one.machine.environments, Known)
    assert one.machine.environments.value[0].name == "tr\udcffin"


def test_one_that_is_too_large_is_not_kept(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_machines, "LARGEST", 100)
    assert keep(world, now_of(world, looked_at(HEALTHY, world), DOCTOR)) is not None
    assert places(world) == []


def test_a_full_disk_is_told(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: str, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(world.disk, "write", full)
    assert keep(world, now_of(world, looked_at(HEALTHY, world), DOCTOR)) is not None
    assert kept(world).machines == ()


def test_what_was_left_half_written_goes_another_day(world: World, clock: _Clock) -> None:
    seen(world)
    half = Path(root(world)) / f"{places(world)[0].name}.new"
    half.write_bytes(b"{")
    seen(world, UPGRADED)
    assert half.exists()  # somebody else may be at it
    clock.later(timedelta(days=1))
    seen(world)
    assert not half.exists()


def test_versions_keep_their_spelling(world: World) -> None:
    spelled = replace(HEALTHY, driver=replace(HEALTHY.driver, version=Known(Version.parse("580.65.06"), "NVML")))
    seen(world, spelled)
    version = kept(world).machines[0].machine.driver.version
    assert isinstance(version, Known)
    assert str(version.value) == "580.65.06"


def test_texts_among_the_facts_come_back_in_words(world: World) -> None:
    why = text("{path} could not be read: {error}", path="/boot", error=text("it is {mode}", mode=7))
    seen(world, replace(HEALTHY, next_start=NextStart(unread=(why,))))
    assert [ENGLISH(one) for one in kept(world).machines[0].machine.next_start.unread] == ["/boot could not be read: it is 7"]


def test_the_machine_is_not_named_by_its_own_id(world: World) -> None:
    seen(world)
    files = Files()
    identity = files.text("/etc/machine-id").strip()
    assert not identity or identity not in places(world)[0].read_text("utf-8")


# Which machines, and whether at all.


@pytest.mark.parametrize(
    ("found", "healthy"),
    [
        (inspection(HEALTHY), True),
        (inspection(HEALTHY, Severity.INFO, Severity.WARNING), True),
        (inspection(HEALTHY, Severity.WARNING, Severity.PROBLEM), False),
        (inspection(HEALTHY, recorded=True), False),
        (inspection(replace(HEALTHY, gpus=Known((), "/sys"))), False),
        (inspection(replace(HEALTHY, gpus=Unknown(text("it took too long")))), False),
    ],
)
def test_only_a_healthy_machine_is_kept(world: World, found: Inspection, healthy: bool) -> None:
    assert is_healthy(found) is healthy
    assert keep_healthy(world, found) is None
    assert len(kept(world).machines) == healthy


def test_a_verified_machine_needs_a_gpu(world: World) -> None:
    assert keep_verified(world, replace(HEALTHY, gpus=NOT_ASKED)) is None
    assert kept(world).machines == ()
    assert keep_verified(world, HEALTHY) is None
    assert [one.by for one in kept(world).machines] == [VERIFY]


def test_a_machine_under_another_root_is_none_of_ours(world: World, tmp_path: Path) -> None:
    elsewhere = replace(world, files=Files(str(tmp_path)))
    keep_healthy(elsewhere, inspection(HEALTHY))
    assert kept(world).machines == ()


def test_root_keeps_nothing_in_another_users_home(world: World) -> None:
    stranger = replace(world, surroundings=replace(world.surroundings, uid=os.geteuid() + 1))
    assert keep(stranger, now_of(world, looked_at(HEALTHY, world), DOCTOR)) is not None
    assert not Path(root(world)).exists()


def test_it_can_be_turned_off_and_on_again(world: World, clock: _Clock) -> None:
    assert keeping(world)
    seen(world)
    set_keeping(world, on=False)
    assert not keeping(world)
    clock.later()
    keep_healthy(world, inspection(looked_at(UPGRADED, world)))
    keep_verified(world, looked_at(UPGRADED, world))
    assert len(kept(world).machines) == 1
    set_keeping(world, on=True)
    assert keeping(world)


def test_forgetting_leaves_nothing(world: World, clock: _Clock) -> None:
    assert forget(world) == 0
    for one in (HEALTHY, UPGRADED):
        seen(world, one)
        clock.later()
    assert forget(world) == 2
    assert not Path(root(world)).exists()


def test_a_look_at_everything_is_due_once_a_day(world: World, clock: _Clock) -> None:
    assert is_due(world)
    seen(world)
    assert not is_due(world)
    clock.later(timedelta(days=1))
    assert is_due(world)


def test_a_kept_machine_goes_through_the_codec(world: World) -> None:
    now = seen(world)
    again: KeptMachine = decode(KeptMachine, encode(now, ENGLISH))
    assert tells_nothing_new(again, now)
