"""The learning rate of each step, as a share of the peak rate.

1 ┤      ┌─────────╲            warm-up, then a decay to 0 that starts right after it, or later, or never
  │    ╱             ╲
0 ┼──╱─────────────────╲──
   0  warm-up    fall   end
"""

from training.loop.settings import LoopSettings


def share_of_rate(step: int, total: int, settings: LoopSettings) -> float:
    """Return the learning rate at a step as a share of the peak rate, in [0, 1].

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
