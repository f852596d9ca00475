"""Which file each CUDA library was loaded from in this process, and all that is needed to tell why that one.

The loader's own list (link_map, <link.h>) is read, not the files: a name there is the directory in which the loader found the
file, as it was spelled in RPATH, LD_LIBRARY_PATH or the cache, with the file's name behind it. What an object asks of the loader
stands in its dynamic section (elf(5)), which is read through /proc/self/mem, where a wrong address is an error and not a crash.
The reasons are drawn from that outside of this process (`verify/provenance.py`), so that a container needs to send no files.
"""

from __future__ import annotations

import ctypes
import os
import re
import struct
import traceback
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

from .packages import names, package_of, pinned_by_torch, text_of

# auditwheel puts eight digits of a checksum into the names of what it copies into a wheel.
_CUDA = re.compile(
    r"(lib(?:cudart|cublas\w*|cudnn\w*|nccl|nvrtc(?:-builtins)?|nvJitLink|cufft\w*|cusolver\w*|cusparse\w*|curand|cupti|cufile|"
    r"nvshmem_host|nvToolsExt|nvvm|cuda|nvidia-\w[\w-]*|torch_cuda\w*|c10_cuda|nvinfer\w*|nvonnxparser|torchtrt\w*|triton))"
    r"(?:-[0-9a-f]{8})?\.so(?:\.([\d.]+))?"
)
_VARIABLES = ("LD_LIBRARY_PATH", "LD_PRELOAD", "PYTHONPATH")
_NEEDED, _STRINGS, _SONAME, _RPATH, _RUNPATH = 1, 5, 14, 15, 29
_ENTRY = struct.Struct("@lL")
_ENTRIES_AT_MOST, _OBJECTS_AT_MOST, _STRING_AT_MOST = 1000, 5000, 4096
_CACHE, _MAGIC = "/etc/ld.so.cache", b"glibc-ld.so.cache1.1"
_NAME_ALONE = re.compile(r"[A-Za-z0-9._-]+")


class LinkedObject(NamedTuple):
    """An object of this process: the loader's name for it, the file that this is, and what its dynamic section says."""

    name: str
    path: str
    soname: str = ""
    needed: Tuple[str, ...] = ()
    rpath: str = ""
    runpath: str = ""


def report(torch: Any) -> Dict[str, Any]:
    """Everything that tells which CUDA libraries this process has, and why those; call it once the checks have run."""
    objects = loaded_objects()
    chosen = of_interest(objects)
    sites: Dict[str, Dict[str, str]] = {}
    present = {library_name(one.path) for one in chosen}
    variables = _variables()
    in_cache = cached(frozenset(one.soname for one in chosen if one.soname))
    return {
        "torch": os.path.dirname(os.path.abspath(getattr(torch, "__file__", "") or "")),
        "preloads": callable(getattr(torch, "_preload_cuda_deps", None)),
        "variables": [{"name": name, "value": value} for name, value in variables.items()],
        "system_preload": text_of("/etc/ld.so.preload").split(),
        "objects": [_described(one, sites) for one in chosen],
        "cached": [{"name": name, "paths": paths} for name, paths in in_cache.items()],
        "built_in": _built_in(torch, present, objects),
        "wanted": [{"name": name, "version": version} for name, version in pinned_by_torch().items()],
        "awaited": list(awaited(objects, variables.get("LD_LIBRARY_PATH", ""))),
    }


def library_name(path: str) -> str:
    """`libcudnn_ops` of a CUDA library, empty of every other file."""
    found = _CUDA.fullmatch(os.path.basename(path))
    return found.group(1) if found else ""


def of_interest(objects: List[LinkedObject]) -> List[LinkedObject]:
    """The program itself, CUDA's libraries, and what needs one of them, itself or through others: it decides where one is found."""
    chosen = {number for number, one in enumerate(objects) if library_name(one.path) or library_name(one.soname)}
    while True:
        # What auditwheel renamed is asked for by its file's name.
        wanted = {name for number in chosen for name in (objects[number].soname, os.path.basename(objects[number].name))}
        more = {number for number, one in enumerate(objects) if wanted.intersection(one.needed)} - chosen
        if not more:
            return [one for number, one in enumerate(objects) if number in chosen or not number]
        chosen |= more


