"""What NCCL and its users say when GPUs cannot talk to each other."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.hints import shows
from gpuassist.diagnose.named_in_words import cards_named
from gpuassist.diagnose.signature import Meaning, Sign, Signature, SignatureInput, general, means, passages, sign
from gpuassist.diagnose.tool_releases import python_version, torch_version
from gpuassist.diagnose.torch_choice import offered, torch_to_install
from gpuassist.diagnose.torch_dated import carriers
from gpuassist.knowledge.specifier import version_in
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Weight

_TALKS = (
    (
        *("nccl", "all_reduce", "allreduce", "p2pbandwidthlatencytest", "simplep2p", "distributeddataparallel"),
        *(" gpus", "multi-gpu", "one gpu", "多卡"),
    ),
    r"(?<![-\w])nccl\b(?!-)|nccl_\w|all_?reduce|p2pbandwidthlatencytest|simplep2p|distributeddataparallel"
    r"|train\w{0,4}[^\n]{0,40}(?:more than one|multiple|several|two|both|all|\d) gpus?\b|multi-?gpu train|多卡训练",
)
_VERSION = (("nccl version",), r"NCCL version (\d{1,2}\.\d{1,2}\.\d{1,2})\b")
_MUCH = 0.7  # of the rate
_ROWS = r"(?:[ \t]{0,12}(?:D\\D|\d{1,2}\b)[ \t\d.]{1,400}(?:\n|\Z)){1,20}"
# Its explanation of a system error names sockets as an example: `System call (socket, malloc, munmap, etc) failed`.
_NETWORK = lazy_regex(r"(?<!\()socket|connection|network|ib device|ibv_|no route", re.IGNORECASE)
_CUDA_FAILURE = lazy_regex(r"Cuda failure (?:\d{1,3} )?['\"]([^'\"\n]{3,80})['\"]", re.IGNORECASE)


@general
def _cuda_error(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """NCCL passes on an error of CUDA; its own log says which. Its version dates the torch that brings it, and with it the GPUs
    that this has code for.
    """
    failure = setting.finds(_CUDA_FAILURE)
    yield from _dated(setting)
    told = carriers(setting)
    yield sign("nccl-cuda-error", Weight.STATE, error=failure[1] if failure else "", nccl=told.nccl, torch=told.releases)


def _dated(setting: SignatureInput) -> Iterator[Sign]:
    """That the torch which brings this NCCL has no code for a GPU that is there; PyPI's own builds of it, if others have."""
    told = carriers(setting)
    for gpu, capability in cards_named(setting) if told.nccl and not _torch_is_told(setting) else ():
        runs = told.runs(setting.case.knowledge, capability)
        if runs is None or runs.by_default:
            continue
        choice = torch_to_install(setting.case, None, (capability,), python=version_in(python_version(setting)))
        yield sign(
            "torch-lacks-sm",
            Weight.STATE if runs.others else Weight.CAUSE,
            gpu=gpu,
            capability=str(capability),
            nccl=told.nccl,
            dated=told.releases,
            others=", ".join(map(str, runs.others)),
            newer="yes",
            **offered(setting.case, choice, (capability,), version_in(python_version(setting))),
        )
        return


def _torch_is_told(setting: SignatureInput) -> bool:
    """Whether the torch is named in the text, or the machine's own brings this NCCL: then rules judge that one."""
    version = torch_version(setting)
    known = version_in(version.partition("+")[0]) if version else None
    return known is not None and (
        version in setting.paste.words or any(one.release == known.release for one in carriers(setting).builds)
    )


