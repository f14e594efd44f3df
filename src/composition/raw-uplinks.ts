// Connects raw uplinks: a follower of the journal stores them, unless their retention is 0.
import { join } from 'node:path';
import type { Parts } from './platform-parts.ts';
import { removeRawUplinks } from '../flows/no-raw-uplinks.ts';
import { openRawUplinks, type RawUplinks } from '../flows/raw-uplink-follower.ts';
import { openEmbeddedUplinks } from '../raw-uplinks/embedded/embedded-uplinks.ts';
import type { OpenRawUplinkStore } from '../raw-uplinks/raw-uplink-store.ts';

/** Removes the raw uplinks of earlier starts when their retention is 0 now. */
export async function composeRawUplinks(parts: Parts): Promise<RawUplinks> {
  const { config, log, followers, telemetry, diskIsFull } = parts;
  const directory = join(config.dataDirectory, 'uplinks');
  if (config.rawUplinkRetentionMs === 0) return removeRawUplinks(log, directory);
  return openRawUplinks({
    openStore: embeddedUplinks(parts, directory),
    log,
    followers,
    telemetry,
    hasRoom: () => !diskIsFull(),
  });
}

function embeddedUplinks(parts: Parts, directory: string): OpenRawUplinkStore {
  const { config, telemetry, now } = parts;
  return ({ followedFrom, isLost }) =>
    openEmbeddedUplinks({
      directory,
      now,
      retentionMs: config.rawUplinkRetentionMs,
      bytesMax: config.rawUplinkBytesMax,
      followedFrom,
      isLost,
      damaged: (damage) => telemetry.damageFound({ what: 'raw uplinks', ...damage }),
    });
}
