// Entry publishing: an entry that became durable goes to the sessions that are interested in its device.
import { cursorAt } from '../model/cursor.ts';
import type { EpochMs } from '../model/instant.ts';
import type { DurableEntry } from '../model/journal-entry.ts';
import type { FanOut } from './fan-out.ts';

/** Samples that no session wants are not even created. */
export function publishEntry(
  fanOut: Pick<FanOut, 'publish' | 'pass' | 'interestsIn'>,
  entry: DurableEntry,
  now: () => EpochMs,
): void {
  const { deviceId, position, summary } = entry;
  if (summary !== undefined && fanOut.interestsIn(deviceId).length === 0)
    fanOut.pass(cursorAt(position, 1), cursorAt(position, summary.count));
  else if (entry.samples.length > 0) fanOut.publish(entry.samples, now());
}
