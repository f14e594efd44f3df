// Check of the records and their key before they are opened: nothing is created where something is missing.
import { join } from 'node:path';
import { rowsOfNode } from './rows/shared-records.ts';
import { type RecordedPositions, recordedPositions } from './rows/positions.ts';
import { keptSecretsKey, Sealer } from './secret-encryption.ts';

/** The database as a check reads it, before it is migrated. Changes nothing. */
export interface RecordsProbe {
  /** The rows of a query that every engine understands. */
  rows(query: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  hasTable(name: string): Promise<boolean>;
  close(): Promise<void>;
}

interface RecordsState {
  /** The file or the server. */
  readonly path: string;
  /**
   * The sentence that refuses the start: what is wrong, and what to do; undefined when the records
   * may be opened.
   */
  readonly refusal: string | undefined;
  readonly positions: RecordedPositions;
}

interface RecordsCheck {
  readonly directory: string;
  /** The operator's `SECRETS_KEY`. */
  readonly secretsKey: string | undefined;
  /** Whether the folder holds samples or raw uplinks, whose devices only the records know. */
  readonly hasSamples: boolean;
  /** The node whose data folder it is, where several share the records. */
  readonly node?: string | undefined;
}

/** Where the records are, and how a check reads them. */
interface CheckedPlace {
  readonly path: string;
  /** How to get them back from a backup. */
  readonly fromBackup: string;
  /** What is there: `missing` means nothing, not even an empty database. */
  probe(): Promise<RecordsProbe | 'missing' | 'empty'>;
}

/** Why a start or a check refuses the records. */
export type CheckRecords = (check: RecordsCheck) => Promise<RecordsState>;

export const findingsMax = 100;

/** What reading the whole database found. */
export interface RecordsFindings {
  /** The file or the server. */
  readonly path: string;
  /** Sentences, at most `findingsMax`; empty when all is sound. */
  readonly damage: readonly string[];
}

/** Only databases of development versions from before release 0.2.0 have this table. */
export const unreleasedTable = 'schemaVersion';
export const unreleasedRefusal =
  'The records were written by a development version before release 0.2.0, which releases cannot read. Set DATA_DIR to an empty folder (and RECORDS_URL and SAMPLES_URL, if set, to empty databases), or start that version to export your data';

const nothingRecorded: RecordedPositions = {
  acknowledgedTo: 0,
  followFrom: 0,
  hasDeliveryLog: false,
};

/**
 * Looks at the records without changing them; new and still empty records are fine where there are
 * no samples.
 */
export async function checkRecordsAt(
  { path, fromBackup, probe }: CheckedPlace,
  { directory, secretsKey, hasSamples, node = '' }: RecordsCheck,
): Promise<RecordsState> {
  const refused = (refusal: string): RecordsState => ({
    path,
    refusal,
    positions: nothingRecorded,
  });
  const unfilled = (what: 'missing' | 'empty'): RecordsState => {
    if (!hasSamples) return { path, refusal: undefined, positions: nothingRecorded };
    return refused(
      `The data folder ${directory} contains samples, but the record database ${path} is ${what}. ${fromBackup}`,
    );
  };
  let open: RecordsProbe | undefined;
  try {
    const found = await probe();
    if (typeof found === 'string') return unfilled(found);
    open = found;
    if (await open.hasTable(unreleasedTable)) return refused(unreleasedRefusal);
    if (!(await isFilled(open))) return unfilled('empty');
    const refusal = await keyRefusal(open, directory, secretsKey);
    const saved = await open.rows('select "follower", "position" from "followerPositions"');
    const all = saved.map((row) => [String(row['follower']), Number(row['position'])] as const);
    const own = rowsOfNode(node, all);
    // Those of the same folder from when its platform was the only one.
    const positions = recordedPositions(own.length > 0 || !hasSamples ? own : rowsOfNode('', all));
    return { path, refusal, positions };
  } catch (error) {
    return refused(
      `The record database ${path} is corrupted (${(error as Error).message}). ${fromBackup}`,
    );
  } finally {
    await open?.close();
  }
}

/** Whether a first start has filled them: it makes the first user. */
async function isFilled(open: RecordsProbe): Promise<boolean> {
  return (
    (await open.hasTable('users')) && (await open.rows('select 1 from "users" limit 1')).length > 0
  );
}

async function keyRefusal(
  open: RecordsProbe,
  directory: string,
  given: string | undefined,
): Promise<string | undefined> {
  const key = keptSecretsKey(directory, given);
  const path = join(directory, 'secrets.key');
  const again = `restore ${path} from a backup, or set SECRETS_KEY to its previous value`;
  if (key === 'missing') return `The encryption key for stored secrets is missing: ${again}`;
  if (key === 'damaged') return `${path} contains no key: ${again}`;
  const [row] = await open.rows('select "word" from "keyCheck"');
  if (row === undefined || canOpen(new Sealer(key), String(row['word']))) return undefined;
  const source = given ? 'SECRETS_KEY is' : `${path} is`;
  return `${source} not the key that encrypted the stored secrets: ${given ? 'set SECRETS_KEY to its previous value, or unset it if it was not set before' : again}`;
}

function canOpen(sealer: Sealer, sealed: string): boolean {
  try {
    sealer.open(sealed);
    return true;
  } catch {
    return false;
  }
}
