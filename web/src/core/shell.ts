// One shell of a session over its WebSocket; resumes at its position after a lost connection. Rule:
// `offset` counts every byte handed over, so that a reconnect neither repeats nor loses any. Bytes
// are acknowledged only after the terminal has shown them, so that a flood does not pile up here.

/** The part of a WebSocket that is used. */
export interface ShellWire {
  binaryType: BinaryType;
  readyState: number;
  onopen: ((event: Event) => void) | null;
  onmessage: ((event: MessageEvent) => void) | null;
  onclose: ((event: CloseEvent) => void) | null;
  send(bytes: string | Uint8Array<ArrayBuffer>): void;
  close(): void;
}

export type ShellState = "connecting" | "open" | "waiting" | "ended" | "gone" | "refused";

export interface ShellSize {
  columns: number;
  rows: number;
}

export interface ShellExit {
  code?: number;
  signal?: number;
}

export interface ShellEvents {
  state(state: ShellState): void;
  opened(shell: string, offset: number): void;
  /** Call `shown` when the bytes are on the screen. */
  bytes(bytes: Uint8Array, shown: () => void): void;
  lost(bytes: number): void;
  exit(exit: ShellExit): void;
  error(code: string, message: string): void;
}

export interface ShellOptions {
  session: string;
  /** Empty: a new shell. */
  shell: string;
  offset: number;
  size: ShellSize;
  /** Makes the socket; it must fetch its own ticket. */
  connect(path: string): Promise<ShellWire>;
  events: ShellEvents;
  later?: (run: () => void, ms: number) => () => void;
}

const ackEvery = 64 * 1024;
const firstDelay = 250;
const longestDelay = 8000;
const isOpen = 1;

export function shellPath(session: string, shell: string, offset: number, size: ShellSize): string {
  const query = new URLSearchParams();
  if (shell !== "") {
    query.set("shell", shell);
    query.set("offset", String(offset));
  } else {
    query.set("columns", String(size.columns));
    query.set("rows", String(size.rows));
  }
  return `/api/sessions/${session}/shell?${query.toString()}`;
}

function timeout(run: () => void, ms: number): () => void {
  const id = setTimeout(run, ms);
  return () => clearTimeout(id);
}

export class ShellSocket {
  readonly #options: ShellOptions;
  readonly #later: (run: () => void, ms: number) => () => void;
  readonly #utf8 = new TextEncoder();
  #wire: ShellWire | null = null;
  #life = 0;
  #shell: string;
  #offset: number;
  #shown = 0;
  #acked = 0;
  #size: ShellSize;
  #delay = firstDelay;
  #cancelRetry: () => void = () => undefined;
  #state: ShellState = "connecting";

  constructor(options: ShellOptions) {
    this.#options = options;
    this.#later = options.later ?? timeout;
    this.#shell = options.shell;
    this.#offset = options.offset;
    this.#size = options.size;
  }

  get state(): ShellState {
    return this.#state;
  }
  get shell(): string {
    return this.#shell;
  }
  get offset(): number {
    return this.#offset;
  }

  start(): void {
    void this.#connect();
  }

