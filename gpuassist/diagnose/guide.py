"""A guide's file: Markdown whose first line is its title; which topics there are is told by the files themselves."""

from __future__ import annotations

from collections.abc import Callable

FOLDER = "guides"
ENGLISH = ".en.md"


def read_guide(read: Callable[[str], bytes], topic: str, language: str) -> tuple[str, str]:
    """Title and Markdown of a topic, in English where it was not translated; raises `FileNotFoundError` where there is none."""
    try:
        content = read(f"{FOLDER}/{topic}.{language}.md")
    except FileNotFoundError:
        content = read(f"{FOLDER}/{topic}{ENGLISH}")
    heading, _, body = content.decode("utf-8", "replace").partition("\n")
    return heading.removeprefix("#").strip(), body.strip() + "\n"
