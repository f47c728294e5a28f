"""When refreshes run by themselves: a cron expression, whose time comes again, and not every second."""

import asyncio
from typing import TYPE_CHECKING

from features.core.faults import ScheduleWrong

if TYPE_CHECKING:
    from prefect.client.schemas.schedules import CronSchedule

NIGHTLY = "0 3 * * *"
"""The schedule of `prefect.yaml`, off until it is turned on."""
_FIELDS = "give minute, hour, day, month, weekday, as in"


def schedule_of(cron: str) -> "CronSchedule":
    """Return the schedule of a cron expression, in UTC.

    Raises:
        SettingsError: it is not a cron expression, it has seconds or years, or its time never comes.
    """
    from prefect.client.schemas.schedules import CronSchedule
    from prefect.server.schemas import schedules as of_server

    try:
        schedule = CronSchedule(cron=cron)
    except ValueError as error:
        raise ScheduleWrong(f"The schedule {cron!r} is not a cron expression: {_FIELDS} {NIGHTLY!r}.") from error
    # Prefect reads a sixth field as seconds, others read the first one so: sixty refreshes at a time that nobody meant.
    if (fields := len(cron.split())) > 5:
        raise ScheduleWrong(f"The schedule {cron!r} has {fields} fields instead of five: {_FIELDS} {NIGHTLY!r}.")
    try:
        asyncio.run(of_server.CronSchedule(cron=cron).get_dates(1))
    except ValueError as error:  # Prefect's server would log this every minute, where nobody looks
        raise ScheduleWrong(
            f"The schedule {cron!r} never comes, because no month in it has that day: {_FIELDS} {NIGHTLY!r}."
        ) from error
    return schedule
