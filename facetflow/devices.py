"""Where to compute: the names of devices that the public functions take."""

import re

from features.errors import SettingsError

_DEVICE = re.compile(r"auto|cpu|cuda(:\d+)?")


def check_device(device: str) -> str:
    """Return a device as it is given.

    Raises:
        SettingsError: it has no name of a device, or this process does not see it.
    """
    if not isinstance(device, str) or not _DEVICE.fullmatch(device):
        raise SettingsError(f"there is no device {device!r}; give 'auto', 'cpu', 'cuda' or 'cuda:N'")
    if device.startswith("cuda"):
        from features.parsers.devices import resolve_device

        resolve_device(device)
    return device
