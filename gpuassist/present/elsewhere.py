"""What is said where another machine than this one is shown: a recorded one, or one over SSH, whose name is `host` (else empty)."""

from __future__ import annotations

from gpuassist.model.text import Text, text


def only_looked_at(host: str) -> Text:
    """Of a machine over SSH."""
    return text("{host} is only looked at from here: what changes it is done there.", host=host)


def cannot_be_changed(host: str) -> Text:
    return only_looked_at(host) if host else text("A recorded machine can be viewed, not changed.")


def whose_window(host: str) -> Text:
    """Above every page."""
    return text("This window shows {host}, over SSH. It is only looked at: nothing there is changed from here.", host=host)


def nothing_to_change(host: str) -> tuple[Text, Text, Text]:
    """In the place of a change that cannot even be planned: a heading, a title, and why."""
    if host:
        why = text("Its start-up files, environments and projects are there. Type there what changes them: `gpuassist use`.")
        return text("Nothing can be changed on {host} from here.", host=host), text("This is {host}, over SSH", host=host), why
    why = text("Its start-up files, environments and projects are not in the recording, so nothing can be planned.")
    return text("Nothing can be changed on a recorded machine."), text("This is a recorded machine"), why


def only_previewed(host: str) -> Text:
    if host:
        return text("This is {host}, over SSH: the change can be previewed here, but made only there.", host=host)
    return text("This is a recorded machine: the change can be previewed here, but made only on that machine.")


def cannot_compute(host: str) -> tuple[Text, Text]:
    """A title, and why."""
    if host:
        what = text("{host} is only looked at from here. Type there: `gpuassist verify`", host=host)
        return text("Not on another machine"), what
    why = text("This is a recorded machine: nothing can be computed on it from here.")
    return text("Not on a recorded machine"), why


def as_it_was(host: str) -> Text:
    """When what is shown was so."""
    return text("As of the last reading of {host}", host=host) if host else text("As recorded")
