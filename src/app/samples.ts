// Samples of the platform: in the data folder, or in ClickHouse when SAMPLES_URL names servers.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ClickHouse } from '../storage/clickhouse/clickhouse.ts';
import { serverAddresses } from '../storage/clickhouse/replica.ts';
import type { Config } from './config/config.ts';
import type { JournalEndSeen } from '../storage/log/journal-recovery.ts';
import { DataFolderError } from '../storage/data-folder/data-folder.ts';
import { ClickHouseStore } from '../storage/samples/clickhouse/clickhouse-store.ts';
import { shippingFile } from '../storage/samples/clickhouse/flusher.ts';
import { verifyShippedSamples } from '../storage/samples/clickhouse/verify-samples.ts';
import type { Elsewhere } from '../storage/samples/remote-pending-samples.ts';
import { openEmbeddedStore } from '../storage/samples/embedded/embedded-store.ts';
import { verifyStore } from '../storage/samples/embedded/store-loader.ts';
import type { SampleStore } from '../storage/samples/sample-store.ts';
import { watchClickHouse } from './outages.ts';
import { refuseUnfinishedMove } from './samples-move.ts';
import type { StoreSurroundings } from '../storage/samples/samples.ts';
import type { StoreFindings } from '../storage/samples/verify-journal.ts';
import type { Closers } from '../structures/closers.ts';
import { problem } from '../model/problem.ts';
import { missing } from '../structures/missing.ts';
import type { Telemetry } from '../telemetry/events.ts';

/** ClickHouse, for what is kept there together with samples. */
export interface SharedSamples extends SamplesOfNodes {
  readonly clickHouse: ClickHouse;
  /** The number of the folder's journal. Throws before the sample store is open. */
  readonly journal: () => number;
  /**
   * Ships what was written, so that the next owners of devices find it. ClickHouse is asked again for
   * those that this node has gained, if there are any.
   */
  readonly moveDevices: (isGained?: (deviceId: string) => boolean) => Promise<void>;
  /** Ships what was written, and inserts all hours of it. */
  readonly flushHours: () => Promise<void>;
  /** See `ClickHouseStore.figures`. */
  readonly shippedTo: () => number;
}

/** What several nodes read of each other. */
interface SamplesOfNodes {
  /** See `ClickHouseStore.openHere`. Throws Problem `stopping` before the sample store is open. */
  readonly openHere: ClickHouseStore['openHere'];
  /** From now on, reads merge what the other nodes have. */
  readonly useElsewhere: (elsewhere: Elsewhere) => void;
  /** See `ClickHouseStore.usageHere`. */
  readonly usageHere: ClickHouseStore['usageHere'];
}

/**
 * Throws ClickHouseStartError when the servers cannot be used, DataFolderError when the samples of
 * the folder are elsewhere.
 */
export async function samplePlaceOf(parts: {
  readonly config: Config;
  /** The folder of the samples. */
  readonly directory: string;
  readonly telemetry: Telemetry;
  /** Gets what must be closed after the store. */
  readonly closers: Closers;
  readonly now: () => number;
  /** See `StateFile.open`. */
  readonly stateReplaced?: ((contents: string) => Promise<void>) | undefined;
}): Promise<{
  readonly openStore: (surroundings: StoreSurroundings) => Promise<SampleStore>;
  /** Undefined with samples in the data folder. */
  readonly shared: SharedSamples | undefined;
}> {
  const { config, directory, closers, telemetry, now, stateReplaced } = parts;
  const { samplesUrl } = config;
  refuseOtherPlace(directory, samplesUrl);
  if (samplesUrl === undefined)
    return {
      openStore: (surroundings) =>
        openEmbeddedStore({ directory: join(directory, 'segments'), ...surroundings }),
      shared: undefined,
    };
  const shards = serverAddresses(samplesUrl) ?? missing('addresses of samples');
  const clickhouse = await ClickHouse.open(shards);
  closers.push('the connections to ClickHouse', () => clickhouse.close());
  watchClickHouse(telemetry, clickhouse, shards);
  let opened: ClickHouseStore | undefined;
  let others: Elsewhere | undefined;
  const elsewhere: Elsewhere = {
    read: async (range) => (await others?.read(range)) ?? [],
    usage: async () => (await others?.usage()) ?? [],
    changes: () => others?.changes() ?? 0,
  };
  return {
    async openStore(surroundings) {
      opened = await ClickHouseStore.open({
        directory,
        clickhouse,
        now,
        elsewhere,
        stateReplaced,
        ...surroundings,
      });
      addShippingFigures(telemetry, opened, now);
      return opened;
    },
    shared: {
      clickHouse: clickhouse,
      journal: () => (opened ?? missing('sample store')).journal,
      openHere(request) {
        if (opened === undefined) throw problem('stopping');
        return opened.openHere(request);
      },
      async usageHere() {
        if (opened === undefined) throw problem('stopping');
        return opened.usageHere();
      },
      useElsewhere: (given) => void (others = given),
      flushHours: async () => opened?.flushHours(),
      shippedTo: () => opened?.figures().shippedTo ?? 0,
      async moveDevices(isGained) {
        opened?.devicesMoved(isGained);
        await opened?.flush();
      },
    },
  };
}

function addShippingFigures(telemetry: Telemetry, store: ClickHouseStore, now: () => number): void {
  telemetry.gauge(
    'clickhouse_pending_samples',
    'Samples not yet written to ClickHouse.',
    () => store.figures().openRows,
  );
  telemetry.gauge(
    'clickhouse_flush_lag_seconds',
    'Age of the oldest sample not yet written to ClickHouse.',
    () => {
      const { oldestOpenAt = now() } = store.figures();
      return Math.max(0, (now() - oldestOpenAt) / 1_000);
    },
  );
  telemetry.gauge(
    'clickhouse_replica_wait_seconds',
    'Time the journal has retained samples for lagging ClickHouse replicas.',
    () => store.figures().waitingForReplicasMs / 1_000,
  );
  telemetry.gauge(
    'hourly_aggregate_lag_seconds',
    'Age of the oldest sample missing from hourly aggregates in ClickHouse.',
    () => {
      const { oldestInNoHourAt = now() } = store.figures();
      return Math.max(0, (now() - oldestInNoHourAt) / 1_000);
    },
  );
}

/** Reads everything that the store of the folder has. */
export async function verifySamples(
  { samplesUrl }: Config,
  directory: string,
  seen: JournalEndSeen,
): Promise<StoreFindings> {
  refuseOtherPlace(directory, samplesUrl);
  if (samplesUrl === undefined) return verifyStore(directory, seen);
  const shards = serverAddresses(samplesUrl) ?? missing('addresses of samples');
  const clickhouse = await ClickHouse.open(shards);
  try {
    return await verifyShippedSamples(directory, clickhouse, seen);
  } finally {
    await clickhouse.close();
  }
}

/** A start in the wrong place would find no samples, and release the journal of the other one. */
function refuseOtherPlace(directory: string, samplesUrl: string | undefined): void {
  refuseUnfinishedMove(directory);
  const isInFolder = existsSync(join(directory, 'segments'));
  if (samplesUrl !== undefined && isInFolder)
    throw new DataFolderError(
      `SAMPLES_URL is set, but this data folder stores its samples in ${join(directory, 'segments')}. Unset SAMPLES_URL, or first run "heliograph migrate samples --to clickhouse".`,
    );
  if (samplesUrl === undefined && existsSync(join(directory, shippingFile)))
    throw new DataFolderError(
      `The samples of data folder ${directory} are in ClickHouse. Set SAMPLES_URL, or first run "heliograph migrate samples --to embedded".`,
    );
}
