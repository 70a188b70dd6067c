// The connection with scripted sockets and a manual clock: drops of every kind deliver every record
// once (N1), a rejected cursor falls back to a snapshot (N2), a silent loss is detected (N3), sleep
// and new networks end in a reconnect (N4).
import { describe, expect, it } from "vitest";
import { Connection, lookEvery, probeMax, silenceMax, type ConnectionState, type ConnectionWorld, type Follower, type SocketLike } from "./connection";
import { ApiError } from "./http";
import type { RecordEnvelope, Seq, Session } from "./types";

class Clock {
  time = 1_000_000;
  private timers: { at: number; call: () => void }[] = [];
  after(ms: number, call: () => void): () => void {
    const timer = { at: this.time + ms, call };
    this.timers.push(timer);
    return () => (this.timers = this.timers.filter((other) => other !== timer));
  }
  async turn(ms: number): Promise<void> {
    const end = this.time + ms;
    for (;;) {
      const next = this.timers.filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.timers = this.timers.filter((timer) => timer !== next);
      this.time = Math.max(this.time, next.at);
      next.call();
      await Promise.resolve();
      await Promise.resolve();
    }
    this.time = end;
  }
  /** The machine sleeps: time advances, no timer fires. */
  sleep(ms: number): void {
    this.time += ms;
  }
}

interface Sent {
  id: number;
  action: string;
  payload: Record<string, unknown>;
}

/** The daemon's end: a log of records, and the messages it received. */
class Daemon {
  head = 0;
  logId = "log_1";
  sockets: FakeSocket[] = [];
  refuses: ApiError | null = null;
  isUp = false;
  get now(): FakeSocket {
    return this.sockets[this.sockets.length - 1] as FakeSocket;
  }
  open(): Promise<SocketLike> {
    if (this.refuses) return Promise.reject(this.refuses);
    const socket = new FakeSocket(this);
    this.sockets.push(socket);
    return Promise.resolve(socket);
  }
  grow(by = 1): void {
    for (let i = 0; i < by; i += 1) {
      this.head += 1;
      for (const socket of this.sockets) socket.pump();
    }
  }
}

class FakeSocket implements SocketLike {
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code?: number }) => void) | null = null;
  sent: Sent[] = [];
  isOpen = false;
  /** The network drops everything without an error. */
  isDead = false;
  private sentUpTo = -1;
  constructor(private readonly daemon: Daemon) {}
  accept(): void {
    this.isOpen = true;
    this.onopen?.();
  }
  send(text: string): void {
    const request = JSON.parse(text) as Sent;
    this.sent.push(request);
    if (!this.isDead) this.answer(request);
  }
  private answer({ id, action, payload }: Sent): void {
    if (action !== "session.subscribe") return this.say({ id, type: "response", action, payload: {} });
    const after = Number(payload["after"]);
    if (payload["log_id"] !== this.daemon.logId || after > this.daemon.head) {
      return this.say({ id, type: "error", action, payload: { code: "cursor_invalid", message: "another log" } });
    }
    this.sentUpTo = after;
    this.say({ id, type: "response", action, payload: { session: { id: "s" } } });
    this.pump();
  }
  pump(): void {
    while (this.isOpen && this.sentUpTo >= 0 && this.sentUpTo < this.daemon.head) {
      this.sentUpTo += 1;
      this.record(this.sentUpTo);
    }
  }
  record(seq: Seq): void {
    this.say({ type: "event", action: "session.records", payload: { session_id: "s", records: [{ seq }] } });
  }
  /** Records that the client never receives, although the socket stays open. */
  skip(by: number): void {
    this.daemon.head += by;
    this.sentUpTo += by;
  }
  beat(): void {
    this.say({ type: "event", action: "heartbeat", payload: { heads: { s: this.daemon.head } } });
  }
  say(frame: object): void {
    if (!this.isDead && this.isOpen) this.onmessage?.({ data: JSON.stringify(frame) });
  }
  close(): void {
    this.isOpen = false;
  }
  drop(): void {
    this.isOpen = false;
    this.onclose?.({});
  }
}

