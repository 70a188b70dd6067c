"""Sends every route of a daemon what no client would send, and demands an answer each time.

walk.py TO TABLE SESSION [TOKEN | page COOKIE KEY]
TO is the path of a unix socket or a TCP port, TABLE a file with a copy of /openapi.json, SESSION
the id that stands in each path. Each route is called by every method, as a WebSocket and not, and
with broken bodies. The last line is `walked N routes, M requests`; anything else is a request that
got no answer, or 500."""

import json
import socket
import sys

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"]
UPGRADES = {
    "plain": "",
    "websocket": "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                 "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
    "without a key": "Connection: Upgrade\r\nUpgrade: websocket\r\n",
    "half": "Upgrade: websocket\r\n",
    "another": "Connection: Upgrade\r\nUpgrade: h2c\r\n",
}
DEEP = b"[" * 61 + b"]" * 61
BODIES = [b"", b"{}", b'{"', b"[1]", b"null", b'{"text":"\xff\xfe"}', b'{"":' * 100, b"\0" * 99,
          b'{"cwd":7,"text":{},"agent":[],"option_id":-1,"shell":1e999,"path":null,"name":""}',
          b'{"text":"a","text":"b","session_id":"sess_","expires_ms":18446744073709551616}',
          b'{"content":[{"type":"text","text":"x"},{"type":"x","data":%s}]}' % DEEP,
          b'{"mcp_servers":[{"x":%s}]}' % DEEP]
# It ends the daemon in an orderly way, which has tests of its own.
SKIPPED = {("POST", "/api/restart")}
sent = 0


def connect(to):
    if not to.isdigit():
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(30)
        connection.connect(to)
        return connection
    # Failures are counted by address: each request comes from another one.
    source = f"127.{1 + sent // 64000}.{sent // 250 % 256}.{1 + sent % 250}"
    return socket.create_connection(("127.0.0.1", int(to)), 30, (source, 0))


def credentials(token):
    if not token:
        return ""
    if token[0] != "page":
        return f"Authorization: Bearer {token[0]}\r\n"
    return (f"Cookie: {token[1]}\r\nX-Perdure-Key: {token[2]}\r\nX-Perdure-Client: 1\r\n"
            f"Sec-Fetch-Site: same-origin\r\nIdempotency-Key: walk-{sent}\r\n")


def send(to, token, method, path, more="", body=b""):
    """What was wrong, or an empty text."""
    global sent
    sent += 1
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{to if to.isdigit() else 1}\r\n{more}"
    head += credentials(token)
    if "Content-Type" not in more:
        head += "Content-Type: application/json\r\n"
    if body or method not in ("GET", "HEAD"):
        head += f"Content-Length: {len(body)}\r\n"
    what = f"{method} {path} {more!r} {body[:40]!r}"
    try:
        with connect(to) as connection:
            connection.sendall(head.encode() + b"\r\n" + body)
            answer = b""
            while b"\r\n\r\n" not in answer:
                part = connection.recv(65536)
                if not part:
                    return f"{what}: no answer ({answer[:99]!r})"
                answer += part
    except OSError as error:
        return f"{what}: {error}"
    status = int(answer[9:12])
    return f"{what}: {answer!r}" if status == 500 else ""


def requests_to(method, path, known):
    if method not in known:
        yield "", b""
        return
    for more in UPGRADES.values():
        yield more, b""
    if method == "GET":
        yield "", b"{}"
        yield UPGRADES["websocket"], b"{}"
        return
    for body in BODIES:
        yield "", body
    yield "Content-Type: text/plain\r\n", b"x"
    yield "Content-Type: application/octet-stream\r\n", b"\xff\0\x80"


def walk(to, table, session, token):
    with open(table, encoding="utf-8") as file:
        paths = json.load(file)["paths"]
    routes = 0
    for pattern, methods in paths.items():
        known = {method.upper() for method in methods}
        while "{" in pattern:
            at = pattern.index("{")
            pattern = pattern[:at] + session + pattern[pattern.index("}") + 1:]
        routes += 1
        for method in METHODS:
            if (method, pattern) in SKIPPED:
                continue
            for more, body in requests_to(method, pattern, known):
                wrong = send(to, token, method, pattern, more, body)
                if wrong:
                    print(wrong)
                    if not alive(to):
                        print("the daemon is gone")
                        return
    print(f"walked {routes} routes, {sent} requests")


def alive(to):
    return not send(to, [], "GET", "/healthz")


if __name__ == "__main__":
    walk(*sys.argv[1:4], sys.argv[4:])
