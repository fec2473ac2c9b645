import type { Waits } from './schemas.ts';

/** Where a request may wait, in the order in which it comes there. */
export const QUEUES: (keyof Waits)[] = ['acceptor', 'pending', 'discard', 'class'];

/** Where a request may spend its time. */
export const STAGES: (keyof Waits)[] = [...QUEUES, 'server'];
