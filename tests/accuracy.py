"""How well pasted texts are explained, category by category: `python -m tests.accuracy [--file F] [--category X] [--missed]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator

from gpuassist.app import compose
from tests.pasted_cases import Judged, judged, pasted_cases


def main() -> int:
    """Prints the table, and with `--missed` each case that went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", default="public", help="which file of tests/cases/texts")
    parser.add_argument("--category", default="", help="only this one")
    parser.add_argument("--missed", action="store_true", help="list what went wrong")
    parser.add_argument("--id", default="", help="only cases whose id holds this; prints their text and answers")
    options = parser.parse_args()
    cases = [case for case in pasted_cases(options.file) if options.category in {"", case.category} and options.id in case.id]
    results = judged(compose("en"), cases)
    lines = [*_table(results), *(_missed(results) if options.missed else ()), *(_whole(results) if options.id else ())]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0 if all(one.right for one in results) else 1


def _table(results: tuple[Judged, ...]) -> Iterator[str]:
    yield f"{'category':<18}{'right':>10}{'false alarms':>14}{'remedy':>10}"
    for category in sorted({one.case.category for one in results}):
        yield _row(category, [one for one in results if one.case.category == category])
    yield _row("all", results)


def _row(name: str, results: Iterable[Judged]) -> str:
    rows = list(results)
    right = sum(one.right for one in rows)
    told = sum(one.right and not one.unmentioned for one in rows)
    alarms = sum(one.false_alarm for one in rows)
    return f"{name:<18}{f'{right}/{len(rows)}':>10}{alarms:>14}{f'{told}/{right}':>10}"


def _missed(results: tuple[Judged, ...]) -> Iterator[str]:
    for one in results:
        if not one.right:
            yield f"WRONG  {one.case.id}: {one.answered or 'not known'}, not {one.case.cause}{_also(one)}"
        elif one.unmentioned:
            yield f"REMEDY {one.case.id}: {one.answered} does not mention {'; '.join(one.unmentioned)}"


def _also(one: Judged) -> str:
    return f" (or {', '.join(one.case.also)})" if one.case.also else ""


def _whole(results: tuple[Judged, ...]) -> Iterator[str]:
    for one in results:
        yield from ("", one.case.words, "")
        for answer in one.explanation.answers:
            yield f"{answer.severity.value}: {answer.id}: {answer.title}"
            yield from (f"    {evidence.value.parameters} [{evidence.source}]" for evidence in answer.evidence)
            yield from (f"  > {remedy.text}" for remedy in answer.remedies)
        yield from (f"less likely: {doubt.answer.id}: {doubt.reason.message}" for doubt in one.explanation.less_likely)


if __name__ == "__main__":
    sys.exit(main())
