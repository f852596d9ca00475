"""Which of several problems comes first, which stand beside it, which are less likely."""

from __future__ import annotations

from pathlib import Path

from gpuassist.diagnose.ranking import LEADS_TO, Ranking, behind, rank_causes
from gpuassist.diagnose.verdicts import finding
from gpuassist.model.finding import Diagnosis, Evidence, Finding, Undetermined
from gpuassist.model.paste import Clue, Passage, Weight
from gpuassist.model.text import Parameter, text, verbatim
from tests.rows import for_each

NOTHING = Diagnosis()


def _clue(problem: str, weight: Weight = Weight.CAUSE, line: int = 1, **parameters: Parameter) -> Clue:
    return Clue(problem, weight, Passage(line, f"words of {problem}"), tuple(parameters.items()))


def _proved(*problems: str) -> Diagnosis:
    evidence = Evidence(text("driver"), verbatim("550"), "nvidia-smi")
    return Diagnosis(tuple(finding(one, evidence, gpu="RTX 4090") for one in problems))


def _ids(explained: Ranking) -> list[str]:
    return [one.problem for one in explained.findings]


def _doubted(explained: Ranking) -> list[str]:
    return [one.finding.problem for one in explained.less_likely]


def test_nothing_shows_nothing() -> None:
    assert rank_causes((), NOTHING, NOTHING) == Ranking()


def test_first_cause_in_the_text_comes_first() -> None:
    clues = (_clue("nccl-shm", line=9), _clue("nvcc-glibc-too-new", line=3))
    assert _ids(rank_causes(clues, NOTHING, NOTHING)) == ["nvcc-glibc-too-new", "nccl-shm"]


def test_of_two_causes_that_with_fewer_causes_of_its_own_comes_first() -> None:
    clues = (_clue("no-driver", line=3), _clue("nccl-shm", line=9))
    assert _ids(rank_causes(clues, NOTHING, NOTHING)) == ["nccl-shm", "no-driver"]


def test_state_that_leads_to_a_cause_comes_before_it() -> None:
    clues = (_clue("rm-init-adapter-failed", line=1), _clue("xid-79-gpu-fell-off-bus", Weight.STATE, line=2))
    assert _ids(rank_causes(clues, NOTHING, NOTHING)) == ["xid-79-gpu-fell-off-bus", "rm-init-adapter-failed"]


def test_second_reading_of_a_line_leads_to_nothing() -> None:
    clues = (
        _clue("no-driver", Weight.STATE, line=1),
        _clue("xid-79-gpu-fell-off-bus", Weight.STATE, line=1),
        _clue("rm-init-adapter-failed", line=2),
    )
    assert _ids(rank_causes(clues, NOTHING, NOTHING)) == ["rm-init-adapter-failed"]


def test_consequence_is_the_answer_only_beside_nothing_else() -> None:
    consequence = _clue("torch-cpu-only", Weight.CONSEQUENCE, line=1)
    state = _clue("xid-79-gpu-fell-off-bus", Weight.STATE, line=2)
    assert _ids(rank_causes((consequence,), NOTHING, NOTHING)) == ["torch-cpu-only"]
    assert _ids(rank_causes((consequence, state), NOTHING, NOTHING)) == ["xid-79-gpu-fell-off-bus"]


def test_machine_is_asked_about_a_consequence_only_where_the_text_says_no_more() -> None:
    consequence = _clue("torch-cpu-only", Weight.CONSEQUENCE, line=1)
    state = _clue("xid-79-gpu-fell-off-bus", Weight.STATE, line=2)
    proof = _proved("secure-boot-unsigned-module")
    assert _ids(rank_causes((consequence,), NOTHING, proof)) == ["secure-boot-unsigned-module"]
    assert _ids(rank_causes((consequence, state), NOTHING, proof)) == ["xid-79-gpu-fell-off-bus"]
    proof = _proved("torch-cpu-only")
    assert _ids(rank_causes((consequence, state), NOTHING, proof)) == ["xid-79-gpu-fell-off-bus"]


def test_consequence_that_the_answer_explains_is_no_doubt_about_it() -> None:
    consequence = _clue("torch-cpu-only", Weight.CONSEQUENCE, line=1)
    lost = rank_causes((consequence, _clue("xid-79-gpu-fell-off-bus", Weight.STATE, line=2)), NOTHING, NOTHING)
    assert not lost.less_likely
    full = rank_causes((consequence, _clue("oom-true", line=2)), NOTHING, NOTHING)
    assert _doubted(full) == ["torch-cpu-only"]


