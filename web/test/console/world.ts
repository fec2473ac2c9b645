import type {
  Change,
  ClassSample,
  Estimate,
  Foresight,
  Knobs,
  Outcome,
  QueuedRequest,
  Sample,
  State,
  Verdict,
} from '../../src/console/schemas.ts';

/** What a made-up site does: two classes, twice the load that it carries. */

export const HOSTILE = '<img src=x onerror=alert(1)>';

export function now(): number {
  return Date.now() / 1000;
}

export function classSample(offered: number, served: number, wave = 0): ClassSample {
  const refused = Math.max(0, offered - served);
  return {
    offered: offered + wave,
    served,
    refused: refused + wave,
    aborted: 0,
    queued: Math.round(refused / 2),
    response: 0.08 + refused / 400,
    p95: 0.12 + refused / 200,
    waits: { acceptor: 0.002, pending: 0.004, discard: refused / 1000, class: 0.03, server: 0.055 },
  };
}

export function sample(at: number, classes: ClassSample[]): Sample {
  const served = classes.reduce((sum, one) => sum + one.served, 0);
  return {
    at,
    span: 1,
    window: 8,
    in_service: Math.min(8, Math.round(served / 8)),
    waiting: classes.reduce((sum, one) => sum + one.queued, 0),
    capacity: 65,
    finished: served,
    unclassified: 0,
    pressure: 0.12,
    classes,
  };
}

export function overload(at: number, classes: number): Sample {
  const wave = 6 * Math.sin(at / 40) + 2 * Math.sin(at / 3);
  const each = Array.from({ length: classes }, (_one, i) =>
    i === 0 ? classSample(20 + wave / 4, 20 + wave / 4) : classSample(70 + wave, 41),
  );
  return sample(at, each);
}

export function quiet(at: number, classes: number): Sample {
  const each = Array.from({ length: classes }, () => ({ ...classSample(10, 10), queued: 0 }));
  return { ...sample(at, each), waiting: 0 };
}

/** What the gate says of {@link overload}, of that in shadow mode, and of {@link quiet}. */
export const REFUSING: Verdict = {
  severity: 'warning',
  brief: 'Refusing',
  words: 'basic: 41 % of requests are refused; premium: all served, 95 % within 120 ms.',
  meaning: 'refused 1',
};
export const SHADOW: Verdict = {
  severity: 'notice',
  brief: 'Shadow',
  words: 'Shadow mode: basic: 41 % of requests would be refused.',
  meaning: 'shadow 1',
};
export const CALM: Verdict = {
  severity: 'calm',
  brief: 'Calm',
  words: 'No class suffers: all that was asked is served, 95 % within 120 ms.',
  meaning: 'calm',
};

export function state(names: string[], started: number): State {
  const none = { arrived: 0, admitted: 0, dispatched: 0, finished: 0, aborted: 0, rejected: {} };
  return {
    version: '0.1.0',
    host: 'shop-1',
    clock: now(),
    started,
    draining: false,
    capacity: 65,
    operator: { name: '127.0.0.1:41730', may_change: true },
    foresight: true,
    waiting_room: true,
    verdict: REFUSING,
    mode: 'enforce',
    knobs: { differentiation: 0.9, favour: 0.5 },
    window: 8,
    in_service: 7,
    streaming: 0,
    express: 2,
    look_ahead: 41,
    quota: 64,
    pressure: 0.12,
    queues: { acceptor: 0, pending: 3, discard: 8, class: 14 },
    connections: { clients: 412, upstream: 8, most: 65_000, descriptor_limit: 65_536 },
    upstream: {
      address: '127.0.0.1:8000',
      failures: { broken: 0, connect: 2, 'connect-timeout': 0, timeout: 0 },
      retries: 2,
      retries_denied: 0,
      last_resort: 0,
      servers: ['127.0.0.1:8000', '127.0.0.1:8001'].map((address, i) => ({
        address,
        name: address,
        standing: i === 0 ? 'up' : 'ejected',
        weight: 1,
        outstanding: 7 - 7 * i,
        requests: 120_034,
        failures: 2,
        ejections: i,
        checks: { passed: 400, failed: i },
      })),
      tunnels: { open: 3, opened: 20, refused: 0 },
    },
    event_listeners: 1,
    classes: names.map((name, i) => ({
      name,
      queued: 14 * i,
      p95: 0.12 + 0.3 * i,
      held_back: 8 * i,
      target: 14,
      patience: 10,
      admits: { existing: 1, new: 1, sessions: false },
      session_requests: 5,
      session_starts: 18,
      waiting_room: { waiting: 240 * i, outflow: 3.2 * i, longest: 61 * i },
      ...none,
    })),
    unclassified: none,
  };
}

const estimate = (mean: number, ci: [number, number]): Estimate => ({ mean, ci, chance: ci });

const around = (mean: number): Estimate =>
  estimate(mean, [mean * 0.93, Math.min(mean * 1.07, mean > 1 ? Infinity : 1)]);

/** Settings that are tried where none are named. */
export const PLACES: Knobs[] = [
  { differentiation: 0.9, favour: 0.5 },
  { differentiation: 1, favour: 0 },
  { differentiation: 1, favour: 0.5 },
];

export function foresight(knobs: Knobs[], names: string[], suggested: Knobs | null = null): Foresight {
  return {
    suggested,
    load: {
      seconds: 180,
      requests: 16_200,
      sessions: 3240,
      classes: names.map((name) => ({ name, starts: 9, requests: 5, pause: 1.5 })),
    },
    points: knobs.map(({ differentiation, favour }) => ({
      differentiation,
      favour,
      classes: names.map((name, i) => ({
        name,
        completed: around(i === 0 ? 2 + 2 * differentiation : 6 - 2 * differentiation),
        completion: around(i === 0 ? 0.5 + 0.45 * differentiation : 0.6 - 0.2 * differentiation),
        p50: around(0.05),
        p95: estimate(0.1 + 0.3 * i + favour * 0.2, [0.08 + 0.3 * i, 0.14 + 0.3 * i + favour * 0.2]),
      })),
      throughput: around(8),
      utilization: around(0.97),
    })),
    remarks: ['Clients that come back after a refusal are not in the prediction.'],
    took: 0.6,
  };
}

export function outcome(since: number, names: string[]): Outcome {
  const to = now();
  return {
    from: Math.max(since, to - 180),
    to,
    classes: names.map((name, i) => ({
      name,
      starts: 5,
      sessions: Math.round(5 * Math.min(180, Math.max(0, to - since))),
      completed: i === 0 ? 3.9 : 2.2,
      completion: i === 0 ? 0.96 : 0.44,
      p50: 0.06,
      p95: 0.12 + 0.3 * i,
    })),
  };
}

export function waiting(count: number, names: string[]): QueuedRequest[] {
  return Array.from({ length: count }, (_one, i) => ({
    id: (0xa000 + i).toString(16),
    class: i % 7 === 0 ? null : (names[i % names.length] ?? null),
    stage: ['acceptor', 'pending', 'discard', 'class'][i % 4] ?? null,
    age: 9.5 - (9 * i) / count,
    client: `10.0.${Math.floor(i / 250)}.${i % 250}`,
    method: 'GET',
    path: i === 1 ? `/${HOSTILE}` : `/catalogue/page-${i}`,
  }));
}

export function change(id: number, event: string, what: string, old: unknown, after: unknown): Change {
  return { id, at: now(), event, who: '10.0.0.7:5123 (night)', what, old, new: after };
}
