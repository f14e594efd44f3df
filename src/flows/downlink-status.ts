// What becomes of a downlink after a try or a report: the change of its record, the note about it, and when to go on.
import type { Downlink, DownlinkState } from '../model/downlink.ts';
import { type EpochMs, hourMs } from '../model/instant.ts';
import type { Note } from '../model/processing-note.ts';
import type { DownlinkOutcome } from './downlink-transport.ts';

/** Waiting times before the second try, the third and so on; the last one stays. */
const backoffMs = [1_000, 5_000, 30_000, 120_000, 600_000, hourMs] as const;

export interface Conclusion {
  /** Undefined when nothing is to be told: the record stays as it is. */
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
      const state = result.outcome === 'sent' ? 'SENT' : 'ACKNOWLEDGED';
      const reference =
        result.serverReference === undefined ? {} : { serverReference: result.serverReference };
      const change = {
        state,
        error: null,
        nextTryAt: null,
        tries: tries + 1,
        ...reference,
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
      // Told once: a device may be away for days, and asked for often.
      if (downlink.error === result.reason) return { goesOn: false };
      const note = noteOf('INFO', downlink, `Downlink ${id} waits: ${result.reason}`);
      return {
        settled: { change: { error: result.reason, nextTryAt: null }, note },
        goesOn: false,
      };
    }
    case 'retry': {
      const retryInMs = result.afterMs ?? backoffMs[Math.min(tries, backoffMs.length - 1)]!;
      const change = { error: result.reason, tries: tries + 1, nextTryAt: now + retryInMs };
      const note = noteOf('WARN', downlink, `Downlink ${id} is tried again: ${result.reason}`);
      return { settled: { change, note }, goesOn: false, retryInMs };
    }
  }
}

const reportTexts = {
  SENT: 'was transmitted',
  ACKNOWLEDGED: 'was acknowledged by the device',
  FAILED: 'failed',
} as const;

/** Undefined when the report tells nothing new. */
export function reportConclusionOf(
  downlink: Downlink,
  state: DownlinkState,
  reason: string | null,
): NonNullable<Conclusion['settled']> | undefined {
  const isOpen = downlink.state === 'QUEUED' || downlink.state === 'SENT';
  if (!isOpen || (state !== 'SENT' && state !== 'ACKNOWLEDGED' && state !== 'FAILED'))
    return undefined;
  const message = `Downlink ${downlink.id} ${reportTexts[state]}${reason === null ? '' : `: ${reason}`}`;
  const change = { state, nextTryAt: null, error: state === 'FAILED' ? reason : null };
  return { change, note: noteOf(state === 'FAILED' ? 'ERROR' : 'INFO', downlink, message) };
}

export function expiryOf(downlink: Downlink): NonNullable<Conclusion['settled']> {
  const message = `Downlink ${downlink.id} was not sent in time and has expired`;
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
