// Composes the way in: capture, decoding, validation, the journal, and those who follow it.
import type { Parts } from './compose.ts';
import { capture, type Capture, type CaptureReceipt } from './flows/capture.ts';
import { createDeviceStatus, type DeviceStatus } from './flows/device-status.ts';
import { idempotency, idempotencyKeptMs } from './flows/idempotency.ts';
import { handleUplink } from './flows/uplink.ts';
import { createIntake, intakeLimits } from './ingest/intake.ts';
import type { Json } from './model/json.ts';
import type { DurableEntry } from './model/journal-entry.ts';
import type { Principal } from './model/principal.ts';
import type { StoredSample } from './model/sample.ts';
import { findDeviceState, saveDeviceStates, saveUplinkMetrics } from './store/records/device-status.ts';
import { findFollowerPosition, saveFollowerPosition } from './store/records/follower-positions.ts';
import {
  dropOldKeptAnswers,
  findKeptAnswer,
  insertKeptAnswer,
  removeKeptAnswer,
  saveKeptAnswer,
} from './store/records/idempotency-keys.ts';
import { appendProcessingLog, dropOldProcessingLog } from './store/records/processing-log.ts';

const statusFollower = 'device-status';

export interface Uplinks {
  readonly capture: (input: Capture) => Promise<CaptureReceipt>;
  readonly runScript: (source: string, event: Json, principal: Principal) => Promise<{ type: string; event: Json }[]>;
  /** Resolves when what was acknowledged so far can be read from the records too. */
  readonly settled: () => Promise<void>;
  /** Adds a listener for samples that became durable. */
  readonly follow: (listener: (samples: readonly StoredSample[]) => void) => void;
  readonly dropOutdated: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Opens the way in and brings followers up to the journal's end. */
export async function composeUplinks(parts: Parts): Promise<Uplinks> {
  const { config, telemetry, records, store, directory, now, newId } = parts;
  const listeners: ((samples: readonly StoredSample[]) => void)[] = [];
  const scripts = createScriptMachine({ workers: config.scriptWorkers });
  const status = await openStatus(parts);
  const intake = createIntake(intakeLimits);
  const once = idempotency(
    {
      find: (id, seenAfter) => findKeptAnswer(records.db, id, seenAfter),
      reserve: (kept) => insertKeptAnswer(records.db, kept),
      complete: (id, answer) => saveKeptAnswer(records.db, id, answer),
      release: (id) => removeKeptAnswer(records.db, id),
    },
    now,
  );
  const announce = (entry: DurableEntry) => {
    for (const note of entry.notes) telemetry.noted(note);
    status.follow(entry);
    if (entry.samples.length > 0) for (const listener of listeners) listener(entry.samples);
  };
  const stages = {
    intake,
    stateOf: status.stateOf,
    setState: status.setState,
    decode: decodeUplink(scripts),
    validate: validateSample,
    append: (entry: Parameters<typeof store.append>[0]) => store.append(entry),
    announce,
    newId,
  };
  return {
    capture: (input) => timed(telemetry, now, () => capture(input, { ...captureStages })),
  };
}
