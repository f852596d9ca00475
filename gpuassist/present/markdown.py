"""Words in Markdown, as they are."""

from __future__ import annotations

from gpuassist.model.lazy_regex import lazy_regex

_OBEYED = lazy_regex(r"([\\*\[\]<>#|~@]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")
_ADDRESS = lazy_regex(r"https?://[^\s<>]{1,300}")


def plain_markdown(words: str) -> str:
    """Words that Markdown shows as they are; addresses stay links, and what stands between two backticks is code."""
    parts = words.split("`")
    if len(parts) % 2 == 0:
        return _with_links(words).replace("`", "\\`")
    return "".join(f"`{one}`" if place % 2 else _with_links(one) for place, one in enumerate(parts))


def _with_links(words: str) -> str:
    parts, end = list[str](), 0
    for found in _ADDRESS.finditer(words):
        parts += [_OBEYED.sub(r"\\\1", words[end : found.start()]), f"<{found[0]}>"]
        end = found.end()
    return "".join((*parts, _OBEYED.sub(r"\\\1", words[end:])))
