"""A WebSocket over the daemon's unix socket, just enough for the attacks."""

import base64
import json
import os
import socket
import struct


class WebSocket:
    def __init__(self, path, target, headers=()):
        self.line = socket.socket(socket.AF_UNIX)
        self.line.settimeout(5)
        self.line.connect(path)
        key = base64.b64encode(os.urandom(16)).decode()
        head = [f"GET {target} HTTP/1.1", "Host: localhost", "Upgrade: websocket",
                "Connection: Upgrade", f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13",
                *headers, "", ""]
        self.line.sendall("\r\n".join(head).encode())
        self.data = b""
        while b"\r\n\r\n" not in self.data:
            self.more()
        self.head, _, self.data = self.data.partition(b"\r\n\r\n")

    def more(self):
        data = self.line.recv(65536)
        if not data:
            raise EOFError
        self.data += data

    def send(self, message):
        data, mask = json.dumps(message).encode(), os.urandom(4)
        if len(data) < 126:
            head = bytes([0x81, 0x80 | len(data)])
        else:
            head = bytes([0x81, 0x80 | 126]) + struct.pack(">H", len(data))
        self.line.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def take(self, count):
        while len(self.data) < count:
            self.more()
        data, self.data = self.data[:count], self.data[count:]
        return data

    def receive(self):
        """The next message as JSON."""
        first, length = self.take(2)
        if length == 126:
            length = struct.unpack(">H", self.take(2))[0]
        elif length == 127:
            length = struct.unpack(">Q", self.take(8))[0]
        data = self.take(length)
        if first & 15 == 8:
            raise EOFError(data)
        return json.loads(data)
