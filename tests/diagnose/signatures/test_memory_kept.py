"""Memory that is kept is told from memory that is needed: graphs of every step, evaluation with gradients, dead processes."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.diagnose.signatures.memory_kept import SIGNATURES
from gpuassist.model.fact import NOT_ASKED, Known
from gpuassist.model.gpu import Gpu, GpuProcess
from gpuassist.model.machine import Host, Machine
from gpuassist.model.paste import Weight
from tests import memory_messages as messages
from tests.diagnose.signatures.reading import parameters, problem, problems, read
from tests.rows import for_each

GRAPHS, DEAD = "oom-graph-retained", "gpu-memory-held-by-dead-process"
MIB = 1 << 20
SOURCE = "pasted nvidia-smi, line 8"


@pytest.mark.parametrize(
    "code",
    [
        "train_loss += output.loss",
        "total_loss += loss",
        "running_loss += loss * inputs.size(0)",
        "epoch_loss = epoch_loss + loss",
        "loss_sum += criterion(out, y_loss)",
        "val_loss += F.mse_loss(out, target)",
        "avg_loss += batch_loss / n",
    ],
)
def test_summed_losses_keep_their_graphs(code: str) -> None:
    assert problem(SIGNATURES, f"{code}\n# memory grows every step until out of memory") == GRAPHS
    assert problem(SIGNATURES, f"for x, y in loader:\n    {code}\nCUDA out of memory") == GRAPHS


@pytest.mark.parametrize(
    "code",
    [
        "train_loss += loss.item()",
        "train_loss += output.loss.detach()",
        "running_loss += float(loss)",
        "total_loss += loss.data[0]",
        "total_loss += loss.cpu().numpy()",
        "total_loss += l1_loss\ntotal_loss.backward()",
        "print(train_loss)",
        "loss += l1_loss",
    ],
)
def test_numbers_and_one_steps_own_sum_keep_nothing(code: str) -> None:
    assert GRAPHS not in problems(SIGNATURES, f"{code}\nRuntimeError: CUDA out of memory.")


def test_code_without_a_word_of_memory_is_no_finding() -> None:
    assert problems(SIGNATURES, "train_loss += loss\noptimizer.step()") == set()


@pytest.mark.parametrize(
    ("function", "expected"),
    [("evaluate", Weight.CAUSE), ("_validate_one_epoch", Weight.CAUSE), ("predict", Weight.CAUSE), ("forward", Weight.STATE)],
)
def test_outputs_that_an_evaluation_collects_are_the_cause(function: str, expected: Weight) -> None:
    frame = f"Traceback (most recent call last):\n  File 'a.py', line 80, in {function}\n    outs.append(model(x))\n{messages.FULL}"
    assert {clue.weight for clue in read(SIGNATURES, frame) if clue.passage.words.startswith("outs")} == {expected}


def test_a_line_of_a_traceback_is_a_weaker_sign() -> None:
    words = f"Traceback (most recent call last):\n  File 'a.py', line 3, in train\n    total_loss += loss\n{messages.FULL}"
    assert {clue.weight for clue in read(SIGNATURES, words)} == {Weight.STATE}


@pytest.mark.parametrize(
    "code",
    [
        "outputs.append(output)",
        "all_preds.append(preds)",
        "losses.append(loss)",
        "logits_list.append(logits)",
        "results.append(model(x))",
    ],
)
def test_collected_outputs_keep_their_graphs(code: str) -> None:
    assert problem(SIGNATURES, f"{code}\nCUDA memory increases until out of memory") == GRAPHS


@pytest.mark.parametrize(
    "code",
    [
        "outputs.append(output.detach().cpu())",
        "all_preds.append(preds.cpu())",
        "losses.append(loss.item())",
        "with torch.no_grad():\n    outputs.append(output)",
        "with torch.inference_mode():\n    preds.append(pred)",
        "files.append(name)",
        "lines.append(line)",
    ],
)
def test_collected_numbers_keep_nothing(code: str) -> None:
    assert GRAPHS not in problems(SIGNATURES, f"{code}\nCUDA out of memory. It grows.")


@for_each(
    "words",
    [
        "GPU memory usage keeps increasing with every iteration until it crashes",
        "The GPU memory grows every step",
        "CUDA memory increases each epoch and then OOM",
        "there is a GPU memory leak during training",
        "this was caused by the increasing GPU-memory of the dynamic graph, such as loss+=xxx",
        "on the GPU the memory grows unlimitly until OOM",
        "the memory of the card climbs and then training crashes (cuda)",
        "VRAM goes up after every batch",
        "Cuda memory keeps growing after beginning testing, over time",
        "显存占用不断增长，最后 CUDA out of memory",
        "训练时显存一直涨",
        "GPUメモリが増え続ける",
        "학습할수록 GPU 메모리가 계속 증가합니다",
    ],
)
def test_growing_memory_is_told_in_any_language(words: str) -> None:
    assert problem(SIGNATURES, words) == GRAPHS


@pytest.mark.parametrize(
    "words",
    [
        "I ran the evaluation without torch.no_grad() and got out of memory",
        "forgot no_grad in validation, memory full",
        "验证时没有用 no_grad，显存不够",
    ],
)
def test_evaluation_with_gradients_is_named(words: str) -> None:
    assert problem(SIGNATURES, words) == GRAPHS


@pytest.mark.parametrize(
    "words",
    [
        'File "main.py", line 210, in validate\n    out = model(x)\ntorch.cuda.OutOfMemoryError: CUDA out of memory.',
        "Training works, but CUDA out of memory during validation",
        "验证集上报 CUDA out of memory",
    ],
)
def test_failing_in_evaluation_is_a_sign_of_it(words: str) -> None:
    found = read(SIGNATURES, words)
    assert {(clue.problem, clue.weight) for clue in found} == {(GRAPHS, Weight.STATE)}


def test_evaluation_without_gradients_is_none() -> None:
    words = 'with torch.no_grad():\n  File "main.py", line 210, in validate\nCUDA out of memory.'
    assert problems(SIGNATURES, words) == set()


@for_each(
    "words",
    [
        "nohup 启动训练, 直接 kill 主进程之后显存不释放, nvidia-smi 只能看到显存占用, 看不到进程",
        "程序退出后显存没有释放",
        "GPU memory is not released after I killed the process with ctrl+c",
        "The process exited but GPU memory is still occupied",
        "I killed python but the memory on the GPU isn't released",
        "a zombie process is holding GPU memory",
        "nvidia-smi shows 11 GB memory used, but no process",
        "GPU memory usage 10989MiB / 11178MiB, no processes listed",
        "nvidia-smi で見るとプロセスがないのに GPU メモリが 10GB 使われています",
        "<defunct> python still has the GPU",
        "좀비 프로세스가 GPU 메모리를 차지하고 있습니다",
        "CUDA program crashed and VRAM still in use",
        "My program crashed but device 0 memory hasn't been released. CUDA 8",
        "When I interrupt my PyTorch script using Ctrl-C occasionally GPU memory is not deallocated",
        "after the kernel died the GPU memory never gets freed",
        "I closed the notebook but its GPU memory remains occupied",
    ],
)
def test_memory_without_its_process_is_told_in_prose(words: str) -> None:
    assert problem(SIGNATURES, words) == DEAD


@pytest.mark.parametrize(
    "words",
    [
        "I delete the tensor but GPU memory is not freed in nvidia-smi even with torch.cuda.empty_cache()",
        "the process was killed because the computer ran out of memory",
        "The memory usage of the database keeps increasing",
        "memory of the host is 64 GB, GPU memory 24 GB",
        "gpu memory: 24 GiB free",
        "Memory leak in nginx over time",
        "GPU 0: 300 MiB in use by Xorg",
    ],
)
def test_other_talk_of_memory_is_no_finding(words: str) -> None:
    assert problems(SIGNATURES, words) == set()


def _machine(used: int, *processes: int, wsl: int = 0, told: bool = True) -> Machine:
    listed = tuple(GpuProcess(100 + place, "compute", Known(size * MIB, SOURCE)) for place, size in enumerate(processes))
    gpu = Gpu(
        index=Known(1, SOURCE),
        memory_total_bytes=Known(12_207 * MIB, SOURCE),
        memory_used_bytes=Known(used * MIB, SOURCE),
        processes=Known(listed, SOURCE) if told else NOT_ASKED,
    )
    return replace(Machine(), gpus=Known((gpu,), SOURCE), host=Host(wsl=Known(wsl, "uname")))


TABLE = "|  No running processes found                                                 |"


def test_a_table_without_processes_shows_memory_that_nobody_has() -> None:
    assert problem(SIGNATURES, TABLE, _machine(11_409)) == DEAD
    assert parameters(SIGNATURES, TABLE, _machine(11_409)) == {"used": "11.14 GiB", "index": "1"}


@pytest.mark.parametrize(
    "machine",
    [
        _machine(23),
        _machine(698),
        _machine(11_409, 11_300),
        _machine(11_409, wsl=2),
        _machine(11_409, told=False),
        Machine(),
    ],
)
def test_idle_cards_and_unknown_processes_are_no_finding(machine: Machine) -> None:
    assert problems(SIGNATURES, TABLE, machine) == set()


LISTED = "| Processes:                                                       GPU Memory |"


@pytest.mark.parametrize(
    ("machine", "expected"),
    [
        (_machine(11_409, 300), DEAD),
        (_machine(11_409, 300, 400), DEAD),
        (_machine(11_409), DEAD),
        (_machine(11_409, 11_200), ""),
        (_machine(11_409, 9_000), ""),
        (_machine(2_500, 300), ""),
        (_machine(11_409, 300, wsl=2), ""),
        (replace(_machine(11_409, 300), host=Host(container=Known("docker", "/.dockerenv"))), ""),
        (_machine(11_409, told=False), ""),
    ],
)
def test_processes_that_do_not_explain_the_use_are_a_sign(machine: Machine, expected: str) -> None:
    assert problem(SIGNATURES, LISTED, machine) == expected


def test_a_list_that_explains_too_little_is_a_sign_and_no_proof() -> None:
    assert {clue.weight for clue in read(SIGNATURES, LISTED, _machine(11_409, 300))} == {Weight.STATE}


def test_looking_for_the_holder_of_memory_is_a_sign() -> None:
    words = "The GPU memory stays full.\n$ sudo fuser -v /dev/nvidia*\n/dev/nvidia0:  me  12345 F...m python"
    assert DEAD in problems(SIGNATURES, words)


def test_looking_for_the_user_of_a_module_is_none() -> None:
    words = "rmmod: ERROR: Module nvidia is in use\n$ lsof /dev/nvidia*  # memory"
    assert problems(SIGNATURES, words) == set()


def test_graphs_that_are_kept_on_purpose_are_a_sign() -> None:
    words = "loss.backward(retain_graph=True)\nRuntimeError: CUDA out of memory"
    assert {(clue.problem, clue.weight) for clue in read(SIGNATURES, words)} == {(GRAPHS, Weight.STATE)}


def test_windows_lists_no_processes_and_is_no_finding() -> None:
    assert problems(SIGNATURES, f"|   0  NVIDIA GeForce RTX 3060  WDDM |\n{TABLE}", _machine(11_409)) == set()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("every epoch GPU memory grows", "oom-graph-retained"),
        ("显存每个epoch都增", "oom-graph-retained"),
        ("看不到进程但显存被占", "gpu-memory-held-by-dead-process"),
        ("GPU memory used by a zombie", "gpu-memory-held-by-dead-process"),
        ("VRAM held by a defunct python", "gpu-memory-held-by-dead-process"),
    ],
)
def test_other_wording_leads_to_its_problem(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "every epoch the loss falls",
        "memory is released when the process ends",
        "显存 24 GB",
        "a zombie film",
    ],
)
def test_sound_words_beside_it_lead_nowhere(words: str) -> None:
    assert problems(SIGNATURES, words) == set()
