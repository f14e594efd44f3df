// Outputs journey: every durable sample goes to the outputs of its data flow (contract 10).
import type { FlowRoute } from '../../inventory/devices/flow-route-cache.ts';
import type { UplinkRoute } from '../../inventory/devices/uplink-route-cache.ts';
import { type DeliveryDraft, sequenceAt } from '../../model/delivery.ts';
import type { EpochMs } from '../../model/instant.ts';
import { type DurableEntry, type DurableRows, sampleCountOf } from '../../model/journal-entry.ts';
import { Problem, UnreadableRecord } from '../../model/problem.ts';
import type { ProcessingLogEntry } from '../../model/entry-trace.ts';
import type { StoredSample } from '../../model/sample.ts';
import { templateContextOf } from '../../model/template-context.ts';
import { countedRows } from '../../uplinks/bulk/device-rows.ts';
import { missing } from '../../structures/missing.ts';
import type { RecordsDb } from '../../storage/records/records.ts';
import { processingLogRows } from '../../storage/records/rows/payload-notes.ts';
import type { Telemetry } from '../../telemetry/events.ts';

/** Deliveries in one batch. */
const draftsMax = 200;
/** Of a context in the memory without what the device sent. */
const contextBytes = 2_048;

export interface OutputStages {
  /** The outputs of the device's data flow; undefined when they must be looked up. */
  readonly outputsOf: (deviceId: string) => FlowRoute['outputs'] | undefined;
  /** Throws Problem 404 for an unknown device. */
  readonly findRoute: (deviceId: string) => UplinkRoute | Promise<UplinkRoute>;
  /** Resolves when the deliveries wait for their turn. */
  readonly enqueue: (drafts: readonly DeliveryDraft[]) => Promise<void>;
  /** Resolves when the notes of entries whose device or data flow cannot be read are durable. */
  readonly unreadable: (notes: readonly ProcessingLogEntry[]) => Promise<void>;
  /**
   * Called once per entry with samples whose deliveries failed with an error. They get a note, and
   * the others continue.
   */
  readonly failed: (error: Error) => void;
  /** Resolves after other work has run between two batches. */
  readonly pause: () => Promise<unknown>;
  readonly now: () => EpochMs;
}

/**
 * Rows without their samples when their data flow, which they were stored by a moment ago, only
 * stores: then `queueOutputs` skips them.
 */
export function rowsForOutputs(
  rows: DurableRows,
  outputsOfFlow: (dataFlowId: string) => FlowRoute['outputs'] | undefined,
): DurableRows {
  const { dataFlowId } = rows.summary;
  const outputs = dataFlowId === null ? undefined : outputsOfFlow(dataFlowId);
  return outputs?.some(isDelivered) === false ? countedRows(rows, 0) : rows;
}

/** Resolves when the deliveries of the entries' samples wait for their turn. */
export async function queueOutputs(
  entries: readonly DurableEntry[],
  on: OutputStages,
): Promise<void> {
  let drafts: DeliveryDraft[] = [];
  const notes: ProcessingLogEntry[] = [];
  for (const entry of entries) {
    if (sampleCountOf(entry) === 0 || entry.replaces !== undefined) continue;
    // Most flows only store: their devices are not looked up.
    if (on.outputsOf(entry.deviceId)?.some(isDelivered) === false) continue;
    const found = routeOf(entry, on, notes);
    const route = found instanceof Promise ? await found : found;
    if (route === undefined || !route.outputs.some(isDelivered)) continue;
    const draftsFailed = (error: unknown): void => {
      const { deviceId, position } = entry;
      on.failed(
        new Error(`Deliveries of device ${deviceId}, entry ${position}, could not be created`, {
          cause: error,
        }),
      );
      const message =
        'Samples were not sent to outputs because of an internal error; see the platform log';
      notes.push(noteOf(entry, 'failed', message, on.now()));
    };
    for (const draft of draftsOf(entry, route, on.now(), draftsFailed)) {
      drafts.push(draft);
      if (drafts.length < draftsMax) continue;
      await on.enqueue(drafts);
      drafts = [];
      await on.pause();
    }
  }
  if (notes.length > 0) await on.unreadable(notes);
  if (drafts.length > 0) await on.enqueue(drafts);
}

