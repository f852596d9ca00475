"""The build of torch that a conda command may name: one that the table of conda's builds has, also without a machine."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.signature import SignatureInput, passages
from gpuassist.knowledge.conda import arguments, named_build
from gpuassist.knowledge.specifier import version_in
from gpuassist.model.fact import Known, value_or
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import Parameter

_ADDRESS = lazy_regex(r"https?://(?P<host>[\w.-]{3,80})(?P<path>/[^\s|]{0,120})?")
_OWN_HOSTS = frozenset({"conda.anaconda.org", "repo.anaconda.com", "repo.continuum.io", "conda-static.anaconda.org"})
_COMMAND = r"\b(?:conda|mamba|micromamba) install(?P<names>[^\n]{1,200})"
_NAMED = lazy_regex(r"[a-z][\w.-]{1,60}(?=$|[=<>!])")
_CHANGED = lazy_regex(r"cuda[^\n]{0,80} --> ")


def origin(setting: SignatureInput, line: str, arguments: str) -> dict[str, Parameter]:
    """Where a build comes from, or why conda gave up the one with CUDA: a mirror in its line or among the channels, or another
    package that was asked for where the line tells of a change.
    """
    channels = passages(setting, ("channels:",), r"Channels:\s{0,3}\n(?:\s{0,4}- [^\n]{1,160}\n){1,12}", window=900)
    told: dict[str, Parameter] = {}
    for words in (line, *(one[0] for one in channels)):
        address = next((one for one in _ADDRESS.finditer(words) if one["host"] not in _OWN_HOSTS), None)
        if address is not None:
            told["mirror"] = address[0].rstrip("/,;")
            told["direct"] = arguments.replace("-c conda-forge", f"--override-channels -c {_CONDA_FORGE}") if arguments else ""
            break
    if _CHANGED.search(line):
        told["package"] = next((name for one in passages(setting, ("install",), _COMMAND) for name in _asked(one["names"])), "")
    return told


_CONDA_FORGE = "https://conda.anaconda.org/conda-forge"


def _asked(names: str) -> Iterator[str]:
    """The packages of a command; what follows `-c` or `-n` is none."""
    words = names.split()
    for before, word in zip(["", *words], words, strict=False):
        found = _NAMED.match(word)
        if found and not before.startswith("-") and found[0] not in {"pytorch", "torchvision", "torchaudio"}:
            yield found[0]


def named_torch(case: RuleInput, torch: str) -> dict[str, Parameter]:
    """The parameters of a finding about this torch of conda's: its version, and the command's `arguments` with their `cuda`;
    without these where no build of it is known that serves the GPUs and the driver at hand.
    """
    wanted = version_in(torch)
    if wanted is None:
        return {"torch": torch}
    knowledge = case.knowledge
    build = named_build(
        knowledge.conda(),
        knowledge.torch_builds(wanted),
        wanted,
        machine=value_or(case.machine.host.architecture, "") or "x86_64",
        capabilities=case.capabilities,
        driver=case.driver.value if isinstance(case.driver, Known) else None,
    )
    if build is None:
        return {"torch": torch}
    return {"torch": torch, "cuda": str(build.cuda), "arguments": arguments(build)}
