"""An ACP agent that takes memory until somebody ends it, once it is prompted."""

import json
import sys


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "initialize":
        send({"id": message["id"], "result": {"protocolVersion": 1, "agentCapabilities": {}}})
    elif method == "session/new":
        send({"id": message["id"], "result": {"sessionId": "hungry-1"}})
    elif method == "session/prompt":
        eaten = []
        while True:
            eaten.append(bytearray(8 << 20))
    elif "id" in message and method:
        send({"id": message["id"], "error": {"code": -32601, "message": "no such method"}})
