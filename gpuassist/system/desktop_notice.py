"""A notice on the user's desktop, by the program that its distribution ships for that: nothing of ours stays on the bus."""

from __future__ import annotations

from gpuassist.model.text import Text, text
from gpuassist.system.ownership import on_path
from gpuassist.system.world import World

_SECONDS = 10.0
_NOTIFY_SEND, _GDBUS = "notify-send", "gdbus"
_METHOD = ("--dest", "org.freedesktop.Notifications", "--object-path", "/org/freedesktop/Notifications")


def why_no_notice(world: World) -> Text | None:
    """Why no notice can be shown from here; None where one can."""
    around = world.surroundings
    if not around.variables.get("DBUS_SESSION_BUS_ADDRESS") and not world.files.exists(f"/run/user/{around.uid}/bus"):
        return text("there is no desktop session here to show a notification in (no D-Bus session bus)")
    if _program(world) is None:
        return text("neither notify-send nor gdbus is installed, one of which shows notifications (packages libnotify-bin, glib2)")
    return None


def show_notice(world: World, title: str, words: str, *, urgent: bool = False) -> Text | None:
    """Shows it, words that hide nothing; why that failed, where it did."""
    why_not = why_no_notice(world)
    if why_not is not None:
        return why_not
    around = world.surroundings
    environment = dict(around.variables)
    environment.setdefault("DBUS_SESSION_BUS_ADDRESS", f"unix:path=/run/user/{around.uid}/bus")
    done = world.processes.run(_command(world, title, words, urgent=urgent), seconds=_SECONDS, environment=environment)
    if done.succeeded:
        return None
    said = done.stderr.decode("utf-8", "replace").strip() or done.words or done.ending.value
    return text("the desktop did not take the notification: {words}", words=said)


def _program(world: World) -> str | None:
    return next((name for name in (_NOTIFY_SEND, _GDBUS) if on_path(world, name) is not None), None)


def _command(world: World, title: str, words: str, *, urgent: bool) -> tuple[str, ...]:
    if _program(world) == _NOTIFY_SEND:
        return (_NOTIFY_SEND, "--app-name=gpuassist", f"--urgency={'critical' if urgent else 'normal'}", "--", title, words)
    call = ("--method", "org.freedesktop.Notifications.Notify", "gpuassist", "0", "", _quoted(title), _quoted(words))
    return (_GDBUS, "call", "--session", *_METHOD, *call, "[]", f"{{'urgency': <byte {2 if urgent else 1}>}}", "-1")


def _quoted(words: str) -> str:
    """As GVariant's text format has a string: gdbus takes words that look like another type for that type."""
    escaped = words.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return f"'{escaped}'"
