"""Whether a directory belongs on LD_LIBRARY_PATH: which programs of this machine need it there, and which it would break."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from msgspec import Struct

from gpuassist.changes.wishes import LdLibraryPath
from gpuassist.detect import libraries
from gpuassist.detect.loader import Loader
from gpuassist.diagnose.rules.shell import older
from gpuassist.model.environment import LoadedLibrary, PythonEnvironment
from gpuassist.model.fact import Fact, Unknown, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.text import Text, counted, text
from gpuassist.model.toolkit import Toolkit
from gpuassist.system.files import Files
from gpuassist.system.own_child import clean
from gpuassist.system.world import World

_LOADERS = ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1")
_CONFIRM_SECONDS = 10.0


class LibraryUse(Struct, frozen=True):
    """A library of an environment's program that the directory decides on; `confirmed` by the real loader, None where not asked."""

    environment: str
    library: LoadedLibrary
    confirmed: bool | None = None

    @property
    def program(self) -> str:
        """The file's name, which names the package for people: libonnxruntime_providers_cuda.so."""
        return PurePosixPath(self.library.program).name


class DirectoryView(Struct, frozen=True):
    """What the directory on LD_LIBRARY_PATH does here: `needs` start to work, `hurts` stop, of `looked_at` environments."""

    directory: str
    needs: tuple[LibraryUse, ...]
    hurts: tuple[LibraryUse, ...]
    looked_at: int


def look(world: World, environments: Fact[tuple[PythonEnvironment, ...]], directory: str) -> DirectoryView:
    """Loads each CUDA program of each environment in thought, and asks the real loader about what would be decided."""
    found = value_or(environments, ())
    loader = Loader(world.files)
    uses = [use for environment in found for use in _uses(world, loader, environment, directory)]
    hurts = tuple(_confirmed(world, use, directory) for use in uses if use.library.own and older(use.library))
    needs = tuple(_confirmed(world, use, directory) for use in uses if not use.library.own)
    return DirectoryView(
        directory,
        tuple(use for use in needs if use.confirmed is not False),
        tuple(use for use in hurts if use.confirmed is not False),
        len(found),
    )


def reason(view: DirectoryView, *, on: bool) -> Text:
    """Why it is on or off, from what was seen."""
    if view.hurts:
        use = view.hurts[0]
        parameters = {"program": use.program, "environment": use.environment, "taken": use.library.taken, "own": use.library.own}
        if on:
            return text("beware: with it {program} in {environment} loads {taken} in place of its own {own}", **parameters)
        return text("left alone: with it {program} in {environment} would load {taken} in place of its own {own}", **parameters)
    if view.needs:
        use = view.needs[0]
        return text(
            "needed: {program} in {environment} finds {library} nowhere else than in {directory}",
            program=use.program,
            environment=use.environment,
            library=use.library.soname,
            directory=view.directory,
        )
    if not view.looked_at:
        return text("left alone: no Python environment of this machine was found that could need it")
    return counted(
        "left alone: the {count} Python environment that was looked at does not need it. nvcc links the CUDA runtime statically "
        "unless told otherwise, and PyTorch brings its own libraries. Turn it on if a program of yours says that it cannot find "
        "libcudart, libcublas or the like.",
        "left alone: none of the {count} Python environments that were looked at needs it. nvcc links the CUDA runtime statically "
        "unless told otherwise, and PyTorch brings its own libraries. Turn it on if a program of yours says that it cannot find "
        "libcudart, libcublas or the like.",
        count=view.looked_at,
    )


def _uses(world: World, loader: Loader, environment: PythonEnvironment, directory: str) -> Iterator[LibraryUse]:
    sites = value_or(environment.sites, ())
    for library in libraries.read(world.files, sites, loader, directory):
        # onnxruntime and its like find what the wheels beside them bring once torch, or their own code, has loaded it.
        places = (f"{site}/{place}/{library.soname}" for site in sites for place in ("nvidia/*/lib", "torch/lib"))
        if library.taken and (library.own or not any(world.files.glob(place) for place in places)):
            yield LibraryUse(environment.name, library)


