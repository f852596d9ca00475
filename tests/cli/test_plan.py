"""`gpuassist plan`: what it prints, the JSON of its contract, and what it ends with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpuassist.cli import main, plan
from gpuassist.cli.context import UsageError
from gpuassist.model.machine import Machine, encode_machine
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Exit
from tests.cli.made_session import live_session, run_live
from tests.cli.runs import Run
from tests.translations import shipped
from tests.values import GTX_1080_TI, RTX_5090, Recipe, machine, without

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "resources" / "machines"
HEALTHY = str(EXAMPLES / "08-healthy.json")
MIXED = str(EXAMPLES / "05-gtx-1080-ti-and-rtx-5090.json")


def ran(*arguments: str, machine_file: str = HEALTHY) -> Run:
    return run_live(plan, *arguments, machine_file=machine_file, session=live_session({}))


def told(*arguments: str, machine_file: str = HEALTHY) -> dict[str, Any]:
    document = json.loads(ran(*arguments, "--json", machine_file=machine_file).out)
    assert isinstance(document, dict)
    return document


def saved(folder: Path, made: Machine) -> str:
    path = folder / "machine.json"
    path.write_text(json.dumps(encode_machine(made, ENGLISH)), "utf-8")
    return str(path)


def test_command_is_one_of_the_program() -> None:
    assert "plan" in main.COMMANDS


def test_json_holds_the_keys_of_its_contract_and_no_other() -> None:
    document = told('gpu="RTX 5090"')
    assert list(document) == ["schema", "goal", "links", "steps", "ways", "blocked_by", "undetermined", "notes"]
    assert (document["schema"], document["goal"]) == (1, 'gpu="GeForce RTX 5090"')


def test_json_of_a_link() -> None:
    document = told('gpu="RTX 5090"')
    assert all(list(link) == ["from", "to", "holds", "reason"] for link in document["links"])
    broken = next(link for link in document["links"] if link["holds"] is False)
    assert broken["from"] == "GPU 1: RTX 5090"
    assert broken["reason"] == "driver 550.54.14 is older than this GPU"


def test_json_of_a_step() -> None:
    step = told('gpu="RTX 5090"')["steps"][0]
    assert list(step) == ["kind", "text", "commands", "diff", "check", "needs_root"]
    assert (step["kind"], step["needs_root"], step["diff"]) == ("root-command", True, "")
    assert step["commands"] == ["sudo apt install nvidia-driver-595-open"]


def test_json_has_links_for_every_gpu() -> None:
    links = told("torch", machine_file=MIXED)["links"]
    assert {link["from"].rpartition(": ")[0] for link in links if link["from"].startswith("GPU")} == {
        "GPU 0",
        "GPU 0000:01:00.0",  # the driver does not count it
    }


def test_nothing_to_do_ends_with_0() -> None:
    found = ran("torch")
    assert (found.exit, "Nothing has to be done." in found.out) == (Exit.HEALTHY, True)
    assert told("torch")["steps"] == []


def test_plan_that_holds_ends_with_0() -> None:
    assert ran("torch==2.6").exit is Exit.HEALTHY


def test_blocked_plan_ends_with_2_and_says_by_what() -> None:
    found = ran("torch", machine_file=MIXED)
    assert found.exit is Exit.PROBLEMS
    assert "No change makes every link hold:" in found.out
    assert len(told("torch", machine_file=MIXED)["blocked_by"]) == 4


def test_what_cannot_be_told_ends_with_3(tmp_path: Path) -> None:
    path = saved(tmp_path, without(machine(Recipe()), ["gpus"]))
    found = ran("torch", machine_file=path)
    assert (found.exit, "This could not be determined:" in found.out) == (Exit.UNDETERMINED, True)


def test_what_cannot_be_told_is_in_json(tmp_path: Path) -> None:
    found = ran("torch", "--json", machine_file=saved(tmp_path, without(machine(Recipe()), ["gpus"])))
    document = json.loads(found.out)
    assert (document["blocked_by"], document["undetermined"]) == ([], ["the GPUs of this machine: not readable in this test"])


def test_text_shows_the_chain_the_reasons_and_the_steps() -> None:
    found = ran('gpu="RTX 5090"').out
    assert "GPU 1: RTX 5090 (Blackwell · 12.0)" in found
    assert "✗ RTX 5090 → 550.54.14: driver 550.54.14 is older than this GPU" in found
    assert (
        "1. Install NVIDIA's driver, branch 595, with the open kernel modules\n     sudo apt install nvidia-driver-595-open\n"
        in found
    )
    assert "To see that it worked:" in found


def test_text_tells_notes() -> None:
    assert "Note: driver branch 550 gets no updates any more" in ran("driver").out


@pytest.mark.parametrize(
    ("goal", "said"), [("trch", "did you mean torch?"), ("gpu=Voodoo", "no GPU that gpuassist knows"), ("torch==", "version")]
)
def test_unknown_goal_is_wrong_usage(goal: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        ran(goal)
    assert said in ENGLISH(error.value.reason)


def test_recording_that_is_none_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        ran("torch", machine_file=str(tmp_path / "none.json"))


def test_goal_is_asked_for() -> None:
    with pytest.raises(UsageError, match="a goal is missing"):
        ran()


def test_json_is_english_unless_a_language_is_asked_for() -> None:
    chinese = live_session({}, shipped("zh_CN"))
    found = run_live(plan, "torch", "--json", machine_file=HEALTHY, session=chinese)
    assert json.loads(found.out)["links"][0]["to"] == "driver 550.54.14 for GPU 0"


def test_several_goals_are_planned_together(tmp_path: Path) -> None:
    path = saved(tmp_path, machine(Recipe(gpus=(GTX_1080_TI,), environments=(), toolkits=(), nvcc="")))
    document = told("gpu=RTX 4090", "driver==580", machine_file=path)
    assert [step["commands"] for step in document["steps"]] == [["sudo apt install nvidia-driver-580"], ["sudo systemctl reboot"]]


def test_plan_of_a_blackwell_alone(tmp_path: Path) -> None:
    path = saved(tmp_path, machine(Recipe(gpus=(RTX_5090,), environments=(), toolkits=(), nvcc="")))
    assert told("driver", machine_file=path)["steps"][0]["commands"] == ["sudo apt install nvidia-driver-595-open"]


def test_this_machine_is_looked_at_without_a_recording() -> None:
    found = run_live(plan, "driver==580", "--json", session=live_session({}))
    assert found.exit in {Exit.HEALTHY, Exit.PROBLEMS, Exit.UNDETERMINED}
    assert json.loads(found.out)["goal"] == "driver==580"


def test_chip_of_another_computer_is_told_to_be_one() -> None:
    (note,) = (one for one in told("gpu=GB10")["notes"] if "GB10" in one)
    assert "part of a computer of its own" in note


def test_card_is_not_told_to_be_a_computer() -> None:
    assert not [one for one in told("gpu=RTX 5090")["notes"] if "of its own and fits" in one]


@pytest.mark.parametrize("columns", [40, 72])
def test_paragraphs_are_no_wider_than_the_terminal(columns: int) -> None:
    session = live_session({"COLUMNS": str(columns)})
    shown = run_live(plan, "driver==390", machine_file=MIXED, session=session).out.splitlines()
    wide = [line for line in shown if len(line) > columns and not line.startswith("     ")]
    assert not [line for line in wide if " " in line.strip()]
    assert "".join(shown).count("Goal: ") == 1


def test_json_of_the_ways_to_another_torch() -> None:
    ways = told("torch==2.6")["ways"]
    assert [list(way) for way in ways] == [["way", "text", "steps", "notes"]] * 3
    assert [way["way"] for way in ways] == ["new-environment", "clean-out", "in-place"]
    assert ways[0]["steps"] == told("torch==2.6")["steps"]


def test_other_ways_are_told_after_the_first() -> None:
    found = ran("torch==2.6").out
    assert found.count("Another way: ") == 2
    assert found.index("-m venv") < found.index("Another way: ") < found.index("-m pip uninstall --yes ")


def test_a_goal_without_torch_has_one_way() -> None:
    assert told("driver==580")["ways"] == []


@pytest.mark.parametrize(
    ("tool", "word"),
    [("pip", " -m pip install "), ("uv", "uv pip install "), ("conda", "conda create "), ("docker", "docker run ")],
)
def test_torch_comes_by_the_tool_that_is_asked_for(tool: str, word: str) -> None:
    steps = told("torch==2.6", "--as", tool)["steps"]
    assert any(word in line for step in steps for line in step["commands"])


def test_a_tool_that_is_none_is_wrong_usage() -> None:
    with pytest.raises(SystemExit) as stopped:
        ran("torch", "--as", "brew")
    assert stopped.value.code == 2


def test_an_engine_is_a_goal_whose_command_names_the_torch_that_is_there() -> None:
    document = told("xformers")
    assert document["goal"] == "xformers"
    assert document["steps"][0]["commands"][0].endswith(
        "xformers==0.0.29.post1 torch==2.5.1 --index-url https://download.pytorch.org/whl/cu124"
    )
    assert [way["way"] for way in document["ways"]] == ["in-place", "new-environment"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [(("vllm",), Exit.HEALTHY), (("vllm==0.99",), Exit.UNDETERMINED), (("vllm", "cuda"), Exit.PROBLEMS)],
)
def test_an_engine_ends_with_what_came_of_it(arguments: tuple[str, ...], expected: Exit) -> None:
    assert ran(*arguments).exit is expected
