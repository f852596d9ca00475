"""Packages that ask for another torch: what pip, uv, conda, poetry and pdm say of it, and a torch that was exchanged for it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, one_of, passages, sign
from gpuassist.diagnose.torch_companions import coming, takes
from gpuassist.formats.conda_build import read_build
from gpuassist.formats.packages import normalised
from gpuassist.formats.torch_version import read_torch_version
from gpuassist.knowledge.specifier import version_in
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Weight
from gpuassist.model.text import Parameter

_NAME = r"[A-Za-z][\w.-]{1,60}"
_VERSION = r"\d{1,4}(?:\.\w{1,12}){0,5}(?:\+\w{1,16})?"
_RANGE = r"(?:[<>=!~]{1,3} ?[\w.*+]{1,24}(?:, ?[<>=!~]{1,3} ?[\w.*+]{1,24}){0,4})"
# What goes with one torch has messages of its own, and torch's own packages ask for nothing.
_TOLD = frozenset({"torchvision", "torchaudio", "torchtext", "xformers", "torch", "pytorch", "triton", "functorch"})
_BESIDE = lazy_regex(
    r"^(?:torch(?:vision|audio|text|data)?|nvidia-.*|cuda-.*|triton|sympy|mpmath|networkx|jinja2|markupsafe|filelock|fsspec|numpy|pillow|requests"
    r"|typing-extensions|certifi|charset-normalizer|idna|urllib3|setuptools|packaging|pyyaml|tqdm|regex|six|dataclasses|future|cmake|lit)$"
)
_COMMAND = r"\b(?:pip3?|uv pip|conda|mamba|micromamba|poetry|pdm)(?:\.exe)? (?:install|add)(?P<names>[^\n]{1,300})"
_SPECIFIED = lazy_regex(r"[\[<>=!~;@]")
_PLAIN = lazy_regex(r"[a-z][\w-]*")
_CHANNELS = frozenset({"conda-forge", "pytorch", "nvidia", "defaults"})
_OF_UV_PROJECT = ("uv sync", "uv run", "uv add", "uv.lock")


class Asker(Struct, frozen=True):
    """A package that asks for a torch; `version` and `wanted` are empty where the text does not say."""

    package: str
    version: str
    wanted: str


def _conflict(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """pip names the package, its wish, and the torch that is there."""
    package = normalised(match["package"])
    if package not in _TOLD:
        asker = Asker(package, match["version"], match["wanted"])
        yield sign("torch-pinned-by-package", Weight.CAUSE, **_asking(setting, asker, match["torch"]))


def _unsolved(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A resolver that finds no torch for all of them."""
    told = {name: value for name, value in match.groupdict().items() if value}
    package = normalised(next(value for name, value in told.items() if name.startswith("package")))
    wanted = next((value for name, value in told.items() if name.startswith("wanted")), "")
    version = next((value for name, value in told.items() if name.startswith("version")), "")
    if package in _TOLD or not setting.says(
        "version solving failed", "no solution found", "resolutionimpossible", "conflicting dependencies", "are incompatible"
    ):
        return
    asked = r"(?:user requested|project depends on|depends on|requires) (?:py)?torch(?:==| \(| ==? ?)(\d[\w.+]{1,20})"
    named = [(one[1], version_in(one[1].partition("+")[0])) for one in passages(setting, ("torch",), asked)]
    other = next((words for words, torch in named if torch is not None and not takes(wanted, torch)), "")
    if other:
        yield sign(
            "torch-pinned-by-package", Weight.CAUSE, **_asking(setting, Asker(package, version, wanted), other), requested="yes"
        )


def _asking(setting: SignatureInput, asker: Asker, torch: str) -> dict[str, Parameter]:
    engine, wish = setting.case.knowledge.engine(asker.package), asker.wanted.replace(" ", "")
    return {
        "package": asker.package,
        "version": asker.version,
        "wanted": wish.removeprefix("=="),
        "torch": torch,
        "public": torch.partition("+")[0],
        "engine": engine.key if engine is not None else "",
        **coming(setting.case, wish),
    }