def test_sound_machine_is_never_named_beside_a_fault() -> None:
    clues = (_clue("healthy", Weight.STATE, line=1), _clue("no-driver", Weight.CONSEQUENCE, line=2))
    explained = rank_causes(clues, NOTHING, NOTHING)
    assert [*_ids(explained), *_doubted(explained)] == ["no-driver"]


def test_cause_comes_before_state_and_consequence() -> None:
    clues = (
        _clue("torch-cpu-only", Weight.CONSEQUENCE, line=1),
        _clue("nccl-cuda-error", Weight.ASIDE, line=1),
        _clue("no-driver", Weight.STATE, line=2),
        _clue("oom-true", Weight.CAUSE, line=3),
    )
    explained = rank_causes(clues, NOTHING, NOTHING)
    assert _ids(explained) == ["oom-true"]
    # What follows from the answer, as NCCL's error does, is no doubt about it.
    assert _doubted(explained) == ["no-driver", "torch-cpu-only"]
    assert [dict(one.reason.parameters)["line"] for one in explained.less_likely] == [2, 1]


def test_lone_symptom_is_the_answer() -> None:
    assert _ids(rank_causes((_clue("no-driver", Weight.STATE),), NOTHING, NOTHING)) == ["no-driver"]


def test_lone_consequence_is_the_answer() -> None:
    assert _ids(rank_causes((_clue("nccl-cuda-error", Weight.ASIDE),), NOTHING, NOTHING)) == ["nccl-cuda-error"]


def test_of_two_symptoms_the_proved_one_is_the_answer() -> None:
    clues = (_clue("no-driver", Weight.STATE), _clue("driver-too-old-for-cuda", Weight.STATE))
    explained = rank_causes(clues, NOTHING, _proved("driver-too-old-for-cuda"))
    assert _ids(explained) == ["driver-too-old-for-cuda"]
    assert _doubted(explained) == ["no-driver"]


def test_proved_problem_of_the_text_beats_a_symptom() -> None:
    proof = _proved("torch-cpu-only")
    assert _ids(rank_causes((_clue("no-driver", Weight.STATE),), proof, proof)) == ["torch-cpu-only"]


def test_said_cause_beats_what_facts_alone_prove() -> None:
    proof = _proved("torch-lacks-sm")
    assert _ids(rank_causes((_clue("nvcc-arch-too-new"),), proof, proof)) == ["nvcc-arch-too-new", "torch-lacks-sm"]


def test_warning_that_facts_prove_explains_no_symptom() -> None:
    proof = _proved("ld-library-path-empty-element")
    explained = rank_causes((_clue("no-driver", Weight.STATE),), proof, proof, minor=frozenset({"ld-library-path-empty-element"}))
    assert _ids(explained) == ["no-driver", "ld-library-path-empty-element"]


def test_finding_of_the_machine_that_the_text_does_not_point_to_is_left_out() -> None:
    assert _ids(rank_causes((_clue("oom-true"),), NOTHING, _proved("path-order-wrong-nvcc"))) == ["oom-true"]


def test_finding_of_the_machine_that_causes_the_symptom_comes_first() -> None:
    explained = rank_causes((_clue("no-driver", Weight.STATE),), NOTHING, _proved("nouveau-active"))
    assert _ids(explained) == ["nouveau-active"]
    assert not explained.less_likely


def test_consequence_steps_behind_its_cause() -> None:
    clues = (_clue("no-kernel-image", line=1), _clue("torch-lacks-sm", line=2))
    assert _ids(rank_causes(clues, NOTHING, NOTHING)) == ["torch-lacks-sm", "no-kernel-image"]


def test_chain_of_causes_is_told_from_its_beginning() -> None:
    clues = (_clue("no-driver", line=1), _clue("dkms-build-failed", line=2), _clue("kernel-headers-missing", line=3))
    assert _ids(rank_causes(clues, NOTHING, NOTHING)) == ["kernel-headers-missing", "dkms-build-failed", "no-driver"]


def test_what_is_none_of_the_gpus_steps_behind_what_may_be() -> None:
    clues = (_clue("not-a-gpu-problem", line=1), _clue("no-driver", Weight.STATE, line=9))
    assert _ids(rank_causes(clues, NOTHING, NOTHING)) == ["no-driver", "not-a-gpu-problem"]


