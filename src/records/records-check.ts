// Checking the records and their key before they are opened, at every start and by `verify`: nothing is made where something is missing.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Kysely } from 'kysely';
import { type RecordedPositions, recordedPositions } from './rows/recorded-positions.ts';
import type { RecordTables } from './schema.ts';
import { keptSecretsKey, type Sealer, sealerOf } from './secret-encryption.ts';

const checkWord = 'heliograph';

export interface RecordsState {
  readonly path: string;
  /**
   * The sentence that refuses the start: what is wrong, and what to do; undefined when the records
   * may be opened.
   */
  readonly refusal: string | undefined;
  readonly positions: RecordedPositions;
}

export interface RecordsCheck {
  readonly directory: string;
  /** The operator's `SECRETS_KEY`. */
  readonly secretsKey: string | undefined;
  /** Whether the folder holds samples or raw uplinks, whose devices only the records know. */
  readonly hasSamples: boolean;
}

const nothingRecorded: RecordedPositions = {
  acknowledgedTo: 0,
  followFrom: 0,
  hasDeliveryLog: false,
};

/**
 * Looks at the records of the folder without changing them; new and still empty records are fine
 * where there are no samples.
 */
export function checkRecords({ directory, secretsKey, hasSamples }: RecordsCheck): RecordsState {
  const path = join(directory, 'records.sqlite');
  const refused = (refusal: string): RecordsState => ({
    path,
    refusal,
    positions: nothingRecorded,
  });
  const isThere = existsSync(path) && statSync(path).size > 0;
  const fromBackup = `put records.sqlite and secrets.key back from one backup, or set DATA_DIR to an empty folder`;
  const missing = `The data folder ${directory} holds samples, but its records, ${path}, are ${isThere || existsSync(path) ? 'empty' : 'missing'}: ${fromBackup}`;
  if (!isThere)
    return hasSamples ? refused(missing) : { path, refusal: undefined, positions: nothingRecorded };
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true });
    if (!isFilled(database))
      return hasSamples
        ? refused(missing)
        : { path, refusal: undefined, positions: nothingRecorded };
    const refusal = keyRefusal(database, directory, secretsKey);
    const saved = database.prepare('select follower, position from followerPositions').all();
    const positions = recordedPositions(
      saved.map((row) => [String(row['follower']), Number(row['position'])]),
    );
    return { path, refusal, positions };
  } catch (error) {
    return refused(`The records ${path} are damaged (${(error as Error).message}): ${fromBackup}`);
  } finally {
    database?.close();
  }
}

/** Whether a first start has filled them: it makes the first user. */
function isFilled(database: DatabaseSync): boolean {
  return (
    hasTable(database, 'users') &&
    database.prepare('select 1 from users limit 1').get() !== undefined
  );
}

function hasTable(database: DatabaseSync, name: string): boolean {
  return (
    database.prepare(`select 1 from sqlite_master where type = 'table' and name = ?`).get(name) !==
    undefined
  );
}

function keyRefusal(
  database: DatabaseSync,
  directory: string,
  given: string | undefined,
): string | undefined {
  const key = keptSecretsKey(directory, given);
  const path = join(directory, 'secrets.key');
  const again = `put ${path} back from the backup, or set SECRETS_KEY to what it was before`;
  if (key === 'missing') return `The key of the stored secrets is missing: ${again}`;
  if (key === 'damaged') return `${path} does not hold a key: ${again}`;
  const sealed = sealedSample(database);
  if (sealed === undefined || canOpen(sealerOf(key), sealed)) return undefined;
  const source = given ? 'SECRETS_KEY is' : `${path} is`;
  return `${source} not the key that the stored secrets were sealed with: ${given ? `set SECRETS_KEY to what it was before, or unset it if it was not set` : again}`;
}

/** The check word; in records of a version without one, any other sealed text. */
function sealedSample(database: DatabaseSync): string | undefined {
  for (const [table, column] of [
    ['keyCheck', 'word'],
    ['signingKeys', 'privateKey'],
    ['deviceConnectors', 'uplinkSecret'],
  ] as const) {
    if (!hasTable(database, table)) continue;
    const row = database
      .prepare(`select ${column} as sealed from ${table} where ${column} is not null limit 1`)
      .get();
    if (row !== undefined) return String(row['sealed']);
  }
  return undefined;
}

function canOpen(sealer: Sealer, sealed: string): boolean {
  try {
    sealer.open(sealed);
    return true;
  } catch {
    return false;
  }
}

/**
 * Keeps a word sealed with the key, so that another key is noticed. Records that were opened with
 * the right one get theirs now.
 */
export async function keepCheckWord(db: Kysely<RecordTables>, sealer: Sealer): Promise<void> {
  const kept = await db.selectFrom('keyCheck').select('word').limit(1).executeTakeFirst();
  if (kept === undefined)
    await db
      .insertInto('keyCheck')
      .values({ word: sealer.seal(checkWord) })
      .execute();
}
