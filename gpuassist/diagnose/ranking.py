"""What a text shows and what facts prove, weighed: the most likely cause first, what is less likely with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.diagnose.quotes import distinct
from gpuassist.diagnose.signature import SignatureInput
from gpuassist.model.environment import Accelerator
from gpuassist.model.fact import Known, value_or
from gpuassist.model.finding import Diagnosis, Evidence, Finding, Undetermined
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Clue, Weight
from gpuassist.model.text import Text, text, verbatim

NO_FAULT = frozenset({"healthy", "not-a-gpu-problem"})
_ELSEWHERE = "not-a-gpu-problem"  # logs are full of it: it answers only what nothing about the GPU answers
_MOST_PASSAGES = 3  # of one problem that are shown: a log repeats itself


class Rank(IntEnum):
    """How well a problem is founded, the best first."""

    SAID_AND_PROVED = 0
    SAID = 1
    PROVED = 2
    POSSIBLE = 3
    BESIDE = 4
    """Proved, and no more than a warning: it explains no failure."""
    GENERAL = 5
    """Said by messages that almost every fault leads to."""
    FOLLOWS = 6
    RULED_OUT = 7


# Nothing in the text or the machine decides, or a fact speaks against what the text says.
UNDECIDED = frozenset({Rank.POSSIBLE, Rank.GENERAL, Rank.FOLLOWS, Rank.RULED_OUT})


class Candidate(Struct, frozen=True):
    """A problem that may be the cause, with its rank and the line of the text that shows it first (0: none does)."""

    finding: Finding
    rank: Rank
    line: int
    breadth: int
    """How many problems are known to lead to what its first passage means above all."""
    shown: bool = False
    """Whether a line means it above all."""


class Unlikely(Struct, frozen=True):
    """A problem that the text could mean as well, and why it is less likely."""

    finding: Finding
    reason: Text


class Ranking(Struct, frozen=True):
    """The findings, most likely cause first; what else the text could mean; what could not be told; how well the first finding
    is founded, none where there is none.
    """

    findings: tuple[Finding, ...] = ()
    less_likely: tuple[Unlikely, ...] = ()
    undetermined: tuple[Undetermined, ...] = ()
    rank: Rank | None = None


def rank_causes(
    clues: tuple[Clue, ...],
    told: Diagnosis,
    joined: Diagnosis,
    *,
    minor: frozenset[str] = frozenset(),
    refuted: Mapping[str, Text] | None = None,
) -> Ranking:
    """`told` is what the rules say of the facts in the text alone, `joined` of those together with the machine's; `minor` are
    the problems that the rules found and that are no more than a warning, `refuted` those that a fact speaks against.
    """
    against = refuted or {}
    suspects = [_held_against(one, clues, against) for one in _suspects(clues, told, joined, minor)]
    if any(one.finding.problem not in NO_FAULT for one in suspects):
        suspects = [one for one in suspects if one.finding.problem != "healthy"]
    ordered = sorted(suspects, key=lambda one: _place(one, suspects))
    first = ordered[0] if ordered else None
    kept = [one for one in ordered if first is None or _stands_beside(one, first)]
    named = frozenset(one.finding.problem for one in kept)
    left = NO_FAULT if named - NO_FAULT else frozenset[str]()
    doubted = [one for one in ordered if one not in kept and one.finding.problem not in left and not _follows(one, named)]
    unlikely = tuple(Unlikely(one.finding, _doubt(one, kept, clues, against)) for one in doubted)
    asked = _told_most(clues)
    open_ = tuple(one for one in joined.undetermined if one.problem in {clue.problem for clue in asked} - named)
    return Ranking(tuple(one.finding for one in kept), unlikely, open_, first.rank if first else None)


def _told_most(clues: tuple[Clue, ...]) -> list[Clue]:
    """What almost every fault leads to is asked for only where the text says nothing more."""
    return [clue for clue in clues if clue.weight > Weight.CONSEQUENCE] or list(clues)


def _held_against(suspect: Candidate, clues: tuple[Clue, ...], refuted: Mapping[str, Text]) -> Candidate:
    """What a fact speaks against steps back, unless the text names it as the cause in so many words."""
    problem = suspect.finding.problem
    if problem not in refuted or any(clue.problem == problem and clue.weight is Weight.CAUSE for clue in clues):
        return suspect
    return replace(suspect, rank=Rank.RULED_OUT)


def _suspects(clues: tuple[Clue, ...], told: Diagnosis, joined: Diagnosis, minor: frozenset[str]) -> Iterable[Candidate]:
    said: dict[str, list[Clue]] = {}
    for clue in clues:
        said.setdefault(clue.problem, []).append(clue)
    by_text = {one.problem: one for one in reversed(told.findings)}
    by_machine = {one.problem: one for one in reversed(joined.findings)}
    asked = _told_most(clues)
    for problem, group in said.items():
        proof = by_text.get(problem) or (by_machine.get(problem) if any(clue in asked for clue in group) else None)
        line = min(clue.passage.line for clue in group)
        first = next(clue.problem for clue in clues if clue.passage.line == line)
        yield Candidate(_from_clues(group, proof), _rank(group, proof), line, _known_causes(first), first == problem)
    for problem, proof in by_text.items():
        if problem not in said:
            yield Candidate(proof, Rank.BESIDE if problem in minor else Rank.PROVED, 0, _known_causes(problem))
    for problem, proof in by_machine.items():
        # What the machine shows counts where it is a likely cause of what the text shows.
        if problem not in said and problem not in by_text and any(_explains(problem, clue) for clue in asked):
            yield Candidate(proof, Rank.PROVED, 0, _known_causes(problem))


def _explains(problem: str, clue: Clue) -> bool:
    """Whether it is a likely cause of what a passage says."""
    alone = frozenset({problem})
    no_gpu = clue.weight is Weight.CONSEQUENCE or (clue.weight is Weight.ASIDE and clue.problem in _WITHOUT_GPU)
    if no_gpu and any(behind(effect, alone) for effect in _WITHOUT_GPU):
        return True
    return clue.weight < Weight.CAUSE and bool(behind(clue.problem, alone))


def _rank(group: list[Clue], proof: Finding | None) -> Rank:
    weight = max(clue.weight for clue in group)
    if proof is not None and weight > Weight.ASIDE:
        return Rank.SAID_AND_PROVED
    return _FOUNDED[weight]


_FOUNDED = {
    Weight.CAUSE: Rank.SAID,
    Weight.STATE: Rank.POSSIBLE,
    Weight.CONSEQUENCE: Rank.GENERAL,
    Weight.ASIDE: Rank.FOLLOWS,
}


def _from_clues(group: list[Clue], proof: Finding | None) -> Finding:
    """One finding of all passages: the surest clue's parameters first, then those of the others, over those that facts give."""
    parameters = dict(proof.parameters) if proof else {}
    # Two faults of other software are no parts of one: the last that says what it is counts, as the last error of a program does.
    told = sorted(group, key=lambda clue: (clue.weight, any(name == "cause_id" for name, _ in clue.parameters)))
    for clue in told[-1:] if group[0].problem == _ELSEWHERE else sorted(group, key=lambda clue: clue.weight):
        parameters.update({name: value for name, value in clue.parameters if value != ""})
    passages = distinct(clue.passage for clue in group)[:_MOST_PASSAGES]
    shown = tuple(
        Evidence(text("the text says"), verbatim(passage.words), f"pasted text, line {passage.line}") for passage in passages
    )
    return Finding(group[0].problem, tuple(parameters.items()), (*shown, *(proof.evidence if proof else ())))


