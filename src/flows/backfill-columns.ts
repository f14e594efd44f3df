// Backfill columns: unchanged samples of one device and form, stored without an object for each.
import type { SampleColumns } from '../ingest/http/sample-scanner.ts';
import { type EpochMs, isInstant } from '../model/instant.ts';
import { type DurableEntry, sampleCountOf } from '../model/journal-entry.ts';
import { defaultTopic } from '../model/sample.ts';
import type { BackfillDevice, BackfillProgress, BatchStages } from './backfill-batches.ts';

export interface ColumnStages extends Pick<BatchStages, 'validate' | 'admit' | 'announce'> {
  /** Undefined when some of the samples may be stored already. */
  readonly appendColumns: (
    entry: DeviceColumns,
  ) => Promise<{ readonly durable: Promise<DurableEntry> } | undefined>;
}

export interface DeviceColumns
  extends Pick<SampleColumns, 'timestamps' | 'columns' | 'texts' | 'example'> {
  readonly receivedAt: EpochMs;
  readonly head: BackfillDevice['origin'] & {
    readonly deviceId: string;
    readonly topic: string;
    readonly stored: boolean;
  };
}

/** A group of samples on its way to the disk. */
export interface StoredGroup {
  readonly done: Promise<void>;
}

interface ColumnsOfDevice {
  readonly samples: SampleColumns;
  readonly device: BackfillDevice;
  readonly receivedAt: EpochMs;
}

/**
 * Begins to store the samples. Undefined, and nothing is stored, when one of them must be handled
 * separately: it is not later than the one before or than all that is stored, or it would be changed
 * or noted.
 */
export async function storeColumns(
  { samples, device, receivedAt }: ColumnsOfDevice,
  progress: BackfillProgress,
  on: ColumnStages,
): Promise<StoredGroup | undefined> {
  const { timestamps, topic = defaultTopic, columns, texts, example } = samples;
  const last = timestamps.at(-1);
  if (last === undefined || !isAscending(timestamps)) return undefined;
  // What is valid of the latest is valid of all: they have the same keys and types.
  const sample = { deviceId: device.id, topic, timestamp: last, data: example };
  const validated = on.validate(sample);
  if (validated.sample !== sample || validated.notes.length > 0) return undefined;
  const [admitted] = await on.admit(device.id, [validated]);
  if (admitted !== validated) return undefined;
  const { storedTopics, origin, id: deviceId } = device;
  const stored = storedTopics === '*' || storedTopics.has(topic);
  if (!stored) return undefined;
  const head = { deviceId, topic, ...origin, stored };
  const placed = await on.appendColumns({
    receivedAt,
    head,
    timestamps,
    columns,
    texts,
    example,
  });
  return placed && { done: announced(placed.durable, progress, on) };
}

async function announced(
  entry: Promise<DurableEntry>,
  progress: BackfillProgress,
  { announce }: Pick<ColumnStages, 'announce'>,
): Promise<void> {
  const durable = await entry;
  announce(durable);
  progress.accepted += sampleCountOf(durable);
}

function isAscending(timestamps: Float64Array): boolean {
  const [first = Number.NaN] = timestamps;
  if (!isInstant(first) || !isInstant(timestamps.at(-1) ?? first)) return false;
  for (let i = 1; i < timestamps.length; i++)
    if (timestamps[i]! <= timestamps[i - 1]!) return false;
  return true;
}
