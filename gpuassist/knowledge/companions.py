"""What belongs to a torch in an environment: what moves along with another build of it, and what will not work with that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from gpuassist.knowledge.records import BadPair, Companion, TorchBuild, TorchRelease, WheelRecord
from gpuassist.knowledge.specifier import admits, version_in
from gpuassist.model.environment import Package
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import Text, text
from gpuassist.model.version import ComputeCapability, Version

ALWAYS = ("torch", "torchvision", "torchaudio")
_FOLLOW = ("torchaudio", "torchtext", "torchdata", "xformers")  # torchvision's own wheels ask for the torch that they fit
_BUILT_FOR_ONE = ("flash-attn",)  # each wheel fits one torch, CUDA major and Python
_OTHERS_OF_NVIDIA = frozenset({"jax", "jaxlib", "tensorflow"})  # they may use the same wheels of CUDA's libraries
_NOT_OF_TORCH = frozenset({"nvidia-ml-py"})  # asks the driver, for any program
_TRITONS = ("triton", "pytorch-triton")
# The tags under which PyTorch's index has been seen to hold xformers; in others pip would find none, and install nothing.
_XFORMERS = frozenset({"cu118", "cu121", "cu124", "cu126", "cu128", "cu129", "cu130"})
_OPEN_ENDED = lazy_regex(r">=([\d.]+)")


class Company(Struct, frozen=True):
    """`requirements` are installed at once with torch and from its index, `others` from where the user's packages come from;
    `left` is what will not work with that torch, and what helps.
    """

    requirements: tuple[str, ...]
    others: tuple[str, ...] = ()
    left: tuple[Text, ...] = ()


def company_of(
    build: TorchBuild,
    packages: Iterable[Package],
    release: TorchRelease | None,
    pairs: Iterable[BadPair],
    *,
    releases: Iterable[TorchRelease] = (),
) -> Company:
    """What comes with a build into an environment that has, or had, these packages; `releases` tell what ended with an
    older torch.
    """
    here = {one.name: one.version for one in packages}
    belongs = {one.name: one for one in release.companions_of(build.newest)} if release else {}
    lacking = {"xformers"} if build.tag not in _XFORMERS else set()
    moving = (belongs[name] for name in _FOLLOW if name in here and name in belongs and name not in lacking)
    known = tuple(pairs)
    limits = _limits(build, known, {*here, "numpy"})
    return Company(
        (f"torch=={build.newest}", "torchvision", *map(requirement, moving), *limits),
        tuple(_others(here, belongs, known)),
        tuple(_left(build, here, belongs, _ends(releases))),
    )


def _ends(releases: Iterable[TorchRelease]) -> dict[str, Version]:
    """The last torch that each companion has a release for."""
    return {one.name: release.release for release in sorted(releases, key=lambda each: each.release) for one in release.companions}


def requirement(companion: Companion) -> str:
    """As pip takes it: `torchaudio==2.7.1`, `xformers>=0.0.35`."""
    sign = "" if companion.version[:1] in "<>=~!" else "=="
    return f"{companion.name}{sign}{companion.version}"


def of_torch(packages: Iterable[Package], wheels: Iterable[str]) -> tuple[str, ...]:
    """Everything that belongs to torch, what it brought among it: `wheels` are NVIDIA's, which stay where another framework uses
    them.
    """
    names = [one.name for one in packages]
    if "torch" not in names:
        return (*ALWAYS, "triton")  # what is there is not known, and pip passes over what is not
    libraries = () if _OTHERS_OF_NVIDIA & set(names) else set(wheels) - _NOT_OF_TORCH
    return tuple(dict.fromkeys(name for name in names if _is_of_torch(name) or name in libraries))


def built_for_it(packages: Iterable[Package]) -> tuple[str, ...]:
    """torch and what is installed anew with another: not the libraries that it brought."""
    names = [one.name for one in packages]
    chosen = {*ALWAYS, *_FOLLOW}
    return tuple(name for name in names if name in chosen) if "torch" in names else ALWAYS


def _is_of_torch(name: str) -> bool:
    own = name in {*ALWAYS, *_FOLLOW, *_BUILT_FOR_ONE, *_TRITONS, "torchcodec", "cuda-toolkit", "cuda-bindings"}
    return own or name.startswith(("triton-", "pytorch-triton-"))


def _limits(build: TorchBuild, pairs: Iterable[BadPair], names: set[str]) -> Iterator[str]:
    """`numpy<2` for a torch that does not know NumPy 2, and what else of the environment must stay below a version."""
    for pair in pairs:
        least = _OPEN_ENDED.fullmatch(pair.other.versions)
        if least and pair.one.name == "torch" and admits(pair.one.versions, build.newest) and pair.other.name in names:
            yield f"{pair.other.name}<{least[1]}"


def _others(here: dict[str, str], belongs: dict[str, Companion], pairs: Iterable[BadPair]) -> Iterator[str]:
    """bitsandbytes, which is no part of PyTorch, new enough for the triton that comes with torch."""
    if "bitsandbytes" not in here:
        return
    triton = version_in(belongs["triton"].version.lstrip("<>=~!")) if "triton" in belongs else None
    floors = (
        pair.one.versions.removeprefix("<")
        for pair in pairs
        if (pair.one.name, pair.other.name) == ("bitsandbytes", "triton") and triton and admits(pair.other.versions, triton)
    )
    yield next((f"bitsandbytes>={floor}" for floor in floors), "bitsandbytes")


def _left(build: TorchBuild, here: dict[str, str], belongs: dict[str, Companion], ends: dict[str, Version]) -> Iterator[Text]:
    for name in _FOLLOW:
        if name in here and name not in belongs and name in ends and ends[name] < build.release:
            yield text(
                "{name} {there} will not work: the last {name} belongs to torch {last}, and none to torch {torch}",
                name=name,
                there=here[name],
                last=str(ends[name]),
                torch=str(build.newest),
            )
        elif name in here and name not in belongs:
            yield text(
                "{name} {there} will not work: gpuassist knows no {name} that belongs to torch {torch}",
                name=name,
                there=here[name],
                torch=str(build.newest),
            )
    if "xformers" in here and "xformers" in belongs and build.tag not in _XFORMERS:
        there = here["xformers"]
        yield text("xformers {there} will not work: gpuassist knows no build of it for {tag}", there=there, tag=build.tag)
    for name in _BUILT_FOR_ONE:
        if name in here and build.cuda is not None:
            yield text(
                "{name} {there} is built for the torch that is there: take its wheel for torch {release} and CUDA {major}, or "
                "build it anew with `pip install --no-build-isolation --no-cache-dir {name}`, which needs nvcc",
                name=name,
                there=here[name],
                release=str(build.release),
                major=build.cuda.major,
            )


# Which of the pairs that are known to be bad stand together in an environment, or on a machine.
COMPUTE_CAPABILITY = "compute-capability"  # the one party that is no package: the GPU

_SEPARATORS = lazy_regex(r"[-_.]+")


def bad_pairs_among(
    pairs: Iterable[BadPair], packages: Mapping[str, Version], capabilities: Iterable[ComputeCapability] = ()
) -> tuple[BadPair, ...]:
    """The pairs of which both parties are here; packages by their names as pip or conda list them."""
    here: dict[str, tuple[Version, ...]] = {_SEPARATORS.sub("-", name).lower(): (version,) for name, version in packages.items()}
    here[COMPUTE_CAPABILITY] = tuple(Version((one.major, one.minor)) for one in capabilities)
    parties = ((pair, (pair.one, pair.other)) for pair in pairs)
    return tuple(
        pair
        for pair, both in parties
        if all(any(admits(one.versions, version) for version in here.get(one.name, ())) for one in both)
    )


def holding(library: str, wheels: Iterable[WheelRecord]) -> tuple[WheelRecord, ...]:
    """The packages that hold a library, by its soname (`libcudnn.so.9`) or by the name of its file (`libcudnn.so.9.1.0`)."""
    return tuple(wheel for wheel in wheels if any(library == one or library.startswith(f"{one}.") for one in wheel.libraries))
