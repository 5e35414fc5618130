"""Network namespaces of a test's own, on one path with a router, and traffic between them."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

PREFIX = f"pcaplat-{os.getpid()}-"
NEAR, ROUTER, FAR = (PREFIX + name for name in ("near", "router", "far"))
RECEIVER = "10.9.2.3"
PORT = 7000
LINKS = [
    (NEAR, "n0", "10.9.1.1/24", ROUTER, "r0", "10.9.1.2/24"),
    (ROUTER, "r1", "10.9.2.2/24", FAR, "f0", "10.9.2.3/24"),
]
ROUTES = [(NEAR, "10.9.1.2"), (FAR, "10.9.2.2")]
ANSWERER = """
import socket
link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 23)
link.bind(("0.0.0.0", 7000))
print("ready", flush=True)
n = 0
while True:
    data, sender = link.recvfrom(2048)
    n += 1
    if n % 20 == 0:
        link.sendto(data, sender)
"""
SENDER = """
import socket, struct, sys, time
n_packets, per_s = int(sys.argv[1]), float(sys.argv[2])
link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
link.connect(("10.9.2.3", 7000))
packets = [struct.pack(">Q", number) + b"x" * 24 for number in range(n_packets)]
began_s, sent, send = time.monotonic(), 0, link.send
while sent < n_packets:
    due = min(int((time.monotonic() - began_s) * per_s) + 1, n_packets)
    for packet in packets[sent:due]:
        send(packet)
    sent = due
print(n_packets / (time.monotonic() - began_s))
"""


def may_make_namespaces() -> bool:
    """Whether this user may, and the system can: a container often cannot."""
    if os.geteuid() != 0 or not shutil.which("ip"):
        return False
    made = subprocess.run(["ip", "netns", "add", PREFIX + "probe"], check=False)
    if made.returncode:
        return False
    _ip("netns", "del", PREFIX + "probe")
    return True


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


@contextmanager
def routed_path() -> Iterator[None]:
    """Make three namespaces on one path: NEAR n0 – r0 ROUTER r1 – f0 FAR."""
    try:
        for name in (NEAR, ROUTER, FAR):
            _ip("netns", "add", name)
            _ip("-n", name, "link", "set", "lo", "up")
        for one, port, address, other, peer, far_address in LINKS:
            ends = ["peer", "name", peer, "netns", other]
            _ip("link", "add", port, "netns", one, "type", "veth", *ends)
            for name, interface, own in ((one, port, address), (other, peer, far_address)):
                _ip("-n", name, "addr", "add", own, "dev", interface)
                _ip("-n", name, "link", "set", interface, "up")
        for name, router in ROUTES:
            _ip("-n", name, "route", "add", "default", "via", router)
        forward = ["sysctl", "-qw", "net.ipv4.ip_forward=1"]
        subprocess.run(["ip", "netns", "exec", ROUTER, *forward], check=True)
        yield
    finally:
        for name in (NEAR, ROUTER, FAR):
            with suppress(subprocess.CalledProcessError):
                _ip("netns", "del", name)


@contextmanager
def answering() -> Iterator[None]:
    """Answer every twentieth datagram in FAR."""
    command = ["ip", "netns", "exec", FAR, sys.executable, "-c", ANSWERER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as answerer:
        assert answerer.stdout is not None
        assert answerer.stdout.readline() == "ready\n"
        try:
            yield
        finally:
            answerer.kill()


def send(n_packets: int, per_s: float) -> float:
    """Send datagrams from NEAR to FAR, and give how many a second that were."""
    command = ["ip", "netns", "exec", NEAR, sys.executable, "-c", SENDER, str(n_packets)]
    done = subprocess.run([*command, str(per_s)], check=True, capture_output=True, text=True)
    return float(done.stdout)
