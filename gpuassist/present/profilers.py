"""What is said of the profiler to take next: for which question, with which command, and what stands in its way."""

from __future__ import annotations

from gpuassist.model.codec import Json
from gpuassist.model.text import Text, text, verbatim
from gpuassist.model.words import Words
from gpuassist.session.profiling.next_tool import ProfilerAdvice, ProfilerQuestion, ToolState

_SCHEMA = 1
QUESTION_TITLES: dict[ProfilerQuestion, Text] = {
    ProfilerQuestion.GPU_IDLE: text("Why does the GPU stand still between steps, and what does it do?"),
    ProfilerQuestion.PYTHON: text("Which Python code takes the time?"),
    ProfilerQuestion.RUNNING: text("What does a program do that already runs?"),
    ProfilerQuestion.LINES: text("Which lines take the time, in Python or outside of it?"),
    ProfilerQuestion.MEMORY: text("Which lines hold the GPU's memory?"),
    ProfilerQuestion.HOST_MEMORY: text("Which lines hold the computer's own memory?"),
    ProfilerQuestion.TIMELINE: text("What runs when: kernels, copies, NCCL and calls on one time line?"),
    ProfilerQuestion.KERNEL: text("Why does this one kernel take so long?"),
}
NOTES: dict[ProfilerQuestion, Text] = {
    ProfilerQuestion.GPU_IDLE: text(
        "Needs no administrator rights. These lines go around the loop over steps; a few steps are enough."
    ),
    ProfilerQuestion.PYTHON: text(
        "Kernels run on after the call that starts them: their time shows in whichever call waits, such as `.item()`."
    ),
    ProfilerQuestion.RUNNING: text("PID is the process: `gpuassist holders` lists those that use a GPU."),
    ProfilerQuestion.LINES: text("The program runs slower meanwhile, by a tenth to a third."),
    ProfilerQuestion.MEMORY: text(
        "The live page shows it while it runs; torch's memory snapshot has the lines: `gpuassist snapshot FILE`."
    ),
    ProfilerQuestion.HOST_MEMORY: text("This is the memory of the processor, for programs that end with `Killed`."),
    ProfilerQuestion.TIMELINE: text("Tracing needs no administrator rights; sampling of the processor may."),
    ProfilerQuestion.KERNEL: text("Only once a profile has named the kernel: each one is run many times over."),
}


def state_words(advice: ProfilerAdvice) -> Text:
    """Whether the tool is there."""
    if advice.state is ToolState.MISSING:
        return text("{tool}, not installed here", tool=advice.tool)
    if advice.state is ToolState.UNKNOWN or not advice.path:
        return verbatim(advice.tool)
    return text("{tool}, in {path}", tool=advice.tool, path=advice.path)


def advice_document(advice: tuple[ProfilerAdvice, ...], words: Words) -> dict[str, Json]:
    return {
        "schema": _SCHEMA,
        "tools": [
            {
                "question": one.question.value,
                "text": words(QUESTION_TITLES[one.question]),
                "tool": one.tool,
                "state": one.state.value,
                "path": one.path or None,
                "install": list(one.install),
                "code": list(one.code),
                "commands": list(one.commands),
                "obstacles": [words(each) for each in one.obstacles],
                "problem": one.problem or None,
                "note": words(NOTES[one.question]),
            }
            for one in advice
        ],
    }
