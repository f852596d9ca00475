"""What holds for every pasted text: pages, names in commands, and whether torch is spoken of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from gpuassist.app import compose
from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.catalogue import WITH_TORCH
from gpuassist.diagnose.framework import terms
from gpuassist.diagnose.judge import recognise
from gpuassist.diagnose.signature import SignatureInput
from gpuassist.model.finding import Answer
from gpuassist.session.explain import Explanation, explain
from tests.pasted_cases import PastedCase, pasted_cases
from tests.rows import for_each

SESSION = compose("en")
CASES = (*pasted_cases("public")[::2], *pasted_cases("further")[::3], *pasted_cases("wordings")[::4])
_TORCH = re.compile(r"(?<![\w])(?:torch|pytorch)\b", re.IGNORECASE)
# Their messages are those of what stands on torch alone, whatever else the text names.
_OF_TORCH = frozenset({"cuda-home-unset", "oom-graph-retained", "bitsandbytes-cuda-setup", "triton-libcuda-not-found"})

every_case = for_each("case", CASES)


@cache
def _explained(case: PastedCase) -> Explanation:
    return explain(SESSION, case.words)


def _said(answer: Answer) -> Iterator[str]:
    yield from (answer.title, answer.explanation, *answer.links)
    for remedy in answer.remedies:
        yield from (remedy.text, remedy.check, *(line for use in remedy.commands for line in use.lines))


@every_case
def test_pages_are_few_and_each_stands_once(case: PastedCase) -> None:
    links = [link for answer in _explained(case).answers for link in answer.links]
    assert len(links) == len(set(links)) <= 3


@every_case
def test_pip_is_given_no_name_that_is_not_known(case: PastedCase) -> None:
    uses = (use for answer in _explained(case).answers for remedy in answer.remedies for use in remedy.commands)
    given = (
        value for use in uses if use.key.startswith("pip-") for name, value in use.parameters if name in {"requirement", "package"}
    )
    names = [found[0] for value in given if (found := re.match(r"[\w.-]+", str(value)))]
    assert [name for name in names if SESSION.knowledge.python_package(name) != name] == []


@every_case
def test_torch_is_spoken_of_only_where_there_is_one(case: PastedCase) -> None:
    explanation = _explained(case)
    named = {one.id for one in explanation.answers[:1]}
    setting = SignatureInput(explanation.paste, RuleInput(explanation.machine, SESSION.knowledge))
    found = recognise(setting).clues
    about = terms(setting, tuple(one for one in found if one.problem in named) or found)
    if about[WITH_TORCH] or named & _OF_TORCH:
        return
    others = (answer for answer in explanation.answers if answer.id not in _OF_TORCH)
    assert [words for answer in others for words in _said(answer) if _TORCH.search(words)] == []


@every_case
def test_a_line_of_the_text_is_quoted_once(case: PastedCase) -> None:
    for answer in _explained(case).answers:
        lines = [one.source for one in answer.evidence if one.source.startswith("pasted text")]
        assert len(lines) == len(set(lines))


PASTES = (
    (
        "ggml_cuda: CUDA kernel mul_mat has no device code compatible with CUDA arch 520",
        "no-kernel-image",
        "GGML_CUDA",
        "pip install",
    ),
    ("ModuleNotFoundError: No module named 'clip'\nimport numpy", "not-a-gpu-problem", "", "pip install"),
    (
        "OOM when allocating tensor with shape[64,256] by allocator GPU_0_bfc\ntensorflow/core",
        "oom-true",
        "TF_FORCE_GPU_ALLOW_GROWTH=true",
        "torch",
    ),
    (
        "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 1 bytes",
        "oom-true",
        "XLA_PYTHON_CLIENT",
        "torch",
    ),
    ("ERROR: Out of GPU memory trying to allocate 1.000 GiB\njulia> CUDA.jl", "oom-true", "CUDA.reclaim", "torch"),
    (
        "llama_model_load: error\nggml_backend_cuda: allocating 3366.04 MiB on device 0: cudaMalloc failed: out of memory",
        "oom-true",
        "--n-gpu-layers",
        "torch",
    ),
    ("ollama: CUDA error: out of memory\nggml-cuda.cu", "oom-true", "ollama ps", "torch"),
    (
        "** (RuntimeError) CUDNN_STATUS_ALLOC_FAILED\n(exla 0.6.1) lib/exla/computation.ex",
        "cublas-init-failed-oom",
        "preallocate: false",
        "input_ids",
    ),
    (
        "Error: setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=all\n$ podman run --device nvidia.com/gpu=all",
        "",
        "nvidia-ctk cdi",
        "docker",
    ),
    (
        "conda install pytorch==1.7.0 cudatoolkit=10.1\nGPU: RTX 3090\n"
        "CUDA error: no kernel image is available for execution on the device",
        "torch-lacks-sm",
        "cu128",
        "torchvision has no code",
    ),
    (
        "# R35 (release), REVISION: 4.1, BOARD: t186ref\n>>> torch.cuda.is_available()\nFalse",
        "torch-cpu-only",
        "developer.download.nvidia.com/compute/redist/jp",
        "pip install --upgrade torch",
    ),
)


@for_each(("words", "problem", "holds", "lacks"), PASTES)
def test_remedy_is_that_of_the_paste(words: str, problem: str, holds: str, lacks: str) -> None:
    answers = explain(SESSION, words).answers
    assert answers
    said = "\n".join(_said(answers[0]))
    assert problem in {"", answers[0].id}
    assert holds in said
    assert lacks not in said
