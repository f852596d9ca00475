"""Solving and factoring (cuSOLVER): known solutions, or the factors multiplied again, against bounds of the backward error.

Matrices are made of whole numbers, so that the exact one is what the device gets. `H` is Hadamard's: elements of 1 and -1,
symmetric, and HH = nI; with it singular values and eigenvalues are known exactly.

A factorisation by orthogonal transformations gives factors of A + E. Of r reflectors of length m the Frobenius norm of E is at most
4rm u times that of A: each adds the error of two sums of m and of a few operations more, below 4m in all (Higham, Accuracy and
Stability, lemmas 19.1 to 19.3). Iterations for eigenvalues and singular values add below 120n: some four sweeps a value, in each of
which a row takes part in three reflectors of length three, ten roundings each. The errors do not all point one way: the square root
of the count is what is met (section 2.8 there), and CANCELLING times that is never met.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Callable, List, Tuple

from .bench import CANCELLING, FULL, U_FP32, U_FP64, Bench, Check, Measured, Skipped, Wrong, distance, precision, same
from .exact import numbers, worst

UNITS = {"fp32": U_FP32, "fp64": U_FP64}
SIDE = {"fp32": 64, "fp64": 128}  # the more the format holds


def solve(bench: Bench, kind: str) -> Measured:
    """Systems with a known solution of whole numbers: a large one, and many small ones in one call.

    Diagonal elements are 8n, the others at most 1, and the rows are shuffled, so that pivoting has to find them. Then no element
    off the diagonal grows beyond c = 1.18, where c = 1 + c*c/7.8, none of L beyond c/(7.8n), and the greatest row sum of |L||U| is
    at most 1.2 times that of |A|. With at most 3n u |L||U| of backward error (Higham, Accuracy and Stability, theorem 9.4) and a
    condition of (9n + 1)/(7n - 1), at most 1.34 from n = 16 on, the solution is off by at most 5n u times its greatest element.
    """
    size, found, compared = min(bench.size, 512), [], 0
    for shape in ((size,), (32, 24)):
        n, batch = shape[-1], shape[:-1]
        eye = bench.torch.eye(n, dtype=bench.torch.float64)
        matrix = numbers(bench, kind, 1, *batch, n, n) + 8 * n * eye
        matrix = matrix[..., bench.torch.randperm(n, generator=bench.generator()), :]
        solution = numbers(bench, kind, 9, *batch, n, 4)
        there = [bench.to_device(one.to(bench.dtype(kind))) for one in (matrix, matrix @ solution)]
        result = _offered(bench, partial(bench.torch.linalg.solve, *there))
        found.append((distance(bench, result, solution), 5 * n * UNITS[kind] * float(solution.abs().max())))
        compared += solution.numel()
    return worst(found, compared)


def _offered(bench: Bench, action: Callable[[], Any]) -> Any:
    """What `action` gives; raises `Skipped` where torch was built without the library that it takes for that."""
    try:
        with precision(bench.torch, tf32=False):
            return action()
    except RuntimeError as error:
        for library in ("MAGMA", "LAPACK"):
            if library in str(error) and "compil" in str(error):
                raise Skipped("this torch was built without {}".format(library), "absent") from error
        raise


def _hadamard(bench: Bench, n: int) -> Any:
    matrix = bench.torch.ones(1, 1, dtype=bench.torch.float64)
    while matrix.shape[0] < n:
        matrix = bench.torch.cat([bench.torch.cat([matrix, matrix], 1), bench.torch.cat([matrix, -matrix], 1)])
    return matrix


def _orthogonal(kind: str, reflectors: int, length: int, iterated: int = 0) -> float:
    """The backward error relative to the Frobenius norm, with `iterated` values found by iterations."""
    return CANCELLING * math.sqrt(4 * reflectors * length + 120 * iterated) * UNITS[kind]


def _host(bench: Bench, value: Any) -> Any:
    bench.synchronize()
    return value.detach().cpu().to(bench.torch.complex128 if value.is_complex() else bench.torch.float64)


def _off_orthogonal(bench: Bench, columns: Any) -> float:
    """The greatest element of Q'Q - I: no column is off by more than the relative error, so that it is at most twice that."""
    gram = columns.transpose(-1, -2).conj() @ columns
    return distance(bench, gram, bench.torch.eye(gram.shape[-1], dtype=gram.dtype))


def svd(bench: Bench, kind: str) -> Measured:
    """Singular values that are n to n*n, and the three factors multiplied again."""
    torch, n = bench.torch, SIDE[kind]
    hadamard, values = _hadamard(bench, n), torch.arange(n, 0, -1, dtype=torch.float64) * n
    order = torch.randperm(n, generator=bench.generator())
    matrix = (hadamard * (values / n)) @ hadamard[order].t()
    left, found, right = _offered(bench, lambda: torch.linalg.svd(bench.to_device(matrix.to(bench.dtype(kind)))))
    relative = _orthogonal(kind, 2 * n, n, n)
    bound = relative * float(matrix.norm())
    u, s, v = (_host(bench, one) for one in (left, found, right))
    pairs = [
        (distance(bench, found, values), bound),  # Weyl: no singular value moves farther than the norm of E
        (distance(bench, (u * s) @ v, matrix), bound),
        (_off_orthogonal(bench, u), 2 * relative),
        (_off_orthogonal(bench, v.t()), 2 * relative),
    ]
    return worst(pairs, 2 * n * n + n)


