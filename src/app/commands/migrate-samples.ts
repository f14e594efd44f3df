// Migrate samples: the command that moves samples and raw uplinks between the data folder and ClickHouse.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openClickHouse } from '../../storage/clickhouse/clickhouse.ts';
import { serverAddresses } from '../../storage/clickhouse/server-addresses.ts';
import { ConfigError } from '../config/config-values.ts';
import type { Config } from '../config/config.ts';
import { DataFolderError } from '../../storage/data-folder/data-folder.ts';
import type { EpochMs } from '../../model/instant.ts';
import {
  countUplinks,
  uplinkTable,
} from '../../storage/raw-uplinks/clickhouse/clickhouse-uplinks.ts';
import { verifyRawUplinks } from '../../storage/raw-uplinks/embedded/stored-folder.ts';
import { countStored, keptCondition } from '../../storage/samples/clickhouse/moved-rows.ts';
import { sampleTables } from '../../storage/samples/clickhouse/sample-tables.ts';
import { readState, shippingFile } from '../../storage/samples/clickhouse/shipping-state.ts';
import { verifyStore } from '../../storage/samples/embedded/verify-chunks.ts';
import { missing } from '../../structures/missing.ts';
import {
  type MovedCounts,
  type MovedParts,
  moveError,
  type MoveProgress,
  readMove,
  type SamplesEngineName,
} from '../samples-move.ts';
import { moveAll, ToClickHouse, ToFolder } from './sample-mover.ts';
import { onStoppedFolder } from './stopped-folder.ts';

export interface SamplesMigration {
  readonly to: SamplesEngineName;
  /** Only reads, and counts. */
  readonly isDryRun: boolean;
}

export interface MigratedSamples extends MovedCounts {
  readonly seconds: number;
  /** Whether the samples were there before the command. */
  readonly isDone: boolean;
}

/** What a test may replace. */
export interface MigrationSurroundings {
  readonly now?: () => EpochMs;
  readonly progress: (progress: MoveProgress) => void;
}

/**
 * Moves, or continues an interrupted move, and compares both sides. Throws ConfigError,
 * DataFolderError and ClickHouseStartError with what to do; the source then is as it was.
 */
export async function migrateSamples(
  config: Config,
  { to, isDryRun }: SamplesMigration,
  { now = Date.now, progress }: MigrationSurroundings,
): Promise<MigratedSamples> {
  const { dataDirectory, samplesUrl, rawUplinkRetentionMs } = config;
  if (samplesUrl === undefined)
    throw new ConfigError(
      'SAMPLES_URL is not set. Set it to a ClickHouse URL such as http://user:password@host:8123/heliograph.',
    );
  return onStoppedFolder(config, async () => {
    try {
      const shards = serverAddresses(samplesUrl) ?? missing('addresses of samples');
      const clickHouse = await openClickHouse({ shards });
      const movesUplinks = rawUplinkRetentionMs > 0;
      const parts = { dataDirectory, clickHouse, movesUplinks, now, progress };
      try {
        return await migrateOpened(parts, to, isDryRun);
      } finally {
        await clickHouse.close();
      }
    } catch (error) {
      throw moveError(error);
    }
  });
}

async function migrateOpened(
  parts: MovedParts,
  to: SamplesEngineName,
  isDryRun: boolean,
): Promise<Omit<MigratedSamples, 'seconds'>> {
  const samples = join(parts.dataDirectory, 'samples');
  const nothing = { samples: 0, uplinks: 0, differing: [], unreadable: [] };
  if (isAt(samples, to) && (await readMove(samples)) === undefined)
    return { ...nothing, isDone: true };
  if (isDryRun) return { ...nothing, ...(await countsOf(parts, to)), isDone: false };
  await parts.clickHouse.prepareTables([...sampleTables, uplinkTable]);
  const direction = to === 'clickhouse' ? new ToClickHouse(parts) : new ToFolder(parts);
  const moved = await moveAll(parts, direction);
  return { ...moved, isDone: false };
}

/** Whether a platform that has run on the folder kept the samples there. */
function isAt(samples: string, engine: SamplesEngineName): boolean {
  const [isShipped, isSealed] = [shippingFile, 'segments'].map((name) =>
    existsSync(join(samples, name)),
  );
  return engine === 'clickhouse'
    ? isShipped === true && !isSealed
    : isSealed === true && !isShipped;
}

async function countsOf(
  { dataDirectory, clickHouse }: MovedParts,
  to: SamplesEngineName,
): Promise<Pick<MovedCounts, 'samples' | 'uplinks'>> {
  const samples = join(dataDirectory, 'samples');
  if (to === 'clickhouse') {
    const { sealedSamples } = await verifyStore(samples);
    const { uplinks } = await verifyRawUplinks(join(dataDirectory, 'uplinks'));
    return { samples: sealedSamples, uplinks };
  }
  const state = await readState(join(samples, shippingFile));
  if (state === undefined || state === 'damaged')
    throw new DataFolderError(`The samples of ${samples} are not in ClickHouse`);
  await clickHouse.prepareTables([...sampleTables, uplinkTable]);
  const { own } = await countUplinks(clickHouse, state.journal);
  return { samples: await countStored(clickHouse, keptCondition(state)), uplinks: own };
}
