"""Lines that ask for GPU architectures, in whatever file they stand: nvcc's flags, TORCH_CUDA_ARCH_LIST, CMake's lists."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.formats.project.values import ArchitectureKind, ArchitectureWish, ExtensionWish, FileReading, Spot
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.version import Code, ComputeCapability, Target, VersionError

KIND = "build"
_NAME = r"(?:sm|compute|lto)_\d{2,3}[af]?"
_FLAG = lazy_regex(
    rf"(?:--?gencode[= ,]*|--generate-code[= ,]*)?[\"']?\barch[= ]+({_NAME})[\"']?[ ]*,[ ]*[\"']?code[= ]+\\?[\"']?"
    rf"\[?({_NAME}(?:[ ]*,[ ]*{_NAME})*)\]?"
    rf"|(?<![\w-])(?:-arch|--gpu-architecture|-code|--gpu-code)[= ]+({_NAME}(?:,{_NAME})*)"
)
_LIST = lazy_regex(
    r"""TORCH_CUDA_ARCH_LIST["'\])]*[ \t]*(?:[?:]?=|:|,|[ \t](?=["'\d]))[ \t]*"""
    r"""(?:"(?P<double>[^"\n]*)"|'(?P<single>[^'\n]*)'|(?P<bare>[\w.+;]+))"""
)
_CMAKE = lazy_regex(
    r"""(?:CMAKE_CUDA_ARCHITECTURES|\bCUDA_ARCHITECTURES|CUDAARCHS)(?:["']?[ \t]*[?:]?=[ \t]*|:STRING=|[ \t]+)"""
    r"""(?:"(?P<double>[^"\n]*)"|(?P<bare>[\w;-]+(?:[ \t]+[\w;-]+)*))"""
)
_ENTRY = lazy_regex(r"(\d{2,3})([af]?)(?:-(real|virtual))?")
_TORCH_ENTRY = lazy_regex(r"(\d{1,2}\.\d)([af]?)(\+PTX)?", re.IGNORECASE)
# torch.utils.cpp_extension, named_arches of _get_cuda_arch_flags
_NAMED = {
    "kepler": "3.5", "kepler+tesla": "3.7", "maxwell": "5.0;5.2", "maxwell+tegra": "5.3", "pascal": "6.0;6.1",
    "pascal+tegra": "6.2", "volta": "7.0", "turing": "7.5", "ampere": "8.0;8.6", "ada": "8.9", "hopper": "9.0",
    "blackwell": "10.0;12.0",
}  # fmt: skip
_OPENS = lazy_regex(r"[ \t]*(?:if|ifdef|ifeq|ifneq|ifndef|case|elseif)\b", re.IGNORECASE)
_CLOSES = lazy_regex(r"[ \t]*(?:endif|fi|esac)\b", re.IGNORECASE)
_CUDA_LANGUAGE = lazy_regex(
    r"[ \t]*(?:(?:project|enable_language)\s*\([^)]*\bCUDA\b|find_package\s*\(\s*CUDA(?:Toolkit)?\b"
    r"|cuda_add_(?:library|executable)\s*\()",
    re.IGNORECASE,
)
_NVCC = lazy_regex(r"(?:^|[\s\"'/=(]|\$\()nvcc\b(?=\s+-|\s+\S+\.cu\b)")


def read_build(file: str, words: str, *, stage: int = 0) -> FileReading:
    """CMakeLists.txt, *.cmake, a Makefile or a shell script: its architectures, and whether it compiles CUDA at all."""
    wishes: list[ArchitectureWish] = []
    compiled: Spot | None = None
    how, depth, place, under = "", 0, 0, False
    cmake = file.endswith((".txt", ".cmake"))
    for number, line in enumerate(words.split("\n"), start=1):
        bare = line.lstrip()
        if bare.startswith("#") or len(line) > 20_000:
            place += len(line) + 1
            continue
        if _CLOSES.match(line):
            depth = max(0, depth - 1)
        elif _OPENS.match(line) and not bare.lower().startswith("elseif"):
            depth += 1
        if "CUDA" in line or "arch" in line or "code" in line:
            code = _without_comment(line)
            wishes += wishes_of(code, Spot(file, number, place), conditional=depth > 0, stage=stage)
        if compiled is None and ((cmake and _CUDA_LANGUAGE.match(line)) or (not cmake and _NVCC.search(line))):
            compiled, how, under = Spot(file, number), "CMake" if cmake else "nvcc", depth > 0
        place += len(line) + 1
    extensions = (ExtensionWish("", compiled, how, conditional=under),) if compiled is not None else ()
    return FileReading(file, KIND, architectures=tuple(wishes), extensions=extensions)


