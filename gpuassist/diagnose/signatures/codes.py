"""The return codes of NVIDIA's libraries as programs print them: a name in any spelling, a number with a word that says of which
library, or the sentence that goes with it. The table of codes says what each tells; what circumstances make of that stands in
the other families, by its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from gpuassist.diagnose.signature import Meaning, Sign, Signature, SignatureInput, one_of, sign
from gpuassist.knowledge.codes import enums_of
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Weight

if TYPE_CHECKING:
    from gpuassist.knowledge.codes import CodeRecord
    from gpuassist.knowledge.tables import Knowledge


def _link(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """The event in the kernel's log says which link or memory it was."""
    if not setting.says("xid"):
        yield sign("xid-other", Weight.STATE, cuda="yes")


def _mps(_: re.Match[str], __: SignatureInput) -> Iterator[Sign]:
    """The card may be well: the service between it and the program is not."""
    yield sign("cuda-init-failed-driver-state", Weight.STATE, mps="yes")


def _no_ptx_compiler(_: re.Match[str], __: SignatureInput) -> Iterator[Sign]:
    yield sign("libcuda-missing", Weight.STATE, compiler="yes")


def _together(*meanings: Meaning) -> Meaning:
    def meaning(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
        for one in meanings:
            yield from one(match, setting)

    return meaning


@cache
def by_state() -> dict[str, Meaning]:
    """What circumstances make of a state; a state that is not here always means its problem."""
    # The families are loaded where a code is found, and not with this one, which every text needs.
    from gpuassist.diagnose.signatures import (
        card_state,
        cuda_runtime,
        devices,
        driver,
        driver_setup,
        libraries,
        memory,
        nccl,
        nvidia_smi,
    )

    return {
        **driver.BY_STATE,
        **cuda_runtime.BY_STATE,
        **devices.BY_STATE,
        **memory.BY_STATE,
        **nccl.BY_STATE,
        **nvidia_smi.BY_STATE,
        **card_state.BY_STATE,
        **libraries.BY_STATE,
        **driver_setup.BY_STATE,
        "link-fault": _link,
        "mps": _mps,
        "no-ptx-compiler": _no_ptx_compiler,
        "cudnn-wrong-gpu": _together(cuda_runtime.BY_STATE["library-wrong-gpu"], libraries.BY_STATE["cudnn-failed"]),
        "library-no-memory": _together(cuda_runtime.BY_STATE["library-not-started"], memory.BY_STATE["no-memory"]),
    }


def _signs(state: str, match: re.Match[str], setting: SignatureInput) -> Iterable[Sign]:
    """What a state means here."""
    known = setting.case.knowledge.codes.states.get(state)
    if known is None or known.weight is None:
        return ()
    meaning = by_state().get(state)
    return (sign(known.problem, known.weight),) if meaning is None else meaning(match, setting)


# A name. What stands before it is the type that it is of, as some languages write it (`CUresult::`, `cudaError.`).
_STARTS = (
    "cuda_?error",
    "nvml_?error",
    "cupti_?error",
    "(?:cudnn|cublas|cusolver|curand|cusparse)_?(?:status|error)",
    "cufft_?(?=alloc|exec|setup|internal|missing)",
    "nccl_?(?=unhandled|system|invalid)",
    "(?:nvrtc|nvjitlink|optix)_?error",
    "npp_(?=library|not_s|cuda|mem|no_m)",
    "kfailed_(?=allocation)",
)
_NAME = rf"(?<![A-Za-z0-9])((?:{'|'.join(_STARTS)})\w{{0,70}}(?:(?:::|\.|\()\w{{3,60}})?)"
_BEGINNINGS = (
    *(
        "cuda_error",
        "cudaerror",
        "nvml_error",
        "nvmlerror",
        "cupti_error",
        "cuptierror",
        "cudnn_status",
        "cudnnstatus",
        "cudnnerror",
    ),
    *("cublas_status", "cublasstatus", "cublaserror", "cusolver_status", "cusolverstatus", "cusolvererror", "curand_status"),
    *("curandstatus", "curanderror", "cusparse_status", "cusparsestatus", "cusparseerror", "cufft_", "ncclunhandled", "ncclsystem"),
    *(
        "ncclinvalid",
        "nvrtc_error",
        "nvrtcerror",
        "nvjitlink_error",
        "nvjitlinkerror",
        "optix_error",
        "optixerror",
        "npp_",
        "kfailed_allocation",
    ),
)
# Without its beginning, where the line says whose it is: `CUDA error: ... (code 100, ERROR_NO_DEVICE)`.
_SHORT_NAME = (
    r"(?<![A-Za-z0-9])(cuda|nvml|cupti|optix|nvrtc|nvjitlink)[^\n]{0,160}?"
    r"(?<![A-Za-z0-9_])((?-i:ERROR_[A-Z][A-Z_]{3,60}|Error[A-Z][a-z]\w{3,40}))\b"
)


def _by_name(match: re.Match[str], setting: SignatureInput) -> Iterable[Sign]:
    record = setting.case.knowledge.codes.named(match[1])
    return _signs(record.state, match, setting) if record is not None else ()


def _by_short_name(match: re.Match[str], setting: SignatureInput) -> Iterable[Sign]:
    record = setting.case.knowledge.codes.named(match[1] + match[2])
    return _signs(record.state, match, setting) if record is not None else ()


# A number, where a word before it in its line says that it is an error, and one before that of which library.
_LIBRARIES = "cudnn|cublas(?:lt)?|cufft|cusolver|curand|cusparse|cupti|nvml|nccl|nvrtc|nvjitlink|npp|optix"
_OWNERS = (
    "cuda|cu(?!BLAS|DNN|FFT|RAND|SPARSE|SOLVER|PTI)|nvml|cupti|cudnn|cublas|cufft|cusolver|curand|cusparse|nccl|nvrtc|nvJitLink"
    "|npp[is]?|optix"
)
_FUNCTION = rf"(?-i:(?:{_OWNERS})[A-Z]\w{{2,50}}|THCudaCheck)"
_PROGRAM = rf"(?:cudart|cuda|{_LIBRARIES})"
_ERROR = (
    r"(?<![A-Za-z])(?:error[ _-]?(?:code|number|no|id)|err_?no|err(?:or)?|exception|fail(?:ed|ure|s)?|return(?:ed|s)"
    r"|return[ _]?code|status(?:[ _]code)?|result(?:[ _]code)?|(?<!exit )code)(?![A-Za-z])"
)
# Behind the name of a library alone a result may be anything.
_PLAIN_ERROR = (
    r"(?<![A-Za-z])(?:error[ _-]?(?:code|number|no|id)|err_?no|err(?:or)?|exception|fail(?:ed|ure|s)?|(?<!cuda )status(?:[ _]code)?"
    r"|status code|returned error)(?![A-Za-z])"
)
_OF_IT = r"(?:[ \t]{1,2}(?:with|code|number|no|value|status|error|result|failure|is|was|of|returned|cuda|driver)\b[:=]?){0,4}"
_APART = r"(?:[ \t]{1,3}|[ \t]{0,3}[:=#(\[{<'\"]{1,3}[ \t]{0,3})"
_NUMBER = r"(-?\d{1,5})(?![\d%\w])(?!\.\d)"
_PARTS = (
    r"(?:[ \t_:\]-]{1,3}(?:driver|runtime|api|init\w{0,12}|library|lib|call|function|kernel|launch|context|check|exception|internal"
    r"|fatal|last|memory|mem(?:cpy|set)?|malloc|alloc\w{0,8}|device|stream|handle|setup|start\w{0,3}|load\w{0,3}|query|backend"
    r"|native|low-level)){0,4}[ \t_:\]-]{0,3}"
)
_OWN_NAME = r"(?<![\w/.-])"
_NUMBERED = one_of(
    rf"{_OWN_NAME}({_FUNCTION})\b(?!/)(?:\([^()\n]{{0,80}}\))?[^\n]{{0,60}}?{_ERROR}{_OF_IT}{_APART}{_NUMBER}",
    rf"{_OWN_NAME}({_PROGRAM})(?![A-Za-z0-9./]|-[\w]|:\d){_PARTS}{_PLAIN_ERROR}{_OF_IT}{_APART}{_NUMBER}",
    rf"{_OWN_NAME}({_PROGRAM})(?![A-Za-z0-9./]|-[\w]|:\d)[^\n]{{0,120}}?(?:error[ _]?(?:code|number)|err_?no|(?<=[ ,(])code(?==))"
    rf"[ \t]?[:=(\[ ]{{1,3}}{_NUMBER}",
    rf"()(?:driver library|vram) init failure:? {_NUMBER}",
    # Caffe's and glog's comparison with success.
    rf"(?<![A-Za-z0-9])(\w{{2,10}}?)_?(?:STATUS_)?SUCCESS(?:FULLY)? ?\({_NUMBER} vs\. 0\)",
    # The function and nothing but the number; without brackets it is rather what the function found.
    rf"{_OWN_NAME}(cuInit|nvmlInit\w{{0,12}})[ \t]?(?::|->|=>)[ \t]?{_NUMBER}(?=[ \t]{{0,8}}(?:\n|\Z))",
    rf"{_OWN_NAME}((?-i:cu(?:da)?[A-Z]\w{{2,40}}))\([^()\n]{{0,40}}\)[ \t]?(?::|->|=>)[ \t]?{_NUMBER}(?=[ \t]{{0,8}}(?:\n|\Z))",
    # The number before it: numba's `[34] Call to cuInit results in UNKNOWN_CUDA_ERROR`.
    rf"()\[(\d{{1,3}})\] Call to ({_FUNCTION}) results in",
    # Turned round: `error 35 returned by cuInit`.
    rf"()(?<![\w/.-])(?:error|status)(?:[ _]?code)?{_APART}{_NUMBER}[)\]'\"]?[ ,:]{{1,3}}(?:[a-z]{{2,10}}[ ]){{0,3}}?"
    rf"(?:in|from|by|of|calling|at)[ ](?:function[ ])?({_FUNCTION})\b",
)
_STARTED = (
    *("cuda", "cuinit", "cudevice", "cuctx", "cumem", "cumodule", "culaunch", "custream", "cuevent", "cufunc", "culink", "cuget"),
    *("cudriver", "cupointer", "cutex", "cuarray", "cuoccupancy", "cugraph", "cuprofiler", "cuipc", "cuimport", "culibrary"),
    "cukernel",
    *("cudnn", "cublas", "cufft", "cusolver", "curand", "cusparse", "cupti", "nvml", "nccl", "nvrtc", "nvjitlink", "npp", "optix"),
    *("driver library init", "vram init"),
)
_AFTER = 120  # characters in which the sentence of a number follows it
_SAYS = lazy_regex(r"^([^\n]{0,40})\n[ \t]{0,4}-> ?")  # as CUDA's samples go on
_RETURNED = lazy_regex(r"return|result|: ?-?\d+$", re.IGNORECASE)
_FAILED = lazy_regex(r"err|fail|status", re.IGNORECASE)
_GETS_NO_NUMBER = lazy_regex(r"Get(?:Device|DeviceProperties|LastError|Handle\w*|Context)(?:_v\d)?$")
_MOST_GPUS = 17  # of a machine, and no code above it is a likely number of them
_GOES_ON = lazy_regex(
    r"[)\]}>'\"]{0,3}[ \t]{0,4}(?:$|[\n()\[\]{}<>:;,.!|\"'`=/-]|(?:in|at|on|from|while|when|during|file|line|for)\b)"
)
# A tool that failed, where the library is only what it built or fetched; and an error that is measured.
_TOOLS = lazy_regex(r"\bexit(?:ed|[ _-](?:code|status))|\*\*\* \[|\bcurl\b|https?://|\bHTTP\b|No such file", re.IGNORECASE)
_MEASURED = lazy_regex(r"\b(?:vs\.?|mean|max|min|rel(?:ative)?|abs(?:olute)?|average|avg|rmse?|l2|accuracy)\b", re.IGNORECASE)


def _by_number(match: re.Match[str], setting: SignatureInput) -> Iterable[Sign]:
    given = [one for one in match.groups() if one]
    digits = next(one for one in given if one.lstrip("-").isdigit())
    word = next((one for one in given if one is not digits), "cuda")
    start = match.string.rfind("\n", 0, match.start()) + 1
    rest = _SAYS.sub(r"\1 ", match.string[match.end() : match.end() + _AFTER]).partition("\n")[0]
    before = match.string[max(start, match.start() - _AFTER) : match.start()]
    if _TOOLS.search(before + match[0] + rest[:20]) or _MEASURED.search(before):
        return ()
    meant = setting.case.knowledge.codes.numbered(enums_of(word), int(digits))
    # Of what it meant in some release: what its line says in words, else what tells of a problem, today's first.
    record = next((one for one in meant if _is_said(one, rest)), None)
    ends = not match[0].endswith(digits) or _GOES_ON.match(rest)
    if record is None and ends and not _tells(word, match[0], int(digits)):
        record = next((one for one in meant if setting.case.knowledge.codes.leads(one.state)), None)
    return _signs(record.state, match, setting) if record is not None else ()


def _is_said(record: CodeRecord, rest: str) -> bool:
    lowered = rest.lower()
    return bool(record.words and record.words.lower()[:20] in lowered) or record.name.lower() in lowered


def _tells(function: str, said: str, number: int) -> bool:
    """Whether a function may rather have told a value: `cudaGetDeviceCount returned 2`, `cuDriverGetVersion returned 12040`."""
    if "Get" not in function or not _RETURNED.search(said) or _FAILED.search(said, len(function)):
        return False
    return number < _MOST_GPUS if "Count" in function else not _GETS_NO_NUMBER.search(function)


# A sentence. One of a few common words counts only behind the name of the library.
_OWN_WORDS = lazy_regex(
    r"cuda|\bptx\b|\bmps\b|\becc\b|nvlink|device-side|device ordinal|launch|grid licen|kernel image|display driver|gpu access|nvml"
)
_FEW, _MANY = 3, 4  # words
_BEFORE = (
    rf"(?<![\w/.-])({_FUNCTION}|{_PROGRAM})(?![A-Za-z0-9/])[^\n]{{0,80}}?(?:error|exception|fail\w{{0,4}}|init\w{{0,14}}|:)"
    r"[^\n]{0,60}?(?<![A-Za-z])"
)


def of_sentences(knowledge: Knowledge, said: Callable[[str], bool]) -> tuple[Signature, ...]:
    """A message for each sentence of the table whose words the text has."""
    return tuple(_of_sentence(words, meant) for words, meant in knowledge.codes.sentences.items() if said(words))


@lru_cache(maxsize=1024)
def _of_sentence(words: str, meant: tuple[tuple[str, str], ...]) -> Signature:
    pattern = re.escape(words).replace(r"\ ", " ")
    ending = r"(?![A-Za-z0-9_])" if words[-1].isalnum() else ""
    enums = {enum for enum, _ in meant}
    count = len(words.split())
    if (count >= _FEW and _OWN_WORDS.search(words)) or (count >= _MANY and enums & {"", "cudaError_t", "CUresult"}):
        return Signature((words,), rf"(?<![A-Za-z]){pattern}{ending}", _by_sentence(meant[0][1]), 240)
    return Signature((words,), rf"{_BEFORE}{pattern}{ending}", _by_library(dict(meant)), 240)


def _by_sentence(state: str) -> Meaning:
    return lambda match, setting: _signs(state, match, setting)


def _by_library(states: dict[str, str]) -> Meaning:
    def meaning(match: re.Match[str], setting: SignatureInput) -> Iterable[Sign]:
        enums = enums_of(match[1])
        of_cuda = ("",) if "CUresult" in enums else ()  # programs' own wordings are all of CUDA's codes
        state = next((states[enum] for enum in (*enums, *of_cuda) if enum in states), None)
        return () if state is None else _signs(state, match, setting)

    return meaning


def _switch(match: re.Match[str], setting: SignatureInput) -> Iterable[Sign]:
    """An event of an NVSwitch; the line says whether it goes on."""
    record = next(iter(setting.case.knowledge.codes.numbered(("SXid",), int(match[1]))), None)
    name = "" if record is None else record.name.removeprefix("NVSWITCH_ERR_HW_")
    yield sign("xid-other", Weight.CAUSE if " fatal" in f" {match[0].lower()}" else Weight.STATE, sxid=match[1], name=name)


SIGNATURES = (
    Signature(_BEGINNINGS, _NAME, _by_name, 120),
    Signature(("error_", "exception: error", "exception(error"), _SHORT_NAME, _by_short_name, 240),
    Signature(_STARTED, _NUMBERED, _by_number, 160),
    Signature(("sxid",), r"\bSXid(?: \((?:PCI:)?[0-9a-f:.]{4,16}\))?[ :#=]{1,3}(\d{5})\b(?:[^\n]{0,120})?", _switch, 200),
)
