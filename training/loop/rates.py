"""The learning rate of each step, as a share of the highest.

1 ┤      ┌─────────╲            warm-up, and a fall to 0 that begins right after it, or later, or never
  │    ╱             ╲
0 ┼──╱─────────────────╲──
   0  warm-up    fall   end
"""

from training.loop.settings import LoopSettings


def share_of_rate(step: int, total: int, settings: LoopSettings) -> float:
    """Return the share of the highest learning rate at a step, in [0, 1].

    Args:
        step: from 0.
        total: steps of the whole training.
        settings: warm-up, schedule and decay.
    """
    warmup = int(settings.warmup * total)
    if settings.warmup_steps is not None:
        warmup = min(warmup, settings.warmup_steps)
    rising = min(1.0, (step + 1) / warmup) if warmup else 1.0
    if settings.schedule == "constant":
        return rising
    begin = warmup if settings.decay is None else total - round(settings.decay * total)
    falling = max(0.0, (total - step) / max(1, total - begin))
    return min(rising, falling)
