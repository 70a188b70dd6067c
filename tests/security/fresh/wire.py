"""Requests over a unix socket or TCP, for the runner outside and for the programs inside.

Only Python's own library; a request is one connection unless the caller keeps it.
"""

import http.client
import json
import socket


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout=20):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Api:
    """One daemon. `place` is the path of its unix socket, or (host, port)."""

    def __init__(self, place, token=None, timeout=20):
        self.place = place
        self.token = token
        self.timeout = timeout

    def connection(self):
        if isinstance(self.place, str):
            return UnixConnection(self.place, self.timeout)
        return http.client.HTTPConnection(*self.place, timeout=self.timeout)

    def raw(self, method, target, body=None, headers=None):
        """(status, headers, bytes)."""
        line = self.connection()
        try:
            all_headers = {} if self.token is None else {"Authorization": f"Bearer {self.token}"}
            data = None
            if body is not None:
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                all_headers["Content-Type"] = "application/json"
            line.request(method, target, data, {**all_headers, **(headers or {})})
            answer = line.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            line.close()

    def call(self, method, target, body=None, headers=None):
        """(status, JSON or text)."""
        status, _, data = self.raw(method, target, body, headers)
        try:
            return status, json.loads(data)
        except ValueError:
            return status, data.decode(errors="replace")

    def get(self, target):
        return self.call("GET", target)

    def post(self, target, body=None):
        return self.call("POST", target, {} if body is None else body)
