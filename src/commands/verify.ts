// The command that checks a data folder: claims it, reads all of it, changes nothing, and says what it found.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DataFolder, DataFolderError, hasSampleFiles } from '../storage/data-folder/data-folder.ts';
import { storedNodeId } from '../storage/data-folder/node-id.ts';
import {
  type DeliveryLogFindings,
  verifyDeliveryLog,
} from '../storage/delivery-log/found-segments.ts';
import type { StoreFindings } from '../storage/samples/verify-journal.ts';
import { positionBehindUplinks } from '../storage/raw-uplinks/embedded/stored-folder.ts';
import {
  type RawUplinkFindings,
  verifyRawUplinks,
} from '../storage/raw-uplinks/embedded/stored-folder.ts';
import type { RecordsFindings } from '../storage/records/records-check.ts';
import { recordsPlaceOf } from '../app/records.ts';
import { verifySamples } from '../app/samples.ts';
import type { Config } from '../config/config.ts';

export interface FolderFindings {
  readonly directory: string;
  readonly store: StoreFindings;
  readonly rawUplinks: RawUplinkFindings;
  readonly deliveries: DeliveryLogFindings;
  readonly records: RecordsFindings;
  /** Torn bytes at the journal's end were never acknowledged, so they are not damage. */
  readonly sound: boolean;
  readonly seconds: number;
}

/**
 * Finds what a start would refuse or tell, with the same checks, and more: it reads everything.
 * Throws DataFolderError when the folder cannot be
 * checked: missing, empty of data, or in use.
 */
export async function verifyDataFolder(
  config: Pick<Config, 'dataDirectory' | 'secretsKey' | 'recordsUrl' | 'samplesUrl'>,
): Promise<FolderFindings> {
  const { dataDirectory: directory, secretsKey, recordsUrl } = config;
  const place = recordsPlaceOf(config);
  const samples = join(directory, 'samples');
  // Claiming makes a folder that is missing, which a check must not.
  if (!existsSync(directory))
    throw new DataFolderError(`The data folder ${directory} does not exist`);
  const hasSamples = hasSampleFiles(directory);
  const hasRecords = recordsUrl !== undefined || existsSync(join(directory, 'records.sqlite'));
  if (!hasSamples && !hasRecords) {
    throw new DataFolderError(`No Heliograph data found in ${directory}`);
  }
  const folder = new DataFolder(directory);
  try {
    const startedAt = performance.now();
    const { refusal, positions } = await place.check({
      directory,
      secretsKey,
      hasSamples,
      node: await storedNodeId(directory),
    });
    const uplinksTo = await positionBehindUplinks(join(directory, 'uplinks'));
    const store = await verifySamples(config, samples, { ...positions, uplinksTo });
    const records = await place.verify(refusal);
    const rawUplinks = await verifyRawUplinks(join(directory, 'uplinks'));
    const deliveries = await verifyDeliveryLog(
      join(directory, 'deliveries'),
      positions.hasDeliveryLog,
    );
    const sound = [store, rawUplinks, deliveries, records].every(
      ({ damage }) => damage.length === 0,
    );
    return {
      directory,
      store,
      rawUplinks,
      deliveries,
      records,
      sound,
      seconds: (performance.now() - startedAt) / 1_000,
    };
  } catch (error) {
    // What cannot be read at all, such as a missing subfolder, has the operating system's own
    // words.
    if (error instanceof Error && 'syscall' in error) {
      throw new DataFolderError(`The data folder ${directory} cannot be read: ${error.message}`);
    }
    throw error;
  } finally {
    folder.release();
  }
}
