import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Change, Knobs, QueuedRequest, Sample, State, Verdict } from '../../src/console/schemas.ts';
import * as world from './world.ts';

const PAGE = new URL('../../dist/console.html', import.meta.url);

/** Like the policy that the gate sends: what stands between the tags, by its hash. */
export function policy(html: string): string {
  const hashes = (tag: string): string =>
    [...html.matchAll(new RegExp(`<${tag}(?: [^>]*)?>([\\s\\S]*?)</${tag}>`, 'g'))]
      .map(
        ([, text]) =>
          `'sha256-${createHash('sha256')
            .update(text ?? '')
            .digest('base64')}'`,
      )
      .join(' ');
  return [
    "default-src 'none'",
    `script-src ${hashes('script')}`,
    `style-src ${hashes('style')}`,
    "connect-src 'self'; img-src data:; font-src data:; frame-src 'self'; base-uri 'none'",
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  ].join('; ');
}

export interface Asked {
  method: string;
  path: string;
  query: string;
  body: unknown;
}

/** A gate that answers as its tests want, also what a real one cannot be brought to do in a test. */
export class FakeGate {
  names = ['premium', 'basic'];
  started = world.now() - 7200;
  state: State = world.state(this.names, this.started);
  /** Oldest first. */
  samples: Sample[] = [];
  make = world.overload;
  changes: Change[] = [];
  waiting: QueuedRequest[] = [];
  sessions: { session: string; class: string; expires: number }[] = [];
  /** Token to whether it may change; empty: no token is wanted. */
  tokens = new Map<string, boolean>();
  isFull = false;
  isSilent = false;
  foresightProblem: string | null = null;
  foresightDelay = 100;
  /** What it suggests. */
  suggested: Knobs | null = { differentiation: 1, favour: 0 };
  /** As many settings as there is time for. */
  foresightMost = 12;
  outcome = world.outcome;
  /** So many questions for the list of changes are not answered. */
  changesFail = 0;
  changesDelay = 0;
  stateDelay = 0;
  knobsDelay = 0;
  sessionsFail = false;
  reload: { changes: { setting: string; old: string; new: string }[]; refused: string | null } = {
    changes: [{ setting: 'window', old: '8', new: '16' }],
    refused: null,
  };
  /** Seconds that its clock is ahead of the machine's. */
  ahead = 0;
  readonly asked: Asked[] = [];
  readonly givenUp: string[] = [];
  private readonly listeners = new Set<ServerResponse>();
  private server: Server | null = null;
  private timer: ReturnType<typeof setInterval> | undefined;
  private port = 0;

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get clock(): number {
    return world.now() + this.ahead;
  }

  private get verdict(): Verdict {
    if (this.state.mode === 'shadow') return world.SHADOW;
    return this.make === world.quiet ? world.CALM : this.state.verdict;
  }

  async start(): Promise<void> {
    if (this.samples.length === 0) this.remember(600);
    this.server = createServer((request, response) => {
      void this.answer(request, response);
    });
    const { server, port } = this;
    await new Promise<void>((resolve) => {
      server.listen(port, '127.0.0.1', resolve);
    });
    this.port = (server.address() as AddressInfo).port;
    this.timer = setInterval(() => {
      this.tick();
    }, 1000);
  }

  stop(): void {
    clearInterval(this.timer);
    this.listeners.clear();
    this.server?.closeAllConnections();
    this.server?.close();
    this.server = null;
  }

  /** Another process on the same port, which remembers nothing. */
  async restart(): Promise<void> {
    this.stop();
    this.started = this.clock;
    this.state = { ...this.state, started: this.started };
    this.samples = [];
    this.changes = [];
    this.remember(3);
    await this.start();
  }

  /** As many seconds of history. */
  remember(seconds: number): void {
    const to = Math.floor(this.clock);
    this.samples = Array.from({ length: seconds }, (_one, i) =>
      this.make(to - seconds + 1 + i, this.names.length),
    );
  }

  rename(names: string[]): void {
    this.names = names;
    this.state = world.state(names, this.started);
    this.remember(600);
  }

