"""Who may connect to a cluster: anyone who can runs code as the user of its workers, so nobody else may.

local cluster              TLS with a temporary certificate that only this process and its workers have
existing, tls://…          [cluster] tls_ca, tls_cert, tls_key, or Dask's own configuration
existing, this machine     as its address says
existing, elsewhere        refused without TLS, unless the project file says `unencrypted = true`
"""

import ssl

from distributed.security import Security

from features.core.faults import CertificatesWrong, FileMissing, Unencrypted
from flows.project import ClusterSettings
from flows.server.prefect_address import is_on_this_machine


class OwnSecurity(Security):
    """Credentials of a local cluster, at any time: a clock that is set back would shut a build out of its workers."""

    def _get_tls_context(self, tls: object, purpose: ssl.Purpose) -> ssl.SSLContext:
        context: ssl.SSLContext = super()._get_tls_context(tls, purpose)  # type: ignore[no-untyped-call]
        context.verify_flags |= 0x200000  # X509_V_FLAG_NO_CHECK_TIME, which Python has no name for
        return context


def of_existing(settings: ClusterSettings) -> Security:
    """Return the credentials of this process for an existing cluster, or refuse it if connections would not be safe."""
    address = settings.address or ""
    given = {name: path for name in ("tls_ca", "tls_cert", "tls_key") if (path := getattr(settings, name)) is not None}
    if not is_encrypted(address):
        if given:
            raise Unencrypted(
                f"[cluster] has `{next(iter(given))}`, but the address {address!r} is not encrypted: write "
                f"{'tls://' + address.rpartition('://')[2]!r}, and start scheduler and workers with certificates."
            )
        if not settings.unencrypted and not is_on_this_machine(address if "://" in address else f"tcp://{address}"):
            raise Unencrypted(
                f"The Dask cluster at {address!r} is not on this machine and its connections are not encrypted: anyone "
                "on the way can run code on its workers. Use a tls:// address, with `tls_ca` and `tls_cert`, or set "
                "unencrypted = true in [cluster] where the network itself is safe."
            )
        return Security()  # type: ignore[no-untyped-call]
    for name, path in given.items():
        if not path.is_file():
            raise FileMissing(f"[cluster] names {str(path)!r} as `{name}`, but there is no such file.")
    fields = {"tls_ca": "tls_ca_file", "tls_cert": "tls_client_cert", "tls_key": "tls_client_key"}
    named = {fields[name]: str(path) for name, path in given.items()}
    if "tls_client_cert" in named:  # never the key of another certificate
        named.setdefault("tls_client_key", named["tls_client_cert"])
    security = Security(require_encryption=True, **named)  # type: ignore[no-untyped-call]  # Dask's, with these files
    files = security.get_tls_config_for_role("client")  # type: ignore[no-untyped-call]
    if not files["ca_file"] or not files["cert"]:
        raise CertificatesWrong(
            f"The Dask cluster at {address!r} needs certificates: set tls_ca, tls_cert and tls_key in [cluster], or "
            "distributed.comm.tls in Dask's configuration."
        )
    try:  # once here, because with a wrong one a client would report that nobody answers
        security.get_connection_args("client")  # type: ignore[no-untyped-call]
    except (ssl.SSLError, OSError, ValueError) as error:
        raise CertificatesWrong(
            f"The certificates for the Dask cluster cannot be used ({error}): ca {files['ca_file']!r}, certificate "
            f"{files['cert']!r}, key {files['key']!r} must be PEM files, and the key must belong to the certificate."
        ) from error
    return security


def is_encrypted(address: str) -> bool:
    """Return whether connections to an address are encrypted."""
    return address.startswith(("tls://", "wss://"))
