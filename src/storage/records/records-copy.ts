// Records copy: all rows of one database replace those of another, in one transaction, and are compared afterwards.
import { createHash } from 'node:crypto';
import { DataFolderError } from '../data-folder/data-folder.ts';
import { Sealer } from './secret-encryption.ts';

export type CopiedValue = string | number | null | Uint8Array;

export interface CopiedTable {
  readonly name: string;
  /** In any order; without those that only one engine has. */
  readonly columns: readonly string[];
}

/** The next row of the table gets a number above this one. */
export interface CopiedSequence {
  readonly table: string;
  readonly column: string;
  readonly last: number;
}

/** A database that no platform has open, at the version of this program. */
interface CopySource {
  /** For messages. */
  readonly path: string;
  tables(): Promise<readonly CopiedTable[]>;
  /** Values in the order of the columns, in batches. */
  rows(table: CopiedTable): AsyncIterable<readonly (readonly CopiedValue[])[]>;
  sequences(): Promise<readonly CopiedSequence[]>;
  close(): Promise<void>;
}

export interface CopyFilling {
  add(table: CopiedTable, rows: readonly (readonly CopiedValue[])[]): Promise<void>;
  setSequence(sequence: CopiedSequence): Promise<void>;
}

export interface CopyTarget extends CopySource {
  /** Whether a platform has used it. */
  isFilled(): Promise<boolean>;
  /**
   * Empties the tables and fills them, without triggers, in one transaction: after an interruption
   * the database is as it was. References are checked before it commits.
   */
  replace(tables: readonly CopiedTable[], fill: (to: CopyFilling) => Promise<void>): Promise<void>;
}

/** Keys that secrets are sealed with before and after. */
export interface CopyKeys {
  readonly from: Buffer;
  readonly to: Buffer;
}

export interface CopiedRows {
  readonly table: string;
  readonly rows: number;
}

/** Tables in the order of their names. Throws DataFolderError when a table or column is missing. */
async function tablesToCopy(from: CopySource, to: CopySource): Promise<readonly CopiedTable[]> {
  const [ours, theirs] = await Promise.all([from.tables(), to.tables()]);
  const known = new Map(theirs.map((table) => [table.name, table]));
  // Tables that one engine only has are about nodes, which start empty.
  const shared = ours.filter(({ name }) => known.has(name) || !nodeTables.has(name));
  for (const { name, columns } of shared) {
    const there = new Set(known.get(name)?.columns);
    const missing = columns.filter((column) => !there.has(column));
    if (missing.length > 0)
      throw new DataFolderError(
        `The table ${name} of ${from.path} has columns that ${to.path} does not have (${missing.join(', ')}): run this command with the version of the program that wrote the records`,
      );
  }
  return shared.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Which only PostgreSQL has. */
const nodeTables: ReadonlySet<string> = new Set([
  'journalCopies',
  'leases',
  'movedDevices',
  'nodes',
  'recordChanges',
]);

export async function countRows(of: CopySource): Promise<readonly CopiedRows[]> {
  const counts: CopiedRows[] = [];
  for (const table of await of.tables()) {
    let rows = 0;
    for await (const batch of of.rows(table)) rows += batch.length;
    counts.push({ table: table.name, rows });
  }
  return counts;
}

/** Secrets are sealed with the key of the target. `copied` is called after each table. */
export async function copyRecords(
  from: CopySource,
  to: CopyTarget,
  keys: CopyKeys,
  copied: (rows: CopiedRows) => void,
): Promise<readonly CopiedRows[]> {
  const tables = await tablesToCopy(from, to);
  const reseal = resealing(keys);
  const done: CopiedRows[] = [];
  await to.replace(tables, async (filling) => {
    for (const table of tables) {
      let rows = 0;
      for await (const batch of from.rows(table)) {
        await filling.add(
          table,
          batch.map((row) => row.map((value) => reseal(value))),
        );
        rows += batch.length;
      }
      done.push({ table: table.name, rows });
      copied({ table: table.name, rows });
    }
    const names = new Set(tables.map(({ name }) => name));
    for (const sequence of await from.sequences())
      if (names.has(sequence.table)) await filling.setSequence(sequence);
  });
  return done;
}

/**
 * Names of tables whose rows differ: by their count, or by the sum of the MD5 of all rows, where
 * secrets count as what was sealed.
 */
export async function differingTables(
  from: CopySource,
  to: CopySource,
  keys: CopyKeys,
): Promise<readonly string[]> {
  const differing: string[] = [];
  for (const table of await tablesToCopy(from, to)) {
    const [ours, theirs] = [
      await checksumOf(from, table, new Sealer(keys.from)),
      await checksumOf(to, table, new Sealer(keys.to)),
    ];
    if (ours !== theirs) differing.push(table.name);
  }
  return differing;
}

/** The same for the same rows in any order. */
async function checksumOf(of: CopySource, table: CopiedTable, sealer: Sealer): Promise<string> {
  let count = 0;
  let sum = 0n;
  for await (const batch of of.rows(table))
    for (const row of batch) {
      const digest = createHash('md5');
      for (const value of row) digest.update(lineOf(value, sealer));
      count += 1;
      sum = BigInt.asUintN(128, sum + BigInt(`0x${digest.digest('hex')}`));
    }
  return `${count} ${sum}`;
}

function lineOf(value: CopiedValue, sealer: Sealer): string {
  if (typeof value === 'string')
    return `${JSON.stringify(withSealed(value, (sealed) => sealer.open(sealed)))}\n`;
  if (value instanceof Uint8Array) return `x${Buffer.from(value).toString('hex')}\n`;
  return `${value}\n`;
}

/** What `Sealer.seal` makes. */
const sealedPattern = /s1\.[A-Za-z0-9+/]{38,}={0,2}/g;

/** Sealed strings may be values of JSON. What the key does not open was never sealed. */
function withSealed(text: string, replaced: (sealed: string) => string): string {
  if (!text.includes('s1.')) return text;
  return text.replace(sealedPattern, (sealed) => {
    try {
      return replaced(sealed);
    } catch {
      return sealed;
    }
  });
}

function resealing({ from, to }: CopyKeys): (value: CopiedValue) => CopiedValue {
  if (from.equals(to)) return (value) => value;
  const [before, after] = [new Sealer(from), new Sealer(to)];
  return (value) =>
    typeof value === 'string'
      ? withSealed(value, (sealed) => after.seal(before.open(sealed)))
      : value;
}