class Client implements Follower {
  got: Seq[] = [];
  last: Seq = 0;
  logId = "log_1";
  refusals: string[] = [];
  readonly gatherMs = 50;
  together = 0;
  connection: Connection | null = null;
  settled(): void {
    this.together += 1;
  }
  cursor(): { after: Seq; log_id: string } {
    return { after: this.last, log_id: this.logId };
  }
  record(seq: Seq, _: RecordEnvelope): void {
    if (seq <= this.last) return;
    if (seq !== this.last + 1) return this.connection?.resubscribe("s");
    this.got.push(seq);
    this.last = seq;
  }
  session(_: Session): void {}
  changed(): void {}
  head(): void {}
  refused(error: ApiError): void {
    this.refusals.push(error.code);
  }
}

function stage(visible = true) {
  const clock = new Clock();
  const daemon = new Daemon();
  const client = new Client();
  const states: ConnectionState[] = [];
  const sees = { visible };
  const world: ConnectionWorld = {
    now: () => clock.time, after: (ms, call) => clock.after(ms, call), random: () => 0.5, isVisible: () => sees.visible, open: () => daemon.open(),
    isUp: () => Promise.resolve(daemon.isUp),
  };
  const connection = new Connection(world, { changed() {}, removed() {} }, (state) => states.push(state));
  client.connection = connection;
  connection.follow("s", client);
  return { clock, daemon, client, connection, states, sees };
}

async function connected(visible = true) {
  const all = stage(visible);
  all.connection.start();
  await all.clock.turn(0);
  all.daemon.now.accept();
  return all;
}

const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);

