"""What nvcc says of the compiler that it calls, and of the C and C++ libraries whose headers it reads."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, means, sign
from gpuassist.diagnose.tool_releases import gcc_version, nvcc_release, toolkit_releases
from gpuassist.knowledge.choice import Workload, choose_installed_toolkit, choose_toolkit_release
from gpuassist.knowledge.compatibility import toolkit_builds_for
from gpuassist.model.fact import Known
from gpuassist.model.paste import Weight
from gpuassist.model.version import Version

# The first glibc that declares each: 2.41 the functions of pi, 2.42 rsqrt (glibc NEWS; C23 annex F, TS 18661-4).
_GLIBC_OF = {"cospi": "2.41", "sinpi": "2.41", "rsqrt": "2.42"}
# nvcc of CUDA 11.7 and newer reads the headers of gcc 11 (NVIDIA/nccl issue 650).
_READS_GCC_11 = Version((11, 7))


def _too_new(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """The header's own limit is in its message; `4.9 and up` excludes what it names."""
    groups = match.groupdict()
    limit = groups.get("limit") or ""
    gcc = groups.get("gcc") or gcc_version(setting)
    if gcc and limit and Version.parse(gcc).major <= int(limit.partition(".")[0]) and int(limit.partition(".")[0]) > 4:
        gcc = ""
    yield sign(
        "nvcc-host-gcc-too-new",
        gcc=gcc,
        limit=limit,
        nvcc=groups.get("nvcc") or _release_with_limit(setting, limit),
        newer=_first_accepting(setting, gcc),
    )


def _first_accepting(setting: SignatureInput, gcc: str) -> str:
    """The first CUDA release whose nvcc accepts this gcc, and that still builds for the GPUs; empty where there is none."""
    if not gcc:
        return ""
    major, capabilities = Version.parse(gcc).major, setting.case.capabilities
    fitting = (
        one.release
        for one in setting.case.knowledge.toolkits()
        if one.gcc_limit is not None
        and one.gcc_limit >= major
        and all(toolkit_builds_for(one.targets, wanted) for wanted in capabilities)
    )
    first = min(fitting, default=None)
    return str(first) if first is not None else ""


def _release_with_limit(setting: SignatureInput, limit: str) -> str:
    """The release that the text tells, where it is one with this limit."""
    for release in toolkit_releases(setting):
        record = setting.case.knowledge.toolkit(release)
        if record is None or record.gcc_limit is None or not limit or str(record.gcc_limit) == limit.partition(".")[0]:
            return str(release)
    return ""


