"""What the loader and programs say of CUDA's libraries: missing, of another version, or found in the wrong place."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.compiled_packages import package_of
from gpuassist.diagnose.signature import Meaning, Sign, Signature, SignatureInput, means, one_of, passages, sign
from gpuassist.diagnose.tool_releases import memory_was_free, torch_cuda, torch_version
from gpuassist.diagnose.torch_companions import other_wheel, wanted_wheel
from gpuassist.model.paste import Weight
from gpuassist.model.text import text

# The libraries of a toolkit and of the packages around it; the driver's own (libcuda, libnvidia-ml) are another matter.
_NAME = (
    r"lib(?:cudart|cublas|cublasLt|cudnn\w*|nvrtc[\w-]*|nvJitLink|cufftw?|curand|cusparse|cusparseLt|cusolver\w*|cupti|cufile\w*|nccl"
    r"|nvToolsExt|nvtx\w*|npp\w{1,6}|nvjpeg|nvinfer\w*|nvonnxparser|nvparsers|nvshmem\w*|cudss|cutensor\w*|nvvm|cutensornet)"
)
_LIBRARY = rf"(?P<library>{_NAME}(?:\.so)?(?:\.\d+){{0,3}}(?:\.so)?(?:\.\d+){{0,3}})"
_WINDOWS = r"(?P<library>(?:cudart|cublas|cublasLt|cudnn|nvrtc|cufft|curand|cusparse|cusolver)\w{0,30}\.dll)"
_NOT_OPENED = one_of("cannot open shared object file", "image not found", "no such file")


def _missing(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """TensorFlow says the same in words of its own, one line for each library."""
    before = setting.paste.words[max(0, match.start() - 200) : match.start()].rpartition("\n")[2].lower()
    if "could not load dynamic library" in before:
        return
    library = match["library"]
    # Where the text shows that the library lies.
    stem = re.escape(library.partition(".so")[0])
    found = passages(setting, (f"/{library.partition('.so')[0].lower()}",), rf"(?<![\w./-])(/[\w./+-]{{1,200}})/{stem}\.so")
    # Until CUDA 10.2 the release stands in the name; from 11 on the major alone does, which is no toolkit to install.
    release = re.search(r"\.so\.(\d{1,2}\.\d)$", library)
    yield sign(
        "missing-cuda-runtime-lib",
        Weight.CAUSE,
        library=library,
        cuda=release[1] if release and int(release[1].partition(".")[0]) < 11 else "",
        directory=next((match[1] for match in found), ""),
        **_of_tensorrt(library, setting),
    )


def _of_tensorrt(library: str, setting: SignatureInput) -> dict[str, str]:
    """TensorRT's libraries are no part of CUDA: the major in the name is TensorRT's own, and it has packages of its own."""
    found = re.match(r"lib(?:nvinfer\w*|nvonnxparser|nvparsers)\.so\.(\d{1,2})", library)
    if found is None:
        return {}
    cuda = torch_cuda(setting).partition(".")[0]
    package = "tensorrt" if int(found[1]) < _FIRST_BY_CUDA else f"tensorrt-cu{cuda or 12}"
    own = "torch-tensorrt" if setting.says("torch_tensorrt", "torch-tensorrt", "torchtrt") else ""
    requirement = f"{package}=={found[1]}.*" if int(found[1]) >= _FIRST_ON_PYPI else ""
    return {"tensorrt": found[1], "requirement": requirement, "own": own}


_FIRST_ON_PYPI = 8  # whose list begins with tensorrt 8.6.1
_FIRST_BY_CUDA = 10


def _missing_on_any(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    """The same under Windows, where the name has a number of its own kind."""
    named = (value for name, value in match.groupdict().items() if name in {"library", "dll"} and value)
    yield sign("missing-cuda-runtime-lib", library=next(named, ""))


def _symbol(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A library of CUDA that finds another one older than itself: the loader's path, or the environment's own set."""
    other = match["other"] or ""
    package = other_wheel(setting, f"{other}.so" if other else match["file"].rpartition("/")[2])
    if package is not None:
        yield sign("mixed-nvidia-pip-wheels", Weight.CAUSE, **package)
        yield sign("ld-library-path-shadows-bundled-libs", Weight.STATE)
        return
    yield sign("ld-library-path-shadows-bundled-libs", library=other, directory=_foreign(setting))
    yield sign("mixed-nvidia-pip-wheels", Weight.STATE)