def loaded_objects() -> List[LinkedObject]:
    """All objects in the order in which they were loaded; the program comes first. Empty where this C library has no such list."""
    try:
        with open("/proc/self/mem", "rb", 0) as memory:
            return [_object(memory.fileno(), *row) for row in _link_map()]
    except (OSError, AttributeError, ctypes.ArgumentError):
        return _mapped()


class _LinkMap(ctypes.Structure):
    pass


_LinkMap._fields_ = [
    ("base", ctypes.c_void_p),
    ("name", ctypes.c_char_p),
    ("dynamic", ctypes.c_void_p),
    ("next", ctypes.POINTER(_LinkMap)),
    ("previous", ctypes.POINTER(_LinkMap)),
]
_LINK_MAP_OF = 2  # RTLD_DI_LINKMAP (dlinfo(3))


def _link_map() -> Iterator[Tuple[int, str, int]]:
    program, first = ctypes.CDLL(None), ctypes.POINTER(_LinkMap)()
    if program.dlinfo(ctypes.c_void_p(program._handle), _LINK_MAP_OF, ctypes.byref(first)):
        raise OSError("dlinfo")
    for _ in range(_OBJECTS_AT_MOST):
        if not ctypes.cast(first, ctypes.c_void_p).value:
            return
        one = first.contents
        yield one.base or 0, os.fsdecode(one.name or b""), one.dynamic or 0
        first = one.next


def _object(memory: int, base: int, name: str, dynamic: int) -> LinkedObject:
    path = os.path.realpath(name or "/proc/self/exe")
    values: Dict[int, List[int]] = {}
    try:
        for number in range(_ENTRIES_AT_MOST):
            tag, value = _ENTRY.unpack(os.pread(memory, _ENTRY.size, dynamic + number * _ENTRY.size))
            if not tag:
                break
            values.setdefault(tag, []).append(value)
    except (OSError, OverflowError, struct.error):
        return LinkedObject(name or path, path)
    # Most loaders turn this entry into an address; where the section is read-only it stays an offset.
    strings = values.get(_STRINGS, [0])[0]
    strings += base if strings < base else 0

    def held(tag: int) -> Tuple[str, ...]:
        return tuple(_string(memory, strings + place) for place in values.get(tag, ()))

    rpath, runpath = "".join(held(_RPATH)[:1]), "".join(held(_RUNPATH)[:1])
    return LinkedObject(name or path, path, "".join(held(_SONAME)[:1]), held(_NEEDED), rpath, runpath)


def _string(memory: int, place: int) -> str:
    try:
        return os.fsdecode(os.pread(memory, _STRING_AT_MOST, place).partition(b"\0")[0])
    except (OSError, OverflowError):
        return ""


def _mapped() -> List[LinkedObject]:
    """From /proc/self/maps, where nothing else can be read: files alone, and so no reasons."""
    paths = [line.rstrip("\n").split(None, 5)[5] for line in text_of("/proc/self/maps").splitlines() if ".so" in line]
    return [LinkedObject(path, path, os.path.basename(path)) for path in dict.fromkeys(one for one in paths if one[:1] == "/")]


def _variables() -> Dict[str, str]:
    """As they were when the process started: what the loader saw, whatever the program set since."""
    try:
        with open("/proc/self/environ", "rb") as file:
            rows = [os.fsdecode(row).partition("=") for row in file.read().split(b"\0")]
        first = {name: value for name, _, value in rows}
    except OSError:
        first = dict(os.environ)
    return {name: first[name] for name in _VARIABLES if first.get(name)}


