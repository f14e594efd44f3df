// Entry publishing: an entry that became durable goes to the sessions that are interested in its device.
import { cursorAt } from '../model/cursor.ts';
import type { EpochMs } from '../model/instant.ts';
import type { DurableEntry } from '../model/journal-entry.ts';
import type { FanOut } from './fan-out.ts';

/** Samples that no session would be sent are not created. */
export function publishEntry(
  fanOut: Pick<FanOut, 'publish' | 'pass' | 'interestsIn' | 'workspaces'>,
  entry: DurableEntry,
  now: () => EpochMs,
): void {
  const { deviceId, position, summary } = entry;
  const { workspaces } = fanOut;
  const isUnwanted =
    summary !== undefined &&
    fanOut.interestsIn(deviceId).length === 0 &&
    !workspaces.takesSamples(summary.workspaceId);
  if (isUnwanted) {
    workspaces.omitSamples(summary.workspaceId, summary.count);
    fanOut.pass(cursorAt(position, 1), cursorAt(position, summary.count));
  } else if (entry.samples.length > 0) fanOut.publish(entry.samples, now());
}
