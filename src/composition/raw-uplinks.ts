// Composes the raw uplinks: kept by a follower of the journal, or not at all.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Parts } from './platform-parts.ts';
import { openRawUplinks, type RawUplinks } from '../flows/raw-uplink-follower.ts';

/** Opens the raw uplinks; with a retention of 0 nothing is kept. */
export async function composeRawUplinks(parts: Parts): Promise<RawUplinks> {
  const { config, log, followers, telemetry, diskIsFull, now } = parts;
  const { rawUplinkRetentionMs: retentionMs, rawUplinkBytesMax: bytesMax } = config;
  const directory = join(config.dataDirectory, 'uplinks');
  if (retentionMs === 0) return keepingNone(parts, directory);
  const kept = { directory, retentionMs, bytesMax };
  return openRawUplinks({ ...kept, log, followers, telemetry, diskIsFull, now });
}

function keepingNone({ log }: Parts, directory: string): RawUplinks {
  log.removeFollower('raw-uplinks');
  rmSync(directory, { recursive: true, force: true });
  const nothing = async () => undefined;
  return {
    list: async () => ({ uplinks: [], total: 0 }),
    dropDevices: nothing,
    runMaintenance: nothing,
    close: nothing,
  };
}
