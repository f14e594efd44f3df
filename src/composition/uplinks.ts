// Composes the way in: capture, decoding, validation, the journal, and those who follow it.
import { closeInOrder } from '../structures/closers.ts';
import { composeIdempotency } from './idempotency.ts';
import type { Parts } from './platform-parts.ts';
import { composeRawUplinks } from './raw-uplinks.ts';
import { decodeUplink } from '../decode/decode-uplink.ts';
import {
  type CommandToEncode,
  type EncodedCommand,
  encodeDownlink,
} from '../decode/encode-downlink.ts';
import {
  backfill,
  type Backfill,
  type BackfillReceipt,
  type BackfillStages,
} from '../flows/backfill.ts';
import {
  capture,
  type Capture,
  type CaptureReceipt,
  type CaptureStages,
  uplinkDeviceOf,
} from '../flows/capture.ts';
import { idempotencyKeptMs, type Once } from '../flows/idempotency.ts';
import type { OnceStreamed } from '../flows/streamed-idempotency.ts';
import {
  type ReplayReport,
  type ReplayRequest,
  type ReplayStages,
  replayUplinks,
} from '../flows/decoder-test.ts';
import type { RawUplinks } from '../flows/raw-uplink-follower.ts';
import { openStatusFollower } from '../flows/status-follower.ts';
import { handleUplink, type UplinkStages } from '../flows/uplink.ts';
import { countBackfill, countUplink } from '../flows/uplink-counters.ts';
import { createIntake, intakeLimits } from '../ingest/intake.ts';
import type { Json, JsonObject } from '../model/json.ts';
import type { DurableEntry, JournalEntry } from '../model/journal-entry.ts';
import type { Principal } from '../model/principal.ts';
import type { Uplink } from '../model/uplink.ts';
import { storedNames } from '../query/measured-properties.ts';
import { runScript } from '../scripting/run-script.ts';
import { createScriptMachine, type ScriptMachine } from '../scripting/script-machine.ts';
import { hasDeviceTypes } from '../records/rows/device-types.ts';
import { dropOldKeptAnswers } from '../records/rows/idempotency-keys.ts';
import { dropOldProcessingLog } from '../records/rows/processing-log.ts';
import { type DeviceNames, deviceNames } from '../validate/device-names.ts';
import { withFutureNote } from '../validate/future-time.ts';
import { validateSample } from '../validate/sample-validation.ts';

