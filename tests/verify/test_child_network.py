"""Elements, reductions, indexing, random numbers, attention, normalization, training and recurrences: right on the CPU, no wrong
element passes, and neither does what is wrong a little everywhere.
"""

from __future__ import annotations

import json
import subprocess
import textwrap
from pathlib import Path
from typing import Any

import pytest

from tests.torch_environment import CHILD, ReadyTorch
from tests.verify.conftest import PROJECT

pytestmark = pytest.mark.slow

# Of each family the checks that take the least time.
FAMILIES = {
    "elements": ("elementwise fp32", "elementwise bf16", "integers int32", "softmax fp32", "softmax fp16"),
    "reductions": ("reduction fp32", "reduction bf16", "sort bf16"),
    "gather_scatter": ("indexing fp32", "indexing int64", "embedding fp16"),
    "random_numbers": ("random-moments fp32", "random-drawings int64"),
    "attention": ("attention fp32",),
    "normalization": ("group-norm fp32", "batch-norm fp32", "layer-norm bf16", "batch-norm fp16"),
    "gradients": ("backward fp32", "optimizers fp32"),
    "training_steps": ("training-loop fp32", "mixed-precision bf16"),
    "recurrent": ("lstm fp32", "gru fp64"),
}


def test_no_wrong_element_passes(ready_torch: ReadyTorch, tmp_path: Path) -> None:
    code = f"""
        wanted = {FAMILIES!r}
        known = corrupting.families()
        print(json.dumps({{one: corrupting.passed(known[one], size=96, drawn=1, names=names) for one, names in wanted.items()}}))
        """
    found = _answer(ready_torch, tmp_path, code)
    for family, names in FAMILIES.items():
        one = found[family]
        assert one["clean"] == dict.fromkeys(names, "passed")
        assert (one["let_pass"], one["unread"], one["tried"]) == ([], [], len(names))


# What each piece makes wrong, and the checks that must see it.
SLIGHTLY_WRONG = {
    "sine": (  # 8 ulp of fp32
        "torch.sin = lambda x: real(x) * (1 + 8 * 2.0**-23 * (x.dtype is torch.float32))",
        "torch.sin",
        "elements",
        {"elementwise fp32"},
    ),
    "softmax": (
        "torch.softmax = lambda x, dim: real(x, dim) * (1 + 2.0**-10)",
        "torch.softmax",
        "elements",
        {"softmax fp32", "softmax fp16"},
    ),
    "order of equals": (
        "torch.sort = lambda x, **how: real(x, **dict(how, descending=True)) if 'stable' in how else real(x, **how)",
        "torch.sort",
        "reductions",
        {"sort bf16"},
    ),
    "last of a sum": (
        "torch.Tensor.sum = lambda x, *a, **k: real(x[:-1] if k.get('dim') == 0 and x.is_floating_point() else x, *a, **k)",
        "torch.Tensor.sum",
        "reductions",
        {"reduction fp32", "reduction bf16"},
    ),
    "no seed": (
        "torch.rand = lambda *a, **k: real(*a, generator=source, **k)",
        "torch.rand",
        "random_numbers",
        {"random-moments fp32"},
    ),
    "a narrow uniform": (
        "torch.rand = lambda *a, **k: real(*a, **k) * 0.98",
        "torch.rand",
        "random_numbers",
        {"random-moments fp32"},
    ),
    "a wide normal": (
        "torch.randn = lambda *a, **k: real(*a, **k) * 1.05",
        "torch.randn",
        "random_numbers",
        {"random-moments fp32"},
    ),
    "two seeds, one stream": (
        "torch.manual_seed = lambda seed: real(7)",
        "torch.manual_seed",
        "random_numbers",
        {"random-moments fp32", "random-drawings int64"},
    ),
    "short products in attention": (
        "F.scaled_dot_product_attention = lambda q, k, v, **how: real(cut(q), cut(k), cut(v), **how)",
        "F.scaled_dot_product_attention",
        "attention",
        {"attention fp32"},
    ),
    "the mask left out": (
        "F.scaled_dot_product_attention = lambda q, k, v, is_causal, **how: real(q, k, v, **how)",
        "F.scaled_dot_product_attention",
        "attention",
        {"attention fp32"},
    ),
    "short products in convolutions": (
        "F.conv2d = lambda x, w, **how: real(cut(x), cut(w), **how)",
        "F.conv2d",
        "gradients",
        {"backward fp32"},
    ),
    "another epsilon": (
        "F.group_norm = lambda x, groups, w, b, eps: real(x, groups, w, b, eps * 1.01)",
        "F.group_norm",
        "gradients",
        {"backward fp32"},
    ),
    "a larger step": (
        "torch.optim.SGD.step = lambda self: [self.param_groups[0].update(lr=2.0**-4 * (1 + 2.0**-12)), real(self)][1]",
        "torch.optim.SGD.step",
        "training_steps",
        {"training-loop fp32", "mixed-precision bf16"},
    ),
    "a lossy recurrence": (
        "torch.nn.LSTM.forward = lambda self, x, state: real(self, cut(x), state)",
        "torch.nn.LSTM.forward",
        "recurrent",
        {"lstm fp32"},
    ),
}


def test_what_is_wrong_a_little_everywhere_fails(ready_torch: ReadyTorch, tmp_path: Path) -> None:
    code = """
        F, source, found = torch.nn.functional, torch.Generator().manual_seed(1), {}
        def cut(x):  # to the bits of TF32; gradients go through as they are
            plain = x.detach()
            return x + ((plain.view(torch.int32) & ~0x1FFF).view(torch.float32) - plain) if x.dtype is torch.float32 else x
        known = corrupting.families()
        bench = corrupting.Bench(torch, torch.device("cpu"), 96, 2, "full")
        for name, (piece, place, family, checks) in pieces.items():
            owner, _, attribute = place.rpartition(".")
            real = getattr(eval(owner), attribute)
            exec(piece)
            there = [check for check in known[family] if f"{check.name} {check.dtype}" in names[family]]
            found[name] = [f"{one.name} {one.dtype}" for one in there if corrupting.told(bench, one) != "passed"]
            setattr(eval(owner), attribute, real)
        print(json.dumps(found))
        """
    found = _answer(ready_torch, tmp_path, f"pieces, names = {SLIGHTLY_WRONG!r}, {FAMILIES!r}\n{textwrap.dedent(code)}")
    assert {name: set(failed) for name, failed in found.items()} == {name: row[3] for name, row in SLIGHTLY_WRONG.items()}


def test_the_first_wrong_layer_is_told_in_figures(ready_torch: ReadyTorch, tmp_path: Path) -> None:
    code = """
        from gpuassist.verify.child import gradients, worker
        real, bench = torch.nn.functional.linear, corrupting.Bench(torch, torch.device("cpu"), 96, 1)
        def linear(*given):
            result = real(*given)
            result.data.view(-1)[3] = 1e38  # after which the layers above have no bound left
            return result
        torch.nn.functional.linear = linear
        print(json.dumps(worker.outcome_of(bench, gradients.CHECKS[0]), allow_nan=False))
        """
    found = _answer(ready_torch, tmp_path, code)
    assert (found["verdict"], found["notes"]["closest_to_its_bound"]) == ("fail", "logits")


def _answer(ready_torch: ReadyTorch, folder: Path, code: str) -> Any:
    """What the code prints, run with torch and the tool that turns results wrong."""
    head = f"sys.path.insert(0, {PROJECT!r})\nimport torch\nfrom tests.verify import corrupting\n"
    python = ready_torch.runs(folder, head + textwrap.dedent(code))
    done = subprocess.run([python, CHILD, "1"], capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)
