"""Install facetflow into the environment whose Python runs this: `.venv/bin/python tools/install.py dev [WHEEL]`.

With uv, which takes an eighth of pip's time, from the indexes that pip is configured for; with pip itself where it has
settings that are not passed on here, or where uv fails.
"""

import ast
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

UV = "uv==0.13.9"
ROOT = Path(__file__).resolve().parents[1]

_PASSED_ON = {"index-url": "UV_DEFAULT_INDEX", "extra-index-url": "UV_INDEX", "cert": "SSL_CERT_FILE"}
_OPTIONS = frozenset({"constraint", "find-links"})
"""Settings that are options of uv, once for each of their values."""
_OF_NO_CONSEQUENCE = frozenset(
    {
        "cache-dir",
        "compile",
        "default-timeout",
        "disable-pip-version-check",
        "no-cache-dir",
        "no-color",
        "no-compile",
        "no-input",
        "prefer-binary",
        "progress-bar",
        "quiet",
        "require-virtualenv",
        "retries",
        "root-user-action",
        "timeout",
        "verbose",
    }
)
"""Settings of pip that do not affect what is installed, or from where."""


def main(extra: str, wheel: str | None = None) -> None:
    """Install this checkout, or a wheel of it, with an extra, or exit with pip's code."""
    package = [f"{wheel}[{extra}]"] if wheel else ["--editable", f".[{extra}]"]
    wanted = ["--quiet", "--constraint", "constraints.txt", *package]
    pip = [sys.executable, "-m", "pip"]
    told = subprocess.run([*pip, "config", "list"], capture_output=True, text=True, check=False).stdout
    found = as_told_to_uv(read_settings(told.splitlines()))
    if found is not None:
        options, environment = found
        uv = [str(Path(sys.executable).with_name("uv")), "pip", "install", "--python", sys.executable]
        commands = [
            [*pip, "install", "--quiet", "--no-compile", UV],
            # Choose the best version of all indexes, as pip does.
            [*uv, "--index-strategy", "unsafe-best-match", *options, *wanted],
        ]
        if all(
            subprocess.run(one, cwd=ROOT, env=os.environ | environment, check=False).returncode == 0 for one in commands
        ):
            return
        print("uv could not install it; trying pip.", file=sys.stderr)
    sys.exit(subprocess.run([*pip, "install", "--no-compile", *wanted], cwd=ROOT, check=False).returncode)


def read_settings(lines: Sequence[str]) -> dict[str, str]:
    """Return the settings of `pip install` from `pip config list`, name → value; the environment overrides files.

    Args:
        lines: such as `global.index-url='https://…'`, `install.find-links='a b'` and `:env:.cert='ca.pem'`.
    """
    found: dict[str, str] = {}
    for section in ("global", "install", ":env:"):
        for line in lines:
            key, _, value = line.partition("=")
            if key.startswith(f"{section}."):
                found[key.removeprefix(f"{section}.")] = ast.literal_eval(value)
    return found


def as_told_to_uv(settings: Mapping[str, str]) -> tuple[list[str], dict[str, str]] | None:
    """Return options and environment that make uv install from where pip would; None where that is not possible.

    Args:
        settings: of pip, by name.
    """
    options: list[str] = []
    environment: dict[str, str] = {}
    for name, value in settings.items():
        if name in _OPTIONS:
            options += [part for each in value.split() for part in (f"--{name}", each)]
        elif name in _PASSED_ON:
            environment[_PASSED_ON[name]] = " ".join(value.split())
        elif name not in _OF_NO_CONSEQUENCE:
            return None
    return options, environment


if __name__ == "__main__":
    main(*sys.argv[1:])
