"""What goes wrong with GPUs, as the stand-in CUDA driver scripts it, and what a verification must say of it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

from gpuassist.model.verdict import Verdict
from gpuassist.present.marks import Exit

ONE, TWO, BLACKWELL = "one.ini", "two.ini", "blackwell.ini"
_ROW = MappingProxyType({ONE: 1, TWO: 2, BLACKWELL: 1})

# The scenario files, by name: the same text scripts the stand-in's NVML and its CUDA driver.
SCENARIOS: Mapping[str, str] = MappingProxyType(
    {
        ONE: """[system]
driver_version = 550.54.14
cuda_version = 12.4
[defaults]
name = NVIDIA GeForce RTX 4090
uuid = GPU-4090aaaa-0000-4000-8000-0000000000%x
pci_bus_id = 00000000:0%x:00.0
cc_major = 8
cc_minor = 9
cores = 16384
memory_total = 1200 MiB
memory_used = 0
[gpu 0]
""",
        TWO: """[system]
driver_version = 550.54.14
cuda_version = 12.4
[defaults]
name = NVIDIA GeForce RTX 3090
uuid = GPU-3090aaaa-0000-4000-8000-0000000000%x
cc_major = 8
cc_minor = 6
cores = 10496
memory_total = 1200 MiB
memory_used = 0
[gpu 0-1]
""",
        BLACKWELL: """[system]
