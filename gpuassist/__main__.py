"""`python -m gpuassist` and the `gpuassist` command."""

from __future__ import annotations

import gc
import os
import sys
from types import ModuleType

_INTERRUPTED = 130


def main() -> None:
    """The entry point of the installed command; ends the process."""
    try:
        from gpuassist.system.interrupts import end_at_once  # before all that takes long to import

        end_at_once()
        # Start-up makes many objects that all stay: looking for garbage among them is a twentieth of a short command's time.
        gc.set_threshold(50_000)
        status = _run()
        end_at_once()
    except KeyboardInterrupt:
        status = _INTERRUPTED
    _leave(status)


def _run() -> int:
    if sys.argv[1:] == ["--version"] and _told_version():
        return 0
    if sys.argv[1:] == ["--nvml-report"]:  # what a frozen gpuassist starts itself with: system.nvml_probe
        from gpuassist.system import nvml_report

        return nvml_report.main()
    if sys.argv[1:] == ["--shell-session"]:  # the same: system.ask_shell
        from gpuassist.system import ask_shell_child

        return ask_shell_child.main()
    if sys.argv[1:2] == ["--sample-gpus"]:  # the same for monitor.sampling_child
        from gpuassist.monitor import sampling_child

        return sampling_child.main()
    if sys.argv[1:2] == ["--watch-load"]:  # the same for verify.load_child
        from gpuassist.verify import load_child

        return load_child.main()
    if sys.argv[1:2] == ["--read-snapshot"]:  # the same for session.torch_snapshot.child
        from gpuassist.session.torch_snapshot import child as snapshot_child

        return snapshot_child.main()
    if sys.argv[1:2] == ["--read-profile"]:  # the same for session.profiling.child
        from gpuassist.session.profiling import child

        return child.main()
    if sys.argv[1:2] == ["monitor"] and "--headless" in sys.argv:
        from gpuassist.monitor.start import begin_early

        begin_early()
    _import_uuid()
    _import_msgspec()
    from gpuassist import app

    return app.main(sys.argv[1:])


def _import_uuid() -> None:
    """Without `platform`, of which it asks one thing and whose patterns take 8 ms: msgspec needs it."""
    name = "platform"
    if name in sys.modules or sys.platform != "linux":
        return
    told = ModuleType(name)
    told.system = lambda: "Linux"  # type: ignore[attr-defined]
    sys.modules[name] = told
    try:
        import uuid  # noqa: F401
    except AttributeError:  # a Python that asks more imports it when msgspec does
        pass
    finally:
        del sys.modules[name]


def _import_msgspec() -> None:
    """Without `typing_extensions`, of which it needs nothing that Python has not had since 3.11: 6 ms where torch brought that."""
    name = "typing_extensions"
    if sys.version_info < (3, 11) or name in sys.modules:
        import msgspec
    else:
        sys.modules[name] = None  # type: ignore[assignment]  # the importer's own sign of what is not to be had
        try:
            import msgspec  # noqa: F401
        finally:
            del sys.modules[name]


def _told_version() -> bool:
    """Scripts ask for it, so it stands before all that an answer needs; where it cannot be written, the command line says why."""
    from gpuassist import __version__

    try:
        os.write(1, f"gpuassist {__version__}\n".encode())  # without the stream, which would keep what it could not write
    except OSError:
        return False
    return True


def _leave(status: int) -> None:
    """Ends at once: a driver's call that never returns, in a thread that was abandoned, must not keep the process alive."""
    from contextlib import suppress

    from gpuassist.system import groups

    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # the stream was never there, or its reader has gone
            stream.flush()
    groups.end_all()
    os._exit(status)


if __name__ == "__main__":
    main()
