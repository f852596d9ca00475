"""What programs print while the GPU, its driver or its set-up serves them: the lines that tell of something that was done."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from gpuassist.detect.readers.lines import Line, lines, lines_with
from gpuassist.formats.visible import shortened
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Paste
from gpuassist.model.text import Text, text

_QUOTED = 120  # characters of a line
_MOST = 200  # lines of one kind


class SignOfWork(Struct, frozen=True):
    """A line that tells of something that was done: what that is, the line as it stands, and its number."""

    what: Text
    words: str
    line: int


_Kind = tuple[Text, tuple[str, ...], re.Pattern[str]]
# What each line tells, a literal of it, and its form. What a program says it will try is none.
_KINDS: tuple[_Kind, ...] = (
    (
        text("a profiler measured kernels on the GPU"),
        ("==PROF==", "==NVPROF=="),
        lazy_regex(r"==PROF== (?:Connected|Disconnected|Report|Profiling \")|==\d*NVPROF== |==NVPROF== Profiling result"),
    ),
    (
        text("a program opened the GPU"),
        ("cuCtxCreate", "cuInit", "cuDeviceGet", "cudaSetDevice", "cudaGetDeviceCount"),
        lazy_regex(
            r"\b(?:cuCtxCreate|cuInit|cuDeviceGet\w{0,20}|cudaSetDevice"
            r"|cudaGetDeviceCount)(?:_v\d)?(?:\([^()\n]{0,20}\))?\s?[:=]{0,2}>?\s?"
            r"(?:ok|success|0\b|CUDA_SUCCESS|cudaSuccess)",
            re.IGNORECASE,
        ),
    ),
    (
        text("a test program of CUDA ran to its end"),
        (
            *("Result = PASS", "Test PASSED", "Test passed", "Connectivity Matrix", "Out of bounds values", "SUM host_to_device"),
            *("Bandwidth Test] -", "PINNED Memory"),
        ),
        lazy_regex(
            r"Result = PASS\b|Test (?:PASSED|passed)\b|P2P Connectivity Matrix|Out of bounds values : 0 OK|SUM host_to_device"
            r"|Bandwidth Test\] - Starting|^ ?PINNED Memory Transfers"
        ),
    ),
    (
        text("the test saw the GPU"),
        ("pciBusID:",),
        lazy_regex(r"^\s{0,4}Device: \d{1,2}, \S[^\n]{2,60}, pciBusID: |^\s{0,4}Device=\d{1,2} CAN(?:NOT)? Access Peer"),
    ),
    (text("the test tried the GPUs' access to each other"), ("Access Peer Device",), lazy_regex(r"^\s{0,4}Device=\d{1,2} CAN")),
    (
        text("TensorFlow took the GPU"),
        ("device:GPU:", "Adding visible gpu devices", "executing computations on platform CUDA", "platform CUDA (this does not"),
        lazy_regex(
            r"Created (?:TensorFlow )?device \(?/\S{0,60}device:GPU:\d|Adding visible gpu devices: \d"
            r"|executing computations on platform CUDA|initialized for platform CUDA"
        ),
    ),
    (
        text("TensorFlow described the GPU"),
        ("StreamExecutor device", "Found device", "memoryClockRate", "coreClock:", "pciBusID", "StreamExecutor with strength"),
        lazy_regex(
            r"StreamExecutor device \(\d|Found device \d{1,2} with properties|memoryClockRate\(GHz\)|coreClock: "
            r"|^pciBusID:? |StreamExecutor with strength"
        ),
    ),
    (
        text("a library of CUDA was loaded"),
        ("Successfully opened dynamic library", "successfully opened CUDA library", "Loaded cuDNN version", "Loaded runtime CuDNN"),
        lazy_regex(r"[Ss]uccessfully opened (?:dynamic|CUDA) library lib\w|Loaded cuDNN version \d|Loaded runtime CuDNN library"),
    ),
    (
        text("NCCL joined the GPUs"),
        ("NCCL INFO",),
        lazy_regex(
            r"NCCL INFO (?:(?:comm|ncclCommInit\w*)[^\n]{0,160}(?:Init COMPLETE|commId)|Connected all (?:rings|trees)"
            r"|Channel \d|Bootstrap|NET/|Using (?:network|non-device)|cudaDriverVersion|NCCL version|Trees|Ring|Launch mode"
            r"|Setting affinity|Init COMPLETE|\d{1,5} coll channels|threadThresholds)"
            r"|NCCL version \d"
        ),
    ),
    (
        text("the driver's kernel module was built"),
        ("kmods exist for", "nvidia-kmod", "DKMS: "),
        lazy_regex(
            r"^(?:Checking kmods exist for|Building (?:and installing|RPM)?|Installing)[^\n]{0,80}\[\s{1,3}OK\s{1,3}\]"
            r"|DKMS: (?:install|build) completed",
            re.IGNORECASE,
        ),
    ),
    (
        text("NVIDIA's installer finished"),
        ("is now complete", "Toolkit: "),
        lazy_regex(
            r"(?:Driver|driver) for Linux\S{0,12} \(version: [\d.]{3,12}\) is now complete|^(?:Driver|Toolkit): {1,4}Installed"
        ),
    ),
    (
        text("the container runtime was set up for the GPU"),
        (
            "runtime registered",
            "Runtimes: ",
            "Generated CDI spec",
            "updated config to",
            "ing config from",
            "docker config from",
            "daemon be restarted",
            "nvidia-runtime",
        ),
        lazy_regex(
            r"Wrote updated config to \S{4,80}|'?nvidia'? runtime registered|Generated CDI spec with version"
            r"|Runtimes?: [^\n]{0,60}\bnvidia\b"
            r"|Loading (?:docker )?config from|✔[^\n]{0,60}nvidia[ -]runtime"
            r"|It is recommended that (?:the )?docker daemon be restarted"
        ),
    ),
    (
        text("a program for language models took the GPU"),
        ("CUDA devices", "layers to GPU", "inference compute", "CUDA0 ", "maximum number of gpu blocks"),
        lazy_regex(
            r"found [1-9]\d{0,2} CUDA devices|offloaded [1-9]\d{0,3}/\d{1,4} layers to GPU"
            r"|inference compute\"? [^\n]{0,120}library=\"?cuda"
            r"|CUDA0 (?:model )?(?:compute )?(?:KV )?buffer size =",
            re.IGNORECASE,
        ),
    ),
    (
        text("llama.cpp described the GPU"),
        ("compute capability",),
        lazy_regex(r"^\s{0,4}Device \d{1,2}: [^\n]{3,60}, compute capability \d"),
    ),
    (
        text("a program said that it computes on the GPU"),
        (
            "evice: cuda",
            "evice:cuda",
            "evice cuda",
            "evice = cuda",
            "evice is cuda",
            "sing cuda",
            "on cuda",
            "evice='cuda",
            "available: True (cuda)",
            "available: False, using: 0",
        ),
        lazy_regex(
            r"^(?:\[?[\w:., -]{0,40}\]?[ :-]{1,3})?(?:using|running on|selected|training on|torch\.?)? ?device(?: type"
            r"| used)?\s?[:=]{1,2}\s?['\"]?cuda(?::\d{1,2})?['\"]?$"
            r"|^(?:\[?[\w:., -]{0,40}\]?[ :-]{1,3})?(?:using|running on"
            r"|training on)(?: device)?:? ['\"]?cuda(?::\d{1,2})?['\"]?\.?$"
            r"|GPU available: True \(cuda\), used: True|^[TIH]PU available: False, using: 0"
            r"|tensor\([^\n]{1,200}, device='cuda:\d{1,2}'",
            re.IGNORECASE,
        ),
    ),
    (
        text("the graphics driver of NVIDIA draws"),
        ("OpenGL vendor", "OpenGL renderer", "GL_RENDERER", "deviceName", "NVIDIA GPU "),
        lazy_regex(
            r"OpenGL (?:vendor|renderer) string: (?:NVIDIA|GeForce|Quadro|Tesla|RTX)|GL_RENDERER[ :=]{1,6}(?:NVIDIA|GeForce|Quadro)"
            r"|deviceName {0,20}= (?:NVIDIA|GeForce|Quadro|Tesla)|NVIDIA\(\d\): NVIDIA GPU [^\n]{3,60} at PCI:"
        ),
    ),
    (
        text("the kernel loaded the driver"),
        (
            "NVRM: loading NVIDIA",
            "nvidia-drm",
            "nvidia: loading",
            "nvidia: module",
            "nvidia-modeset: Loading",
            "nvidia_uvm: Loaded",
            "nvidia-uvm: Loaded",
        ),
        lazy_regex(
            r"NVRM: loading NVIDIA UNIX|\[nvidia-drm\] \[GPU ID 0x[0-9a-f]{2,8}\] Loading driver|Initialized nvidia-drm \d"
            r"|nvidia-nvlink: Nvlink Core"
            r"|nvidia: loading out-of-tree|nvidia: module (?:license|verification)|nvidia-modeset: Loading NVIDIA"
            r"|nvidia[_-]uvm: Loaded the UVM driver"
        ),
    ),
    (
        text("the GPUs that a cluster offers"),
        ("nvidia.com/gpu", "Gres=gpu", "Registered device plugin"),
        lazy_regex(
            r"^\s{0,12}\"?nvidia\.com/gpu\"?:? {1,20}\"?[1-9]\d{0,3}\"?,?$|Gres=gpu:|Registered device plugin for 'nvidia\.com/gpu'"
        ),
    ),
    (
        text("hashcat found the GPU"),
        ("* Device #", "CUDA API", "OpenCL API", "OpenCL Platform"),
        lazy_regex(
            r"^\s{0,4}\* Device #\d{1,3}: [^\n]{3,60}, \d{2,6}/\d{2,6} MB|^(?:CUDA|OpenCL) API \([^\n]{3,80}\)|^OpenCL Platform #\d"
        ),
    ),
    (text("DCGM's test passed"), ("| Pass",), lazy_regex(r"^\|\s{1,3}[\w :/-]{3,40}\|\s{1,3}(?:Pass|Skip)")),
    (
        text("nvcc's list of targets"),
        ("compute_7", "compute_8", "compute_9", "compute_5", "sm_7", "sm_8", "sm_5", "sm_9"),
        lazy_regex(r"^\s{0,8}(?:compute|sm)_\d{2,3}[af]?$"),
    ),
    (
        text("a job ran to its end"),
        ("COMPLETED", "exit code 0", "Exit status: 0", "elapsed:", "Started:", "Stopped:"),
        lazy_regex(r"^\[?job[^\n]{0,40}COMPLETED\b[^\n]{0,20}0|exit(?:ed with)? (?:code|status):? 0\b", re.IGNORECASE),
    ),
)
_TABLE = lazy_regex(r"^\s{0,4}[|+╭╰│├┌└┐┘=#*~_-]")
_COMMAND = lazy_regex(
    r"^[ \t]{0,4}(?:\([^()\s]{1,60}\)\s{0,2}){0,3}(?:[\w.-]{1,60}@[\w.-]{1,80}[: ][^\n]{0,120}[$#%]|\[[^\]\n]{1,100}\][$#]"
    r"|\d{1,6} ◯|[$#%❯»➜~]|>>>|\.\.\.|In \[\d)"
)


@lru_cache(2)
def signs_of_work(paste: Paste) -> tuple[SignOfWork, ...]:
    """In the order of the text."""
    found = dict[int, SignOfWork]()
    for what, literals, pattern in _KINDS:
        for line in _some(paste, literals):
            if line.number not in found and pattern.search(line.words[:400]):
                found[line.number] = SignOfWork(what, shortened(line.words.strip(), _QUOTED), line.number)
    return tuple(found[number] for number in sorted(found))


def _some(paste: Paste, literals: tuple[str, ...]) -> Iterator[Line]:
    for count, line in enumerate(lines_with(paste, *literals)):
        if count == _MOST:
            return
        yield line


# Rows of figures: of `nvidia-smi --query-gpu`, of what exports metrics.


class Figures(Struct, frozen=True):
    """Rows of figures of GPUs: what they are of, how many rows, and the number of each line; `quiet` where none counts a fault."""

    names: tuple[str, ...]
    lines: tuple[int, ...]
    quiet: bool


_HEADING = lazy_regex(
    r"^\s{0,4}(?:#\s)?(?P<names>[a-z][a-z_0-9.]{1,60}(?: \[[\w%/]+\])?(?:, ?[a-z][a-z_0-9.]{1,60}(?: \[[\w%/]+\])?){0,40})$"
)
_OF_GPUS = lazy_regex(
    r"^(?:name|index|timestamp|uuid|pstate|driver_version|(?:power|utilization|temperature|fan|memory|clocks?|ecc|pcie?|gpu"
    r"|encoder|compute"
    r"|display|persistence|enforced|retired_pages|clocks_(?:throttle|event)_reasons|mig|vbios|serial|count)[\w.]*)$"
)
_VALUE = lazy_regex(
    r"^(?:-?[\d.]{1,20}(?: ?(?:MiB|MB|GiB|W|%|C|MHz|GT/s|RPM))?|\[?(?:N/A|Not Supported|Not Active|Active|Unknown Error)\]?"
    r"|Enabled|Disabled|Default|P\d{1,2}|0x[0-9a-fA-F]{1,16}|[\w/. :-]{1,80})$"
)
_COUNTED = lazy_regex(r"^(?:ecc\.errors|retired_pages)\.[\w.]*|[\w.]*xid[\w.]*|[\w.]*(?:row_remap|uncorrect)[\w.]*", re.IGNORECASE)
_NOTHING = frozenset({"0", "0.0", "[N/A]", "N/A", "No", "[Not Supported]", "Not Active", "-"})
_METRIC = lazy_regex(
    r"^(?P<name>DCGM_FI_\w{3,60}|nvidia_(?:smi|gpu"
    r"|dcgm)_\w{2,60})\{[^{}\n]{0,1500}\}\s{1,4}(?P<value>-?[\d.eE+]{1,24})(?: \d{10,16})?$"
    r"|^nvidia_smi,(?:[^\s\\]|\\.){1,400} (?P<fields>\w{2,60}=[^\s]{1,2000})(?: \d{10,20})?$"
    r"|^#\s(?:HELP|TYPE) (?:DCGM_FI_|nvidia_)\w{2,60} "
)
_FEWEST = 2  # names of columns that tell what the rows are


def figures(paste: Paste) -> Figures | None:
    """Of the first table that there is."""
    return _csv(paste) or _metrics(paste)


def _csv(paste: Paste) -> Figures | None:
    every = lines(paste)
    for place, line in enumerate(every[:400]):
        heading = _HEADING.match(line.words[:1000])
        names = tuple(one.strip().partition(" [")[0] for one in heading["names"].split(",")) if heading else ()
        known = sum(1 for name in names if _OF_GPUS.match(name))
        if known != len(names) or (len(names) < _FEWEST and not any("." in name for name in names)):
            continue
        rows = list[tuple[Line, list[str]]]()
        for row in every[place + 1 : place + 1 + _MOST]:
            values = [one.strip() for one in row.words[:1000].split(",")]
            if len(values) != len(names) or not all(_VALUE.match(one) for one in values):
                break
            rows.append((row, values))
        if rows:
            quiet = all(
                value in _NOTHING for _, values in rows for name, value in zip(names, values, strict=True) if _COUNTED.match(name)
            ) and not any("Unknown Error" in value for _, values in rows for value in values)
            return Figures(names, (line.number, *(row.number for row, _ in rows)), quiet)
    return None


def _metrics(paste: Paste) -> Figures | None:
    names: dict[str, None] = {}
    found: list[int] = []
    quiet = True
    for line in _some(paste, ("DCGM_FI_", "nvidia_smi", "nvidia_gpu_", "nvidia_dcgm_")):
        row = _METRIC.match(line.words[:2400])
        if row is None:
            continue
        found.append(line.number)
        if row["name"]:
            names[row["name"]] = None
            quiet = quiet and (not _COUNTED.match(row["name"]) or float(row["value"] or 0) == 0)
        for field in (row["fields"] or "").split(",") if row["fields"] else ():
            names[field.partition("=")[0]] = None
    return Figures(tuple(names), tuple(found), quiet) if names else None


def of_tools(paste: Paste) -> frozenset[int]:
    """The numbers of the lines that are commands, rules and rows of tables: what they hold is read by others."""
    return frozenset(line.number for line in lines(paste) if _TABLE.match(line.words[:40]) or _COMMAND.match(line.words[:200]))
