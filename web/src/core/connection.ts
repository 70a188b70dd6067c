// The page's one WebSocket. It is made again for as long as somebody looks at the page; subscriptions say where they
// stand and are made again behind that, so that no record is missed and none comes twice (N1). Whoever sleeps, changes
// the network or loses the last events finds out by a heartbeat or a probe (N3, N4). Pure: sockets, clock and dice are given.
import { ApiError } from "./http";
import { tombstoneOf, type RecordEnvelope, type Seq, type Session, type Tombstone } from "./types";

export interface SocketLike {
  send(text: string): void;
  close(): void;
  onopen: (() => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code?: number }) => void) | null;
}

export interface ConnectionWorld {
  now(): number;
  /** Calls once, later; the answer takes it back. */
  after(ms: number, call: () => void): () => void;
  random(): number;
  isVisible(): boolean;
  /** Rejects with an ApiError where the daemon refused or is not there. */
  open(): Promise<SocketLike>;
  /** Whether a daemon answers at all; says so soon, and never rejects. */
  isUp(): Promise<boolean>;
}

export type ConnectionState =
  | { name: "connecting" }
  | { name: "live" }
  /** No socket; `retryAt` 0: nobody looks, so nothing is tried. */
  | { name: "down"; since: number; retryAt: number; attempt: number }
  /** The daemon does not know this browser (any more). */
  | { name: "refused" };

export interface Follower {
  /** The last record that it has. */
  cursor(): { after: Seq; log_id: string };
  /** How long the daemon may gather records before it sends them together. */
  readonly gatherMs: number;
  record(seq: Seq, record: RecordEnvelope): void;
  /** All that came together was given to `record`. */
  settled(): void;
  /** The session as the daemon has it now: at each (re)subscription, and whenever it changes. */
  session(session: Session): void;
  /** Its state changed in some way that only a look at the session tells. */
  changed(): void;
  /** The cursor cannot be (another life of the log), or the session is gone: start over. */
  refused(error: ApiError): void;
  /** Records up to here are there or on their way. */
  head(seq: Seq): void;
}

export interface ListListener {
  changed(session: Session): void;
  removed(id: string, tombstone: Tombstone | null): void;
}

export const silenceMax = 25_000;
export const probeMax = 4_000;
const openMax = 10_000;
const backoffMin = 250;
const backoffMax = 8_000;
/** Between two looks whether a daemon is back, while the next try is further away than that. */
export const lookEvery = 600;

interface Frame {
  id?: number | string;
  type?: string;
  action?: string;
  payload?: Record<string, unknown>;
}

interface Subscription {
  follower: Follower;
  /** Request whose answer is awaited: until it is there no other is sent. What still comes by the older subscription
      is heard too, since a number says by itself whether a record fits; else a swapped one would never get through. */
  awaited: number;
  /** Where it stood when a heartbeat last found it behind. */
  behindAt: Seq;
}

export class Connection {
  state: ConnectionState = { name: "connecting" };
  private socket: SocketLike | null = null;
  /** Grows with every socket: what an older one still says is not heard. */
  private life = 0;
  private requests = 0;
  private attempt = 0;
  private heardAt = 0;
  private downSince = 0;
  private isStarted = false;
  private stopRetry: (() => void) | null = null;
  private stopWatch: (() => void) | null = null;
  private stopProbe: (() => void) | null = null;
  private readonly subscriptions = new Map<string, Subscription>();
  private readonly answers = new Map<number, (frame: Frame) => void>();

  constructor(
    private readonly world: ConnectionWorld,
    private readonly list: ListListener,
    private readonly onState: (state: ConnectionState) => void,
  ) {}

  start(): void {
    if (this.isStarted) return;
    this.isStarted = true;
    this.downSince = this.world.now();
    void this.connect();
  }

  stop(): void {
    this.isStarted = false;
    this.cancelTimers();
    this.drop();
  }

