// One request to the daemon: the headers that a page must send, and the documented errors. No other
// code of the page calls fetch.
import { idempotencyKey } from "./ids";

/** An error of the daemon, with its message. `code` is stable, see docs/errors. */
export class ApiError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly actions: string[] = [],
    readonly status = 0,
    /** The whole response body, for the few errors that carry more. */
    readonly body: unknown = null,
  ) {
    super(message);
    this.name = "ApiError";
  }
  /** No response: whether the request took effect is unknown. */
  get isOffline(): boolean {
    return this.code === "offline";
  }
  get isUnauthenticated(): boolean {
    return this.status === 401;
  }
}

export interface Ask {
  method?: "GET" | "POST" | "PATCH" | "DELETE";
  body?: unknown;
  query?: Record<string, string | number | boolean | string[] | null | undefined>;
  /** Same key, same effect: a repeat gets the first response. Generated if omitted. */
  key?: string;
  signal?: AbortSignal;
  accept?: string;
}

function target(path: string, query: Ask["query"]): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined || value === null || value === "") continue;
    for (const one of Array.isArray(value) ? value : [value]) parameters.append(name, String(one));
  }
  const text = parameters.toString();
  return text ? `${path}?${text}` : path;
}

async function errorOf(response: Response): Promise<ApiError> {
  let body: unknown = null;
  try {
    body = await response.json();
  } catch {
    // A proxy's page, or empty.
  }
  const error = (body as { error?: { code?: string; message?: string; actions?: string[] } } | null)?.error;
  const code = error?.code ?? (response.status >= 500 ? "unavailable" : "unknown");
  return new ApiError(code, error?.message ?? `the daemon answered ${response.status}`, error?.actions ?? [], response.status, body);
}

// These write nothing, so their success does not show that the disk has room.
const keepNothing = ["/api/ticket", "/api/rules/test"];

export class Http {
  constructor(
    private readonly key: () => string | null,
    /** Receives the result of each change: null, or the error. */
    private readonly onChange: (refusal: ApiError | null) => void = () => undefined,
  ) {}

  private headers(ask: Ask): Headers {
    const method = ask.method ?? "GET";
    const headers = new Headers({ Accept: ask.accept ?? "application/json" });
    const key = this.key();
    if (key) headers.set("X-Perdure-Key", key);
    if (method !== "GET") {
      headers.set("X-Perdure-Client", "1");
      headers.set("Content-Type", "application/json");
    }
    if (method === "POST") headers.set("Idempotency-Key", ask.key ?? idempotencyKey());
    return headers;
  }

  async raw(path: string, ask: Ask = {}): Promise<Response> {
    const method = ask.method ?? "GET";
    const init: RequestInit = { method, headers: this.headers(ask), credentials: "same-origin", cache: "no-store" };
    if (method !== "GET") init.body = JSON.stringify(ask.body ?? {});
    if (ask.signal) init.signal = ask.signal;
    let response: Response;
    try {
      response = await fetch(target(path, ask.query), init);
    } catch (cause) {
      if (ask.signal?.aborted) throw cause;
      throw new ApiError("offline", "the daemon cannot be reached");
    }
    const refusal = response.ok ? null : await errorOf(response);
    if (method !== "GET" && !keepNothing.includes(path)) this.onChange(refusal);
    if (refusal) throw refusal;
    return response;
  }

  async json<T>(path: string, ask: Ask = {}): Promise<T> {
    const response = await this.raw(path, ask);
    return (await response.json()) as T;
  }
}
