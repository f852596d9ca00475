"""What Python's usual one-line questions about a GPU print, pasted without the question: a text of such answers alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.formats.torch import parsed
from gpuassist.model.lazy_regex import lazy_regex

_MOST_LINES = 12
_LONGEST = 4000  # characters of a text that may be answers alone
_DEEPEST = 3


class BareAnswers(Struct, frozen=True):
    """What the answers say; None, empty or () where none does. `line` is the number of the first one, counted from 1.

    `release` is a version that carries what it was built for (`2.0.1+cu117`) or stands beside other answers, `cuda` a release of
    CUDA, `count` a number of GPUs, `providers` those of onnxruntime, `jax` and `tensorflow` the kinds of their devices.
    """

    line: int = 0
    release: str = ""
    cuda: str = ""
    available: bool | None = None
    count: int | None = None
    device: str = ""
    names: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    jax: tuple[str, ...] = ()
    tensorflow: tuple[str, ...] = ()
    build: tuple[tuple[str, str], ...] = ()


_PROMPT = lazy_regex(r"^(?:(?:> ?){0,2}(?:>>>|\.\.\.|Out\[\d{1,4}\]:|In ?\[\d{1,4}\]:)|\$)\s?")
_CODE = lazy_regex(r"^(?:import |from \w|print\(|python[\d.]* -|(?:torch|tf|jax|ort|onnxruntime|tensorflow)\.\w)")
_YES, _NO = frozenset({"true", "yes"}), frozenset({"false", "no"})
_WITHOUT = lazy_regex(
    r"(?:no|without) (?:cuda|gpu)s?(?: (?:found|available|device|detected))?[.!]?"
    r"|(?:cuda|gpu) (?:is )?(?:not|un)[ -]?available[.!]?"
    r"|cuda[:=]? (?:false|no)|(?:not )?using cpu|没有(?:cuda|gpu)",
    re.IGNORECASE,
)
_WITH = lazy_regex(r"(?:cuda|gpu)(?: is)? (?:available|ok|enabled)[.!]?|cuda[:=]? (?:true|yes)", re.IGNORECASE)
_RELEASE = lazy_regex(r"(?P<release>\d{1,2}\.\d{1,2}\.\d{1,2}(?:(?:a|b|rc|\.dev)\d{1,8})?(?:\+[a-z][\w.]{1,40})?)")
_TAGGED = lazy_regex(r"\d{1,2}\.\d{1,2}\.\d{1,2}\S*\+(?:cu\d{2,3}|cpu|rocm[\d.]{1,8}|xpu)\S{0,20}")
_CUDA = lazy_regex(r"\d{1,2}\.\d{1,2}")
_NO_CUDA = frozenset(
    {"5.2", "5.3", "6.1", "6.2", "7.2", "8.6", "8.7", "8.9"}
)  # capabilities that no release of CUDA is called like
_DEVICE = lazy_regex(r"(?:device\(type=')?(?P<device>cuda|[Cc]pu|CPU|GPU|gpu|mps|xpu)(?:'?(?:, index=|:)(?P<number>\d{1,2}))?\)?'?")
_TARGET = lazy_regex(r"(?:sm|compute)_\d{2,3}[af]?")
_NAME = lazy_regex(
    # Columns of a table lie further apart, and what nvidia-smi cuts ends with three dots; P0 to P12 are states, and P4 a card.
    r"(?:NVIDIA |GeForce |GTX |RTX |Tesla |Quadro |TITAN |GRID )(?:[\w/+-]|\.(?!\.)| (?! )){1,50}(?:\.{3})?"
    r"|(?!P(?:[0-35-9]|1[0-2])\b)(?:A|B|H|L|P|T|V|GH|GB)\d{1,3}[A-Z]?"
    r"(?:[ -](?:PCIe|PCIE|SXM\d?|NVL|\d{1,3}GB|HBM\d\w?|MIG [\w.]{3,12})){0,3}"
)
_JAX = lazy_regex(
    r"(?P<kind>[Cc]uda|[Cc]pu|[Gg]pu|[Rr]ocm|[Tt]pu|METAL|Stream[Ee]xecutorGpu)(?:Device)?\(id=\d{1,3}[^()\n]{0,80}\)"
)
_TENSORFLOW = lazy_regex(
    r"(?:PhysicalDevice|LogicalDevice)\(name='/?(?:physical_)?device:(?P<kind>GPU|CPU|XLA_GPU|XLA_CPU):\d{1,3}'[^()\n]{0,80}\)"
)
_PROVIDER = lazy_regex(r"\w{2,40}ExecutionProvider")
_ORDERED = lazy_regex(r"(?:Ordered)?[Dd]ict\((?P<inner>\[.*\])\)", re.DOTALL)
_PIECES = lazy_regex(r"\s{1,8}[/|]\s{1,8}")
_SEPARATOR = lazy_regex(r"\s*[/|,;]\s*|\s{1,8}")


@lru_cache(4)
def bare_answers(words: str) -> BareAnswers | None:
    """What a text of nothing but such answers, with or without the code that asked, says; None for any other text."""
    if len(words) > _LONGEST:
        return None
    found, first, count = BareAnswers(), 0, 0
    for number, line in enumerate(words.split("\n"), 1):
        plain = line.strip()
        rest = _PROMPT.sub("", plain).strip()
        if not rest or _CODE.match(rest):
            continue
        count += 1
        for piece in _PIECES.split(rest):
            taken = _line(found, piece)
            if taken is None or count > _MOST_LINES:
                return None
            found, first = taken, first or number
    return replace(found, line=first) if first and _tells(found) else None


def _tells(found: BareAnswers) -> bool:
    """Whether anything in it can only be such an answer: a number or a version alone may be anything."""
    lists = (found.names, found.capabilities, found.targets, found.providers, found.jax, found.tensorflow, found.build)
    return any(lists) or found.available is not None or bool(found.device) or _TAGGED.fullmatch(found.release) is not None


def _line(found: BareAnswers, words: str) -> BareAnswers | None:
    """The answers with those of one line; None where any of it is none."""
    for pattern, said in ((_WITHOUT, False), (_WITH, True)):
        if pattern.fullmatch(words):
            return replace(found, available=said)
    if _NAME.fullmatch(words.strip("'\"")):
        return replace(found, names=(*found.names, words.strip("'\"")))
    if _DEVICE.fullmatch(words.strip("'\"")):
        return _word(found, words.strip("'\""))
    devices = _listed_devices(found, words)
    if devices is not None:
        return devices
    ordered = _ORDERED.fullmatch(words)
    value = _literal(ordered["inner"] if ordered else words)
    if value is not None:
        if isinstance(value, dict):
            value = list(value.items())
        return _build(found, value) if _is_build(value) else _value(found, value)
    for word in _SEPARATOR.split(words):
        taken = _word(found, word.strip("'\""))
        if taken is None:
            return None
        found = taken
    return found


def _listed_devices(found: BareAnswers, words: str) -> BareAnswers | None:
    """Lists of devices as JAX and TensorFlow print them; an empty list says too little to be one."""
    if not (words.startswith("[") and words.endswith("]")):
        return None
    for pattern, name in ((_JAX, "jax"), (_TENSORFLOW, "tensorflow")):
        kinds = tuple(one["kind"] for one in pattern.finditer(words))
        if kinds and not pattern.sub("", words).strip("[], "):
            return replace(found, **{name: (*getattr(found, name), *kinds)})
    return None


def _literal(words: str) -> object:
    """The value of a tuple, list, dictionary or string of Python's; None of anything else."""
    if words[:1] not in {"(", "[", "{", "'", '"'}:
        return None
    import ast  # 2 ms, which most texts need not

    try:
        tree = parsed(words)
        return ast.literal_eval(words) if tree is not None else None
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None


