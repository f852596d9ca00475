"""What the install page is opened for, as words that the flow carries: `torch==2.7.1; driver; as=uv`, or that it shall go on."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, convert

from gpuassist.install.what_if import NONE, Wish
from gpuassist.model.finding import Answer, CommandUse
from gpuassist.model.outlook import GoalKind
from gpuassist.model.plan import Step, Tool

ANY = "any"
"""Whichever version fits."""

_TOOL, _NO_ROOT = "as", "no-root"
_KINDS = {GoalKind.DRIVER.value: "driver", GoalKind.CUDA.value: "toolkit", GoalKind.TORCH.value: "torch"}
_USE_CUDA = "gpuassist use cuda "
# How the keys of commands begin that an install plan makes better: for every GPU, looked at before, and with a way back.
_LEADS = (("driver-install-", "driver"), ("toolkit-install", "toolkit"), ("torch-install", "torch"))


class InstallWish(Struct, frozen=True):
    """What shall be there: empty where it stays as it is, `any` where whichever version fits will do."""

    driver: str = ""
    toolkit: str = ""
    torch: str = ""
    tool: str = ""
    no_root: bool = False

    @property
    def goals(self) -> tuple[str, ...]:
        """The goals as they are typed in a terminal."""
        values = ((kind, getattr(self, part)) for kind, part in _KINDS.items())
        return tuple(kind if value == ANY else f"{kind}=={value}" for kind, value in values if value)

    @property
    def as_tool(self) -> Tool | None:
        """What torch shall come by, where that was chosen."""
        return Tool(self.tool) if self.tool else None


def wish_in_words(wish: InstallWish) -> str:
    """All of a wish."""
    rest = (*((f"{_TOOL}={wish.tool}",) if wish.tool else ()), *((_NO_ROOT,) if wish.no_root else ()))
    return "; ".join((*wish.goals, *rest))


def wish_of(words: str) -> InstallWish:
    """The wish that was said; what is no part of one is passed over."""
    found: dict[str, str | bool] = {"no_root": _NO_ROOT in {one.strip() for one in words.split(";")}}
    for part in words.split(";"):
        name, _, value = (one.strip() for one in part.partition("="))
        if name in _KINDS:
            found[_KINDS[name]] = value.removeprefix("=").strip() or ANY
        elif name == _TOOL and value in {one.value for one in Tool}:
            found["tool"] = value
    return convert(found, InstallWish)


def wish_for_parts(wish: Wish) -> str:
    """What of a what-if can be installed here: the driver, the toolkit and torch that it names."""
    named = {part: getattr(wish, part) for part in _KINDS.values()}
    return wish_in_words(convert({part: value for part, value in named.items() if value != NONE}, InstallWish))


def wish_for_answer(answer: Answer) -> str:
    """What mends a finding, where an install does; empty where none does."""
    found: dict[str, str] = {}
    for use in _commands(answer):
        part = next((part for start, part in _LEADS if use.key.startswith(start)), "")
        if part:
            found[part] = ANY
    return wish_in_words(convert(found, InstallWish))


def toolkit_to_use(step: Step) -> str:
    """The CUDA version that a step makes the one of new shells, which the page Repair does; empty for another step."""
    line = next((line for line in step.commands if line.startswith(_USE_CUDA)), "")
    return line.removeprefix(_USE_CUDA).split(" ")[0]


def _commands(answer: Answer) -> Iterator[CommandUse]:
    for remedy in answer.remedies[:1]:  # those after it are other ways to the same end
        yield from remedy.commands
