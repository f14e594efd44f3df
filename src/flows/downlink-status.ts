// Downlink status after a try or a report: the changed record, its note, and the next try.
import type { Downlink, DownlinkState } from '../model/downlink.ts';
import { type EpochMs, hourMs } from '../model/instant.ts';
import type { Note } from '../model/processing-note.ts';
import type { DownlinkOutcome } from './downlink-transport.ts';

/** Delays before the second try, the third and so on; each further one is an hour. */
const backoffMs: readonly number[] = [1_000, 5_000, 30_000, 120_000, 600_000];

const reachedStates = { sent: 'SENT', acknowledged: 'ACKNOWLEDGED' } as const;

export interface Conclusion {
  /** Undefined when the record stays as it is. */
  readonly settled?: { readonly change: Partial<Downlink>; readonly note: Note };
  /** Whether the device's next downlink has its turn. */
  readonly goesOn: boolean;
  readonly retryInMs?: number;
}

export function conclusionOf(
  downlink: Downlink,
  result: DownlinkOutcome,
  now: EpochMs,
): Conclusion {
  const { id, tries } = downlink;
  switch (result.outcome) {
    case 'sent':
    case 'acknowledged': {
      const { serverReference } = result;
      const change = {
        state: reachedStates[result.outcome],
        error: null,
        nextTryAt: null,
        tries: tries + 1,
        ...(serverReference !== undefined && { serverReference }),
      } as const;
      return {
        settled: { change, note: noteOf('INFO', downlink, `Downlink ${id} was ${result.outcome}`) },
        goesOn: true,
      };
    }
    case 'failed': {
      const change = {
        state: 'FAILED',
        error: result.reason,
        nextTryAt: null,
        tries: tries + 1,
      } as const;
      const note = noteOf('ERROR', downlink, `Downlink ${id} failed: ${result.reason}`);
      return { settled: { change, note }, goesOn: true };
    }
    case 'offline': {
      // One note only: a device can be offline for days, and is tried often.
      if (downlink.error === result.reason) return { goesOn: false };
      const note = noteOf('INFO', downlink, `Downlink ${id} is queued: ${result.reason}`);
      return {
        settled: { change: { error: result.reason, nextTryAt: null }, note },
        goesOn: false,
      };
    }
    case 'retry': {
      const retryInMs = result.afterMs ?? backoffMs[tries] ?? hourMs;
      const change = { error: result.reason, tries: tries + 1, nextTryAt: now + retryInMs };
      const note = noteOf('WARN', downlink, `Downlink ${id} will be retried: ${result.reason}`);
      return { settled: { change, note }, goesOn: false, retryInMs };
    }
  }
}

const reports = {
  SENT: { text: 'was transmitted', level: 'INFO' },
  ACKNOWLEDGED: { text: 'was acknowledged by the device', level: 'INFO' },
  FAILED: { text: 'failed', level: 'ERROR' },
} as const;

/** Undefined when the report changes nothing. */
export function reportConclusionOf(
  downlink: Downlink,
  state: DownlinkState,
  reason: string | null,
): NonNullable<Conclusion['settled']> | undefined {
  const isOpen = downlink.state === 'QUEUED' || downlink.state === 'SENT';
  if (!isOpen || (state !== 'SENT' && state !== 'ACKNOWLEDGED' && state !== 'FAILED'))
    return undefined;
  const { text, level } = reports[state];
  const message = [`Downlink ${downlink.id} ${text}`, reason].filter((part) => part !== null);
  const change = {
    state,
    nextTryAt: null,
    error: null,
    ...(state === 'FAILED' && { error: reason }),
  };
  return { change, note: noteOf(level, downlink, message.join(': ')) };
}

export function expiryOf(downlink: Downlink): NonNullable<Conclusion['settled']> {
  const message = `Downlink ${downlink.id} expired before it could be sent`;
  return { change: { state: 'EXPIRED', nextTryAt: null }, note: noteOf('WARN', downlink, message) };
}

function noteOf(level: Note['level'], { id, port, topic }: Downlink, message: string): Note {
  return {
    level,
    source: 'DOWNLINK',
    message,
    details: { downlinkId: id, ...(port === null ? { topic } : { port }) },
  };
}