def eigh(bench: Bench, kind: str) -> Measured:
    """A symmetric matrix whose eigenvalues, positive and negative, are known; and AV = VD. Once of each of its halves."""
    torch, n, pairs = bench.torch, SIDE[kind], []
    hadamard, values = _hadamard(bench, n), (torch.arange(n, dtype=torch.float64) - n // 3) * n
    order = torch.randperm(n, generator=bench.generator())
    matrix = (hadamard * (values[order] / n)) @ hadamard
    relative = _orthogonal(kind, 2 * n, n, n)
    bound = relative * float(matrix.norm())
    there = bench.to_device(matrix.to(bench.dtype(kind)))
    for half in ("L", "U"):
        found, vectors = _offered(bench, partial(torch.linalg.eigh, there, UPLO=half))
        v = _host(bench, vectors)
        pairs += [
            (distance(bench, found, values), bound),  # Weyl, as above
            (distance(bench, matrix @ v, v * _host(bench, found)), bound),
            (_off_orthogonal(bench, v), 2 * relative),
        ]
    return worst(pairs, 2 * (n * n + n))


def eig(bench: Bench, kind: str) -> Measured:
    """A normal matrix that is not symmetric, whose complex eigenvalues are known: those of blocks (a, b; -b, a), turned by H."""
    torch, n = bench.torch, SIDE[kind] // 2
    steps = torch.arange(n // 2, dtype=torch.float64)
    a, b = steps - n // 5, steps % 3 + 1
    blocks = torch.zeros(n, n, dtype=torch.float64)
    even = torch.arange(0, n, 2)
    blocks[even, even], blocks[even + 1, even + 1], blocks[even, even + 1], blocks[even + 1, even] = a, a, b, -b
    hadamard = _hadamard(bench, n)
    matrix = hadamard @ blocks @ hadamard
    found, vectors = _offered(bench, lambda: torch.linalg.eig(bench.to_device(matrix.to(bench.dtype(kind)))))
    relative = _orthogonal(kind, 2 * n, n, n)
    bound = relative * float(matrix.norm())
    w, v = _host(bench, found), _host(bench, vectors)
    values = n * torch.complex(torch.cat([a, a]), torch.cat([b, -b]))
    in_order, wanted = (torch.tensor(_ordered(one.tolist(), n), dtype=torch.complex128) for one in (w, values))
    pairs = [
        (distance(bench, in_order, wanted), bound),  # of a normal matrix, too, none moves farther (Bauer and Fike)
        (distance(bench, matrix.to(v.dtype) @ v, v * w), bound),
        (distance(bench, v.abs().pow(2).sum(0), torch.ones(n, dtype=torch.float64)), 2 * relative),
    ]
    return worst(pairs, n * n + n)


def _ordered(values: List[complex], n: int) -> List[complex]:
    """By the real part, a multiple of n that two of them have, and then by the imaginary one."""
    if not all(math.isfinite(abs(one)) for one in values):
        raise Wrong("an eigenvalue is not a number, or infinite")
    return sorted(values, key=lambda one: (round(one.real / n), one.imag))


def cholesky(bench: Bench, kind: str) -> Measured:
    """The factor times itself: off by at most (n + 1)u of |L||L'|, which the greatest diagonal element bounds (Higham, Accuracy and
    Stability, theorem 10.3); beyond the diagonal is nothing. Once of the matrix's lower half, once of its upper.
    """
    torch, n, compared, errors = bench.torch, SIDE[kind], 0, []
    base = numbers(bench, kind, 1, n, n)
    matrix = base @ base.t() + n * torch.eye(n, dtype=torch.float64)
    there = bench.to_device(matrix.to(bench.dtype(kind)))
    for upper in (False, True):
        factor = _offered(bench, partial(torch.linalg.cholesky, there, upper=upper))
        lower = factor.t() if upper else factor
        compared += same(bench, torch.triu(lower, 1), torch.zeros_like(lower))
        triangle = _host(bench, lower)
        errors.append(distance(bench, triangle @ triangle.t(), matrix))
    part = (n + 1) * UNITS[kind]
    bound = part / (1 - part) * float(matrix.diagonal().max())
    return worst([(error, bound) for error in errors], compared)


def qr(bench: Bench, kind: str) -> Measured:
    """A tall matrix: the factors multiplied again, an orthogonal one and a triangular one."""
    torch, n = bench.torch, SIDE[kind]
    matrix = numbers(bench, kind, 9, 3 * n, n)
    orthogonal, triangle = _offered(bench, lambda: torch.linalg.qr(bench.to_device(matrix.to(bench.dtype(kind)))))
    compared = same(bench, torch.tril(triangle, -1), torch.zeros_like(triangle))
    relative = _orthogonal(kind, n, 3 * n)
    q, r = _host(bench, orthogonal), _host(bench, triangle)
    pairs = [
        (distance(bench, q @ r, matrix), relative * float(matrix.norm())),
        (_off_orthogonal(bench, q), 2 * relative),
    ]
    return worst(pairs, compared + q.numel())


CHECKS: Tuple[Check, ...] = (
    Check("solve", "fp64", solve),
    Check("solve", "fp32", solve, FULL),
    Check("cholesky", "fp32", cholesky, FULL),
    Check("qr", "fp32", qr, FULL),
    Check("svd", "fp32", svd, FULL),
    Check("eigh", "fp32", eigh, FULL),
    Check("eig", "fp32", eig, FULL),
    Check("cholesky", "fp64", cholesky, FULL),
    Check("qr", "fp64", qr, FULL),
    Check("svd", "fp64", svd, FULL),
    Check("eigh", "fp64", eigh, FULL),
    Check("eig", "fp64", eig, FULL),
)
