#!/usr/bin/env python3
"""Holds the documents to the program: each route of /openapi.json stands in
docs/protocol/http.md with its access and none besides, each key of the config's parser in
docs/configuration.md, each verb in docs/cli.md; the packaged unit is the one that is installed; no
relative link leads nowhere; each sentence of SECURITY.md is proved by tests that exist. Prints TAP
lines.

  tools/check_docs.py build/dev/perdure
"""

import http.client
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

import claims

ROOT = pathlib.Path(__file__).resolve().parent.parent
READY_S = 60
FAILED, REPORTED = [], []


def report(name, problems):
    for problem in problems[:20]:
        print(f"  {problem}")
    print(f"{'not ok' if problems else 'ok'} - {name}")
    FAILED.extend(problems)
    REPORTED.append(name)


class SocketConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=10)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def get(path, target):
    connection = SocketConnection(path)
    connection.request("GET", target)
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise OSError(f"{target}: {answer.status}")
    return json.loads(body)


def openapi(program):
    """The document of a daemon that is started for it."""
    with tempfile.TemporaryDirectory(prefix="perdure-docs-") as home:
        variables = {**os.environ, "PERDURE_HOME": home + "/data", "PERDURE_CONFIG": home + "/none"}
        daemon = subprocess.Popen([program, "serve", "--listen", "127.0.0.1:0"], env=variables,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            until = time.monotonic() + READY_S
            while True:
                try:
                    return get(home + "/data/run/perdure.sock", "/openapi.json")
                except (OSError, http.client.HTTPException):
                    if daemon.poll() is not None or time.monotonic() > until:
                        raise
                    time.sleep(0.05)  # between two looks
        finally:
            daemon.send_signal(signal.SIGTERM)
            daemon.wait(timeout=30)


def access_of(operation):
    text = operation.get("description", "")
    if "never from inside" in text:
        return "answer"
    scope = re.search(r"scope (\w+)", text)
    return scope[1] if scope else "open"


def check_routes(document, page):
    served = {f"{method.upper()} {path}": access_of(operation)
              for path, operations in document["paths"].items()
              for method, operation in operations.items()}
    row = r"^\| `((?:GET|POST|PATCH|PUT|DELETE) /[^`]*)` \| (\w+) \|"
    written = dict(re.findall(row, page, re.M))
    problems = [f"{route} is not in http.md" for route in served if route not in written]
    problems += [f"http.md tells of {route}, which is not served"
                 for route in written if route not in served]
    problems += [f"{route} has the access {served[route]}, http.md says {written[route]}"
                 for route in written if route in served and served[route] != written[route]]
    return problems


def check_settings(source, page):
    """Within its section, each key that the parser takes has a row, and no row is without a key."""
    problems = []
    sections = {"read_agent|read_quirks": "## `[agents.NAME]`", "read_sessions": "## `[sessions]`",
                "read_limits": "## `[limits]`", "read_notify": "## `[notify]`",
                "read_tables": "## Top level"}
    for function, heading in sections.items():
        body = re.findall(rf"^Result<[^\n]*> (?:{function})\(.*?^}}", source, re.M | re.S)
        section = re.search(rf"^{re.escape(heading)}$(.*?)(?=^## |\Z)", page, re.M | re.S)
        if not body or not section:
            problems.append(f"{function} or {heading} is not found")
            continue
        keys = set(re.findall(r'\.take(?:_enum)?\("(\w+)"', "\n".join(body)))
        rows = set(re.findall(r"^\| `(\w+)` \|", section[1], re.M))
        problems += [f"{heading}: {key} has no row" for key in sorted(keys - rows)]
        problems += [f"{heading}: {key} is no setting" for key in sorted(rows - keys)]
    return problems


def check_verbs(program, page):
    text = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    verbs = [verb.strip() for verb in re.findall(r"^  ([a-z]+(?: [a-z]+)?)  ", text, re.M)]
    words = set(re.findall(r"[a-z]+", " ".join(re.findall(r"```.*?```|`[^`]+`", page, re.S))))
    problems = [] if len(verbs) > 30 else ["the help lists too few verbs"]
    return problems + [f"{verb} is not in cli.md"
                       for verb in verbs if not set(verb.split()) <= words]


def settings_of(unit):
    return [line for line in unit.splitlines() if line and not line.startswith(("#", "ExecStart="))]


def check_unit(program):
    """The unit that is packaged is the one that `service install` writes."""
    with tempfile.TemporaryDirectory(prefix="perdure-docs-") as folder:
        subprocess.run([program, "service", "install"], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "XDG_CONFIG_HOME": folder})
        written = pathlib.Path(folder, "systemd/user/perdure.service").read_text()
    packaged = (ROOT / "packaging/systemd/perdure-user.service").read_text()
    problems = []
    if settings_of(written) != settings_of(packaged):
        problems.append("perdure-user.service differs from what service install writes")
    for unit in sorted((ROOT / "packaging/systemd").glob("*.service")):
        problems += [f"{unit.name}: {line} takes openat2() away from agentctl"
                     for line in settings_of(unit.read_text())
                     if line.startswith(("RestrictSUIDSGID=", "SystemCallFilter="))]
    return problems


def anchors(text):
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def check_links():
    problems = []
    files = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True,
                           check=True)
    for name in files.stdout.split():
        page = ROOT / name
        text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            to = (page.parent / path).resolve() if path else page
            if not to.exists():
                problems.append(f"{name}: {target} is not there")
            elif anchor and to.suffix == ".md" and anchor not in anchors(to.read_text()):
                problems.append(f"{name}: {target} has no such heading")
    return problems


def check_security():
    page = (ROOT / "SECURITY.md").read_text()
    entries = (ROOT / "tests/security/claims.txt").read_text()
    tests = claims.tests_of(ROOT)
    report("each_sentence_of_security_md_has_its_tests", claims.problems_of(page, entries, tests))
    report("canary_claim_without_a_test_is_noticed", claims.undetected(page, entries, tests))


def main():
    given = sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/dev/perdure"
    program = str(pathlib.Path(given).resolve())
    pages = {name: (ROOT / "docs" / name).read_text()
             for name in ("protocol/http.md", "configuration.md", "cli.md")}
    document = openapi(program)
    routes = pages["protocol/http.md"]
    report("every_route_is_told_of_with_its_access", check_routes(document, routes))
    document["paths"]["/api/canary"] = {"get": {"description": "Needs the scope admin."}}
    report("canary_route_is_missed",
           [] if check_routes(document, routes) else ["a route that is not told of is not noticed"])
    settings = (ROOT / "src/daemon/setup/config.cc").read_text()
    report("every_setting_is_told_of", check_settings(settings, pages["configuration.md"]))
    report("every_verb_is_told_of", check_verbs(program, pages["cli.md"]))
    report("the_packaged_unit_is_the_installed_one", check_unit(program))
    check_security()
    report("links_lead_somewhere", check_links())
    print(f"1..{len(REPORTED)}")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
