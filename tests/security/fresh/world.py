"""A daemon with a data folder of its own, and sessions in it, as their owner sees them.

An attack is a module in attacks/ with a function attack(world) that returns what it broke, one
sentence each; the list is empty when everything held. Its inside part is the module run as a
program: it prints a line `BROKE …` for each thing that worked. In control runs the world is weak:

  unconfined   sessions.confine = false
  reach_all    sessions.agents_reach = "all"
  outside      the inside part runs beside the sessions, as a program of the owner
  by_hand      the attack itself plays what a careless product would do
"""

import base64
import ctypes
import json
import os
import pty
import select
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from wire import Api

HERE = Path(__file__).resolve().parent
PYTHON = "/usr/bin/python3"
PR_SET_CHILD_SUBREAPER = 36
SETTINGS = {"unconfined": "[sessions]\nconfine = false\n",
            "reach_all": "[sessions]\nagents_reach = \"all\"\n"}
YES_NO = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"},
          {"optionId": "no", "name": "No", "kind": "reject_once"}]


def wait_until(condition, seconds, what):
    """Asks until the answer is true, and returns it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        answer = condition()
        if answer:
            return answer
        time.sleep(0.02)
    raise TimeoutError(what)


def update(body):
    """A line by which an agent tells something of its turn."""
    return json.dumps({"jsonrpc": "2.0", "method": "session/update",
                       "params": {"sessionId": "@SESSION", "update": body}})


def ask(number, tool_call, options=None):
    """A line by which an agent asks for a permission."""
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "session/request_permission",
                       "params": {"sessionId": "@SESSION", "toolCall": tool_call,
                                  "options": YES_NO if options is None else options}})


def lines(*texts):
    """A prompt for the puppet: it prints these lines."""
    return "lines " + json.dumps(texts)


def compiled(source, target, *flags):
    """Compiles C; False where this machine has no compiler."""
    for compiler in ("clang-19", "gcc", "cc"):
        if shutil.which(compiler):
            subprocess.run([compiler, "-O1", "-w", *flags, "-o", str(target), str(source)],
                           check=True)
            return True
    return False


class World:
    def __init__(self, programs, control="", settings=""):
        self.programs = Path(programs).resolve()
        self.control = control
        self.root = Path(tempfile.mkdtemp(prefix="fresh-"))
        self.home = self.root / "home"
        self.work = self.root / "work"
        self.data = self.root / "state" / "perdure"
        for folder in (self.home, self.work, self.data.parent):
            folder.mkdir()
        puppet = json.dumps([PYTHON, "-B", str(HERE / "puppet.py")])
        (self.root / "config.toml").write_text(
            f"{settings}\n{SETTINGS.get(control, '')}\n[agents.puppet]\ncommand = {puppet}\n")
        self.environment = {"HOME": str(self.home), "PATH": f"{self.programs}:/usr/bin:/bin",
                            "LANG": "C.UTF-8", "PERDURE_HOME": str(self.data),
                            "PERDURE_CONFIG": str(self.root / "config.toml"), "USER": "fresh",
                            "TMPDIR": str(self.root), "PYTHONDONTWRITEBYTECODE": "1"}
        self.socket = str(self.data / "run" / "perdure.sock")
        self.token_file = self.data / "token"
        self.daemon = None
        self.folders = []

    # --- the daemon -------------------------------------------------------------------------------

    def start(self, *arguments, **more):
        self.output = open(self.root / "daemon.out", "ab")
        self.daemon = subprocess.Popen(
            [self.programs / "perdure", "serve", *(arguments or ("--listen", "127.0.0.1:0"))],
            env=self.environment, cwd=self.root, stdin=subprocess.DEVNULL, stdout=self.output,
            stderr=self.output, **more)
        self.api = Api(self.socket)
        wait_until(self.ready, 30, "the daemon serves")
        # By folder descriptor, so that the owner can still connect after an attack moves the path.
        self.folders = [os.open(self.data / part, os.O_PATH | os.O_DIRECTORY)
                        for part in ("run", ".")]
        self.api = Api(f"/proc/{os.getpid()}/fd/{self.folders[0]}/perdure.sock")
        self.token = self.token_file.read_text().strip()
        return self

    def ready(self):
        try:
            return self.api.get("/readyz")[0] == 200
        except (OSError, ValueError):
            return False

    def alive(self):
        return self.daemon.poll() is None

    def place(self):
        """Host and port of its TCP listener."""
        log = Path(f"/proc/self/fd/{self.folders[1]}/log/perdure.log").read_text()
        host, port = log.rsplit("serves http://", 1)[1].split()[0].rsplit(":", 1)
        return host, int(port)

    def cli(self, *arguments, seconds=30, **more):
        return subprocess.run([self.programs / "perdure", *map(str, arguments)],
                              env=self.environment, cwd=self.home, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=seconds,
                              **more)

    def on_terminal(self, *arguments, keys=(), seconds=6):
        """What the command line writes on a terminal; each of `keys` is typed after some rest."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.home)
            os.execvpe(str(self.programs / "perdure"), ["perdure", *map(str, arguments)],
                       {**self.environment, "TERM": "xterm"})
        out, keys, end, heard = b"", list(keys), time.monotonic() + seconds, time.monotonic()
        while time.monotonic() < end:
            if select.select([terminal], [], [], 0.1)[0]:
                try:
                    data = os.read(terminal, 65536)
                except OSError:
                    break
                if not data:
                    break
                out, heard = out + data, time.monotonic()
            elif keys and time.monotonic() - heard > 0.7:
                os.write(terminal, keys.pop(0))
                heard = time.monotonic()
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)
        return out

    # --- sessions ---------------------------------------------------------------------------------

    def session(self, **members):
        status, answer = self.api.post("/api/sessions", {"agent": "puppet", **members})
        if status != 201:
            raise RuntimeError(f"no session: {status} {answer}")
        return answer["session"]["id"]

    def attacker(self, **members):
        """The session from which the attack comes. It works in a folder of its own."""
        return self.session(cwd=str(self.work), title="attacker", **members)

    def show(self, session):
        return self.api.get(f"/api/sessions/{session}")[1]["session"]

    def records(self, session):
        found, after = [], 0
        while True:
            page = self.api.get(f"/api/sessions/{session}/events?limit=1000&after={after}")[1]
            found += page["events"]
            if not page["more"]:
                return found
            after = page["last"]

    def prompt(self, session, *commands):
        status, answer = self.api.post(f"/api/sessions/{session}/prompt",
                                       {"text": "\n".join(commands)})
        if status != 200:
            raise RuntimeError(f"no prompt: {status} {answer}")

    def ended(self, session, seconds=30):
        """Until a turn of the session has ended, or its agent could not start."""
        def look():
            found = self.show(session)
            over = found["error_code"] or (found["last_run"] and not found["run"])
            return found if over else None
        return wait_until(look, seconds, f"{session} ends its turn")

    def question(self, session, seconds=30):
        """The oldest open question of the session, once there is one."""
        return wait_until(lambda: self.show(session)["pending"], seconds, f"{session} asks")[0]

    def said(self, session):
        """What the agent printed, from the records: a transcript masks secrets."""
        return "".join(record.get("text", "") for record in self.records(session)
                       if record["kind"] == "message.agent")

    def shell(self, session, command, seconds=60, environment=()):
        """Runs a command in a shell of the session; what it printed."""
        status, answer = self.api.post(
            f"/api/sessions/{session}/shells",
            {"command": command, "columns": 2000, "environment": list(environment)})
        if status >= 300:
            raise RuntimeError(f"no shell: {status} {answer}")
        shell, text, offset = answer["shell"], "", 0
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            status, answer = self.api.get(
                f"/api/sessions/{session}/shells/read?shell={shell}&offset={offset}")
            if status != 200:
                raise RuntimeError(f"a shell went away: {status} {answer}; {text[-2000:]}")
            text += answer.get("text") or base64.b64decode(
                answer.get("base64", "")).decode(errors="replace")
            offset = answer["next_offset"]
            if answer["exit"] is not None and offset == answer["output_end"]:
                break
            time.sleep(0.03)
        else:
            text += "\n[it did not end]"
        self.api.post(f"/api/sessions/{session}/shells/close", {"shell": shell})
        return text.replace("\r\n", "\n")

    def inside(self, session, program, *arguments, seconds=60):
        """Runs a program in the session (in control runs `outside`: beside it); its output."""
        command = [*map(str, program if isinstance(program, list) else [PYTHON, "-B", program]),
                   *map(str, arguments)]
        if self.control == "outside":
            done = subprocess.run(command, env=self.environment, cwd=self.work, timeout=seconds,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
            return done.stdout.decode(errors="replace")
        return self.shell(session, command, seconds)

    def starts_inside(self, session, program, *arguments):
        """The same without waiting. It is the program of a shell, and ends with its session."""
        command = [PYTHON, "-B", str(program), *map(str, arguments)]
        if self.control == "outside":
            with open(self.work / "outside.out", "ab") as output:
                return subprocess.Popen(command, env=self.environment, cwd=self.work,
                                        stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        status, answer = self.api.post(f"/api/sessions/{session}/shells", {"command": command})
        if status >= 300:
            raise RuntimeError(f"no shell: {status} {answer}")
        return None

    # --- the end ----------------------------------------------------------------------------------

    def close(self):
        """Ends the daemon, and whatever else descends from this process."""
        if self.daemon is not None and self.alive():
            self.daemon.send_signal(signal.SIGTERM)
            try:
                self.daemon.wait(10)
            except subprocess.TimeoutExpired:
                pass
        end_descendants()
        if self.daemon is not None:
            self.output.close()
        for folder in self.folders:
            os.close(folder)
        # an overlay leaves folders without any permissions
        for folder, names, _ in os.walk(self.root):
            for name in names:
                if not os.path.islink(f"{folder}/{name}"):
                    os.chmod(f"{folder}/{name}", 0o700)
        shutil.rmtree(self.root)


def adopt_orphans():
    """From here on processes whose parent ends become our children, so that none is lost."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def descendants():
    """Pids below this process, as the kernel tells them now."""
    parents = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            stat = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            continue
        parents[int(pid)] = int(stat.rpartition(")")[2].split()[1])
    found = {os.getpid()}
    while True:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        if not more:
            return found - {os.getpid()}
        found |= more


def end_descendants():
    end = time.monotonic() + 10
    while time.monotonic() < end:
        for pid in descendants():
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.02)
    raise TimeoutError(f"processes that do not end: {descendants()}")


def broken(output):
    """The lines of an inside part that say that something worked."""
    return [line[6:] for line in output.split("\n") if line.startswith("BROKE ")]