  tick(): void {
    const sample = this.make(this.clock, this.names.length);
    this.samples.push(sample);
    if (this.samples.length > 3600) this.samples.shift();
    if (!this.isSilent) this.tell('sample', sample);
  }

  tell(event: string, data: unknown): void {
    for (const one of this.listeners) one.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  record(event: string, what: string, old: unknown, after: unknown, who = '127.0.0.1:41730'): void {
    const change = { ...world.change(this.changes.length + 1, event, what, old, after), who, at: this.clock };
    this.changes.unshift(change);
    this.tell(event, { who, what, old, new: after });
  }

  /** What another operator does. */
  moveKnobs(knobs: Knobs, who = '10.0.0.7:5123 (night)'): void {
    const old = this.state.knobs;
    this.state = { ...this.state, knobs };
    this.record('knobs', 'knobs', old, knobs, who);
  }

  private patchKnobs({ differentiation, favour }: Knobs): void {
    this.moveKnobs({ differentiation, favour }, '127.0.0.1:41730');
  }

  get listening(): number {
    return this.listeners.size;
  }

  bodies(method: string, path: string): unknown[] {
    return this.asked.filter((one) => one.method === method && one.path === path).map((one) => one.body);
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url);
    if (!url.pathname.startsWith('/api/')) {
      this.page(url, response);
      return;
    }
    if (this.isSilent) return;
    let text = '';
    for await (const piece of request) text += String(piece);
    const method = request.method ?? 'GET';
    const body: unknown = text === '' ? null : JSON.parse(text);
    this.asked.push({ method, path: url.pathname, query: url.search, body });
    const problem = this.refusal(request);
    if (problem) {
      json(response, problem[0], { error: problem[1] });
      return;
    }
    response.on('close', () => {
      if (!response.writableFinished) this.givenUp.push(url.pathname);
    });
    await this.operate(`${method} ${url.pathname}`, url.searchParams, body, response);
  }

  private refusal({ headers, method, url }: IncomingMessage): [number, string] | null {
    if (this.tokens.size === 0) return null;
    const mayChange = this.tokens.get((headers.authorization ?? '').replace(/^Bearer /, ''));
    if (mayChange === undefined) return [401, 'show a token: Authorization: Bearer TOKEN'];
    this.state.operator.may_change = mayChange;
    const isLook = method === 'GET' || url === '/api/v1/foresight';
    return !mayChange && !isLook ? [403, 'this token may only read'] : null;
  }

  private page({ pathname }: URL, response: ServerResponse): void {
    if (pathname === '/console') {
      const html = readFileSync(PAGE, 'utf8');
      response.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': policy(html) });
      response.end(html);
    } else if (pathname === '/console/waiting-room') {
      response.writeHead(200, {
        'content-type': 'text/html',
        'content-security-policy': "default-src 'none'; frame-ancestors 'self'",
      });
      response.end(
        '<!doctype html><html lang="en"><title>line</title><main><p>You are in line: 44</p></main>',
      );
    } else {
      json(response, 404, { error: 'refused clients are told in words of its own' });
    }
  }

  private async operate(
    what: string,
    query: URLSearchParams,
    body: unknown,
    response: ServerResponse,
  ): Promise<void> {
    if (what === 'GET /api/v1/events') {
      this.listen(response);
    } else if (what === 'POST /api/v1/foresight') {
      await pause(this.foresightDelay);
      if (this.foresightProblem !== null) json(response, 503, { error: this.foresightProblem });
      else {
        const { knobs } = body as { knobs?: Knobs[] };
        const some = (knobs ?? world.PLACES).slice(0, this.foresightMost);
        const suggested = knobs ? null : this.suggested;
        json(response, 200, world.foresight(some, this.names, suggested));
      }
    } else {
      if (what === 'PATCH /api/v1/knobs' && !this.isAsExpected(body)) {
        json(response, 409, { error: 'the knobs are others by now' });
        return;
      }
      if (what === 'GET /api/v1/sessions' && this.sessionsFail) {
        json(response, 500, { error: 'not now' });
        return;
      }
      if (what === 'GET /api/v1/changes' && this.changesFail > 0) {
        this.changesFail -= 1;
        json(response, 500, { error: 'not now' });
        return;
      }
      const answer = this.look(what, query) ?? this.change(what, body);
      // What it says is as old as it is late.
      const late = structuredClone(answer);
      if (what === 'GET /api/v1/changes') await pause(this.changesDelay);
      if (what === 'GET /api/v1/state') await pause(this.stateDelay);
      if (what === 'PATCH /api/v1/knobs') await pause(this.knobsDelay);
      json(response, late === undefined ? 404 : 200, late ?? { error: `there is no ${what}` });
    }
  }

