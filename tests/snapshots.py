"""Memory snapshots as torch makes them, small: segments, events with shared frames, and a reader for their bytes."""

from __future__ import annotations

import pickle
from typing import Any

from gpuassist.formats.torch_snapshot.event_range import EVERYTHING, EventRange
from gpuassist.formats.torch_snapshot.read import read_snapshot
from gpuassist.model.memory_snapshot import MemorySnapshot

MIB = 1 << 20
BASE = 0x7F30_0000_0000


class MadeSnapshot:
    """Grows by what an allocator does; `told` is what `torch.cuda.memory._snapshot()` would give."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self._frames: dict[tuple[str, int, str], dict[str, Any]] = {}
        self._living: dict[int, tuple[int, list[dict[str, Any]]]] = {}
        self._next = BASE
        self.settings: dict[str, Any] = {"PYTORCH_CUDA_ALLOC_CONF": "", "expandable_segments": False}

    def frames(self, *lines: tuple[str, int, str]) -> list[dict[str, Any]]:
        """A list of its own, of frames that are shared."""
        for file, line, name in lines:
            self._frames.setdefault((file, line, name), {"name": name, "filename": file, "line": line})
        return [self._frames[line] for line in lines]

    def _event(self, action: str, address: int, size: int, frames: list[dict[str, Any]]) -> None:
        place = "device_free" if action == "oom" else "addr"
        time = 1_700_000_000_000_000 + len(self.events)
        self.events.append(
            {
                "action": action, place: address, "size": size, "stream": 0, "time_us": time,
                "compile_context": "".join(("N/", "A")), "user_metadata": "".join(("step", " 1")), "frames": frames,
            }
        )  # fmt: skip

    def alloc(self, size: int, *lines: tuple[str, int, str]) -> int:
        frames, address = self.frames(*lines), self._next
        self._next += -(-size // 512) * 512
        self._living[address] = (size, frames)
        self._event("alloc", address, size, frames)
        return address

    def free(self, address: int, *lines: tuple[str, int, str]) -> None:
        size, frames = self._living.pop(address)
        self._event("free_requested", address, size, self.frames(*lines) if lines else frames)
        self._event("free_completed", address, size, frames)

    def oom(self, size: int, left: int, *lines: tuple[str, int, str]) -> None:
        self._event("oom", left, size, self.frames(*lines))

    @property
    def told(self) -> dict[str, Any]:
        blocks: list[dict[str, Any]] = []
        at = BASE
        for address, (size, frames) in sorted(self._living.items()):
            if address > at:
                blocks.append({"address": at, "size": address - at, "requested_size": 0, "state": "inactive", "frames": []})
            whole = -(-size // 512) * 512
            blocks.append(
                {"address": address, "size": whole, "requested_size": size, "state": "active_allocated", "frames": frames}
            )
            at = address + whole
        total = self._next - BASE + 2 * MIB
        blocks.append({"address": at, "size": BASE + total - at, "requested_size": 0, "state": "inactive", "frames": []})
        used = sum(block["size"] for block in blocks if block["state"] == "active_allocated")
        segment = {
            "device": 0, "address": BASE, "total_size": total, "allocated_size": used, "active_size": used, "requested_size": used,
            "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False, "frames": [], "blocks": blocks,
        }  # fmt: skip
        return {
            "segments": [segment],
            "device_traces": [self.events],
            "allocator_settings": self.settings,
            "external_annotations": [{"name": "## step", "stage": "START", "device": 0, "time_us": 1_700_000_000_000_000}],
        }

    def read(self, wanted: EventRange = EVERYTHING) -> MemorySnapshot:
        return read_bytes(pickle.dumps(self.told), wanted)


def read_bytes(content: bytes, wanted: EventRange = EVERYTHING, piece: int = 1 << 16) -> MemorySnapshot:
    """The snapshot in these bytes, given in pieces."""
    pieces = iter([content[start : start + piece] for start in range(0, len(content), piece)])
    return read_snapshot(lambda: next(pieces, b""), "made.pickle", wanted)


TRAIN = ("/home/me/train.py", 10, "step")
KEPT = ("/home/me/train.py", 20, "remember")
MODEL = ("/home/me/model.py", 5, "__init__")
CALL = ("/venv/lib/python3.11/site-packages/torch/nn/modules/module.py", 1500, "_call_impl")
OPTIMIZER = ("/venv/lib/python3.11/site-packages/torch/optim/adamw.py", 120, "_init_group")


def training(steps: int = 12, *, leaks: bool = False) -> MadeSnapshot:
    """A model that is made, steps that allocate and free, and what is kept of each step where one forgets to let go of it."""
    made = MadeSnapshot()
    for _ in range(4):
        made.alloc(8 * MIB, MODEL)
    for _ in range(4):
        made.alloc(16 * MIB, OPTIMIZER, TRAIN)
    for _ in range(steps):
        acts = [made.alloc(32 * MIB, CALL, TRAIN) for _ in range(5)]
        if leaks:
            made.alloc(3 * MIB, KEPT)
        for act in reversed(acts):
            made.free(act, TRAIN)
    return made
