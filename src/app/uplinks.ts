// Connects the uplink pipeline: capture, decoding, validation, the journal and its followers.
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { authorize } from '../access/authorize.ts';
import type { CallHandlers } from '../cluster/nodes/nodes.ts';
import type { SampleChangesOfNode } from '../cluster/remote-sample-changes.ts';
import { createDeviceCreation } from '../inventory/devices/device-batch.ts';
import type { UplinkRoute } from '../inventory/devices/uplink-route-cache.ts';
import { WorkspaceCalendars } from '../inventory/workspaces/workspaces.ts';
import { openTimeZones } from '../model/time-zone.ts';
import type { DurableEntry, JournalEntry } from '../model/journal-entry.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { keptOf, type KeptSamples } from '../model/kept-samples.ts';
import type { Principal } from '../model/principal.ts';
import type { Note } from '../model/entry-trace.ts';
import type { Uplink, UplinkScript } from '../model/uplink.ts';
import { calendarZone } from '../query/accumulation.ts';
import { offsetsOf } from '../query/expression-reads.ts';
import { storedNames } from '../query/inferred-schema.ts';
import {
  runScript,
  ScriptMachine,
  ScriptMachineOnDemand,
  type ScriptRunner,
} from '../scripting/script-machine.ts';
import {
  ClickHouseUplinks,
  removeClickHouseUplinks,
} from '../storage/raw-uplinks/clickhouse/clickhouse-uplinks.ts';
import { EmbeddedUplinks } from '../storage/raw-uplinks/embedded/embedded-uplinks.ts';
import type { OpenRawUplinkStore } from '../storage/raw-uplinks/raw-uplink-store.ts';
import { deviceTypeRows } from '../storage/records/rows/device-types.ts';
import { deviceRows } from '../storage/records/rows/devices.ts';
import { keptAnswerRows } from '../storage/records/rows/idempotency-keys.ts';
import { processingLogRows } from '../storage/records/rows/payload-notes.ts';
import { periodCountRows } from '../storage/records/rows/period-counts.ts';
import { shardOf } from '../storage/samples/clickhouse/flusher.ts';
import { samplesError } from '../storage/samples/clickhouse/store-parts.ts';
import { closeInOrder } from '../structures/closers.ts';
import { missing } from '../structures/missing.ts';
import { Intake, intakeLimits } from '../transports/intake.ts';
import { type DeviceOfState, StatusFollower } from '../uplinks/followers/status-follower.ts';
import {
  type Backfill,
  type BackfillReceipt,
  Backfills,
  type NamedBackfill,
} from '../uplinks/bulk/backfill.ts';
import { type DeviceSearch, KnownDevices } from '../uplinks/bulk/named-devices.ts';
import {
  type PointWrite,
  PointWriter,
  type WriteOutcome,
} from '../uplinks/bulk/line-protocol-write.ts';
import {
  type Capture,
  type CaptureReceipt,
  Captures,
  uplinkDeviceOf,
} from '../uplinks/capture/capture.ts';
import { SenmlCaptures } from '../uplinks/capture/senml-capture.ts';
import { type DecodedUplink, UplinkDecoder } from '../uplinks/decode/decode-uplink.ts';
import {
  type CommandToEncode,
  type EncodedCommand,
  encodeDownlink,
} from '../uplinks/decode/downlink-command.ts';
import { QuickScripts } from '../scripting/local-scripts.ts';
import {
  type ReplayReport,
  type ReplayRequest,
  type ReplayStages,
  replayUplinks,
} from '../uplinks/decoder-test.ts';
import { openRawUplinks, type RawUplinks } from '../uplinks/followers/followers.ts';
import {
  createIdempotencyRecords,
  createOnceStreamed,
  idempotencyKeptMs,
  type IdempotencyRecords,
  Once,
  type OnceStreamed,
  recoverDurableParts,
} from '../uplinks/idempotency/idempotency.ts';
import { removeRawUplinks } from '../uplinks/raw-uplink-list.ts';
import { countBackfill, countUplink } from '../uplinks/uplink-counters.ts';
import { type CalculatedDevice, CalculatedKeys } from '../uplinks/calculated-keys.ts';
import {
  previewRecalculation,
  type RecalculationReport,
  type RecalculationRequest,
  Recalculations,
} from '../uplinks/recalculation.ts';
import { Replacements, SampleChanges } from '../uplinks/sample-changes.ts';
import { SampleStages } from '../uplinks/sample-stages.ts';
import { UplinkPipeline } from '../uplinks/uplink.ts';
import { DeviceNames } from '../uplinks/validate/device-names.ts';
import { createDeviceLeaseGuard, uplinksOfAll } from './device-owners.ts';
import type { Parts } from './platform-parts.ts';
import type { SharedSamples } from './samples.ts';

