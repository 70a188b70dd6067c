"""Looks for, reads and drives sessions that it did not make.

Tries: every route with another session's id, title, parts of its id, its question, its task, the
hash of one of its large texts; the lists, search, metrics, executors; making a session, or moving
its own, to the other's folder or task; the streams and /ws.
Would prove: agents_reach = "children" is not what an agent sees.
Saw: 404 everywhere; an id in a list nowhere.
"""
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from websocket import WebSocket
from wire import Api

CONTROL = "reach_all"
LISTS = ["/api/sessions?archived=all&limit=500", "/api/inbox", "/api/executors", "/api/tasks",
         "/api/search?q=zebra", "/metrics", "/api/sessions?q=victim", "/api/agents"]
READS = ["", "/status", "/events", "/history", "/transcript", "/resume-context", "/page", "/rows",
         "/at?seq=1", "/density?buckets=4", "/export", "/delete-preview", "/fs/list?path=",
         "/fs/read?path=secret", "/git/status", "/shells", "/blobs/{blob}"]
CHANGES = [("prompt", {"text": "x"}), ("cancel", {}), ("stop", {}), ("resume", {}), ("fork", {}),
           ("archive", {}), ("repair", {}), ("options", {"mode": "x"}), ("redact", {"seq": 1}),
           ("queue/release", {}), ("fs/write", {"path": "x", "text": "y"}),
           ("shells", {"command": ["id"]}),
           ("lend", {"lender": "x", "got": 0, "fs_read": True}), ("git/commit", {"message": "x"})]


def attack(world):
    from world import ask, broken, lines, update
    task = world.api.post("/api/tasks", {"title": "zebra"})[1]["task"]["id"]
    victim = world.session(title="victim zebra", task_id=task)
    folder = Path(world.show(victim)["cwd"])
    (folder / "secret").write_text("zebra")
    world.prompt(victim, lines(
        update({"sessionUpdate": "agent_message_chunk",
                "content": {"type": "text", "text": "zebra " + "q" * 300000}}),
        ask(7, {"toolCallId": "t", "title": "zebra"})), "wait")
    question = world.question(victim)
    blob = re.search(r'blob[^}]*?([0-9a-f]{64})', json.dumps(world.records(victim)))[1]
    return broken(world.inside(world.attacker(), __file__, world.socket, victim,
                               question["perm_id"], blob, task, folder))


def inside(path, victim, perm, blob, task, folder):
    api = Api(path)
    own = api.get("/api/sessions")[1]["sessions"]
    own = [row["id"] for row in own if row["title"] == "attacker"][0]
    for target in LISTS:
        status, answer = api.get(target)
        if any(word in json.dumps(answer) for word in (victim, perm, task)):
            print(f"BROKE {target} names the victim")
    for read in READS:
        status, answer = api.get(f"/api/sessions/{victim}{read.format(blob=blob)}")
        if status != 404:
            print(f"BROKE GET …{read}: {status} {str(answer)[:100]}")
    for name in (victim[:-1], victim[-8:], victim[5:15], "victim", "victim zebra", "s", "sess_"):
        status, answer = api.get(f"/api/sessions/{name.replace(' ', '%20')}")
        if victim in json.dumps(answer):
            print(f"BROKE {name} is resolved: {status}")
    if api.get(f"/api/sessions/{own}/blobs/{blob}")[0] == 200:
        print("BROKE the other's large text can be read by its hash")
    for change, body in CHANGES:
        status, answer = api.post(f"/api/sessions/{victim}/{change}", body)
        if status != 404:
            print(f"BROKE POST …/{change}: {status} {str(answer)[:100]}")
    for members in ({"task_id": task}, {"cwd": folder}, {"cwd": f"/proc/self/root{folder}"},
                    {"cwd": f"{folder}/../{Path(folder).name}"}):
        for method, target in (("POST", "/api/sessions"), ("PATCH", f"/api/sessions/{own}")):
            status, answer = api.call(method, target, members)
            if status < 300:
                print(f"BROKE {method} with {members}: {status}")
    line = WebSocket(path, "/ws")
    line.send({"id": 1, "type": "request", "action": "session.subscribe",
               "payload": {"session_id": victim}})
    if line.receive()["type"] != "error":
        print("BROKE /ws follows the victim")


if __name__ == "__main__":
    inside(*sys.argv[1:])
