"""A recorded machine from a file, as `detect --json` prints it."""

from __future__ import annotations

from gpuassist.model.codec import DecodeError
from gpuassist.model.json_reader import NotJsonError, read_json
from gpuassist.model.machine import Machine, decode_machine
from gpuassist.model.text import Text, text
from gpuassist.system.files import Files

_LARGEST_BYTES = 16 << 20


class RecordingError(Exception):
    """A file is no recorded machine; `reason` says what it is instead."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason)
        self.reason = reason


def read_recording(files: Files, path: str) -> Machine:
    """The machine in the file; raises `RecordingError` for anything else."""
    try:
        # A pipe or a device would never end; a directory says for itself what it is when it is read.
        size = files.status(path).st_size
        if not (files.is_file(path) or files.is_directory(path)) or size > _LARGEST_BYTES:
            raise RecordingError(text("{path} is no recorded machine: it is not a file, or larger than any recording", path=path))
        document = read_json(files.read_bytes(path))
    except OSError as error:
        raise RecordingError(text("{path} could not be read: {words}", path=path, words=error.strerror or str(error))) from error
    except NotJsonError as error:
        raise RecordingError(text("{path} is not a JSON document", path=path)) from error
    try:
        return decode_machine(document)
    except DecodeError as error:
        raise RecordingError(text("{path}: {reason}", path=path, reason=error.reason)) from error
