"""Which wrong element a check lets pass. It runs where torch is: `.venv-torch/bin/python -m tests.verify.corrupting [FAMILY …]`
tries every result of every operation; `passed` is what tests call, through `conftest.corrupted`.

The device is the CPU under the name cpu:0, which torch takes for another device until a tensor is made on it: so operations on
the device are those whose arguments name it or come from such operations, and what the check computes on the CPU for itself stays
apart. Of one result at a time one bit of one element is turned: an exponent's, the lowest of a whole number (an index stays within
what it points into), the truth of a truth value. A check sees that when it fails in any way.
"""

from __future__ import annotations

import importlib
import json
import math
import pkgutil
import random
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.weak import WeakTensorKeyDictionary

from gpuassist.verify import child
from gpuassist.verify.child.bench import FULL, Bench, Check, Measured, Skipped
from tests.verify import emulated_cuda

DEVICE, CPU = torch.device("cpu:0"), torch.device("cpu")
PLACES = (0, 37, 90)  # percent of the way into a result
BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
# Whose result says nothing that could be wrong: memory that is written afterwards.
EMPTY = frozenset({"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "resize_"})
# What an operation leaves for its own way back, of which it need not read every byte: by the number of the output.
WORKSPACES = frozenset({("mkldnn_rnn_layer", 3)})
# Here scores of keys that a query does not see are computed, too, and change nothing.
HIDDEN_SCORES = frozenset({"attention-math"})


class Result(NamedTuple):
    """The `output`-th tensor that the `call`-th operation on the device gave."""

    call: int
    operation: str
    output: int


class Watched(TorchDispatchMode):  # type: ignore[misc]  # torch is not where types are checked
    """Counts the results on the device, and turns one bit in one of them."""

    def __init__(self, wrong: Result | None = None, place: int = 0) -> None:
        super().__init__()
        self.results: list[Result] = []
        self.read: set[Result] = set()
        self._wrong, self._place, self._calls = wrong, place, 0
        self._made: Any = WeakTensorKeyDictionary()

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = list(_leaves((args, kwargs or {})))
        tensors = [one for one in given if isinstance(one, torch.Tensor)]
        made = operation(*args, **(kwargs or {}))
        if _spoils(operation, args):
            return made
        known = [one for one in tensors if one in self._made]
        self.read.update(result for one in known for result in self._made[one])
        if known or DEVICE in [one for one in given if isinstance(one, torch.device)]:
            self._note(operation, known, [one for one in _leaves(made) if isinstance(one, torch.Tensor)])
        if operation is torch.ops.aten._to_copy.default and (kwargs or {}).get("device") == CPU:
            self.read.update(self._made.pop(made, ()))  # a copy for the CPU, on which the check then works by itself
        return made

    def _note(self, operation: Any, known: list[Any], made: list[Any]) -> None:
        name = operation._schema.name.partition("::")[2]
        if _is_view(operation):
            for tensor in made:
                self._made[tensor] = self._made.get(known[0], set()) if known else set()  # one set for all that look at it
            return
        for output, tensor in enumerate(made):
            result = Result(self._calls, name, output)
            self._made.setdefault(tensor, set()).add(result)
            if tensor.numel() and name not in EMPTY and (name, output) not in WORKSPACES:
                self.results.append(result)
                if result == self._wrong:
                    turn_bit(tensor, self._place)
        self._calls += 1


def _spoils(operation: Any, args: Any) -> bool:
    """Whether it is `bench.spoil` that makes a result wrong, after it was looked at."""
    return operation is torch.ops.aten.fill_.Scalar and (
        math.isnan(args[1]) or (not args[0].is_floating_point() and args[1] == torch.iinfo(args[0].dtype).min)
    )


def _is_view(operation: Any) -> bool:
    made = [one.alias_info for one in operation._schema.returns]
    return any(one is not None and not one.is_write for one in made)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for one in value:
            yield from _leaves(one)
    else:
        yield value


def turn_bit(tensor: Any, place: int) -> None:
    """Turns a bit of the element that lies `place` percent into the tensor."""
    tensor = tensor.detach()
    if tensor.layout != torch.strided:
        tensor = tensor._values() if tensor.layout == torch.sparse_coo else tensor.values()
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.resolve_conj())
    element, number = tensor, tensor.numel() * place // 100
    for side in reversed(tensor.shape):  # from the last side on, so that the sides before it stay the first ones
        element = element.select(-1, number % side)
        number //= side
    if tensor.dtype == torch.bool:
        element.logical_not_()
        return
    bits = element.view(BITS[element.element_size()])
    floating = tensor.is_floating_point()
    bits.bitwise_xor_(1 << (8 * element.element_size() - 2) if floating else 1)


@contextmanager
def emulated() -> Iterator[None]:
    """What checks ask torch about a GPU is answered as an RTX 4090 would."""
    answers = [
        (torch.cuda, "synchronize", lambda device=None: None),
        (torch.cuda, "get_device_capability", lambda device=None: (8, 9)),
        (torch.cuda, "get_device_name", lambda device=None: "Emulated GPU"),
        (torch.version, "cuda", "12.8"),
        *emulated_cuda.ANSWERS,
    ]
    real = [(owner, name, getattr(owner, name)) for owner, name, _ in answers]
    for owner, name, answer in answers:
        setattr(owner, name, answer)
    try:
        yield
    finally:
        for owner, name, answer in real:
            setattr(owner, name, answer)


def told(bench: Bench, check: Check, watched: Watched | None = None) -> str:
    """`passed`, `skipped`, or what came of the check, in words."""
    torch.manual_seed(1)
    try:
        with watched or Watched():
            measured: Measured = check.run(bench, check.dtype)
    except Skipped as reason:
        return f"skipped: {reason}"
    except Exception as error:  # noqa: BLE001 -- failing in any way is seeing it
        return f"{type(error).__name__}: {error}"
    right = math.isfinite(measured.error) and measured.error <= measured.tolerance
    return "passed" if right else f"{measured.error} is over {measured.tolerance}"


def passed(checks: Iterable[Check], *, size: int, drawn: int = 0, seed: int = 0, names: Iterable[str] = ()) -> dict[str, Any]:
    """Runs each check (those of `names`, such as `matmul fp32`, or all) as it is, then with each of its results turned wrong in
    one element; with `drawn` that many of them, else all, in every place.

    `clean`: what came of the checks as they are. `let_pass`: the wrong results that a check passed with; `hidden` those that may be
    hidden. `unread`: first results of operations that nothing looked at. `tried`: how many were turned.
    """
    bench, draw, wanted = Bench(torch, DEVICE, size, 2, FULL, endure=0.0), random.Random(seed), set(names)
    found: dict[str, Any] = {"clean": {}, "let_pass": [], "hidden": [], "unread": [], "tried": 0, "seconds": {}}
    with emulated():
        for check in checks:
            name, began = f"{check.name} {check.dtype}", time.perf_counter()
            if wanted and name not in wanted:
                continue
            watched = Watched()
            found["clean"][name] = told(bench, check, watched)
            cases = [(one, place) for one in watched.results if one in watched.read for place in PLACES]
            if found["clean"][name] != "passed":
                continue
            unread = [one for one in watched.results if one not in watched.read]
            unseen = [f"{name}: {one.operation}, call {one.call}" for one in unread if one.output == 0]
            found["hidden" if check.name in HIDDEN_SCORES else "unread"] += unseen
            for one, place in draw.sample(cases, min(drawn, len(cases))) if drawn else cases:
                found["tried"] += 1
                came = told(bench, check, Watched(one, place))
                if came == "passed" or came.startswith("skipped"):
                    where = f"{one.operation}, call {one.call}, output {one.output}, {place} %"
                    found["hidden" if check.name in HIDDEN_SCORES else "let_pass"].append(f"{name}: {where}: {came}")
            found["seconds"][name] = round(time.perf_counter() - began, 2)
    return found


def families() -> dict[str, tuple[Check, ...]]:
    """The checks of each module of the child that has some."""
    modules = {one.name: importlib.import_module(f"{child.__name__}.{one.name}") for one in pkgutil.iter_modules(child.__path__)}
    return {name: module.CHECKS for name, module in modules.items() if hasattr(module, "CHECKS")}


def main(arguments: list[str]) -> int:
    """Prints what was let pass and where nothing looked; 1 where there is any."""
    torch.set_num_threads(1)
    bad = 0
    for name, checks in families().items():
        if arguments and name not in arguments:
            continue
        found = passed(checks, size=96)
        sys.stdout.write(f"{name} {json.dumps(found, indent=1)}\n")
        sys.stdout.flush()
        wrong_when_clean = [one for one in found["clean"].values() if one != "passed" and not one.startswith("skipped")]
        bad += len(wrong_when_clean) + len(found["let_pass"]) + len(found["unread"])
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