def cached(sonames: "frozenset[str]", place: str = _CACHE) -> Dict[str, List[str]]:
    """The files that the loader's cache has for these names, in its order (glibc, dl-cache.h)."""
    try:
        with open(place, "rb") as file:
            content = file.read(1 << 24)
    except OSError:
        return {}
    start, found = content.find(_MAGIC), {}  # type: Tuple[int, Dict[str, List[str]]]
    if start < 0 or len(content) < start + 48:
        return {}
    (count,) = struct.unpack_from("<I", content, start + len(_MAGIC))
    for number in range(min(count, (len(content) - start - 48) // 24)):
        _, name, path = struct.unpack_from("<iII", content, start + 48 + number * 24)
        soname = _of_cache(content, start + name)
        if soname in sonames:
            found.setdefault(soname, []).append(_of_cache(content, start + path))
    return found


def _of_cache(content: bytes, place: int) -> str:
    end = content.find(b"\0", place)
    return os.fsdecode(content[place : end if end >= 0 else None])


# What a library says of itself, and which package it came with.


def _number(function: Callable[..., int], kind: Any = ctypes.c_int) -> int:
    value = kind()
    return int(value.value) if not function(ctypes.byref(value)) else 0


def _property(library: Any, name: str) -> str:
    # libraryPropertyType: MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL are 0, 1, 2 (library_types.h)
    function, parts = getattr(library, name), []
    for which in range(3):
        value = ctypes.c_int()
        if function(which, ctypes.byref(value)):
            return ""
        parts.append(str(value.value))
    return ".".join(parts)


def _pair(function: Callable[..., int]) -> str:
    major, minor = ctypes.c_int(), ctypes.c_int()
    return "" if function(ctypes.byref(major), ctypes.byref(minor)) else "{}.{}".format(major.value, minor.value)


def _cudnn(library: Any) -> str:
    library.cudnnGetVersion.restype = ctypes.c_size_t
    number = int(library.cudnnGetVersion())
    # 8.9.2 is 8902, 9.1.0 is 90100 (cudnn_version.h)
    return dotted(number, 10000 if number >= 90000 else 1000)


def _nccl(library: Any) -> str:
    number = _number(library.ncclGetVersion)
    # 2.8.4 is 2804, 2.21.5 is 22105 (nccl.h)
    return dotted(number, 1000 if number < 10000 else 10000)


def dotted(number: int, major: int) -> str:
    """Three parts, of which the last two have as many digits as `major` leaves them; empty of nothing."""
    return "{}.{}.{}".format(number // major, number % major // 100, number % 100) if number > 0 else ""


def _toolkit(number: int) -> str:
    # cuda_runtime_api.h and cuda.h: CUDA 12.4 is 12040
    return "{}.{}".format(number // 1000, number % 1000 // 10) if number > 0 else ""


_ASK: Dict[str, Callable[[Any], str]] = {
    "libcudart": lambda library: _toolkit(_number(library.cudaRuntimeGetVersion)),
    "libcudnn": _cudnn,
    "libnccl": _nccl,
    "libnvrtc": lambda library: _pair(library.nvrtcVersion),
    "libnvJitLink": lambda library: _pair(library.nvJitLinkVersion),
    "libcublas": lambda library: _property(library, "cublasGetProperty"),
    "libcublasLt": lambda library: _property(library, "cublasLtGetProperty"),
    "libcufft": lambda library: _property(library, "cufftGetProperty"),
    "libcurand": lambda library: _property(library, "curandGetProperty"),
    "libcusolver": lambda library: _property(library, "cusolverGetProperty"),
    "libcusparse": lambda library: _property(library, "cusparseGetProperty"),
    "libcusparseLt": lambda library: _property(library, "cusparseLtGetProperty"),
}


def _described(one: LinkedObject, sites: Dict[str, Dict[str, str]]) -> Dict[str, Any]:
    name = library_name(one.path) or library_name(one.soname)
    package = package_of(one.path, sites) if name else ""
    told = dict(one._asdict(), library=name, package=package, version=_version(name, one, package) if name else "")
    return dict(told, serves=_served(one) if name == "libcuda" else "")


def _version(name: str, one: LinkedObject, package: str) -> str:
    """By its own function, else by the file's name where that has more than the major release, else that of its package.

    `libcudnn` is a shell since cuDNN 8: its function answers for the parts that it opened, which may be another release's.
    """
    words = _CUDA.fullmatch(os.path.basename(one.path))
    in_name = words.group(2) or "" if words else ""
    own = in_name if "." in in_name else package.partition(" ")[2]
    if name in _ASK and not (name == "libcudnn" and own):
        try:
            # Only what is loaded already: no file is opened, and no constructor runs.
            return _ASK[name](ctypes.CDLL(one.name, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)) or own
        except (OSError, AttributeError):
            pass
    return own


def _served(one: LinkedObject) -> str:
    """The CUDA that a driver's library serves; a stub answers with an error, and so with nothing."""
    try:
        return _toolkit(_number(ctypes.CDLL(one.name, mode=os.RTLD_NOLOAD | os.RTLD_LAZY).cuDriverGetVersion))
    except (OSError, AttributeError):
        return ""


def _built_in(torch: Any, present: "set[str]", objects: List[LinkedObject]) -> List[Dict[str, str]]:
    """The libraries that are linked into torch's own file, so that no file of theirs can be another: name, path, version."""
    holder = next((one.path for one in objects if library_name(one.path).startswith("libtorch_cuda")), "")
    if not holder:
        return []
    asked: Dict[str, Callable[[], str]] = {
        "libcudnn": lambda: _cudnn_of(torch.backends.cudnn.version()),
        "libnccl": lambda: ".".join(str(part) for part in torch.cuda.nccl.version()),
    }
    found = []
    for name, ask in asked.items():
        if name not in present:
            try:
                version = ask()
            except (AttributeError, RuntimeError, TypeError):
                version = ""
            if version:
                found.append({"library": name, "path": holder, "version": version})
    return found


def _cudnn_of(number: Optional[int]) -> str:
    return dotted(number or 0, 10000 if (number or 0) >= 90000 else 1000)


def awaited(objects: List[LinkedObject], library_path: str) -> Iterator[str]:
    """The parts that cuDNN opens at its first use, where LD_LIBRARY_PATH has them: it is searched before the RUNPATH of cuDNN."""
    cudnn = next((one for one in objects if library_name(one.path) == "libcudnn" and one.runpath), None)
    if cudnn is None:
        return
    loaded, end = {os.path.basename(one.path) for one in objects}, cudnn.soname.partition(".so")[2]
    for part in sorted(names(os.path.dirname(cudnn.path))):
        if part.startswith("libcudnn_") and part.endswith(".so" + end) and part not in loaded:
            places = (os.path.join(element, part) for element in library_path.split(":") if element)
            found = next((place for place in places if os.path.isfile(place)), "")
            if found:
                yield os.path.realpath(found)


# The same of a process that only imported torch, for comparing.


def touch(torch: Any) -> None:
    """One tiny product and one tiny convolution on a GPU that is there, so that what loads at first use is loaded."""
    if torch.cuda.is_available():
        some = torch.ones(1, 1, 8, 8, device="cuda")
        (some @ some).sum().item()
        torch.nn.functional.conv2d(some, some[..., :3, :3]).sum().item()


def serve(say: Callable[[Dict[str, Any]], object]) -> int:
    """Imports torch and touches a GPU; a report after either, or `{"error": …}` where there is no torch; the exit status.

    The last report counts. The first is for a library that ends the process at its first use: a cuDNN whose parts do not fit does.
    """
    try:
        import torch
    except (ImportError, OSError) as error:
        say({"type": "libraries", "error": "{}: {}".format(type(error).__name__, error)})
        return 1
    say(dict(report(torch), type="libraries"))
    try:
        touch(torch)
    except RuntimeError:  # a GPU that fails is what the checks are about
        traceback.print_exc()
    say(dict(report(torch), type="libraries"))
    return 0
