# SPDX-License-Identifier: BSD-2-Clause
"""A tap on the way to a server: what goes over its connections is noted, none
of it lost, and saved as a capture that Wireshark's programs read.  (A capture
of the interface misses packets on a busy machine.)"""

import contextlib
import selectors
import socket
import subprocess
import threading

SERVER = 443                        # its port in what is saved


class Tap:
    """Use it as "with Tap(behind) as port".  Connections to port.number go on
    to @behind, one at a time."""

    def __init__(self, behind: int):
        self.behind = behind
        self.connections = []       # of (is by the server, data) each

    def __enter__(self) -> "Tap":
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.number = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self._serve)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.listener.close()

    def _serve(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.behind))
            self.connections.append(list(_relay(client, server)))

    def save(self, path) -> None:
        """Saves what went over the connections as a capture."""
        parts = []
        for i, said in enumerate(self.connections):
            parts.append(f"{path}.{i}")
            subprocess.run(
                ["text2pcap", "-q", "-D", "-T", f"{40000 + i},{SERVER}", "-",
                 parts[-1]], input="".join(_dump(*s) for s in said), text=True,
                check=True, capture_output=True)
        subprocess.run(["mergecap", "-a", "-w", path, *parts], check=True)


def _relay(client: socket.socket, server: socket.socket):
    """Relays data between both sides until both have ended.  Yields each piece,
    with True if the server sent it."""
    with client, server, selectors.DefaultSelector() as ready:
        ready.register(client, selectors.EVENT_READ, server)
        ready.register(server, selectors.EVENT_READ, client)
        while ready.get_map():
            for key, _ in ready.select():
                data = key.fileobj.recv(16384)
                if data:
                    key.data.sendall(data)
                    yield key.fileobj is server, data
                    continue
                ready.unregister(key.fileobj)
                with contextlib.suppress(OSError):
                    key.data.shutdown(socket.SHUT_WR)


def _dump(by_server: bool, data: bytes) -> str:
    """As text2pcap reads it."""
    lines = (f"{i:06x} {data[i:i + 16].hex(' ')}"
             for i in range(0, len(data), 16))
    return "\n".join(("I" if by_server else "O", *lines, ""))
