"""One training step of the user's own model, counted and not computed: on the meta device, on the CPU where that cannot be.

    python traced_step.py TARGET REQUEST

TARGET is `file.py:function` or `module:function`; the function gives the model, or the model and its inputs, or these and a
function that makes a loss of what the model gives. It is told `batch` and `sequence` where it takes them. The report, one JSON
object, goes to what standard output was; whatever the user's code prints goes to standard error.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import os
import sys
import weakref
from collections.abc import Mapping

TYPE_CHECKING = False  # as type checkers know it
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

NAMES = ("make_model", "build_model", "get_model", "create_model", "model")


class TraceError(Exception):
    """What keeps a step from being counted, in a word that the other side knows and one that it does not."""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(code)
        self.code, self.detail = code, detail


def main() -> int:
    report = os.dup(1)
    os.dup2(2, 1)
    found: dict[str, Any]
    try:
        request = json.loads(sys.argv[2])
        found = traced(maker_of(sys.argv[1]), request)
    except TraceError as error:
        found = {"error": error.code, "detail": error.detail[:2000]}
    except (Exception, SystemExit) as error:  # noqa: BLE001 -- the user's code may raise anything
        found = {"error": "failed", "detail": f"{type(error).__name__}: {error}"[:2000]}
    with os.fdopen(report, "w", encoding="utf-8") as out:
        out.write(json.dumps(found) + "\n")
    return 0 if "error" not in found else 1


def maker_of(target: str) -> Callable[..., Any]:
    """The function that makes the model."""
    place, _, name = target.rpartition(":")
    if not place or "/" in name or name.endswith(".py"):
        place, name = target, ""
    if place.endswith(".py"):
        path = os.path.abspath(place)
        sys.path.insert(0, os.path.dirname(path))
        spec = importlib.util.spec_from_file_location("gpuassist_traced", path)
        if spec is None or spec.loader is None or not os.path.isfile(path):
            raise TraceError("no-file", place)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    else:
        sys.path.insert(0, os.getcwd())
        module = importlib.import_module(place)
    made = getattr(module, name, None) if name else next((getattr(module, one) for one in NAMES if hasattr(module, one)), None)
    if made is None or not callable(made):
        raise TraceError("no-function", name or ", ".join(NAMES))
    maker: Callable[..., Any] = made
    return maker


def traced(maker: Callable[..., Any], request: dict[str, Any]) -> dict[str, Any]:
    """The figures of a step, on the meta device if the model can be made there."""
    torch = torch_of()
    torch.nn.functional.dropout = dropout_of_a_gpu(torch)
    if request.get("attention") == "fused":
        torch.nn.functional.scaled_dot_product_attention = fused_attention(torch)
    why, model = "", None
    for device in ("meta", "cpu"):
        try:
            if device == "cpu":
                keep_to_free_memory(model)
            with torch.device(device):
                model, inputs, loss = parts_of(torch, maker, request, device)
            first = step_of(torch, model, inputs, loss)
            twice = step_of(torch, model, doubled(torch, inputs), loss)
            return figures(torch, model, batch_of(torch, inputs), (first, twice), device=device)
        except TraceError:
            raise
        except Exception as error:  # noqa: BLE001 -- what has no content can break the user's code in any way
            why = f"{type(error).__name__}: {error}"
            if isinstance(error, MemoryError) or "can't allocate memory" in why:
                raise TraceError("too-large") from None
    if "CUDA" in why or "NVIDIA driver" in why:  # no GPU is shown to it
        raise TraceError("moves-to-gpu", why)
    raise TraceError("failed", why)


def keep_to_free_memory(model: Any) -> None:
    """On the CPU tensors have content: what takes more than is free is refused, before the system ends other programs for it."""
    import resource

    with open("/proc/meminfo", encoding="ascii") as lines:
        free = next((int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")), 0)
    with open("/proc/self/status", encoding="utf-8", errors="replace") as lines:
        taken = next((int(line.split()[1]) << 10 for line in lines if line.startswith("VmData:")), 0)
    weights = sum(one.numel() * one.element_size() for one in model.parameters()) if model is not None else 0
    if free and 2 * weights > free:  # with their gradients
        raise TraceError("too-large")
    if free:
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        most = taken + free * 9 // 10
        resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def dropout_of_a_gpu(torch: Any) -> Callable[..., Any]:
    """That of a GPU keeps a mask of one byte a number; that of the CPU one as wide as the numbers."""
    plain = torch.nn.functional.dropout

    def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:  # noqa: FBT001, FBT002 -- torch's own
        if not training or not 0 < p < 1 or inplace:
            return plain(input, p=p, training=training, inplace=inplace)
        return torch.native_dropout(input, p, train=True)[0]

    return dropout


def torch_of() -> Any:
    try:
        import torch
    except ImportError as error:
        raise TraceError("no-torch", str(error)) from None
    if not hasattr(torch, "device") or not hasattr(torch.Tensor, "register_post_accumulate_grad_hook"):
        raise TraceError("old-torch", str(torch.__version__))
    return torch


def parts_of(torch: Any, maker: Callable[..., Any], request: dict[str, Any], device: str) -> tuple[Any, Any, Any]:
    """The model on that device, its inputs, and the function that makes a loss, if there is one."""
    taken = inspect.signature(maker).parameters if not isinstance(maker, torch.nn.Module) else {}
    asked = {name: request[name] for name in ("batch", "sequence") if name in taken}
    made = maker if isinstance(maker, torch.nn.Module) else maker(**asked)
    model, inputs, loss = (*made, None, None)[:3] if isinstance(made, tuple) else (made, None, None)
    if not isinstance(model, torch.nn.Module):
        raise TraceError("no-module", type(model).__name__)
    if inputs is None:
        vocabulary = getattr(getattr(model, "config", None), "vocab_size", None)
        if not isinstance(vocabulary, int):
            raise TraceError("no-inputs")
        inputs = {"input_ids": torch.zeros(request["batch"], request["sequence"], dtype=torch.long)}
        inputs["labels"] = inputs["input_ids"]
    model.to(device)
    model.train()
    return model, moved(torch, inputs, lambda tensor: tensor.to(device)), loss


def moved(torch: Any, inputs: Any, change: Callable[[Any], Any]) -> Any:
    """The same inputs with each tensor changed."""
    if isinstance(inputs, torch.Tensor):
        return change(inputs)
    if isinstance(inputs, Mapping):  # what tokenizers give is no dict
        return {name: moved(torch, one, change) for name, one in inputs.items()}
    if isinstance(inputs, tuple) and hasattr(inputs, "_fields"):
        return type(inputs)(*(moved(torch, one, change) for one in inputs))
    if isinstance(inputs, (list, tuple)):
        return type(inputs)(moved(torch, one, change) for one in inputs)
    return inputs


def tensors_in(torch: Any, value: Any) -> list[Any]:
    found: list[Any] = []

    def noted(tensor: Any) -> Any:
        found.append(tensor)
        return tensor

    moved(torch, value, noted)
    return found


def batch_of(torch: Any, inputs: Any) -> int:
    sizes = [int(one.shape[0]) for one in tensors_in(torch, inputs) if one.dim()]
    if not sizes or not sizes[0]:
        raise TraceError("no-inputs")
    return sizes[0]


def doubled(torch: Any, inputs: Any) -> Any:
    """Twice the batch, so that what grows with it is told from what does not."""
    batch = batch_of(torch, inputs)
    return moved(torch, inputs, lambda one: torch.cat([one, one]) if one.dim() and one.shape[0] == batch else one)


def live_storages(torch: Any, skipped: set[int]) -> Any:
    """A mode in which every storage that is made is counted until it goes, but for those."""
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_flatten

    class Live(TorchDispatchMode):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.live = self.most = self.gradients = 0
            self.known = set(skipped)

        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if function is torch.ops.aten._local_scalar_dense.default and args[0].is_meta:
                return False if args[0].dtype == torch.bool else 0.0 if args[0].is_floating_point() else 0
            if function is torch.ops.aten.equal.default and args[0].is_meta:
                return True
            given = function(*args, **(kwargs or {}))
            for one in tree_flatten(given)[0]:
                if isinstance(one, torch.Tensor):
                    self.count(one.untyped_storage())
            return given

        def count(self, storage: Any) -> None:
            key, size = storage._cdata, storage.nbytes()
            if key in self.known:
                return
            self.known.add(key)
            self.live += size
            self.most = max(self.most, self.live - self.gradients)
            weakref.finalize(storage, self.gone, key, size)

        def gone(self, key: int, size: int) -> None:
            self.live -= size
            self.known.discard(key)

    return Live()


def step_of(torch: Any, model: Any, inputs: Any, loss: Any) -> dict[str, int]:
    """Bytes kept for the backward pass, and the most that were there beyond them and the gradients of parameters."""
    own = [one.untyped_storage() for one in (*model.parameters(), *model.buffers())]
    skipped = {one._cdata for one in own}
    kept: dict[int, Any] = {}

    def keep(tensor: Any) -> Any:
        storage = tensor.untyped_storage()
        if storage._cdata not in skipped:
            kept[storage._cdata] = storage
        return tensor

    for one in model.parameters():
        one.grad = None
    mode = live_storages(torch, skipped)

    def accumulated(parameter: Any) -> None:
        mode.gradients += parameter.grad.numel() * parameter.grad.element_size()  # counted apart

    hooks = [one.register_post_accumulate_grad_hook(accumulated) for one in model.parameters() if one.requires_grad]
    with mode:
        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            value = loss_of(torch, called(model, inputs), loss)
        size = sum(storage.nbytes() for storage in kept.values())
        kept.clear()
        if value.requires_grad:
            value.backward()
    for hook in hooks:
        hook.remove()
    for one in model.parameters():
        one.grad = None
    return {"kept": size, "passing": max(mode.most - size, 0)}


def called(model: Any, inputs: Any) -> Any:
    if isinstance(inputs, dict):
        return model(**inputs)
    return model(*inputs) if isinstance(inputs, (list, tuple)) else model(inputs)


def loss_of(torch: Any, output: Any, loss: Any) -> Any:
    if loss is not None:
        return loss(output)
    found = output.get("loss") if isinstance(output, dict) else getattr(output, "loss", None)
    if found is not None:
        return found
    every = tensors_in(torch, output.to_tuple() if hasattr(output, "to_tuple") else output)
    grown = [one for one in every if one.requires_grad]
    if not grown:
        raise TraceError("no-gradient")
    return grown[0].float().sum()


def fused_attention(torch: Any) -> Callable[..., Any]:
    """Attention that keeps what fused kernels keep: queries, keys, values, its result, and a number for each query and head."""

    class Fused(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, query: Any, key: Any, value: Any) -> Any:
            batch, heads, length = query.shape[0], query.shape[-3] if query.dim() > 3 else 1, query.shape[-2]
            laid = query.new_zeros(batch, length, heads, value.shape[-1]).transpose(1, 2)
            result = laid if query.dim() > 3 else laid[:, 0]
            sums = query.new_zeros(query.shape[:-1], dtype=torch.float32)
            ctx.save_for_backward(query, key, value, result, sums)
            return result

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            query, key, value, _result, _sums = ctx.saved_tensors
            return torch.zeros_like(query), torch.zeros_like(key), torch.zeros_like(value)

    def attend(query: Any, key: Any, value: Any, *_args: Any, **_kwargs: Any) -> Any:
        return Fused.apply(query, key, value)

    return attend


def figures(torch: Any, model: Any, batch: int, steps: tuple[dict[str, int], dict[str, int]], *, device: str) -> dict[str, Any]:
    first, twice = steps
    parameters = list(model.parameters())
    return {
        "name": type(model).__name__,
        "batch": batch,
        "parameters": sum(one.numel() for one in parameters),
        "parameter_bytes": sum(one.numel() * one.element_size() for one in parameters),
        "trainable_bytes": sum(one.numel() * one.element_size() for one in parameters if one.requires_grad),
        "buffer_bytes": sum(one.numel() * one.element_size() for one in model.buffers()),
        "kept_bytes": first["kept"],
        "fixed_bytes": max(0, min(first["kept"], 2 * first["kept"] - twice["kept"])),
        "passing_bytes": first["passing"],
        "passing_fixed_bytes": max(0, min(first["passing"], 2 * first["passing"] - twice["passing"])),
        "torch": str(torch.__version__),
        "device": device,
    }


if __name__ == "__main__":
    sys.exit(main())
