// Device status: writes what uplinks say of their devices into the records: metrics, states, notes.
// The journal has it all durably, so records are written in batches; the position goes into the
// same transaction.
import type { EpochMs } from '../../model/instant.ts';
import type { JsonObject } from '../../model/json.ts';
import { type DurableEntry, type SamplesSummary, summaryOf } from '../../model/journal-entry.ts';
import type { ProcessingLogEntry } from '../../model/entry-trace.ts';
import { type DeviceMetrics, withLastKnown } from '../../model/uplink-metrics.ts';
import type { PeriodCount } from '../../storage/records/rows/period-counts.ts';
import { createBoundedMap } from '../../structures/bounded-map.ts';
import { countedRows } from '../bulk/device-rows.ts';
import type { JournalFollowerParts } from './journal-consumer.ts';
import { PeriodCounter } from './period-counter.ts';
import { StatelessDevices } from './stateless-devices.ts';

/** What one transaction writes. */
export interface StatusBatch {
  /** The follower's next position, once the batch is written. */
  readonly position: number;
  readonly metrics: ReadonlyMap<string, DeviceMetrics>;
  readonly states: ReadonlyMap<string, JsonObject>;
  readonly notes: readonly ProcessingLogEntry[];
  /** Samples by workspace and minute. */
  readonly counts: readonly PeriodCount[];
  /** When data flows brought their last samples. */
  readonly lastSamples: ReadonlyMap<string, EpochMs>;
}

export interface StatusRecords {
  /** Writes all of the batch or nothing. */
  readonly write: (batch: StatusBatch) => Promise<void>;
  readonly readState: (deviceId: string) => Promise<JsonObject | undefined>;
}

/**
 * Device states kept in memory besides those that are not written yet; as many as routes and plans.
 */
const statesKept = 100_000;

export interface DeviceStatus {
  /** The newest state that the device's decoder emitted; empty without one. */
  readonly stateOf: (deviceId: string) => Promise<JsonObject>;
  /** Whether it is known without a read that the decoder left no state. */
  readonly isStateless: (deviceId: string) => boolean;
  /**
   * Sets the state of an uplink that is not durable yet; undefined when it did not become durable.
   */
  readonly setState: (deviceId: string, state: JsonObject | undefined) => void;
  /** Reads the states of these devices from the records again, which another node may write. */
  readonly dropStates: (isDropped: (deviceId: string) => boolean) => void;
  /**
   * Call for every entry that became durable, in order, also for those that are read from the
   * journal at the start.
   */
  readonly announced: (entry: DurableEntry) => void;
  /** Writes the entries; see `JournalFollowerParts.handle`. */
  readonly handle: (entries: readonly DurableEntry[]) => Promise<void>;
}

/** Of an entry without samples. */
const noSamples: SamplesSummary = { count: 0, workspaceId: '', dataFlowId: null, oldest: 0 };

/**
 * The longer a batch waits, the more uplinks of one device share a write; readers do not wait, they
 * call `settled`.
 */
export const statusFollowing = {
  batchWaitMs: 1_000,
  batch: { entriesMax: 10_000, samplesMax: Number.POSITIVE_INFINITY },
  // The store has the samples, which are perhaps not built yet, and the raw uplinks have the trace.
  keep: (entry) => {
    const { deviceId, receivedAt, notes, state, metrics, position, duplicates } = entry;
    const summary = summaryOf(entry) ?? noSamples;
    const kept = { deviceId, receivedAt, notes, position, duplicates, samples: [], summary };
    if (metrics === undefined) return state === undefined ? kept : { ...kept, state };
    return state === undefined ? { ...kept, metrics } : { ...kept, metrics, state };
  },
  // Rows are counted, and nothing is kept of their devices.
  keepRows: (rows) => countedRows(rows, 1),
} as const satisfies Partial<JournalFollowerParts>;

