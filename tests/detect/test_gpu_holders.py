"""Who holds the GPUs of made-up machines, and the stopping of real processes of our own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.detect import gpu_holders
from gpuassist.detect.gpu_holders import GpuHolder, Holding, Role, holding_of
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.gpu import Gpu, GpuProcess, Holder
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Result
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.present.holders import about, label
from gpuassist.session.holders import stop_holder
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.facts import reason, value
from tests.fakes import put, world_under
from tests.values import knowledge

GIB = 1 << 30
ME = 1000


def holder(
    pid: int = 42, command: str = "python train.py", *, uid: int = ME, unit: str = "", state: str = "S", container: str = ""
) -> Holder:
    """A process of mine, unless said otherwise."""
    return Holder(
        pid,
        {ME: "you", 0: "root"}.get(uid, "ada"),
        command,
        ("/dev/nvidia0", "/dev/nvidiactl"),
        Known(uid, f"/proc/{pid}"),
        Known(state, f"/proc/{pid}/stat"),
        Known(5000, f"/proc/{pid}/stat"),
        Known(unit, f"/proc/{pid}/cgroup"),
        Known(container, f"/proc/{pid}/cgroup"),
    )


def gpu(index: int, *processes: GpuProcess) -> Gpu:
    return Gpu(index=Known(index, "NVML"), minor=Known(index, "NVML"), processes=Known(processes, "NVML"))


def on(pid: int, used: int) -> GpuProcess:
    return GpuProcess(pid, "compute", Known(used, "NVML"))


def machine(*holders: Holder, gpus: tuple[Gpu, ...] = ()) -> Machine:
    return Machine(gpus=Known(gpus, "test"), holders=Known(holders, "test"))


def session(root: Path, *, uid: int = ME) -> Session:
    world = world_under(root)
    return Session(replace(world, surroundings=replace(world.surroundings, uid=uid)), knowledge(), ENGLISH)


def found(root: Path, seen: Machine, *, live: bool = True, uid: int = ME) -> Holding:
    return holding_of(session(root, uid=uid), seen, live=live)


def only(root: Path, one: Holder, *, live: bool = True, uid: int = ME) -> GpuHolder:
    return found(root, machine(one), live=live, uid=uid).held[0]


@pytest.mark.parametrize(
    ("one", "role", "why"),
    [
        (holder(), Role.PROGRAM, "your own program; it can be stopped"),
        (holder(unit="jupyter.service"), Role.PROGRAM, "your own program; it can be stopped"),
        (holder(command="/usr/bin/gnome-shell --x11"), Role.DESKTOP, "draws your desktop: stopping it would close everything"),
        (holder(command="/usr/lib/xorg/Xorg vt2", uid=0, unit="gdm.service"), Role.DESKTOP, "draws your desktop"),
        (holder(command="/usr/bin/nvidia-persistenced", uid=130), Role.SERVICE, "a service of the system; the administrator"),
        (holder(command="ollama serve", uid=997, unit="ollama.service"), Role.SERVICE, "a service of the system (ollama.service)"),
        (holder(uid=1001), Role.OTHERS, "belongs to ada: please ask them"),
        (holder(uid=1001, unit="user@1001.service"), Role.OTHERS, "belongs to ada: please ask them"),
        (holder(state="Z"), Role.PROGRAM, "has ended; what is left of it waits"),
        (holder(state="D"), Role.PROGRAM, "it waits inside the driver just now"),
    ],
)
def test_role_decides_what_may_be_stopped(tmp_path: Path, one: Holder, role: Role, why: str) -> None:
    held = only(tmp_path, one)
    assert held.role is role
    assert ENGLISH(held.why).startswith(why) or why in ENGLISH(held.why)
    assert held.may_stop is (role is Role.PROGRAM and value(one.state) != "Z")


def test_service_names_the_line_that_stops_it(tmp_path: Path) -> None:
    held = only(tmp_path, holder(uid=997, unit="ollama.service"))
    assert held.command == ("sudo systemctl stop ollama.service",)


@pytest.mark.parametrize("unit", ["ssh.service", "sshd@3.service", "cron.service", "user@0.service", "session-3.scope", ""])
def test_root_owns_what_it_started_by_hand(tmp_path: Path, unit: str) -> None:
    assert only(tmp_path, holder(uid=0, unit=unit), uid=0).role is Role.PROGRAM


def test_root_does_not_stop_a_service(tmp_path: Path) -> None:
    assert not only(tmp_path, holder(uid=0, unit="trainer.service"), uid=0).may_stop


def test_nothing_of_a_recorded_machine_is_stopped(tmp_path: Path) -> None:
    held = only(tmp_path, holder(), live=False)
    assert not held.may_stop
    assert stop_holder(session(tmp_path), held).result is Result.REFUSED


def test_gpus_and_memory_are_joined_from_the_driver(tmp_path: Path) -> None:
    seen = machine(holder(), gpus=(gpu(0, on(42, GIB)), gpu(1, on(42, 2 * GIB), on(7, 4 * GIB))))
    first, second = found(tmp_path, seen, live=False).held
    assert (first.holder.pid, value(first.memory_used_bytes), first.gpus) == (7, 4 * GIB, (1,))
    assert (second.holder.pid, value(second.memory_used_bytes), second.gpus) == (42, 3 * GIB, (0, 1))


def test_process_that_only_the_driver_names_is_looked_up(tmp_path: Path) -> None:
    put(tmp_path, "/proc/7/cmdline", "ollama\0serve\0")
    put(tmp_path, "/proc/7/cgroup", "0::/system.slice/ollama.service\n")
    stranger = os.getuid() + 1
    held = found(tmp_path, machine(gpus=(gpu(0, on(7, GIB)),)), uid=stranger).held[0]
    assert (held.holder.command, held.role, held.gpus) == ("ollama serve", Role.SERVICE, (0,))


def test_process_of_another_container_is_invisible(tmp_path: Path) -> None:
    held = found(tmp_path, machine(gpus=(gpu(0, on(7, GIB)),))).held[0]
    assert (held.role, held.may_stop) == (Role.INVISIBLE, False)


def test_memory_of_one_gpu_unknown_leaves_the_sum_unknown(tmp_path: Path) -> None:
    silent = GpuProcess(42, "compute", Unknown(text("NVML does not say")))
    held = found(tmp_path, machine(holder(), gpus=(gpu(0, on(42, GIB)), gpu(1, silent)))).held[0]
    assert reason(held.memory_used_bytes) == "NVML does not say"


def test_ordinary_user_is_told_what_cannot_be_seen(tmp_path: Path) -> None:
    (note,) = found(tmp_path, machine(holder())).notes
    assert "only your own processes show their open files" in ENGLISH(note)
    assert found(tmp_path, machine(holder()), uid=0).notes == ()


def test_what_was_not_looked_at_is_said(tmp_path: Path) -> None:
    unknown = Machine(gpus=Unknown(text("no PCI tree")), holders=Unknown(text("no /proc")))
    assert [ENGLISH(note) for note in found(tmp_path, unknown).notes] == [
        "open devices could not be looked at: no /proc",
        "the GPUs could not be looked at: no PCI tree",
    ]


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("/usr/lib/firefox/firefox -contentproc -childID 3", "firefox"),
        ("postgres: writer process", "postgres"),
        ("", "?"),
        ("python", "python"),
    ],
)
def test_program_is_called_by_its_name(command: str, name: str) -> None:
    assert gpu_holders.name_of(holder(command=command)) == name


def test_line_tells_number_user_gpu_memory_and_command(tmp_path: Path) -> None:
    held = found(tmp_path, machine(holder(), gpus=(gpu(0, on(42, 3 * GIB)),))).held[0]
    assert ENGLISH(label(held)) == "42  you  GPU 0  3.0 GiB of GPU memory  python train.py"


@pytest.mark.parametrize(
    ("devices", "words"), [(("/dev/nvidia3", "/dev/nvidiactl"), "nvidia3"), (("/dev/nvidiactl",), "driver only")]
)
def test_device_stands_for_a_gpu_without_a_number(tmp_path: Path, devices: tuple[str, ...], words: str) -> None:
    held = only(tmp_path, replace(holder(), devices=devices))
    assert f"you  {words}  GPU memory not known" in ENGLISH(label(held))


def test_container_unit_and_state_stand_below(tmp_path: Path) -> None:
    boxed = only(tmp_path, holder(container="docker 3f2a51c07d1e", state="T"))
    assert [ENGLISH(line) for line in about(boxed)][:2] == [
        "in the container docker 3f2a51c07d1e",
        "stopped, still using its memory",
    ]
    assert ENGLISH(next(about(only(tmp_path, holder(unit="session-3.scope"))))) == "in the unit session-3.scope"


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    yield from sleeping("import time; print(1, flush=True); time.sleep(600)")


@pytest.fixture
def stubborn() -> Iterator[subprocess.Popen[bytes]]:
    yield from sleeping("import signal, time; signal.signal(15, signal.SIG_IGN); print(1, flush=True); time.sleep(600)")


def sleeping(program: str) -> Iterator[subprocess.Popen[bytes]]:
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    yield child
    child.kill()
    child.wait()
    child.stdout.close()


def here() -> Session:
    return Session(World(Surroundings.current()), knowledge(), ENGLISH)


def held_here(pid: int) -> GpuHolder:
    from gpuassist.detect.accounts import Accounts
    from gpuassist.detect.gpu_holders import look

    seen = look(here().world.files, pid, Accounts(here().world), ("/dev/nvidia0",))
    assert seen is not None
    return GpuHolder(seen, (0,), Known(GIB, "test"), Role.PROGRAM, may_stop=True, why=text("your own program; it can be stopped"))


def test_own_process_ends_when_asked(sleeper: subprocess.Popen[bytes]) -> None:
    outcome = stop_holder(here(), held_here(sleeper.pid), seconds=60)
    assert outcome.result is Result.MODIFIED
    assert ENGLISH(outcome.text).endswith("ended")
    assert sleeper.wait() == -15


def test_process_that_took_over_the_number_is_left_alone(sleeper: subprocess.Popen[bytes]) -> None:
    earlier = held_here(sleeper.pid)
    earlier = replace(earlier, holder=replace(earlier.holder, started=Known(1, "test")))
    outcome = stop_holder(here(), earlier, seconds=60)
    assert outcome.result is Result.UNCHANGED
    assert sleeper.poll() is None


def test_process_may_be_spared_after_it_was_asked(stubborn: subprocess.Popen[bytes]) -> None:
    outcome = stop_holder(here(), held_here(stubborn.pid), seconds=60, called_off=lambda: True)
    assert (outcome.result, stubborn.poll()) == (Result.UNCHANGED, None)
    assert ENGLISH(outcome.text).endswith("was asked to end, and was not killed: it may still be there")


def test_memory_is_told_for_each_card_too(tmp_path: Path) -> None:
    seen = found(tmp_path, machine(holder(), gpus=(gpu(0, on(42, GIB)), gpu(1, on(42, 2 * GIB)), gpu(2))))
    by_gpu = {index: value(fact) for index, fact in seen.held[0].memory_by_gpu}
    assert by_gpu == {0: GIB, 1: 2 * GIB}
    assert [card.index for card in seen.cards] == [0, 1, 2]


@pytest.mark.parametrize(
    ("sleeps", "holders", "may"), [(True, (), True), (True, (holder(),), False), (False, (), False)], ids=["idle", "held", "never"]
)
def test_card_that_nobody_holds_may_fall_asleep(tmp_path: Path, *, sleeps: bool, holders: tuple[Holder, ...], may: bool) -> None:
    card = replace(gpu(0), sleeps=Known(sleeps, "test"))
    assert found(tmp_path, machine(*holders, gpus=(card,))).may_fall_asleep is may


def own_process(root: Path, pid: int) -> None:
    put(root, f"/proc/{pid}/stat", f"{pid} (python) S 1 " + "0 " * 17 + "5000 0")
    put(root, f"/proc/{pid}/cmdline", "python\0train.py\0")


def test_number_of_another_namespace_is_not_taken_for_ones_own_process(tmp_path: Path) -> None:
    own_process(tmp_path, 42)  # its files can be seen, and none of them is a GPU's
    seen = found(tmp_path, machine(gpus=(gpu(0, on(42, GIB)),)), uid=os.getuid()).held[0]
    assert (seen.role, seen.may_stop, seen.holder.command) == (Role.INVISIBLE, False, "")
