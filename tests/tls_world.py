"""Certificates of an authority of one's own, a proxy that speaks TLS in front of a server without it, and
commands that print a secret.

    world = make_certificates(tmp_path)
    with TlsProxy("127.0.0.1", port, world) as proxy:
        ...  # localhost:proxy.port speaks TLS with a certificate that world.authority vouches for
"""

from __future__ import annotations

import shlex
import socket
import ssl
import subprocess
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

KEY_PASSWORD = "of-the-client's-key"


@dataclass(frozen=True)
class Certificates:
    """PEM files. `client_key` has the password KEY_PASSWORD."""

    authority: Path
    server: Path
    server_key: Path
    client: Path
    client_key: Path


def make_certificates(folder: Path) -> Certificates:
    """An authority, and what it has signed: for the server localhost, and for a client."""
    authority, authority_key = folder / "authority.pem", folder / "authority.key"
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    _openssl(
        "req",
        "-x509",
        *curve,
        "-keyout",
        authority_key,
        "-out",
        authority,
        "-subj",
        "/CN=An authority",
        "-days",
        "2",
        "-addext",
        "keyUsage=critical,keyCertSign",
    )
    for name in ("server", "client"):
        request, extensions = folder / f"{name}.csr", folder / f"{name}.ext"
        _openssl("req", *curve, "-keyout", folder / f"{name}.key", "-out", request, "-subj", f"/CN={name}")
        extensions.write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n", encoding="ascii")
        _openssl(
            "x509",
            "-req",
            "-in",
            request,
            "-CA",
            authority,
            "-CAkey",
            authority_key,
            "-CAcreateserial",
            "-days",
            "2",
            "-extfile",
            extensions,
            "-out",
            folder / f"{name}.pem",
        )
    locked = folder / "locked.key"
    _openssl(
        "ec", "-in", folder / "client.key", "-aes256", "-passout", f"pass:{KEY_PASSWORD}", "-out", locked
    )
    return Certificates(
        authority, folder / "server.pem", folder / "server.key", folder / "client.pem", locked
    )


def _openssl(*words: object) -> None:
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)


def secret_command(folder: Path, secret: str) -> tuple[str, Path, Path]:
    """A command line that prints what is in a file now; that file; one with a line for each time it ran."""
    folder.mkdir(parents=True, exist_ok=True)
    script, kept, runs = folder / "print secret", folder / "secret", folder / "runs"
    kept.write_text(f"{secret}\n", encoding="ascii")
    runs.touch()
    script.write_text(f'#!/bin/sh\necho ran >> {shlex.quote(str(runs))}\nexec cat "$1"\n', encoding="utf-8")
    script.chmod(0o700)
    return shlex.join([str(script), str(kept)]), kept, runs


class TlsProxy:
    """Listens on a port of the loopback while the `with` block lasts. `wants_client`: refuses who shows no
    certificate. `sent`: the bytes that clients have sent, out of TLS."""

    def __init__(self, host: str, port: int, world: Certificates, *, wants_client: bool = False) -> None:
        self._server = host, port
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(world.server, world.server_key)
        if wants_client:
            self._context.verify_mode = ssl.CERT_REQUIRED
            self._context.load_verify_locations(world.authority)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.sent = b""

    def __enter__(self) -> Self:
        threading.Thread(target=self._serve, name="tls-proxy", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                threading.Thread(target=self._carry, args=(near,), daemon=True).start()

    def _carry(self, near: socket.socket) -> None:
        """One connection. Each end is closed once nothing reads or writes it: OpenSSL keeps the number of a
        file, which is another file's as soon as this one is closed."""
        with (
            suppress(OSError),
            self._context.wrap_socket(near, server_side=True) as line,
            socket.create_connection(self._server) as far,
        ):
            back = threading.Thread(target=self._back, args=(far, line), daemon=True)
            back.start()
            with suppress(OSError):
                while data := line.recv(65536):
                    self.sent += data
                    far.sendall(data)
            with suppress(OSError):
                far.shutdown(socket.SHUT_RDWR)
            back.join()

    def _back(self, far: socket.socket, line: ssl.SSLSocket) -> None:
        with suppress(OSError):
            while data := far.recv(65536):
                line.sendall(data)
        with suppress(OSError):
            socket.socket.shutdown(line, socket.SHUT_RDWR)
