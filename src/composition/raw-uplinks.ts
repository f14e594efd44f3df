// Connects raw uplinks: a follower of the journal stores them, unless their retention is 0.
import { join } from 'node:path';
import type { Parts } from './platform-parts.ts';
import { removeRawUplinks } from '../flows/no-raw-uplinks.ts';
import { openRawUplinks, type RawUplinks } from '../flows/raw-uplink-follower.ts';

/** Removes the raw uplinks of earlier starts when their retention is 0 now. */
export async function composeRawUplinks(parts: Parts): Promise<RawUplinks> {
  const { config, log, followers, telemetry, diskIsFull, now } = parts;
  const { rawUplinkRetentionMs: retentionMs, rawUplinkBytesMax: bytesMax } = config;
  const directory = join(config.dataDirectory, 'uplinks');
  if (retentionMs === 0) return removeRawUplinks(log, directory);
  const kept = { directory, retentionMs, bytesMax };
  return openRawUplinks({ ...kept, log, followers, telemetry, diskIsFull, now });
}
