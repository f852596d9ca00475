"""What the tools and packages around torch say that want another one: Triton, FlashAttention, ONNX Runtime, conda's channel, uv."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.compiled_packages import companion
from gpuassist.diagnose.hints import card_name
from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, one_of, passages, sign
from gpuassist.diagnose.tool_releases import package_version, torch_version, without_gpu
from gpuassist.model.fact import Known
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Weight

_VERSION = r"\d{1,2}\.\d{1,2}(?:\.\w{1,12})*(?:\+\w{1,16})?"
_UV_PROJECT = ("uv sync", "uv run", "uv add", "uv lock", "uv remove", "uvx ")
_WANTED = lazy_regex(r"pytorch(?:-cuda)?(?: ?[=<>~]{0,2} ?\d[\d.]{0,10})?")
_OLD_CHANNEL = r"conda\.anaconda\.org/pytorch/|(?m:^)\s*- pytorch\s*$|-c pytorch\b"
_CUDA_PROVIDER = "CUDAExecutionProvider"


def _triton(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """torch's compiler imports what this triton does not have; another package that does so may be to blame itself."""
    inside = setting.says("_inductor", "_dynamo", "torch.compile", "attrsdescriptor", "triton_key")
    torch, triton = torch_version(setting).partition("+")[0], package_version(setting, "triton")
    weight = Weight.CAUSE if inside else Weight.STATE
    yield sign("triton-torch-mismatch", weight, triton=triton, torch=torch, wanted=companion(setting, "triton"))


def _pinned_triton(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    torch = match["torch"].partition("+")[0]
    yield sign("triton-torch-mismatch", triton=match["triton"], torch=torch, wanted=match["wanted"] or "")


def _pinned_setuptools(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    one, other = f"torch {match['torch']}", f"setuptools {match['setuptools']}"
    yield sign("known-bad-pair", Weight.STATE, pair="torch-setuptools82", one=one, other=other)


def _flash_attention(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    cards = setting.case.cards
    capability = cards[0].capability if len(cards) == 1 else None
    known = str(capability.value) if isinstance(capability, Known) and capability.value.major < 8 else ""
    yield sign("flash-attention-needs-ampere", gpu=card_name(setting) if known else "", capability=known)


def _providers(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """The CPU build names no provider of CUDA among those that it has."""
    if _CUDA_PROVIDER in match["here"]:
        return
    if without_gpu(setting):
        yield sign("no-nvidia-gpu")
    else:
        yield sign("onnxruntime-cpu-build")


def _listed_providers(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """That there is only the CPU's is no fault where nobody asked for another."""
    if _CUDA_PROVIDER not in match["here"] and not without_gpu(setting):
        yield sign("onnxruntime-cpu-build", Weight.STATE)


def _ended_channel(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    wanted = _WANTED.findall(match[0])
    yield sign("conda-channel-frozen", wanted=" ".join(wanted[-1].split()) if wanted else "")


def _missing_pytorch(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A torch that is newer than the channel, asked of it and not of conda-forge."""
    if passages(setting, ("/pytorch/", "- pytorch", "-c pytorch"), _OLD_CHANNEL):
        yield from _ended_channel(match, setting)


def _uv_exchanged(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """uv puts back what the project's lock names; a build that was asked for by hand is exchanged on purpose."""
    was, now = match["was"], match["now"]
    if "+cu" not in was or was == now or setting.says("uv pip install") or not setting.says(*_UV_PROJECT):
        return
    yield sign("uv-sync-reverts-torch", was=was, now=now, cpu="yes" if now.endswith("+cpu") else "")


SIGNATURES = (
    Signature(("from 'triton",), r"cannot import name '(?P<name>\w{1,60})' from 'triton(?:\.[\w.]{0,60})?'", _triton),
    Signature(
        ("triton",),
        rf"\btorch (?P<torch>{_VERSION}) (?:requires|has requirement) (?:pytorch-)?triton\s?(?:(?:==|~=)(?P<wanted>{_VERSION}))?"
        rf"[^\n]{{0,160}}?, but you have (?:pytorch-)?triton (?P<triton>{_VERSION})",
        _pinned_triton,
    ),
    Signature(
        ("but you have setuptools",),
        rf"\btorch (?P<torch>{_VERSION}) (?:requires|has requirement) setuptools<82[^\n]{{0,60}}, but you have setuptools "
        rf"(?P<setuptools>{_VERSION})",
        _pinned_setuptools,
    ),
    Signature(
        ("flashattention", "flash attention", "flash-attn", "flash_attn"),
        one_of(
            r"Flash-?Attention(?:-?2)? only supports Ampere GPUs or newer",
            r"Flash ?Attention ?2 requires a GPU with compute capability (?:>=|at least|of at least) 8\.0",
            r"Flash-?Attention(?:-?2)? (?:is )?only (?:supported|supports) (?:on )?(?:Ampere|sm_?80|compute capability (?:>=)? ?8)",
            r"Flash attention only supports (?:\{?sm80|gpu architectures in the range \[sm80)[^\n]{0,120}",
        ),
        _flash_attention,
    ),
    Signature(
        ("is not in available provider names",),
        r"Specified provider '(?:CUDA|Tensorrt)ExecutionProvider' is not in available provider\s+names\.\s*Available providers:"
        r"(?P<here>[^\n]{1,300})",
        _providers,
    ),
    Signature(
        ("get_available_providers",),
        r"get_available_providers\(\)\)?[\"']?\s{0,4}(?:Out\[\d{1,4}\]: )?"
        r"(?P<here>\[[^\]\n]{0,300}CPUExecutionProvider[^\]\n]{0,100}\])",
        _listed_providers,
    ),
    Signature(
        ("pytorch-cuda", "pytorch cuda"),
        one_of(
            r"(?:PackagesNotFoundError|not available from current channels)[^\0]{0,400}?-\s{1,4}pytorch-cuda\b[^\s,]{0,20}",
            r"nothing provides (?:requested )?pytorch-cuda\b[ =<>]{0,4}[\d.]{0,8}",
            r"pytorch-cuda ?[=<>]{0,2} ?[\d.]{0,8}\S{0,4}(?: \*)? does not exist",
        ),
        _ended_channel,
    ),
    Signature(
        ("not available from current channels", "does not exist (perhaps", "nothing provides requested pytorch"),
        one_of(
            r"not available from current channels[^\0]{0,300}?-\s{1,4}pytorch={1,2}2\.(?:[6-9]|\d\d)[\d.]{0,4}",
            r"(?:nothing provides requested )pytorch[ =]{1,3}2\.(?:[6-9]|\d\d)[\d.]{0,4}",
            r"(?<![\w-])pytorch ?={0,2} ?2\.(?:[6-9]|\d\d)[\d.*]{0,4}(?: \*)? does not exist",
        ),
        _missing_pytorch,
    ),
    Signature(
        (" - torch==",),
        rf"(?m:^)\s*- torch==(?P<was>{_VERSION})[ \t]*\n(?:[ \t]*[-+~] (?!torch==)[^\n]{{0,120}}\n){{0,40}}"
        rf"\s*\+ torch==(?P<now>{_VERSION})",
        _uv_exchanged,
        window=3000,
    ),
)
