"""Tells gpuassist what torch's allocator holds, from inside the program. Nothing is changed, reset, or started on a GPU by it.

Two ways in: `gpuassist run -- COMMAND` loads it before the program, or the program imports it itself, as
`gpuassist run --print-lines` says. It waits until torch is imported, then until the program itself starts CUDA; from then on a
thread looks at what `torch.cuda.memory_stats` says ten times a second, less often where that would take more than a five hundredth
of a processor's time, and writes it twice a second to a file of this process in the user's own runtime directory; the message of
each out-of-memory error is written when it is raised, with the figures of that moment.

The file is opened, written and closed each time: a mapping would end the program with SIGBUS where it is cut short or the disk is
full, and a descriptor that is kept would hit another file once a daemon has closed all that it does not know.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # as type checkers know it: `typing` costs every start of Python
if TYPE_CHECKING:
    from typing import Any, Callable, Iterable, Mapping

MAGIC = b"GPUMEM01"
SUFFIX = ".ring"
RUN = "GPUASSIST_RUN"
"""The environment variable that names the directory of a run."""
# Each block stands behind its checksum and length; the layouts are struct's.
SEAL = "<II"
HEAD, HEAD_AT, HEAD_SIZE = "<8sIIQQd24s24s", 0, 256  # magic, pid, uid, start in ticks, pid namespace, begun, torch, python
STATE, STATE_AT, STATE_SIZE = "<dQQII96s", 256, 8192  # beat, records, notes, devices, whether it ended, what went wrong
DEVICE, DEVICES_AT_MOST = "<16s16sII", 64  # UUID, PCI address, torch's index, unused; then the figures: all behind the state
NOTE, NOTES_AT, NOTE_SIZE, NOTES = "<QdIi", 8448, 4096, 16  # its number, time, kind, torch's index or -1, then words
RECORD, RECORDS_AT, RECORD_SIZE, RECORDS = "<QdII", 73984, 96, 4096  # its number, time, torch's index, unused; then the figures
# Allocated and its peak, reserved and its peak, active, inactive split, out-of-memory errors, retries.
FIGURES = "<8Q"
SIZE = RECORDS_AT + RECORD_SIZE * RECORDS
OUT_OF_MEMORY, MARK, SNAPSHOT = 1, 2, 3
PERIOD_SECONDS = 0.1
LOOKS_A_WRITE = 5  # a write costs half as much as a look; an out-of-memory error is written at once
SHARE_AT_MOST = 0.0017  # of a processor; where looks take longer there are fewer of them
_PATIENCE_SECONDS, _FEW = 0.2, 2
_BOOT_TIME = 7  # CLOCK_BOOTTIME of Linux, which counts what the machine sleeps, too

_watch: _Watch | None = None


def begin() -> None:
    """Has torch watched from the moment that it is imported, or from now on where it is already; a second call does nothing."""
    if any(isinstance(one, _TorchFinder) for one in sys.meta_path):
        return
    finder = _TorchFinder()
    sys.meta_path.insert(0, finder)
    finder.find_spec("")


def mark(words: str) -> None:
    """Shows these words on gpuassist's time line, at this moment: `mark("epoch 3")`. Without a GPU in use nothing is written."""
    if _watch is not None:
        _guarded(_watch.note, MARK, str(words))


def base_directories(environ: Mapping[str, str], uid: int) -> list[str]:
    """Where the files of a user may lie, the best first: the runtime directory, and where there is none a private one."""
    runtime = environ.get("XDG_RUNTIME_DIR", "")
    temporary = environ.get("TMPDIR", "")
    found = [f"{runtime.rstrip('/')}/gpuassist"] if runtime.startswith("/") else []
    found += [f"{place.rstrip('/')}/gpuassist-{uid}" for place in ("/tmp", temporary) if place.startswith("/")]
    return list(dict.fromkeys(found))


def own_directory(path: str) -> bool:
    """Makes the directory where it is not there; whether it is this user's alone."""
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    except OSError:
        return False
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return (status.st_mode & 0o170077) == 0o040000 and status.st_uid == os.geteuid() and os.access(path, os.W_OK | os.X_OK)


