"""A process that holds a GPU open, as the kernel and NVML tell of it."""

from __future__ import annotations

from dataclasses import dataclass

from gpuassist.model.fact import NOT_ASKED, Fact


@dataclass(frozen=True, slots=True)
class Holder:
    """A process that has a `/dev/nvidia*` node open; only own processes show theirs without root.

    `state` is the letter of proc(5) (R, S, D, Z, T), `started` when it began in clock ticks since boot, `unit` the systemd unit
    that it runs in (empty where in none), `container` its kind and identity, such as `docker 3f2a51c07d1e` (empty outside one).
    """

    pid: int
    user: str
    command: str
    devices: tuple[str, ...]
    uid: Fact[int] = NOT_ASKED
    state: Fact[str] = NOT_ASKED
    started: Fact[int] = NOT_ASKED
    unit: Fact[str] = NOT_ASKED
    container: Fact[str] = NOT_ASKED
