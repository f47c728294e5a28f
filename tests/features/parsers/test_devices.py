"""Where a model runs, and in which number format."""

from pathlib import Path

import pytest
import torch

from features.parsers import devices


@pytest.mark.parametrize(
    ("amx", "avx512_bf16", "vendor", "taken"),
    [
        (True, True, "GenuineIntel", True),
        (False, True, "GenuineIntel", False),  # half as fast as float32 there
        (False, True, "AuthenticAMD", True),
        (False, False, "AuthenticAMD", False),
    ],
)
def test_auto_is_bfloat16_where_a_cpu_is_faster_in_it(
    amx: bool, avx512_bf16: bool, vendor: str, taken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: amx)
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: avx512_bf16)
    monkeypatch.setattr(devices, "processor_vendor", lambda: vendor)
    assert devices.computes_in_bfloat16("auto", "cpu") == taken
    assert devices.computes_in_bfloat16("bfloat16", "cpu")
    assert not devices.computes_in_bfloat16("float32", "cpu")


@pytest.mark.parametrize(
    ("cpuinfo", "vendor"),
    [
        ("processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 26\n", "AuthenticAMD"),
        ("processor\t: 0\nvendor_id\t: GenuineIntel\n", "GenuineIntel"),
        ("processor\t: 0\nBogoMIPS\t: 50.00\n", "GenuineIntel"),  # it does not say: all stays as it is
    ],
)
def test_the_processor_says_who_made_it(
    cpuinfo: str, vendor: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "cpuinfo"
    file.write_text(cpuinfo)
    monkeypatch.setattr(devices, "_CPUINFO", file)
    assert devices.processor_vendor() == vendor


def test_a_processor_that_is_not_on_linux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_CPUINFO", tmp_path / "none")
    monkeypatch.setattr(devices.platform, "processor", lambda: "AMD64 Family 26 Model 2 Stepping 1, AuthenticAMD")
    assert devices.processor_vendor() == "AuthenticAMD"
    monkeypatch.setattr(devices.platform, "processor", lambda: "")
    assert devices.processor_vendor() == "GenuineIntel"