def started_ticks(pid: int | str) -> int:
    """When a process started, in clock ticks since boot; 0 where it is not there."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[19])  # proc(5): field 22; the name before it may hold anything
    except (OSError, IndexError, ValueError):
        return 0


def pid_namespace() -> int:
    try:
        return os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return 0


def sealed(payload: bytes) -> bytes:
    from struct import pack
    from zlib import crc32

    return pack(SEAL, crc32(payload), len(payload)) + payload


class _TorchFinder:
    """Finds nothing: sees imports pass, and among them that torch has come so far that it can be asked to call back.

    No loader is touched, so that it does not matter who else hooks into the import of torch, before or after us. It stays where it
    is: `importlib` walks over that list while it is called.
    """

    def __init__(self) -> None:
        self._is_done = False

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        cuda = None if self._is_done else sys.modules.get("torch.cuda")
        if hasattr(cuda, "_lazy_call"):
            self._is_done = True
            _guarded(_cuda_is_there, cuda)  # `torch.cuda` itself is no attribute of torch yet


def _guarded(what: Callable[..., object], *arguments: object) -> str:
    """The border to the user's program, which must not notice what goes wrong on this side: returns that in words."""
    try:
        what(*arguments)
    except Exception as error:  # noqa: BLE001 -- see above
        return f"{type(error).__name__}: {error}"
    return ""


def _cuda_is_there(cuda: Any) -> None:
    # Called by the program's own start of CUDA, also in a child that was forked before it; a torch for the CPU never does.
    cuda._lazy_call(lambda: _guarded(_cuda_starts))


def _cuda_starts() -> None:
    global _watch
    if _watch is None:
        _watch = _Watch(sys.modules["torch"])
        _watch.start()


def _forked() -> None:
    """In a child CUDA that was started before it is of no use; the file is the parent's."""
    global _watch
    _watch = None


