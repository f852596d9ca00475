"""A fresh process that plans for every recorded machine that is shipped, and prints what the first and the slowest plan took."""

from __future__ import annotations

import gc
import json
import time
from pathlib import Path

from gpuassist.context import Session
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Tool
from gpuassist.model.words import ENGLISH
from gpuassist.session.plan import look, parse_goal, plan_goals
from gpuassist.system.resources import Resources
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World

MACHINES = Path(__file__).parent.parent / "resources" / "machines"
GOALS = ("torch", "torch==2.3.1", "driver", "cuda==12.8", 'gpu="RTX 5090"')
TOOLS = (None, Tool.CONDA, Tool.DOCKER)


def main() -> None:
    """The first plan by itself, then every machine with every goal and tool."""
    session = Session(World(Surroundings.current()), Knowledge(Resources().read), ENGLISH)
    machines = {path.stem: look(session, str(path)) for path in sorted(MACHINES.glob("*.json"))}
    gc.collect()
    first = _seconds(session, next(iter(machines.values())), GOALS[0], None)
    every = {
        f"{name}, {goal}{f' --as {tool.value}' if tool else ''}": _seconds(session, machine, goal, tool)
        for name, machine in machines.items()
        for goal in GOALS
        for tool in TOOLS
    }
    name = max(every, key=every.__getitem__)
    print(json.dumps({"first": first, "slowest": every[name], "name": name, "plans": len(every)}))


def _seconds(session: Session, machine: Machine, goal: str, tool: Tool | None) -> float:
    began = time.process_time()
    plan_goals(session, machine, (parse_goal(goal, session.knowledge),), tool)
    return time.process_time() - began


if __name__ == "__main__":
    main()