def _confirmed(world: World, use: LibraryUse, directory: str) -> LibraryUse:
    """Asks the loader itself, which lists what it would load and runs none of it."""
    loader = next((place for place in _LOADERS if world.files.exists(place)), "")
    if not world.files.live or not loader:
        return use
    environment: Mapping[str, str] = {**clean({"PATH": "/usr/bin:/bin"}), "LD_LIBRARY_PATH": directory}
    outcome = world.processes.run((loader, "--list", use.library.program), seconds=_CONFIRM_SECONDS, environment=environment)
    listed = {words[0]: words[2] for words in map(str.split, outcome.text.splitlines()) if words[1:2] == ["=>"] and len(words) > 2}
    if use.library.soname not in listed:
        return use
    taken = world.files.real(listed[use.library.soname]) == world.files.real(use.library.taken)
    return LibraryUse(use.environment, use.library, confirmed=taken)


# Whether a toolkit's libraries go on LD_LIBRARY_PATH, decided by what this machine's programs need and what it would break.


def choose_loader(world: World, machine: Machine, toolkit: Toolkit, wish: LdLibraryPath) -> LoaderChoice:
    """For a machine whose environments were looked at: `AUTO` turns it on where a program finds a library nowhere else, and never
    where another program would load an older library in place of its own.
    """
    by_rule = choose_loader_path(world.files, toolkit, wish)
    if wish is LdLibraryPath.OFF or isinstance(machine.environments, Unknown):
        return by_rule
    view = look(world, machine.environments, library_directory(world.files, toolkit))
    if not (view.needs or view.hurts) and (by_rule.on or not view.looked_at or by_rule.listed):
        return by_rule
    on = wish is LdLibraryPath.ON or (bool(view.needs) and not view.hurts)
    return LoaderChoice(on=on, reason=reason(view, on=on), harms=bool(view.hurts) and not on)


_CONFIGURATION_AT_MOST_BYTES = 1 << 16


class LoaderChoice(Struct, frozen=True):
    """What was decided about a new line for LD_LIBRARY_PATH, and what it rests on; what stands there already follows the toolkit.

    `listed` where the loader finds the libraries without it; `harms` where a program of this machine breaks with them on it, so
    that what stands there is taken out.
    """

    on: bool
    reason: Text
    listed: bool = False
    harms: bool = False


def choose_loader_path(files: Files | None, toolkit: Toolkit, wish: LdLibraryPath) -> LoaderChoice:
    """Whether to write LD_LIBRARY_PATH, where no program was looked at; `files` is none for a recorded machine."""
    if wish is LdLibraryPath.ON:
        return LoaderChoice(
            on=True, reason=text("you asked for it; it comes before the libraries that Python packages bring along")
        )
    if wish is LdLibraryPath.OFF:
        return LoaderChoice(on=False, reason=text("you asked for no toolkit on it"))
    listed = _listed_in(files, library_directory(files, toolkit)) if files else ""
    if listed:
        reason = text(
            "not needed: {file} lets the loader find this toolkit's libraries.",
            file=listed,
        )
        return LoaderChoice(on=False, reason=reason, listed=True)
    reason = text(
        "left alone: nvcc links the CUDA runtime statically unless told otherwise, PyTorch brings its own CUDA libraries, and "
        "LD_LIBRARY_PATH would come before those. Turn it on if a program of yours says that it cannot find libcudart, libcublas "
        "or the like. Based on general rules; no program of this machine was looked at."
    )
    return LoaderChoice(on=False, reason=reason)


def library_directory(files: Files | None, toolkit: Toolkit) -> str:
    """Where the toolkit's libraries lie: lib64, or lib where it has no lib64."""
    if files is None:
        return toolkit.root + "/lib64"
    return next(
        (f"{toolkit.root}/{name}" for name in ("lib64", "lib") if files.is_directory(f"{toolkit.root}/{name}")),
        toolkit.root + "/lib64",
    )


def _listed_in(files: Files, directory: str) -> str:
    wanted = {directory, files.real(directory)}
    for path in ("/etc/ld.so.conf", *files.glob("/etc/ld.so.conf.d/*.conf")):
        try:
            content = files.read_text(path, _CONFIGURATION_AT_MOST_BYTES)
        except OSError:
            continue
        lines = (line.partition("#")[0].strip() for line in content.splitlines())
        directories = (str(PurePosixPath(line)) for line in lines if line.startswith("/"))
        if any(directory in wanted or files.real(directory) in wanted for directory in directories):
            return path
    return ""
