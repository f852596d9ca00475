"""What the user should know of a scope before something is chosen there, and what is left to do once it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath

from gpuassist.changes.devices import Devices
from gpuassist.changes.scope_find import Scope
from gpuassist.changes.scopes.kinds import Kind
from gpuassist.changes.scopes.values import Wanted
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import Text, text
from gpuassist.shellfiles.block import RepairError, find
from gpuassist.system.world import World

_SETS = lazy_regex(rb"^[ \t]*(?:export[ \t]+|set[ \t]+-gx[ \t]+)?(CUDA_HOME|CUDA_VISIBLE_DEVICES|CUDA_DEVICE_ORDER)[= \t]")

BY_HAND: Mapping[Kind, Text] = {
    Kind.SHELL: text("These are the lines, to put at the end of a start-up file of yours by hand:"),
    Kind.CONDA: text("These are the files, for whoever may change the environment:"),
    Kind.VENV: text("These are the lines for the end of the scripts, for whoever may change the environment:"),
    Kind.ENVRC: text("These are the lines, to put at the end of .envrc by hand:"),
    Kind.DOTENV: text("These are the lines, to put at the end of .env by hand:"),
    Kind.JUPYTER: text("This is what `env` in kernel.json should hold, for whoever may change it:"),
    Kind.DESKTOP: text("These are the lines for a file in ~/.config/environment.d:"),
}

AFTERWARDS: Mapping[Kind, Callable[[Scope], Text]] = {
    Kind.SHELL: lambda scope: text("Open a new terminal."),
    Kind.CONDA: lambda scope: text(
        "Where the environment is active now, leave it and enter it again: `conda deactivate`, then `conda activate {name}`.",
        name=scope.words.partition(":")[2],
    ),
    Kind.VENV: lambda scope: text(
        "Where the environment is active now, leave it and enter it again: `deactivate`, then `source {place}/bin/activate`.",
        place=scope.place,
    ),
    Kind.ENVRC: lambda scope: text(
        "direnv does not read a changed file until you allow it: `direnv allow {place}`. gpuassist does not do that for you.",
        place=scope.place,
    ),
    Kind.DOTENV: lambda scope: text("Programs that read {path} find it when they are started anew.", path=f"{scope.place}/.env"),
    Kind.JUPYTER: lambda scope: text(
        "Where the kernel runs, shut it down and start it: a mere restart keeps what the file said before."
    ),
    Kind.DESKTOP: lambda scope: text("Log out and in again: systemd reads the file when your session starts."),
}


def notes_on_scope(scope: Scope, wanted: Wanted) -> Iterator[Text]:
    """What the scope cannot do, as far as it matters for what is wanted."""
    name = PurePosixPath(scope.place).name
    if scope.kind is Kind.CONDA and wanted.toolkit:
        yield text(
            "`conda activate OTHER` straight from {name} keeps the toolkit's directory on PATH there, unless gpuassist's hook is "
            "in OTHER too: conda writes PATH as it was before the hook took it out. Back in {name} that is put right.",
            name=name,
        )
    if scope.kind is Kind.VENV:
        yield text(
            "`deactivate` puts everything back in bash, zsh and fish. Activating another environment without it keeps all but PATH "
            "in bash and zsh, unless gpuassist's lines are in that one too; other shells keep it after `deactivate` as well."
        )
        yield text("making the environment anew (`python -m venv`, `uv venv`) writes its scripts anew, without these lines")
    if scope.kind is Kind.DOTENV and wanted.toolkit:
        yield text(
            "a .env cannot put a directory in front of PATH, because not every program that reads it knows $PATH: it says "
            "CUDA_HOME, and nvcc is still the one that PATH finds"
        )
        if wanted.libraries:
            yield text("LD_LIBRARY_PATH is a list like PATH: it is not written in a .env")
    if scope.kind is Kind.JUPYTER and wanted.toolkit:
        yield text(
            "{expression} in kernel.json stands for what the Jupyter server has; an IDE that starts kernels itself may not know it",
            expression="${PATH}",
        )


def notes_on_devices(devices: Devices) -> Iterator[Text]:
    """What the choice hides there."""
    if devices.values:
        if devices.hidden:
            yield text("programs find no other GPU there: {hidden} is hidden from them", hidden="; ".join(devices.hidden))
        yield from devices.notes


def notes_on_lines(path: str, content: bytes, wanted: Wanted) -> Iterator[Text]:
    """The user's own lines that set the same variables."""
    watched = {b"CUDA_HOME": wanted.toolkit, b"CUDA_VISIBLE_DEVICES": wanted.devices, b"CUDA_DEVICE_ORDER": wanted.devices}
    try:
        block = find(content)
    except RepairError:
        return
    place = 0
    for number, line in enumerate(content.split(b"\n"), 1):
        found = _SETS.match(line)
        ours = block is not None and block.first_byte <= place < block.end_byte
        if found is not None and not ours and watched[found[1]] is not None:
            yield text(
                "line {line} of {file} sets {name} too; what gpuassist writes stands below it and wins where the last one counts",
                line=number,
                file=path,
                name=found[1].decode(),
            )
        place += len(line) + 1


def strangers_prefix(world: World, scope: Scope) -> Text | None:
    """Why nothing may be changed in an environment: it is another user's."""
    if scope.kind not in {Kind.CONDA, Kind.VENV}:
        return None
    try:
        owner = world.files.status(scope.place).st_uid
    except OSError:
        return None
    if owner == world.surroundings.uid:
        return None
    return text(
        "the environment {place} belongs to another user (uid {owner}; you are uid {uid}), and what is written in it is run by "
        "everyone who activates it",
        place=scope.place,
        owner=owner,
        uid=world.surroundings.uid,
    )
