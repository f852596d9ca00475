"""Makes `tests/shapes/shapes.json` anew: shapes of start-up files as data, with what their shells say before a change and after it.

`python -m tools.record_shapes [--tree DIR] [--python FILE] [--cover N] [--seed N] [--only ID …]` takes those of `tools/shapes.py`
that hold the most constructs together, builds each in a world of its own as that does, asks its shells, changes the toolkit with
the program in DIR, and asks again. Needs what `tools/shapes.py` needs. To be run where a plan asks its shells something new.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World as Machine
from tests.shapes.evidence import as_json, record
from tools import shapes

KEPT = Path(__file__).parent.parent / "tests" / "shapes" / "shapes.json"


def main() -> int:
    """Records every shape and writes the file."""
    options = _options()
    if options.look:
        return _look()
    if options.inside is not None:
        return _inside(options)
    recorded = {one["number"]: one for one in json.loads(KEPT.read_text("utf-8"))} if options.only else {}
    for number in options.only or shapes.covering(options.seed, range(1000), options.cover):
        recorded[number] = _recorded(options, number)
        print(f"{number:04}", file=sys.stderr, flush=True)
    KEPT.write_text(json.dumps([recorded[number] for number in sorted(recorded)], indent=1) + "\n")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, help="the project's directory that the program is run from", default=KEPT.parents[2])
    parser.add_argument("--python", default=sys.executable, help="default: this one")
    parser.add_argument("--cover", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, nargs="+", metavar="ID", help="these anew, the others as they are kept")
    parser.add_argument("--inside", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--outside", help=argparse.SUPPRESS)
    parser.add_argument("--look", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def _recorded(options: argparse.Namespace, number: int) -> dict[str, Any]:
    own = ["--tree", str(options.tree.resolve()), "--python", options.python, "--seed", str(options.seed), "--inside", str(number)]
    own += ["--outside", os.readlink("/proc/self/ns/pid")]
    unshare = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"]
    command = [*unshare, sys.executable, "-m", "tools.record_shapes", *own]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    if ran.returncode:
        raise RuntimeError(f"shape {number} could not be recorded: {ran.stderr[-3000:]}")
    evidence = json.loads(ran.stdout)
    return {**shapes.document(shapes.shape(options.seed, number)), **evidence}


def _inside(options: argparse.Namespace) -> int:
    """In namespaces of its own: what is said before, the change, and what is said after."""
    tree = str(options.tree)
    prefixes = {str(Path(python).parent.parent) for python in (options.python, Path(options.python).resolve())}
    reachable = [place for place in dict.fromkeys((tree, *sorted(prefixes), sys.base_prefix)) if place != "/usr"]
    program = shapes.Program([options.python, "-m", "gpuassist"], {"PYTHONPATH": tree}, reachable, options.outside)
    tried = shapes.shape(options.seed, options.inside)
    world = shapes.World(tried, program)
    world.build()
    environment = {**shapes.DESKTOP, "SHELL": tried.shell, **program.environment}
    look = [options.python, "-m", "tools.record_shapes", "--look"]
    found: dict[str, object] = {}
    for moment in ("before", "after"):
        if moment == "after":
            found["status"] = world.run([*program.argv, *shapes.STEPS["use"]], environment, shapes.LIMIT).status
        said = world.run(look, environment, shapes.LIMIT)
        if said.status:
            raise RuntimeError(said.output[-2000:])
        found[moment] = json.loads(said.output.splitlines()[-1])
    print(json.dumps(found))
    return 0


def _look() -> int:
    """As the user, in that world: what a plan is told by the shells."""
    print(json.dumps(as_json(record(Machine(Surroundings.current())))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
