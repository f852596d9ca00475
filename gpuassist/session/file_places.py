"""Which page a file is for, by its name and by the page on which it was dropped; nothing is read."""

from __future__ import annotations

from gpuassist.session.navigation import Destination, Place, SideTool, ToEstimate, ToExplainFile, ToProfile, ToRecording, ToSnapshot

# Names by which what a profiler left is known before it is read.
_OF_PROFILERS = (
    ".prof", ".pstats", ".trace.json", ".json.gz", ".nsys-rep", ".qdrep", ".qdstrm", ".ncu-rep", ".speedscope.json",
    ".lprof", ".svg",
)  # fmt: skip
_RECORDED_MACHINE = ".json"
# A model; the name of a config is the same everywhere.
_OF_MODELS = (".safetensors", "/config.json")
_SAMPLES = (".db", ".sqlite")
_SNAPSHOTS = (".pickle", ".pkl")


def place_of_file(path: str, current: Place) -> Destination | None:
    """Where it leads; none for a recorded machine, which is no page's but all the window's."""
    if current is SideTool.PROFILE or path.endswith(_OF_PROFILERS):
        return ToProfile(path)
    if path.endswith(_OF_MODELS):
        return ToEstimate(path)
    if path.endswith(_RECORDED_MACHINE):
        return None
    if path.endswith(_SNAPSHOTS):
        return ToSnapshot(path)
    return ToRecording(path) if path.endswith(_SAMPLES) else ToExplainFile(path)