def _system_error(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if setting.says("/dev/shm", "shared memory", "no space left", "posix_fallocate"):
        yield sign("nccl-shm", Weight.CAUSE)
    elif not setting.finds(_NETWORK):
        yield sign("nccl-shm", Weight.STATE)


def _hang(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A hang is NCCL's where several GPUs talk, and where no error is printed."""
    if shows(setting, _TALKS) and not setting.says("out of memory", "unhandled", "device-side", "nccl-shm", "/dev/shm"):
        yield sign("nccl-p2p-acs-iommu", Weight.STATE)


def _page_fault(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """The IOMMU stops what one GPU writes to another; without a word of GPUs it may be any device."""
    if setting.says("nccl", "p2p", "nvidia", "gpu"):
        yield sign("nccl-p2p-acs-iommu", Weight.CAUSE)


def _releases(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    first, second = _release(match["first"]), _release(match["second"])
    yield sign("nccl-version-mismatch", Weight.CAUSE, first=first, second=second)


def _release(number: str) -> str:
    """`21805` is 2.18.5, `2708` is 2.7.8 (nccl.h, NCCL_VERSION: the step changed with 2.9)."""
    code = int(number)
    step = 10000 if code >= 10000 else 1000
    return f"{code // step}.{code % step // 100}.{code % 100}"


def _wrong_size(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Releases that do not compare their versions misread each other; settings that differ do the same."""
    seen = list(dict.fromkeys(found[1] for found in passages(setting, *_VERSION)))
    if len(seen) > 1:
        yield sign("nccl-version-mismatch", Weight.CAUSE, first=seen[0], second=seen[1])
    else:
        yield sign("nccl-version-mismatch", Weight.STATE)


def _slower(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    """What the CUDA samples measure between GPUs: slower with peer access than without it, so that it goes a way round."""
    without, direct = _between(match["without"]), _between(match["direct"])
    if without and direct and direct < _MUCH * without:
        yield sign("nccl-p2p-acs-iommu", Weight.CAUSE)


def _between(matrix: str) -> float:
    """The middle one of the rates between two different GPUs; 0 where there are none."""
    rows = [line.split() for line in matrix.split("\n")]
    rates = sorted(
        float(rate)
        for row in rows
        if len(row) > 1 and row[0].isdigit()
        for column, rate in enumerate(row[1:])
        if column != int(row[0]) and rate.replace(".", "", 1).isdigit()
    )
    return rates[len(rates) // 2] if rates else 0.0


_peer = means("nccl-p2p-acs-iommu", Weight.STATE)

BY_STATE: dict[str, Meaning] = {
    "nccl-cuda-error": _cuda_error,
    "nccl-system-error": _system_error,
    "no-peer-access": _peer,
}

SIGNATURES = (
    Signature(
        ("shared memory segment", "/dev/shm/nccl", "call to posix_fallocate", "call to ftruncate", "call to shm_open"),
        r"(?:Error while creating shared memory segment (?:/dev/shm/nccl-\S{1,20})?"
        r"|/dev/shm/nccl-\S{1,20}[^\n]{0,80}(?:No space left"
        r"|Permission denied|failed)|(?:failed to extend|unable to allocate) (?:shared memory )?/dev/shm/nccl-\S{1,20}"
        r"|nccl[^\n]{0,80}Call to (?:posix_fallocate|ftruncate|shm_open|mmap)[^\n]{0,20} failed)",
        means("nccl-shm"),
    ),
    Signature(
        ("mismatched nccl version",),
        r"Mismatched NCCL version detected : rank \d{1,6} version (?P<first>\d{3,6}) rank \d{1,6} version (?P<second>\d{3,6})",
        _releases,
    ),
    Signature(
        ("message truncated : received", "neither af_inet"),
        r"NCCL WARN [^\n]{0,80}Message truncated : received \d{1,12} bytes instead of \d{1,12}"
        r"|connecting to address [^\n]{0,60}with family \d{1,6} is neither AF_INET",
        _wrong_size,
    ),
    Signature(("unhandled cuda error",), r"unhandled cuda error(?:[^\n]{0,60}?NCCL version [\d.]{4,8}\d)?", _cuda_error),
    Signature(("unhandled system error",), r"unhandled system error", _system_error),
    Signature(
        ("faster communication broadband", "faster communication speeds via p2p"),
        r"doesn't support faster communication (?:broadband|speeds) via P2P or IB",
        means("nccl-p2p-acs-iommu", Weight.CAUSE, library_asks="yes"),
    ),
    Signature(
        ("collective operation timeout", "collective operations timeout", "caught collective"),
        r"Watchdog caught collective operation timeout: WorkNCCL\([^)\n]{0,200}\)(?: ran for \d+ milliseconds before timing out)?",
        _peer,
    ),
    Signature(
        ("io_page_fault", "dmar: [dma"), r"(?:IO_PAGE_FAULT [^\n]{0,80}|DMAR: \[DMA (?:Read|Write)[^\n]{0,60}fault)", _page_fault
    ),
    Signature(
        ("p2p=disabled bandwidth",),
        rf"P2P=Disabled Bandwidth Matrix \(GB/s\)\s{{1,4}}(?P<without>{_ROWS})[^\n]{{0,20}}P2P=Enabled Bandwidth[^\n]{{0,60}}\n"
        rf"(?P<direct>{_ROWS})",
        _slower,
        4000,
    ),
    Signature(
        ("peer-to-peer access capability", "peer to peer access is not available"),
        r"Two or more GPUs with (?:SM 2\.0 or higher capability|Peer-to-Peer access capability) are required"
        r"|Peer to Peer access is not available (?:amongst|between) GPUs",
        _peer,
    ),
    Signature(("verification error @ element",), r"Verification error @ element \d+", _peer),
    Signature(
        (" hang", " stuck", "卡住", " freez", "deadlock"),
        r"(?:\bhang(?:s|ing|ed)?\b|\bstuck\b|\bfreez(?:e|es|ing)\b|\bdeadlock\w{0,2}\b|卡住)",
        _hang,
    ),
    Signature(
        ("nccl_p2p_disable", "p2p_disable"),
        r"(?:hangs?|stuck|freez\w{1,3}|deadlock)[^\n]{0,120}NCCL_P2P_DISABLE|NCCL_P2P_DISABLE=1[^\n]{0,80}(?:works|helps|fixes"
        r"|solves)",
        _peer,
    ),
)
