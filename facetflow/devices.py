"""The device names that the public functions take."""

import re

from features.core.faults import DeviceMissing

_DEVICE = re.compile(r"auto|cpu|cuda(:\d+)?")


def check_device(device: str) -> str:
    """Return the name of a device unchanged, after checking it.

    Raises:
        SettingsError: it is not the name of a device, or this process does not see the device.
    """
    if not isinstance(device, str) or not _DEVICE.fullmatch(device):
        raise DeviceMissing(f"there is no device {device!r}; give 'auto', 'cpu', 'cuda' or 'cuda:N'")
    if device.startswith("cuda"):
        from features.parsers.devices import resolve_device

        resolve_device(device)
    return device