def _place(suspect: Candidate, suspects: list[Candidate]) -> tuple[int, int, bool, int, int]:
    """By rank, but never before its own cause; then what has the fewest causes itself, in the order of the text; what is none of
    the GPU's last.
    """
    least = {True: Rank.POSSIBLE, False: Rank.PROVED}
    founded = frozenset(one.finding.problem for one in suspects if one.rank <= least[one.shown])
    causes = behind(suspect.finding.problem, founded)
    rank = max([suspect.rank, *(one.rank for one in suspects if one.finding.problem in causes)])
    elsewhere = suspect.finding.problem == _ELSEWHERE
    rank = max(rank, Rank.GENERAL) if elsewhere else rank
    return rank, len(causes), elsewhere, suspect.breadth, suspect.line


def _stands_beside(suspect: Candidate, first: Candidate) -> bool:
    """What is said or proved stands; what is merely possible stands where there is nothing better, and there the first alone."""
    if suspect is first:
        return suspect.rank is not Rank.RULED_OUT or suspect.line > 0
    return suspect.rank not in UNDECIDED


def _follows(suspect: Candidate, named: frozenset[str]) -> bool:
    """Whether what is named explains it, so that it is no other answer."""
    if suspect.rank is Rank.GENERAL and any(behind(effect, named) for effect in _WITHOUT_GPU):
        return True
    return bool(behind(suspect.finding.problem, named))


