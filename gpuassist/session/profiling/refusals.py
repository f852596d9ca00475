"""Why a file is not read as a profile, in the user's words, with what makes something of it that can be."""

from __future__ import annotations

import shlex

from gpuassist.model.text import Text, text
from gpuassist.session.profiling.answers import NotRead, ReadNothing
from gpuassist.session.without_numpy import WITHOUT_NUMPY
from gpuassist.system.files import Files

IMPORTER = "QdstrmImporter"
"""Of Nsight Systems; it lies beside the programs with windows, where PATH does not lead."""

_IMPORTERS = (
    "/usr/lib/nsight-systems/host-linux-*/QdstrmImporter",
    "/usr/local/cuda*/nsight-systems-*/host-linux-*/QdstrmImporter",
    "/opt/nvidia/nsight-systems-cli/*/host-linux-*/QdstrmImporter",
    "/opt/nvidia/nsight-systems/*/host-linux-*/QdstrmImporter",
)


class ProfileError(Exception):
    """The file cannot be read as a profile; `reason` says why, `lines` what to type in its place."""

    def __init__(self, reason: Text, lines: tuple[str, ...] = ()) -> None:
        super().__init__(reason)
        self.reason, self.lines = reason, lines


def importer_of(files: Files) -> str:
    """The program that makes a report of a stream, by its path where it is found."""
    found = [one for pattern in _IMPORTERS for one in files.glob(pattern) if files.is_file(one)]
    return found[-1] if found else IMPORTER


def refusal(path: str, told: ReadNothing, importer: str = IMPORTER) -> ProfileError:
    """What the child said, in the user's words."""
    found = _of_another_program(path, told.why, importer)
    return ProfileError(*found) if found is not None else ProfileError(_reason(path, told))


def _of_another_program(path: str, why: NotRead, importer: str) -> tuple[Text, tuple[str, ...]] | None:
    """Files that are known, and belong to a program that reads them: what each is, and what to type."""
    name, stem = shlex.quote(path), path.rpartition(".")[0]
    export, table = shlex.quote(f"{stem}.sqlite"), shlex.quote(f"{stem or path}.txt")
    known: dict[NotRead, tuple[Text, tuple[str, ...]]] = {
        NotRead.NSYS_REPORT: (
            text("{path} is Nsight Systems' own file, which only its programs read; export it first", path=path),
            (f"nsys export --type sqlite {name}", f"gpuassist profile {export}"),
        ),
        NotRead.NSYS_STREAM: (
            text(
                "{path} is what Nsight Systems has collected and not made a report of yet;"
                " its importer does that, and then export it",
                path=path,
            ),
            (
                f"{shlex.quote(importer)} -i {name}",
                f"nsys export --type sqlite {shlex.quote(f'{stem}.nsys-rep')}",
                f"gpuassist profile {export}",
            ),
        ),
        NotRead.NCU_REPORT: (
            text("{path} is Nsight Compute's own file, which only its programs read", path=path),
            (f"ncu --import {name}",),
        ),
        NotRead.MEMRAY: (
            text("{path} is memray's own file, about the memory of the processor; memray itself shows it", path=path),
            (f"memray stats {name}", f"memray flamegraph {name}"),
        ),
        NotRead.MEMRAY_PAGE: (
            text("{path} is a report of memray, about the memory of the processor; a browser shows it", path=path),
            (f"xdg-open {name}",),
        ),
        NotRead.LINE_PROFILE: (
            text("{path} is line_profiler's own file, which only it reads; let it print its tables", path=path),
            (f"python3 -m line_profiler {name} > {table}", f"gpuassist profile {table}"),
        ),
        NotRead.SNAPSHOT: (
            text("{path} is a pickle: torch's memory snapshots are such files, and profiles are not", path=path),
            (f"gpuassist snapshot {name}",),
        ),
    }
    return known.get(why)


def _reason(path: str, told: ReadNothing) -> Text:
    said = {
        NotRead.NUMPY: WITHOUT_NUMPY,
        NotRead.EMPTY: text("{path} is empty", path=path),
        NotRead.NO_EVENTS: text("{path} is a JSON document without an event of torch.profiler", path=path),
        NotRead.PAGE: text(
            "{path} is a page for a browser, and of those only scalene's hold a profile; open what it was made from", path=path
        ),
        NotRead.PICTURE: text("{path} is a picture without a frame of a flame graph", path=path),
        NotRead.TOO_LARGE: text("{path} is larger than any profile of its kind", path=path),
        NotRead.MEMORY: text("{path} takes more memory than a profile may", path=path),
        NotRead.NOTHING_KNOWN: text("{path} is no profile that gpuassist knows", path=path),
        NotRead.NO_FILE: text("{path} could not be read: {words}", path=path, words=told.words or "?"),
        NotRead.DAMAGED: text("{path} is damaged, or no profile: {words}", path=path, words=told.words),
    }
    return said[told.why]
