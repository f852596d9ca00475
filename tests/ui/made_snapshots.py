"""A little memory snapshot with two GPUs, as torch writes one, and what was read of it."""

from __future__ import annotations

import pickle
from io import BytesIO
from typing import Any

from gpuassist.diagnose.snapshot.story import story_of
from gpuassist.formats.torch_snapshot.read import read_snapshot
from gpuassist.session.opened_snapshot import OpenedSnapshot

MIB = 1 << 20
BASE, OTHER = 0x7F0000000000, 0x7E0000000000
_MODEL, _TRAIN = "/home/me/model.py", "/home/me/train.py"


def frames(*lines: tuple[str, int, str]) -> list[dict[str, Any]]:
    inside = {"name": "linear", "filename": "/opt/venv/lib/python3.11/site-packages/torch/nn/functional.py", "line": 2000}
    return [inside, *({"name": name, "filename": file, "line": line} for file, line, name in lines)]


FORWARD = frames((_MODEL, 10, "forward"), (_TRAIN, 5, "step"))
STEP = frames((_TRAIN, 7, "step"))
LOAD = frames((_TRAIN, 2, "load"))


def event(action: str, address: int, size: int, at: int, stack: list[dict[str, Any]], **more: int | str) -> dict[str, Any]:
    return {"action": action, "addr": address, "size": size, "stream": 0, "time_us": 1_000_000 + at, "frames": stack, **more}


def block(address: int, size: int, state: str, stack: list[dict[str, Any]]) -> dict[str, Any]:
    return {"address": address, "size": size, "requested_size": size, "state": state, "frames": stack}


def segment(device: int, address: int, blocks: list[dict[str, Any]]) -> dict[str, Any]:
    used = sum(one["size"] for one in blocks if one["state"] != "inactive")
    return {
        "device": device,
        "address": address,
        "total_size": sum(one["size"] for one in blocks),
        "allocated_size": used,
        "active_size": used,
        "requested_size": used,
        "stream": 0,
        "segment_type": "large",
        "segment_pool_id": (0, 0),
        "is_expandable": False,
        "frames": [],
        "blocks": blocks,
    }


def snapshot_bytes(*, times: bool = True, step: int = 8 * MIB) -> bytes:
    """Of GPU 0: 64 MiB from before, 32 that are freed again, 16 and a `step` that stay; of GPU 1: 2 MiB."""
    events = [
        event("alloc", BASE + 64 * MIB, 32 * MIB, 10, FORWARD),
        event("alloc", BASE + 96 * MIB, 16 * MIB, 20, STEP, user_metadata="epoch 3"),
        event("free_requested", BASE + 64 * MIB, 32 * MIB, 30, []),
        event("free_completed", BASE + 64 * MIB, 32 * MIB, 40, []),
        event("alloc", BASE + 112 * MIB, step, 500, STEP),
        event("oom", 3 * MIB, 900 * MIB, 600, FORWARD, device_free=3 * MIB),
    ]
    blocks = [
        block(BASE, 64 * MIB, "active_allocated", LOAD),
        block(BASE + 64 * MIB, 32 * MIB, "inactive", []),
        block(BASE + 96 * MIB, 16 * MIB, "active_allocated", STEP),
        block(BASE + 112 * MIB, step, "active_allocated", STEP),
        block(BASE + 112 * MIB + step, 8 * MIB, "inactive", []),
    ]
    if not times:
        for one in events:
            del one["time_us"]
    held = {
        "segments": [segment(0, BASE, blocks), segment(1, OTHER, [block(OTHER, 2 * MIB, "active_allocated", LOAD)])],
        "device_traces": [events, [event("alloc", OTHER, 2 * MIB, 15, LOAD)]],
        "allocator_settings": {"expandable_segments": False, "max_split_size": -1},
    }
    return pickle.dumps(held)


def opened_snapshot(path: str = "/home/me/step.pickle", *, times: bool = True, step: int = 8 * MIB) -> OpenedSnapshot:
    """The same, read in this process."""
    file = BytesIO(snapshot_bytes(times=times, step=step))
    snapshot = read_snapshot(file.read, path)
    return OpenedSnapshot(path, snapshot, story_of(snapshot))
