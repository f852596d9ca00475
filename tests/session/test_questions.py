"""What one line cannot decide is asked, with the command that does."""

from __future__ import annotations

import re

import pytest

from gpuassist.app import compose
from gpuassist.diagnose.catalogue import SETTING
from gpuassist.diagnose.catalogue_entry import EntryError, slots_of
from gpuassist.diagnose.questions import QuestionEntry, questions_about, read_questions
from gpuassist.present.explanation import Sureness, sureness
from gpuassist.session.explain import Explanation, explain
from gpuassist.system.resources import Resources
from tests.rows import for_each
from tests.values import knowledge

SESSION = compose("en")
QUESTIONS = read_questions(Resources().read("questions.toml"))
PROBLEMS = {name.removesuffix(".toml") for name in Resources().names("problems", ".toml")}
BUILD = "python -c 'import torch; print(torch.__version__, torch.version.cuda)'"


def _explained(words: str) -> Explanation:
    return explain(SESSION, words)


OPEN = (
    (">>> torch.cuda.is_available()\nFalse", BUILD, {"torch-cpu-only", "no-driver"}),
    ("torch.cuda.is_available() is False but nvidia-smi works fine", BUILD, {"torch-cpu-only", "no-driver"}),
    (
        "I asked around and everywhere torch.cuda.is_available() returns False, what can I do?",
        BUILD,
        {"torch-cpu-only", "no-driver"},
    ),
    ("torch.__version__ '2.4.1+cu121'\ntorch.cuda.is_available() False", "nvidia-smi", {"no-driver", "driver-too-old-for-cuda"}),
    ("cudaGetDeviceCount returned 35\nCUDA driver version is insufficient", "nvidia-smi", {"driver-too-old-for-cuda", "no-driver"}),
    ("RuntimeError: NCCL Error 2: unhandled system error", "export NCCL_DEBUG=INFO", {"nccl-shm"}),
    (">>> jax.devices()\n[CpuDevice(id=0)]", "python -m pip list | grep -i jax", {"jax-cpu-only", "no-driver"}),
    (">>> tf.config.list_physical_devices('GPU')\n[]", "nvidia-smi", {"tensorflow-cuda-libs-missing", "no-driver"}),
    ("train.py\nepoch 3\nKilled\npython train.py", "journalctl -k --no-pager -g 'Out of memory'", {"dataloader-shm-or-ram"}),
)


@for_each(("words", "command", "ids"), OPEN)
def test_both_causes_are_named_with_the_command_that_decides(words: str, command: str, ids: set[str]) -> None:
    explanation = _explained(words)
    assert explanation.question is not None, [one.id for one in explanation.answers]
    assert explanation.question.commands[0] == command
    assert ids <= {case.problem for case in explanation.question.cases}


@for_each(("words", "command", "ids"), OPEN)
def test_a_question_is_no_statement(words: str, command: str, ids: set[str]) -> None:
    explanation = _explained(words)
    first = explanation.answers[0]
    assert explanation.question is not None
    assert sureness(explanation) is Sureness.POSSIBLE
    assert first.title == explanation.question.words
    assert first.remedies[0].commands[0].lines[0] == command
    assert len(first.remedies) > len(explanation.question.cases) - 1
    assert not ids & {one.answer.id for one in explanation.less_likely}


@for_each(
    ("words", "problem"),
    [
        (">>> torch.__version__\n'2.3.1+cpu'\n>>> torch.cuda.is_available()\nFalse", "torch-cpu-only"),
        ("AssertionError: Torch not compiled with CUDA enabled", "torch-cpu-only"),
        ("NCCL WARN Error while creating shared memory segment /dev/shm/nccl-x (size 9637888)\nunhandled system error", "nccl-shm"),
        ("Out of memory: Killed process 8812 (firefox) total-vm:4096kB", "dataloader-shm-or-ram"),
        ("nvcc fatal : Unsupported gpu architecture 'compute_90'", "nvcc-arch-too-new"),
    ],
)
def test_what_the_text_decides_is_not_asked(words: str, problem: str) -> None:
    explanation = _explained(words)
    assert (explanation.question, explanation.answers[0].id) == (None, problem)


def test_process_that_the_kernel_ended_is_named_and_no_worker_of_a_loader() -> None:
    first = _explained("Out of memory: Killed process 8812 (firefox) total-vm:4096kB").answers[0]
    assert "firefox" in first.title
    assert "DataLoader" not in first.title + first.explanation


@for_each("question", QUESTIONS)
def test_cases_lead_to_problems_of_the_catalogue(question: QuestionEntry) -> None:
    assert question.of <= PROBLEMS
    assert {case.problem for case in question.cases if case.problem} <= PROBLEMS
    assert len(question.cases) > 1
    re.compile(question.says)


@for_each("question", QUESTIONS)
def test_words_ask_for_nothing_that_is_not_known(question: QuestionEntry) -> None:
    known = SETTING | {"torch_cuda", "python", "driver"}
    assert all(slots_of(message) <= known for message in question.messages())


@for_each("question", QUESTIONS)
def test_commands_exist(question: QuestionEntry) -> None:
    used = [
        use.key for remedy in (question.ask, *(case.remedy for case in question.cases if case.remedy)) for use in remedy.commands
    ]
    assert question.ask.commands
    assert set(used) <= knowledge().commands.keys


def test_case_that_leads_nowhere_is_refused() -> None:
    words = b'[[question]]\nname="a"\nof=["x"]\nsays="a"\ntitle="t"\nexplanation="e"\ntext="a"\ncommands=[]\ncases=[{shows="s"}]'
    with pytest.raises(EntryError, match="case"):
        read_questions(words)


def test_questions_about_a_problem_are_those_that_name_it() -> None:
    content = Resources().read("questions.toml")
    for problem in {problem for one in QUESTIONS for problem in one.of}:
        found = questions_about(problem, content)
        assert [one for one in found if problem in one.of] == [one for one in QUESTIONS if problem in one.of]
    assert questions_about("oom-true", b"") == ()
