// Taking an entry in: duplicates left out at once, the rest journalled, and after the fsync made visible, in that order.
import type { DataShape, ShapeInterner } from '../../log/data-shape.ts';
import { cursorsAt } from '../../model/cursor.ts';
import { type EntryRows, encodeEntry } from '../../log/entry-encoding.ts';
import type { Journal } from '../../log/journal.ts';
import { LeafValues } from '../../log/leaf-values.ts';
import type { DurableEntry, JournalEntry } from '../../model/journal-entry.ts';
import type { StoredSample } from '../../model/sample.ts';
import type { Catalogue } from './rows/series-registry.ts';
import type { DecodedChunks } from './chunks/decoded-chunks.ts';
import { PendingSamples } from './rows/pending-samples.ts';
import { type Device, findDuplicate, type Series, seriesOf } from './rows/series.ts';

/** An entry without its duplicates. */
interface SiftedEntry {
  readonly rows: EntryRows;
  readonly duplicates: number;
  /** Some duplicates are of samples that are not durable yet. */
  readonly waits: boolean;
  /** What this entry will add to each series. */
  readonly pending: ReadonlyMap<Series, PendingSamples>;
}

export interface Appending {
  /** See the port. */
  readonly append: (entry: JournalEntry) => Promise<DurableEntry>;
  /** Forgets what waited: the journal lost it. */
  readonly forgetPending: () => void;
  /** The position behind the newest entry whose rows are visible: durable entries are, some microtasks later. */
  readonly visiblePosition: () => number;
}

export interface AppendingParts {
  readonly journal: Journal;
  readonly shapes: ShapeInterner;
  readonly catalogue: Catalogue;
  readonly decoded: DecodedChunks;
  /** Called after the rows of an entry became visible. */
  readonly afterEntry: () => void;
}

export function appending(parts: AppendingParts): Appending {
  const { journal, shapes, catalogue, decoded } = parts;
  const seriesWithPending = new Set<Series>();
  let visiblePosition = journal.position();

  async function append(entry: JournalEntry): Promise<DurableEntry> {
    const device = catalogue.deviceOf(entry.deviceId);
    const sifted = sift(entry, device);
    const { rows, duplicates } = sifted;
    if (rows.samples.length === 0 && isBare(entry)) {
      if (sifted.waits) await journal.newest();
      return { ...entry, position: journal.position(), samples: [], duplicates };
    }
    const firstOrder = device.nextOrder;
    const bytes = encodeEntry({ entry, rows, duplicates, firstOrder });
    const { position, storedAt, durable } = journal.append(bytes);
    // Only now, with nothing left that may fail: whatever comes next is a duplicate of these.
    for (const [series, samples] of sifted.pending) {
      series.pending.push(samples);
      seriesWithPending.add(series);
    }
    device.nextOrder += rows.samples.length;
    await durable;
    addRows(device, rows, firstOrder, position);
    catalogue.noteJournalled(bytes.length);
    visiblePosition = position + 1;
    release(sifted.pending);
    parts.afterEntry();
    const cursorOf = cursorsAt(position);
    const samples = rows.samples.map(
      (sample, i): StoredSample => ({ ...sample, storedAt, cursor: cursorOf(i + 1) }),
    );
    return { ...entry, position, samples, duplicates };
  }

  function sift(entry: JournalEntry, device: Device): SiftedEntry {
    const rows = {
      samples: [] as JournalEntry['samples'][number][],
      shapes: [] as DataShape[],
      values: new LeafValues(),
    };
    const pending = new Map<Series, PendingSamples>();
    let duplicates = 0;
    let waits = false;
    let shape: DataShape | undefined;
    for (const sample of entry.samples) {
      if (sample.stored) {
        const series = seriesOf(device, sample.topic);
        const own = pending.get(series) ?? new PendingSamples();
        pending.set(series, own);
        const duplicate = own.has(sample.timestamp, sample.data)
          ? 'own'
          : findDuplicate(series, sample.timestamp, sample.data, decoded);
        if (duplicate !== undefined) {
          duplicates++;
          waits ||= duplicate === 'pending';
          continue;
        }
        own.add(sample);
      }
      shape = shapes.shapeOf(sample.data, rows.values, shape);
      rows.samples.push(sample);
      rows.shapes.push(shape);
    }
    return { rows, duplicates, waits, pending };
  }

  function addRows(
    device: Device,
    { samples, shapes: rowShapes, values }: EntryRows,
    firstOrder: number,
    position: number,
  ): void {
    let valuesAt = 0;
    for (let i = 0; i < samples.length; i++) {
      const { stored, timestamp, topic, workspaceId, dataFlowId, data, meta: object } = samples[i]!;
      const shape = rowShapes[i]!;
      if (stored) {
        const origin = catalogue.origin(workspaceId, dataFlowId);
        const meta = object === undefined ? undefined : JSON.stringify(object);
        const row = { timestamp, order: firstOrder + i, shape, values, valuesAt, origin, meta };
        const series = seriesOf(device, topic);
        catalogue.addRow(series, row, position);
        if (series.crowd?.timestamp === timestamp) series.crowd.data.add(data);
      }
      valuesAt += shape.leaves.length;
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
    visiblePosition: () => visiblePosition,
    forgetPending: () => {
      for (const series of seriesWithPending) series.pending = [];
      seriesWithPending.clear();
    },
  };
}

function isBare(entry: JournalEntry): boolean {
  const { notes, state, metrics, trace } = entry;
  return notes.length === 0 && state === undefined && metrics === undefined && trace === undefined;
}
