"""The glossary for users, `resources/terms.json`: what a word of the field means, and what it is called or asked by."""

from __future__ import annotations

from msgspec import MsgspecError, Struct
from msgspec.json import decode

# Programs and formats, which are called the same in every language.
_THINGS = frozenset(
    (
        "akmod",
        "akmods",
        "bfloat",
        "conda",
        "cubin",
        "detach",
        "dkms",
        "dracut",
        "fatbin",
        "fatbinary",
        "initramfs",
        "initrd",
        "ldconfig",
        "libcuda",
        "libcudart",
        "libnppicc",
        "glibc",
        "libnvinfer",
        "manylinux",
        "mokutil",
        "nouveau",
        "numactl",
        "nvcc",
        "nvrtc",
        "ptxas",
        "pynvml",
        "venv",
    )
)


class TermsError(ValueError):
    """The file holds no glossary; the words say which part of it."""


class Term(Struct, frozen=True, forbid_unknown_fields=True):
    """One entry. Its sentences are English, and gettext ids: `title`, `short` (of a tool tip), `text`, `where` (to see it).

    It is found in texts by `names`, which are the same in every language (`#` stands for digits), and by its title; as a whole
    label by one of `labels`, which are messages of the window; and asked for by any of these, `key` and `asked`. `see` are keys
    of others, `guide` is a topic, `links` were read on the day `checked`. Of a library: its packages (those for CUDA 12.8 where
    that is part of a name), and the `checks` of `gpuassist verify` that call it.
    """

    key: str
    title: str
    short: str
    text: str
    where: str
    links: tuple[str, ...]
    checked: str
    names: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    see: tuple[str, ...] = ()
    guide: str = ""
    pip: tuple[str, ...] = ()
    apt: tuple[str, ...] = ()
    conda: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """Those of its names that are words of a language, and no name of a thing: in small letters."""
        return tuple(one for one in self.names if one.islower() and one.replace(" ", "").isalpha() and one not in _THINGS)

    def messages(self) -> tuple[str, ...]:
        """Every sentence that it can say, and its words; `labels` are said elsewhere."""
        return (self.title, self.short, self.text, self.where, *self.words)


def read_terms(content: bytes) -> tuple[Term, ...]:
    """Every entry, in the file's order; raises `TermsError`."""
    try:
        return decode(content, type=tuple[Term, ...])
    except (MsgspecError, ValueError, RecursionError) as error:
        raise TermsError(str(error)) from error
