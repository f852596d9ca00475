"""Which torch a package manager lists or is about to install: a build for the CPU that slipped in where a GPU waits."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.conda_torch import named_torch
from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, sign
from gpuassist.diagnose.tool_releases import without_gpu
from gpuassist.formats.conda_build import read_build
from gpuassist.formats.torch_packages import LineKind, Mention, cpu_alone, mentions, read_mention
from gpuassist.formats.torch_version import read_torch_version
from gpuassist.model.fact import value_or
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Weight

# A build for the CPU alone that somebody asked for by name, in a command or among the specs that conda repeats.
_ASKED = lazy_regex(
    r"(?:\binstall|\badd|\bcreate|\bsync|\brun|\bindexes)\b[^\n]{0,200}?(?:\bcpuonly\b|\bpytorch-cpu\b|whl/cpu\b|==\d\S{0,20}\+cpu\b"
    r"|torch-backend[= ]cpu\b|=\*?cpu)"
    r"|^[ >]{0,8}- (?:cpuonly|pytorch-cpu)\b(?!.*::)",
    re.IGNORECASE | re.MULTILINE,
)
# A text that fails for a reason of its own, and speaks of no GPU at all, is of a computer that has its build for the CPU rightly.
_FAILURES = ("traceback", "error", "failed", "exception", "fatal")
_OF_COLLECT_ENV = lazy_regex(r"^\s*\[conda\]\s+")
_OTHERS = r"(?:libtorch|tensorflow(?:-base)?|torchvision|xgboost|libxgboost|onnxruntime|faiss)"
_START = r"(?m:^)[ \t>+]{0,8}(?:[\w:-]{1,40}[ \t]{1,40})?(?:[\w./-]{1,60}::)?"
_ROW = r"(?:[ \t:|]{1,40}|-|={1,2})"
_NUMBER = r"\d[\w.]{0,20}"
_BUILD_FOR_CPU = r"(?=[\w.]{0,40}cpu)\w[\w.]{0,60}_\d{1,4}\b"


def _torch(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A torch for the CPU, unless it was asked for, replaced further down, or the machine has no GPU for anything else."""
    mention = _mention(match[0], setting.line_at(match.end()), setting)
    if mention is None or not _for_cpu(mention) or _replaced(mention, setting) or without_gpu(setting):
        return
    asked = bool(setting.finds(_ASKED))
    beside_the_point = setting.says(*_FAILURES) and not setting.says("cuda", "gpu", "nvidia")
    if mention.tool == "conda" and not asked and not beside_the_point:
        yield sign("conda-resolved-cpu-build", Weight.CAUSE, **named_torch(setting.case, mention.version))
        yield sign("torch-cpu-only", Weight.ASIDE, torch=mention.version)
    elif setting.case.usable:
        yield sign("torch-cpu-only", torch=mention.version)
    elif not asked and not beside_the_point:
        yield sign("torch-cpu-only", Weight.STATE, torch=mention.version)


def _mention(words: str, line: int, setting: SignatureInput) -> Mention | None:
    if _OF_COLLECT_ENV.match(words):
        return read_mention(line, _OF_COLLECT_ENV.sub("", words)) if setting.case.usable else None
    return next((one for one in mentions(setting.paste.words) if one.line == line), None)


def _for_cpu(mention: Mention) -> bool:
    if mention.standing is LineKind.REMOVED:
        return False
    version = read_torch_version(mention.version)
    tagged = version is not None and version.tag == "cpu"
    return tagged or bool(read_build(mention.build).cpu) or mention.name == "pytorch-cpu" or cpu_alone(mention)


def _replaced(mention: Mention, setting: SignatureInput) -> bool:
    """Whether a later line puts a build with CUDA in its place."""
    for one in mentions(setting.paste.words):
        if one.line > mention.line and one.prefix == mention.prefix and one.standing is not LineKind.REMOVED:
            version = read_torch_version(one.version)
            if read_build(one.build).cuda is not None or (version is not None and version.cuda is not None):
                return True
    return False


def _of_conda(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Another package's build for the CPU; where torch is named as well, that speaks for itself."""
    asked = setting.finds(_ASKED)
    if asked or without_gpu(setting) or any(one.tool == "conda" for one in mentions(setting.paste.words)):
        return
    yield sign("conda-resolved-cpu-build")


def _twice(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Two torches in one environment: one of conda, one of pip, of different releases."""
    for one in value_or(setting.case.machine.environments, ()):
        versions = [value_or(torch.version, "") for torch in value_or(one.torch, ())]
        if len(versions) > 1 and all(versions):
            yield sign("duplicate-torch-installs", first=versions[0], second=versions[1])
            return


def _jaxlib(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if not without_gpu(setting):
        yield sign("jax-cpu-only")


SIGNATURES = (
    Signature(
        ("_cpu_", "cpu_", "+cpu", "%2bcpu", "-win_amd64.whl", "aarch64.whl", "pytorch-cpu"),
        r"(?:(?m:^)[^\n]{0,200})?torch[^\n]{0,300}?(?:_cpu_|cpu_|\+cpu|%2bcpu|-win_amd64\.whl|aarch64\.whl|-cpu)"
        r"[^\n]{0,100}",
        _torch,
        window=700,
    ),
    Signature(
        ("cpu_py", "cpu_mkl", "cpu_generic", "cpu_h", "_cpu_"),
        rf"{_START}{_OTHERS}{_ROW}{_NUMBER}{_ROW}{_BUILD_FOR_CPU}",
        _of_conda,
        window=200,
    ),
    Signature(("pypi_0", "<pip>"), r"\btorch[ \t]{1,40}\d[\w.+]{2,40}[ \t]{1,40}(?:pypi_0\b|<pip>)", _twice, window=150),
    Signature(("cpu_py", "cpu_h", "_cpu_"), rf"{_START}jaxlib{_ROW}{_NUMBER}{_ROW}{_BUILD_FOR_CPU}", _jaxlib, window=200),
)
