"""What training and answering take of a GPU's memory: bytes by family, precision, optimizer and format, each with its source."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from gpuassist.knowledge.rows import Row, RowError, Source, flag_of, source_of, text_of

AS_ANY = "*"


class ActivationCost(Struct, frozen=True):
    """The bytes that a layer keeps of a token for the backward pass, for each unit of its hidden size (`hidden`), of its queries
    (`query`), keys (`key`) and feed-forward width (`inner`); `score` for each head and token where attention is not fused, and
    `boundary` for each unit of its hidden size where only what enters it is kept; `eager_only` ones have no fused attention.
    """

    family: str
    precision: str
    hidden: float
    query: float
    key: float
    inner: float
    score: float
    boundary: float
    eager_only: bool
    source: str
    checked: str


class MemoryCost(Struct, frozen=True):
    """An amount by its `name` within a `group`, and between which it was found to lie.

    `optimizer`: bytes of state of each trained parameter, where parameters have four. `weights`: bits of a stored one. `logits`:
    bytes of each number. `context` and `libraries`: GiB. `margin` and `error`: shares.
    """

    group: str
    name: str
    value: float
    low: float
    high: float
    source: str
    checked: str


class EstimateCard(Struct, frozen=True):
    """A GPU that one can have, and its memory in GB as it is sold; the rows go from small to large, common ones first."""

    gpu: str
    memory_gb: float
    source: str
    checked: str


class MemoryCosts(Struct, frozen=True):
    """All that an estimate rests on."""

    activations: tuple[ActivationCost, ...]
    amounts: tuple[MemoryCost, ...]
    cards: tuple[EstimateCard, ...]

    def amount(self, group: str, name: str) -> MemoryCost:
        """The one of this name, else the group's `*`; raises `KeyError` where our own files lack both."""
        return next(
            (one for wanted in (name, AS_ANY) for one in self.amounts if (one.group, one.name) == (group, wanted)), _none(group)
        )

    def activation(self, family: str, precision: str) -> tuple[ActivationCost, bool]:
        """That of the family, and whether it was measured for it: else a Llama's."""
        found = _of(self.activations, family, precision)
        return (found, True) if found is not None else (_of(self.activations, "llama", precision) or _nothing(precision), False)


def _of(rows: Sequence[ActivationCost], family: str, precision: str) -> ActivationCost | None:
    return next((one for one in rows if (one.family, one.precision) == (family, precision)), None)


def _none(group: str) -> MemoryCost:
    # A damaged file of ours is named where it is read; what it lacks is then counted as nothing.
    return MemoryCost(group, AS_ANY, 0.0, 0.0, 0.0, "", "")


def _nothing(precision: str) -> ActivationCost:
    return ActivationCost(AS_ANY, precision, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, eager_only=False, source="", checked="")


def activation_cost(row: Row, sources: dict[str, Source]) -> ActivationCost:
    source = source_of(row, sources)
    names = ("hidden", "query", "key", "inner", "score", "boundary")
    shares = {name: _share(row, name) for name in names}
    eager = flag_of(row, "eager_only")
    return ActivationCost(
        text_of(row, "family"), text_of(row, "precision"), **shares, eager_only=eager, source=source.text, checked=source.checked
    )


def memory_cost(row: Row, sources: dict[str, Source]) -> MemoryCost:
    source = source_of(row, sources)
    value, low, high = (_share(row, name) for name in ("value", "low", "high"))
    if not low <= value <= high:
        raise RowError("value")
    return MemoryCost(text_of(row, "group"), text_of(row, "name"), value, low, high, source.text, source.checked)


def estimate_card(row: Row, sources: dict[str, Source]) -> EstimateCard:
    source = source_of(row, sources)
    return EstimateCard(text_of(row, "gpu"), _share(row, "memory_gb"), source.text, source.checked)


def _share(row: Row, name: str) -> float:
    value = row.fields.get(name)
    if type(value) not in (int, float) or not 0 <= value < 1e9:  # type: ignore[operator]
        raise RowError(name)
    return float(value)  # type: ignore[arg-type]
