// The command that moves records between the data folder and PostgreSQL, while no platform runs.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { recordsPlaceOf } from '../records.ts';
import { ConfigError } from '../config/config-values.ts';
import type { Config } from '../config/config.ts';
import { DataFolderError, storedNodeId } from '../../storage/data-folder/data-folder.ts';
import { openPostgresCopy } from '../../storage/records/postgres/postgres-copy.ts';
import {
  type CopiedRows,
  type CopyKeys,
  copyRecords,
  type CopyTarget,
  countRows,
  differingTables,
} from '../../storage/records/records-copy.ts';
import { keptSecretsKey } from '../../storage/records/secret-encryption.ts';
import { openSqliteCopy } from '../../storage/records/sqlite/sqlite-copy.ts';
import { onStoppedFolder } from './stopped-folder.ts';

type RecordsEngineName = 'postgresql' | 'sqlite';

export interface RecordsMigration {
  readonly to: RecordsEngineName;
  /** Only reads, and counts the rows. */
  readonly isDryRun: boolean;
  /** Whether records of the target may be lost. */
  readonly replaces: boolean;
}

export interface MigratedRecords {
  readonly from: string;
  readonly tables: readonly CopiedRows[];
  /** Tables whose rows are not the same afterwards. */
  readonly differing: readonly string[];
  readonly seconds: number;
}

type MigratedConfig = Pick<Config, 'dataDirectory' | 'secretsKey'> & {
  readonly recordsUrl: string;
};

/**
 * Throws ConfigError and DataFolderError with what to do. An interruption leaves the target as it
 * was, and the source is only brought to this version.
 */
export async function migrateRecords(
  config: Config,
  migration: RecordsMigration,
  copied: (rows: CopiedRows) => void,
): Promise<MigratedRecords> {
  const { dataDirectory, recordsUrl, secretsKey } = config;
  if (recordsUrl === undefined)
    throw new ConfigError(
      'RECORDS_URL is not set. Set it to a PostgreSQL URL such as postgres://user:password@host/heliograph.',
    );
  const moved = { dataDirectory, recordsUrl, secretsKey };
  return onStoppedFolder(config, () => migrateClaimed(moved, migration, copied));
}

async function migrateClaimed(
  config: MigratedConfig,
  { to, isDryRun, replaces }: RecordsMigration,
  copied: (rows: CopiedRows) => void,
): Promise<Omit<MigratedRecords, 'seconds'>> {
  const source = to === 'sqlite' ? 'postgresql' : 'sqlite';
  const keys = await keysOf(config, source);
  if (!isDryRun)
    for (const engine of [source, to] as const) await bringToThisVersion(config, engine);
  const from = await openCopy(config, source);
  try {
    const { path } = from;
    if (isDryRun) return { from: path, tables: await countRows(from), differing: [] };
    const target = await openCopy(config, to);
    try {
      if (!replaces && (await target.isFilled()))
        throw new DataFolderError(
          `${target.path} already contains records. Nothing was changed. Add --replace to overwrite them, or use an empty database.`,
        );
      const tables = await copyRecords(from, target, keys, copied);
      return { from: path, tables, differing: await differingTables(from, target, keys) };
    } finally {
      await target.close();
    }
  } finally {
    await from.close();
  }
}

const fileOf = ({ dataDirectory }: MigratedConfig): string => join(dataDirectory, 'records.sqlite');

function placeOf(config: MigratedConfig, engine: RecordsEngineName) {
  const { dataDirectory, recordsUrl } = config;
  return recordsPlaceOf({
    dataDirectory,
    recordsUrl: engine === 'postgresql' ? recordsUrl : undefined,
  });
}

/**
 * Secrets in a file are sealed with the key of the folder, unless SECRETS_KEY was set. Afterwards
 * it is SECRETS_KEY. Throws DataFolderError for records that a start would refuse.
 */
async function keysOf(config: MigratedConfig, source: RecordsEngineName): Promise<CopyKeys> {
  const { dataDirectory: directory, secretsKey } = config;
  if (source === 'sqlite' && !existsSync(fileOf(config)))
    throw new DataFolderError(`${fileOf(config)} does not exist; there is nothing to copy`);
  const node = await storedNodeId(directory);
  const refusals: string[] = [];
  const candidates = source === 'sqlite' ? [undefined, secretsKey] : [secretsKey];
  for (const candidate of candidates) {
    const key = keptSecretsKey(directory, candidate);
    if (typeof key === 'string') continue;
    const check = { directory, secretsKey: candidate, hasSamples: false, node };
    const { refusal } = await placeOf(config, source).check(check);
    if (refusal === undefined) return { from: key, to: keyOf(directory, secretsKey) };
    refusals.push(refusal);
  }
  throw new DataFolderError(
    refusals[0] ??
      'The encryption key for stored secrets is missing. Set SECRETS_KEY to its previous value.',
  );
}

function keyOf(directory: string, secretsKey: string | undefined): Buffer {
  const key = keptSecretsKey(directory, secretsKey);
  if (typeof key === 'string') throw new ConfigError('SECRETS_KEY is not set');
  return key;
}

/** Creates what is missing. */
async function bringToThisVersion(
  config: MigratedConfig,
  engine: RecordsEngineName,
): Promise<void> {
  const failures: Error[] = [];
  const opened = await placeOf(config, engine).engine({ stopped: (error) => failures.push(error) });
  await opened.close();
  const [failure] = failures;
  if (failure !== undefined) throw failure;
}

function openCopy(config: MigratedConfig, engine: RecordsEngineName): Promise<CopyTarget> {
  if (engine === 'postgresql') return openPostgresCopy({ url: config.recordsUrl });
  return Promise.resolve(openSqliteCopy(fileOf(config)));
}