driver_version = 580.95.05
cuda_version = 13.0
[defaults]
name = NVIDIA GeForce RTX 5090
uuid = GPU-5090aaaa-0000-4000-8000-0000000000%x
cc_major = 12
cc_minor = 0
cores = 21760
memory_total = 1200 MiB
memory_used = 0
[gpu 0]
""",
    }
)


class Fault(Struct, frozen=True):
    """One fault: `script` are the stand-in's variables, `verdict` what the run comes to. Of `checks` (`device name dtype`, or a
    beginning of it) those named must have that verdict, and where `others` is given every other check that one. `finding` is the
    problem that must be named as the cause; `words` must stand in what is said.
    """

    name: str
    script: Mapping[str, str]
    verdict: Verdict
    exit: Exit
    checks: Mapping[str, Verdict] = MappingProxyType({})
    others: Verdict | None = None
    finding: str = ""
    words: str = ""
    scenario: str = ONE
    math: bool = True
    devices: tuple[str, ...] = ("all",)

    @property
    def gpus(self) -> int:
        """How many cards NVML lists."""
        return _ROW[self.scenario]


PASS, FAIL, ERROR, SKIPPED, HUNG = Verdict.PASS, Verdict.FAIL, Verdict.ERROR, Verdict.SKIPPED, Verdict.HUNG
_BAD, _UNSURE, _GOOD = Exit.PROBLEMS, Exit.UNDETERMINED, Exit.HEALTHY


def _init(code: int, finding: str) -> Fault:
    return Fault(f"init-{code}", {"FAKE_CUDA_INIT": str(code)}, ERROR, _BAD, finding=finding, math=False)


def _kernel(code: str, finding: str = "") -> Fault:
    return Fault(
        f"kernel-{code}", {"FAKE_CUDA_KERNEL": f"aten::exp* {code}"}, ERROR, _BAD, {"cuda:0 elementwise": ERROR}, PASS, finding
    )


def _wrong(operation: str, check: str, *, options: str = "") -> Fault:
    script = {"FAKE_CUDA_MATH_CORRUPT": f"{operation} {options}".strip()}
    name = "-".join(("wrong", operation.strip("*_"), *options.replace("=", "-").split()))
    return Fault(name, script, FAIL, _BAD, {f"cuda:0 {check}": FAIL}, finding="wrong-result")


FAULTS: tuple[Fault, ...] = (
    Fault("right", {}, PASS, _GOOD, others=PASS),
    Fault("right-on-two", {}, PASS, _GOOD, others=PASS, scenario=TWO),
    Fault("nothing-computed", {}, FAIL, _BAD, {"cuda:0 matmul fp32": FAIL}, math=False),
    # At the start of the driver.
    _init(3, ""),
    _init(34, "ld-library-path-stubs"),
    _init(46, ""),
    _init(100, ""),
    _init(101, ""),
    _init(802, ""),
    _init(803, ""),
    _init(804, ""),
    _init(999, ""),
    Fault("old-driver", {"FAKE_CUDA_VERSION": "11.4"}, ERROR, _BAD, math=False, words="driver"),
    Fault(
        "hang-in-init", {"FAKE_CUDA_FAULT": "cuInit hang"}, HUNG, _BAD, finding="driver-no-answer", math=False, words="no answer"
    ),
    Fault("crash-in-init", {"FAKE_CUDA_FAULT": "cuInit segv"}, ERROR, _BAD, math=False, words="SIGSEGV"),
    Fault("hidden", {"CUDA_VISIBLE_DEVICES": ""}, SKIPPED, _UNSURE, math=False, words="CUDA_VISIBLE_DEVICES"),
    Fault("hidden-by-minus-one", {"CUDA_VISIBLE_DEVICES": "-1"}, SKIPPED, _UNSURE, math=False, words="CUDA_VISIBLE_DEVICES=-1"),
    # At a launch.
    _kernel("700", "check-broke-off"),
    _kernel("702"),
    _kernel("710", "check-broke-off"),
    _kernel("714", "check-broke-off"),
    _kernel("715", "check-broke-off"),
    _kernel("716", "check-broke-off"),
    _kernel("717", "check-broke-off"),
    _kernel("718", "check-broke-off"),
    _kernel("719", "check-broke-off"),
    _kernel("801"),
    _kernel("999"),
    _kernel("214", "ecc-errors"),
    _kernel("segv", "process-died"),
    _kernel("abort", "process-died"),
    Fault(
        "hang",
        {"FAKE_CUDA_KERNEL": "aten::exp* hang gpu=0"},
        HUNG,
        _BAD,
        {"cuda:0 elementwise": HUNG, "cuda:1 elementwise": PASS},
        PASS,
        scenario=TWO,
    ),
    Fault(
        "second-gpu-fails",
        {"FAKE_CUDA_KERNEL": "aten::mm* 719 gpu=1"},
        ERROR,
        _BAD,
        {"cuda:1 matmul": ERROR, "cuda:0": PASS},
        scenario=TWO,
    ),
    Fault("every-kernel-fails", {"FAKE_CUDA_KERNEL": "* 719"}, ERROR, _BAD, {"cuda:0 first-kernel": ERROR}, SKIPPED),
    Fault("no-kernel-image", {"FAKE_CUDA_KERNEL": "* 209"}, ERROR, _BAD, {"cuda:0 first-kernel": ERROR}, SKIPPED, "code-not-run"),
    Fault(
        "no-code-for-this-gpu", {}, ERROR, _BAD, {"cuda:0 first-kernel": ERROR}, SKIPPED, "torch-without-code", scenario=BLACKWELL
    ),
    # At a copy, and at an allocation.
    Fault("ecc-at-a-copy", {"FAKE_CUDA_FAULT": "cuMemcpyDtoH* 214 after_calls=8"}, ERROR, _BAD),
    Fault("copy-fails-once", {"FAKE_CUDA_FAULT": "cuMemcpyDtoH* 719 after_calls=6 times=1"}, ERROR, _BAD),
    Fault("allocation-fails", {"FAKE_CUDA_FAULT": "cuMemAlloc* 999 after_calls=2"}, ERROR, _BAD),
    # Others hold the card, or its memory.
    Fault(
        "memory-of-others", {"FAKE_CUDA_MEMORY": "24000MiB", "FAKE_CUDA_USED": "23676MiB"}, SKIPPED, _UNSURE, words="others hold"
    ),
    Fault("no-memory-at-all", {"FAKE_CUDA_MEMORY": "24000MiB", "FAKE_CUDA_USED": "23900MiB"}, SKIPPED, _UNSURE, words="memory"),
    Fault(
        "exclusive",
        {"FAKE_CUDA_FAULT": "cuDevicePrimaryCtxRetain 46 gpu=1"},
        SKIPPED,
        _UNSURE,
        {"cuda:1 first-kernel": SKIPPED, "cuda:0": PASS},
        scenario=TWO,
        words="another program",
    ),
    # A wrong element, wherever it is.
    *(_wrong("mm", "matmul", options=f"at={place} times=1") for place in (0, 1, 50, 90, 99)),
    *(_wrong("mm", "matmul", options=f"after={count} times=1") for count in (1, 3, 6, 9, 12)),
    Fault(
        "wrong-on-second", {"FAKE_CUDA_MATH_CORRUPT": "mm gpu=1"}, FAIL, _BAD, {"cuda:1 matmul": FAIL, "cuda:0": PASS}, scenario=TWO
    ),
    *(
        _wrong(operation, check)
        for operation, check in (
            ("exp*", "elementwise"),
            ("sum*", "reduction"),
            ("sort*", "sort"),
            ("*convolution*", "convolution"),
            ("*softmax*", "softmax"),
            ("_fft*", "fft"),
            ("bmm*", "attention-math"),
            ("index*", "indexing"),
            ("normal_*", "random-moments"),
            ("copy_*", ""),
        )
    ),
)
