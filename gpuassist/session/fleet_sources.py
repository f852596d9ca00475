"""Where the machines of a fleet come from: recordings in a directory, or machines that ssh reaches, a few at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from threading import Event, Thread
from typing import Union

from msgspec import Struct

from gpuassist.context import Session
from gpuassist.detect.recording import RecordingError, read_recording
from gpuassist.formats.ssh_host import is_ssh_host
from gpuassist.model.machine import Machine
from gpuassist.model.text import Text, counted, text
from gpuassist.session import remote_words
from gpuassist.session.other_connection import NotWantedHereError, OtherMachineError
from gpuassist.session.other_machine import OtherMachine

SSH = "ssh:"
FILES_AT_MOST, DEPTH_AT_MOST, HOSTS_AT_MOST = 10_000, 4, 1_000
AT_ONCE = 8
HOST_SECONDS = 120.0
_ENDING = ".json"


class FleetSourceError(Exception):
    """A source that no machine can come from; `reason` says why."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason)
        self.reason = reason


class Arrival(Struct, frozen=True):
    """A machine of the fleet by its name, or why there is none; the `done`th of `count`."""

    name: str
    found: Union[Machine, Text]
    done: int
    count: int


def arrivals(session: Session, source: str, *, half: str = "") -> Iterator[Arrival]:
    """Each as it comes; raises `FleetSourceError` before the first where there can be none."""
    if source.startswith(SSH):
        return _over_ssh(session, _hosts(source.removeprefix(SSH)), half)
    return _of_directory(session, source)


def _hosts(names: str) -> tuple[str, ...]:
    hosts = tuple(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    if not hosts:
        raise FleetSourceError(text("ssh: needs the names of machines, with commas between: ssh:node1,node2"))
    if len(hosts) > HOSTS_AT_MOST:
        raise FleetSourceError(text("{count} machines at once are too many: {most} at most", count=len(hosts), most=HOSTS_AT_MOST))
    for host in hosts:
        if not is_ssh_host(host):
            raise FleetSourceError(remote_words.bad_name(host))
    return hosts


def _of_directory(session: Session, directory: str) -> Iterator[Arrival]:
    files = session.world.files
    if not files.is_directory(directory):
        raise FleetSourceError(text("{path} is no directory with recordings of `gpuassist detect --json`", path=directory))
    paths = list(_paths(session, directory.rstrip("/") or "/", DEPTH_AT_MOST))
    if not paths:
        raise FleetSourceError(text("{path} holds no .json file: `gpuassist detect --json` writes one", path=directory))
    left = len(paths) - FILES_AT_MOST
    if left > 0:
        why = counted("{count} file more than are read at once", "{count} files more than are read at once", left)
        yield Arrival(directory, why, 0, FILES_AT_MOST)
        del paths[FILES_AT_MOST:]
    for done, path in enumerate(paths, start=1):
        name = path.removeprefix(directory.rstrip("/") + "/").removesuffix(_ENDING)
        found: Machine | Text
        try:
            found = read_recording(files, path)
        except RecordingError as error:
            found = error.reason
        yield Arrival(name, found, done, len(paths))


def _paths(session: Session, directory: str, depth: int) -> Iterator[str]:
    """Files of the directory and below it, by name; no symlink to a directory is followed."""
    files = session.world.files
    for name in files.names(directory):
        path = f"{directory.rstrip('/')}/{name}"
        if name.endswith(_ENDING) and not files.is_directory(path):
            yield path
        elif depth > 1 and files.is_directory(path) and not files.is_link(path):
            yield from _paths(session, path, depth - 1)


def _over_ssh(session: Session, hosts: tuple[str, ...], half: str) -> Iterator[Arrival]:
    """A few at a time, none for longer than its time."""
    waiting: SimpleQueue[str] = SimpleQueue()
    for host in hosts:
        waiting.put(host)
    came: SimpleQueue[tuple[str, Machine | Text]] = SimpleQueue()
    stopping = Event()

    def work() -> None:
        while not waiting.empty() and not stopping.is_set():
            host = waiting.get()
            came.put((host, _look(session, host, half, stopping.is_set)))

    workers = [Thread(target=work, name=f"gpuassist fleet {number}", daemon=True) for number in range(min(AT_ONCE, len(hosts)))]
    try:
        for worker in workers:
            worker.start()
        for done in range(1, len(hosts) + 1):
            name, found = came.get()
            yield Arrival(name, found, done, len(hosts))
    finally:
        stopping.set()
        for worker in workers:
            worker.join(1.0)


def _look(session: Session, host: str, half: str, stops: Callable[[], bool]) -> Machine | Text:
    until = time.monotonic() + HOST_SECONDS
    try:
        other = OtherMachine(session, host, half=half)
    except OtherMachineError as error:
        return error.reason
    try:
        return other.machine(ends=lambda: stops() or time.monotonic() > until)
    except OtherMachineError as error:
        return error.reason
    except NotWantedHereError:
        return remote_words.silent(host, HOST_SECONDS)
    finally:
        other.close()
