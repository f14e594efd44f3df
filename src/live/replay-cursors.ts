// Replay cursors: what a session may say that a client has, while it replays the journals of several nodes.
import type { EpochMs } from '../model/instant.ts';
import type { FanOut } from './fan-out.ts';
import { placeText } from './place-text.ts';
import type { ReplayPass } from './replay-pass.ts';
import { earlier, type LiveSample, type StreamPlace } from './stream-place.ts';
import { sampleFrame } from './text-frame.ts';

/** What the client has before the pass; undefined with one journal, whose cursors say it. */
export function firstPlace({ starts }: ReplayPass, { journals }: FanOut): StreamPlace | undefined {
  if (journals === undefined || starts.length === 0) return undefined;
  const places = starts.map(
    (start): StreamPlace =>
      'cursor' in start ? start.cursor : { before: start.storedSince, journals: new Map() },
  );
  return places.reduce((place, other) => earlier(other, place), places[0] ?? '');
}

export function shownCursor(place: StreamPlace): string {
  return typeof place === 'string' ? place : placeText(place);
}

/** With several journals, the frame of all sessions does not say what this one has read. */
export function shownFrame(
  frame: Buffer,
  sample: LiveSample,
  { place, now }: { readonly place: StreamPlace; readonly now: EpochMs },
): Buffer {
  return typeof place === 'string' ? frame : sampleFrame(sample, now, placeText(place));
}

/**
 * Resolves when this node has published what the session has after the pass, so that the next live cursors
 * include it. With false, the session has to end.
 */
export async function isPublished(
  { reached, first }: ReplayPass,
  { fanOut, end }: { readonly fanOut: FanOut; readonly end: (reason: string) => void },
): Promise<boolean> {
  // Another node may have published more to the client than this one has.
  const place = reached ?? first;
  if (fanOut.journals === undefined || place === undefined) return true;
  const isReached = await fanOut.journals.whenReached(place);
  if (!isReached) end('samples of another node are delayed; reconnect with since');
  return isReached;
}
