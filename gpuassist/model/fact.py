"""What was found out, with its source, or why it is not known.

An unknown fact is never `None`, an empty string, -1 or NaN: a reader must look which of the two it holds. Known absence is a
value: an empty tuple of kernel modules says that somebody looked and none is there.
"""

from __future__ import annotations

from typing import Generic, TypeVar, Union

from msgspec import Struct

from gpuassist.model.text import Text, text

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Known(Struct, Generic[T_co], frozen=True):
    """A value and where it was read: a path, a library, a command line."""

    value: T_co
    source: str

    @property
    def is_true(self) -> bool:
        """Whether it is known and so."""
        return self.value is True


class Unknown(Struct, frozen=True):
    """Why there is no value; `asked` is false where nobody looked, as in a pasted text that does not say."""

    reason: Text
    asked: bool = True

    @property
    def is_true(self) -> bool:
        """Never."""
        return False


Fact = Union[Known[T], Unknown]

NOT_ASKED = Unknown(text("not looked at"), asked=False)


def value_or(fact: Fact[T], default: T) -> T:
    """The value, or `default` where the fact is unknown: for showing and sorting, and for whoever has a None of his own for what is
    not known (JSON, what a choice does not go by); not for judging.
    """
    return fact.value if isinstance(fact, Known) else default
