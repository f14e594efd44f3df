// Replay refusal: the requests of a pass that the store cannot serve, each with an error for its client.
import type { ReplyTo } from '../contract/live-messages.ts';
import { Problem } from '../model/problem.ts';
import type { Interest } from './fan-out.ts';
import { refusal } from './live-refusal.ts';
import type { ReplayPass, ReplayRequest } from './replay-pass.ts';
import type { StreamPlace } from './stream-place.ts';

interface RefusalOptions {
  readonly interest: (assetId: string) => Interest | undefined;
  readonly refuse: (thrown: unknown, replyTo: ReplyTo | undefined) => void;
  readonly end: (reason: string) => void;
}

/**
 * Rejects the requests that cannot be served, which are live from now on. True if the others can be
 * tried again.
 */
export function refuseReplay(options: RefusalOptions, pass: ReplayPass, thrown: unknown): boolean {
  const oldest = oldestCursorOf(thrown);
  const hasStarted = pass.reached !== undefined;
  const refused = refusedRequests(pass, oldest);
  if (refused.length === 0 || (hasStarted && pass.resumeFrom !== undefined)) {
    options.end('stored samples are unavailable; reconnect with since');
    return false;
  }
  const answer = oldest && refusal('CURSOR_TOO_OLD', { oldestCursor: oldest });
  for (const replyTo of new Set(refused.map((request) => request.replyTo)))
    options.refuse(answer ?? thrown, replyTo);
  for (const { subscription } of refused) {
    pass.wanted.delete(subscription);
    const afterCursor = options.interest(subscription.assetId)?.deliveredTo;
    subscription.coverage ??= { ...(afterCursor && { afterCursor }) };
  }
  pass.requests = pass.requests.filter((request) => !refused.includes(request));
  return !hasStarted;
}

function oldestCursorOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Problem) || thrown.problem !== 'cursorTooOld') return undefined;
  return String(thrown.details.oldest);
}

/**
 * Those with a cursor that is too old. All of them if that does not explain the error, or samples
 * were sent already.
 */
function refusedRequests(
  { requests, reached }: ReplayPass,
  oldest: string | undefined,
): readonly ReplayRequest[] {
  const tooOld = requests.filter(
    ({ start }) => oldest !== undefined && 'cursor' in start && isOlder(start.cursor, oldest),
  );
  return reached !== undefined || tooOld.length === 0 ? requests : tooOld;
}

/** With several journals the oldest cursor is of one of them, so any cursor may be too old. */
function isOlder(place: StreamPlace, oldest: string): boolean {
  return typeof place !== 'string' || place < oldest;
}
