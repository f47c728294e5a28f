"""Locations of the pages of builds."""

from pathlib import Path

from features.store.locations import storage_at
from features.store.runs import read_runs
from flows.project import Project

FACTS_FILE = "build.json"
PAGE_FILE = "build.html"


def page_of(settings: Project, run_id: str) -> Path:
    """Return the path of a build's page."""
    return settings.builds / run_id / PAGE_FILE


def newest_page(settings: Project) -> Path | None:
    """Return the page of the newest build that has one."""
    pages = {page.parent.name: page for page in settings.builds.glob(f"[0-9]*/{PAGE_FILE}")}
    of_records = (record.run_id for record in read_runs(storage_at(settings.store)))
    # Without a record by name: run ids begin with their time.
    newest = next((run for run in of_records if run in pages), max(pages, default=None))
    return None if newest is None else pages[newest]