/** Undefined for a deleted device, and for one that cannot be read, which gets a note. */
function routeOf(
  entry: DurableEntry,
  on: OutputStages,
  notes: ProcessingLogEntry[],
): UplinkRoute | undefined | Promise<UplinkRoute | undefined> {
  const refused = (error: unknown): undefined => {
    if (error instanceof Problem && error.status === 404) return;
    if (!(error instanceof UnreadableRecord)) throw error;
    notes.push(
      noteOf(entry, 'unreadable', `Samples were not sent to outputs: ${error.message}`, on.now()),
    );
  };
  try {
    const found = on.findRoute(entry.deviceId);
    // Most devices are in memory: no turn is waited for them.
    return found instanceof Promise ? found.catch(refused) : found;
  } catch (error) {
    return refused(error);
  }
}

/** The id is derived from the position, so that a repetition changes nothing. */
function noteOf(
  entry: DurableEntry,
  what: 'unreadable' | 'failed',
  message: string,
  timestamp: EpochMs,
): ProcessingLogEntry {
  const { deviceId, position } = entry;
  const { correlationId } = entry.samples[0] ?? missing('first sample');
  const id = `outputs-${what}-${position}`;
  return { id, deviceId, timestamp, correlationId, level: 'ERROR', source: 'OUTPUT', message };
}

type Output = FlowRoute['outputs'][number];

/** Samples are stored with the journal, so the database connector needs no delivery. */
function isDelivered({ connector }: Output): boolean {
  return connector.type !== 'DATABASE';
}

/** Skips a sample that throws; `failed` is called for the first of the entry. */
function* draftsOf(
  entry: DurableEntry,
  route: UplinkRoute,
  producedAt: EpochMs,
  failed: (error: unknown) => void,
): Generator<DeliveryDraft> {
  let isTold = false;
  for (const [index, sample] of entry.samples.entries()) {
    let drafts: readonly DeliveryDraft[] = [];
    try {
      drafts = draftsOfSample(entry, sample, index, route, producedAt);
    } catch (error) {
      if (!isTold) failed(error);
      isTold = true;
    }
    yield* drafts;
  }
}

function draftsOfSample(
  entry: DurableEntry,
  sample: StoredSample,
  index: number,
  route: UplinkRoute,
  producedAt: EpochMs,
): DeliveryDraft[] {
  const { device } = route;
  const outputs = route.outputs.filter(
    (output) => isDelivered(output) && isFor(output, sample.topic),
  );
  if (outputs.length === 0) return [];
  const context = templateContextOf({ ...route, sample, entry, producedAt });
  const { ruleHops } = entry.trace ?? {};
  const sequence = sequenceAt(entry.position, index);
  const bytes = contextBytes + 2 * (entry.trace?.raw?.bodyBytes ?? entry.metrics?.uplinkSize ?? 0);
  // A connector that the flow names twice gets the sample once.
  const connectors = new Set(outputs.map(({ connector }) => connector));
  return [...connectors].map((connector) => ({
    idempotencyKey: `${sample.cursor} ${connector.id}`,
    connectorId: connector.id,
    organizationId: device.organizationId,
    workspaceId: device.workspaceId,
    deviceId: device.id,
    correlationId: sample.correlationId,
    cause: 'DATA_FLOW',
    context,
    sequence,
    bytes,
    ...(ruleHops !== undefined && { ruleHops }),
  }));
}

function isFor({ topic }: Output, sampleTopic: string): boolean {
  return topic === '*' || topic === sampleTopic;
}

// Output notes: uplinks whose outputs could not be queued are reported to the operator and to the device's owner.

/** `notes` contains at least one note. Resolves when they are durable. */
export async function noteUnreadable(
  notes: readonly ProcessingLogEntry[],
  db: RecordsDb,
  telemetry: Telemetry,
): Promise<void> {
  const summary = `${notes.length} uplinks, the first: ${notes[0]?.message}`;
  telemetry.backgroundFailed('queueing outputs', new Error(summary));
  for (const note of notes) telemetry.noted(note);
  await processingLogRows.append(db, notes);
}
