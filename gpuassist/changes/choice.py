"""Which installed toolkit, or which GPUs, the words of a wish mean: `12.4`, `0,2`, `GPU-8932f937`, `all`."""

from __future__ import annotations

import os

from msgspec import Struct

from gpuassist.changes.wishes import WishError
from gpuassist.model.fact import Fact, Known, Unknown, value_or
from gpuassist.model.gpu import Gpu
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import Text, listed, text
from gpuassist.model.toolkit import Origin, Toolkit
from gpuassist.model.version import Version, VersionError
from gpuassist.shellfiles.block import RepairError
from gpuassist.system.files import Files

_SYSTEM_ROOTS = frozenset({"/", "/usr", "/usr/local"})


def choose_toolkit(toolkits: Fact[tuple[Toolkit, ...]], wish: str) -> Toolkit:
    """The installed toolkit of that version, of several the newest; raises `RepairError` that lists what is installed."""
    try:
        version = Version.parse(wish)
    except VersionError:
        raise WishError(text("{wish} is not a CUDA version; 12.4 or 12.4.1 is", wish=wish or "''")) from None
    if str(version) != wish.strip().lstrip("Vv"):
        raise WishError(text("{wish} is not a CUDA version; 12.4 or 12.4.1 is", wish=wish))
    if isinstance(toolkits, Unknown):
        raise RepairError(text("which toolkits are installed is not known: {reason}", reason=toolkits.reason))
    depth = len(version.parts)
    fitting = [one for one in toolkits.value if any(known.parts[:depth] == version.parts for known in _versions(one))]
    usable = [toolkit for toolkit in fitting if _unusable(toolkit) is None]
    if usable:  # the newest; of two the one where NVIDIA's own packages put it
        return max(
            usable,
            key=lambda one: (
                one.version.value.parts if isinstance(one.version, Known) else (),
                one.root.startswith("/usr/local/"),
                one.root,
            ),
        )
    if fitting:
        raise RepairError(_unusable(fitting[0]) or text("{root} cannot be used", root=fitting[0].root))
    installed = "; ".join(f"{version_of(toolkit)} ({toolkit.root})" for toolkit in toolkits.value if _unusable(toolkit) is None)
    if not installed:
        raise RepairError(text("CUDA {version} is not installed, and no other toolkit is", version=wish))
    raise RepairError(text("CUDA {version} is not installed. Installed: {installed}", version=wish, installed=installed))


def version_of(toolkit: Toolkit) -> str:
    """Its version for people, or a question mark."""
    return next((str(version) for version in _versions(toolkit)), "?")


def require_executable(files: Files, toolkit: Toolkit) -> None:
    """Raises `RepairError` where the toolkit's nvcc could not win, because no shell would run it."""
    nvcc = f"{toolkit.root}/bin/nvcc"
    if not files.is_file(nvcc):
        raise RepairError(text("{nvcc} does not exist", nvcc=nvcc))
    if not files.may(nvcc, os.X_OK):
        raise RepairError(text("{nvcc} is not executable, so no shell would find it", nvcc=nvcc))


def _versions(toolkit: Toolkit) -> tuple[Version, ...]:
    return tuple(fact.value for fact in (toolkit.version, toolkit.nvcc_version) if isinstance(fact, Known))


def _unusable(toolkit: Toolkit) -> Text | None:
    if isinstance(toolkit.origin, Known) and toolkit.origin.value in {Origin.CONDA, Origin.WHEEL}:
        return text("{root} belongs to a Python environment: activate that environment where you need it", root=toolkit.root)
    if toolkit.root in _SYSTEM_ROOTS:
        return text("the programs of {root} are on every PATH; take the lines of other toolkits out instead", root=toolkit.root)
    if isinstance(toolkit.nvcc, Known) and not toolkit.nvcc.value:
        return text("{root} holds no nvcc", root=toolkit.root)
    return None


ALL = "all"
_MOST_DIGITS = 9
_GPU_UUID = lazy_regex(r"GPU-[0-9a-fA-F-]+")
_MIG_ID = lazy_regex(r"MIG-(?:[0-9a-fA-F-]+|GPU-[0-9a-fA-F-]+/\d+/\d+)")


class Devices(Struct, frozen=True):
    """The GPUs that programs shall see, as CUDA_VISIBLE_DEVICES names them, none for all of them; `hidden` are names of the others,
    and `notes` say what could not be checked.
    """

    values: tuple[str, ...]
    hidden: tuple[str, ...] = ()
    notes: tuple[Text, ...] = ()

    @property
    def value(self) -> str:
        """What a program would find in CUDA_VISIBLE_DEVICES; empty where it should not be set by us."""
        return ",".join(self.values)


