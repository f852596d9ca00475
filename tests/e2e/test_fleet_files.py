"""The files of docs/fleet, by Prometheus's own tool."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuassist.formats.dcgm import METRICS
from gpuassist.present import metrics

FLEET = Path(__file__).parents[2] / "docs" / "fleet"


def promtool(*arguments: str) -> None:
    done = subprocess.run(["promtool", *arguments], capture_output=True, text=True, cwd=FLEET, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.needs("promtool")
def test_the_alerts_fire_when_they_should_and_not_before() -> None:
    promtool("test", "rules", "alerts_test.yml")
    promtool("check", "config", "prometheus.yml")


@pytest.mark.needs("promtool")
def test_every_query_of_the_dashboard_can_be_read(tmp_path: Path) -> None:
    dashboard = json.loads((FLEET / "grafana-dashboard.json").read_text())
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    queries += [one["expr"] for one in dashboard["annotations"]["list"]]
    assert len(queries) > 15
    rules = [{"record": f"query_{number}", "expr": _filled(one)} for number, one in enumerate(queries)]
    path = tmp_path / "rules.yml"
    path.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    promtool("check", "rules", str(path))


def test_the_dashboard_asks_for_nothing_that_nobody_tells() -> None:
    told = Path(metrics.__file__).read_text()
    for name in set(_metrics_in(json.loads((FLEET / "grafana-dashboard.json").read_text()))):
        assert name in METRICS or name.removesuffix("_total") in told, name


def _filled(query: str) -> str:
    return query.replace("$host", ".*").replace("$gpu", ".*")


def _metrics_in(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name, one in value.items():
            if name == "expr":
                yield from re.findall(r"\b(?:DCGM_FI|gpuassist)_\w+", str(one))
            else:
                yield from _metrics_in(one)
    elif isinstance(value, list):
        for one in value:
            yield from _metrics_in(one)