  /** Retries at once instead of waiting: the page came back, or the person clicked. */
  retry(): void {
    if (this.#state !== "waiting" && this.#state !== "refused") return;
    this.#cancelRetry();
    this.#delay = firstDelay;
    void this.#connect();
  }

  /** Keys are dropped, not kept, while disconnected: a command must not run minutes later. */
  input(text: string): boolean {
    return this.inputBytes(this.#utf8.encode(text));
  }

  inputBytes(bytes: Uint8Array<ArrayBuffer>): boolean {
    if (this.#state !== "open" || this.#wire?.readyState !== isOpen) return false;
    this.#wire.send(bytes);
    return true;
  }

  resize(size: ShellSize): void {
    if (size.columns === this.#size.columns && size.rows === this.#size.rows) return;
    this.#size = size;
    if (this.#state === "open") this.#tell({ type: "resize", ...size });
  }

  /** Leaves the shell running. */
  close(): void {
    this.#life++;
    this.#cancelRetry();
    this.#drop();
  }

  #drop(): void {
    const wire = this.#wire;
    this.#wire = null;
    if (!wire) return;
    wire.onopen = wire.onmessage = wire.onclose = null;
    wire.close();
  }

  async #connect(): Promise<void> {
    const life = ++this.#life;
    this.#set("connecting");
    const path = shellPath(this.#options.session, this.#shell, this.#offset, this.#size);
    try {
      const wire = await this.#options.connect(path);
      if (life !== this.#life) return wire.close();
      this.#listen(wire, life);
    } catch (error) {
      if (life === this.#life) this.#lost(error);
    }
  }

  #listen(wire: ShellWire, life: number): void {
    this.#wire = wire;
    wire.binaryType = "arraybuffer";
    wire.onmessage = (event) => {
      if (life === this.#life) this.#message(event.data as unknown);
    };
    wire.onclose = () => {
      if (life === this.#life) this.#lost(null);
    };
  }

  #message(message: unknown): void {
    if (typeof message === "string") return this.#control(message);
    if (!(message instanceof ArrayBuffer)) return;
    const bytes = new Uint8Array(message);
    this.#offset += bytes.length;
    const upTo = this.#offset;
    const life = this.#life;
    this.#options.events.bytes(bytes, () => {
      this.#shown = Math.max(this.#shown, upTo);
      if (life === this.#life && this.#shown - this.#acked >= ackEvery) this.#ack();
    });
  }

  #control(text: string): void {
    const message = JSON.parse(text) as Record<string, unknown>;
    const events = this.#options.events;
    switch (message["type"]) {
      case "opened":
        return this.#opened(String(message["shell"]), Number(message["offset"]));
      case "lost": {
        const bytes = Number(message["bytes"]);
        this.#offset += bytes;
        return events.lost(bytes);
      }
      case "exit":
        this.#set("ended");
        return events.exit(message as ShellExit);
      case "error":
        return this.#refused(String(message["code"]), String(message["message"]));
    }
  }

  #opened(shell: string, offset: number): void {
    this.#shell = shell;
    this.#offset = offset;
    this.#shown = this.#acked = offset;
    this.#delay = firstDelay;
    this.#set("open");
    this.#ack();
    this.#tell({ type: "resize", ...this.#size });
    this.#options.events.opened(shell, offset);
  }

  #refused(code: string, message: string): void {
    // The shell belongs to an earlier life of the workspace: its offset no longer means anything.
    if (code === "not_found" || code === "invalid_argument") this.#set("gone");
    this.#options.events.error(code, message);
  }

  #lost(error: unknown): void {
    this.#wire = null;
    if (this.#state === "ended" || this.#state === "gone") return;
    const status = (error as { status?: number } | null)?.status ?? 0;
    if (status >= 400 && status < 500) {
      this.#options.events.error("denied", error instanceof Error ? error.message : "refused");
      return this.#set("refused");
    }
    this.#set("waiting");
    const wait = this.#delay * (0.75 + Math.random() / 2);
    this.#delay = Math.min(this.#delay * 2, longestDelay);
    this.#cancelRetry = this.#later(() => void this.#connect(), wait);
  }

  #ack(): void {
    this.#acked = this.#shown;
    this.#tell({ type: "ack", offset: this.#shown });
  }

  #tell(message: Record<string, unknown>): void {
    if (this.#wire?.readyState === isOpen) this.#wire.send(JSON.stringify(message));
  }

  #set(state: ShellState): void {
    this.#state = state;
    this.#options.events.state(state);
  }
}

/** The bytes of the phone's special keys. */
export const keyBytes: Record<string, string> = {
  esc: "\x1b",
  tab: "\t",
  up: "\x1b[A",
  down: "\x1b[B",
  right: "\x1b[C",
  left: "\x1b[D",
  pipe: "|",
  "^C": "\x03",
  "^D": "\x04",
  enter: "\r",
};

/** A letter with Ctrl held, or null if there is none. */
export function withCtrl(letter: string): string | null {
  const code = letter.toUpperCase().charCodeAt(0);
  return letter.length === 1 && code >= 0x40 && code <= 0x5f ? String.fromCharCode(code & 0x1f) : null;
}
