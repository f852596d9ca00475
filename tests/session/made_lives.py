"""Allocations by chance, as little programs make them, and what is true of them told the slow way."""

from __future__ import annotations

import numpy as np

from gpuassist.session.memory_timeline import BlockLives


def made_lives(events: int, *, owners: int = 5, seed: int = 1) -> BlockLives:
    """Half the events allocate, half free; a few blocks were there before, a few stay."""
    random = np.random.default_rng(seed)
    rows = [(int(random.integers(1, 9)) << 20, int(random.integers(owners)), 0, events + 1) for _ in range(3)]
    alive = list(range(len(rows)))
    for event in range(events):
        if not alive or random.random() < 0.55:
            alive.append(len(rows))
            rows.append((int(random.integers(1, 64)) << 16, int(random.integers(owners)), event + 1, events + 1))
        else:
            row = alive.pop(int(random.integers(len(alive))))
            rows[row] = (*rows[row][:3], event + 1)
    sizes, owned_by, starts, ends = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    return BlockLives(sizes, owned_by, starts, ends, events, owners, np.cumsum(random.exponential(0.001, events)))


def there(lives: BlockLives, point: int) -> list[int]:
    """The rows of what was there at a point."""
    return [row for row in range(len(lives.sizes)) if lives.starts[row] <= point < lives.ends[row]]
