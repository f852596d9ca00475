"""Failures of other software that people paste beside their GPU: files, windows, packages, containers, other languages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.hints import AMD, OTHERS, of_amd, of_another_maker
from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, means, sign
from gpuassist.model.paste import Weight
from gpuassist.model.text import Text, text


def _elsewhere(cause: Text, literals: tuple[str, ...], pattern: str) -> Signature:
    """A state only: where the text names a fault of the GPU as well, that one counts."""
    return Signature(literals, pattern, means("not-a-gpu-problem", Weight.STATE, cause=cause))


def _amd(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if of_amd(setting):
        yield sign("not-a-gpu-problem", cause_id="amd", cause=text("the text is of a GPU of AMD"))


def _others(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if of_another_maker(setting):
        yield sign("not-a-gpu-problem", cause_id="other-maker", cause=text("the text is of an accelerator of another maker"))


SIGNATURES = (
    Signature(AMD[0], AMD[1], _amd),
    Signature(OTHERS[0], OTHERS[1], _others),
    _elsewhere(
        text("a saved model is damaged, incomplete or of another kind"),
        ("pytorchstreamreader", "unpicklingerror", "invalid load key", "safetensorerror", "headertoolarge", "not a zip file"),
        r"PytorchStreamReader failed|UnpicklingError: [^\n]{0,80}|invalid load key, '[^'\n]{1,8}'|SafetensorError: [^\n]{0,80}"
        r"|BadZipFile: File is not a zip file",
    ),
    _elsewhere(
        text("the program's data do not have the shape that its model wants"),
        ("weight of size", "expected more than 1 value per channel", "resize storage that is not", "stack expects each tensor"),
        r"expected input\[[\d, ]{1,40}\] to have \d+ channels|Expected more than 1 value per channel when training"
        r"|Trying to resize storage that is not resiz|stack expects each tensor to be equal size",
    ),
    _elsewhere(
        text("a model or a page is not there, or not for you"),
        ("repositorynotfounderror", "gatedrepoerror", "is not a valid model identifier", "entrynotfounderror"),
        r"(?:RepositoryNotFound|GatedRepo|EntryNotFound)Error|is not a valid model identifier listed on",
    ),
    _elsewhere(
        text("an image could not be read or shown"),
        ("opencv(", "libgl.so.1", "libgthread-2.0", "qt platform plugin", "cannot connect to x server", "no $display"),
        r"OpenCV\([\d.]{3,12}\)[^\n]{0,200}error: \(-(?!21[67]:)\d{1,4}"  # 216 and 217 are of its CUDA modules
        r"|lib(?:GL\.so\.1|gthread-2\.0\.so\.0): cannot open shared object file"
        r"|Could not load the Qt platform plugin|annot connect to X server|no display name and no \$DISPLAY",
    ),
    _elsewhere(
        text("a compiler or a header of the system is missing"),
        ("python.h", "visual c++ 14", "no acceptable c compiler", "command 'gcc' failed", "command 'x86_64-linux-gnu-gcc'"),
        r"fatal error: Python\.h: No such file|Microsoft Visual C\+\+ 14\.\d or greater is required|no acceptable C compiler found"
        r"|command '(?:x86_64-linux-gnu-)?gcc' failed: No such file or directory",
    ),
    _elsewhere(
        text("the memory of another program ran out, which is the computer's and not the GPU's"),
        ("java heap space", "javascript heap", "reached heap limit", "gc overhead limit"),
        r"OutOfMemoryError: (?:Java heap space|GC overhead limit exceeded)|JavaScript heap out of memory|Reached heap limit",
    ),
    _elsewhere(
        text("Docker itself does not answer, or does not get the image"),
        ("docker daemon", "pull access denied", "manifest unknown", "manifest for"),
        r"Cannot connect to the Docker daemon|permission denied while trying to connect to the Docker daemon"
        r"|pull access denied for|manifest (?:for \S{1,120} not found|unknown)",
    ),
    _elsewhere(
        text("another program holds the package manager, or it does not reach its server"),
        ("could not get lock", "condahttperror", "dpkg was interrupted", "failed to fetch http"),
        r"Could not get lock /var/lib/|CondaHTTPError: HTTP \d{3}|dpkg was interrupted, you must manually run"
        r"|Failed to fetch https?://\S{1,200}",
    ),
    _elsewhere(
        text("a program is not installed or not on PATH"),
        (
            *("conda: command not found", "pip: command not found", "python: command not found", "git: command not found"),
            *("pip3: command not found", "python3: command not found", "make: command not found", "ninja: command not found"),
        ),
        r"\b(?:conda|pip3?|python3?|git|cmake|make|ninja): command not found",
    ),
    _elsewhere(
        text("the training diverges: the loss is no number any more"),
        ("loss is nan", "loss: nan", "loss=nan", "loss is inf"),
        r"\bloss(?: is |: ?|=)(?:nan|inf)\b",
    ),
)
