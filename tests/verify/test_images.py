"""The child in an image: how its engine is asked for it, that it needs no file there, and that it ends with its input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpuassist.model.verdict import Verdict
from gpuassist.model.words import ENGLISH
from gpuassist.system.streams import NotStarted, Quiet
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from gpuassist.verify.bundle import script
from gpuassist.verify.containers import Engine, Inside, NoPlaceError, Passing, Place, passings, place_of
from gpuassist.verify.protocol import NO_INTERPRETER, Refused, parse
from gpuassist.verify.runner import RunRequest, run
from tests.rows import for_each
from tests.scripted_engines import Engines, image_with, torch_that
from tests.torch_environment import surroundings, torch_python

UUID = "GPU-8d9f0a2b-0000-4000-8000-000000000001"
OTHER = "GPU-8d9f0a2b-0000-4000-8000-000000000002"


def words_for(engine: Engine, place: str, passing: Passing, *chosen: str) -> str:
    command, _ = Inside(engine, f"/usr/bin/{engine.value}", place_of(place), passing, chosen).command("abc", "{}")
    return " ".join(command[: command.index("-c")])


ISOLATED = "--network=none --shm-size=1g"
LINES = {
    "docker": (Engine.DOCKER, "docker:a/b:1", Passing.GPUS, (), f"{ISOLATED} --gpus all --entrypoint=sh a/b:1"),
    "docker, one": (
        Engine.DOCKER,
        "docker:a",
        Passing.GPUS,
        (UUID, OTHER),
        f'--gpus "device={UUID},{OTHER}" --env CUDA_VISIBLE_DEVICES={UUID},{OTHER} --entrypoint=sh a',
    ),
    "docker with CDI": (Engine.DOCKER, "docker:a", Passing.CDI, (), f"{ISOLATED} --device=nvidia.com/gpu=all --entrypoint=sh a"),
    "docker without": (Engine.DOCKER, "docker:a", Passing.NONE, (), f"{ISOLATED} --entrypoint=sh a"),
    "podman": (
        Engine.PODMAN,
        "podman:a",
        Passing.CDI,
        (UUID,),
        f"--security-opt=label=disable --device=nvidia.com/gpu=all --env CUDA_VISIBLE_DEVICES={UUID} --entrypoint=sh a",
    ),
    "apptainer": (Engine.APPTAINER, "apptainer:/a b.sif", Passing.NV, (), "/usr/bin/apptainer exec --nv /a b.sif sh"),
    "container": (Engine.PODMAN, "container:a", Passing.THERE, (), "/usr/bin/podman exec --interactive a sh"),
}


@for_each("name", LINES)
def test_what_an_engine_is_asked(name: str) -> None:
    engine, place, passing, chosen, line = LINES[name]
    assert words_for(engine, place, passing, *chosen).endswith(line)


@for_each("engine", (Engine.DOCKER, Engine.PODMAN))
def test_nothing_is_fetched_or_left(engine: Engine) -> None:
    line = words_for(engine, f"{engine.value}:a", Passing.NONE)
    assert {"--pull=never", "--rm", "--interactive"} <= set(line.split())
    assert not {"-v", "--volume", "--mount"} & set(line.split())
    assert Inside(engine, "x", Place(engine.value, "a"), Passing.NONE).end_command("abc") == ("x", "rm", "--force", name_in(line))


def name_in(line: str) -> str:
    words = line.split()
    return words[words.index("--name") + 1]


def test_what_the_users_container_runs_is_not_ended() -> None:
    assert Inside(Engine.DOCKER, "docker", Place("container", "a"), Passing.THERE).end_command("abc") == ()


def test_docker_is_tried_with_its_own_option_and_with_cdi() -> None:
    place = place_of("docker:a")
    assert passings(Engine.DOCKER, place, wanted=True) == (Passing.GPUS, Passing.CDI)
    assert passings(Engine.DOCKER, place, wanted=False) == (Passing.NONE,)


@for_each(
    "words", ["docker", "docker:", "rkt:a", "a", "docker:-v", "docker:a b", "docker:a\nb", "apptainer:docker://a", "container:", ""]
)
def test_what_names_no_place(words: str) -> None:
    with pytest.raises(NoPlaceError) as caught:
        place_of(words)
    assert ENGLISH(caught.value.reason)


@for_each("words", ["docker:nvcr.io/nvidia/pytorch:25.01-py3", "podman:a@sha256:0f", "apptainer:a b.sif", "container:3f2a51c07d1e"])
def test_a_place_is_called_as_it_is_written(words: str) -> None:
    assert place_of(words).label == words


# What runs there.


def verified(engines: Engines, **request: object) -> tuple[Verdict, str, str]:
    world = World(Surroundings.current())
    inside = Inside(Engine.DOCKER, str(engines.folder / "docker"), place_of("docker:a"), Passing.NONE)
    wish = RunRequest("docker:a", surroundings(), inside=inside, **request)  # type: ignore[arg-type]
    result = run(world, wish, on_event=lambda _: None, cancelled=lambda: False)
    return result.verdict, ENGLISH(result.error) if result.error is not None else "", result.output


@pytest.fixture
def engines(tmp_path: Path) -> Engines:
    return Engines(tmp_path)


def test_torchs_own_error_comes_out(engines: Engines, tmp_path: Path) -> None:
    packages = torch_that(tmp_path / "packages", "print('from torch')\nraise ImportError('libcudart.so.12: no such file')")
    engines.runs("docker", image_with(tmp_path / "image", sys.executable, packages))
    verdict, error, output = verified(engines)
    assert (verdict, error) == (Verdict.ERROR, "ImportError: libcudart.so.12: no such file")
    assert "from torch" in output


def test_what_prints_before_all_is_no_report(engines: Engines, tmp_path: Path) -> None:
    packages = torch_that(tmp_path / "packages", "raise ImportError('x')")
    (packages / "sitecustomize.py").write_text('print(\'{"type": "end"}\', flush=True)', "utf-8")
    engines.runs("docker", image_with(tmp_path / "image", sys.executable, packages))
    assert verified(engines)[:2] == (Verdict.ERROR, "ImportError: x")


def test_an_image_without_python_says_so(tmp_path: Path) -> None:
    words = [word.replace(" /", " /nowhere/") for word in script("{}").words]
    done = subprocess.run(["/bin/sh", *words], env={"PATH": str(tmp_path)}, cwd=tmp_path, capture_output=True, check=False)
    event = parse(done.stdout)
    assert isinstance(event, Refused)
    assert (event.error, done.returncode) == (NO_INTERPRETER, 1)


def test_the_interpreter_that_has_torch_is_taken(engines: Engines, tmp_path: Path) -> None:
    image = image_with(tmp_path / "image", sys.executable, torch_that(tmp_path / "packages", "raise ImportError('the second')"))
    os.rename(image / "python3", image / "python")
    (image / "python3").write_text("#!/bin/sh\nexit 1\n", "utf-8")
    (image / "python3").chmod(0o755)
    engines.runs("docker", image)
    assert verified(engines)[1] == "ImportError: the second"


HANGS = """import os, subprocess, time
left = subprocess.Popen(["/bin/sleep", "1000"], start_new_session=True)
with open({place!r} + ".new", "w") as file:
    file.write(f"{{os.getpid()}} {{left.pid}}")