export interface Uplinks {
  readonly capture: (input: Capture) => Promise<CaptureReceipt>;
  /** The same for a SenML pack. */
  readonly captureSenml: (input: Capture) => Promise<CaptureReceipt>;
  readonly handleUplink: (uplink: Uplink) => Promise<KeptSamples | undefined>;
  /** The same for a device of this node. Throws Problem `deviceMoved` for another one. */
  readonly takeOwnUplink: (uplink: Uplink) => Promise<KeptSamples | undefined>;
  /** What other nodes ask this one to store; undefined without other nodes. */
  readonly storingCalls: CallHandlers | undefined;
  /** Makes an entry durable that did not come from a decoder, and announces it to all followers. */
  readonly appendEntry: (entry: JournalEntry) => Promise<DurableEntry>;
  /** Removes from samples what exceeds the limits of their device. */
  readonly admit: DeviceNames['admit'];
  /** Deletes, corrects and recalculates stored samples, at the owner of the device. */
  readonly sampleChanges: SampleChangesOfNode;
  readonly encodeDownlink: (command: CommandToEncode) => Promise<EncodedCommand>;
  /** State of the device's decoder. */
  readonly stateOf: (deviceId: string) => JsonObject | Promise<JsonObject>;
  readonly runScript: (
    source: string,
    event: Json,
    principal: Principal,
    signal: AbortSignal,
  ) => Promise<{ type: string; event: Json }[]>;
  readonly backfill: (input: Backfill) => Promise<BackfillReceipt>;
  readonly backfillNamed: (input: NamedBackfill) => Promise<BackfillReceipt>;
  /** Stores points in line protocol. */
  readonly writePoints: (write: PointWrite) => Promise<WriteOutcome>;
  readonly once: Once;
  readonly onceStreamed: OnceStreamed;
  /** Resolves when what was acknowledged so far can be read from the records too. */
  readonly settled: () => Promise<void>;
  /** Whether it is known that the device's decoder left no state. */
  readonly isStateless: (deviceId: string) => boolean;
  /** Decoders that may run where an uplink is received. */
  readonly quickScripts: QuickScripts;
  /**
   * Writes the status of devices, then drops what is known of those that another node serves. `ids`
   * are all that it can be, if that is known.
   */
  readonly dropDevices: (
    isDropped: (device: DeviceOfState) => boolean,
    ids?: ReadonlySet<string>,
  ) => Promise<void>;
  readonly scripts: ScriptRunner;
  /** Runs scripts that users try out, after all others. */
  readonly scriptTrials: ScriptRunner;
  readonly raw: RawUplinks;
  /** Tries decoders on a payload. */
  readonly trial: ReplayStages;
  /** Tries a decoder on raw uplinks. */
  readonly replay: (request: ReplayRequest) => Promise<ReplayReport>;
  /** Computes calculated keys of stored samples without storing them. */
  readonly previewRecalculation: (request: RecalculationRequest) => Promise<RecalculationReport>;
  /** Drops outdated processing notes and idempotency keys. */
  readonly runMaintenance: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Opens the pipeline and its followers, which read the rest of the journal first. */
export async function composeUplinks(parts: Parts, stopping: () => boolean): Promise<Uplinks> {
  const { telemetry, records, log, followers, now, newId } = parts;
  const { db } = records;
  const scripts = await composeScripts(parts);
  const { liveEvents } = parts;
  const online = {
    isWatched: (workspaceId: string) => liveEvents.wants(workspaceId, 'DEVICE_STATE'),
    changed: liveEvents.deviceCameOnline,
  };
  const takesTurns = parts.node !== undefined;
  const epochsOf = parts.ownership?.epochsOf;
  const following = { db, log, followers, telemetry, online, takesTurns, epochsOf };
  const status = await StatusFollower.open(following);
  const ownRaw = await composeRawUplinks(parts);
  const intake = new Intake(intakeLimits);
  telemetry.gauge('uplinks_in_progress', 'Uplinks being processed.', () => intake.size);
  const quickScripts = new QuickScripts(() => performance.now());
  const calculated = calculatedKeysOf(parts);
  const stages = sampleStagesOf(parts, calculated);
  const decoder = decoderOf(parts, scripts, quickScripts);
  const pipeline = new UplinkPipeline(stages, decoder, status.devices, intake, parts.turns);
  const trialDecoder = new UplinkDecoder(scripts.trials, parts.config.quotas.stateBytes);
  const owned = createDeviceLeaseGuard(parts);
  const takeOwnUplink = async (uplink: Uplink): Promise<KeptSamples> => {
    const work = () => owned(uplink.device.workspaceId, () => pipeline.handle(uplink));
    return keptOf(await countUplink(telemetry, work), uplink, uplink.receivedAt);
  };
  const takeUplink = await uplinksOfAll(parts, takeOwnUplink);
  const { once, onceStreamed } = await composeIdempotency(parts);
  const captures = new Captures(takeUplink, once, newId, now);
  const ownChanges = ownSampleChanges(parts, stages, ownRaw, calculated, trialDecoder);
  const remote = await remoteStoringOf(parts, stages, ownRaw, ownChanges);
  const raw = { ...ownRaw, list: remote?.listRawUplinks ?? ownRaw.list };
  const search = deviceSearchOf(parts);
  const backfills = new Backfills(stages, search, stopping, parts.turns, remote?.others);
  const replayStages: ReplayStages = {
    list: raw.list,
    deviceOf: async (deviceId) => uplinkDeviceOf(await parts.directory.byDevice(deviceId)),
    decode: trialDecoder.decode,
    validate: (sample) => stages.validate(sample),
    now,
  };
  const senml = new SenmlCaptures(captures, parts.directory.byConnector, parts.turns);
  return {
    capture: (input) => captures.capture(input),
    captureSenml: senml.capture,
    handleUplink: takeUplink,
    takeOwnUplink,
    storingCalls: remote?.handlers,
    appendEntry:
      remote?.appendEntry ??
      (async (entry) => stages.store(await stages.withCalculatedKeys(entry))),
    admit: stages.admit,
    sampleChanges: remote?.sampleChanges ?? ownChanges,
    encodeDownlink: encodeDownlink(scripts),
    stateOf: status.devices.stateOf,
    isStateless: status.devices.isStateless,
    quickScripts,
    backfill: (input) => countBackfill(telemetry, () => backfills.backfill(input)),
    backfillNamed: (input) => countBackfill(telemetry, () => backfills.backfillNamed(input)),
    writePoints: createPointWriter(parts, backfills, stages),
    runScript: (source, event, principal, signal) =>
      runScript(scripts, { tenant: principal.organizationId, source, event, signal }),
    once,
    onceStreamed,
    raw,
    trial: replayStages,
    replay: (request) => replayUplinks(request, replayStages),
    previewRecalculation: (request) =>
      previewRecalculation(request, {
        calculated,
        exportSamples: (range) => parts.store.exportSamples(range),
        replay: (wanted) => replayUplinks(wanted, replayStages),
        now,
      }),
    settled: status.settled,
    async dropDevices(isDropped, ids) {
      await status.settled();
      status.devices.dropStates(isDropped, ids);
      if (ids === undefined) calculated.forgetAll();
      else for (const id of ids) calculated.forget(id);
    },
    scripts,
    scriptTrials: scripts.trials,
    async runMaintenance() {
      await processingLogRows.dropOld(db, now());
      await keptAnswerRows.dropOld(db, now() - idempotencyKeptMs);
      await periodCountRows.dropOld(db, now());
    },
    close: () => closeInOrder(intake.drained, scripts.close, status.close, raw.close),
  };
}

function ownSampleChanges(
  { directory, store }: Parts,
  stages: SampleStages,
  { list, removeReceived }: RawUplinks,
  calculated: CalculatedKeys,
  decoder: UplinkDecoder,
): SampleChangesOfNode {
  const replacements = new Replacements((id) => directory.byDevice(id), store, stages);
  const changes = new SampleChanges(replacements, calculated, removeReceived);
  const { delete: remove, correct, put, settled } = changes;
  const recalculations = new Recalculations(replacements, calculated, list, decoder.decode);
  return { delete: remove, correct, recalculate: recalculations.recalculate, put, settled };
}

/** Loaded only with several nodes. */
async function remoteStoringOf(
  parts: Parts,
  stages: SampleStages,
  raw: RawUplinks,
  sampleChanges: SampleChangesOfNode,
) {
  const { ownership } = parts;
  if (ownership === undefined) return undefined;
  const { composeRemoteStoring } = await import('./device-owners.ts');
  return composeRemoteStoring(parts, ownership, stages, raw, sampleChanges);
}

function sampleStagesOf(
  { config, store, followers, telemetry, newId, now }: Parts,
  calculated: CalculatedKeys,
): SampleStages {
  const names = new DeviceNames(config.quotas, (deviceId) => storedNames(store, deviceId));
  const noted = (note: Note) => telemetry.noted(note);
  return new SampleStages(names, calculated, store, followers, noted, newId, now);
}

function decoderOf({ config }: Parts, scripts: Scripts, quickScripts: QuickScripts): UplinkDecoder {
  return new UplinkDecoder(scripts, config.quotas.stateBytes, (script, decoded, given) =>
    noteRun(quickScripts, script, decoded, given),
  );
}

function calculatedKeysOf(parts: Parts): CalculatedKeys {
  const { directory, store, records } = parts;
  const calendars = new WorkspaceCalendars(records.db);
  parts.followChanges(calendars);
  const openZone = openTimeZones();
  const known = ({ device, customFields: fields, type }: UplinkRoute): CalculatedDevice => {
    const { id, organizationId, workspaceId } = device;
    return { id, organizationId, workspaceId, fields, type };
  };
  return new CalculatedKeys({
    values: (request) => store.values(request),
    deviceOf(deviceId) {
      const route = directory.byDevice(deviceId);
      return route instanceof Promise ? route.then(known, () => undefined) : known(route);
    },
    async offsetsOf(workspaceId) {
      return offsetsOf(calendarZone(await calendars.calendarOf(workspaceId), openZone));
    },
  });
}

function noteRun(
  decoders: QuickScripts,
  script: UplinkScript,
  { processorMs, state: left }: DecodedUplink,
  given: JsonObject,
): void {
  const hasState = left !== undefined || Object.keys(given).length > 0;
  decoders.note(script, processorMs, hasState);
}

function deviceSearchOf({ directory, records }: Parts): DeviceSearch {
  return {
    findRoute: (deviceId) => directory.byDevice(deviceId),
    cached: directory.cached,
    known: new KnownDevices(() => directory.revision),
    placesByName: (organizationId, names) =>
      deviceRows.placesByName(records.db, organizationId, names),
    authorizeWrite: (principal, place) => authorize(principal, 'asset', 'update', place),
  };
}

function createPointWriter(
  { records, directory, telemetry, turns }: Parts,
  backfills: Backfills,
  stages: SampleStages,
): Uplinks['writePoints'] {
  const devices = { routeOf: directory.byConnector, createDevices: createDeviceCreation(records) };
  const writer = new PointWriter(backfills, stages, devices, turns);
  return async (write) => {
    let outcome: WriteOutcome | undefined;
    await countBackfill(telemetry, async () => {
      outcome = await writer.write(write);
      return outcome.receipt;
    });
    return outcome ?? missing('outcome');
  };
}

// Connects Idempotency-Key: the records store keys and answers, the journal proves what was durable before a crash.

/** With several nodes, requests with one key arrive at each of them. */
async function storedFor(parts: Parts): Promise<IdempotencyRecords> {
  const own = createIdempotencyRecords(parts);
  const { node, records, log, newId } = parts;
  if (node === undefined) return own;
  const { createSharedIdempotency } = await import('../cluster/shared-idempotency.ts');
  const clock = { now: () => performance.now(), wait: (ms: number) => wait(ms) };
  return createSharedIdempotency({ records, log, own, runBy: `${node.id}/${newId()}`, ...clock });
}

async function composeIdempotency(parts: Parts): Promise<{
  readonly once: Once;
  readonly onceStreamed: OnceStreamed;
}> {
  const { records, log, now } = parts;
  await recoverDurableParts(records.db, log, now());
  const stored = await storedFor(parts);
  return { once: new Once(stored, now), onceStreamed: createOnceStreamed(stored, now) };
}

// Connects users' scripts: one machine for all, started with the first run.

interface Scripts extends Pick<ScriptMachine, 'run' | 'close'> {
  /** Runs scripts that users try out. They wait for all other runs. */
  readonly trials: ScriptRunner;
}

/** Starts the script workers now only if a device type exists, because idle workers use memory. */
async function composeScripts(parts: Parts): Promise<Scripts> {
  const { config, telemetry, quotaUse, records } = parts;
  const { runScriptsRunning, runScriptsWaiting } = config.quotas;
  const machine = new ScriptMachineOnDemand(
    () =>
      new ScriptMachine({
        workers: config.scriptWorkers,
        limits: { trialsRunningMax: runScriptsRunning, trialsWaitingMax: runScriptsWaiting },
        ran: telemetry.scriptRan,
        troubled: telemetry.scriptThreadLost,
      }),
  );
  const { run, close, started } = machine;
  telemetry.gauge('script_runs_waiting', 'Queued script runs.', () => started()?.waiting ?? 0);
  telemetry.gauge('script_threads', 'Threads that run scripts.', () => started()?.threads ?? 0);
  quotaUse.readBy('runScriptsRunning', (id) => started()?.trials(id).underWay ?? 0);
  quotaUse.readBy('runScriptsWaiting', (id) => started()?.trials(id).waiting ?? 0);
  if (await deviceTypeRows.any(records.db)) machine.warmUp();
  return { run, close, trials: { run: (trial) => run({ ...trial, kind: 'trial' }) } };
}

// Connects raw uplinks: a follower of the journal stores them with the samples, unless their retention is 0.

/** Removes the raw uplinks of earlier starts when their retention is 0 now. */
async function composeRawUplinks(parts: Parts): Promise<RawUplinks> {
  const { config, log, followers, telemetry, sharedSamples } = parts;
  const directory = join(config.dataDirectory, 'uplinks');
  if (config.rawUplinkRetentionMs === 0) {
    if (sharedSamples !== undefined) await removeClickHouseUplinks(sharedSamples.clickHouse);
    return removeRawUplinks(log, directory);
  }
  const followed = { log, followers, telemetry };
  if (sharedSamples === undefined)
    return openRawUplinks({
      ...followed,
      openStore: embeddedUplinks(parts, directory),
      hasRoom: () => !parts.diskIsFull(),
    });
  // Nothing is written to this disk, which may even get room when the journal is released.
  const raw = await openRawUplinks({
    ...followed,
    openStore: clickHouseUplinks(parts, sharedSamples),
    hasRoom: () => true,
  });
  return { ...raw, list: (range) => raw.list(range).catch(failWithProblem) };
}

function failWithProblem(error: unknown): never {
  throw samplesError(error);
}

function embeddedUplinks(parts: Parts, directory: string): OpenRawUplinkStore {
  const { config, telemetry, now } = parts;
  return ({ followedFrom, isLost }) =>
    EmbeddedUplinks.open({
      directory,
      now,
      retentionMs: config.rawUplinkRetentionMs,
      bytesMax: config.rawUplinkBytesMax,
      followedFrom,
      isLost,
      damaged: (damage) => telemetry.damageFound({ what: 'raw uplinks', ...damage }),
    });
}

function clickHouseUplinks(parts: Parts, shared: SharedSamples): OpenRawUplinkStore {
  const { config, now, telemetry } = parts;
  const { clickHouse, journal } = shared;
  return ({ position }) =>
    ClickHouseUplinks.open({
      clickHouse,
      shardOf: (deviceId) => shardOf(deviceId, clickHouse.shards),
      journal: journal(),
      position,
      now,
      retentionMs: config.rawUplinkRetentionMs,
      bytesMax: config.rawUplinkBytesMax,
      failed: (error) => telemetry.backgroundFailed('keeping raw uplinks on all replicas', error),
    });
}
