"""A text explained: alone, joined with a machine, beside one that it is not of."""

from __future__ import annotations

import pytest

from gpuassist.app import compose
from gpuassist.context import Session
from gpuassist.diagnose.ranking import Rank
from gpuassist.model.finding import Severity
from gpuassist.present.listing import facts_read
from gpuassist.session.explain import Explanation, Ground, explain
from tests.values import RTX_5090, machine

NVCC = "nvcc fatal   : Unsupported gpu architecture 'compute_89'\n"
RELEASE = "nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release {}, V{}.105\n"
MODULE = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  {}  Fri May 31 09:35:42 UTC 2024\n"


@pytest.fixture(scope="module")
def session() -> Session:
    """The real one, in English."""
    return compose("en")


def _ids(explanation: Explanation) -> list[str]:
    return [answer.id for answer in explanation.answers]


def test_known_message_is_answered(session: Session) -> None:
    explanation = explain(session, NVCC)
    assert _ids(explanation)[0] == "nvcc-arch-too-new"
    assert explanation.known
    assert explanation.title.message == "1 problem found"


def test_passage_is_the_first_evidence(session: Session) -> None:
    (answer, *_) = explain(session, f"make\n{NVCC}").answers
    assert answer.evidence[0].source == "pasted text, line 2"


def test_unknown_text_is_said_to_be_unknown(session: Session) -> None:
    explanation = explain(session, "The frobnicator has exploded: error 7")
    assert not explanation.known
    assert explanation.answers == ()
    assert explanation.title.message == "I don't know this text"


def test_unknown_text_shows_the_facts_that_were_read(session: Session) -> None:
    explanation = explain(session, RELEASE.format("12.4", "12.4") + "The frobnicator failed: error 7\n")
    assert not explanation.known
    words = [session.words(line.value) for section in facts_read(explanation.machine) for line in section.lines]
    assert any(one.startswith("12.4") for one in words)


@pytest.mark.parametrize("nothing", ["", "   \n\n", b""])
def test_nothing_is_said_to_be_nothing(session: Session, nothing: str | bytes) -> None:
    explanation = explain(session, nothing)
    assert not explanation.known
    assert explanation.title.message == "There is no text to explain"


def test_binary_junk_is_said_to_be_no_text(session: Session) -> None:
    explanation = explain(session, b"\x7fELF\x02\x01" + bytes(range(256)) * 40)
    assert explanation.title.message == "This is not text"
    assert not explanation.known


def test_text_alone_says_so(session: Session) -> None:
    assert explain(session, NVCC).basis.ground is Ground.TEXT_ALONE


def test_machine_is_joined_where_the_text_may_be_of_it(session: Session) -> None:
    explanation = explain(session, NVCC, machine(toolkits=("11.7.99", "12.4.131"), nvcc="11.7"))
    assert explanation.basis.ground is Ground.JOINED
    assert _ids(explanation)[0] == "nvcc-arch-too-new"
    assert any("12.4" in remedy.text for remedy in explanation.answers[0].remedies)


def test_text_of_another_driver_is_judged_alone(session: Session) -> None:
    explanation = explain(session, MODULE.format("470.256.02") + NVCC, machine(driver="550.54.14"))
    assert explanation.basis.ground is Ground.OTHER_MACHINE
    assert "470.256.02" in session.words(explanation.basis.reason)


def test_judged_alone_is_answered_as_without_a_machine(session: Session) -> None:
    words = MODULE.format("470.256.02") + NVCC
    another = explain(session, words, machine(driver="550.54.14", toolkits=("11.7.99", "12.4.131"), nvcc="11.7"))
    assert another.basis.ground is Ground.OTHER_MACHINE
    assert another.answers == explain(session, words).answers


def test_finding_of_the_machine_alone_is_not_the_answer(session: Session) -> None:
    explanation = explain(session, NVCC, machine(gpus=(RTX_5090,), environments=(), variables={"LD_LIBRARY_PATH": ":"}))
    assert "ld-library-path-empty-element" not in _ids(explanation)


