// No raw uplinks: with a retention of 0, those of earlier starts are removed and lists are empty (contract 35).
import { rmSync } from 'node:fs';
import type { EntryLog } from '../storage/log/entry-log.ts';
import type { RawUplinks } from './followers/raw-uplink-follower.ts';

/** Removes the folder, and the follower, which would keep the journal from being truncated. */
export function removeRawUplinks(
  log: Pick<EntryLog, 'removeFollower'>,
  directory: string,
): RawUplinks {
  log.removeFollower('raw-uplinks');
  rmSync(directory, { recursive: true, force: true });
  const nothing = async () => undefined;
  return {
    list: async () => ({ uplinks: [], total: 0 }),
    share: async () => undefined,
    dropDevices: nothing,
    runMaintenance: nothing,
    close: nothing,
  };
}