def _doubt(suspect: Candidate, kept: list[Candidate], clues: tuple[Clue, ...], refuted: Mapping[str, Text]) -> Text:
    """Why it is less likely, by what the text holds."""
    problem = suspect.finding.problem
    if suspect.rank is Rank.RULED_OUT:
        return text("a fact speaks against it: {fact}", fact=refuted[problem])
    if not suspect.line:
        return text("a fact shows it, and it does not explain what the text says")
    named = frozenset(one.finding.problem for one in kept)
    own = {clue.passage.line for clue in clues if clue.problem == problem}
    others = {clue.passage.line for clue in clues if clue.problem in named}
    if own <= others:
        return text("the same words can mean it as well")
    line = min(own - others)
    if suspect.rank is Rank.GENERAL:
        return text("line {line} fits it, but almost every fault of a GPU leads to such a line", line=line)
    return text("line {line} can mean it; what stands first is told more clearly", line=line)


# Which problems follow from which: where the cause is found as well, what it leads to steps behind it.
LEADS_TO: dict[str, frozenset[str]] = {
    cause: frozenset(effects.split())
    for cause, effects in {
        "secure-boot-unsigned-module": "driver-not-loaded no-driver cuda-init-failed-driver-state nvidia-smi-no-devices",
        "secure-boot-mok-pending": "secure-boot-unsigned-module driver-not-loaded no-driver nvidia-smi-no-devices",
        "driver-module-blacklisted": "driver-not-loaded no-driver nvidia-smi-no-devices",
        "nouveau-active": "driver-not-loaded no-driver dkms-build-failed nvidia-smi-no-devices",
        "kernel-headers-missing": "dkms-build-failed driver-not-loaded no-driver",
        "dkms-build-failed": "driver-not-loaded no-driver driver-library-mismatch",
        "apt-nvidia-package-conflict": "driver-library-mismatch no-driver driver-not-loaded",
        "legacy-driver-branch-needed": "driver-not-loaded no-driver nvidia-smi-no-devices rm-init-adapter-failed"
        " driver-too-old-for-cuda",
        "open-module-required": "rm-init-adapter-failed nvidia-smi-no-devices no-driver driver-not-loaded"
        " cuda-init-failed-driver-state",
        "geforce-open-module-unsupported": "rm-init-adapter-failed nvidia-smi-no-devices no-driver cuda-init-failed-driver-state",
        "driver-too-old-for-gpu": "rm-init-adapter-failed nvidia-smi-no-devices no-driver",
        "vgpu-guest-driver": "rm-init-adapter-failed nvidia-smi-no-devices no-driver driver-not-loaded",
        "rm-init-adapter-failed": "nvidia-smi-no-devices no-driver cuda-init-failed-driver-state",
        "xid-79-gpu-fell-off-bus": "nvidia-smi-no-devices rm-init-adapter-failed cuda-init-failed-driver-state gpu-sensor-error"
        " xid-119-gsp-timeout illegal-memory-access",
        "xid-119-gsp-timeout": "rm-init-adapter-failed nvidia-smi-no-devices cuda-init-failed-driver-state xid-other",
        "ecc-errors": "cuda-init-failed-driver-state illegal-memory-access",
        "gpu-overheating": "xid-79-gpu-fell-off-bus xid-other nvidia-smi-no-devices",
        "hybrid-graphics-prime": "driver-module-blacklisted no-driver driver-not-loaded nvidia-smi-no-devices",
        "driver-not-loaded": "no-driver",
        "driver-library-mismatch": "no-driver cuda-init-failed-driver-state driver-too-old-for-cuda",
        "libcuda-missing": "no-driver",
        "libcuda-not-found": "no-driver",
        "container-toolkit-missing": "no-driver container-no-gpu-flag",
        "container-no-gpu-flag": "no-driver driver-not-loaded",
        "container-lxc-devices": "no-driver driver-not-loaded container-no-gpu-flag container-lost-gpu-after-daemon-reload"
        " device-permissions cuda-init-failed-driver-state",
        "container-cdi-stale": "container-toolkit-missing no-driver container-no-gpu-flag",
        "video-library-missing": "driver-too-old-for-cuda",
        "wsl-limits": "driver-not-loaded no-driver",
        "container-driver-too-old": "driver-too-old-for-cuda",
        "container-driver-files-mounted": "driver-library-mismatch no-driver",
        "container-lost-gpu-after-daemon-reload": "no-driver driver-not-loaded cuda-init-failed-driver-state",
        "device-permissions": "no-driver cuda-init-failed-driver-state",
        "uvm-device-missing": "no-driver cuda-init-failed-driver-state",
        "uvm-broken-after-suspend": "cuda-init-failed-driver-state no-driver",
        "fabric-manager-not-running": "cuda-init-failed-driver-state no-driver",
        "mig-mode": "cuda-init-failed-driver-state no-driver cuda-visible-devices-bad",
        "cuda-compat-conflict": "driver-too-old-for-cuda driver-library-mismatch cuda-init-failed-driver-state",
        "cuda-visible-devices-bad": "no-driver no-nvidia-gpu cuda-init-failed-driver-state",
        "wsl-driver-or-windows": "no-driver driver-not-loaded libcuda-missing",
        "wsl-linux-driver-installed": "no-driver wsl-driver-or-windows wsl-stub-lib driver-library-mismatch"
        " cuda-init-failed-driver-state",
        "wsl-stub-lib": "no-driver cuda-init-failed-driver-state",
        "torch-lacks-sm": "no-kernel-image nccl-cuda-error cublas-init-failed-oom illegal-memory-access",
        "gpu-too-old-for-torch": "no-kernel-image torch-lacks-sm nccl-cuda-error",
        "no-kernel-image": "nccl-cuda-error",
        "pip-no-matching-python": "torch-cpu-only pip-wrong-index",
        "conda-resolved-cpu-build": "torch-cpu-only",
        "wrong-python-env": "torch-cpu-only",
        "torch-cpu-only": "xformers-torch-mismatch torchvision-torch-mismatch",
        "no-nvidia-gpu": "torch-cpu-only no-driver xformers-torch-mismatch",
        "duplicate-torch-installs": "torchvision-torch-mismatch",
        "uv-sync-reverts-torch": "torch-cpu-only torch-lacks-sm",
        "torch-install-damaged": "missing-cuda-runtime-lib extension-build-mismatch",
        "device-side-assert": "illegal-memory-access cublas-init-failed-oom nccl-cuda-error",
        "illegal-memory-access": "nccl-cuda-error cublas-init-failed-oom",
        "oom-true": "cublas-init-failed-oom nccl-cuda-error",
        "oom-fragmentation": "cublas-init-failed-oom nccl-cuda-error",
        "oom-other-process": "cublas-init-failed-oom nccl-cuda-error",
        "oom-graph-retained": "oom-true oom-fragmentation cublas-init-failed-oom",
        "oom-absurd-request": "cublas-init-failed-oom nccl-cuda-error",
        "gpu-memory-held-by-dead-process": "oom-other-process oom-true cublas-init-failed-oom",
        "oom-own-limit": "oom-true cublas-init-failed-oom nccl-cuda-error",
        "oom-address-space": "oom-true",
        "nccl-version-mismatch": "nccl-cuda-error nccl-p2p-acs-iommu",
        "compute-mode-exclusive": "cuda-init-failed-driver-state no-driver",
        "gpu-reset-required": "cuda-init-failed-driver-state gpu-sensor-error nvidia-smi-no-devices xid-79-gpu-fell-off-bus",
        "stray-contexts": "oom-other-process oom-true",
        "nccl-shm": "nccl-cuda-error not-a-gpu-problem",
        "path-order-wrong-nvcc": "nvcc-arch-too-new torch-cuda-vs-toolkit-mismatch",
        "cuda-home-disagrees": "nvcc-arch-too-new torch-cuda-vs-toolkit-mismatch",
        "nvcc-not-on-path": "cuda-home-unset",
        "cuda-link-dangling": "nvcc-not-on-path cuda-home-unset cuda-home-disagrees",
        "libcuda-twice": "driver-library-mismatch cuda-init-failed-driver-state",
        "nvcc-host-gcc-too-new": "nvcc-host-gcc-header-bug",
        "mixed-nvidia-pip-wheels": "ld-library-path-shadows-bundled-libs missing-cuda-runtime-lib",
        "link-cuda-lib-not-found": "link-lcuda-missing",
        "dataloader-shm-or-ram": "not-a-gpu-problem",
    }.items()
}

