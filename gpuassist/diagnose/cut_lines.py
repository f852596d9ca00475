"""Lines that were cut at the edge of a window: a pager marks them with `>`, `systemctl status` with dots."""

from __future__ import annotations

from gpuassist.diagnose.signature import lowered
from gpuassist.model.paste import Paste

_MARKS = (">", "…", "...")
_LEAST = 10  # characters of a sentence that tell it from others
_LONGEST_LINE = 400  # characters: what is cut is no longer than a window is wide
_MOST_LINES = 200

# As one line of the log prints them, without the names and numbers before: those of the kernel's log and of the driver's services.
_SENTENCES = (
    "installed in this system requires use of the NVIDIA open kernel modules.",
    "installed in this system is not supported by open",
    "nvidia.ko because it does not include the required GPU",
    "Open nvidia.ko is only ready for use on Data Center GPUs.",
    "RmInitAdapter failed!",
    "rm_init_adapter failed",
    "GPU has fallen off the bus.",
    "GPU does not have the necessary power cables connected.",
    "NVIDIA probe routine failed for 1 device(s).",
    "None of the NVIDIA devices were initialized.",
    "NVIDIA probe routine was not called for 1 device(s).",
    "was loaded and obtained ownership of the NVIDIA device(s).",
    "PCI I/O region assigned to your NVIDIA device is invalid:",
    "already bound to nouveau",
    "already bound to vfio-pci",
    "Loading of module with unavailable key is rejected",
    "Loading of unsigned module is rejected",
    "unsigned module loading is restricted; see man kernel_lockdown.7",
    "Key was rejected by service",
    "Required key not available",
    "not found in directory /lib/modules/",
    "Failed to query NVIDIA devices. Please ensure that the NVIDIA device files (/dev/nvidia*) exist",
    "Failed to initialize NVML: Driver/library version mismatch",
    "couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.",
)


def completed(paste: Paste) -> Paste:
    """The text with its cut lines in full, where what is left of them is the beginning of a known sentence and of no other one;
    the text itself where there are none.
    """
    if not any(f"{mark}\n" in paste.words or paste.words.endswith(mark) for mark in _MARKS):
        return paste
    lines = paste.words.split("\n")
    cut = [place for place, line in enumerate(lines) if len(line) <= _LONGEST_LINE and line.endswith(_MARKS)]
    found = {place: whole for place in cut[:_MOST_LINES] if (whole := _whole(lines[place]))}
    if not found:
        return paste
    return Paste(
        "\n".join(found.get(place, line) for place, line in enumerate(lines)), paste.left_out, paste.original or paste.words
    )


def _whole(line: str) -> str:
    """The line to its end; empty where that is not known."""
    left = line.rstrip(".…>")
    small = lowered(left)
    endings = set()
    for sentence, known in _KNOWN:
        start = small.find(known[:_LEAST])
        if start >= 0 and known.startswith(small[start:]):
            endings.add(sentence[len(small) - start :])
    return left + endings.pop() if len(endings) == 1 else ""


_KNOWN = tuple((sentence, lowered(sentence)) for sentence in _SENTENCES)
