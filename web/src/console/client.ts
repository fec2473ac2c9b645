/** An answer that says no; the message is the gate's own. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** There was no answer, or not all of one. */
class Unreachable extends Error {}

/** Where tokens come from. */
export interface Tokens {
  readonly current: string | null;
  /** Another token than `rejected`; waits until the operator has typed one, and fails if none is given. */
  replace: (rejected: string | null) => Promise<string>;
}

export interface Options {
  body?: unknown;
  signal?: AbortSignal | undefined;
  /** After this long it counts as lost, s. */
  timeout?: number;
}

/** Seconds that the gate, which answers from memory, may take. */
const TIMEOUT = 5;

/** Requests to the gate that served this page. */
export class Client {
  constructor(private readonly tokens: Tokens) {}

  /** An answer's JSON; asks for a token where one is wanted, and again then if nothing is changed by it. */
  async json<T>(method: string, path: string, options: Options = {}): Promise<T> {
    const response = await this.send(method, path, options);
    return JSON.parse(await reached(response.text())) as T;
  }

  /** An answer that goes on; only its head is waited for so long. */
  async open(path: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const head = new AbortController();
    const timer = setTimeout(() => {
      head.abort(new DOMException('no answer', 'TimeoutError'));
    }, TIMEOUT * 1000);
    try {
      const response = await this.send('GET', path, {
        signal: AbortSignal.any([signal, head.signal]),
        timeout: 0,
      });
      if (!response.body) throw new Error('the answer has no body');
      return response.body;
    } finally {
      clearTimeout(timer);
    }
  }

  private async send(method: string, path: string, options: Options): Promise<Response> {
    for (;;) {
      const token = this.tokens.current;
      const response = await reached(fetch(path, request(method, token, options)));
      if (response.status !== 401) {
        if (!response.ok) throw await refused(response);
        return response;
      }
      if (!onlyLooks(method, path)) {
        // What was decided now must not be done when somebody types a token hours later.
        void this.tokens.replace(token).catch(() => undefined);
        throw new Refused(401, 'not done: the token has expired');
      }
      // Another request may have been given a new one while this was on its way.
      if (this.tokens.current === token) await this.tokens.replace(token);
      options.signal?.throwIfAborted();
    }
  }
}

function onlyLooks(method: string, path: string): boolean {
  return method === 'GET' || path === '/api/v1/foresight';
}

/** The network's failures are TypeErrors, as are faults of this page: here the one is told from the other. */
export async function reached<T>(network: Promise<T>): Promise<T> {
  try {
    return await network;
  } catch (error) {
    if (error instanceof TypeError) throw new Unreachable('the gate cannot be reached');
    throw error;
  }
}

function request(method: string, token: string | null, options: Options): RequestInit {
  const { body, signal, timeout = TIMEOUT } = options;
  const signals = [signal, timeout > 0 ? AbortSignal.timeout(timeout * 1000) : undefined];
  return {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: body === undefined ? null : JSON.stringify(body),
    cache: 'no-store',
    signal: AbortSignal.any(signals.filter((one) => one !== undefined)),
  };
}

async function refused(response: Response): Promise<Refused> {
  const text = await reached(response.text());
  try {
    const problem = JSON.parse(text) as { error?: unknown };
    if (typeof problem.error === 'string') return new Refused(response.status, problem.error);
  } catch {
    // Not the gate's own words; those of the answer's line have to do.
  }
  return new Refused(response.status, `${response.status} ${response.statusText}`.trim());
}

/** What went wrong, for an operator. */
export function why(error: unknown): string {
  if (error instanceof DOMException && error.name === 'TimeoutError') return 'the gate does not answer';
  return error instanceof Error ? error.message : String(error);
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}
