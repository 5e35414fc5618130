"""A proxy on loopback that counts what a server answers."""

from __future__ import annotations

import socket
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass
class CountingProxy:
    """Where it listens, and the bytes that went to its clients."""

    listening: socket.socket
    server_port: int
    n_bytes: int = 0
    sockets: list[socket.socket] = field(default_factory=list)
    threads: list[Thread] = field(default_factory=list)

    @property
    def port(self) -> int:
        """Of 127.0.0.1."""
        port: int = self.listening.getsockname()[1]
        return port

    def start(self, run: Callable[..., None], *given: socket.socket) -> None:
        """Run it beside the others."""
        self.threads.append(Thread(target=run, args=given, daemon=True))
        self.threads[-1].start()

    def serve(self) -> None:
        """Take clients until the end."""
        with suppress(OSError):
            while True:
                client, _ = self.listening.accept()
                self.sockets.append(client)
                server = socket.create_connection(("127.0.0.1", self.server_port))
                self.sockets.append(server)
                self.start(self.ask, client, server)
                self.start(self.answer, server, client)

    def ask(self, client: socket.socket, server: socket.socket) -> None:
        """Hand on what the client says."""
        with suppress(OSError):
            while data := client.recv(1 << 16):
                server.sendall(data)
            server.shutdown(socket.SHUT_WR)

    def answer(self, server: socket.socket, client: socket.socket) -> None:
        """Hand on what the server says, and count it first: a client may end at the last byte."""
        with suppress(OSError):
            while data := server.recv(1 << 16):
                self.n_bytes += len(data)
                client.sendall(data)
            client.shutdown(socket.SHUT_WR)


@contextmanager
def counting(server_port: int) -> Iterator[CountingProxy]:
    """Listen in front of a server of this host."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        proxy = CountingProxy(listening, server_port)
        proxy.start(proxy.serve)
        yield proxy
        listening.shutdown(socket.SHUT_RDWR)
    proxy.threads[0].join()
    for one in proxy.sockets:
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
    for thread in proxy.threads:
        thread.join()
    for one in proxy.sockets:
        one.close()
