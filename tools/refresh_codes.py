"""Brings resources/knowledge/codes.json up to date with the return codes that NVIDIA's own headers and libraries name.

Run from the project's root with what names them: wheels of NVIDIA's packages (`pip download --no-deps nvidia-cuda-runtime
nvidia-cuda-cupti nvidia-cudnn-cu12 ...`), headers (`optix_types.h`, `NvInferRuntimeBase.h`, `ctrl_dev_nvswitch.h` of NVIDIA's open
sources) and the driver's libraries (`libcuda.so.1`, `libnvidia-ml.so.1`):
`python tools/refresh_codes.py --checked 2026-11-23 downloaded/*`. Numbers and names are read in the headers; the sentence of each
is what the library itself answers, for which it needs no GPU. A header that lies in an older wheel (`--older`), and a wheel of
torch with the runtime of CUDA 10.0 or older, tell the numbers of before. What a code means to a user (`state`) is a person's to
say: a row keeps it, a new row has none. Prints each difference; with `--check` nothing is written, and a difference is exit
status 1.
"""

from __future__ import annotations

import argparse
import ctypes
import re
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from tools.tables import Row, options_of, read_table, write_table

TABLE = Path("resources/knowledge/codes.json")
_VALUE = re.compile(r"^\s*(?P<name>\w+)(?:\s+[A-Z_]+)?\s*(?:=\s*(?P<value>-?0x[0-9a-fA-F]+|-?\d+|\w+))?\s*$")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|^[ \t]*#[^\n]*", re.DOTALL | re.MULTILINE)
_NO_CODE = re.compile(r"_LAST$|NumResults$|_FORCE_INT$|^CUPTI_ERROR_RESERVED|_FORCEINT$|ApiFailureBase$|_COUNT$|FORCE_UINT$")
_UNKNOWN = ("unrecognized error code", "unknown error code")
_MOST = 10_000  # the numbers that an old runtime is asked for
_UNKNOWN_ERROR = 999  # of every enum that has an unknown error


class Header(NamedTuple):
    """Where an enum stands: the file, its name as one says it, and its beginning or end in the file."""

    enum: str
    file: str
    shape: str


class Library(NamedTuple):
    """Where sentences come from: the functions of a library that answer with the sentence, and with the name."""

    enum: str
    file: str
    sentence: str
    out: bool = False
    """Whether the sentence comes in a pointer that is handed over."""


_TYPEDEF = r"typedef\s+enum\s*\w*\s*\{{(?P<body>[^}}]*)\}}\s*{name}\s*;"
HEADERS = (
    Header("cudaError_t", "driver_types.h", r"enum\s+(?:__\w+\s+|\w+\s+)?cudaError\s*\{(?P<body>[^}]*)\}"),
    Header("CUresult", "cuda.h", _TYPEDEF.format(name="CUresult")),
    Header("nvmlReturn_t", "nvml.h", _TYPEDEF.format(name="nvmlReturn_t")),
    Header("CUptiResult", "cupti_result.h", _TYPEDEF.format(name="CUptiResult")),
    Header("cudnnStatus_t", "cudnn_graph.h", _TYPEDEF.format(name="cudnnStatus_t")),
    Header("cudnnStatus_t", "cudnn_ops_infer.h", _TYPEDEF.format(name="cudnnStatus_t")),
    Header("cublasStatus_t", "cublas_api.h", _TYPEDEF.format(name="cublasStatus_t")),
    Header("cufftResult", "cufft.h", _TYPEDEF.format(name="cufftResult")),
    Header("cusolverStatus_t", "cusolver_common.h", _TYPEDEF.format(name="cusolverStatus_t")),
    Header("curandStatus_t", "curand.h", r"enum\s+curandStatus\s*\{(?P<body>[^}]*)\}"),
    Header("cusparseStatus_t", "cusparse.h", _TYPEDEF.format(name="cusparseStatus_t")),
    Header("ncclResult_t", "nccl.h", _TYPEDEF.format(name="ncclResult_t")),
    Header("nvrtcResult", "nvrtc.h", _TYPEDEF.format(name="nvrtcResult")),
    Header("nvJitLinkResult", "nvJitLink.h", _TYPEDEF.format(name="nvJitLinkResult")),
    Header("NppStatus", "nppdefs.h", _TYPEDEF.format(name="NppStatus")),
    Header("OptixResult", "optix_types.h", _TYPEDEF.format(name="OptixResult")),
    Header("TensorRT ErrorCode", "NvInferRuntimeBase.h", r"enum class ErrorCode : int32_t\s*\{(?P<body>[^}]*)\}"),
    Header("SXid", "ctrl_dev_nvswitch.h", _TYPEDEF.format(name="NVSWITCH_ERR_TYPE")),
)
LIBRARIES = (
    Library("cudaError_t", "libcudart.so", "cudaGetErrorString"),
    Library("CUresult", "libcuda.so", "cuGetErrorString", out=True),
    Library("nvmlReturn_t", "libnvidia-ml.so", "nvmlErrorString"),
    Library("CUptiResult", "libcupti.so", "cuptiGetErrorMessage", out=True),
    Library("cudnnStatus_t", "libcudnn.so", "cudnnGetErrorString"),
    Library("cublasStatus_t", "libcublas.so", "cublasGetStatusString"),
    Library("cusparseStatus_t", "libcusparse.so", "cusparseGetErrorString"),
    Library("ncclResult_t", "libnccl.so", "ncclGetErrorString"),
    Library("nvrtcResult", "libnvrtc.so", "nvrtcGetErrorString"),
)
# What a library needs beside itself to be loaded; none of them is started.
_NEEDED = ("libnvJitLink.so", "libcublasLt.so", "libnvrtc-builtins.so", "libcudnn_graph.so")


