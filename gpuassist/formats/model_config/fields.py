"""The fields of a config, each by the names that families give it, and numbers that a model can have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuassist.model.text import Text, text

_MOST = 1 << 32
_LONGEST_WORD = 100


class ModelConfigError(Exception):
    """This is no config that can be counted; `reason` says why."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason)
        self.reason = reason


class Fields:
    """A JSON object of anybody's making. Whoever asks for a number names all spellings, and what holds where none is there."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def whole(self, *names: str, default: int | None = None, least: int = 1) -> int:
        """The first of these that is given; raises `ModelConfigError` where it is no such number, or none is there."""
        for name in names:
            value = self._values.get(name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or value != value or not least <= value <= _MOST:
                raise ModelConfigError(text("its `{field}` is no number that a model can have", field=name))
            if value != int(value):
                raise ModelConfigError(text("its `{field}` is no whole number", field=name))
            return int(value)
        if default is None:
            raise ModelConfigError(text("it does not say `{field}`", field=names[0]))
        return default

    def flag(self, *names: str, default: bool = False) -> bool:
        value = next((self._values[name] for name in names if isinstance(self._values.get(name), bool)), default)
        return bool(value)

    def word(self, name: str) -> str:
        value = self._values.get(name)
        return value[:_LONGEST_WORD] if isinstance(value, str) else ""

    def words(self, name: str) -> tuple[str, ...]:
        """A list of words, such as `layer_types`; a very long one is no list of layers."""
        value = self._values.get(name)
        if not isinstance(value, list) or len(value) > 10_000:
            return ()
        return tuple(one[:_LONGEST_WORD] for one in value if isinstance(one, str))

    def wholes(self, name: str) -> tuple[int, ...]:
        value = self._values.get(name)
        if not isinstance(value, list) or len(value) > 10_000:
            return ()
        return tuple(one for one in value if isinstance(one, int) and not isinstance(one, bool) and 0 <= one <= _MOST)

    def inside(self, *names: str) -> Fields | None:
        """The object in one of these fields, such as `text_config`."""
        found = next((self._values[name] for name in names if isinstance(self._values.get(name), dict)), None)
        return Fields(found) if found is not None else None

    def beside(self, values: Mapping[str, Any]) -> Fields:
        """These fields, and where one is not given that of these values."""
        return Fields({**values, **{name: value for name, value in self._values.items() if value is not None}})

    def has_parts_but(self, *names: str) -> bool:
        """Whether another object is a config of some part of the model, by its name and by having a width."""
        return any(
            name.endswith("_config") and name not in names and isinstance(value, dict) and "hidden_size" in value
            for name, value in self._values.items()
        )

    def counts_some(self, part: str) -> bool:
        """Whether a number above one, or a list of them, stands in a field whose name has this in it."""
        values = (value for name, value in self._values.items() if part in name and not isinstance(value, bool))
        return any(bool(value) if isinstance(value, list) else isinstance(value, int) and value > 1 for value in values)

    def has(self, name: str) -> bool:
        return self._values.get(name) is not None


class Pieces:
    """Adds up the weights of a model: matrices, which keep their sides, and vectors. `layer` counts those of one layer."""

    def __init__(self) -> None:
        self.parameters = 0
        self.matrices: list[tuple[str, int, int, int, bool]] = []

    def matrix(self, name: str, inputs: int, outputs: int, count: int = 1, *, bias: bool = False, inside: bool = True) -> None:
        if count > 0:
            self.parameters += (inputs * outputs + (outputs if bias else 0)) * count
            self.matrices.append((name, inputs, outputs, count, inside))

    def vector(self, size: int, count: int = 1) -> None:
        self.parameters += size * max(0, count)
