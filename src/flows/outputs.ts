// The outputs journey: every sample that became durable, from wherever, goes to the outputs of its data flow (contract 10).
import type { FlowRoute, UplinkRoute } from '../inventory/uplink-directory.ts';
import type { DeliveryDraft } from '../model/delivery.ts';
import type { EpochMs } from '../model/instant.ts';
import type { DurableEntry } from '../model/journal-entry.ts';
import { Problem } from '../model/problem.ts';
import type { ProcessingLogEntry } from '../model/processing-note.ts';
import { templateContextOf } from '../model/template-context.ts';
import { UnreadableRecord } from '../model/unreadable-record.ts';

/** Deliveries that are made together. */
const draftsMax = 200;

export interface OutputStages {
  /** Throws Problem 404 for an unknown device. */
  readonly findRoute: (deviceId: string) => UplinkRoute | Promise<UplinkRoute>;
  /** Resolves when the deliveries are in the log; `isLast` when they, and all before them, must be on the disk. */
  readonly enqueue: (drafts: readonly DeliveryDraft[], isLast: boolean) => Promise<void>;
  /** Writes the notes of entries whose device or data flow cannot be read; the others go on. Resolves when they are durable. */
  readonly unreadable: (notes: readonly ProcessingLogEntry[]) => Promise<void>;
  /** Lets others in between two batches. */
  readonly pause: () => Promise<unknown>;
  readonly now: () => EpochMs;
}

/** Makes the deliveries of the entries' samples; resolves when they are durable. Repetition makes none twice. */
export async function queueOutputs(entries: readonly DurableEntry[], on: OutputStages): Promise<void> {
  let drafts: DeliveryDraft[] = [];
  let isAny = false;
  const notes: ProcessingLogEntry[] = [];
  for (const entry of entries) {
    if (entry.samples.length === 0) continue;
    const route = await routeOf(entry, on, notes);
    if (route === undefined || !route.outputs.some(isDelivered)) continue;
    for (const draft of draftsOf(entry, route, on.now())) {
      drafts.push(draft);
      if (drafts.length < draftsMax) continue;
      await on.enqueue(drafts, false);
      isAny = true;
      drafts = [];
      await on.pause();
    }
  }
  if (notes.length > 0) await on.unreadable(notes);
  if (isAny || drafts.length > 0) await on.enqueue(drafts, true);
}

/** Undefined for a device that was deleted meanwhile, and for one that cannot be read, which is noted. */
async function routeOf(
  entry: DurableEntry,
  on: OutputStages,
  notes: ProcessingLogEntry[],
): Promise<UplinkRoute | undefined> {
  const { deviceId, position, samples } = entry;
  try {
    return await on.findRoute(deviceId);
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return undefined;
    if (!(error instanceof UnreadableRecord)) throw error;
    notes.push({
      id: `outputs-unreadable-${position}`,
      deviceId,
      timestamp: on.now(),
      correlationId: samples[0]!.correlationId,
      level: 'ERROR',
      source: 'OUTPUT',
      message: `Samples were not sent to outputs: ${error.message}`,
    });
    return undefined;
  }
}

type Output = FlowRoute['outputs'][number];

/** Samples are stored with the journal, so the database connector needs no delivery. */
function isDelivered({ connector }: Output): boolean {
  return connector.type !== 'DATABASE';
}

function* draftsOf(entry: DurableEntry, route: UplinkRoute, producedAt: EpochMs): Generator<DeliveryDraft> {
  const { device } = route;
  for (const sample of entry.samples) {
    const outputs = route.outputs.filter((output) => isDelivered(output) && isFor(output, sample.topic));
    if (outputs.length === 0) continue;
    const context = templateContextOf({ ...route, sample, entry, producedAt });
    // A connector that the flow names twice gets the sample once: both drafts have one key.
    for (const { connector } of outputs) {
      yield {
        idempotencyKey: `${sample.cursor} ${connector.id}`,
        connectorId: connector.id,
        organizationId: device.organizationId,
        workspaceId: device.workspaceId,
        deviceId: device.id,
        correlationId: sample.correlationId,
        cause: 'DATA_FLOW',
        context,
        ...(entry.trace?.ruleHops === undefined ? {} : { ruleHops: entry.trace.ruleHops }),
      };
    }
  }
}

function isFor({ topic }: Output, sampleTopic: string): boolean {
  return topic === '*' || topic === sampleTopic;
}
