"""What files of the whole system set up for CUDA programs: toolkit links, the loader's directories, lists for containers."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatch

from gpuassist.detect.small_files import made, read
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.system_wide import ContainerList, LoaderDirectory, SystemWide, ToolkitLink
from gpuassist.model.text import text
from gpuassist.model.version import Version
from gpuassist.system.files import Files
from gpuassist.system.world import World

_LINKS = ("/usr/local/cuda", "/usr/local/cuda-[0-9]", "/usr/local/cuda-[0-9][0-9]", "/opt/cuda")
_CONFIGURATION = "/etc/ld.so.conf.d"
_LIBRARIES = ("libcuda.so*", "libcudart.so*", "libcudnn.so*", "libcublas.so*", "libnvJitLink.so*", "libnccl.so*")
_CONTAINER_LISTS = ("/etc/cdi/*.yaml", "/etc/cdi/*.json", "/var/run/cdi/*.yaml", "/var/run/cdi/*.json")
# The line of a CDI specification that hands in the driver's own library.
_LISTED = lazy_regex(r"/lib(?:cuda|nvidia-ml)\.so\.(\d{3,}\.\d+(?:\.\d+)?)\b")


def probe(world: World) -> SystemWide:
    files = world.files
    links = dict.fromkeys(path for pattern in _LINKS for path in files.glob(pattern) if files.is_link(path))
    loader = (one for file in files.glob(f"{_CONFIGURATION}/*.conf") for one in _directories(files, file))
    lists = [path for pattern in _CONTAINER_LISTS for path in files.glob(pattern) if "nvidia" in path.rpartition("/")[2]]
    return SystemWide(
        links=Known(tuple(_link(files, path) for path in links), _LINKS[0]),
        loader=Known(tuple(loader), _CONFIGURATION),
        container_lists=Known(tuple(ContainerList(path, _driver_of(files, path)) for path in lists), "/etc/cdi, /var/run/cdi"),
    )


def _link(files: Files, path: str) -> ToolkitLink:
    target = files.real(path)
    return ToolkitLink(path, target, files.is_directory(target), files.readlink(path).startswith("/etc/alternatives/"))


def _directories(files: Files, file: str) -> Iterator[LoaderDirectory]:
    words = read(files, file)
    if isinstance(words, Unknown):
        return
    for line in words.value.splitlines():
        directory = line.partition("#")[0].strip()
        if directory.startswith("/"):
            # Each library once, by its first name: `libcudart.so`.
            names = files.names(directory)
            libraries = tuple(
                sorted({pattern.removesuffix("*") for pattern in _LIBRARIES if any(fnmatch(name, pattern) for name in names)})
            )
            if libraries:
                yield LoaderDirectory(file, directory, files.real(directory), libraries)


def _driver_of(files: Files, path: str) -> Fact[Version]:
    words = read(files, path)
    found = _LISTED.search(words.value) if isinstance(words, Known) else None
    if isinstance(words, Known) and found is None:
        return Unknown(text("{path} names no library with a driver's version", path=path))
    return made(words, lambda _: Version.parse(found[1] if found else ""))
