import { reached } from './client.ts';

/** One server-sent event. */
export interface Message {
  event: string;
  data: string;
}

/** Bytes of an event that has not ended; a gate sends far less. */
const LONGEST = 1_000_000;

/**
 * Server-sent events of a response: an EventSource cannot send a token. `heard` is told of every
 * piece, also of comments that only say that the other end is there.
 */
export async function* messages(
  body: ReadableStream<Uint8Array>,
  heard: () => void = () => undefined,
): AsyncGenerator<Message> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reached(reader.read());
      if (done) return;
      heard();
      text += decoder.decode(value, { stream: true });
      const blocks = text.split(/\r?\n\r?\n/);
      text = blocks.pop() ?? '';
      if (text.length > LONGEST) throw new Error('an event of the gate does not end');
      for (const block of blocks) {
        const message = read(block);
        if (message) yield message;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** The fields of one event (HTML standard, section 9.2.6); `null` where it has no data. */
function read(block: string): Message | null {
  let event = 'message';
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const colon = line.indexOf(':');
    if (colon === 0) continue;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'event') event = value;
    else if (name === 'data') data.push(value);
  }
  return data.length > 0 ? { event, data: data.join('\n') } : null;
}
