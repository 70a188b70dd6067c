"""Says to agentctl, as its agent, whatever may break it, the daemon, or the page's routes.

Tries: 8 s of turns with mutated updates, questions, answers and requests: values of other types,
numbers beyond 64 bits, lone surrogates, depth, repeated keys and ids, half lines; after each turn
the reading routes are asked.
Would prove: an agent ends the daemon with what it prints, or makes a session unreadable.
Saw: 677 turns of 60 lines by hand; nothing ended, and no route answered with 500.
"""
import json
import random
import time

from world import YES_NO, lines

CONTROL = ""
SECONDS = 8
ODD = [None, True, 0, -1, 2**31, 2**53, 2**63 - 1, 2**63, 2**64, -2**63, 1e308, 0.5, "", "\0",
       "\ud800", "\u202e", "x" * 70000, "\x1b[31m", [], {}, [[]], {"": ""}, {"a": {"b": {}}},
       "null", "sess_", "../.."]
RAW = ["{", "[]", "null", '"x"', '{"jsonrpc":"2.0"}', "[" * 2000, '{"a":' * 100 + "1" + "}" * 100,
       "\ufeff{}",
       '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"@SESSION","update":'
       '{"sessionUpdate":"usage_update","used":1e999,"size":-0}}}',
       '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"@SESSION","update":'
       '{"sessionUpdate":"plan","sessionUpdate":"agent_message_chunk","content":{"type":"text",'
       '"text":"\\ud800\\u0000"}}}}']
TEXT = {"type": "text", "text": "hi"}
UPDATES = [
    {"sessionUpdate": "agent_message_chunk", "messageId": "m1", "content": TEXT},
    {"sessionUpdate": "agent_thought_chunk", "content": TEXT},
    {"sessionUpdate": "user_message_chunk", "content": TEXT},
    {"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "x", "kind": "edit",
     "status": "pending",
     "content": [{"type": "diff", "path": "/a", "oldText": None, "newText": "b"},
                 {"type": "terminal", "terminalId": "t"}],
     "locations": [{"path": "/a", "line": 3}], "rawInput": {"command": "ls"},
     "rawOutput": {"x": 1}},
    {"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "completed", "content": []},
    {"sessionUpdate": "plan",
     "entries": [{"content": "a", "priority": "high", "status": "pending"}]},
    {"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "x"}]},
    {"sessionUpdate": "current_mode_update", "currentModeId": "ask"},
    {"sessionUpdate": "usage_update", "used": 3, "size": 5,
     "cost": {"amount": 1.5, "currency": "USD"}},
    {"sessionUpdate": "session_info_update", "title": "t"},
    {"perdure": "too_long", "sessionUpdate": "agent_message_chunk"},
    {"perdure": "commands_ended", "processes": -1}]
REQUESTS = [
    ("session/request_permission", {
        "toolCall": {"toolCallId": "t1", "title": "do", "kind": "execute",
                     "rawInput": {"command": "ls"}}, "options": YES_NO}),
    ("fs/read_text_file", {"path": "/etc/passwd", "line": 1, "limit": 5}),
    ("fs/write_text_file", {"path": "/x", "content": "y"}),
    ("terminal/create", {"command": "true", "args": ["x"], "env": [{"name": "A", "value": "b"}]}),
    ("terminal/output", {"terminalId": "1"}), ("terminal/wait_for_exit", {"terminalId": "1"}),
    ("$/cancel_request", {"id": 1}), ("initialize", {})]
READS = ["transcript", "history", "rows?tail=50", "page", "resume-context", "density?buckets=10",
         "at?seq=5", "export", "events?last=50"]


def mutated(draw, message):
    message = json.loads(json.dumps(message))
    for _ in range(draw.randint(1, 3)):
        place, key = message, None
        while isinstance(place[key] if key is not None else place, (dict, list)):
            place = place[key] if key is not None else place
            if not place or (key is not None and draw.random() < 0.2):
                break
            key = draw.choice(list(place) if isinstance(place, dict) else range(len(place)))
            if draw.random() < 0.25:
                break
        if key is None or not place:
            continue
        if isinstance(place, dict) and draw.random() < 0.15:
            place.pop(key, None)
        elif isinstance(place, dict) or isinstance(key, int) and key < len(place):
            place[key] = json.loads(json.dumps(draw.choice(ODD)))
    return message


def line(draw):
    kind = draw.random()
    if kind < 0.06:
        return draw.choice(RAW)
    if kind < 0.12:
        return json.dumps({"jsonrpc": "2.0", "id": draw.choice([1, 2, 3, 4]),
                           "result": {"stopReason": draw.choice(["end_turn", 5, "z"])}})
    if kind < 0.4:
        method, params = draw.choice(REQUESTS)
        message = {"jsonrpc": "2.0", "id": draw.choice([1, 2, "x", None, -5, 2**64, 1.5, []]),
                   "method": method, "params": {"sessionId": "@SESSION", **params}}
    else:
        message = {"jsonrpc": "2.0", "method": "session/update",
                   "params": {"sessionId": "@SESSION", "update": draw.choice(UPDATES)}}
    return json.dumps(mutated(draw, message))


def attack(world):
    draw, found, end, turns = random.Random(11), [], time.monotonic() + SECONDS, 0
    while time.monotonic() < end and world.alive():
        session = world.session()
        for _ in range(4):
            world.prompt(session, lines(*(line(draw) for _ in range(60))))
            turns += 1
            until = time.monotonic() + 2
            while time.monotonic() < until:
                state = world.show(session)
                for question in state["pending"]:
                    world.api.post(f"/api/permissions/{question['perm_id']}", {"cancel": True})
                if state["last_run"] and not state["run"]:
                    break
                time.sleep(0.02)
        for read in READS:
            status, _, data = world.api.raw("GET", f"/api/sessions/{session}/{read}")
            if status >= 500:
                found.append(f"{read}: {status} {data[:200]}")
    if turns < 8:
        raise RuntimeError(f"only {turns} turns")
    return found
