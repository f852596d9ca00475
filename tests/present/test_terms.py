"""What is said of a term: its tip, its rows, its Markdown; what strangers wrote into a recording is shown and not obeyed."""

from __future__ import annotations

from pathlib import Path

from gpuassist.context import Session
from gpuassist.model.fact import Known
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.model.version import ComputeCapability
from gpuassist.model.words import ENGLISH
from gpuassist.present.terms import facts_of, here, term_markdown, term_rows, tip
from gpuassist.session.terms import glossary
from tests.fakes import world_under
from tests.values import knowledge

TERMS = glossary(Session(world_under(Path("/nowhere")), knowledge(), ENGLISH))


def gpu(name: str, capability: str) -> Gpu:
    return Gpu(name=Known(name, "NVML"), compute_capability=Known(ComputeCapability.parse(capability), "NVML"))


def machine(*gpus: Gpu) -> Machine:
    return Machine(gpus=Known(gpus, "NVML"))


def test_a_tip_has_two_terms_and_counts_the_others() -> None:
    assert tip((), TERMS, ENGLISH) == ""
    one, *several = (tip(TERMS.in_text(words), TERMS, ENGLISH).split("\n") for words in ("DKMS", "DKMS, MOK", "DKMS, MOK, PATH"))
    assert [one[0].partition(":")[0], one[-1]] == ["DKMS", "More: Guides › DKMS (Shift+F1)"]
    assert [len(lines) for lines in several] == [3, 3]
    assert several[1][-1] == "Shift+F1: these and 1 more term"


def test_this_machine_is_told_once_for_equal_values() -> None:
    term = TERMS.asked("compute capability")
    assert term is not None
    eight = machine(*(gpu(f"NVIDIA H100 number {place}", "9.0") for place in range(8)), gpu("NVIDIA L4", "8.9"))
    assert [ENGLISH(row.value) for row in here(term, facts_of(eight))] == ["9.0", "8.9"]
    assert here(term, facts_of(Machine())) == ()
    many = machine(*(gpu("card", f"{major}.0") for major in range(3, 13)))
    assert len(here(term, facts_of(many))) == 4


def test_names_of_a_recording_are_words_in_markdown() -> None:
    term = TERMS.asked("compute capability")
    assert term is not None
    evil = machine(gpu("[x](https://evil.example) <b>**card**", "8.9"))
    written = term_markdown(term, facts_of(evil), TERMS, ENGLISH, guide_title="*Guide*")
    assert "](https://evil.example)" not in written
    assert "<b>" not in written.replace("\\<b\\>", "")
    assert "[\\*Guide\\*](guide:version-pairs)" in written
    assert "[PTX](term:ptx)" in written


def test_a_library_names_packages_and_checks() -> None:
    told = {}
    for asked in ("cuDNN", "cuTENSOR", "MOK"):
        term = TERMS.asked(asked)
        assert term is not None
        told[asked] = {ENGLISH(row.label): ENGLISH(row.value) for row in term_rows(term, (), TERMS)}
    assert told["cuDNN"]["By apt"] == "libcudnn9-cuda-12"
    assert "lstm" in told["cuDNN"]["Checks that call it"]
    assert told["cuTENSOR"]["Checks that call it"] == "none of `gpuassist verify`"
    assert "Checks that call it" not in told["MOK"]