os.rename({place!r} + ".new", {place!r})
time.sleep(1000)
"""


def _runs(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _wait_until_gone(*pids: str) -> None:
    while any(_runs(pid) for pid in pids):  # which they do no more as soon as the end of their input has reached them
        os.sched_yield()


def test_what_runs_there_ends_when_it_is_cancelled(engines: Engines, tmp_path: Path) -> None:
    place = tmp_path / "pids"
    packages = torch_that(tmp_path / "packages", HANGS.format(place=str(place)))
    engines.runs("docker", image_with(tmp_path / "image", sys.executable, packages))
    inside = Inside(Engine.DOCKER, str(engines.folder / "docker"), place_of("docker:a"), Passing.NONE)
    wish = RunRequest("docker:a", surroundings(), inside=inside)
    result = run(World(Surroundings.current()), wish, on_event=lambda _: None, cancelled=place.exists)
    assert result.cancelled
    _wait_until_gone(*place.read_text("utf-8").split())
    assert [line.split()[1] for line in engines.asked] == ["run", "rm"]


def test_what_runs_there_ends_when_its_client_is_killed(engines: Engines, tmp_path: Path) -> None:
    """As with gpuassist itself: whoever is killed closes the input."""
    place = tmp_path / "pids"
    packages = torch_that(tmp_path / "packages", HANGS.format(place=str(place)))
    engines.runs("docker", image_with(tmp_path / "image", sys.executable, packages))
    inside = Inside(Engine.DOCKER, str(engines.folder / "docker"), place_of("docker:a"), Passing.NONE)
    command, given = inside.command("abc", json.dumps({"scratch": ""}))
    stream = World(Surroundings.current()).streams.start(command, environment=surroundings(), given=given)
    assert not isinstance(stream, NotStarted)
    while not place.exists():
        assert stream.line(seconds=0.05) is Quiet.SILENT
    stream.end()
    _wait_until_gone(*place.read_text("utf-8").split())


def test_its_directory_is_taken_away(engines: Engines, tmp_path: Path) -> None:
    places = tmp_path / "tmp"
    places.mkdir()
    seen = tmp_path / "seen"
    code = f"import os\nopen({str(seen)!r}, 'w').write(' '.join(os.listdir({str(places)!r})))\nraise ImportError('x')"
    engines.runs("docker", image_with(tmp_path / "image", sys.executable, torch_that(tmp_path / "packages", code)))
    inside = Inside(Engine.DOCKER, str(engines.folder / "docker"), place_of("docker:a"), Passing.NONE)
    wish = RunRequest("docker:a", {**surroundings(), "TMPDIR": str(places)}, inside=inside)
    run(World(Surroundings.current()), wish, on_event=lambda _: None, cancelled=lambda: False)
    assert seen.read_text("utf-8").startswith("gpuassist-")
    assert list(places.iterdir()) == []


@pytest.mark.slow
def test_the_real_torch_passes_as_one_text(engines: Engines, tmp_path: Path) -> None:
    engines.runs("docker", image_with(tmp_path / "image", torch_python()))
    verdict, error, output = verified(engines, devices=("cpu",))
    assert (verdict, error) == (Verdict.PASS, ""), output