def wishes_of(code: str, start: Spot, *, conditional: bool = False, stage: int = 0) -> Iterator[ArchitectureWish]:
    """What one line asks for; `start` is its file, number and first character (-1 where its places are of no use)."""
    for found in _FLAG.finditer(code):
        names = [found[3]] if found[3] else [found[1], found[2]]
        targets = tuple(
            dict.fromkeys(target for words in names for one in words.split(",") if (target := _target(one.strip())) is not None)
        )
        if found[1] and found[2]:  # what is embedded; the virtual architecture is only what it is made from
            targets = tuple(target for one in found[2].split(",") if (target := _target(one.strip())) is not None)
        if targets:
            yield ArchitectureWish(ArchitectureKind.FLAG, targets, _part(start, found.span()), found[0], conditional, stage=stage)
    for found in _LIST.finditer(code):
        group = next((name for name in ("double", "single", "bare") if found[name] is not None), "bare")
        yield list_wish(found[group] or "", _part(start, found.span(group)), conditional=conditional, stage=stage)
    for found in _CMAKE.finditer(code):
        group = "double" if found["double"] is not None else "bare"
        wish = _of_cmake(found[group] or "", _part(start, found.span(group)), conditional=conditional, stage=stage)
        if wish is not None:
            yield wish


def list_wish(spelled: str, spot: Spot, *, conditional: bool = False, stage: int = 0) -> ArchitectureWish:
    """A TORCH_CUDA_ARCH_LIST: numbers with or without `+PTX`, or the names of generations."""
    targets: list[Target] = []
    named: list[str] = []
    for one in spelled.replace(";", " ").replace(",", " ").split():
        low = one.lower()
        plain = _NAMED.get(low) or _NAMED.get(low.removesuffix("+ptx"))
        for entry in (plain or one).split(";"):
            found = _TORCH_ENTRY.fullmatch(entry)
            if found is None:
                named.append(one)
                continue
            capability = ComputeCapability.parse(found[1])
            targets.append(Target(capability, Code.CUBIN, found[2].lower()))
            if found[3] or low.endswith("+ptx"):
                targets.append(Target(capability, Code.PTX, found[2].lower()))
    return ArchitectureWish(ArchitectureKind.LIST, tuple(targets), spot, spelled, conditional, " ".join(named), stage)


def _of_cmake(spelled: str, spot: Spot, *, conditional: bool, stage: int) -> ArchitectureWish | None:
    targets: list[Target] = []
    named: list[str] = []
    for one in spelled.replace(";", " ").split():
        found = _ENTRY.fullmatch(one)
        if found is None:
            if one.upper() in {"CACHE", "STRING", "PARENT_SCOPE", "FORCE"}:
                break
            named.append(one)
            continue
        capability = ComputeCapability(int(found[1][:-1]), int(found[1][-1]))
        if found[3] != "virtual":
            targets.append(Target(capability, Code.CUBIN, found[2]))
        if found[3] != "real":
            targets.append(Target(capability, Code.PTX, found[2]))
    if not targets and not {"native", "all", "all-major"} & set(named):
        return None  # a variable's name in a condition, or something that is put together elsewhere
    return ArchitectureWish(ArchitectureKind.CMAKE, tuple(targets), spot, spelled, conditional, " ".join(named), stage)


def _target(words: str) -> Target | None:
    try:
        return Target.parse(words.replace("lto_", "sm_"))
    except VersionError:
        return None


def _part(start: Spot, span: tuple[int, int]) -> Spot:
    return Spot(start.file, start.line, start.first + span[0], start.first + span[1]) if start.editable else start


def _without_comment(line: str) -> str:
    """The line up to a comment, which is set off by a blank; as long as nothing in it is quoted there."""
    place = line.find(" #")
    return line if place < 0 or '"' in line[place:] or "'" in line[place:] else line[:place]