def _nccl(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """torch that misses a function of NCCL met an older one."""
    other = other_wheel(setting, "libnccl")
    if other is not None:
        yield sign("mixed-nvidia-pip-wheels", Weight.CAUSE, **other)
        return
    package = wanted_wheel(setting, "nvidia-nccl")
    yield sign("ld-library-path-shadows-bundled-libs", library="libnccl", directory=_foreign(setting))
    yield sign("mixed-nvidia-pip-wheels", Weight.STATE, **package)


def _foreign(setting: SignatureInput, part: str = "") -> str:
    """The first directory of LD_LIBRARY_PATH as the text shows it, or the first that is named after the library; else where
    `ldd` says that another libnvJitLink lies.
    """
    if not part:
        linked = rf"{_NAME}\.so[.\d]* => (/(?!\S*site-packages)\S{{1,200}})/lib"
        for match in passages(setting, (" => /",), linked):
            return match[1]
    said = r"LD_LIBRARY_PATH(?:'\])?\s*(?:=|:)?\s*(?:f?['\"])?(/[^\s'\"{}]{1,600})"
    for match in passages(setting, ("ld_library_path",), said):
        places = [one.rstrip("/;,") for one in match[1].split(":") if one.startswith("/")]
        return next((one for one in places if part and part in one.lower()), places[0] if places and not part else "")
    return ""


def _cudnn(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    groups = match.groupdict()
    built, found = (_dotted(groups.get(name) or "") for name in ("built", "found"))
    yield sign("cudnn-version-mismatch", built=built, found=found, directory=_foreign(setting, "cudnn"))


def _cudnn_numbers(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """torch's sentence without its beginning: two numbers of cuDNN's kind."""
    if setting.says("cudnn", "pytorch", "torch") and min(len(match["built"]), len(match["found"])) >= _DIGITS:
        yield from _cudnn(match, setting)


def _handle(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """XLA says how much memory was free: enough of it leaves another cuDNN as the cause."""
    yield sign("cudnn-version-mismatch", Weight.CAUSE if memory_was_free(setting) else Weight.STATE)


def _unready(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """cuDNN does not say why it cannot start: another one than torch's own, no memory left, or a driver in a bad state."""
    short = setting.says("out of memory", "outofmemory") and not memory_was_free(setting)
    if short:
        yield sign("cublas-init-failed-oom", Weight.STATE, library="cudnn")
    yield sign("cudnn-version-mismatch", Weight.STATE, unsure="yes")
    if not short:
        yield sign("cublas-init-failed-oom", Weight.STATE, library="cudnn")
    if "INITIALI" in match[0].upper():
        yield sign("cuda-init-failed-driver-state", Weight.STATE)


def _dotted(words: str) -> str:
    """`8, 3, 2`, `8.5.0`, `8700` and `90100` are versions; the last two are numbers of cuDNN's own kind."""
    if words.isdigit() and len(words) >= 4:
        number = int(words)
        step = 10000 if number >= 90000 else 1000
        return f"{number // step}.{number % step // 100}.{number % 100}"
    return ".".join(part.strip() for part in words.strip("() .").replace(",", ".").split("."))


def _glibcxx(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A wheel of flash-attn that was made on a newer system is the wrong wheel; of anything else the system is too old."""
    if package_of(match["file"] or "") == "flash-attn":
        yield sign("flash-attn-abi-mismatch", torch=torch_version(setting))
        return
    cause = text(
        "the C++ or C library that is loaded ({missing} is missing) is older than the program needs", missing=match["symbol"]
    )
    yield sign("not-a-gpu-problem", cause=cause)


_DIGITS = 4  # of a number such as 7605, which is 7.6.5
_OLDER = r"\d{1,6}(?:[., ]{1,2}\d{1,6}){0,3}"

BY_STATE: dict[str, Meaning] = {"cudnn-other-version": _cudnn, "cudnn-failed": _unready, "cudnn-not-started": _unready}

SIGNATURES = (
    Signature(
        (": cannot open shared object file", "image not found"),
        rf"(?<![\w-]){_LIBRARY}['\"]?:? {_NOT_OPENED}",
        _missing,
        window=160,
    ),
    Signature(  # the loader in a language that nobody wrote down: two clauses, and letters that English does not have
        ("importerror: lib", "oserror: lib"),
        rf"(?:ImportError|OSError): {_LIBRARY}[:：] (?=[^\n]{{0,160}}[^\x00-\x7f])[^\n:：]{{3,90}}[:：] ?[^\n:：]{{3,90}}(?m:$)",
        _missing,
        window=260,
    ),
    Signature(
        ("=> not found",),
        rf"(?<![\w-]){_LIBRARY} => not found",
        means("missing-cuda-runtime-lib", Weight.STATE),  # what ldd says: the program itself may add a directory when it starts
        window=160,
    ),
    Signature(
        ("could not load", "unable to load", "failed to load", "failed to open", "failed to dlopen", "could not find lib"),
        rf"(?:Could not load library|Unable to load(?: library| any of)?|Failed to (?:load|open|dlopen)|Could not find)"
        rf"[ :]{{1,3}}[{{'\"`]?(?<![\w-])(?:[\w./-]{{0,120}}/)?{_LIBRARY}(?!\w)",
        _missing,
        window=200,
    ),
    Signature(
        ("is not found or cannot be loaded",),
        rf"Library (?:{_LIBRARY}|{_WINDOWS.replace('library', 'dll')}) is not found or cannot be loaded",
        _missing_on_any,
        window=160,
    ),
    Signature(
        ("cannot load cu", "cannot load nccl", "cannot load nvrtc"),
        r"Cannot load (?P<library>cudnn|cublas|cusolver|cusparse|curand|cufft|nccl|nvrtc) shared library",
        means("missing-cuda-runtime-lib"),
        window=160,
    ),
    Signature(
        (".dll",),
        one_of(
            rf"(?:Could not (?:locate|load(?: dynamic)? library|find)|Unable to find) ['\"]?{_WINDOWS}",
            rf"{_WINDOWS.replace('library', 'dll')} (?:not found|is missing|was not found)",
        ),
        _missing_on_any,
        window=160,
    ),
    Signature(
        (
            "unable to load cudnn",
            "unable to load cu",
            "library was not found",
            "libnvvm cannot be found",
            "cuda path could not be",
        ),
        one_of(
            r"Unable to load cu(?:DNN|SPARSE|BLAS|SOLVER|FFT|PTI)\b",
            r"cu(?:SPARSE|BLAS|SOLVER|FFT|DNN|PTI) library was not found",
            r"libNVVM cannot be found",
            r"CUDA path could not be detected\. Set CUDA_PATH environment variable if CuPy fails to load",
        ),
        means("missing-cuda-runtime-lib"),
    ),
    Signature(
        ("undefined symbol", "undefined reference", "not defined in file"),
        rf"(?<![^\s:'\"(])(?P<file>[^\s:'\"(]{{0,260}}/?{_NAME}\.so[.\d]*): (?:undefined symbol:|symbol) (?P<symbol>\w+)"
        rf"(?:,? version (?P<other>{_NAME})\.so)?",
        _symbol,
        window=400,
    ),
    Signature(
        ("but you have nvidia",),
        r"\btorch (?P<torch>\d[\w.]{2,20})(?:\+\w{1,12})? (?:requires|has requirement) "
        r"(?P<package>nvidia-[a-z0-9-]{2,40})==(?P<wanted>\d[\d.]{1,20}\d)"
        r"[^\n]{0,200}?, but you have (?P=package) (?P<installed>\d[\d.]{1,20}\d)",
        means("mixed-nvidia-pip-wheels"),
        window=500,
    ),
    Signature(
        ("undefined symbol: nccl", "undefined symbol: cudnn", "undefined symbol: cublas", "undefined symbol: cusparse"),
        r"lib(?:torch|c10|torch_cuda|torch_python)[\w]*\.so: undefined symbol: nccl\w+",
        _nccl,
    ),
    Signature(
        ("undefined symbol: cu", "undefined symbol: nv"),
        r"(?:libtorch\w*|/torch/_C[\w.-]{0,60})\.so: undefined symbol: "
        r"(?P<symbol>(?:cudnn|cublas|cusparse|cusolver|nvtx)\w+)(?P<other>)(?P<file>)",
        _symbol,
    ),
    Signature(
        ("cudnn version incompatibility",),
        r"cuDNN version incompatibility: PyTorch was compiled\s+against \((?P<built>\d[\d, ]{0,16})\) but "
        r"(?:linked against|found runtime version) \((?P<found>\d[\d, ]{0,16})\)",
        _cudnn,
    ),
    Signature(
        ("but linked against",),
        rf"compiled against \(?(?P<built>{_OLDER})\)? but linked against \(?(?P<found>{_OLDER})",
        _cudnn_numbers,
    ),
    Signature(
        ("loaded runtime cudnn library",),
        rf"Loaded runtime CuDNN library: (?P<found>{_OLDER})(?: \(compatibility version \d{{4,6}}\))?,? but"
        rf" source was compiled with:? (?P<built>{_OLDER})",
        _cudnn,
    ),
    Signature(
        ("found cudnn version",),
        rf"Found cuDNN version (?P<found>{_OLDER}), but JAX was built against version (?P<built>{_OLDER})",
        _cudnn,
    ),
    Signature(
        ("was linked against cudnn", "linked against cudnn"),
        rf"linked against cuDNN (?P<built>{_OLDER}) but loaded cuDNN (?P<found>{_OLDER})",
        _cudnn,
    ),
    Signature(
        ("outdated cudnn installation found",),
        rf"Outdated cuDNN installation found\.\s+Version JAX was built against: (?P<built>{_OLDER})\s+"
        rf"Minimum supported: [\d.]+\s+Installed version: (?P<found>{_OLDER})",
        _cudnn,
    ),
    Signature(
        ("could not create cudnn handle",),
        r"Could not create cudnn handle: CUDNN_STATUS_(?:INTERNAL_ERROR|NOT_INITIALIZED)",
        _handle,
    ),
    Signature(
        (
            "could not create cudnn handle",
            "cudnn failed to initialize",
            "unable to find an engine",
        ),
        r"Could not create cudnn handle|cuDNN failed to initialize|(?:GET|FIND) was unable to find an engine",
        _unready,
    ),
    Signature(
        ("libc10.so", "libc10_cuda.so", "libtorch_cuda", "libtorch_cpu.so", "libtorch.so", "libtorch_python.so"),
        r"(?:libc10|libc10_cuda|libtorch\w{0,20})\.so: cannot open shared object file",
        means("extension-build-mismatch"),
    ),
    Signature(
        ("glibcxx_", "glibc_2.", "cxxabi_1."),
        r"version [`'‘](?P<symbol>(?:GLIBCXX|GLIBC|CXXABI)_\d[\d.]{1,10})['’] not found(?: \(required by (?P<file>[^)\n]{1,300}))?",
        _glibcxx,
        window=400,
    ),
)
