// Entry publishing: an entry that became durable goes to the sessions that are interested in its device.
import { cursorAt } from '../../model/cursor.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { DurableEntry, DurableRows } from '../../model/journal-entry.ts';
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
    workspaces.omit(summary.workspaceId, 'SAMPLE', summary.count);
    fanOut.pass(cursorAt(position, 1), cursorAt(position, summary.count));
  } else if (entry.samples.length > 0) fanOut.publish(entry.samples, now());
}

/** As `publishEntry` for each of the entries, which costs nothing while no session listens. */
export function publishRows(
  fanOut: Pick<FanOut, 'publish' | 'pass' | 'interestsIn' | 'workspaces' | 'size'>,
  rows: DurableRows,
  now: () => EpochMs,
): void {
  const { position, length, summary } = rows;
  const { workspaces } = fanOut;
  if (fanOut.size > 0 || workspaces.takesSamples(summary.workspaceId)) {
    for (let place = 0; place < length; place++) publishEntry(fanOut, rows.entryAt(place), now);
    return;
  }
  workspaces.omit(summary.workspaceId, 'SAMPLE', length);
  fanOut.pass(cursorAt(position, 1), cursorAt(position + length - 1, 1));
}