def main() -> int:
    """Compares the table with what the files name, and writes it unless it shall only be checked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", help="wheels, headers and libraries of the newest release")
    parser.add_argument("--older", nargs="*", default=[], help="wheels of older releases, whose numbers differ")
    options = options_of(parser)
    header, rows = read_table(TABLE)
    with tempfile.TemporaryDirectory() as place:
        newest = [_unpacked(Path(file), Path(place) / str(number)) for number, file in enumerate(options.files)]
        before = [_unpacked(Path(file), Path(place) / f"older-{number}") for number, file in enumerate(options.older)]
        found = _found(newest, before)
    differ = _bring_up_to_date(rows, found, options.checked)
    if options.check:
        return int(differ)
    order = list(dict.fromkeys(one.enum for one in HEADERS))
    rows.sort(key=lambda row: (order.index(row["enum"]), "until" in row, row["number"], row["name"]))
    write_table(TABLE, header, rows)
    return 0


class Unpacked(NamedTuple):
    """What a file holds of headers and libraries, and the release that it is."""

    release: str
    files: tuple[Path, ...]


def _unpacked(file: Path, place: Path) -> Unpacked:
    """The headers and libraries of a wheel, or the file itself."""
    if file.suffix != ".whl":
        return Unpacked("", (file,))
    place.mkdir()
    wanted = {one.file for one in HEADERS}
    libraries = tuple(one.file.partition(".so")[0] for one in LIBRARIES) + tuple(one.partition(".so")[0] for one in _NEEDED)
    written = []
    with zipfile.ZipFile(file) as archive:
        for name in map(PurePosixPath, archive.namelist()):
            if name.name in wanted or re.match(rf"(?:{'|'.join(libraries)})(?:-[0-9a-f]{{8}})?\.so\.[\d.]+$", name.name):
                (place / name.name).write_bytes(archive.read(str(name)))
                written.append(place / name.name)
    return Unpacked(".".join(file.name.split("-")[1].split(".")[:2]), tuple(written))


def _found(newest: list[Unpacked], older: list[Unpacked]) -> dict[tuple[str, int, str], Row]:
    """Each code by enum, number and name: those of today, then what older releases numbered otherwise."""
    files = [file for one in newest for file in one.files]
    for needed in _NEEDED:
        for file in files:
            if file.name.startswith(needed.partition(".so")[0] + ".so"):
                ctypes.CDLL(str(file), mode=ctypes.RTLD_GLOBAL)
    found: dict[tuple[str, int, str], Row] = {}
    for enum, name, number in _declared(files):
        found[enum, number, name] = {"enum": enum, "number": number, "name": name}
    for library in LIBRARIES:
        say = _speaker(library, files)
        for row in found.values():
            words = say(row["number"]) if say and row["enum"] == library.enum else ""
            if words and not words.isupper():  # many answer with the name
                row["words"] = words
    now = {(enum, number) for enum, number, _ in found}
    for one in older:
        for row in _of_before(one):
            if (row["enum"], row["number"]) not in now or (row["enum"], row["number"], row["name"]) not in found:
                found.setdefault((row["enum"], row["number"], row["name"]), row)
    return found


def _declared(files: Iterable[Path]) -> Iterator[tuple[str, str, int]]:
    for file in files:
        for header in (one for one in HEADERS if one.file == file.name):
            # A brace within a comment would end the body.
            body = re.search(header.shape, _COMMENT.sub("", file.read_text("utf-8", "replace")))
            if body is None:
                raise SystemExit(f"{file}: no {header.enum}")
            for name, number in _values(body["body"]):
                if not _NO_CODE.search(name):
                    yield header.enum, name, number


def _values(body: str) -> Iterator[tuple[str, int]]:
    """The names of an enum with their numbers: given, another's, or one more than the last."""
    known: dict[str, int] = {}
    number = -1
    for entry in body.split(","):
        match = _VALUE.match(entry)
        if match is None:
            continue
        given = match["value"]
        number = number + 1 if given is None else known[given] if given in known else int(given, 0)
        known[match["name"]] = number
        yield match["name"], number


