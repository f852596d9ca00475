"""A report in its formats: what stands in it, that none of them lets a planted secret through, and that it opens again."""

from __future__ import annotations

import json
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.model.machine import decode_machine
from gpuassist.model.past import Direction, MachineChange, Subject
from gpuassist.model.text import verbatim
from gpuassist.model.words import ENGLISH
from gpuassist.present.chain_picture import chain_picture
from gpuassist.present.report_document import report_document
from gpuassist.present.report_file import NotSavedError, ReportFormat, format_of, report_content, save, why_not_saved
from gpuassist.session.inspect import Inspection, inspection_of, open_recording
from gpuassist.session.report import ChangesTold, MachineReport, make_report, sieve_of
from gpuassist.session.verification_summary import VerificationOutcome, figures_of
from gpuassist.session.verifications import KeptVerification
from gpuassist.system.files import Files
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.rows import for_each
from tests.session.planted import WAYS, in_turn, planted, told_in
from tests.session.test_recorded_machines import CASES, _facts
from tests.values import knowledge

SESSION = Session(World(Surroundings("/home/annaberg", "annaberg", 1000), Files()), knowledge(), ENGLISH)


@cache
def _recorded(case: Path) -> Inspection:
    return open_recording(SESSION, str(_facts(case)))


@cache
def _report(case: Path) -> MachineReport:
    return make_report(SESSION, _recorded(case))


def _named(name: str) -> Path:
    return next(case for case in CASES if case.name == name)


@for_each("case", CASES, every=3)
def test_the_report_of_a_recorded_machine_opens_again_with_the_same_findings(case: Path) -> None:
    document = json.loads(report_content(_report(case), ReportFormat.JSON, ENGLISH))
    again = inspection_of(SESSION, decode_machine(document))
    before = [one.id for one in _recorded(case).answers]
    assert [one.id for one in again.answers] == before
    assert [one["id"] for one in document["report"]["findings"]] == before
    assert [one.problem for one in again.diagnosis.undetermined] == [one.problem for one in _recorded(case).diagnosis.undetermined]
    assert len(again.diagnosis.passed) == len(_recorded(case).diagnosis.passed)
    assert _report(case).differing == ()


@for_each("case", CASES[::9])
def test_no_secret_in_a_recorded_machine_leaves_in_any_format(case: Path) -> None:
    place = CASES.index(case)
    machine = planted(_recorded(case).machine, in_turn(place * 7, tuple(WAYS)[place % len(WAYS)]))
    report = make_report(SESSION, inspection_of(SESSION, machine))
    for form in ReportFormat:
        assert told_in(report_content(report, form, ENGLISH)) == []


def test_no_secret_of_the_past_leaves_in_any_format() -> None:
    plant = in_turn(0, "before")
    changes = tuple(
        MachineChange(subject, Direction.CHANGED, plant("x"), plant("a"), plant("b"), plant("/x")) for subject in Subject
    )
    through = sieve_of(SESSION, live=True)
    told = ChangesTold(
        "2026-11-20", kept=True, changes=tuple(map(through.change, changes)), notes=(through.text(verbatim(plant("x"))),)
    )
    report = replace(_report(_named("08-healthy")), changed=told)
    for form in ReportFormat:
        assert told_in(report_content(report, form, ENGLISH)) == []


@pytest.mark.parametrize("form", [ReportFormat.MARKDOWN, ReportFormat.HTML])
def test_every_finding_stands_in_it_with_its_id_its_evidence_and_its_commands(form: ReportFormat) -> None:
    report = _report(_named("02-rtx-4090-cuda-11-7-first"))
    words = report_content(report, form, ENGLISH)
    plain = re.sub(r"\\(.)", r"\1", words) if form is ReportFormat.MARKDOWN else words
    for answer in report.inspection.answers:
        assert answer.id in plain
        for remedy in answer.remedies:
            for use in remedy.commands:
                assert all(line.replace("&", "&amp;") in plain or line in plain or '"' in line or ">" in line for line in use.lines)