def _exchanged(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """One torch went and another came, for another package's sake."""
    told = {name: value for name, value in match.groupdict().items() if value}
    was, now = (next((value for name, value in told.items() if name.startswith(part)), "") for part in ("was", "now"))
    first, second = read_torch_version(was), read_torch_version(now)
    if first is None or second is None or setting.says(*_OF_UV_PROJECT):
        return
    build = told.get("build") or ""
    if build and read_build(build).cpu:  # told by itself
        return
    asker = _asker(setting)
    older = second.release < first.release
    no_gpu = second.tag == "cpu" and first.tag != "cpu"
    if asker is None or not (older or no_gpu):
        return
    came = coming(setting.case, f"=={second.release}") if not second.tag else {}
    yield sign(
        "torch-pinned-by-package",
        Weight.CAUSE,
        package=asker.package,
        version=asker.version,
        wanted=asker.wanted.removeprefix("=="),
        torch=now,
        was=was,
        now=now,
        was_tag=first.tag if first.cuda else "",
        public=str(first.release),
        cpu="yes" if no_gpu else "",
        tool="conda" if build else "uv" if setting.says("uv pip") or match[0].lstrip().startswith(("-", "+")) else "",
        cuda=came.get("cuda", "") or (str(second.cuda) if second.cuda else ""),
        lost=came.get("lost", ""),
    )


def _asker(setting: SignatureInput) -> Asker | None:
    """Who asked for that torch: by pip's own words, or the first other package of the command; None where that asks for torch."""
    said = rf"(?:Collecting|Requirement already satisfied:) torch(?P<wanted>{_RANGE})?[^\n]{{0,120}}\(from (?P<package>{_NAME})"
    for one in passages(setting, ("collecting torch", "satisfied: torch"), said):
        if normalised(one["package"]) not in _TOLD:
            return Asker(normalised(one["package"]), _installed_as(setting, one["package"]), one["wanted"] or "")
    for one in passages(setting, (" install ", " add "), _COMMAND):
        words = (word for word in one["names"].split() if not word.startswith(("-", "/", "http")))
        names = [normalised(_SPECIFIED.split(word)[0]) for word in words]
        if {"torch", "pytorch"} & set(names):
            return None
        others = [name for name in names if _PLAIN.fullmatch(name) and name not in _CHANNELS]
        if others:
            return Asker(others[0], _installed_as(setting, others[0]), "")
    for one in passages(setting, ("successfully installed",), r"Successfully installed (?P<names>[^\n]{1,2000})", window=40):
        pairs = (word.rpartition("-") for word in one["names"].split())
        named = next(((name, version) for name, _, version in pairs if name and not _BESIDE.match(normalised(name))), None)
        if named:
            return Asker(normalised(named[0]), named[1], "")
    return Asker("", "", "")


def _installed_as(setting: SignatureInput, package: str) -> str:
    """The version in which it was installed, where the text tells."""
    name = re.escape(package).replace(r"\-", "[-_]")
    found = passages(setting, (package.lower(), package.lower().replace("-", "_")), rf"(?<![\w-]){name}(?:-|==)(\d[\w.]{{0,20}})")
    return found[0][1] if found else ""


SIGNATURES = (
    Signature(
        ("but you have torch", "but you'll have torch", "but you have pytorch"),
        rf"(?<![\w.-])(?P<package>{_NAME}) (?P<version>{_VERSION}) (?:requires|has requirement) torch(?:\[\w{{1,20}}\])?"
        rf" ?\(?(?P<wanted>{_RANGE})[^\n]{{0,160}}?, but you(?:'ll)? have torch (?P<torch>{_VERSION})",
        _conflict,
        window=400,
    ),
    Signature(
        ("depends on torch", "requires torch", "would require"),
        one_of(
            rf"(?P<package>{_NAME})(?:==(?P<version>{_VERSION}))? depends on torch(?P<wanted>{_RANGE})",
            rf"(?P<package2>{_NAME}) (?P<version2>{_VERSION}) depends on torch(?P<wanted2>{_RANGE})",
            rf"(?P<package3>{_NAME}) \((?P<version3>[\w.,<>=!~ *]{{1,40}})\) depends on torch \((?P<wanted3>{_RANGE})\)",
            rf"(?P<package4>{_NAME}) (?P<version4>{_VERSION})[^\n]{{0,60}} would require\s[\s│├└─]{{0,40}}pytorch "
            rf"(?P<wanted4>{_RANGE})",
        ),
        _unsolved,
        window=300,
    ),
    Signature(
        ("uninstalled torch-",),
        rf"Successfully uninstalled torch-(?P<was>{_VERSION})[^\0]{{0,5000}}?\bSuccessfully installed [^\n]{{0,2500}}?"
        rf"(?<=\s)torch-(?P<now>{_VERSION})",
        _exchanged,
        window=8000,
    ),
    Signature(
        ("- torch==", "+ torch=="),
        one_of(
            rf"(?m:^) {{0,3}}- torch==(?P<was>{_VERSION})\s[^\0]{{0,2000}}?(?m:^) {{0,3}}\+ torch==(?P<now>{_VERSION})",
            rf"(?m:^) {{0,3}}\+ torch==(?P<now2>{_VERSION})\s[^\0]{{0,2000}}?(?m:^) {{0,3}}- torch==(?P<was2>{_VERSION})",
        ),
        _exchanged,
        window=2400,
    ),
    Signature(
        (" torch (", "pytorch ", "update torch"),
        one_of(
            rf"\b(?:Downgrading|Updating|Update|Downgrade) torch \((?P<was>{_VERSION}) -> (?P<now>{_VERSION})\)",
            rf"\b(?:Update|Downgrade) torch (?P<was2>{_VERSION}) -> (?P<now2>{_VERSION})",
            rf"(?m:^) {{0,4}}pytorch:? {{1,40}}(?:\S{{1,60}}::pytorch-)?(?P<was3>{_VERSION})-\S{{1,60}}(?: \S{{1,60}})? -->"
            rf" (?:\S{{1,60}}::pytorch-)?(?P<now3>{_VERSION})-(?P<build>\S{{1,60}})",
        ),
        _exchanged,
        window=300,
    ),
)
