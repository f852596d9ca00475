"""What a fixed list of packages can print about the GPU, with the problem that each sentence leads to when it is explained alone,
or by its words the reason why it leads to none: `python -m tools.census [FOLDER] [--fetch] [--write] [--open]`.

FOLDER holds the wheels, and the checkouts of what is no wheel; `--fetch` gets what is missing there (some gigabytes). Without it
the sentences on record are explained anew. `--open` lists those that lead nowhere and that only the last reason is left for:
read them, then either teach `explain` the message or give `_REASONS` its pattern. `--write` renews tests/cases/census.jsonl.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from gpuassist.app import compose
from gpuassist.context import Session
from gpuassist.session.explain import explain
from tools.census_strings import sentences

RECORD = Path(__file__).parents[1] / "tests" / "cases" / "census.jsonl"
JUDGED = "nothing of it points to the set-up"


class Source(Struct, frozen=True):
    """A package: its name on PyPI, or its repository; `only` are the beginnings of the paths that hold what users see."""

    name: str
    repository: str = ""
    only: tuple[str, ...] = ()


def _wheels(*names: str) -> tuple[Source, ...]:
    return tuple(Source(name) for name in names)


def _repositories(*places: str) -> tuple[Source, ...]:
    return tuple(Source(place.rpartition("/")[2], f"https://github.com/{place}") for place in places)


# A sentence that several of them have is the first one's: the libraries before what is linked with them.
SOURCES = (
    *_wheels("nvidia-cuda-runtime-cu12", "nvidia-cuda-nvrtc-cu12", "nvidia-nccl-cu12", "nvidia-cudnn-cu12", "nvidia-ml-py"),
    *_wheels("torch", "torchvision", "torchaudio", "triton", "xformers", "bitsandbytes", "accelerate", "transformers", "lightning"),
    *_wheels("jax", "jaxlib", "jax-cuda12-plugin", "jax-cuda12-pjrt", "tensorflow", "vllm", "sglang", "onnxruntime-gpu"),
    *_wheels("cupy-cuda12x", "numba", "numba-cuda", "rmm-cu12", "xgboost", "ctranslate2", "faiss-gpu-cu12"),
    *_repositories("microsoft/DeepSpeed", "Dao-AILab/flash-attention", "NVIDIA/TensorRT", "ggml-org/llama.cpp", "ollama/ollama"),
    *_repositories("NVIDIA/nvidia-container-toolkit", "NVIDIA/k8s-device-plugin", "NVIDIA/gpu-operator", "NVIDIA/mig-parted"),
    *_repositories("NVIDIA/gpu-driver-container", "NVIDIA/k8s-driver-manager", "NVIDIA/dcgm-exporter"),
    Source("DCGM", "https://github.com/NVIDIA/DCGM", ("dcgmlib/src/dcgm_errors", "dcgmlib/dcgm_errors.h", "common/", "dcgmi/")),
    Source("libnvidia-container", "https://github.com/NVIDIA/libnvidia-container", ("src/",)),
    *_repositories("NVIDIA/nvidia-installer", "NVIDIA/nvidia-settings", "NVIDIA/nvidia-persistenced", "NVIDIA/nvidia-modprobe"),
    Source(
        "open-gpu-kernel-modules",
        "https://github.com/NVIDIA/open-gpu-kernel-modules",
        ("kernel-open/", "src/common/sdk/nvidia/inc/nvstatuscodes.h", "src/nvidia/arch/nvalloc/unix/"),
    ),
    *_repositories("dell/dkms"),
)

# Of the sentences, those that may be of the set-up: a driver, a library, a build, a capability, memory, or that nothing is there.
_SET_UP = re.compile(
    r"\bdrivers?\b|libcuda|nvml|compute capab|\bsm_?\d\d|too old|newer|upgrade|update your|install|(?:built|compiled|linked)\b"
    r"|without|available|\bno (?:cuda|gpu|nvidia|visible|suitable|supported|compatible)|memory|permission|mismatch|incompatible"
    r"|version"
    r"|shared library|dlopen|(?:cannot|failed to|unable to|could not) (?:load|open|find|detect|init)|not found|peer access|nvlink"
    r"|fabric|\becc\b|fall\w* ?back|hopper|ampere|blackwell|_HOME|CUDA_VISIBLE|LD_LIBRARY|ptxas|nvcc|lost|nvidia.com/gpu|mig\b",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    r"cuda|gpu|nvml|nvidia|cudnn|nccl|cu(?:blas|solver|sparse|fft|rand|pti)|nvrtc|nvcc|ptx|\bdriver|compute capab|\bsm_?\d\d"
    r"|nvswitch|nvlink|\bmig\b|\bxid|tensorrt|\buvm\b|fabric manager|nouveau|dcgm|kernel (?:module|header|version)|host ?engine",
    re.IGNORECASE,
)
# Help of an option, or a doc string: nobody meets it as a message.
_NO_MESSAGE = re.compile(
    r"^[a-z0-9-]{4,60}(?:value|/opt/some/file|libexample\.so)[A-Z]|Timeout in seconds|\[Stable\]|Ignor(?:ed|ing) XID|Args:|Returns:"
    r"|^If (?:true|set)\b"
)
# Why a sentence that may be of the set-up leads to no problem; the first that fits counts.
_REASONS: tuple[tuple[str, str], ...] = (
    (
        "of another maker's GPU, or of another system",
        r"\b(?:rocm|hip|xpu|amd|intel|sycl|vulkan|metal|mps|adreno|webgpu|opencl|windows|wddm|cudart64|tegra|amdsmi|level zero"
        r"|openvino|npu|habana|hgcc|moore threads|gfx\d\w*)\b",
    ),
    (
        "tells what is left out or done instead: the program goes on",
        r"fall(?:s|ing)? ?back|disabl|skipp|ignor|deprecated|will be|may |might|instead|warning:|expected on|no effect|can set"
        r"|recommended|consider|not needed|not required|no need|using|successfully|retrying|will (?:use|default)|degraded|off$"
        r"|temperature|power draw|utilization|bandwidth usage|continuing",
    ),
    (
        "a caller gives what the function does not take, or asks for what this release cannot do",
        r"must|expected|should|invalid|unsupported"
        r"|not (?:currently |yet )?(?:support|available in|implemented|a |have|accept|compatible)|n't support|only support"
        r"|cannot be|can't be|require[sd]?\b|dtype|tensor|shape|head_dim|argument|option|\bop\b|attribute"
        r"|layout|unknown|unrecognized|mutually|specif|deterministic|incompatible|mismatch|without (?:a )?(?:preceding|matching"
        r"|tls)",
    ),
    (
        "says that a step failed; the reason stands in what is printed with it",
        r"fail|error|unable|could ?n[o']t|cannot|can't|couldn't|\bno gpu stream|not found|unavailable|not available|missing",
    ),
    ("a check inside the program", r"sm_?\d{2,3}|\bffi\b|cuda ?graph|clique|communicator|\bno \w+ (?:is|are)|without|produced no"),
    ("describes an option, a state or a function", r"\b(?:if|when|whether|this|use|used|set|the|a|of)\b"),
)
_REASONS_READ = tuple((reason, re.compile(pattern, re.IGNORECASE)) for reason, pattern in _REASONS)


class Outcome(Struct, frozen=True):
    """A sentence of a package, and the problem it leads to; else the reason why none."""

    package: str
    version: str
    words: str
    problem: str = ""
    reason: str = ""


def main() -> int:
    """Prints the table; writes the record, or lists what is open, where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--fetch", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--open", action="store_true")
    options = parser.parse_args()
    session = compose("en")
    if options.folder is None:
        outcomes = [_outcome(session, package, version, words) for package, version, words in _recorded()]
    else:
        outcomes = list(_gathered(session, options.folder, fetch=options.fetch))
    _print_table(outcomes)
    if options.open:
        sys.stdout.writelines(f"{one.package}: {one.words}\n" for one in outcomes if one.reason == JUDGED)
    if options.write:
        RECORD.write_text("".join(f"{json.dumps(row)}\n" for row in _rows(outcomes)), "utf-8")
    return 0


