"""Names of machines for ssh, what ssh complains of, and lines that come over a connection."""

from __future__ import annotations

import json
import math

from gpuassist.formats.remote_lines import LINE_AT_MOST_BYTES, RemoteLines
from gpuassist.formats.sample_lines import GPUS_AT_MOST, WORDS_AT_MOST, read_sample_line
from gpuassist.formats.ssh_complaints import SshComplaint, complaint_of, last_words
from gpuassist.formats.ssh_host import is_ssh_host
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.sample import Event, EventKind, GpuSample, ProcessKind, ProcessSample, Sample, TorchMemory
from gpuassist.model.text import text, verbatim
from gpuassist.model.words import ENGLISH
from gpuassist.present.sample_document import event_document, sample_document
from tests.rows import for_each

GOOD = (
    *("box", "box.example.org", "you@box", "you@10.0.0.1", "ssh://box", "ssh://you@box:2222", "ssh://box/", "node-01", "a_b"),
    *("you%corp@box", "DOMAIN/you@box", "first.last+x@box", "fe80::1%eth0", "[::1]", "ssh://[::1]:22", "you@corp@bastion"),
)
BAD = (
    *("", "-v", "-oProxyCommand=x", "--", "ssh://", "ssh://-x", "you@", "you@-x", "-x@box", "@box", "a b", "a\nb", "a;b", "a$b"),
    *("`x`", "a|b", "box/etc", "a'b", 'a"b', "a\x00b", "\x1b[2J", "x" * 256, "box\\", "a&b", "a(b"),
    *("ssh://box:0", "ssh://box:65536", "ssh://box:x", "ssh://you@box:", "ssh://:22"),
)
# What OpenSSH 9.2 and 10.0 said, each with what went before it.
COMPLAINTS = {
    "@@@@@\n@  WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!  @\n@@@@@\nHost key verification failed.": SshComplaint.CHANGED_KEY,
    "No ED25519 host key is known for box.\nHost key verification failed.": SshComplaint.UNKNOWN_KEY,
    "Welcome\nyou@box: Permission denied (publickey,password).": SshComplaint.DENIED,
    "Received disconnect from 10.0.0.1 port 22:2: Too many authentication failures": SshComplaint.DENIED,
    "ssh: Could not resolve hostname box: Name or service not known": SshComplaint.UNKNOWN_NAME,
    "ssh: connect to host box port 22: No route to host": SshComplaint.NO_ROUTE,
    "ssh: connect to host box port 22: Connection timed out": SshComplaint.NO_ROUTE,
    "ssh: connect to host box port 22: Connection refused": SshComplaint.NO_SERVER,
    "/home/you/.ssh/config: line 3: Bad configuration option: foo\n/home/you/.ssh/config: terminating, 1 bad options": (
        SshComplaint.CONFIGURATION
    ),
    "Bad owner or permissions on /home/you/.ssh/config": SshComplaint.CONFIGURATION,
    "This account is currently not available.": SshComplaint.NO_SHELL,
    "kex_exchange_identification: Connection closed by remote host": SshComplaint.CLOSED,
    "client_loop: send disconnect: Broken pipe": SshComplaint.CLOSED,
    "Timeout, server box not responding.": SshComplaint.CLOSED,
    "": SshComplaint.OTHER,
    "Something new": SshComplaint.OTHER,
}


@for_each("name", GOOD)
def test_names_that_ssh_may_have(name: str) -> None:
    assert is_ssh_host(name)


@for_each("name", BAD)
def test_names_that_never_reach_ssh(name: str) -> None:
    assert not is_ssh_host(name)


@for_each(("errors", "complaint"), COMPLAINTS.items())
def test_what_ssh_complains_of(errors: str, complaint: SshComplaint) -> None:
    assert complaint_of(errors) is complaint


def test_the_last_words_are_one_line_that_nothing_obeys() -> None:
    assert last_words("first\nla\x1b[2Jst \n\n") == "la<U+001B>[2Jst"
    assert len(last_words("x" * 100_000)) <= 400


def test_only_lines_with_the_token_are_heard() -> None:
    lines = RemoteLines("token")
    assert lines.take(b'noise\ntoken {"a": 1}\n{"b": 2}\ntok') == [{"a": 1}]
    assert lines.take(b'en {"c": 3}\n') == [{"c": 3}]
    assert lines.take(b"token none\n") == [{"none": 1}]
    assert lines.take(b"token [1]\ntoken {\n" + b"token " + b"[" * 50_000 + b"\n") == []
    assert lines.damaged == 3