def test_what_is_none_of_the_gpus_stands_before_a_mere_consequence() -> None:
    clues = (_clue("not-a-gpu-problem", line=9), _clue("nccl-cuda-error", Weight.ASIDE, line=1))
    assert _ids(rank_causes(clues, NOTHING, NOTHING)) == ["not-a-gpu-problem"]


RUNS = {"no-driver": text("driver 550 runs there")}


def test_what_a_fact_speaks_against_is_less_likely() -> None:
    clues = (_clue("no-driver", Weight.STATE), _clue("driver-too-old-for-cuda", Weight.STATE, line=2))
    explained = rank_causes(clues, NOTHING, NOTHING, refuted=RUNS)
    assert _ids(explained) == ["driver-too-old-for-cuda"]
    assert explained.less_likely[0].reason == text("a fact speaks against it: {fact}", fact=RUNS["no-driver"])


def test_what_the_text_names_as_the_cause_stands_against_facts() -> None:
    assert _ids(rank_causes((_clue("no-driver"),), NOTHING, NOTHING, refuted=RUNS)) == ["no-driver"]


def test_only_reading_of_a_message_stands_against_facts() -> None:
    assert _ids(rank_causes((_clue("no-driver", Weight.STATE),), NOTHING, NOTHING, refuted=RUNS)) == ["no-driver"]


def test_what_rules_alone_found_falls_to_facts() -> None:
    proof = _proved("no-driver")
    explained = rank_causes((), proof, proof, refuted=RUNS)
    assert _ids(explained) == []
    assert _doubted(explained) == ["no-driver"]


def test_passages_become_evidence_with_their_lines() -> None:
    (first,) = rank_causes((_clue("oom-true", line=7),), NOTHING, NOTHING).findings
    (shown,) = first.evidence
    assert shown.value == verbatim("words of oom-true")
    assert shown.source == "pasted text, line 7"


def test_a_repeated_message_is_shown_once() -> None:
    clues = tuple(_clue("oom-true", line=line) for line in range(1, 30))
    (first,) = rank_causes(clues, NOTHING, NOTHING).findings
    assert [one.source for one in first.evidence] == ["pasted text, line 1"]


def test_what_is_said_and_proved_has_both_proofs() -> None:
    proof = _proved("torch-lacks-sm")
    (first,) = rank_causes((_clue("torch-lacks-sm", capability="12.0"),), proof, proof).findings
    assert first.parameter("capability") == "12.0"
    assert first.parameter("gpu") == "RTX 4090"
    assert len(first.evidence) == 2


def test_surer_clue_gives_the_parameters() -> None:
    clues = (_clue("oom-true", Weight.CAUSE, size="2 GiB"), _clue("oom-true", Weight.STATE, line=2, size="1 GiB", gpu="A100"))
    (first,) = rank_causes(clues, NOTHING, NOTHING).findings
    assert (first.parameter("size"), first.parameter("gpu")) == ("2 GiB", "A100")


def test_open_questions_are_those_of_the_text_alone() -> None:
    open_ = tuple(Undetermined(one, text("driver"), text("not read")) for one in ("no-driver", "secure-boot-unsigned-module"))
    clues = (_clue("oom-true"), _clue("no-driver", Weight.STATE))
    assert [one.problem for one in rank_causes(clues, NOTHING, Diagnosis(undetermined=open_)).undetermined] == ["no-driver"]


@for_each("cause", sorted(LEADS_TO))
def test_no_problem_follows_from_what_it_leads_to(cause: str) -> None:
    seen: set[str] = set()
    todo = set(LEADS_TO[cause])
    while todo:
        one = todo.pop()
        seen.add(one)
        todo |= LEADS_TO.get(one, frozenset()) - seen
    assert cause not in seen


def test_causes_are_looked_up_among_what_was_found() -> None:
    assert behind("no-driver", frozenset({"nouveau-active", "oom-true"})) == {"nouveau-active"}


def test_two_findings_of_one_id_are_one() -> None:
    twice = Diagnosis((Finding("torch-lacks-sm", (("gpu", "A"),), ()), Finding("torch-lacks-sm", (("gpu", "B"),), ())))
    (first,) = rank_causes((), twice, twice).findings
    assert first.parameter("gpu") == "A"


def test_every_cause_and_effect_is_described() -> None:
    described = {path.stem for path in (Path(__file__).parents[2] / "resources" / "problems").glob("*.toml")}
    assert {*LEADS_TO, *(effect for effects in LEADS_TO.values() for effect in effects)} - described == set()
