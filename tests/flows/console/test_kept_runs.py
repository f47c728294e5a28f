"""A command keeps the run that it reads."""

import click
import psutil

from flows.console.here import keep
from training.run_records import is_in_use


def test_a_run_is_kept_until_the_command_ends(tmp_path):
    run = tmp_path / "seed-0"
    (run / "encoder").mkdir(parents=True)
    with click.Context(click.Command("explain")):
        keep(run / "encoder")
        assert is_in_use(run)
    assert not is_in_use(run)


def test_a_run_that_is_kept_is_not_opened_again(tmp_path):
    (run := tmp_path / "seed-0").mkdir()
    with click.Context(click.Command("explore")):
        keep(run)
        opened = psutil.Process().num_fds()
        keep(run)
        assert psutil.Process().num_fds() == opened
