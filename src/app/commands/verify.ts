// The command that checks a data folder: claims it, reads all of it, changes nothing, and says what it found.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  DataFolder,
  DataFolderError,
  hasSampleFiles,
  storedNodeId,
} from '../../storage/data-folder/data-folder.ts';
import { type DeliveryLogFindings, verifyDeliveryLog } from '../../storage/delivery-log/segment.ts';
import type { StoreFindings } from '../../storage/samples/verify-journal.ts';
import {
  positionBehindUplinks,
  type RawUplinkFindings,
  verifyRawUplinks,
} from '../../storage/raw-uplinks/embedded/uplink-segment.ts';
import type { RecordsFindings } from '../../storage/records/records-check.ts';
import { recordsPlaceOf } from '../records.ts';
import { verifySamples } from '../samples.ts';
import type { Config } from '../config/config.ts';

interface FolderFindings {
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
export async function verifyDataFolder(config: Config): Promise<FolderFindings> {
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

// Verify report: what a check of a data folder has read, and each damaged place, as one block.

export function verifyText(findings: FolderFindings): string {
  const { store, rawUplinks, deliveries, records, directory, seconds } = findings;
  const lines: [string, string][] = [
    ['Segments', count(store.segments)],
    ['Chunks', count(store.chunks)],
    ['Samples in chunks', count(store.sealedSamples)],
    ['Hours', count(store.hours)],
    [
      'Journal frames',
      `${count(store.journalEntries)} with ${count(store.journalSamples)} samples, also of chunks`,
    ],
    ['Raw uplinks', count(rawUplinks.uplinks)],
    ['Delivery records', count(deliveries.records)],
    ['Records', records.damage.length === 0 ? 'sound' : 'damaged'],
  ];
  if (store.tornBytes > 0) {
    lines.push([
      'Torn end',
      `${count(store.tornBytes)} bytes, never acknowledged; truncated at the next start`,
    ]);
  }
  const width = Math.max(...lines.map(([name]) => name.length)) + 2;
  const body = lines.map(([name, value]) => `  ${name.padEnd(width)}${value}`).join('\n');
  return `\nChecked ${directory} in ${seconds.toFixed(1)} s\n\n${body}\n\n${verdict(findings)}\n`;
}

function verdict({ store, rawUplinks, deliveries, records }: FolderFindings): string {
  const damage = [
    ...store.damage.map(({ kind, path, reason }) => ({ kind, path, reason })),
    ...rawUplinks.damage.map(({ path, offset, bytes }) => ({
      kind: 'raw uplinks',
      path,
      reason: `${count(bytes)} bytes from ${count(offset)} on cannot be read`,
    })),
    ...deliveries.damage.map((place) => ({ kind: 'deliveries', ...place })),
    ...records.damage.map((reason) => ({ kind: 'records', path: records.path, reason })),
  ];
  if (damage.length === 0) return 'No corruption found.';
  const places = damage
    .map(({ kind, path, reason }) => `  ${kind} in ${path}\n    ${reason}\n`)
    .join('');
  const head =
    damage.length === 1 ? '1 corrupted region:' : `${count(damage.length)} corrupted regions:`;
  return `${head}\n\n${places}\nNothing was changed. Corrupted samples are skipped; everything else is available. Restore a backup to recover them.`;
}

function count(number: number): string {
  return number.toLocaleString('en-US');
}
