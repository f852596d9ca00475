"""The machine that a subcommand is about, read and judged: this one, or the recording that `--machine` names."""

from __future__ import annotations

from gpuassist.cli.context import Context, UsageError, load_probes
from gpuassist.detect.recording import RecordingError
from gpuassist.model.text import text
from gpuassist.session.inspect import Inspection, inspect, inspection_of, open_recording


def inspect_machine(context: Context, *, with_changes: bool = False) -> Inspection:
    """`with_changes`: a finding of this machine that a change explains says so. Raises `UsageError` for what is no recording."""
    if context.other is not None:
        return inspection_of(context.session, context.look_there(context.other), host=context.other.host)
    if context.machine_file:
        try:
            return open_recording(context.session, context.machine_file)
        except RecordingError as error:
            raise UsageError(error.reason) from error
    load_probes()
    found = inspect(context.session, on_progress=lambda section: context.passing(text("looked at: {section}", section=section)))
    if with_changes and found.convicts:
        from gpuassist.session.past import explained  # where nothing is wrong, nothing has to be explained

        found = explained(context.session, found)
    context.passing()
    return found