def _of_before(one: Unpacked) -> Iterator[Row]:
    """The codes of an older release: by its headers, or by what its runtime calls each number."""
    runtimes = [file for file in one.files if file.name.startswith("libcudart")]
    if not runtimes:
        for enum, name, number in _declared(one.files):
            yield {"enum": enum, "number": number, "name": name, "until": one.release}
    for file in runtimes:  # of torch, whose headers are copies
        library = ctypes.CDLL(str(file))
        name_of, say = (_asked(getattr(library, function)) for function in ("cudaGetErrorName", "cudaGetErrorString"))
        for number in range(_MOST):
            if name_of(number) not in {"", *_UNKNOWN}:
                release = file.name.partition(".so.")[2].partition(".176")[0]
                yield {"enum": "cudaError_t", "number": number, "name": name_of(number), "words": say(number), "until": release}


def _speaker(library: Library, files: list[Path]) -> Callable[[int], str] | None:
    """What the library answers for a number; None where it is not among the files."""
    file = next((one for one in files if re.match(rf"{re.escape(library.file)}\.[\d.]+$", one.name)), None)
    if file is None:
        return None
    function = getattr(ctypes.CDLL(str(file)), library.sentence)
    say = _handed(function) if library.out else _asked(function)
    beyond = say(_MOST * _MOST)  # what it says of a number that it does not know
    return lambda number: "" if say(number) == beyond and number < _UNKNOWN_ERROR else say(number)


def _asked(function: Callable[..., bytes | None]) -> Callable[[int], str]:
    function.restype = ctypes.c_char_p  # type: ignore[attr-defined]
    return lambda number: _sentence(function(number))


def _handed(function: Callable[..., int]) -> Callable[[int], str]:
    def say(number: int) -> str:
        words = ctypes.c_char_p()
        return "" if function(number, ctypes.byref(words)) else _sentence(words.value)

    return say


def _sentence(said: bytes | None) -> str:
    words = " ".join((said or b"").decode("utf-8", "replace").split())
    return "" if words.lower() in _UNKNOWN or words.lower().startswith("unknown error code") else words


def _bring_up_to_date(rows: list[Row], found: dict[tuple[str, int, str], Row], checked: str) -> bool:
    """What was found, put into the rows; whether something differs."""
    by_key = {(row["enum"], row["number"], row["name"]): row for row in rows}
    differ = False
    for key, new in found.items():
        row = by_key.get(key)
        changes = [
            f"{field} {(row or {}).get(field, '')!r} -> {new[field]!r}" for field in new if (row or {}).get(field) != new[field]
        ]
        if row is None:
            rows.append({**new, "state": "", "source": _SOURCES.get(new["enum"], "wheels")})
        elif changes:
            row.update(new)
        if changes:
            rows_of = row if row is not None else rows[-1]
            rows_of["checked"] = checked
            print(
                f"{new['enum']} {new['number']} {new['name']}: {'; '.join(changes) if row else 'new: what it means needs a person'}"
            )
        differ |= bool(changes)
    enums = {enum for enum, _, _ in found}
    for enum, number, name in sorted(by_key.keys() - found.keys()):
        if enum in enums:
            print(f"{enum} {number} {name}: not named any more")
    return differ


_SOURCES = {
    "OptixResult": "optix",
    "TensorRT ErrorCode": "tensorrt",
    "SXid": "nvswitch",
    "CUresult": "driver",
    "nvmlReturn_t": "nvml",
}


if __name__ == "__main__":
    raise SystemExit(main())