class _Page(HTMLParser):
    """What a page would load, and which of its elements are not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"script", "img", "link", "iframe", "object", "embed", "base", "form", "use", "image"}:
            self.loads.append(tag)
        self.loads += [
            f"{name}={value}" for name, value in attrs if name in {"src", "style", "xlink:href", "srcset"} or name.startswith("on")
        ]
        if tag not in {"meta", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_needs_nothing_else_and_is_whole() -> None:
    page = _Page()
    words = report_content(_report(_named("three-cards-in-bad-states")), ReportFormat.HTML, ENGLISH)
    page.feed(words)
    assert (page.loads, page.open) == ([], [])
    assert "url(" not in words
    assert "@import" not in words


@for_each("case", CASES[::6])
def test_the_picture_of_a_chain_is_well_formed_and_says_every_part(case: Path) -> None:
    for chain in _recorded(case).chains:
        picture = ElementTree.fromstring(chain_picture(chain, ENGLISH))
        assert len(picture.findall(".//{http://www.w3.org/2000/svg}rect[@class='box']")) == len(chain.nodes)


def test_the_document_tells_what_was_taken_out_and_no_more() -> None:
    told = report_document(_report(_named("leftovers-of-three-toolkits")), ENGLISH)["report"]
    assert isinstance(told, dict)
    assert {"kind": "user", "count": 1, "stand_in": "user"} in told["taken_out"]  # type: ignore[operator]
    assert told["changed"] is None
    assert told["verification"] is None


# A verification in it.

CHECKS = [{"name": "matmul", "verdict": "pass"}, {"name": "copy", "verdict": "pass"}]
GPU = {"device": "cuda:0", "name": "NVIDIA GeForce RTX 5090", "verdict": "pass", "checks": CHECKS}
CPU = {"device": "cpu", "name": "", "verdict": "pass", "checks": CHECKS}
LATE = [*CHECKS, {"name": "conv", "verdict": "skipped", "cause": "time"}]
BAD = [*CHECKS, {"name": "conv", "verdict": "fail"}]
OUTCOMES = (
    ({"accelerator_verified": True, "devices": [GPU]}, VerificationOutcome.PASSED),
    ({"accelerator_verified": True, "devices": [GPU, CPU]}, VerificationOutcome.PASSED),
    ({"accelerator_verified": False, "devices": [GPU]}, VerificationOutcome.INCOMPLETE),
    ({"accelerator_verified": True, "devices": [{**GPU, "checks": LATE}]}, VerificationOutcome.INCOMPLETE),
    ({"accelerator_verified": True, "devices": [GPU, {**GPU, "verdict": "skipped", "checks": []}]}, VerificationOutcome.INCOMPLETE),
    ({"accelerator_verified": True, "devices": [{**GPU, "checks": BAD}]}, VerificationOutcome.FAILED),
    ({"accelerator_verified": True, "devices": [{**GPU, "verdict": "hung"}]}, VerificationOutcome.FAILED),
    ({"accelerator_verified": True, "devices": [{**GPU, "verdict": "splendid"}]}, VerificationOutcome.FAILED),
    ({"accelerator_verified": True, "devices": [GPU], "collectives": [{"checks": BAD}]}, VerificationOutcome.FAILED),
    ({"accelerator_verified": True, "devices": [CPU]}, VerificationOutcome.CPU_ONLY),
    ({"accelerator_verified": True, "devices": []}, VerificationOutcome.NOTHING),
    ({"accelerator_verified": True}, VerificationOutcome.NOTHING),
    ({"accelerator_verified": True, "devices": [{**GPU, "checks": []}]}, VerificationOutcome.NOTHING),
    ({"devices": [3, None, "x"], "rates": 7, "environment": []}, VerificationOutcome.NOTHING),
)


@for_each("row", OUTCOMES)
def test_a_verification_is_called_what_its_devices_bear_out(row: tuple[dict[str, object], VerificationOutcome]) -> None:
    strings = sieve_of(SESSION, live=True).strings
    assert figures_of(KeptVerification("2026-11-23T20:00:00+00:00", "580.95.05", "full", row[0]), strings).outcome is row[1]


def test_no_words_of_a_verification_leave() -> None:
    plant = in_turn(5, "instead")
    device = {key: plant("") if isinstance(value, str) else value for key, value in GPU.items()}
    environment = {key: plant("") for key in ("torch", "cuda", "python", "interpreter", "image", "summary")}
    rates = [{"device": "cuda:0", "share": float("nan")}, {"device": "cuda:0", "share": True}, {"device": plant(""), "share": 0.9}]
    document = {
        "accelerator_verified": True,
        "devices": [device, GPU],
        "environment": environment,
        "rates": rates,
        "libraries": [plant("")],
    }
    figures = figures_of(KeptVerification(plant(""), plant(""), plant(""), document), sieve_of(SESSION, live=True).strings)
    assert told_in(repr(figures)) == []
    report = replace(_report(_named("08-healthy")), verification=figures)
    for form in ReportFormat:
        assert told_in(report_content(report, form, ENGLISH)) == []


# Its file.


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("a.md", ReportFormat.MARKDOWN),
        ("a.HTML", ReportFormat.HTML),
        ("a.htm", ReportFormat.HTML),
        ("a.json", ReportFormat.JSON),
        ("a", None),
    ],
)
def test_the_ending_says_the_format(path: str, form: ReportFormat | None) -> None:
    assert format_of(path) is form


def test_a_file_is_private_and_never_written_over_unasked(tmp_path: Path) -> None:
    path = tmp_path / "report.md"
    save(str(path), b"one", force=False)
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(NotSavedError):
        save(str(path), b"two", force=False)
    assert path.read_bytes() == b"one"
    save(str(path), b"two", force=True)
    assert path.read_bytes() == b"two"
    assert [one.name for one in tmp_path.iterdir()] == ["report.md"]


def test_with_force_a_link_gives_way_and_what_it_led_to_stays(tmp_path: Path) -> None:
    (tmp_path / "kept").write_bytes(b"kept")
    (tmp_path / "report.md").symlink_to(tmp_path / "kept")
    save(str(tmp_path / "report.md"), b"new", force=True)
    assert (tmp_path / "kept").read_bytes() == b"kept"


@pytest.mark.parametrize("path", ["", ".", "/proc/nowhere/x.md", "a\0b.md"])
def test_what_is_no_place_for_a_file_is_said(path: str, tmp_path: Path) -> None:
    with pytest.raises(NotSavedError):
        save(path, b"", force=True)
    assert why_not_saved(str(tmp_path), force=True) is not None
