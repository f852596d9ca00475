"""The torch that an environment would import: where it looks, and what the files there say."""

from __future__ import annotations

from gpuassist.detect.prefixes import Prefix
from gpuassist.formats.elf import constant_sections
from gpuassist.formats.packages import recorded_sizes
from gpuassist.formats.torch import find_targets, parse_version_file
from gpuassist.model.environment import Accelerator, Manager, Torch
from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown
from gpuassist.model.text import text
from gpuassist.model.version import Target, Version, VersionError
from gpuassist.system.files import Files
from gpuassist.system.world import World

_SECTION_AT_MOST_BYTES = 64 << 20
_RECORD_AT_MOST_BYTES = 8 << 20  # of torch 2.13: 1.5 MB


def site_directories(
    world: World, prefix: Prefix, settings: dict[str, str], *, version: Fact[Version], python_path: str
) -> tuple[str, ...]:
    """The directories that this environment imports packages from, in the order of sys.path (site.py of CPython)."""
    if isinstance(version, Unknown):
        return ()
    release = version.value.release
    own = _own(world.files, prefix, release)
    user = f"{world.surroundings.home}/.local/lib/python{release}/site-packages"
    given = tuple(part for part in python_path.split(":") if part.startswith("/"))
    if not settings:
        return (*given, user, *own)
    if settings.get("include-system-site-packages", "").lower() != "true":
        return (*given, *own)
    base = settings.get("home", "/usr/bin").rstrip("/").removesuffix("/bin")
    return (*given, *own, user, *_own(world.files, Prefix(base, Manager.SYSTEM), release))


def is_there(files: Files, site: str) -> bool:
    return files.is_file(f"{site}/torch/version.py")


def read(files: Files, site: str) -> Torch:
    """What the torch in this directory says of itself."""
    path = f"{site}/torch"
    source = f"{path}/version.py"
    try:
        said = parse_version_file(files.read_text(source, 1 << 16))
    except OSError as error:
        unreadable = _unreadable(source, error)
        return Torch(path, unreadable, unreadable, unreadable, unreadable, installer=_installer(files, site, ""))
    accelerator = _accelerator(said, source)
    version = said.get("__version__", "")
    installer = _installer(files, site, version)
    return Torch(
        path=path,
        version=Known(version, source) if version else Unknown(text("{path} names no version", path=source)),
        accelerator=accelerator,
        cuda=_cuda(said, source, accelerator),
        targets=_targets(files, path, source, accelerator),
        installer=installer,
        damaged=_damaged(files, site, version, installer),
    )


def _own(files: Files, prefix: Prefix, release: Version) -> tuple[str, ...]:
    path = prefix.path
    places = [f"{path}/lib/python{release}/site-packages", f"{path}/lib64/python{release}/site-packages"]
    if prefix.manager is Manager.SYSTEM:  # Debian's own directories; /usr/local's come before /usr's
        places = [
            f"/usr/local/lib/python{release}/dist-packages",
            *places,
            f"{path}/lib/python3/dist-packages",
        ]
    found: dict[str, str] = {}
    for place in places:
        if files.is_directory(place):
            found.setdefault(files.real(place), place)
    return tuple(found.values())


def _accelerator(said: dict[str, str], source: str) -> Fact[Accelerator]:
    if "__version__" not in said:
        return Unknown(text("{path} names no version", path=source))
    for name, accelerator in (("cuda", Accelerator.CUDA), ("hip", Accelerator.ROCM), ("xpu", Accelerator.XPU)):
        if said.get(name):
            return Known(accelerator, source)
    return Known(Accelerator.CPU, source)


def _cuda(said: dict[str, str], source: str, accelerator: Fact[Accelerator]) -> Fact[Version]:
    if isinstance(accelerator, Unknown) or accelerator.value is not Accelerator.CUDA:
        return NOT_ASKED
    try:
        return Known(Version.parse(said["cuda"]), source)
    except VersionError:
        return Unknown(text("{path} names a CUDA version that is none: {words}", path=source, words=said["cuda"]))


def _targets(files: Files, path: str, source: str, accelerator: Fact[Accelerator]) -> Fact[tuple[Target, ...]]:
    if isinstance(accelerator, Unknown):
        return accelerator
    if accelerator.value is not Accelerator.CUDA:
        return Known((), source)
    library = f"{path}/lib/libtorch_python.so"
    try:
        found = _search(files, library)
    except OSError as error:
        return _unreadable(library, error)
    return Known(found, library) if found else Unknown(text("{path} names no architectures", path=library))


def _search(files: Files, library: str) -> tuple[Target, ...]:
    for offset, size in constant_sections(lambda start, length: files.read_part(library, start, length)):
        found = find_targets(files.read_part(library, offset, min(size, _SECTION_AT_MOST_BYTES)))
        if found:
            return found
    return ()


def _records(files: Files, site: str, version: str) -> list[str]:
    """The directories with torch's metadata, first that of its own release."""
    records = [name for name in files.names(site) if name.startswith("torch-") and name.endswith(".dist-info")]
    # PyPI's own wheels leave the +cuXXX out of the record's name, so that the release is all that can be compared.
    release = version.partition("+")[0]
    return sorted(records, key=lambda name: not name.startswith(f"torch-{release}"))


def _damaged(files: Files, site: str, version: str, installer: Fact[str]) -> Fact[tuple[str, ...]]:
    """conda moves and rewrites libraries, so its records are not asked; nor is what was built in place."""
    if not isinstance(installer, Known) or installer.value not in {"pip", "uv"}:
        return NOT_ASKED
    record = f"{site}/{_records(files, site, version)[0]}/RECORD"
    try:
        sizes = recorded_sizes(files.read_text(record, _RECORD_AT_MOST_BYTES))
    except OSError as error:
        return _unreadable(record, error)
    return Known(tuple(path for path, size in sizes.items() if not _is_whole(files, f"{site}/{path}", size)), record)


def _is_whole(files: Files, path: str, size: int) -> bool:
    """A module may have been edited on purpose, a library is all or nothing."""
    try:
        return files.status(path).st_size == size or path.endswith(".py")
    except OSError:
        return False


def _installer(files: Files, site: str, version: str) -> Fact[str]:
    records = _records(files, site, version)
    stated = next((place for record in records if files.is_file(place := f"{site}/{record}/INSTALLER")), "")
    if stated:
        return Known(files.read_text(stated, 200).strip(), stated)
    meta = f"{site.rpartition('/lib/')[0]}/conda-meta"
    record = next((name for name in files.names(meta) if name.startswith("pytorch-")), "")
    return Known("conda", f"{meta}/{record}") if record else Unknown(text("{path} holds no record of who installed it", path=site))


def _unreadable(path: str, error: OSError) -> Unknown:
    return Unknown(text("{path} could not be read: {words}", path=path, words=error.strerror or ""))