# Without a GPU that programs can use, almost all of them say the same.
_WITHOUT_GPU = ("no-driver", "driver-not-loaded", "nvidia-smi-no-devices", "cuda-init-failed-driver-state", "torch-cpu-only")


def keeps_cuda_from_starting(problem: str) -> bool:
    """Whether with it no program could have used a GPU at all, so that one that computed speaks against it."""
    return problem in _WITHOUT_GPU or "no-driver" in LEADS_TO.get(problem, ())


@cache
def _known_causes(problem: str) -> int:
    """How many problems are known to lead to it: the fewer, the more it says."""
    return sum(problem in effects for effects in LEADS_TO.values())


def behind(problem: str, found: frozenset[str]) -> frozenset[str]:
    """Those of the found problems that this one follows from."""
    return frozenset(cause for cause in found if problem in LEADS_TO.get(cause, ()))


# What the facts of a text speak against: a message that fits several causes cannot mean one that they rule out.
_AVAILABLE = lazy_regex(
    r"is cuda available: *(?:true|yes)\b|cuda\.is_available\(\)[^\n]{0,20}?[\s:=>]+true\b|cuda available:? *(?:true|yes)\b"
)
_NO_GPU_SEEN = frozenset(
    {
        "no-driver",
        "no-nvidia-gpu",
        "driver-not-loaded",
        "driver-too-old-for-gpu",
        "driver-too-old-for-cuda",
        "driver-library-mismatch",
        "libcuda-missing",
        "nouveau-active",
        "torch-cpu-only",
        "container-no-gpu-flag",
        "cuda-init-failed-driver-state",
    }
)
_NO_DRIVER_RUNS = frozenset(
    {
        "no-driver",
        "driver-not-loaded",
        "nouveau-active",
        "driver-module-blacklisted",
        "secure-boot-mok-pending",
        "wsl-driver-or-windows",
    }
)