/** Entries of a transaction where several nodes take turns to write: others wait for it. */
export const entriesPerTurn = 1_000;

interface PendingState {
  readonly state: JsonObject;
  readonly position: number;
}

/** `written` is called with the position behind each batch in the records. */
export function createDeviceStatus(
  records: StatusRecords,
  written: (position: number) => void,
  statesMax: number = statesKept,
): DeviceStatus {
  // The newest states by device, from the newest to the oldest: emitted and not durable, durable,
  // written.
  const emitted = new Map<string, JsonObject>();
  const pending = new Map<string, PendingState>();
  const known = createBoundedMap<string, JsonObject>(statesMax);
  // Most devices have none of these states.
  const stateless = new StatelessDevices();

  const newest = (deviceId: string): JsonObject | undefined =>
    emitted.get(deviceId) ?? pending.get(deviceId)?.state ?? known.get(deviceId);

  return {
    async stateOf(deviceId) {
      const found = newest(deviceId);
      if (found !== undefined) return found;
      if (stateless.has(deviceId)) return {};
      const read = await records.readState(deviceId);
      // What came in while the records were read is newer.
      const since = newest(deviceId);
      if (since !== undefined) return since;
      if (read === undefined && stateless.add(deviceId)) return {};
      const state = read ?? {};
      known.set(deviceId, state);
      return state;
    },
    isStateless: (deviceId) => stateless.has(deviceId) && newest(deviceId) === undefined,
    setState(deviceId, state) {
      if (state === undefined) emitted.delete(deviceId);
      else emitted.set(deviceId, state);
    },
    dropStates(isDropped) {
      for (const states of [emitted, pending])
        for (const deviceId of states.keys()) if (isDropped(deviceId)) states.delete(deviceId);
      // The others are read again, from records that have them.
      known.clear();
      stateless.clear();
    },
    announced({ deviceId, state, position }) {
      if (state === undefined) return;
      stateless.delete(deviceId);
      pending.set(deviceId, { state, position });
      // A later run of the device may have emitted another one already.
      if (emitted.get(deviceId) === state) emitted.delete(deviceId);
    },
    async handle(entries) {
      const batch = batchOf(entries);
      if (batch === undefined) return;
      await records.write(batch);
      for (const [deviceId, state] of batch.states) {
        known.set(deviceId, state);
        const { position = 0 } = pending.get(deviceId) ?? {};
        if (position < batch.position) pending.delete(deviceId);
      }
      written(batch.position);
    },
  };
}

/** Of equal times the later entry counts. A device that sends points can send older ones later. */
function newestKnown(metrics: DeviceMetrics, before: DeviceMetrics | undefined): DeviceMetrics {
  if (before === undefined || before.timestamp <= metrics.timestamp)
    return withLastKnown(metrics, before);
  return withLastKnown(before, metrics);
}

function batchOf(entries: readonly DurableEntry[]): StatusBatch | undefined {
  const last = entries.at(-1);
  if (last === undefined) return undefined;
  const metrics = new Map<string, DeviceMetrics>();
  const states = new Map<string, JsonObject>();
  const notes: ProcessingLogEntry[] = [];
  const counts = new PeriodCounter();
  const lastSamples = new Map<string, EpochMs>();
  for (const entry of entries) {
    const { deviceId } = entry;
    if (entry.metrics !== undefined)
      metrics.set(deviceId, newestKnown(entry.metrics, metrics.get(deviceId)));
    if (entry.state !== undefined) states.set(deviceId, entry.state);
    notes.push(...entry.notes);
    const samples = summaryOf(entry);
    if (samples === undefined || samples.count === 0) continue;
    counts.add(samples.workspaceId, 'samples', entry.receivedAt, samples.count);
    if (samples.dataFlowId !== null) lastSamples.set(samples.dataFlowId, entry.receivedAt);
  }
  const position = last.position + 1;
  return { position, metrics, states, notes, counts: counts.take(), lastSamples };
}
