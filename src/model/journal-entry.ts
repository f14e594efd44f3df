// Journal entry: all changes of one uplink or backfill request, which become durable as a whole; and cursors in it.
import type { EntryTrace, ProcessingLogEntry } from './entry-trace.ts';
import type { EpochMs } from './instant.ts';
import type { JsonObject } from './json.ts';
import type { Replacement } from './sample-changes.ts';
import type { SampleEntry, StoredSample } from './sample.ts';
import type { UplinkMetrics } from './uplink-metrics.ts';

export interface JournalEntry {
  readonly deviceId: string;
  readonly receivedAt: EpochMs;
  readonly samples: readonly Omit<SampleEntry, 'storedAt'>[];
  readonly notes: readonly ProcessingLogEntry[];
  /** The decoder's new state, when it emitted one; the last one wins. */
  readonly state?: JsonObject;
  /** Absent for backfills, which are not uplinks. */
  readonly metrics?: UplinkMetrics;
  readonly trace?: EntryTrace;
  /** Samples of the device that the entry removes. */
  readonly replaces?: Replacement;
}

/** An entry after its fsync. `samples` holds only those that were not stored already. */
export interface DurableEntry extends Omit<JournalEntry, 'samples'> {
  /** Place in the journal; grows with every entry, survives restarts. */
  readonly position: number;
  readonly samples: readonly StoredSample[];
  /** How many samples of the entry were identical to stored ones and skipped. */
  readonly duplicates: number;
  /** What `samples` are, for entries that make them when they are first read. */
  readonly summary?: SamplesSummary;
}

/**
 * Durable entries of one request that have one sample each and nothing else. Their positions follow
 * each other. An entry is created when it is asked for.
 */
export interface DurableRows {
  /** Of the first entry. */
  readonly position: number;
  readonly length: number;
  readonly receivedAt: EpochMs;
  /** Of all of them together. */
  readonly summary: SamplesSummary;
  /** The entry at a place from 0 on. */
  entryAt(place: number): DurableEntry;
}

/** What is announced in one call. */
export type DurableItem = DurableEntry | DurableRows;

export function isRows(item: DurableItem): item is DurableRows {
  return 'entryAt' in item;
}

/** Samples of one device, or of rows. */
export interface SamplesSummary {
  readonly count: number;
  readonly workspaceId: string;
  readonly dataFlowId: string | null;
  readonly oldest: EpochMs;
}

/** Undefined for an entry without samples. */
export function summaryOf(entry: DurableEntry): SamplesSummary | undefined {
  // Reading the samples may make them.
  if (entry.summary !== undefined) return entry.summary;
  const { samples, receivedAt } = entry;
  const [first] = samples;
  if (first === undefined) return undefined;
  const { workspaceId, dataFlowId } = first;
  return { count: samples.length, workspaceId, dataFlowId, oldest: receivedAt };
}

/** Without making the samples. */
export function sampleCountOf(entry: JournalEntry | DurableEntry): number {
  return ('summary' in entry ? entry.summary?.count : undefined) ?? entry.samples.length;
}

/**
 * Whether the journal has the entry, or is to have it. An entry of which nothing was left carries
 * the position of the one that comes next.
 */
export function isWritten(entry: JournalEntry | DurableEntry): boolean {
  const { notes, state, metrics, trace, replaces } = entry;
  return (
    sampleCountOf(entry) > 0 ||
    notes.length > 0 ||
    state !== undefined ||
    metrics !== undefined ||
    trace !== undefined ||
    replaces !== undefined
  );
}

// Request parts: the journal entries of a request with an Idempotency-Key, found after a crash by duplicate key.

/** What the journal tells of a part of a request. */
export interface DurablePart {
  readonly receivedAt: EpochMs;
  /**
   * Of the uplink, or of the samples; null for an entry of which every sample was stored before.
   */
  readonly correlationId: string | null;
  /** Samples that were new. */
  readonly samples: number;
  /** Of these, the samples that queries see. */
  readonly stored?: number;
}

export interface StoredPart extends DurablePart {
  readonly part: string;
  /** Of a part whose content the key's record does not know; else empty. */
  readonly contentHash: string;
}

/** Names a part of the request whose key is kept under the id. */
interface PartName {
  readonly id: string;
  readonly part: string;
  readonly contentHash: string;
}

const prefix = 'key';

/** The form of a duplicate key that a part of a request has; no word of it holds a blank. */
export const durablePart = {
  toDuplicateKey: ({ id, part, contentHash }: PartName): string =>
    [prefix, id, part, contentHash].join(' '),
  /** Undefined for the duplicate key of a transport. */
  fromDuplicateKey(key: string): PartName | undefined {
    const [first, id, part, contentHash, ...rest] = key.split(' ');
    if (
      first !== prefix ||
      id === undefined ||
      part === undefined ||
      contentHash === undefined ||
      rest.length > 0
    ) {
      return undefined;
    }
    return { id, part, contentHash };
  },
};

// Cursors: the position of a sample in the order of storage, as a string that sorts in the same order.

const positionDigits = 14;
const indexDigits = 6;

/** Position of the sample's entry, then its number in it from 1. */
export function cursorAt(position: number, index: number): string {
  return prefixOf(position) + indexDigitsOf(index);
}

/**
 * The cursors of one entry: what they share is made once, and the usual numbers are not made at
 * all.
 */
export function cursorsAt(position: number): (index: number) => string {
  const prefix = prefixOf(position);
  return (index) => prefix + indexDigitsOf(index);
}

function indexDigitsOf(index: number): string {
  return indexTexts[index] ?? String(index).padStart(indexDigits, '0');
}

let thousands = Number.NaN;
let thousandsDigits = '';

/** Consecutive positions usually share all but the last three digits. */
function prefixOf(position: number): string {
  const above = Math.floor(position / 1_000);
  if (above !== thousands) {
    thousands = above;
    thousandsDigits = String(above).padStart(positionDigits - 3, '0');
  }
  return thousandsDigits + (lastDigits[position % 1_000] ?? '');
}

const lastDigits = Array.from({ length: 1_000 }, (_, rest) => String(rest).padStart(3, '0'));

const indexTexts = Array.from({ length: 1_001 }, (_, index) =>
  String(index).padStart(indexDigits, '0'),
);

/** The parts of a cursor; undefined for an invalid cursor. */
export function readCursor(cursor: string): { position: number; index: number } | undefined {
  if (!/^\d+$/.test(cursor) || cursor.length !== positionDigits + indexDigits) return undefined;
  return {
    position: Number(cursor.slice(0, positionDigits)),
    index: Number(cursor.slice(positionDigits)),
  };
}
