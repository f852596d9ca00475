"""`gpuassist explain` as a person and as a program reads it."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gpuassist.app import compose
from gpuassist.cli import explain
from gpuassist.cli.context import UsageError
from gpuassist.model.machine import encode_machine
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Exit
from tests.cli.made_session import run_live
from tests.cli.runs import Run
from tests.translations import shipped
from tests.values import machine

NVCC = "nvcc fatal   : Unsupported gpu architecture 'compute_89'\n"
MODULE = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Fri May 31 09:35:42 UTC 2024\n"


class _Terminal(io.TextIOWrapper):
    """A keyboard at which somebody typed."""

    def isatty(self) -> bool:
        return True


def _explain(*arguments: str, machine_file: str = "none", screen: bool = False) -> Run:
    return run_live(explain, *arguments, session=compose("en"), machine_file=machine_file, screen=screen)


@pytest.fixture
def pasted(tmp_path: Path) -> Path:
    """A file with an error in it."""
    file = tmp_path / "pasted.txt"
    file.write_text(f"make all\n{NVCC}", "utf-8")
    return file


def _pipe(monkeypatch: pytest.MonkeyPatch, words: bytes, kind: type[io.TextIOWrapper] = io.TextIOWrapper) -> None:
    monkeypatch.setattr(sys, "stdin", kind(io.BytesIO(words)))


def _document(run: Run) -> Any:
    return json.loads(run.out)


def test_file_is_explained(pasted: Path) -> None:
    run = _explain(str(pasted))
    assert run.exit is Exit.PROBLEMS
    assert run.out.splitlines()[0] == "1 problem found"
    assert "[pasted text, line 2]" in " ".join(run.out.split())


def test_standard_input_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    _pipe(monkeypatch, NVCC.encode())
    assert _explain().exit is Exit.PROBLEMS


def test_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    _pipe(monkeypatch, NVCC.encode())
    assert _explain("-").exit is Exit.PROBLEMS


def test_terminal_is_told_how_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    _pipe(monkeypatch, NVCC.encode(), _Terminal)
    assert "Ctrl-D" in _explain().err


def test_pipe_is_not_told_how_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    _pipe(monkeypatch, NVCC.encode())
    assert _explain().err == ""


def test_document_follows_the_contract(pasted: Path) -> None:
    document = _document(_explain(str(pasted), "--json"))
    assert document["schema"] == 1
    first = document["findings"][0]
    assert first["id"] == "nvcc-arch-too-new"
    assert set(first) == {"id", "severity", "title", "explanation", "evidence", "remedies", "links"}
    assert first["evidence"][0]["source"] == "pasted text, line 2"
    assert set(first["remedies"][0]) == {"text", "commands", "needs_root", "action", "check"}


def test_document_says_what_the_answer_rests_on(pasted: Path) -> None:
    document = _document(_explain(str(pasted), "--json"))
    assert document["known"] is True
    assert document["basis"]["ground"] == "text"
    assert document["left_out_bytes"] == 0


def test_unknown_text_ends_with_three(tmp_path: Path) -> None:
    file = tmp_path / "pasted.txt"
    file.write_text("The frobnicator exploded: error 7\n", "utf-8")
    run = _explain(str(file))
    assert run.exit is Exit.UNDETERMINED
    assert run.out.splitlines()[0] == "I don't know this text"


def test_unknown_text_is_a_document_as_well(tmp_path: Path) -> None:
    file = tmp_path / "pasted.txt"
    file.write_text("The frobnicator exploded: error 7\n", "utf-8")
    document = _document(_explain(str(file), "--json"))
    assert document["findings"] == []
    assert document["known"] is False


def test_facts_of_an_unknown_text_are_shown(tmp_path: Path) -> None:
    file = tmp_path / "pasted.txt"
    file.write_text(f"{MODULE}The frobnicator exploded: error 7\n", "utf-8")
    run = _explain(str(file))
    assert "Read in the text:" in run.out
    assert "550.54.14" in run.out


def test_sound_set_up_ends_with_zero(tmp_path: Path) -> None:
    file = tmp_path / "pasted.txt"
    file.write_text(MODULE, "utf-8")
    run = _explain(str(file))
    assert run.exit is Exit.HEALTHY
    assert "550.54.14" in run.out.splitlines()[0]  # what was read, and no "no problem" of what was not


def test_junk_is_no_text(tmp_path: Path) -> None:
    file = tmp_path / "junk.bin"
    file.write_bytes(b"\x7fELF" + bytes(range(256)) * 100)
    run = _explain(str(file))
    assert run.exit is Exit.UNDETERMINED
    assert run.out.splitlines()[0] == "This is not text"


def test_missing_file_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        _explain(str(tmp_path / "nowhere.txt"))
    assert "nowhere.txt could not be read" in ENGLISH(error.value.reason)


def test_directory_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        _explain(str(tmp_path))
    assert "could not be read" in ENGLISH(error.value.reason)


def test_huge_log_is_read_at_both_ends(tmp_path: Path) -> None:
    file = tmp_path / "train.log"
    file.write_bytes(b"step 1 of 100: loss 0.25\n" * 400_000 + NVCC.encode())
    run = _explain(str(file))
    assert run.exit is Exit.PROBLEMS
    assert "MiB between them were left out" in run.out


def test_recorded_machine_is_joined(pasted: Path, tmp_path: Path) -> None:
    recording = tmp_path / "machine.json"
    recording.write_text(json.dumps(encode_machine(machine(toolkits=("11.7.99", "12.4.131"), nvcc="11.7"), ENGLISH)), "utf-8")
    run = _explain(str(pasted), "--json", machine_file=str(recording))
    document = _document(run)
    assert document["basis"]["ground"] == "text and machine"
    assert any("gpuassist use cuda 12.4" in remedy["commands"] for remedy in document["findings"][0]["remedies"])


def test_recording_that_is_none_is_wrong_usage(pasted: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("{", "utf-8")
    with pytest.raises(UsageError):
        _explain(str(pasted), machine_file=str(tmp_path / "broken.json"))


def test_json_is_english_unless_asked(pasted: Path) -> None:
    session = replace(compose("en"), words=shipped("zh_CN"))
    chinese = run_live(explain, str(pasted), "--json", session=session, machine_file="none")
    asked = run_live(explain, str(pasted), "--json", "--lang", "zh_CN", session=session, machine_file="none")
    assert _document(chinese)["findings"][0]["title"].isascii()
    assert not _document(asked)["findings"][0]["title"].isascii()


def test_colour_only_on_a_terminal(pasted: Path) -> None:
    assert "\x1b[" in _explain(str(pasted), screen=True).out
    assert "\x1b[" not in _explain(str(pasted)).out


def test_guide_is_printed_in_place_of_an_answer() -> None:
    run = _explain("--topic", "freeing-memory")
    assert run.exit is Exit.HEALTHY
    assert run.out.startswith("# Freeing GPU memory\n\n")


def test_topics_are_listed_without_a_name() -> None:
    run = _explain("--topic")
    assert "precision  TF32 and mixed precision" in run.out.splitlines()


def test_a_term_is_explained_by_any_of_its_names() -> None:
    for asked in ("compute-capability", "Compute Capability", "cc"):
        run = _explain("--topic", asked)
        assert (run.exit, run.out.splitlines()[0]) == (Exit.HEALTHY, "compute capability")
    assert "CUDAMM" in _explain("--topic", "cudamm").out


def test_a_term_says_what_it_is_on_a_recorded_machine(tmp_path: Path) -> None:
    recorded = tmp_path / "machine.json"
    recorded.write_text(json.dumps(encode_machine(machine(), ENGLISH)), "utf-8")
    told = _document(_explain("--topic", "sm_89", "--json", machine_file=str(recorded)))
    assert (told["kind"], told["key"], told["here"]) == ("term", "gpu-target", [])
    told = _document(_explain("--topic", "cc", "--json", machine_file=str(recorded)))
    assert [one["value"] for one in told["here"]] == ["8.9"]


def test_a_name_that_is_not_known_ends_with_three_and_the_nearest() -> None:
    run = _explain("--topic", "precison")
    assert run.exit is Exit.UNDETERMINED
    told = _document(_explain("--topic", "reservd memory", "--json"))
    assert (told["kind"], told["nearest"][0]) == ("unknown", "reserved-memory")


def test_every_guide_and_term_is_listed() -> None:
    told = _document(_explain("--topic", "list", "--json"))
    assert {"precision", "faster-dataloader"} <= {one["key"] for one in told["guides"]}
    assert {"mok", "cudnn", "detach"} <= {one["key"] for one in told["terms"]}
    assert "mok  MOK" in _explain("--topic").out.splitlines()


def test_answer_leads_to_its_guides(tmp_path: Path) -> None:
    file = tmp_path / "pasted.txt"
    file.write_text("AssertionError: Torch not compiled with CUDA enabled\n", "utf-8")
    assert "  gpuassist explain --topic installing-torch" in _explain(str(file)).out.splitlines()
