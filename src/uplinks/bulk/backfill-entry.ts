// Backfill entry: the journal entry of the admitted samples of one device, with the notes on them.
import type { EpochMs } from '../../model/instant.ts';
import type { JournalEntry } from '../../model/journal-entry.ts';
import type { ProcessingLogEntry } from '../../model/entry-trace.ts';
import type { Sample } from '../../model/sample.ts';
import type { UplinkMetrics } from '../../model/uplink-metrics.ts';
import type { ValidatedSample } from '../validate/sample-validation.ts';

/** Notes of one request in the processing log of a device, which keeps no more. */
export const backfillNotesMax = 1_000;

/** Samples of a device, with their places in the request. */
interface PlacedSamples {
  readonly device: {
    readonly id: string;
    readonly origin: Pick<
      JournalEntry['samples'][number],
      'organizationId' | 'workspaceId' | 'dataFlowId'
    >;
    readonly storedTopics: '*' | ReadonlySet<string>;
    readonly onlineForMs?: number | undefined;
  };
  readonly indices: readonly number[];
}

interface EntryContext {
  readonly receivedAt: EpochMs;
  readonly progress: {
    readonly correlationId: string;
    /** Number of notes by device. */
    readonly notes: Map<string, number>;
  };
  readonly on: { readonly newId: () => string };
}

/** The entry of admitted samples; their notes are counted in `progress`. */
export function entryOf(
  admitted: readonly ValidatedSample<Sample>[],
  { device, indices }: PlacedSamples,
  context: EntryContext,
): JournalEntry {
  const { id: deviceId, origin, storedTopics } = device;
  const { correlationId } = context.progress;
  const samples: JournalEntry['samples'][number][] = [];
  const notes: ProcessingLogEntry[] = [];
  for (const [i, validated] of admitted.entries()) {
    const { topic, timestamp, data, meta } = validated.sample;
    const stored = storedTopics === '*' || storedTopics.has(topic);
    // All entries get the same shape, because the store reads them often.
    const entry = { deviceId, topic, timestamp, data, ...origin, correlationId, stored };
    samples.push(meta === undefined ? entry : { ...entry, meta });
    const index = indices[i];
    if (index !== undefined && validated.notes.length > 0)
      addNotes(notes, validated, index, { device, ...context });
  }
  const metrics = metricsOf(samples, device, context);
  const entry = { deviceId, receivedAt: context.receivedAt, samples, notes };
  return metrics === undefined ? entry : { ...entry, metrics };
}

/**
 * What the samples say of a device that sends them itself, as an uplink would. Undefined for others,
 * and when all of them are so old that the device is offline with them: they are its history.
 */
function metricsOf(
  samples: JournalEntry['samples'],
  { id: deviceId, onlineForMs }: PlacedSamples['device'],
  { receivedAt, progress }: EntryContext,
): UplinkMetrics | undefined {
  if (onlineForMs === undefined || samples.length === 0) return undefined;
  let newest = 0;
  for (const { timestamp } of samples) if (timestamp > newest) newest = timestamp;
  const timestamp = Math.min(newest, receivedAt);
  if (receivedAt - timestamp >= onlineForMs) return undefined;
  return { uplinkId: progress.correlationId, deviceId, uplinkSize: 0, timestamp };
}

function addNotes(
  to: ProcessingLogEntry[],
  { notes }: ValidatedSample<Sample>,
  index: number,
  { device, receivedAt, progress, on }: EntryContext & Pick<PlacedSamples, 'device'>,
): void {
  let count = progress.notes.get(device.id) ?? 0;
  for (const note of notes) {
    if (count >= backfillNotesMax) break;
    count++;
    to.push({
      id: on.newId(),
      deviceId: device.id,
      timestamp: receivedAt,
      correlationId: progress.correlationId,
      ...note,
      details: { ...note.details, index },
    });
  }
  progress.notes.set(device.id, count);
}
