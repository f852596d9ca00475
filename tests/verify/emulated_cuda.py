"""What torch.cuda has beside arithmetic, emulated on the CPU for a device that is one by name: streams, events, graphs, memory."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from gpuassist.verify.child import endurance

# A GPU so small that all of its memory is tested within milliseconds: blocks of 512 words, of which it has three beside the room
# that is left and the one to compare with.
BLOCK = 1 << 12
FREE, TOTAL = 6 * BLOCK, 16 * BLOCK


class Stream:
    """Work is done at once, so whoever waits has nothing to wait for."""

    cuda_stream = 0

    def __init__(self, device: Any = None) -> None:
        pass

    def wait_stream(self, other: Any) -> None:
        pass

    def wait_event(self, event: Any) -> None:
        pass

    def synchronize(self) -> None:
        pass


class Event:
    """By the host's clock."""

    def __init__(self, *, enable_timing: bool = False) -> None:
        pass

    def record(self, stream: Any = None) -> None:
        self.at = time.perf_counter()

    def synchronize(self) -> None:
        pass

    def elapsed_time(self, later: Event) -> float:
        return (later.at - self.at) * 1e3


class Graph(TorchDispatchMode):  # type: ignore[misc]  # torch is not where types are checked
    """Notes operations, and does them again into the same results."""

    def __init__(self) -> None:
        super().__init__()
        self._recorded: list[Any] = []

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        with _disable_current_modes():  # recording computes nothing that anybody may look at
            made = operation(*args, **(kwargs or {}))
        self._recorded.append((operation, args, kwargs or {}, made))
        return made

    def replay(self) -> None:
        for operation, args, kwargs, made in self._recorded:
            made.copy_(operation(*args, **kwargs))

    def reset(self) -> None:
        self._recorded.clear()


@contextmanager
def _nothing(_: Any = None) -> Iterator[None]:
    yield


@contextmanager
def _graph(graph: Graph) -> Iterator[None]:
    with graph:
        yield


ANSWERS: tuple[tuple[Any, str, Any], ...] = (
    (endurance, "_SMALL", BLOCK),
    (endurance, "_SPARE", 2 * BLOCK),
    (torch.cuda, "Stream", Stream),
    (torch.cuda, "Event", Event),
    (torch.cuda, "CUDAGraph", Graph),
    (torch.cuda, "graph", _graph),
    (torch.cuda, "stream", _nothing),
    (torch.cuda, "device", _nothing),
    (torch.cuda, "current_stream", Stream),
    (torch.cuda, "empty_cache", lambda: None),
    (torch.cuda, "mem_get_info", lambda device=None: (FREE, TOTAL)),
    (torch.cuda, "get_device_properties", lambda device=None: SimpleNamespace(is_integrated=0)),
    (torch.cuda, "can_device_access_peer", lambda device, peer: True),
    (torch.Tensor, "pin_memory", lambda self: self),
    (torch.Tensor, "record_stream", lambda self, stream: None),
)