  /** Follows a session from where the follower stands. The answer ends that. */
  follow(id: string, follower: Follower): () => void {
    const subscription: Subscription = { follower, awaited: 0, behindAt: -1 };
    this.subscriptions.set(id, subscription);
    if (this.state.name === "live") this.subscribe(id, subscription);
    return () => {
      if (this.subscriptions.get(id) !== subscription) return;
      this.subscriptions.delete(id);
      if (this.state.name === "live") this.request("session.unsubscribe", { session_id: id });
    };
  }

  /** Asks for everything behind the follower's cursor once more: it has seen a gap. */
  resubscribe(id: string): void {
    const subscription = this.subscriptions.get(id);
    if (subscription && subscription.awaited === 0 && this.state.name === "live") this.subscribe(id, subscription);
  }

  /** Somebody looks again, or the network changed: find out now whether the socket still is one. */
  wake(): void {
    if (!this.isStarted) return;
    if (this.state.name === "live") return this.probe();
    if (this.state.name === "connecting" && this.stopWatch) return;
    this.attempt = 0;
    void this.connect();
  }

  /** The page is put away, perhaps to come back as it is: a browser keeps no page that has a socket open. */
  rest(): void {
    if (!this.isStarted || this.state.name === "refused") return;
    this.cancelTimers();
    this.drop();
    if (this.downSince === 0) this.downSince = this.world.now();
    this.setState({ name: "down", since: this.downSince, attempt: 0, retryAt: 0 });
  }

  private setState(state: ConnectionState): void {
    this.state = state;
    this.onState(state);
  }

  private cancelTimers(): void {
    this.stopRetry?.();
    this.stopWatch?.();
    this.stopProbe?.();
    this.stopRetry = this.stopWatch = this.stopProbe = null;
  }

  private drop(): void {
    this.life += 1;
    const socket = this.socket;
    this.socket = null;
    this.answers.clear();
    for (const subscription of this.subscriptions.values()) subscription.awaited = 0;
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
  }

  private async connect(): Promise<void> {
    this.cancelTimers();
    this.drop();
    const life = this.life;
    if (this.state.name !== "down") this.setState({ name: "connecting" });
    this.stopWatch = this.world.after(openMax, () => this.lost());
    try {
      const socket = await this.world.open();
      if (life !== this.life) return socket.close();
      this.socket = socket;
      socket.onopen = () => this.opened();
      socket.onmessage = (event) => this.heard(String(event.data));
      socket.onclose = () => this.lost();
    } catch (error) {
      if (life !== this.life) return;
      if (error instanceof ApiError && error.isUnauthenticated) {
        this.cancelTimers();
        return this.setState({ name: "refused" });
      }
      this.lost();
    }
  }

  private opened(): void {
    this.attempt = 0;
    this.downSince = 0;
    this.heardAt = this.world.now();
    this.watch();
    this.setState({ name: "live" });
    this.request("list.subscribe", {});
    for (const [id, subscription] of this.subscriptions) this.subscribe(id, subscription);
  }

  private lost(): void {
    this.cancelTimers();
    this.drop();
    if (this.downSince === 0) this.downSince = this.world.now();
    this.attempt += 1;
    const ceiling = Math.min(backoffMax, backoffMin * 2 ** (this.attempt - 1));
    const wait = ceiling / 2 + (this.world.random() * ceiling) / 2;
    const sees = this.world.isVisible();
    const retryAt = sees ? this.world.now() + wait : 0;
    if (sees) this.waitFor(retryAt);
    this.setState({ name: "down", since: this.downSince, attempt: this.attempt, retryAt });
  }

  // Until it is time, or a daemon that is back says so: a look costs nobody anything, a try costs a ticket and a socket.
  private waitFor(retryAt: number): void {
    const left = retryAt - this.world.now();
    if (left <= lookEvery) {
      this.stopRetry = this.world.after(left, () => void this.connect());
      return;
    }
    const { life } = this;
    this.stopRetry = this.world.after(lookEvery, () => {
      void this.world.isUp().then((isUp) => {
        if (life !== this.life || this.state.name !== "down") return;
        if (isUp) void this.connect();
        else this.waitFor(retryAt);
      });
    });
  }