def refutations(setting: SignatureInput) -> dict[str, Text]:
    """The problems that the facts rule out, each with the fact in words."""
    found: dict[str, Text] = {}
    for problems, reason in _rulings(setting):
        for problem in problems:
            found.setdefault(problem, reason)
    return found


def _rulings(setting: SignatureInput) -> Iterator[tuple[frozenset[str], Text]]:
    case = setting.case
    if _AVAILABLE.search(setting.lowered):
        yield _NO_GPU_SEEN, text("CUDA was available there, by what the text says")
    if case.running and isinstance(case.driver, Known):
        yield _NO_DRIVER_RUNS, text("driver {driver} runs there", driver=str(case.driver.value))
    if case.container and case.reached:
        yield frozenset({"container-no-gpu-flag", "no-driver"}), text("NVML reaches the driver from within the container")
    if case.cards and any(isinstance(card.gpu.name, Known) for card in case.cards):
        yield frozenset({"no-nvidia-gpu"}), text("there is an NVIDIA GPU: {gpu}", gpu=case.cards[0].name)
    if case.torches and all(value_or(one.torch.accelerator, Accelerator.CPU) is Accelerator.CUDA for one in case.torches):
        yield frozenset({"torch-cpu-only"}), text("the torch there is built for CUDA: {torch}", torch=case.torches[0].version)
