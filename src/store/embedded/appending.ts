// Taking an entry in: duplicates left out at once, the rest journalled, and after the fsync made visible, in that order.
import { type LeafValue, type ShapeInterner, type DataShape } from '../../journal/data-shape.ts';
import { cursorAt } from '../../journal/entry-decoding.ts';
import { type EntryRow, encodeEntry } from '../../journal/entry-encoding.ts';
import type { Journal } from '../../journal/journal.ts';
import type { DurableEntry, JournalEntry } from '../../model/journal-entry.ts';
import type { StoredSample } from '../../model/sample.ts';
import type { Catalogue } from './catalogue.ts';
import type { DecodedChunks } from './decoded-chunks.ts';
import { type Device, findDuplicate, isAmong, type PendingSamples, type Series, seriesOf } from './series.ts';

/** An entry without its duplicates. */
interface SiftedEntry {
  readonly rows: EntryRow[];
  readonly values: LeafValue[];
  readonly duplicates: number;
  /** Some duplicates are of samples that are not durable yet. */
  readonly waits: boolean;
}

export interface Appending {
  /** See the port. */
  readonly append: (entry: JournalEntry) => Promise<DurableEntry>;
  /** Forgets what waited: the journal lost it. */
  readonly forgetPending: () => void;
}

export interface AppendingParts {
  readonly journal: () => Journal;
  readonly shapes: ShapeInterner;
  readonly catalogue: Catalogue;
  readonly decoded: DecodedChunks;
  /** Called after the rows of an entry became visible. */
  readonly afterEntry: () => void;
}

export function appending(parts: AppendingParts): Appending {
  const { journal, shapes, catalogue, decoded } = parts;
  const seriesWithPending = new Set<Series>();

  async function append(entry: JournalEntry): Promise<DurableEntry> {
    const device = catalogue.deviceOf(entry.deviceId);
    const pending = new Map<Series, PendingSamples>();
    const sifted = siftEntry(entry, device, pending);
    const { rows, values, duplicates, waits } = sifted;
    if (rows.length === 0 && isBare(entry)) {
      if (waits) await journal().newest();
      return { ...entry, position: journal().position(), samples: [], duplicates };
    }
    const firstOrder = device.nextOrder;
    const bytes = encodeEntry({ entry, rows, values, duplicates, firstOrder });
    const { position, storedAt, durable } = journal().append(bytes);
    // Only now, with nothing left that may fail: whatever comes next is a duplicate of these.
    for (const [series, samples] of pending) series.pending.push(samples);
    for (const series of pending.keys()) seriesWithPending.add(series);
    device.nextOrder += rows.length;
    await durable;
    const samples = rows.map(
      ({ sample }, i): StoredSample => ({ ...sample, storedAt, cursor: cursorAt(position, i + 1) }),
    );
    addRows(device, sifted, firstOrder, position);
    catalogue.noteJournalled(bytes.length);
    release(pending);
    parts.afterEntry();
    return { ...entry, position, samples, duplicates };
  }

  /** Takes the samples apart that are not duplicates; `pending` gets them by series, so that repetitions within the entry are found. */
  function siftEntry(entry: JournalEntry, device: Device, pending: Map<Series, PendingSamples>): SiftedEntry {
    const rows: EntryRow[] = [];
    const values: LeafValue[] = [];
    let duplicates = 0;
    let waits = false;
    let shape: DataShape | undefined;
    for (const sample of entry.samples) {
      if (sample.stored) {
        const series = seriesOf(device, sample.topic);
        const own = pending.get(series);
        const duplicate =
          own !== undefined && isAmong(own, sample.timestamp, sample.data)
            ? 'own'
            : findDuplicate(series, sample.timestamp, sample.data, decoded);
        if (duplicate !== undefined) {
          duplicates++;
          waits ||= duplicate === 'pending';
          continue;
        }
        notePending(pending, series, sample);
      }
      const valuesAt = values.length;
      shape = shapes.shapeOf(sample.data, values, shape);
      rows.push({ sample, shape, valuesAt });
    }
    return { rows, values, duplicates, waits };
  }

  function addRows(device: Device, { rows, values }: SiftedEntry, firstOrder: number, position: number): void {
    for (let i = 0; i < rows.length; i++) {
      const { sample, shape, valuesAt } = rows[i]!;
      if (!sample.stored) continue;
      const origin = catalogue.origin(sample.workspaceId, sample.dataFlowId);
      const meta = sample.meta === undefined ? undefined : JSON.stringify(sample.meta);
      const row = { timestamp: sample.timestamp, order: firstOrder + i, shape, values, valuesAt, origin, meta };
      catalogue.addRow(seriesOf(device, sample.topic), row, position);
    }
  }

  function release(pending: ReadonlyMap<Series, PendingSamples>): void {
    for (const [series, samples] of pending) {
      series.pending = series.pending.filter((other) => other !== samples);
      if (series.pending.length === 0) seriesWithPending.delete(series);
    }
  }

  return {
    append,
    forgetPending: () => {
      for (const series of seriesWithPending) series.pending = [];
      seriesWithPending.clear();
    },
  };
}

function isBare(entry: JournalEntry): boolean {
  return entry.notes.length === 0 && entry.state === undefined && entry.metrics === undefined;
}

function notePending(
  pending: Map<Series, PendingSamples>,
  series: Series,
  sample: PendingSamples['samples'][number],
): void {
  let samples = pending.get(series);
  if (samples === undefined) {
    samples = { samples: [], oldest: sample.timestamp, newest: sample.timestamp };
    pending.set(series, samples);
  }
  samples.samples.push(sample);
  samples.oldest = Math.min(samples.oldest, sample.timestamp);
  samples.newest = Math.max(samples.newest, sample.timestamp);
}