def test_a_line_without_an_end_is_left_out() -> None:
    lines = RemoteLines("token")
    for _ in range(64):
        assert lines.take(b"token " + b"x" * (LINE_AT_MOST_BYTES // 16)) == []
        assert len(lines._pending) <= LINE_AT_MOST_BYTES + (LINE_AT_MOST_BYTES // 8)
    assert lines.take(b'\ntoken {"a": 1}\n') == [{"a": 1}]


def known(value: object) -> Known:  # type: ignore[type-arg]
    return Known(value, "box")


PROCESS = ProcessSample(
    *(7, known("you"), known("python train.py"), known(5 << 30), known(ProcessKind.COMPUTE), known(""), known(40), known(99.5)),
    *(known(1 << 30), known(1_795_000_000.0), Unknown(text("it is no kernel of a notebook")), known(3.0)),
    torch=known(TorchMemory(1, 2, 3, 4, 5, 6, 7, 8)),
)
GPU = GpuSample(
    *(0, known("GPU-1"), known("H100"), known(80 << 30), known(9 << 30), known(71 << 30), known(55), known(-3), known(299.5)),
    processes=known((PROCESS,)),
    throttle_reasons=known(("sw_power_cap",)),
    sm_activity_percent=known(12.5),
    fan_percent=Unknown(text("the GPU has no such thing")),
    parent=None,
    shares_memory=True,
    silent_seconds=2.5,
)


def line_of(**changes: object) -> str:
    told = sample_document(Sample(1_795_000_000.0, 5.0, (GPU,)), ENGLISH)
    return json.dumps({**told, **changes})


def test_a_sample_comes_as_it_was_printed() -> None:
    sent = Sample(1_795_000_000.0, 5.0, (GPU,), (text("the GPU is asleep, and asking it would wake it"),))
    read = read_sample_line(json.dumps(sample_document(sent, ENGLISH)), 77.0, "box")
    assert read is not None
    assert read.sample is not None
    assert read.sample.time == sent.time
    assert read.sample.monotonic == 77.0
    assert sample_document(read.sample, ENGLISH) == sample_document(sent, ENGLISH)
    assert isinstance(read.sample.gpus[0].processes, Known)
    # A reason is a message again, so that it is said in the user's language.
    assert read.sample.trouble == sent.trouble


def test_an_event_comes_as_it_was_printed_but_not_what_only_follows_from_samples() -> None:
    event = Event(5.0, EventKind.XID, verbatim("Xid 79"), 0, None, "79")
    document = event_document(event, Sample(1_795_000_000.0, 5.0, ()), ENGLISH)
    read = read_sample_line(json.dumps(document), 5.0, "box")
    assert read is not None
    assert read.event == event
    conclusion = {"kind": "out-of-memory", "text": "x", "witness": "counter"}
    others: tuple[dict[str, object], ...] = ({"kind": "growth", "text": "x"}, {**conclusion}, {"kind": []}, {})
    for told in others:
        assert read_sample_line(json.dumps({**document, "event": told}), 5.0, "box") is None


HOSTILE = (
    *("", "[]", "{", "null", '{"schema": 1}', "[" * 100_000, '{"schema": 1, "time": 5, "gpus": []}'),
    *(line_of(schema=2), line_of(schema=True, time="x"), line_of(time="2026-11-24"), line_of(time="9" * 50), line_of(gpus=None)),
    *(line_of(time="0001-01-01T00:00:00+00:00"), line_of(time=None), line_of(gpus={}), "\udcff"),
)


@for_each("line", HOSTILE)
def test_what_is_no_sample_gives_none(line: str) -> None:
    assert read_sample_line(line, 1.0, "box") is None


def test_what_cannot_be_is_unknown() -> None:
    odd = {
        "index": 3,
        "memory_total_bytes": -5,
        "power_watts": math.inf,
        "name": 7,
        "memory_used_bytes": 1 << 60,
        "utilization_percent": True,
        "processes": [{"pid": -1}, {"pid": 5, "torch": {"ooms": "x"}}],
        "uuid": "x" * 100_000,
        "throttle_reasons": [1, "a"],
        "parent": 3,
        "silent_seconds": "x",
    }
    gpus = [odd, odd, {"index": -1}, {"index": "0"}, 5, None, *({"index": 10 + number} for number in range(3 * GPUS_AT_MOST))]
    read = read_sample_line(line_of(gpus=gpus, trouble=["a", 5, *["b"] * 100]), 1.0, "box")
    assert read is not None
    assert read.sample is not None
    first = read.sample.gpus[0]
    assert len(read.sample.gpus) <= GPUS_AT_MOST
    assert len({gpu.index for gpu in read.sample.gpus}) == len(read.sample.gpus)
    for name in ("memory_total_bytes", "power_watts", "name", "memory_used_bytes", "utilization_percent"):
        assert isinstance(getattr(first, name), Unknown), name
    assert isinstance(first.uuid, Known)
    assert len(first.uuid.value) == WORDS_AT_MOST
    assert isinstance(first.processes, Known)
    assert [one.pid for one in first.processes.value] == [5]
    assert isinstance(first.processes.value[0].torch, Unknown)
    assert first.parent is None
    assert len(read.sample.trouble) <= 8
