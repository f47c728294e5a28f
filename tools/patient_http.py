"""HTTP for tests that look into a Prefect server: asks again while SQLite is busy, as Prefect's own client does."""

import time

import httpx

_BUSY = 503


class _Patient(httpx.HTTPTransport):
    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = super().handle_request(request)
        while response.status_code == _BUSY:
            response.close()
            time.sleep(0.2)
            response = super().handle_request(request)
        return response


client = httpx.Client(transport=_Patient(), timeout=60)