  // A socket that says nothing for so long is none any more, whatever the browser thinks.
  private watch(): void {
    this.stopWatch?.();
    const left = Math.max(0, this.heardAt + silenceMax - this.world.now());
    this.stopWatch = this.world.after(left, () => {
      if (this.world.now() - this.heardAt >= silenceMax) this.lost();
      else this.watch();
    });
  }

  private probe(): void {
    // After a long sleep nothing is worth asking.
    if (this.world.now() - this.heardAt >= silenceMax) return void this.connect();
    if (this.stopProbe) return;
    this.stopProbe = this.world.after(probeMax, () => {
      this.stopProbe = null;
      void this.connect();
    });
    this.request("ping", {}, () => {
      this.stopProbe?.();
      this.stopProbe = null;
    });
  }

  private request(action: string, payload: object, answered?: (frame: Frame) => void): void {
    const id = ++this.requests;
    if (answered) this.answers.set(id, answered);
    this.socket?.send(JSON.stringify({ id, type: "request", action, payload }));
  }

  private subscribe(id: string, subscription: Subscription): void {
    const { after, log_id } = subscription.follower.cursor();
    subscription.behindAt = -1;
    const request = this.requests + 1;
    subscription.awaited = request;
    const gather_ms = subscription.follower.gatherMs;
    this.request("session.subscribe", { session_id: id, after, log_id, gather_ms }, (frame) => {
      if (this.subscriptions.get(id) !== subscription || subscription.awaited !== request) return;
      subscription.awaited = 0;
      const payload = frame.payload ?? {};
      if (frame.type === "error") subscription.follower.refused(errorOf(payload));
      else subscription.follower.session(payload["session"] as Session);
    });
  }

  private heard(text: string): void {
    this.heardAt = this.world.now();
    let frame: Frame;
    try {
      frame = JSON.parse(text) as Frame;
    } catch {
      return;
    }
    if (frame.type === "response" || frame.type === "error") {
      const answered = this.answers.get(Number(frame.id));
      this.answers.delete(Number(frame.id));
      answered?.(frame);
    } else if (frame.type === "event") {
      this.event(frame.action ?? "", frame.payload ?? {});
    }
  }

  private event(action: string, payload: Record<string, unknown>): void {
    if (action === "heartbeat") return this.beat(payload["heads"] as Record<string, Seq> | undefined);
    const id = String(payload["session_id"] ?? "");
    if (action === "list.changed") return this.list.changed(payload["session"] as Session);
    if (action === "list.removed") return this.list.removed(id, tombstoneOf(payload));
    const subscription = this.subscriptions.get(id);
    if (!subscription) return;
    if (action === "session.records") return this.records(subscription.follower, payload["records"] as RecordEnvelope[]);
    if (subscription.awaited !== 0) return;
    if (action === "session.reset") {
      this.subscribe(id, subscription);
    } else if (action === "session.state_changed") {
      subscription.follower.changed();
    }
  }

  private records(follower: Follower, records: RecordEnvelope[]): void {
    for (const record of records) follower.record(record.seq, record);
    follower.settled();
  }

  // Twice in a row behind at the same place: what is missing will not come by itself (N3).
  private beat(heads: Record<string, Seq> = {}): void {
    for (const [id, subscription] of this.subscriptions) {
      const head = heads[id];
      if (head === undefined || subscription.awaited !== 0) continue;
      subscription.follower.head(head);
      const { after } = subscription.follower.cursor();
      if (head <= after) subscription.behindAt = -1;
      else if (subscription.behindAt === after) this.subscribe(id, subscription);
      else subscription.behindAt = after;
    }
  }
}

function errorOf(payload: Record<string, unknown>): ApiError {
  const actions = Array.isArray(payload["actions"]) ? (payload["actions"] as string[]) : [];
  return new ApiError(String(payload["code"] ?? "unknown"), String(payload["message"] ?? ""), actions);
}
