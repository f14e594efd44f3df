// Connects raw uplinks: a follower of the journal stores them with the samples, unless their retention is 0.
import { join } from 'node:path';
import type { Parts } from './platform-parts.ts';
import type { SharedSamples } from './samples.ts';
import { removeRawUplinks } from '../flows/no-raw-uplinks.ts';
import { openRawUplinks, type RawUplinks } from '../flows/raw-uplink-follower.ts';
import {
  openClickHouseUplinks,
  removeClickHouseUplinks,
} from '../raw-uplinks/clickhouse/clickhouse-uplinks.ts';
import { openEmbeddedUplinks } from '../raw-uplinks/embedded/embedded-uplinks.ts';
import type { OpenRawUplinkStore } from '../raw-uplinks/raw-uplink-store.ts';
import { shardOf } from '../samples/clickhouse/shipper.ts';
import { samplesError } from '../samples/clickhouse/store-parts.ts';

/** Removes the raw uplinks of earlier starts when their retention is 0 now. */
export async function composeRawUplinks(parts: Parts): Promise<RawUplinks> {
  const { config, log, followers, telemetry, sharedSamples } = parts;
  const directory = join(config.dataDirectory, 'uplinks');
  if (config.rawUplinkRetentionMs === 0) {
    if (sharedSamples !== undefined) await removeClickHouseUplinks(sharedSamples.clickHouse);
    return removeRawUplinks(log, directory);
  }
  const followed = { log, followers, telemetry };
  if (sharedSamples === undefined)
    return openRawUplinks({
      ...followed,
      openStore: embeddedUplinks(parts, directory),
      hasRoom: () => !parts.diskIsFull(),
    });
  // Nothing is written to this disk, which may even get room when the journal is released.
  const raw = await openRawUplinks({
    ...followed,
    openStore: clickHouseUplinks(parts, sharedSamples),
    hasRoom: () => true,
  });
  return { ...raw, list: (range) => raw.list(range).catch(failWithProblem) };
}

function failWithProblem(error: unknown): never {
  throw samplesError(error);
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

function clickHouseUplinks(parts: Parts, shared: SharedSamples): OpenRawUplinkStore {
  const { config, now, telemetry } = parts;
  const { clickHouse, journal } = shared;
  return ({ position }) =>
    openClickHouseUplinks({
      clickHouse,
      shardOf: (deviceId) => shardOf(deviceId, clickHouse.shards),
      journal: journal(),
      position,
      now,
      retentionMs: config.rawUplinkRetentionMs,
      bytesMax: config.rawUplinkBytesMax,
      failed: (error) => telemetry.backgroundFailed('keeping raw uplinks on all replicas', error),
    });
}
