"""Where the setup installs from, with uv as with pip."""

import subprocess

import install
import pytest
from install import as_told_to_uv, read_settings


def test_the_environment_comes_before_files_and_what_is_of_install_before_what_is_of_all():
    lines = [
        ":env:.find-links='/from the environment'",
        "global.index-url='https://one.example/simple'",
        "global.find-links='/of/all'",
        "install.index-url='https://two.example/simple'",
        "freeze.timeout='10'",
    ]
    assert read_settings(lines) == {
        "index-url": "https://two.example/simple",
        "find-links": "/from the environment",
    }


def test_uv_is_told_of_indexes_wheels_and_certificates():
    settings = {
        "index-url": "https://one.example/simple",
        "extra-index-url": "\nhttps://two.example/simple\nfile:///three/simple",
        "find-links": "/wheels https://four.example/wheels",
        "constraint": "/etc/caps.txt",
        "cert": "/etc/ca.pem",
        "default-timeout": "60",
        "disable-pip-version-check": "1",
    }
    assert as_told_to_uv(settings) == (
        [
            *("--find-links", "/wheels"),
            *("--find-links", "https://four.example/wheels"),
            *("--constraint", "/etc/caps.txt"),
        ],
        {
            "UV_DEFAULT_INDEX": "https://one.example/simple",
            "UV_INDEX": "https://two.example/simple file:///three/simple",
            "SSL_CERT_FILE": "/etc/ca.pem",
        },
    )
    assert as_told_to_uv({}) == ([], {})


@pytest.mark.parametrize("name", ["no-index", "proxy", "trusted-host", "client-cert", "only-binary", "pre"])
def test_what_uv_cannot_be_told_of_is_left_to_pip(name):
    assert as_told_to_uv({"index-url": "https://one.example/simple", name: "1"}) is None


@pytest.mark.parametrize(
    ("fails", "programs", "code"),
    [
        ("", ["config", "install", "uv"], None),
        ("uv", ["config", "install", "uv", "install"], 0),
        ("install", ["config", "install", "install"], 1),
    ],
    ids=["uv installs", "uv fails", "nothing can be had"],
)
def test_pip_installs_where_uv_cannot(fails, programs, code, monkeypatch):
    started = []

    def run(command, **_options):
        program = command[3] if command[1] == "-m" else "uv"
        started.append(program)
        return subprocess.CompletedProcess(command, int(program == fails), stdout="global.timeout='9'\n")

    monkeypatch.setattr(install.subprocess, "run", run)
    if code is None:
        install.main("dev")
    else:
        with pytest.raises(SystemExit) as end:
            install.main("dev")
        assert end.value.code == code
    assert started == programs
