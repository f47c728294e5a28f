"""What is shown of a run on a Prefect server."""

import re
from pathlib import Path

from flows.pages.run_artifacts import link


def test_projects_whose_names_are_not_ascii_have_keys_of_their_own():
    keys = [link("build", name, Path("build.html")).key for name in ("my project", "проект", "данные")]
    assert keys[0] == "build-page-my-project"
    assert len(set(keys)) == 3
    assert all(re.fullmatch("[a-z0-9-]+", key) for key in keys), "as Prefect requires"