def _is_build(value: object) -> bool:
    return isinstance(value, list) and any(isinstance(one, tuple) and one[:1] == ("is_cuda_build",) for one in value)


def _build(found: BareAnswers, value: object) -> BareAnswers:
    """What `tf.sysconfig.get_build_info()` says."""
    pairs = (one for one in value if isinstance(one, tuple) and len(one) == 2) if isinstance(value, list) else ()
    told = tuple((str(name), ", ".join(map(str, said)) if isinstance(said, list) else str(said)) for name, said in pairs)
    return replace(found, build=told)


def _value(found: BareAnswers, value: object, depth: int = 0) -> BareAnswers | None:
    if isinstance(value, tuple) and len(value) == 2 and all(type(one) is int and 0 <= one < 20 for one in value):
        return replace(found, capabilities=(*found.capabilities, f"{value[0]}.{value[1]}"))
    if isinstance(value, (tuple, list)) and value and depth < _DEEPEST:
        for one in value:
            taken = _value(found, one, depth + 1)
            if taken is None:
                return None
            found = taken
        return found
    return _word(found, str(value)) if isinstance(value, (str, int)) or value is None else None


def _word(found: BareAnswers, word: str) -> BareAnswers | None:
    """The answers with that of one word, by what it looks like; None where it is none of them."""
    if word.lower() in _YES | _NO:
        return replace(found, available=word.lower() in _YES)
    if word == "None":
        return found
    device = _DEVICE.fullmatch(word)
    if device:
        name = device["device"].lower()
        return replace(found, device=f"{name}:{device['number']}" if device["number"] else name)
    return next((taken for pattern, made in _WORDS if pattern.fullmatch(word) and (taken := made(found, word)) is not None), None)


def _number(found: BareAnswers, word: str) -> BareAnswers | None:
    """A number of GPUs, or cuDNN's version, which is no fact of its own."""
    number = int(word)
    if number > 64:
        return found if 1000 <= number <= 999_999 else None
    return replace(found, count=number)


def _dotted(found: BareAnswers, word: str) -> BareAnswers:
    """`12.1` beside a torch is its CUDA, below a GPU's name it is a compute capability, as `8.9` is everywhere."""
    if found.release and not found.cuda:
        return replace(found, cuda=word)
    if found.names or word in _NO_CUDA:
        return replace(found, capabilities=(*found.capabilities, word))
    return replace(found, cuda=word)


_WORDS: tuple[tuple[re.Pattern[str], Callable[[BareAnswers, str], BareAnswers | None]], ...] = (
    (_RELEASE, lambda found, word: found if found.release and not _TAGGED.fullmatch(word) else replace(found, release=word)),
    (_TARGET, lambda found, word: replace(found, targets=(*found.targets, word))),
    (_PROVIDER, lambda found, word: replace(found, providers=(*found.providers, word))),
    (_NAME, lambda found, word: replace(found, names=(*found.names, word))),
    (lazy_regex(r"\d{1,6}"), _number),
    (_CUDA, _dotted),
)
