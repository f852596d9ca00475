"""Which kernels Jupyter finds, and in which order."""

from __future__ import annotations

from pathlib import Path

from gpuassist.detect.kernelspecs import KernelSpec, kernelspecs
from gpuassist.system.world import World
from tests.changes.homes import world_at


def _kernel(folder: Path, name: str, content: str = '{"display_name": "One"}') -> str:
    path = folder / "kernels" / name / "kernel.json"
    path.parent.mkdir(parents=True)
    path.write_text(content)
    return str(path)


def _world(home: Path, **variables: str) -> World:
    world = world_at(home)
    world.surroundings.variables.update(variables)  # type: ignore[attr-defined]
    return world


def test_the_users_come_before_those_of_environments(home: Path) -> None:
    other = _kernel(home / "env/share/jupyter", "python3")
    own = _kernel(home / ".local/share/jupyter", "ml")
    found = kernelspecs(_world(home), [f"{home}/env"])
    assert found[:2] == (KernelSpec("ml", own, "One"), KernelSpec("python3", other, "One"))


def test_the_variables_say_where_else(home: Path) -> None:
    paths = [_kernel(home / name, name) for name in ("path", "data", "python")]
    world = _world(home, JUPYTER_PATH=f"relative:{home}/path", JUPYTER_DATA_DIR=f"{home}/data", IPYTHONDIR=f"{home}/python")
    assert [spec.path for spec in kernelspecs(world, ())][:3] == paths


def test_one_file_is_one_kernel(home: Path) -> None:
    _kernel(home / ".local/share/jupyter", "ml")
    (home / "env/share").mkdir(parents=True)
    (home / "env/share/jupyter").symlink_to(home / ".local/share/jupyter")
    assert [spec.name for spec in kernelspecs(_world(home), [f"{home}/env"])].count("ml") == 1


def test_a_file_that_says_nothing_is_a_kernel_all_the_same(home: Path) -> None:
    for number, content in enumerate(("", "[]", "{}", "[" * 50_000)):
        _kernel(home / ".local/share/jupyter", f"k{number}", content)
    assert [spec.title for spec in kernelspecs(_world(home), ()) if spec.name.startswith("k")] == [""] * 4


def test_a_directory_without_the_file_is_none(home: Path) -> None:
    (home / ".local/share/jupyter/kernels/empty").mkdir(parents=True)
    assert "empty" not in [spec.name for spec in kernelspecs(_world(home), ())]