def _builtin(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """gcc's own headers use what this nvcc's front end has never heard of."""
    nvcc = nvcc_release(setting)
    record = setting.case.knowledge.toolkit(Version.parse(nvcc)) if nvcc else None
    limit = str(record.gcc_limit) if record is not None and record.gcc_limit is not None else ""
    gcc = gcc_version(setting)
    yield sign("nvcc-host-gcc-too-new", gcc=gcc, limit=limit, nvcc=nvcc, newer=_first_accepting(setting, gcc))


def _header_bug(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """nvcc's own front end in a header of libstdc++. A release that reads it is not the one that was called."""
    releases = [one for one in toolkit_releases(setting) if one < _READS_GCC_11]
    # An installed toolkit of the facts that reads these headers.
    case = setting.case
    gcc = case.gcc.version.value if case.gcc is not None and isinstance(case.gcc.version, Known) else None
    able = [known for known in map(case.known, case.toolkits) if known is not None and known.version >= _READS_GCC_11]
    best = choose_installed_toolkit(able, Workload(case.capabilities, gcc=gcc))
    yield sign(
        "nvcc-host-gcc-header-bug",
        nvcc=str(releases[0]) if releases else "",
        gcc=gcc_version(setting) or match["gcc"] or "",
        alternative=str(best.version.release) if best is not None else "",
    )
    yield sign("nvcc-host-gcc-too-new", Weight.STATE)


def _c_library(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    name = (match["name"] or "").lower()
    clash = next((glibc for word, glibc in _GLIBC_OF.items() if word in name), "")
    fact = setting.case.machine.host.glibc
    glibc = str(fact.value) if isinstance(fact, Known) else ""
    if clash and glibc and Version.parse(glibc) < Version.parse(clash):
        glibc = ""
    first = choose_toolkit_release(
        (one for one in setting.case.knowledge.toolkits() if one.release.major < 13 or not clash or one.glibc_clash is None),
        Workload(setting.case.capabilities, glibc=Version.parse(glibc or clash or "2.41")),
    )
    known = bool(setting.case.capabilities) and first is not None
    yield sign("nvcc-glibc-too-new", glibc=glibc, clash=clash, nvcc=nvcc_release(setting), first=str(first) if known else "")


_HEADER = r"/(?:include/c\+\+|lib/gcc/[\w.-]{1,40})/(?P<gcc>\d{1,2}(?:\.\d{1,2}){0,2})/[\w./+-]{1,120}"

SIGNATURES = (
    Signature(
        ("unsupported gnu", "gnu version!", "unsupported gcc"),
        r"unsupported\s+(?:GNU|gcc)\s+(?:version|compiler)(?:!|(?= later than))"
        r"(?:\s+(?:gcc )?(?:versions? )?(?:later than (?P<limit>\d{1,2}(?:\.\d)?)|[\d.]+ and up)\s+are not supported)?",
        _too_new,
    ),
    Signature(
        ("greater than the maximum required version by cuda",),
        r"installed version of \S{1,200} \((?P<gcc>\d{1,2}[\d.]{0,8})\) is greater than the maximum required version by CUDA"
        r" (?P<nvcc>\d{1,2}\.\d)(?:[^\0\d]{0,80}(?P<minimum>[\d.]+)[^\0\d]{1,8}(?P<limit>\d{1,2}))?",
        _too_new,
    ),
    Signature(
        ("is not able to compile a simple test program",),
        r"The CUDA compiler\s+\"?\S{1,200}\"?\s+is not able to compile a simple test program",
        means("nvcc-host-gcc-too-new", Weight.STATE),
        window=400,
    ),
    Signature(
        ("failed to preprocess host compiler properties",),
        r"Failed to preprocess host compiler properties",
        means("nvcc-host-gcc-too-new", Weight.STATE),
    ),
    Signature(
        ("unsupported clang version",),
        r"unsupported clang version! clang version must be less than (?P<clang>\d{1,2})",
        means("nvcc-host-gcc-too-new"),
    ),
    Signature(
        ("__builtin_ia32_", "__builtin_"), r"(?:identifier|builtin) \"(?:__builtin_ia32_\w+|__builtin_\w+)\" is undefined", _builtin
    ),
    Signature(
        ("_float32", "_float16", "_float64", "_float128", "__is_", "__bf16"),
        r"identifier\s+\"(?:_Float(?:16|32|64|128)x?|__bf16|__is_(?:nothrow_)?\w{3,40})\"\s+is undefined",
        _builtin,
    ),
    Signature(
        ("user-defined literal operator not found", "type name is not allowed"),
        rf"{_HEADER}\(\d+\):\s+error:\s+(?:user-defined literal operator not found|type name is not allowed)",
        _builtin,
    ),
    Signature(
        ("parameter packs not expanded", "parameter pack"),
        rf"{_HEADER}[:(]\d+[^\n]{{0,20}}error:\s+parameter packs? (?:not expanded with|'?\w*'? ?was referenced but not expanded)",
        _header_bug,
    ),
    Signature(
        ("__is_harmonic", "std::chrono", "/chrono"),
        rf"{_HEADER}:[^\0]{{0,400}}?error: template argument \d is invalid",
        _header_bug,
    ),
    Signature(
        ("exception specification",),
        r"(?:mathcalls|math_functions|math)[\w.-]*(?:h|hpp)\"?[^\n]{0,60}error[^\n]{0,20}: exception specification "
        r"(?:is incompatible with that of previous function|in (?:explicit )?declaration does not match previous declaration)"
        r"[^\n\"']{0,5}[\"']?(?P<name>\w*)",
        _c_library,
    ),
    Signature(
        ("cospi", "sinpi", "rsqrt"),
        r"(?:declaration|redefinition) of[^\n]{0,60}\b(?P<name>(?:cospi|sinpi|rsqrt)[fl]?)\b[^\n]{0,60}different exception",
        _c_library,
    ),
    Signature(
        ("__float32x4_t", "__sv", "__float128"),
        r"(?:math-vector|floatn|floatn-common|bits/\w{1,30})\.h\(\d+\): error: identifier \"(?P<name>__\w+)\" is undefined"
        r"|error: identifier \"__float128\" is undefined",
        _c_library,
    ),
)
