// The journal's follower that writes what uplinks say of their devices into the records: metrics, state, notes.
// The journal has it all durably, so records are written in batches; the position goes into the same transaction.
import type { JsonObject } from '../model/json.ts';
import { type DurableEntry, isWritten } from '../model/journal-entry.ts';
import type { ProcessingLogEntry } from '../model/processing-note.ts';
import { type UplinkMetrics, withLastKnown } from '../model/uplink-metrics.ts';

/** What one transaction writes. */
export interface StatusBatch {
  /** The follower's next position, once the batch is written. */
  readonly position: number;
  readonly metrics: ReadonlyMap<string, UplinkMetrics>;
  readonly states: ReadonlyMap<string, JsonObject>;
  readonly notes: readonly ProcessingLogEntry[];
}

export interface StatusRecords {
  /** Writes all of the batch or nothing. */
  readonly write: (batch: StatusBatch) => Promise<void>;
  readonly readState: (deviceId: string) => Promise<JsonObject | undefined>;
}

export interface StatusLimits {
  /** A batch waits this long for more. */
  readonly batchWaitMs: number;
  /** A batch this large is written at once. */
  readonly entriesMax: number;
  /** Device states kept in memory besides those that are not written yet; as many as routes and plans. */
  readonly statesMax: number;
}

// The longer a batch waits, the more uplinks of one device share a write; readers do not wait, they call `settled`.
const statusLimits: StatusLimits = { batchWaitMs: 1_000, entriesMax: 10_000, statesMax: 100_000 };

type StatusEntry = Omit<DurableEntry, 'samples'>;

export interface DeviceStatus {
  readonly stateOf: (deviceId: string) => Promise<JsonObject>;
  readonly setState: (deviceId: string, state: JsonObject | undefined) => void;
  readonly follow: (entry: DurableEntry) => void;
  /** Resolves when everything followed so far can be read from the records. */
  readonly settled: () => Promise<void>;
  readonly close: () => Promise<void>;
}

interface StatusParts {
  readonly records: StatusRecords;
  readonly written: (position: number) => void;
  readonly failed: (error: unknown) => void;
  /** Calls back once, later; returns how to cancel. */
  readonly schedule: (task: () => void, delayMs: number) => () => void;
}

export function createDeviceStatus(
  parts: StatusParts,
  limits: StatusLimits = statusLimits,
): DeviceStatus {
  let pending: StatusEntry[] = [];
  let writing: StatusEntry[] = [];
  let tail: Promise<void> = Promise.resolve();
  let cancelTimer: (() => void) | undefined;
  /** Newest states by device, in the order in which they get older: emitted and not durable, durable, being written, written. */
  const emitted = new Map<string, JsonObject>();
  let pendingStates = new Map<string, JsonObject>();
  let writingStates = new Map<string, JsonObject>();
  const written = new Map<string, JsonObject>();

  async function writeBatch(): Promise<void> {
    if (writing.length === 0) {
      writing = pending;
      writingStates = pendingStates;
      pending = [];
      pendingStates = new Map();
    }
    const batch = batchOf(writing, writingStates);
    if (batch === undefined) return;
    await parts.records.write(batch);
    writing = [];
    for (const [deviceId, state] of writingStates) remember(deviceId, state);
    writingStates = new Map();
    parts.written(batch.position);
  }

  function flush(): Promise<void> {
    cancelTimer?.();
    cancelTimer = undefined;
    // Two rounds: what an earlier failure left behind goes first, in a batch of its own.
    tail = tail
      .catch(() => undefined)
      .then(async () => {
        await writeBatch();
        if (pending.length > 0) await writeBatch();
      });
    return tail;
  }

  const flushInBackground = () => {
    flush().catch((error) => {
      parts.failed(error);
      // Nothing is dropped: the batch stays and is tried again.
      cancelTimer ??= parts.schedule(flushInBackground, limits.batchWaitMs * 10);
    });
  };

  function remember(deviceId: string, state: JsonObject): void {
    written.delete(deviceId);
    written.set(deviceId, state);
    if (written.size > limits.statesMax) written.delete(written.keys().next().value!);
  }

  const newest = (deviceId: string): JsonObject | undefined =>
    emitted.get(deviceId) ??
    pendingStates.get(deviceId) ??
    writingStates.get(deviceId) ??
    written.get(deviceId);

  return {
    async stateOf(deviceId) {
      const known = newest(deviceId);
      if (known !== undefined) return known;
      const read = (await parts.records.readState(deviceId)) ?? {};
      // What came in while the records were read is newer.
      const since = newest(deviceId);
      if (since === undefined) remember(deviceId, read);
      return since ?? read;
    },
    setState(deviceId, state) {
      if (state === undefined) emitted.delete(deviceId);
      else emitted.set(deviceId, state);
    },
    follow(entry) {
      // Nothing of it is to be written here either, and its position is that of an entry still to come.
      if (!isWritten(entry)) return;
      // The samples are the store's; holding them here would only cost memory.
      const { samples: _, ...kept } = entry;
      pending.push(kept);
      if (kept.state !== undefined) {
        pendingStates.set(kept.deviceId, kept.state);
        // A later run of the device may have emitted another one already.
        if (emitted.get(kept.deviceId) === kept.state) emitted.delete(kept.deviceId);
      }
      if (pending.length >= limits.entriesMax) flushInBackground();
      else cancelTimer ??= parts.schedule(flushInBackground, limits.batchWaitMs);
    },
    settled: () => (pending.length === 0 && writing.length === 0 ? tail : flush()),
    close: flush,
  };
}

function batchOf(
  entries: readonly StatusEntry[],
  states: ReadonlyMap<string, JsonObject>,
): StatusBatch | undefined {
  const last = entries.at(-1);
  if (last === undefined) return undefined;
  const metrics = new Map<string, UplinkMetrics>();
  const notes: ProcessingLogEntry[] = [];
  for (const entry of entries) {
    if (entry.metrics !== undefined) {
      metrics.set(entry.deviceId, withLastKnown(entry.metrics, metrics.get(entry.deviceId)));
    }
    notes.push(...entry.notes);
  }
  return { position: last.position + 1, metrics, states, notes };
}
