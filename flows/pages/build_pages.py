"""Locations of the pages of builds."""

from pathlib import Path

from flows.project import Project

FACTS_FILE = "build.json"
PAGE_FILE = "build.html"


def page_of(settings: Project, run_id: str) -> Path:
    """Return the path of a build's page."""
    return settings.builds / run_id / PAGE_FILE


def newest_page(settings: Project) -> Path | None:
    """Return the page of the newest build that has one."""
    pages = sorted(settings.builds.glob(f"[0-9]*/{PAGE_FILE}"))  # run ids begin with their time
    return pages[-1] if pages else None
