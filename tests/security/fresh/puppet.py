"""The agent that the attacks play with: an ACP agent that does what its prompt says.

  run COMMAND      runs it by /bin/sh, says its output, and ends the turn
  lines JSON       writes each string of the list as one line on stdout, as it stands; "@TURN" in it
                   becomes the id of the prompt's request, "@SESSION" the session's
  wait             ends the turn only after an answer from the client (what it was is said)

Several commands stand on lines of their own, each encoded by `step`.
"""

import json
import subprocess
import sys


def say(session, text):
    put({"jsonrpc": "2.0", "method": "session/update", "params": {
        "sessionId": session,
        "update": {"sessionUpdate": "agent_message_chunk",
                   "content": {"type": "text", "text": text}}}})


def put(message):
    raw(json.dumps(message))


def raw(line):
    sys.stdout.buffer.write(line.encode("utf-8", "surrogateescape") + b"\n")
    sys.stdout.buffer.flush()


def read():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def wait_for_answer(session):
    while True:
        message = read()
        if "method" not in message:
            say(session, "ANSWER " + json.dumps(message))
            return
        if message["method"] == "session/cancel":
            say(session, "CANCELLED")
            return


def play(turn, session, text):
    for line in text.split("\n"):
        verb, _, rest = line.partition(" ")
        if verb == "run":
            done = subprocess.run(["/bin/sh", "-c", rest], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            say(session, done.stdout.decode(errors="replace") or " ")
        elif verb == "lines":
            for one in json.loads(rest):
                raw(one.replace("@TURN", json.dumps(turn)).replace("@SESSION", session))
        elif verb == "wait":
            wait_for_answer(session)
    put({"jsonrpc": "2.0", "id": turn, "result": {"stopReason": "end_turn"}})


def main():
    while True:
        message = read()
        method = message.get("method")
        if "id" not in message or method is None:
            continue
        if method == "initialize":
            result = {"protocolVersion": 1, "agentCapabilities": {}, "authMethods": []}
        elif method == "session/new":
            result = {"sessionId": "puppet-1"}
        elif method == "session/prompt":
            params = message["params"]
            play(message["id"], params["sessionId"],
                 "".join(block.get("text", "") for block in params["prompt"]))
            continue
        else:
            put({"jsonrpc": "2.0", "id": message["id"],
                 "error": {"code": -32601, "message": "not here"}})
            continue
        put({"jsonrpc": "2.0", "id": message["id"], "result": result})


main()
