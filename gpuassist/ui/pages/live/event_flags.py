"""What happened, as marks on the lanes: by GPU, once each, and what lasted as a stretch."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gpuassist.model.sample import Event, EventKind
from gpuassist.model.text import Text, text
from gpuassist.present.samples import TROUBLE_KINDS
from gpuassist.ui.plots.lane_parts import Flag

OUT_OF_MEMORY = text("out of memory")
FLAGS_AT_MOST = 60  # of one GPU: more are no longer told apart


def flags_of(
    events: Iterable[Event], words: Callable[[Text], str], since: float, until: float
) -> dict[int | None, tuple[Flag, ...]]:
    """The marks of each GPU in a stretch of time; what concerns all of them stands at each, and alone under none."""
    flags: dict[int | None, list[Flag]] = {None: []}
    held: dict[tuple[int | None, str], Event] = {}
    for event in events:
        if event.kind is EventKind.THROTTLED:
            held[event.gpu, event.code] = event
        elif event.kind is EventKind.THROTTLE_ENDED:
            began = held.pop((event.gpu, event.code), None)
            if began is not None and event.monotonic >= since and began.monotonic <= until:
                flags.setdefault(event.gpu, []).append(Flag(began.monotonic, words(began.text), until=event.monotonic))
        elif since <= event.monotonic <= until:
            # What torch said then is a paragraph, and stands below the lanes.
            said = OUT_OF_MEMORY if event.kind is EventKind.OUT_OF_MEMORY else event.text
            flags.setdefault(event.gpu, []).append(Flag(event.monotonic, words(said), event.kind in TROUBLE_KINDS))
    for event in held.values():  # still
        if event.monotonic <= until:
            flags.setdefault(event.gpu, []).append(Flag(event.monotonic, words(event.text), until=until))
    of_all = flags[None]
    for gpu, own in flags.items():
        if gpu is not None:
            own.extend(of_all)
    return {gpu: tuple(sorted(own, key=lambda flag: flag.time))[-FLAGS_AT_MOST:] for gpu, own in flags.items()}