def choose_devices(gpus: Fact[tuple[Gpu, ...]], words: str) -> Devices:
    """The GPUs that the words mean; raises `WishError` for words that mean none, `RepairError` for a GPU that is not here."""
    if words.strip() == ALL:
        return Devices(())
    values = tuple(_value(word.strip(), words) for word in words.split(","))
    if len({value.isdigit() for value in values}) > 1:
        raise WishError(text("{words} mixes indices and UUIDs; CUDA takes the ones or the others", words=words))
    if isinstance(gpus, Unknown):
        _require_distinct(values, values, ())
        return Devices(values, notes=(text("not checked: this machine's GPUs are not known ({reason})", reason=gpus.reason),))
    if not gpus.value:
        raise RepairError(text("this machine has no NVIDIA GPU, so there is none to choose"))
    found = tuple(_number_of(value, gpus.value) for value in values)
    pairs = tuple(zip(values, found, strict=True))
    # Two instances of one GPU are two devices.
    meant = (value if number is None else (number, value if value.startswith("MIG-") else "") for value, number in pairs)
    _require_distinct(values, tuple(meant), gpus.value)
    hidden = tuple(_name(number, gpu) for number, gpu in enumerate(gpus.value) if number not in found)
    unsure = tuple(value for value, number in pairs if number is None)
    return Devices(values, () if unsure else hidden, _notes(values, unsure, gpus.value))


def names_of(gpus: tuple[Gpu, ...]) -> str:
    """This machine's GPUs for people, as they can be chosen."""
    return "; ".join(_name(number, gpu) for number, gpu in enumerate(gpus))


def _value(word: str, words: str) -> str:
    if word.isascii() and word.isdigit() and len(word) <= _MOST_DIGITS:
        return str(int(word))
    if _GPU_UUID.fullmatch(word) or _MIG_ID.fullmatch(word):
        return word
    raise WishError(text("{word} names no GPU; 0,2 or UUIDs (GPU-…, MIG-…) or all do", word=word or f"'{words}'"))


def _require_distinct(values: tuple[str, ...], meant: tuple[object, ...], gpus: tuple[Gpu, ...]) -> None:
    for number, value in enumerate(values):
        if meant[number] in meant[:number]:
            raise WishError(
                text("{value} names a GPU a second time. This machine has {gpus}", value=value, gpus=names_of(gpus) or "?")
            )


def _notes(values: tuple[str, ...], unsure: tuple[str, ...], gpus: tuple[Gpu, ...]) -> tuple[Text, ...]:
    notes: list[Text] = []
    if unsure:
        reasons = (fact.reason for gpu in gpus for fact in (gpu.uuid, gpu.mig_uuids) if isinstance(fact, Unknown))
        reason = next(reasons, text("not looked at"))
        notes.append(text("not checked: whether {values} is here ({reason})", values=listed(unsure), reason=reason))
    elif values[0].isdigit() and not all(isinstance(gpu.index, Known) for gpu in gpus):
        notes.append(text("NVML did not count the GPUs: their indices were taken from the order of the PCI bus"))
    if sum(value.startswith("MIG-") for value in values) > 1:
        notes.append(text("CUDA gives a program one MIG instance: the first of the list"))
    return tuple(notes)


def _number_of(value: str, gpus: tuple[Gpu, ...]) -> int | None:
    """The place of the GPU in the list, none where it cannot be known; raises `RepairError` where it is none of these."""
    if value.isdigit():
        places = [value_or(gpu.index, place) for place, gpu in enumerate(gpus)]
        found = [place for place, index in enumerate(places) if index == int(value)]
    else:
        # CUDA takes as much of a UUID as makes it clear which one is meant; an instance of before R470 is named after its GPU.
        asked = (value.removeprefix("MIG-").partition("/")[0] if value.startswith("MIG-GPU-") else value).lower()
        names = [value_or(_identities(gpu, value), ()) for gpu in gpus]
        found = [place for place, known in enumerate(names) if any(name.lower().startswith(asked) for name in known)]
    if len(found) > 1:
        raise RepairError(text("{value} fits several GPUs. This machine has {gpus}", value=value, gpus=names_of(gpus)))
    if not found and not value.isdigit() and any(isinstance(_identities(gpu, value), Unknown) for gpu in gpus):
        return None
    if not found:
        raise RepairError(text("{value} is no GPU of this machine. It has {gpus}", value=value, gpus=names_of(gpus)))
    return found[0]


def _identities(gpu: Gpu, value: str) -> Fact[tuple[str, ...]]:
    """What the GPU, or its instances, are called in the kind of names that `value` is one of."""
    if value.startswith("MIG-") and not value.startswith("MIG-GPU-"):
        return gpu.mig_uuids
    return Known((gpu.uuid.value,), gpu.uuid.source) if isinstance(gpu.uuid, Known) else gpu.uuid


def _name(number: int, gpu: Gpu) -> str:
    index = value_or(gpu.index, number)
    name = value_or(gpu.name, "") or value_or(gpu.pci_id, "")
    uuid = value_or(gpu.uuid, "")
    return f"{index}: {name} ({uuid})" if uuid else f"{index}: {name}"
