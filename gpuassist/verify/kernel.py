"""The proof of a compiler: a kernel of one line, compiled for a GPU and, where there is one, run on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum

from msgspec import Struct

from gpuassist.model.text import Text, text
from gpuassist.system.disk import scratch
from gpuassist.system.ownership import own_cache, why_not_run
from gpuassist.system.processes import Ending, ProcessResult
from gpuassist.system.world import World

COMPILE_SECONDS = 120.0
RUN_SECONDS = 30.0
_EXPECTED = "42"
_WORDS_AT_MOST = 4000

# The runtime is linked statically, so that the result needs the driver and nothing else.
SOURCE = """\
#include <cstdio>
__global__ void answer(int *out) { *out = 42; }
int main() {
    int *out = nullptr, found = 0;
    cudaError_t error = cudaMalloc(&out, sizeof found);
    if (error == cudaSuccess) { answer<<<1, 1>>>(out); error = cudaGetLastError(); }
    if (error == cudaSuccess) { error = cudaMemcpy(&found, out, sizeof found, cudaMemcpyDeviceToHost); }
    if (error != cudaSuccess) { std::fprintf(stderr, "CUDA error %d: %s\\n", (int)error, cudaGetErrorString(error)); return 1; }
    std::printf("%d\\n", found);
    return 0;
}
"""


class KernelVerdict(str, Enum):
    """How far the kernel came."""

    RAN = "ran"
    COMPILED = "compiled"
    NOT_COMPILED = "not compiled"
    DID_NOT_RUN = "did not run"
    CANCELLED = "cancelled"


class KernelCheck(Struct, frozen=True):
    """What came of it: `words` are for the user, `said` is what the compiler or the kernel's program printed."""

    verdict: KernelVerdict
    words: Text
    command: tuple[str, ...]
    said: str = ""
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether nothing stands in the way as far as could be looked."""
        return self.verdict in {KernelVerdict.RAN, KernelVerdict.COMPILED}


class KernelWish(Struct, frozen=True):
    """What to compile with and for: `architecture` is `sm_89`, empty for the compiler's own choice; `devices` are the UUIDs or
    indices to run it on one after the other, none where there is no driver to run it.
    """

    nvcc: str
    architecture: str
    environment: Mapping[str, str]
    devices: tuple[str, ...] = ()


def check_kernel(world: World, wish: KernelWish, *, cancelled: Callable[[], bool] | None = None) -> KernelCheck:
    """Compiles the kernel in a directory of its own, then runs it on each device; stops soon after it was `cancelled`."""
    options = (f"-arch={wish.architecture}",) if wish.architecture else ()
    command = (wish.nvcc, *options, "-o", "kernel", "kernel.cu")
    refused = why_not_run(world, command)
    if refused is not None:
        return KernelCheck(KernelVerdict.NOT_COMPILED, text("not compiled: {words}", words=refused), command)
    with scratch(own_cache(world)) as directory:
        world.disk.create(f"{directory}/kernel.cu")
        world.disk.write(f"{directory}/kernel.cu", SOURCE.encode())
        compiled = world.processes.run(
            command, seconds=COMPILE_SECONDS, environment=wish.environment, directory=directory, cancelled=cancelled
        )
        if compiled.ending is Ending.CANCELLED:
            return KernelCheck(KernelVerdict.CANCELLED, text("cancelled before it was compiled"), command, "", compiled.seconds)
        if not compiled.succeeded:
            if compiled.ending is Ending.EXITED and not _said(compiled):
                why_not = text("not compiled: {nvcc} said nothing (exit status {status})", nvcc=wish.nvcc, status=compiled.status)
            elif compiled.ending is Ending.EXITED:
                why_not = text("not compiled: {words}", words=_first_error(_said(compiled)))
            else:
                why_not = text("not compiled: {nvcc} {ending}", nvcc=wish.nvcc, ending=_ending(compiled))
            return KernelCheck(KernelVerdict.NOT_COMPILED, why_not, command, _said(compiled), compiled.seconds)
        seconds = compiled.seconds
        for device in wish.devices:
            chosen = {**wish.environment, "CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": device}
            outcome = world.processes.run((f"{directory}/kernel",), seconds=RUN_SECONDS, environment=chosen, cancelled=cancelled)
            seconds += outcome.seconds
            if outcome.ending is Ending.CANCELLED:
                words = text("compiled; cancelled before it ran on the GPU {device}", device=device)
                return KernelCheck(KernelVerdict.CANCELLED, words, command, "", seconds)
            if not outcome.succeeded or outcome.text.strip() != _EXPECTED:
                words = text("compiled, but on the GPU {device} {ending}", device=device, ending=_ending(outcome))
                return KernelCheck(KernelVerdict.DID_NOT_RUN, words, command, _said(outcome), seconds)
        if wish.devices:
            return KernelCheck(KernelVerdict.RAN, text("compiled, run, and the result is right"), command, "", seconds)
        return KernelCheck(KernelVerdict.COMPILED, text("compiled; not run, because no driver is loaded"), command, "", seconds)


def _ending(outcome: ProcessResult) -> Text:
    if outcome.ending is Ending.TIMED_OUT:
        return text("took longer than {seconds:.0f} s", seconds=outcome.seconds)
    if outcome.ending is Ending.KILLED:
        return text("was killed by signal {number}", number=outcome.status)
    if outcome.ending is not Ending.EXITED:
        return text("could not be started: {words}", words=outcome.words)
    if outcome.status:
        return text("it failed: {words}", words=_first_error(_said(outcome)) or str(outcome.status))
    return text("the result was {found} and not {expected}", found=outcome.text.strip()[:40] or "''", expected=_EXPECTED)


def _said(outcome: ProcessResult) -> str:
    return (outcome.stderr + outcome.stdout).decode("utf-8", "replace").strip()[:_WORDS_AT_MOST]


def _first_error(said: str) -> str:
    """The line that names the error: nvcc and the host compiler warn before they fail."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line.lower() or "fatal" in line.lower()), lines[0] if lines else "")