class _Watch:
    """What is told of this process, from the start of CUDA to its end."""

    def __init__(self, torch: Any) -> None:
        import time
        from _thread import allocate_lock
        from struct import Struct, pack
        from zlib import crc32

        self._torch, self._time, self._clock, self._crc32, self._pack = torch, time, time.clock_gettime, crc32, pack
        self._seal, self._begin_state, self._begin_record, self._figures = (
            Struct(one).pack for one in (SEAL, STATE, RECORD, FIGURES)
        )
        self._lock, self._begun, self._wake, self._over = (allocate_lock() for _ in range(4))
        for one in (self._begun, self._wake, self._over):
            one.acquire()
        self._pid = os.getpid()
        self._ended = False
        self._records = self._notes = self._looks = 0
        self._gpus: int | None = None
        self._devices: dict[int, tuple[bytes, bytes, int]] = {}  # by torch's index who it is, its figures, since which look
        self._ooms: dict[int, int] = {}
        self._told: dict[int, int] = {}  # of those, how many there were when the last note was written
        self._unwritten: list[tuple[int, bytes]] = []
        self._path, self._is_run = "", False

    def start(self) -> None:
        import atexit
        from _thread import start_new_thread

        if not self._make():
            return
        os.register_at_fork(after_in_child=_forked)
        atexit.register(_guarded, self._end)
        self._hear_out_of_memory()
        # Not `threading`: neither the program's list of its threads nor its end, its debugger or its profiler is to see this one.
        # Waited for, as `threading` does: a thread that begins while Python ends takes the process down with it.
        start_new_thread(self._run, ())
        self._begun.acquire(timeout=_PATIENCE_SECONDS)

    def note(self, kind: int, words: str) -> None:
        """Writes words with the figures of this very moment; from any thread."""
        if os.getpid() != self._pid or not self._path or not self._lock.acquire(timeout=_PATIENCE_SECONDS):
            return
        try:
            self._look()
            ordinal: int | None = self._failed_on() if kind == OUT_OF_MEMORY else -1
            if ordinal is None:
                return  # the same one raised again, by another thread or process
            head = self._pack(NOTE, self._notes, self._now(), kind, ordinal)
            text = words.encode("utf-8", "replace")[: NOTE_SIZE - 8 - len(head)]
            place = NOTES_AT + self._notes % NOTES * NOTE_SIZE
            self._notes += 1
            self._write([*self._waiting(), (place, sealed(head + text)), self._state()])
        finally:
            self._lock.release()

    def _make(self) -> bool:
        """The file, in the directory of the run or of the user."""
        run = os.environ.get(RUN, "")
        self._is_run = bool(run) and own_directory(run)
        places = [run] if self._is_run else base_directories(os.environ, os.geteuid())
        name = f"/{self._pid}-{started_ticks('self')}{SUFFIX}"
        for place in places:
            if not own_directory(place):
                continue
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
            try:
                descriptor = os.open(place + name, flags, 0o600)
            except OSError:
                continue
            try:
                os.pwrite(descriptor, sealed(self._head()), HEAD_AT)
                os.ftruncate(descriptor, SIZE)
            except OSError:
                _guarded(os.unlink, place + name)
                continue
            finally:
                os.close(descriptor)
            self._path = place + name
            return True
        return False

    def _head(self) -> bytes:
        version = str(getattr(self._torch, "__version__", "")).encode()[:24]
        ids = (self._pid, os.geteuid(), started_ticks("self"), pid_namespace())
        return self._pack(HEAD, MAGIC, *ids, self._now(), version, sys.version.split()[0].encode()[:24])

    def _run(self) -> None:
        self._begun.release()
        trouble = _guarded(self._tell)
        if trouble:
            _guarded(lambda: self._write([self._state(trouble)]))
        self._over.release()

    def _tell(self) -> None:
        import signal

        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())  # they are for the program's own threads
        monotonic, thread_time = self._time.monotonic, self._time.thread_time
        now, spent, period, left = monotonic(), thread_time(), PERIOD_SECONDS, 0.0
        due, looked = now, now
        while True:
            due += period
            if self._wake.acquire(timeout=max(PERIOD_SECONDS / 2, due - now)):
                return  # the program ends
            if not self._lock.acquire(blocking=False):
                continue  # an error is being written, with the figures of this moment
            try:
                self._look(whole=self._looks % LOOKS_A_WRITE == 0)
                self._looks += 1
                if self._looks % LOOKS_A_WRITE == 1:
                    self._write([*self._waiting(), self._state()])
            except FileNotFoundError:
                self._path = ""  # somebody took the file away: whoever did so wants no figures
                return
            finally:
                self._lock.release()
            now = monotonic()
            if now - due > period:
                due = now  # the machine slept, or the program held the interpreter: what was missed is not made up for
            if self._looks % LOOKS_A_WRITE == 1:
                # What may still be spent: it grows with time, to a second's worth; where it is gone the next looks are later.
                before, spent = spent, thread_time()
                left = min(SHARE_AT_MOST, left + SHARE_AT_MOST * (now - looked) - (spent - before))
                looked, period = now, max(PERIOD_SECONDS, PERIOD_SECONDS - left / SHARE_AT_MOST / LOOKS_A_WRITE)

    def _look(self, *, whole: bool = True) -> None:
        """Takes in what torch says of each GPU that this process has started: in a `whole` look of all, else of those known to be,
        of many only of those that changed just now, since torch counts the peaks. Its answer costs 9 microseconds a GPU.
        """
        core, now, devices, number = self._torch._C, self._now(), self._devices, self._looks
        resting = number - LOOKS_A_WRITE if len(devices) > _FEW else -1
        for ordinal in range(self._gpus or self._count()):
            device = devices.get(ordinal)
            if not whole and (device is None or device[2] < resting):
                continue
            # Asking of one that is not started could start it, with some of torch's allocators.
            if device is None and not core._cuda_hasPrimaryContext(ordinal):
                continue
            stats = core._cuda_memoryStats(ordinal)
            allocated, reserved = stats["allocated_bytes"]["all"], stats["reserved_bytes"]["all"]
            figures = self._figures(
                allocated["current"],
                allocated["peak"],
                reserved["current"],
                reserved["peak"],
                stats["active_bytes"]["all"]["current"],
                stats["inactive_split_bytes"]["all"]["current"],
                stats["num_ooms"],
                stats["num_alloc_retries"],
            )
            if device is None or figures != device[1]:
                devices[ordinal] = (_identity(ordinal) if device is None else device[0]), figures, number
                self._ooms[ordinal] = stats["num_ooms"]
                place = RECORDS_AT + self._records % RECORDS * RECORD_SIZE
                self._unwritten.append((place, self._begin_record(self._records, now, ordinal, 0) + figures))
                self._records += 1

    def _waiting(self) -> list[tuple[int, bytes]]:
        """The records that are not written yet."""
        records, self._unwritten = [(place, sealed(record)) for place, record in self._unwritten], []
        return records

    def _count(self) -> int:
        """How many GPUs the program sees, asked once after CUDA has started: it does not change from then on."""
        if self._gpus is None and self._torch.cuda.is_initialized():
            self._gpus = min(self._torch.cuda.device_count(), DEVICES_AT_MOST)
        return self._gpus or 0

    def _failed_on(self) -> int | None:
        """The index of the GPU whose count of out-of-memory errors has grown; -1 where it is not counted; None where none has."""
        grown = [ordinal for ordinal, count in self._ooms.items() if count > self._told.get(ordinal, 0)]
        self._told = dict(self._ooms)
        return grown[0] if grown else None if any(self._ooms.values()) else -1

    def _state(self, trouble: str = "") -> tuple[int, bytes]:
        counts = (self._records, self._notes, len(self._devices), int(self._ended))
        state = self._begin_state(self._now(), *counts, trouble.encode("utf-8", "replace")[:96])
        for device in self._devices.values():
            state += device[0] + device[1]
        return STATE_AT, self._seal(self._crc32(state), len(state)) + state

    def _write(self, blocks: Iterable[tuple[int, bytes]]) -> None:
        descriptor = os.open(self._path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            for place, block in blocks:
                os.pwrite(descriptor, block, place)
        finally:
            os.close(descriptor)

    def _now(self) -> float:
        return float(self._clock(_BOOT_TIME))

    def _end(self) -> None:
        """At the end of the program: the last figures, and nothing left behind; a run takes its own directory away."""
        if os.getpid() != self._pid or not self._path:
            return
        self._wake.release()
        self._over.acquire(timeout=_PATIENCE_SECONDS)
        if self._lock.acquire(timeout=_PATIENCE_SECONDS):
            try:
                self._look()
                self._ended = True
                self._write([*self._waiting(), self._state()])
            finally:
                self._lock.release()
        if not self._is_run:
            _guarded(os.unlink, self._path)
            _guarded(os.rmdir, os.path.dirname(self._path))  # where nobody else's file is in it

    def _hear_out_of_memory(self) -> None:
        """Each error of the class tells its message when it is made, also where the program catches it."""
        error = getattr(self._torch, "OutOfMemoryError", None) or getattr(self._torch.cuda, "OutOfMemoryError", None)
        if error is None:
            return
        make = error.__init__

        def init(self: object, *arguments: object) -> None:
            make(self, *arguments)
            if _watch is not None and arguments:
                _guarded(_watch.note, OUT_OF_MEMORY, str(arguments[0]))

        try:
            error.__init__ = init
        except TypeError:
            pass


def _identity(ordinal: int) -> bytes:
    """Who a GPU is: its UUID and PCI address are asked of the driver, which this process has open already."""
    import ctypes
    from struct import pack

    uuid, pci = ctypes.create_string_buffer(16), ctypes.create_string_buffer(16)
    device = ctypes.c_int()
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        if driver.cuDeviceGet(ctypes.byref(device), ctypes.c_int(ordinal)) == 0:
            # The second names an instance of a GPU in MIG mode, where the first names the GPU.
            (getattr(driver, "cuDeviceGetUuid_v2", None) or driver.cuDeviceGetUuid)(uuid, device)
            driver.cuDeviceGetPCIBusId(pci, ctypes.c_int(16), device)
    except (OSError, AttributeError):
        pass  # another maker's: no source of samples lists it either
    return pack(DEVICE, uuid.raw, pci.value[:16], ordinal, 0)


if __name__ == "gpuassist_memory":  # imported by a program, and not as a part of gpuassist
    begin()