def test_machine_with_faults_of_its_own_gives_no_answer_to_small_talk(session: Session) -> None:
    explanation = explain(session, "hello there", machine(driver="", on_disk=""))
    assert explanation.answers == ()


@pytest.mark.parametrize(
    "words",
    [
        NVCC.replace("\n", "\r\n"),
        f"\x1b[31m{NVCC}\x1b[0m",
        f" 10%|#   | 1/9\r 50%|##  | 4/9\r100%|####| 9/9\n{NVCC}",
        f"> {NVCC}> make: *** [all] Error 1\n",
        f"编译时出错了，请问怎么办？\n```\n{NVCC}```\n谢谢",
        NVCC.upper(),
    ],
    ids=["windows", "coloured", "progress", "quoted", "chinese prose", "shouted"],
)
def test_message_is_known_in_any_dress(session: Session, words: str) -> None:
    assert _ids(explain(session, words))[0] == "nvcc-arch-too-new"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "latin-1"])
def test_message_is_known_in_any_encoding(session: Session, encoding: str) -> None:
    assert _ids(explain(session, NVCC.encode(encoding)))[0] == "nvcc-arch-too-new"


def test_message_at_the_end_of_a_huge_log_is_found(session: Session) -> None:
    log = b"step 1 of 100: loss 0.25\n" * 400_000 + NVCC.encode()
    explanation = explain(session, log)
    assert _ids(explanation)[0] == "nvcc-arch-too-new"
    assert explanation.paste.left_out > 0


def test_commands_in_the_text_are_only_read(session: Session, tmp_path_factory: pytest.TempPathFactory) -> None:
    trap = tmp_path_factory.mktemp("trap") / "sprung"
    explain(session, f"$ touch {trap}\n`touch {trap}` $(touch {trap})\n{NVCC}", machine())
    assert not trap.exists()


def test_described_sound_set_up_is_healthy(session: Session) -> None:
    explanation = explain(session, MODULE.format("550.54.14"))
    assert _ids(explanation)[0] == "healthy"
    assert not explanation.convicts
    assert {answer.severity for answer in explanation.answers} == {Severity.INFO}


@pytest.mark.parametrize("trouble", ["Segmentation fault (core dumped)", "训练失败", "it hangs for ever", "FooError: bar"])
def test_set_up_with_a_failure_that_is_not_known_is_not_healthy(session: Session, trouble: str) -> None:
    explanation = explain(session, MODULE.format("550.54.14") + trouble)
    assert "healthy" not in _ids(explanation)
    assert not explanation.known


def test_text_that_warns_of_another_gpu_is_judged_alone(session: Session) -> None:
    warning = "NVIDIA GeForce RTX 3090 with CUDA capability sm_86 is not compatible with the current PyTorch installation."
    explanation = explain(session, warning, machine(gpus=(RTX_5090,)))
    assert explanation.basis.ground is Ground.OTHER_MACHINE
    assert _ids(explanation)[0] == "torch-lacks-sm"


@pytest.mark.parametrize(("driver", "ground"), [("550.54.14", Ground.JOINED), ("470.256.02", Ground.OTHER_MACHINE)])
def test_recorded_machine_is_never_called_this_one(session: Session, driver: str, ground: Ground) -> None:
    basis = explain(session, MODULE.format("550.54.14") + NVCC, machine(driver=driver), recorded=True).basis
    assert basis.ground is ground
    assert "recorded machine" in session.words(basis.reason)


def test_memory_that_does_not_add_up_is_answered_with_doubt(session: Session) -> None:
    message = (
        "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 24.00 GiB total capacity; 20.00 GiB already allocated;"
        " 18.00 GiB free; 21.00 GiB reserved in total by PyTorch)"
    )
    explanation = explain(session, message)
    assert explanation.memory is None
    assert explanation.rank is Rank.POSSIBLE
    assert any("contradict" in session.words(one.reason) for one in explanation.undetermined)
    assert "18.00 GiB" not in explanation.answers[0].explanation
