"""One HTTP request of an attacker, and its status on stdout.

request.py TO METHOD PATH BODY [TOKEN] [orphan]
TO is the path of a unix socket or a TCP port. `orphan` sends it from a process that has thrown its
environment away and whose parent has ended."""

import http.client
import os
import socket
import sys


def status(to, method, path, body, token=None):
    if to.isdigit():
        connection = http.client.HTTPConnection("127.0.0.1", int(to), timeout=30)
    else:
        connection = http.client.HTTPConnection("localhost", timeout=30)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(to)
    headers = {"Content-Type": "application/json"}
    if token:
        headers["Authorization"] = "Bearer " + token
    connection.request(method, path, body if method != "GET" else None, headers)
    answer = connection.getresponse()
    return f"status={answer.status} {answer.read().decode()[:400]}"


def as_orphan(words):
    here, there = os.pipe()
    if os.fork() == 0:
        parent = os.getpid()
        if os.fork() == 0:
            os.setsid()
            while os.getppid() == parent:  # until it has ended
                pass
            os.dup2(there, 1)
            os.execve(sys.executable, [sys.executable, __file__, *words], {})
        os._exit(0)
    os.wait()
    os.close(there)
    with os.fdopen(here) as result:
        print(result.read(), end="")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments[-1] == "orphan":
        as_orphan(arguments[:-1])
    else:
        try:
            print(status(*arguments))
        except OSError as error:
            print(f"failed={error}")
