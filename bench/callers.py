#!/usr/bin/env python3
"""The cost of identifying callers: a prompt and an answer, each over a new connection, over TCP and
over the unix socket, with many live sessions; then the same over persistent connections. Then the
private memory of the agentctls.

bench/callers.py [--build build/release] [--sessions 200] [--rounds 60]"""

import argparse
import http.client
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import tempfile
import time


class Unix(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


def call(connection, method, path, body=None, token=None):
    headers = {"Content-Type": "application/json"} if body is not None else {}
    if token:
        headers["Authorization"] = "Bearer " + token
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    answer = connection.getresponse()
    text = answer.read()
    assert answer.status < 300, (method, path, answer.status, text)
    return json.loads(text)


def open_question(admin, session):
    while True:
        for item in call(admin, "GET", "/api/inbox")["items"]:
            if item["session_id"] == session and item["kind"] == "permission":
                return item["perm_id"], item["options"][0]["option_id"]
        time.sleep(0.01)


def private_kib(program):
    """The private memory of each process of that program."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/exe") != program:
                continue
            with open(f"/proc/{pid}/smaps_rollup") as rollup:
                yield sum(int(line.split()[1]) for line in rollup if line.startswith("Private_"))
        except OSError:
            pass  # ended, or not ours


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--build", default="build/release")
    options.add_argument("--sessions", type=int, default=200)
    options.add_argument("--rounds", type=int, default=60)
    options = options.parse_args()
    home = tempfile.mkdtemp(prefix="perdure-bench-")
    work = tempfile.mkdtemp(prefix="perdure-bench-work-")
    sessions = []
    environment = {**os.environ, "PERDURE_HOME": home, "PERDURE_CONFIG": home + "/config.toml"}
    with open(home + "/config.toml", "w") as file:
        file.write("listen = '127.0.0.1:0'\n[limits]\nlive_agents = 1000\n")
    daemon = subprocess.Popen([options.build + "/perdure", "serve"], env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        while not (found := re.search(r"127\.0\.0\.1:(\d+)", daemon.stdout.readline())):
            pass
        port = int(found[1])
        path = home + "/run/perdure.sock"
        token = open(home + "/token").read().strip()
        admin = Unix(path)
        for _ in range(options.sessions):
            made = call(admin, "POST", "/api/sessions", {"agent": "demo", "cwd": work})
            sessions.append(made["session"]["id"])
        for session in sessions:
            call(admin, "POST", f"/api/sessions/{session}/prompt", {"text": "hello"})
        while sum(row.get("status") == "idle" for row in
                  call(admin, "GET", "/api/sessions?limit=1000")["sessions"]) < len(sessions):
            time.sleep(0.5)
        ways = {
            "unix, fresh": lambda: (Unix(path), None),
            "tcp, fresh": lambda: (http.client.HTTPConnection("127.0.0.1", port), token),
        }
        kept = {"unix, kept": (Unix(path), None),
                "tcp, kept": (http.client.HTTPConnection("127.0.0.1", port), token)}
        ways.update({name: (lambda pair=pair: pair) for name, pair in kept.items()})
        spent = {name: [] for name in ways}
        for number in range(options.rounds):
            session = sessions[number % len(sessions)]
            for name, way in ways.items():
                connection, bearer = way()
                began = time.perf_counter()
                call(connection, "POST", f"/api/sessions/{session}/prompt", {"text": "/ask"},
                     bearer)
                prompted = time.perf_counter() - began
                permission, choice = open_question(admin, session)
                connection, bearer = way()
                began = time.perf_counter()
                call(connection, "POST", f"/api/permissions/{permission}",
                     {"option_id": choice}, bearer)
                spent[name].append(prompted + time.perf_counter() - began)
                while call(admin, "GET", f"/api/sessions/{session}")["session"]["status"] != "idle":
                    time.sleep(0.01)
        base = statistics.median(spent["unix, fresh"])
        for name, times in spent.items():
            middle = statistics.median(times)
            print(f"{name:12} p50 {middle * 1e3:6.2f} ms  {middle / base:4.2f} of unix, fresh")
        used = sorted(private_kib(os.path.realpath(options.build + "/perdure-agentctl")))
        print(f"agentctl     p50 {statistics.median(used):6.0f} KiB private, at most {used[-1]}, "
              f"of {len(used)}")
    finally:
        for session in sessions:
            call(admin, "POST", f"/api/sessions/{session}/stop", {})
        daemon.send_signal(signal.SIGTERM)
        daemon.wait()


if __name__ == "__main__":
    main()
