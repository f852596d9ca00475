"""The return codes of NVIDIA's libraries, found by any spelling of a name, by a number, and by the sentence that goes with it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Any, Protocol

from msgspec import Struct

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Weight


class CodeRecord(Struct, frozen=True):
    """A code of an enum. `words` is what the library itself says of it ("" where it says nothing); `until` the last release that
    numbered it so ("" for today's); `state` what it tells of the set-up. Of NVML `meaning` and `action` say it to its caller.
    """

    enum: str
    number: int
    name: str
    words: str
    until: str
    state: str
    meaning: str
    action: str
    source: str
    checked: str


class CodeState(Struct, frozen=True):
    """What codes of several enums tell alike: the problem that it leads to, and what it can prove of it; or that it leads to none
    (`problem` is "", `weight` None), with the reason. `wordings` are sentences of programs beside those of the codes.
    """

    state: str
    problem: str
    weight: Weight | None
    reason: str
    wordings: tuple[str, ...]
    source: str
    checked: str


def weight_named(word: str) -> Weight:
    """As the table writes it; raises `ValueError` for any other."""
    if word.upper() not in Weight.__members__:
        raise ValueError(word)
    return Weight[word.upper()]


# How programs name the enum of a code, by the beginning of a word in lower case: `cuInit`, `CUDA error`, `nvmlInit_v2`.
_CUDA = ("cudaError_t", "CUresult")
_FAMILIES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("cudnn", ("cudnnStatus_t",)),
    ("cublas", ("cublasStatus_t",)),
    ("cufft", ("cufftResult",)),
    ("cusolver", ("cusolverStatus_t",)),
    ("curand", ("curandStatus_t",)),
    ("cusparse", ("cusparseStatus_t",)),
    ("cupti", ("CUptiResult",)),
    ("nvml", ("nvmlReturn_t",)),
    ("nccl", ("ncclResult_t",)),
    ("nvrtc", ("nvrtcResult",)),
    ("nvjitlink", ("nvJitLinkResult",)),
    ("npp", ("NppStatus",)),
    ("optix", ("OptixResult",)),
    ("cu", _CUDA),
)


def enums_of(word: str) -> tuple[str, ...]:
    """The enums that a word means: a library, or a function of one."""
    lowered = word.lower()
    return next((enums for beginning, enums in _FAMILIES if lowered.startswith(beginning)), _CUDA)


def folded(name: str) -> str:
    """A name as all spellings of it are alike: `CUDA_ERROR_NO_DEVICE`, `cudaErrorNoDevice`, `cudaError.noDevice`."""
    return re.sub(r"[^a-z0-9]", "", name.lower()).replace("cudaerrort", "cudaerror", 1)


class CodeTable(Protocol):
    """The file of the codes (`files.RecordTable`)."""

    def all(self) -> tuple[CodeRecord, ...]: ...

    def at(self, places: Iterable[int]) -> tuple[CodeRecord, ...]: ...

    def values(self, *fields: str) -> Iterable[tuple[int, tuple[Any, ...]]]: ...


class Codes:
    """Every code by name, number and sentence; a record is made when it is asked for."""

    def __init__(self, table: CodeTable, states: Iterable[CodeState]) -> None:
        self._table = table
        self.states = {one.state: one for one in states}

    def all(self) -> tuple[CodeRecord, ...]:
        return self._table.all()

    def state(self, record: CodeRecord) -> CodeState | None:
        """What a code tells of the set-up."""
        return self.states.get(record.state)

    def named(self, name: str) -> CodeRecord | None:
        """By a name in any spelling, also of one value of a type (`cudaError_t::cudaErrorNoDevice`), today's first."""
        parts = [one for one in re.split(r"::|[.:( ]+", name) if one]
        for spelling in (name, *parts[-1:], *parts[:1]):
            places = self._by_name.get(_ERRORS_ARE_STATUS.sub(r"\1status", folded(spelling)))
            if places:
                return next(iter(self._table.at(places)), None)
        return None

    def numbered(self, enums: Iterable[str], number: int) -> tuple[CodeRecord, ...]:
        """What a number means in these enums: today's meanings, then those of old releases."""
        places = [place for enum in enums for place in self._by_number.get((enum, number), ())]
        return tuple(sorted(self._table.at(places), key=lambda one: bool(one.until)))

    @cached_property
    def sentences(self) -> dict[str, tuple[tuple[str, str], ...]]:
        """Each sentence that tells of a problem, in lower case, with the enums that have it ("" for programs) and the states."""
        found: dict[str, dict[tuple[str, str], None]] = {}
        for _, (enum, words, state) in self._table.values("enum", "words", "state"):
            if words and self.leads(state):
                found.setdefault(_plain(words), {})[enum, state] = None
        for one in self.states.values():
            for words in one.wordings:
                found.setdefault(_plain(words), {})["", one.state] = None
        return {words: tuple(meant) for words, meant in found.items()}

    def leads(self, state: str) -> bool:
        """Whether it leads to a problem."""
        return state in self.states and bool(self.states[state].problem)

    @cached_property
    def _by_name(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for place, (name,) in self._table.values("name"):
            found.setdefault(folded(name), []).append(place)
        return found

    @cached_property
    def _by_number(self) -> dict[tuple[str, int], list[int]]:
        found: dict[tuple[str, int], list[int]] = {}
        for place, (enum, number) in self._table.values("enum", "number"):
            found.setdefault((enum, int(number)), []).append(place)
        return found


# `CublasError::NotInitialized` is what NVIDIA calls CUBLAS_STATUS_NOT_INITIALIZED.
_ERRORS_ARE_STATUS = lazy_regex(r"^(cudnn|cublas|cusolver|curand|cusparse)error")


def _plain(words: str) -> str:
    return words.lower().rstrip(".")
