// Shipping state: how far the journal of the folder is in ClickHouse, kept in one small file.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { EpochMs } from '../../../model/instant.ts';
import { readChecked, replaceChecked } from '../../log/durable-file.ts';
import { int64, listOf, quoted, RowBinary } from '../../clickhouse/statement-values.ts';
import type { Shard } from '../../clickhouse/shard.ts';
import { columnNames } from '../../clickhouse/clickhouse.ts';
import { journalsTable } from './sample-tables.ts';
import { isInRange } from '../../../model/replacement.ts';
import type { LoggedEntry } from '../../log/logged-entry.ts';
import type { RemovalOfJournal } from '../remote-pending-samples.ts';
import type { OpenRow } from './open-rows.ts';

/** In the folder of the samples. */
export const shippingFile = 'shipping.json';

export interface ShippingState {
  /** Number of the journal among those that write to the tables. */
  readonly journal: number;
  /** Everything before this position is in ClickHouse. */
  readonly shipped: number;
  /** Every replica has everything before; `shipped` when it is missing. */
  readonly released?: number;
  /** See `Comparison.nextOrder`; of the entries before `shipped`. */
  readonly nextOrder: number;
  /** The end of the block that is being inserted: it must be cut there again. Null without one. */
  readonly blockTo: number | null;
  readonly hours: ShippedHours;
  /** Devices that were dropped, with the position before which their rows are deleted. */
  readonly dropped: readonly (readonly [deviceId: string, before: number])[];
  /** Ranges of devices of which ClickHouse still has rows. */
  readonly removed?: readonly (readonly [deviceId: string, removals: readonly Removal[]])[];
  /** Those whose rows are deleted, while the journal may have their entries and gives them again. */
  readonly gone?: readonly (readonly [deviceId: string, before: number])[];
}

interface ShippedHours {
  /** Hours contain everything before this position. */
  readonly to: number;
  /** Everything behind was stored at or after this time. */
  readonly storedFrom: EpochMs;
  /** The end of the block that is being inserted; null without one. */
  readonly blockTo: number | null;
}

export interface StateFile {
  /** As it is on disk, or being written. */
  readonly state: ShippingState;
  /** Resolves when the changes are on disk, and in the copy of the folder if there is one. */
  update(changes: Partial<ShippingState>): Promise<void>;
  /** False while changes are written, and after an update that has failed. */
  readonly isSaved: boolean;
}

/** Of a new folder. */
function newShippingState(journal: number): ShippingState {
  const hours = { to: 0, storedFrom: 0, blockTo: null };
  return { journal, shipped: 0, nextOrder: 0, blockTo: null, hours, dropped: [] };
}

/** Undefined for a folder that never shipped. */
export async function readState(path: string): Promise<ShippingState | 'damaged' | undefined> {
  const found = await readChecked(path);
  if (found === undefined || found === 'damaged') return found;
  return JSON.parse(found.text) as ShippingState;
}

/**
 * `takeNumber` gives the journal of a new folder its number. `replaced` is called with each state that was written, and
 * is waited for.
 */
export async function openStateFile(
  path: string,
  takeNumber: () => Promise<number>,
  replaced?: (contents: string) => Promise<void>,
): Promise<StateFile> {
  const found = await readState(path);
  if (found === 'damaged')
    throw new Error(
      `${path} is damaged: restore the data folder from its backup, together with ClickHouse`,
    );
  let state = found ?? newShippingState(await takeNumber());
  let writing: Promise<void> = Promise.resolve();
  let saved = state;
  if (found === undefined) await replaceChecked(path, JSON.stringify(state));
  return {
    get state() {
      return state;
    },
    get isSaved() {
      return saved === state;
    },
    async update(changes) {
      const next = { ...state, ...changes };
      state = next;
      const text = JSON.stringify(next);
      writing = writing
        .catch(() => undefined)
        .then(() => replaceChecked(path, text))
        .then((contents) => replaced?.(contents));
      await writing;
      saved = next;
    },
  };
}

// Journal number: given once to a data folder, by the ClickHouse that its rows go to.

const attemptsMax = 20;
const retryMsMax = 200;

/** The next free number. Of several folders that take one number at a time, at most one keeps it. */
export async function takeJournalNumber(shard: Shard, now: number): Promise<number> {
  const folder = randomUUID();
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const [last] = await shard.select<{ newest: number }>(
      'select max(journal) as newest from journals',
    );
    const journal = (last?.newest ?? 0) + 1;
    const row = new RowBinary();
    row.uint32(journal);
    row.string(folder);
    row.int64(now);
    row.endRow();
    await shard.insert({
      table: journalsTable.name,
      columns: columnNames(journalsTable),
      rows: row.bytes,
    });
    // Two folders that each see one holder would both have looked before the other wrote.
    const holders = await shard.select<{ folder: string }>(
      `select folder from journals where journal = ${journal}`,
    );
    if (holders.length === 1) return journal;
    await delay(Math.random() * retryMsMax);
  }
  throw new Error(`No journal number is free after ${attemptsMax} attempts`);
}

// Removals: ranges of samples that replacements removed and ClickHouse still has, as conditions for its rows and for open ones.

export type Removal = RemovalOfJournal;

/** By device. */
export type RemovalsByDevice = ReadonlyMap<string, readonly Removal[]>;

/** What the entry removes. */
export function removalsOf(
  { position, storedAt, replaces }: LoggedEntry,
  journal: number,
): readonly Removal[] {
  const end = { journal, position: replaces?.before?.position ?? position, storedAt };
  return (replaces?.ranges ?? []).map((range) => ({ ...range, ...end }));
}

export function isRemoved(removals: readonly Removal[], row: OpenRow, ofJournal: number): boolean {
  return removals.some(
    (removal) =>
      isInRange(removal, row.topic, row.timestamp) &&
      (ofJournal === removal.journal
        ? row.position < removal.position
        : row.storedAt <= removal.storedAt),
  );
}

/** A condition for the removed rows of a device, in the tables of samples and points. */
export function removedText(deviceId: string, removals: readonly Removal[]): string {
  const ranges = removals.map(({ topics, from, to, journal, position, storedAt }) => {
    const ofTopics = topics === null ? '' : ` and topic in ${listOf(topics)}`;
    return `(ts >= ${int64(from)} and ts < ${int64(to)}${ofTopics} and if(journal = ${journal}, position < ${position}, storedAt <= ${int64(storedAt)}))`;
  });
  return `(device = ${quoted(deviceId)} and (${ranges.join(' or ')}))`;
}
