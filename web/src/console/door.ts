import type { Lately } from './samples.ts';
import type { ClassState } from './schemas.ts';
import { rate, share } from './words.ts';

/** Fewer refusals per second than that are not shown either. */
const NONE = 0.005;

/** The gate's names of reasons, in words. */
const REASONS: Record<string, string> = {
  'acceptor-full': 'no room for what has just come',
  'pending-full': 'no room before its class is known',
  admission: 'over its share, and held back for long enough',
  'queue-full': 'no room in the class queue',
  displaced: 'a more important request took its place',
  deadline: 'waited too long',
  pressure: 'connections or memory run short',
  'client-share': 'too many of one client',
  'waiting-room': 'others came before it',
};

/** What the door does, and where refusals come from; reasons are per second, `null` where they are not known. */
export function doorWords(
  { new: fresh, existing, sessions }: ClassState['admits'],
  { offered, refused }: Lately,
  reasons: [string, number][] | null,
): string {
  const rest = sessions ? 'sessions' : 'requests of sessions';
  const isOpen = fresh >= 1 && existing >= 1;
  const door = isOpen
    ? 'The door lets in all new sessions'
    : `The door lets in ${share(fresh)} of new sessions and ${share(existing)} of ${rest} that are under way`;
  if (refused <= NONE) return `${door}; none is refused.`;
  const part = share(refused / Math.max(offered, refused));
  const why = reasons?.filter(([, n]) => n > NONE).map(([reason, n]) => `${words(reason)} ${rate(n)}`) ?? [];
  const none =
    reasons === null
      ? 'the reasons are not known yet, as this page was just opened'
      : 'no reason has been counted since this page was opened';
  const of = why.length > 0 ? why.join(', ') : none;
  return `${door}; ${part} are refused${isOpen ? ' later' : ''}: ${of}.`;
}

function words(reason: string): string {
  const plain = Object.hasOwn(REASONS, reason) ? REASONS[reason] : undefined;
  return plain === undefined ? reason : `${plain} (${reason})`;
}
