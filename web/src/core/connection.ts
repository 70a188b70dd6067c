// The page's one WebSocket. It reconnects for as long as the page is visible. Each subscription
// resumes from its own cursor, so that no record is missed or repeated (N1). Sleep, a network
// change or lost events are detected by a heartbeat or a probe (N3, N4). Pure: sockets, clock and
// randomness are passed in.
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
  /** Calls once, later; the returned function cancels it. */
  after(ms: number, call: () => void): () => void;
  random(): number;
  isVisible(): boolean;
  /** Rejects with an ApiError if the daemon rejects the connection or cannot be reached. */
  open(): Promise<SocketLike>;
  /** Whether a daemon responds at all; resolves quickly and never rejects. */
  isUp(): Promise<boolean>;
}

export type ConnectionState =
  | { name: "connecting" }
  | { name: "live" }
  /** No socket. `retryAt` 0: the page is hidden, so no retry is scheduled. */
  | { name: "down"; since: number; retryAt: number; attempt: number }
  /** The daemon does not accept this browser's credentials, or no longer. */
  | { name: "refused" };

export interface Follower {
  /** The last record that the follower has. */
  cursor(): { after: Seq; log_id: string };
  /** How long the daemon may gather records before it sends them together. */
  readonly gatherMs: number;
  record(seq: Seq, record: RecordEnvelope): void;
  /** All records that arrived together were given to `record`. */
  settled(): void;
  /** The session's current object: at each (re)subscription, and whenever it changes. */
  session(session: Session): void;
  /** Its state changed; only reading the session shows how. */
  changed(): void;
  /** The cursor is invalid (another life of the log), or the session is gone: start over. */
  refused(error: ApiError): void;
  /** Records up to here have arrived or are on their way. */
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
/** Interval of checks whether a daemon is back, while the next retry is further away. */
export const lookEvery = 600;

interface Frame {
  id?: number | string;
  type?: string;
  action?: string;
  payload?: Record<string, unknown>;
}

interface Subscription {
  follower: Follower;
  /**
   * The pending subscription request; no other is sent until it is answered. Records of the older
   * subscription are still accepted, since their number shows whether they fit; otherwise a
   * reordered record would never get through.
   */
  awaited: number;
  /** Its position when a heartbeat last found it behind. */
  behindAt: Seq;
}

export class Connection {
  state: ConnectionState = { name: "connecting" };
  private socket: SocketLike | null = null;
  /** Incremented for every socket: events of an older socket are ignored. */
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

  /** Follows a session from the follower's cursor. The returned function stops following. */
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

  /** Requests every record after the follower's cursor again: the follower saw a gap. */
  resubscribe(id: string): void {
    const subscription = this.subscriptions.get(id);
    if (subscription && subscription.awaited === 0 && this.state.name === "live") this.subscribe(id, subscription);
  }

  /**
   * The page became visible or the network changed: check at once whether the socket still works.
   */
  wake(): void {
    if (!this.isStarted) return;
    if (this.state.name === "live") return this.probe();
    if (this.state.name === "connecting" && this.stopWatch) return;
    this.attempt = 0;
    void this.connect();
  }

  /** The page may enter the back/forward cache: browsers do not keep a page with an open socket. */
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

  // Waits for the retry time, or until a check finds the daemon back. A check is cheap; a retry
  // costs a ticket and a socket.
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

  // A socket that is silent for this long counts as dead, even if the browser reports it as open.
  private watch(): void {
    this.stopWatch?.();
    const left = Math.max(0, this.heardAt + silenceMax - this.world.now());
    this.stopWatch = this.world.after(left, () => {
      if (this.world.now() - this.heardAt >= silenceMax) this.lost();
      else this.watch();
    });
  }

  private probe(): void {
    // After a long sleep a probe is pointless.
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

  // Behind at the same position twice in a row: the missing records will not arrive without a new
  // request (N3).
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