export interface Uplinks {
  readonly capture: (input: Capture) => Promise<CaptureReceipt>;
  readonly handleUplink: (uplink: Uplink) => Promise<DurableEntry>;
  /** Makes an entry durable that did not come from a decoder, and announces it to all followers. */
  readonly appendEntry: (entry: JournalEntry) => Promise<DurableEntry>;
  /** Cuts samples down to what their device may have. */
  readonly admit: DeviceNames['admit'];
  readonly encodeDownlink: (command: CommandToEncode) => Promise<EncodedCommand>;
  /** The state of the device's decoder. */
  readonly stateOf: (deviceId: string) => Promise<JsonObject>;
  readonly runScript: (
    source: string,
    event: Json,
    principal: Principal,
    signal: AbortSignal,
  ) => Promise<{ type: string; event: Json }[]>;
  readonly backfill: (input: Backfill) => Promise<BackfillReceipt>;
  readonly once: Once;
  readonly onceStreamed: OnceStreamed;
  /** Resolves when what was acknowledged so far can be read from the records too. */
  readonly settled: () => Promise<void>;
  /** Where users' scripts of every kind run. */
  readonly scripts: Pick<ScriptMachine, 'run'>;
  /** The same for scripts that somebody tries out: those runs come after the others. */
  readonly scriptTrials: Pick<ScriptMachine, 'run'>;
  /** What devices sent, as they sent it. */
  readonly raw: RawUplinks;
  /** Tries a decoder on it. */
  readonly replay: (request: ReplayRequest) => Promise<ReplayReport>;
  /** To be called now and then: drops what is outdated. */
  readonly runMaintenance: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Opens the way in and brings followers up to the journal's end. */
export async function composeUplinks(parts: Parts, stopping: () => boolean): Promise<Uplinks> {
  const { telemetry, records, store, log, followers, directory, now, newId } = parts;
  const scripts = openScripts(parts);
  const scriptTrials: Uplinks['scriptTrials'] = {
    run: (run) => scripts.run({ ...run, kind: 'trial' }),
  };
  // Whoever has decoders will use them soon; an installation without any saves their memory.
  if (await hasDeviceTypes(records.db)) scripts.warmUp();
  const status = await openStatusFollower({ db: records.db, log, followers, telemetry });
  const raw = await composeRawUplinks(parts);
  const intake = createIntake(intakeLimits);
  const { admit } = deviceNames(parts.config.quotas, (deviceId) => storedNames(store, deviceId));
  telemetry.gauge('uplinks_under_way', 'Uplinks in the intake.', () => intake.size);
  const stages: UplinkStages = {
    intake,
    stateOf: status.stateOf,
    setState: status.setState,
    decode: decodeUplink(scripts),
    validate: (sample) => withFutureNote(validateSample(sample), now()),
    admit,
    append: (entry) => store.append(entry),
    announce: (entry) => {
      for (const note of entry.notes) telemetry.noted(note);
      followers.announce(entry);
    },
    newId,
    now,
  };
  const takeUplink = (uplink: Uplink) => countUplink(telemetry, () => handleUplink(uplink, stages));
  const { once, onceStreamed } = await composeIdempotency(parts);
  const captureStages: CaptureStages = {
    handleUplink: takeUplink,
    once,
    newId,
    now,
  };
  const { validate, append, announce } = stages;
  const findDevice = (deviceId: string) => directory.byDevice(deviceId);
  const replayStages: ReplayStages = {
    list: raw.list,
    deviceOf: async (deviceId) => uplinkDeviceOf(await findDevice(deviceId)),
    decode: decodeUplink(scriptTrials),
    validate,
    now,
  };
  const backfillStages: BackfillStages = {
    findRoute: findDevice,
    validate,
    admit,
    append,
    announce,
    stopping,
    newId,
  };
  return {
    capture: (input) => capture(input, captureStages),
    handleUplink: takeUplink,
    async appendEntry(entry) {
      const durable = await append(entry);
      announce(durable);
      return durable;
    },
    admit,
    encodeDownlink: encodeDownlink(scripts),
    stateOf: status.stateOf,
    backfill: (input) => countBackfill(telemetry, () => backfill(input, backfillStages)),
    runScript: (source, event, principal, signal) =>
      runScript(scripts, { tenant: principal.organizationId, source, event, signal }),
    once,
    onceStreamed,
    raw,
    replay: (request) => replayUplinks(request, replayStages),
    settled: status.settled,
    scripts,
    scriptTrials,
    async runMaintenance() {
      await dropOldProcessingLog(records.db, now());
      await dropOldKeptAnswers(records.db, now() - idempotencyKeptMs);
    },
    close: () => closeInOrder(intake.drained, scripts.close, status.close, raw.close),
  };
}

/** The script machine, made when it is first needed. */
function openScripts(parts: Parts): Pick<ScriptMachine, 'run' | 'close'> & { warmUp(): void } {
  const { config, telemetry, quotaUse } = parts;
  const { runScriptsRunning: trialsRunningMax, runScriptsWaiting: trialsWaitingMax } =
    config.quotas;
  let machine: ScriptMachine | undefined;
  const made = (): ScriptMachine =>
    (machine ??= createScriptMachine({
      workers: config.scriptWorkers,
      limits: { trialsRunningMax, trialsWaitingMax },
      ran: telemetry.scriptRan,
      troubled: telemetry.scriptThreadLost,
    }));
  telemetry.gauge(
    'script_runs_waiting',
    'Script runs that wait for a thread.',
    () => machine?.waiting ?? 0,
  );
  telemetry.gauge('script_threads', 'Threads that run scripts.', () => machine?.threads ?? 0);
  quotaUse.readBy(
    'runScriptsRunning',
    (organizationId) => machine?.trials(organizationId).underWay ?? 0,
  );
  quotaUse.readBy(
    'runScriptsWaiting',
    (organizationId) => machine?.trials(organizationId).waiting ?? 0,
  );
  return {
    warmUp: () => void made(),
    run: (run) => made().run(run),
    close: async () => machine?.close(),
  };
}