  private isAsExpected(body: unknown): boolean {
    const { expected } = body as { expected?: Knobs };
    const { knobs } = this.state;
    return (
      expected === undefined ||
      (expected.differentiation === knobs.differentiation && expected.favour === knobs.favour)
    );
  }

  private listen(response: ServerResponse): void {
    if (this.isFull) {
      json(response, 503, { error: 'eight clients listen already' });
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(': here\n\n');
    this.listeners.add(response);
    response.on('close', () => this.listeners.delete(response));
  }

  private look(what: string, query: URLSearchParams): unknown {
    switch (what) {
      case 'GET /api/v1/state':
        return { ...this.state, clock: this.clock, verdict: this.verdict };
      case 'GET /api/v1/knobs':
        return this.state.knobs;
      case 'GET /api/v1/history':
        return {
          clock: this.clock,
          started: this.started,
          classes: this.names,
          samples: this.samples.filter(({ at }) => at > this.clock - Number(query.get('seconds'))),
        };
      case 'GET /api/v1/changes':
        return { changes: this.changes };
      case 'GET /api/v1/outcome':
        return this.outcome(Number(query.get('since')), this.names);
      case 'GET /api/v1/sessions':
        return { sessions: this.sessions };
      case 'GET /api/v1/reload':
        return this.reload;
      case 'GET /api/v1/queue':
        return this.queue(query);
      default:
        return undefined;
    }
  }

  private queue(query: URLSearchParams): unknown {
    const [name, stage, search] = ['class', 'stage', 'search'].map((key) => query.get(key));
    const offset = Number(query.get('offset') ?? 0);
    const found = this.waiting.filter(
      (one) =>
        (name == null || one.class === name) &&
        (stage == null || one.stage === stage) &&
        (search == null || [one.client, one.path, one.id].some((text) => text.includes(search))),
    );
    return { waiting: found.length, requests: found.slice(offset, offset + Number(query.get('limit'))) };
  }

  private change(what: string, body: unknown): unknown {
    const session = /sessions\/(\w+)\/class$/.exec(what)?.[1];
    if (session !== undefined) return this.setClass(what, session, body);
    const { draining, mode } = this.state;
    switch (what) {
      case 'PATCH /api/v1/knobs':
        this.patchKnobs(body as Knobs);
        return this.state.knobs;
      case 'PATCH /api/v1/mode':
        this.state.mode = (body as { mode: State['mode'] }).mode;
        this.record('mode', 'mode', mode, this.state.mode);
        return body;
      case 'POST /api/v1/drain':
      case 'DELETE /api/v1/drain':
        this.state.draining = what.startsWith('POST');
        this.record('drain', 'draining', draining, this.state.draining);
        return { ready: !this.state.draining };
      case 'POST /api/v1/reload':
        this.record('reload', 'configuration', null, ['window']);
        return { changed: this.reload.changes.map((one) => one.setting) };
      default:
        return undefined;
    }
  }

  private setClass(what: string, session: string, body: unknown): unknown {
    const before = this.sessions.find((one) => one.session === session)?.class ?? null;
    this.sessions = this.sessions.filter((one) => one.session !== session);
    const wanted = what.startsWith('POST') ? (body as { class: string }).class : null;
    if (wanted !== null) this.sessions.push({ session, class: wanted, expires: 43_200 });
    this.record('class', `class of session ${session}`, before, wanted);
    return { session, class: wanted, expires: wanted === null ? null : 43_200 };
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

function json(response: ServerResponse, status: number, body: unknown): void {
  if (response.destroyed) return;
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
