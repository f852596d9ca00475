"""The script that reads conda-forge's recipe of torch finds each version's variants, and says what differs from the table."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TOOL = Path("tools/refresh_conda.py").resolve()
CASES = """case ${cuda_compiler_version} in
    12.[89])
        export TORCH_CUDA_ARCH_LIST="5.0;9.0;12.0+PTX"
        ;;
    13.0)
        if [[ "${target_platform}" == "linux-aarch64" ]]; then
            export TORCH_CUDA_ARCH_LIST="8.7;11.0+PTX"
        else
            export TORCH_CUDA_ARCH_LIST="7.5;12.0+PTX"
        fi
        ;;
    *)
        exit 1
esac
"""
IFS = """if [[ ${cuda_compiler_version} == 10.* ]]; then
    export TORCH_CUDA_ARCH_LIST="3.5;7.5+PTX"
elif [[ ${cuda_compiler_version} == 11.2 ]]; then
    export TORCH_CUDA_ARCH_LIST="3.5;8.6+PTX"
fi
"""

pytestmark = pytest.mark.needs("git")


def variant(cuda: str, *pythons: str) -> str:
    listed = "".join(f"- {python}.* *_cpython\n" for python in pythons)
    return f"cuda_compiler_version:\n- '{cuda}'\nlibcudnn_dev:\n- '9'\npython:\n{listed}target_platform:\n- linux-64\n"


def commit(feedstock: Path, version: str, script: str, **variants: str) -> None:
    for name in ("recipe", ".ci_support"):
        (feedstock / name).mkdir(parents=True, exist_ok=True)
    for old in (feedstock / ".ci_support").iterdir():
        old.unlink()
    (feedstock / "recipe/meta.yaml").write_text('{% set version = "' + version + '" %}\n', "utf-8")
    (feedstock / "recipe/build.sh").write_text(script, "utf-8")
    for name, words in variants.items():
        (feedstock / ".ci_support" / f"{name}.yaml").write_text(words, "utf-8")
    git = ["git", "-C", str(feedstock), "-c", "user.name=x", "-c", "user.email=x@x", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "init", "-q", str(feedstock)], check=True)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", version], check=True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    table = tmp_path / "resources/knowledge/conda.json"
    table.parent.mkdir(parents=True)
    header = {"kind": "conda", "schema": 1, "sources": {"feedstock": {"text": "a recipe", "checked": "2026-01-01"}, "previous": {}}}
    kept = {"channel": "pytorch", "version": "2.5.1", "platform": "linux-64", "source": "previous"}
    table.write_text(json.dumps([header, kept]), "utf-8")
    return tmp_path


def refresh(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(TOOL), str(project / "feedstock"), *arguments]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)


def rows(project: Path) -> dict[tuple[str, str, str], dict[str, Any]]:
    assert refresh(project, "--checked", "2026-11-21").returncode == 0
    _, *written = json.loads((project / "resources/knowledge/conda.json").read_text("utf-8"))
    return {(row["version"], row["platform"], row.get("cuda", "")): row for row in written if row["source"] == "feedstock"}


def test_each_variant_becomes_a_row(project: Path) -> None:
    commit(
        project / "feedstock", "2.13.0", CASES, linux_64_a=variant("12.9", "3.12"), linux_64_b=variant("None", "3.12"), osx_64=""
    )
    found = rows(project)
    assert set(found) == {("2.13.0", "linux-64", "12.9"), ("2.13.0", "linux-64", "")}
    assert found["2.13.0", "linux-64", "12.9"]["targets"] == ["sm_50", "sm_90", "sm_120", "compute_120"]
    assert found["2.13.0", "linux-64", "12.9"]["selector"] == "cuda-version"


def test_arm_has_a_list_of_its_own(project: Path) -> None:
    commit(project / "feedstock", "2.13.0", CASES, linux_64_a=variant("13.0", "3.12"), linux_aarch64_a=variant("13.0", "3.12"))
    found = rows(project)
    assert found["2.13.0", "linux-64", "13.0"]["targets"] == ["sm_75", "sm_120", "compute_120"]
    assert found["2.13.0", "linux-aarch64", "13.0"]["targets"] == ["sm_87", "sm_110", "compute_110"]


def test_old_recipe_is_read_if_by_if(project: Path) -> None:
    commit(project / "feedstock", "1.12.1", IFS, linux_64_a=variant("10.2", "3.8"), linux_64_b=variant("11.2", "3.8"))
    found = rows(project)
    assert found["1.12.1", "linux-64", "10.2"]["targets"] == ["sm_35", "sm_75", "compute_75"]
    assert found["1.12.1", "linux-64", "11.2"]["targets"] == ["sm_35", "sm_86", "compute_86"]
    assert found["1.12.1", "linux-64", "11.2"]["selector"] == "cudatoolkit"


def test_variants_and_pythons_of_a_version_add_up(project: Path) -> None:
    commit(project / "feedstock", "2.7.1", CASES, linux_64_a=variant("12.8", "3.9", "3.12"))
    commit(project / "feedstock", "2.7.1", CASES, linux_64_a=variant("12.9", "3.12"))
    commit(project / "feedstock", "2.7.1", CASES, linux_64_a=variant("12.9", "3.13"))
    found = rows(project)
    assert [cuda for _, _, cuda in found] == ["12.8", "12.9"]
    assert found["2.7.1", "linux-64", "12.9"]["pythons"] == ["3.12", "3.13"]


def test_rows_of_other_sources_stay_and_the_day_is_noted(project: Path) -> None:
    commit(project / "feedstock", "2.13.0", CASES, linux_64_a=variant("12.9", "3.12"))
    refresh(project, "--checked", "2026-11-21")
    header, first, *_ = json.loads((project / "resources/knowledge/conda.json").read_text("utf-8"))
    assert header["sources"]["feedstock"]["checked"] == "2026-11-21"
    assert first["source"] == "previous"


def test_a_check_writes_nothing_and_tells_the_difference(project: Path) -> None:
    commit(project / "feedstock", "2.13.0", CASES, linux_64_a=variant("12.9", "3.12"))
    before = (project / "resources/knowledge/conda.json").read_text("utf-8")
    ran = refresh(project, "--check")
    assert (ran.returncode, "2.13.0" in ran.stdout) == (1, True)
    assert (project / "resources/knowledge/conda.json").read_text("utf-8") == before


def test_a_table_that_agrees_passes_the_check(project: Path) -> None:
    commit(project / "feedstock", "2.13.0", CASES, linux_64_a=variant("12.9", "3.12"))
    refresh(project, "--checked", "2026-11-21")
    assert refresh(project, "--check").returncode == 0


def test_writing_needs_the_day(project: Path) -> None:
    assert refresh(project).returncode == 2
