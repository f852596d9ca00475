"""Samples packed in few bytes, and read back."""

from __future__ import annotations

import math
import zlib
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import msgpack
from msgspec.structs import replace

from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown
from gpuassist.model.sample import Event, EventKind, GpuSample, ProcessKind, ProcessSample, Sample, TorchMemory
from gpuassist.model.text import Text, counted, text
from gpuassist.model.words import ENGLISH
from gpuassist.monitor.sample_block import SAMPLES_AT_MOST, BlockError, _held, packed, unpacked
from tests.monitor.samples import gpu, process, sample
from tests.rows import for_each

REASONS = (
    NOT_ASKED,
    Unknown(text("waited {seconds:.0f} s", seconds=1.5)),
    Unknown(counted("{count} of {all}", "{count} of {all}", 3, all=text("it"))),
)
WORDS = st.text(st.characters(), max_size=5)  # halves of characters, too: bytes of a name that are not UTF-8


def facts(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Fact[Any]]:
    return st.one_of(st.sampled_from(REASONS), st.builds(Known, values, st.sampled_from(("NVML", "/proc"))))


WHOLE = st.one_of(st.integers(0, 1000), st.integers(-(1 << 65), 1 << 65))
FLOATS = st.one_of(st.integers(0, 10**9).map(lambda number: number / 1000), st.floats(allow_nan=False), st.just(-0.0))
TORCH = st.builds(TorchMemory, WHOLE, WHOLE, WHOLE, WHOLE, WHOLE, WHOLE)
PROCESSES = st.builds(
    ProcessSample,
    st.integers(1, 4),
    user=facts(WORDS),
    command=facts(WORDS),
    memory_used_bytes=facts(WHOLE),
    kind=facts(st.sampled_from(ProcessKind)),
    cpu_percent=facts(FLOATS),
    torch=facts(TORCH),
)
GPUS = st.builds(
    GpuSample,
    st.integers(0, 2),
    memory_used_bytes=facts(WHOLE),
    power_watts=facts(FLOATS),
    processes=facts(st.lists(PROCESSES, max_size=3).map(tuple)),
    throttle_reasons=facts(st.lists(WORDS, max_size=2).map(tuple)),
    parent=st.one_of(st.none(), st.integers(0, 2)),
    asleep=st.booleans(),
)
EVENTS = st.builds(
    Event, FLOATS, st.sampled_from(EventKind), st.just(text("it {what}", what="went")), gpu=st.one_of(st.none(), st.just(1))
)
SAMPLES = st.builds(
    Sample,
    st.floats(0, 1e11),
    FLOATS,
    st.lists(GPUS, max_size=3).map(tuple),
    trouble=st.sampled_from(((), (text("no driver"),))),
    events=st.lists(EVENTS, max_size=2).map(tuple),
)


@settings(max_examples=30, deadline=None)
@given(st.lists(SAMPLES, min_size=1, max_size=6))
def test_what_comes_out_is_what_went_in(samples: list[Sample]) -> None:
    found = unpacked(packed(samples))
    assert found == samples
    assert repr(found) == repr(samples)  # 1 is not 1.0, and -0.0 not 0.0


def test_what_is_no_number_stays_so() -> None:
    (found,) = unpacked(packed([Sample(1.0, 1.0, (GpuSample(0, power_watts=Known(math.nan, "x")),))]))
    assert isinstance(found.gpus[0].power_watts, Known)
    assert math.isnan(found.gpus[0].power_watts.value)


def test_every_field_is_kept() -> None:
    values: dict[str, Any] = {
        "kind": ProcessKind.BOTH,
        "torch": TorchMemory(1, 2, 3, 4, 5, 6, 7, 8),
        "throttle_reasons": ("power",),
    }

    def full(kind: Any, **given: Any) -> Any:
        for field in msgspec.structs.fields(kind):
            given.setdefault(
                field.name, Known(values.get(field.name, {int: 2, float: 2.5}.get(_held(kind, field.name), "2")), "here")
            )
        return kind(**given)

    one = full(
        GpuSample,
        index=3,
        parent=1,
        asleep=True,
        shares_memory=True,
        silent_seconds=2.5,
        processes=Known((full(ProcessSample, pid=7),), "NVML"),
    )
    samples = [replace(sample(1.0, one), events=(Event(0.5, EventKind.XID, text("Xid"), 3, 7, "79"),), trouble=(text("no"),))]
    assert unpacked(packed(samples)) == samples


def test_what_hardly_changes_costs_hardly_anything() -> None:
    samples = [sample(float(second), gpu(9 << 30, process(7, 8 << 30, "python train.py"))) for second in range(128)]
    assert len(packed(samples)) / 128 < 20


def test_what_stays_is_one_object() -> None:
    found = unpacked(packed([sample(float(second), gpu(5)) for second in range(3)]))
    assert found[0].gpus[0].memory_used_bytes is found[2].gpus[0].memory_used_bytes


def test_fields_that_nobody_knows_are_left_out_and_missing_ones_have_their_default() -> None:
    document = msgpack.decode(zlib.decompress(packed([sample(1.0, gpu(5))])))
    (member,) = document["gpus"]["members"]
    member["moons"] = member.pop("power_watts")
    (found,) = unpacked(zlib.compress(msgpack.encode(document)))
    assert found == sample(1.0, gpu(5))


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_damage_is_a_block_error(data: st.DataObject) -> None:
    document = msgpack.decode(
        zlib.decompress(packed([sample(float(second), gpu(second, process(7, second))) for second in range(3)]))
    )
    _spoil(document, data)
    try:
        unpacked(zlib.compress(msgpack.encode(document)))
    except BlockError:
        pass


@for_each(
    "words",
    (
        text("{a.__class__}", a=1),
        text("{a[0]}", a="x"),
        text("{b}", a=1),
        text("{a:>99999999}", a=1),
        text("{a!r}", a="x"),
        text("{a:.1f}", a="x"),
        text("{", a=1),
        counted("{count}", "{a}", 2),
        text("{a}", a=text("{b}")),
    ),
)
def test_a_strangers_words_are_shown_and_not_followed(words: Text) -> None:
    event = Event(1.0, EventKind.XID, words)
    (found,) = unpacked(packed([replace(sample(1.0, GpuSample(0, name=Unknown(words))), events=(event,), trouble=(words,))]))
    assert isinstance(found.gpus[0].name, Unknown)
    for told in (found.events[0].text, found.trouble[0], found.gpus[0].name.reason):
        assert ENGLISH(told) in {words.message, "{b}"}


def test_what_is_no_block_is_a_block_error() -> None:
    whole = packed([sample(1.0, gpu(5))])
    many = zlib.compress(msgpack.encode({**msgpack.decode(zlib.decompress(whole)), "count": SAMPLES_AT_MOST + 1}))
    undated = packed([Sample(1e12, 1.0, ())])
    for data in (undated, b"", b"x", whole[:-1], whole[:9], zlib.compress(b"\xc1"), zlib.compress(msgpack.encode([])), many):
        with pytest.raises(BlockError):
            unpacked(data)


def _spoil(document: Any, data: st.DataObject) -> None:
    """Puts something else in the place of one value, however deep."""
    while True:
        keys = list(document) if isinstance(document, dict) else range(len(document))
        key = data.draw(st.sampled_from(list(keys)))
        inner = document[key]
        if isinstance(inner, (dict, list)) and inner and data.draw(st.booleans()):
            document = inner
            continue
        document[key] = data.draw(st.sampled_from([None, -1, 10**6, "x", b"x", [], {}, [[]], 1.5, True]))
        return