describe("the connection", () => {
  it("N1 gives every record once, wherever it drops", async () => {
    for (let at = 0; at <= 20; at += 1) {
      const { clock, daemon, client } = await connected();
      daemon.grow(at);
      daemon.now.drop();
      daemon.grow(3);
      await clock.turn(400);
      daemon.now.accept();
      daemon.grow(20 - at);
      expect(client.got).toEqual(upTo(23));
    }
  });

  it("N1 closes a gap by asking again behind what is there", async () => {
    const { daemon, client } = await connected();
    daemon.grow(5);
    daemon.now.skip(2);
    daemon.now.record(7);
    expect(client.got).toEqual(upTo(7));
    daemon.grow(1);
    expect(client.got).toEqual(upTo(8));
  });

  it("N1 takes what fits while a newer subscription is on its way, and asks once for what does not", async () => {
    const { daemon, client, connection } = await connected();
    daemon.grow(2);
    daemon.now.isDead = true;
    connection.resubscribe("s");
    const asked = daemon.now.sent.length;
    daemon.now.isDead = false;
    daemon.now.record(4);
    daemon.now.record(3);
    daemon.now.record(6);
    expect(client.got).toEqual([1, 2, 3]);
    expect(daemon.now.sent.length).toBe(asked);
  });

  it("N2 tells of a foreign cursor, and begins nothing by itself", async () => {
    const { clock, daemon, client } = await connected();
    daemon.grow(4);
    daemon.now.drop();
    daemon.logId = "log_2";
    daemon.head = 2;
    await clock.turn(400);
    daemon.now.accept();
    expect(client.refusals).toEqual(["cursor_invalid"]);
    expect(client.got).toEqual(upTo(4));
  });

  it("N3 notices by a heartbeat that the last records were lost", async () => {
    const { daemon, client } = await connected();
    daemon.grow(3);
    daemon.now.skip(2);
    daemon.now.beat();
    expect(client.got).toEqual(upTo(3));
    daemon.now.beat();
    expect(client.got).toEqual(upTo(5));
  });

  it("N4 takes a socket that says nothing for dead", async () => {
    const { clock, daemon, client, connection } = await connected();
    daemon.now.isDead = true;
    daemon.grow(3);
    await clock.turn(silenceMax + 300);
    expect(daemon.sockets.length).toBe(2);
    daemon.now.accept();
    expect(connection.state.name).toBe("live");
    expect(client.got).toEqual(upTo(3));
  });

  it("N4 keeps a socket that beats", async () => {
    const { clock, daemon, connection } = await connected();
    for (let i = 0; i < 20; i += 1) {
      await clock.turn(4000);
      daemon.now.beat();
    }
    expect(daemon.sockets.length).toBe(1);
    expect(connection.state.name).toBe("live");
  });

  it("N4 asks on waking, and replaces what does not answer", async () => {
    const { clock, daemon, client, connection } = await connected();
    connection.wake();
    await clock.turn(probeMax + 1);
    expect(daemon.sockets.length).toBe(1);
    daemon.now.isDead = true;
    connection.wake();
    connection.wake();
    await clock.turn(probeMax + 1);
    expect(daemon.sockets.length).toBe(2);
    daemon.now.accept();
    daemon.grow(1);
    expect(client.got).toEqual([1]);
  });

  it("N4 replaces the socket at once after a long sleep", async () => {
    const { clock, daemon, connection } = await connected();
    clock.sleep(600_000);
    connection.wake();
    await clock.turn(0);
    expect(daemon.sockets.length).toBe(2);
  });

  it("backs off from a quarter of a second to eight, for as long as somebody looks", async () => {
    const { clock, daemon, connection, states } = await connected();
    daemon.refuses = new ApiError("offline", "nobody");
    daemon.now.drop();
    const waits: number[] = [];
    for (let i = 0; i < 9; i += 1) {
      const state = connection.state;
      if (state.name !== "down") throw new Error(state.name);
      waits.push(state.retryAt - clock.time);
      await clock.turn(state.retryAt - clock.time);
    }
    expect(waits[0]).toBeCloseTo(187.5);
    expect(Math.max(...waits)).toBe(6000);
    expect(waits).toEqual([...waits].sort((a, b) => a - b));
    const since = states.flatMap((state) => (state.name === "down" ? [state.since] : []));
    expect(new Set(since).size).toBe(1);
    daemon.refuses = null;
    connection.wake();
    await clock.turn(0);
    daemon.now.accept();
    expect(connection.state.name).toBe("live");
  });

  it("N4 is back soon after the daemon is, however long that took", async () => {
    const { clock, daemon, client, connection } = await connected();
    daemon.refuses = new ApiError("offline", "nobody");
    daemon.now.drop();
    await clock.turn(60_000);
    expect(connection.state.name).toBe("down");
    daemon.refuses = null;
    daemon.isUp = true;
    await clock.turn(lookEvery + 1);
    daemon.now.accept();
    expect(connection.state.name).toBe("live");
    daemon.grow(2);
    expect(client.got).toEqual([1, 2]);
  });

  it("gives what came together to its follower in one go", async () => {
    const { daemon, client } = await connected();
    daemon.head = 3;
    daemon.now.say({ type: "event", action: "session.records", payload: { session_id: "s", records: [{ seq: 1 }, { seq: 2 }, { seq: 3 }] } });
    expect(client.got).toEqual([1, 2, 3]);
    expect(client.together).toBe(1);
    expect(daemon.now.sent.find((one) => one.action === "session.subscribe")?.payload["gather_ms"]).toBe(50);
  });

  it("N4 has no socket and no timer while it is put away, and goes on behind its cursor", async () => {
    const { clock, daemon, client, connection } = await connected();
    daemon.grow(2);
    connection.rest();
    await clock.turn(3_600_000);
    expect(daemon.sockets.length).toBe(1);
    daemon.grow(3);
    connection.wake();
    await clock.turn(0);
    daemon.now.accept();
    expect(client.got).toEqual(upTo(5));
  });

  it("tries nothing while nobody looks, and at once when somebody does", async () => {
    const { clock, daemon, connection, sees } = await connected();
    sees.visible = false;
    daemon.now.drop();
    await clock.turn(3_600_000);
    expect(daemon.sockets.length).toBe(1);
    expect(connection.state).toMatchObject({ name: "down", retryAt: 0 });
    sees.visible = true;
    connection.wake();
    await clock.turn(0);
    expect(daemon.sockets.length).toBe(2);
  });

  it("gives up a socket that never opens", async () => {
    const { clock, daemon, connection } = stage();
    connection.start();
    await clock.turn(10_500);
    expect(daemon.sockets.length).toBe(2);
  });

  it("stops where the daemon does not know the browser", async () => {
    const { clock, daemon, connection } = stage();
    daemon.refuses = new ApiError("unauthenticated", "who are you", [], 401);
    connection.start();
    await clock.turn(60_000);
    expect(connection.state.name).toBe("refused");
  });

  it("leaves a session alone that nobody follows any more", async () => {
    const { daemon, connection, client } = await connected();
    const stop = connection.follow("s", client);
    stop();
    daemon.grow(1);
    expect(client.got).toEqual([]);
    expect(daemon.now.sent.at(-1)?.action).toBe("session.unsubscribe");
  });
});
