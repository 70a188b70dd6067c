"""An ACP agent that asks for a permission and then tries to grant it to itself, in every way that
a program of the same user has. A prompt is a command line for sh, or `ask`; what came of it is said
as text, so that the journal shows each attempt."""

import json
import subprocess
import sys
import threading

lock = threading.Lock()


def send(message):
    with lock:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def say(session, text):
    send({"method": "session/update", "params": {"sessionId": session, "update": {
        "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}}})


def prompt(request):
    session = request["params"]["sessionId"]
    text = "".join(block.get("text", "") for block in request["params"]["prompt"])
    if text.startswith("ask "):
        send({"id": "q1", "method": "session/request_permission", "params": {
            "sessionId": session,
            "toolCall": {"toolCallId": "t1", "title": "rm -rf", "kind": "execute",
                         "status": "pending"},
            "options": [{"optionId": "allow", "name": "Allow", "kind": "allow_once"},
                        {"optionId": "reject", "name": "Reject", "kind": "reject_once"}]}})
        text = text[4:]
    done = subprocess.run(["sh", "-c", text], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=120)
    say(session, f"exit={done.returncode}\n{done.stdout}{done.stderr}\nattempted")
    waiting[session] = request["id"]
    if text == request["params"]["prompt"][0].get("text", ""):
        send({"id": request["id"], "result": {"stopReason": "end_turn"}})


waiting = {}
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "initialize":
        send({"id": message["id"], "result": {"protocolVersion": 1, "agentCapabilities": {}}})
    elif method == "session/new":
        send({"id": message["id"], "result": {"sessionId": "hostile-1"}})
    elif method == "session/prompt":
        threading.Thread(target=prompt, args=(message,), daemon=True).start()
    elif method == "session/cancel":
        open_call = waiting.pop(message["params"]["sessionId"], None)
        if open_call is not None:
            send({"id": open_call, "result": {"stopReason": "cancelled"}})
    elif method is None and message.get("id") == "q1":
        say("hostile-1", "answered=" + json.dumps(message.get("result")))
    elif "id" in message and method:
        send({"id": message["id"], "error": {"code": -32601, "message": "no such method"}})