def _print_table(outcomes: list[Outcome]) -> None:
    counted = Counter((one.package, one.version) for one in outcomes)
    led = Counter(one.package for one in outcomes if one.problem)
    for (package, version), count in counted.items():
        sys.stdout.write(f"{package:<26} {version:<24} {count:>5} sentences, {led[package]:>4} lead to a problem\n")
    reasons = Counter(one.reason or "lead to a problem" for one in outcomes)
    sys.stdout.writelines(f"{count:>6}  {reason}\n" for reason, count in reasons.most_common())


def _recorded() -> Iterator[tuple[str, str, str]]:
    for line in RECORD.read_text("utf-8").splitlines():
        row = json.loads(line)
        yield from ((row["package"], row["version"], words) for words in row["words"] if not _NO_MESSAGE.search(words))


def _gathered(session: Session, folder: Path, *, fetch: bool) -> Iterator[Outcome]:
    seen: set[str] = set()
    for source in SOURCES:
        if fetch:
            _fetch(source, folder)
        place = _place(source, folder)
        if place is None:
            sys.stdout.write(f"{source.name:<26} not there\n")
            continue
        for words in sentences(place, source.only):
            if words not in seen and _SET_UP.search(words) and _SUBJECT.search(words) and not _NO_MESSAGE.search(words):
                seen.add(words)
                yield _outcome(session, source.name, _version(place), words)


def _outcome(session: Session, package: str, version: str, words: str) -> Outcome:
    answers = explain(session, words).answers
    problem = answers[0].id if answers else ""
    return Outcome(package, version, words, problem, "" if problem else _reason(words))


def _reason(words: str) -> str:
    return next((reason for reason, pattern in _REASONS_READ if pattern.search(words)), JUDGED)


def _rows(outcomes: list[Outcome]) -> Iterator[dict[str, object]]:
    """A row for each package and what its sentences lead to."""
    grouped: dict[tuple[str, str, str, str], list[str]] = {}
    for one in outcomes:
        grouped.setdefault((one.package, one.version, one.problem, one.reason), []).append(one.words)
    for (package, version, problem, reason), words in grouped.items():
        yield {"package": package, "version": version, **({"problem": problem} if problem else {"reason": reason}), "words": words}


# Where a package lies.


def _fetch(source: Source, folder: Path) -> None:
    if _place(source, folder) is not None:
        return
    if source.repository:
        command = ["git", "clone", "--quiet", "--depth", "1", source.repository, str(folder / source.name)]
    else:
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--only-binary",
            ":all:",
            "-d",
            str(folder),
            source.name,
        ]
    subprocess.run(command, check=False)


def _place(source: Source, folder: Path) -> Path | None:
    if source.repository:
        return folder / source.name if (folder / source.name).is_dir() else None
    return next(iter(sorted(folder.glob(f"{source.name.replace('-', '_')}-*.whl"))), None)


def _version(place: Path) -> str:
    if place.is_file():
        return place.name.split("-")[1]
    command = ["git", "-C", str(place), "describe", "--tags", "--always"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
