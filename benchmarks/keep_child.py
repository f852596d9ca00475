"""One process that keeps a recorded machine as doctor keeps the one that it looked at: prints milliseconds of processor time.

Loading the code, keeping it for the first time, and once more when nothing changed. What doctor has loaded anyway is loaded before.
"""

from __future__ import annotations

import os
import sys
import time
from itertools import pairwise
from pathlib import Path

from msgspec.structs import replace

from gpuassist.cli.context import load_probes
from gpuassist.detect.recording import read_recording
from gpuassist.detect.shell import startup_files
from gpuassist.model.fact import Known
from gpuassist.model.finding import Diagnosis
from gpuassist.session.inspect import Inspection
from gpuassist.system.clock import iso
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World


def main(path: str, home: str) -> None:
    """Keeps the machine of a recording in that home, which holds start-up files and nothing that was kept."""
    load_probes()
    world = World(Surroundings(home, "you", os.geteuid(), {"HOME": home}, home))
    found = read_recording(world.files, str(Path(path).resolve()))
    shell = replace(found.shell, startup_files=Known(startup_files(world), "the home directory"))
    machine = replace(found, taken_at=iso(world.clock.now()), shell=shell)
    inspection = Inspection(machine, Diagnosis(), (), (), 0.0, recorded=False, title="")
    times = [time.process_time()]
    from gpuassist.session.kept_machines import keep_healthy, kept

    times.append(time.process_time())
    for _ in range(2):
        assert keep_healthy(world, inspection) is None
        times.append(time.process_time())
    assert len(kept(world).machines) == 1
    print(*(1000 * (after - before) for before, after in pairwise(times)))


if __name__ == "__main__":
    main(*sys.argv[1:])
