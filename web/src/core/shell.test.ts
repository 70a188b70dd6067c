import { describe, expect, it } from "vitest";
import { ShellSocket, shellPath, withCtrl, type ShellState, type ShellWire } from "./shell";

class Wire implements ShellWire {
  binaryType: BinaryType = "blob";
  readyState = 1;
  onopen = null;
  onmessage: ((event: MessageEvent) => void) | null = null;
  onclose: ((event: CloseEvent) => void) | null = null;
  sent: unknown[] = [];
  constructor(readonly path: string) {}
  send(bytes: string | Uint8Array<ArrayBuffer>): void {
    this.sent.push(typeof bytes === "string" ? JSON.parse(bytes) : bytes);
  }
  close(): void {
    this.readyState = 3;
  }
  says(message: object): void {
    this.onmessage?.({ data: JSON.stringify(message) } as MessageEvent);
  }
  prints(length: number): void {
    this.onmessage?.({ data: new ArrayBuffer(length) } as MessageEvent);
  }
  drops(): void {
    this.readyState = 3;
    this.onclose?.({} as CloseEvent);
  }
}

function bench(shell = "", offset = 0) {
  const wires: Wire[] = [];
  const states: ShellState[] = [];
  const shown: (() => void)[] = [];
  const timers: (() => void)[] = [];
  const told: string[] = [];
  let fails: unknown = null;
  const socket = new ShellSocket({
    session: "s",
    shell,
    offset,
    size: { columns: 80, rows: 24 },
    connect: (path) => {
      if (fails) return Promise.reject(fails);
      const wire = new Wire(path);
      wires.push(wire);
      return Promise.resolve(wire);
    },
    later: (run) => {
      timers.push(run);
      return () => timers.splice(timers.indexOf(run), 1);
    },
    events: {
      state: (state) => states.push(state),
      opened: (name, at) => told.push(`opened ${name} ${at}`),
      bytes: (_, done) => shown.push(done),
      lost: (bytes) => told.push(`lost ${bytes}`),
      exit: (exit) => told.push(`exit ${exit.code}`),
      error: (code) => told.push(`error ${code}`),
    },
  });
  const settle = () => new Promise((resolve) => setTimeout(resolve, 0));
  return { socket, wires, states, shown, timers, told, settle, failWith: (error: unknown) => (fails = error) };
}

describe("ShellSocket", () => {
  it("opens a new one of the terminal's size", async () => {
    const { socket, wires, settle, told } = bench();
    socket.start();
    await settle();
    expect(wires[0]?.path).toBe("/api/sessions/s/shell?columns=80&rows=24");
    wires[0]?.says({ type: "opened", shell: "sh_1", offset: 0 });
    expect(told).toEqual(["opened sh_1 0"]);
    expect(wires[0]?.sent[0]).toEqual({ type: "ack", offset: 0 });
  });

  it("goes on behind the last byte after a lost connection", async () => {
    const { socket, wires, settle, timers, states } = bench();
    socket.start();
    await settle();
    wires[0]?.says({ type: "opened", shell: "sh_1", offset: 0 });
    wires[0]?.prints(100);
    wires[0]?.says({ type: "lost", bytes: 11 });
    wires[0]?.prints(20);
    wires[0]?.drops();
    expect(states.at(-1)).toBe("waiting");
    timers[0]?.();
    await settle();
    expect(wires[1]?.path).toBe("/api/sessions/s/shell?shell=sh_1&offset=131");
  });

  it("acknowledges only what was shown, and not each byte", async () => {
    const { socket, wires, settle, shown } = bench("sh_1", 1000);
    socket.start();
    await settle();
    wires[0]?.says({ type: "opened", shell: "sh_1", offset: 1000 });
    const before = wires[0]?.sent.length ?? 0;
    wires[0]?.prints(40_000);
    wires[0]?.prints(40_000);
    expect(wires[0]?.sent.length).toBe(before);
    shown[0]?.();
    expect(wires[0]?.sent.length).toBe(before);
    shown[1]?.();
    expect(wires[0]?.sent.at(-1)).toEqual({ type: "ack", offset: 81_000 });
  });

  it("drops keys while nobody would receive them", async () => {
    const { socket, wires, settle } = bench();
    expect(socket.input("rm")).toBe(false);
    socket.start();
    await settle();
    wires[0]?.says({ type: "opened", shell: "sh_1", offset: 0 });
    expect(socket.input("ls\r")).toBe(true);
    wires[0]?.drops();
    expect(socket.input("x")).toBe(false);
  });

  it("stays ended after an exit", async () => {
    const { socket, wires, settle, timers, told } = bench();
    socket.start();
    await settle();
    wires[0]?.says({ type: "opened", shell: "sh_1", offset: 0 });
    wires[0]?.says({ type: "exit", code: 3 });
    wires[0]?.drops();
    expect(socket.state).toBe("ended");
    expect(told).toContain("exit 3");
    expect(timers).toHaveLength(0);
  });

  it("does not ask again for a shell that is gone, nor when it is refused", async () => {
    const gone = bench("sh_9", 5);
    gone.socket.start();
    await gone.settle();
    gone.wires[0]?.says({ type: "error", code: "not_found", message: "no such shell" });
    gone.wires[0]?.drops();
    expect(gone.socket.state).toBe("gone");

    const refused = bench();
    refused.failWith(Object.assign(new Error("no"), { status: 403 }));
    refused.socket.start();
    await refused.settle();
    expect(refused.socket.state).toBe("refused");
    expect(refused.timers).toHaveLength(0);
  });

  it("says nothing after it was closed", async () => {
    const { socket, wires, settle, told } = bench();
    socket.start();
    await settle();
    const wire = wires[0];
    socket.close();
    wire?.says({ type: "opened", shell: "sh_1", offset: 0 });
    expect(told).toEqual([]);
  });
});

describe("keys", () => {
  it("knows Ctrl and a letter", () => {
    expect(withCtrl("c")).toBe("\x03");
    expect(withCtrl("[")).toBe("\x1b");
    expect(withCtrl("1")).toBeNull();
  });
  it("keeps the offset out of a new shell's path", () => {
    expect(shellPath("s", "", 9, { columns: 1, rows: 2 })).not.toContain("offset");
  });
});
