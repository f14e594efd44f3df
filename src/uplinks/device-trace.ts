// Device trace: follows one uplink from its arrival to its deliveries and says where it broke (contract 39.3).
import type { DeliveryBook } from '../inventory/data-flows/deliveries.ts';
import type { UplinkRoute } from '../inventory/devices/uplink-route-cache.ts';
import type { Alarm } from '../model/alarm.ts';
import type { Delivery } from '../model/delivery.ts';
import { onlineStateOf } from '../model/device.ts';
import type { TraceCode, TraceKind, TraceState } from '../model/device-trace.ts';
import type { ProcessingLogEntry } from '../model/entry-trace.ts';
import { dayMs, type EpochMs, formatInstant, minuteMs, parseInstant } from '../model/instant.ts';
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { isTooOld } from '../model/kept-samples.ts';
import type { RawUplink, Refusal } from '../model/uplink.ts';
import type { Rule, RunOutcome } from '../model/rule.ts';
import type { Sample } from '../model/sample.ts';
import type { DeviceMetrics } from '../model/uplink-metrics.ts';
import type { RawUplinkPage, RawUplinkRange } from '../storage/raw-uplinks/raw-uplink-store.ts';
import { slipsBetween } from '../structures/similar-names.ts';
import { storedTopicsOf } from './capture/capture.ts';
import type { SearchKind } from '../model/search.ts';

interface TraceLink {
  readonly kind: SearchKind;
  readonly id: string;
}

interface TraceStep {
  readonly kind: TraceKind;
  readonly state: TraceState;
  /** Null where it is not known. */
  readonly at: EpochMs | null;
  readonly code: TraceCode;
  readonly text: string;
  readonly details: JsonObject | null;
  readonly link: TraceLink | null;
}

interface TraceFix {
  readonly text: string;
  readonly link: TraceLink | null;
}

interface DeviceTrace {
  /** When the uplink arrived; null without one. */
  readonly at: EpochMs | null;
  readonly verdict: {
    readonly code: TraceCode;
    readonly text: string;
    readonly fix: TraceFix | null;
  };
  readonly steps: readonly TraceStep[];
}

/** What is asked; the last uplink when neither an uplink nor a moment is named. */
interface TraceQuestion {
  readonly correlationId?: string | undefined;
  /** The newest uplink at or before it. */
  readonly at?: EpochMs | undefined;
  readonly topic?: string | undefined;
  /** Dots lead into nested objects. */
  readonly dataKey?: string | undefined;
  readonly ruleId?: string | undefined;
  readonly outputConnectorId?: string | undefined;
}

const traceLimits = {
  rulesMax: 50,
  deliveriesMax: 50,
  outputsMax: 50,
  /** No step is looked for later; those that are left are UNKNOWN. */
  durationMs: 2_000,
  /** Uplinks among which the one with a correlation id is looked for. */
  uplinksSeenMax: 1_000,
  uplinksPerRead: 100,
} as const;

/** A refusal, as far as a trace tells of it. */
type TracedRefusal = Pick<
  Refusal,
  'id' | 'connectorId' | 'deviceId' | 'transport' | 'reason' | 'message' | 'last' | 'count'
>;

interface RunView {
  readonly timestamp: string;
  readonly correlationId?: string | null;
  readonly deviceId?: string | null;
  readonly outcome: RunOutcome;
  readonly reason: string;
}

export interface TraceParts {
  /** Throws Problem 404. */
  readonly routeOf: (deviceId: string) => UplinkRoute | Promise<UplinkRoute>;
  readonly metricsOf: (deviceId: string) => Promise<DeviceMetrics | undefined>;
  readonly uplinks: (range: RawUplinkRange) => Promise<RawUplinkPage>;
  /** Notes on one uplink. */
  readonly notesOf: (
    deviceId: string,
    correlationId: string,
  ) => Promise<readonly ProcessingLogEntry[]>;
  /** When the newest sample of each topic was measured. */
  readonly topics: (
    deviceId: string,
  ) => Promise<readonly { readonly topic: string; readonly newest: EpochMs }[]>;
  /** The newest stored sample of the topic at or before the time. */
  readonly sampleAt: (
    deviceId: string,
    topic: string | undefined,
    at: EpochMs,
  ) => Promise<Sample | undefined>;
  /** Of a workspace, the last ones first. */
  readonly refusals: (workspaceId: string) => Promise<readonly TracedRefusal[]>;
  /** Rules that read the device, or its tags. */
  readonly rulesOf: (
    deviceId: string,
    tagIds: readonly string[],
    max: number,
  ) => Promise<readonly Rule[]>;
  /** Of the workspace. */
  readonly rule: (id: string, workspaceId: string) => Promise<Rule | undefined>;
  /** Newest first. */
  readonly runsOf: (ruleId: string) => Promise<readonly unknown[]>;
  readonly simulate: (
    ruleId: string,
    range: { readonly from: EpochMs; readonly to: EpochMs },
  ) => Promise<{ readonly content: readonly unknown[] }>;
  readonly alarmsOf: (rule: Rule, deviceId: string) => Promise<readonly Alarm[]>;
  /** Those of the workspace, and those of the installation. */
  readonly outputs: (
    ids: readonly string[],
    workspaceId: string,
  ) => Promise<readonly { readonly id: string; readonly name: string; readonly type: string }[]>;
  readonly deliveries: DeliveryBook;
  readonly retentionMs: number;
  readonly now: () => EpochMs;
  /** Milliseconds that only move on. */
  readonly clock: () => number;
}

/** What the caller may see besides the device. */
interface TraceReach {
  readonly rules: boolean;
  readonly deliveries: boolean;
}

/** The uplink that is followed. */
interface Subject {
  /** Correlation id; null for stored samples without an uplink. */
  readonly id: string | null;
  readonly at: EpochMs;
  /** Undefined when it is no longer kept. */
  readonly raw: RawUplink | undefined;
  readonly notes: readonly ProcessingLogEntry[];
}

/** Everything that the steps read. */
interface Trail {
  readonly on: TraceParts;
  readonly reach: TraceReach;
  readonly asked: TraceQuestion;
  readonly route: UplinkRoute;
  readonly now: EpochMs;
  readonly isLate: () => boolean;
  readonly steps: TraceStep[];
}

/** Throws Problem 404 for an unknown device. */
export async function traceDevice(
  deviceId: string,
  asked: TraceQuestion,
  reach: TraceReach,
  on: TraceParts,
): Promise<DeviceTrace> {
  const until = on.clock() + traceLimits.durationMs;
  const trail: Trail = {
    on,
    reach,
    asked,
    route: await on.routeOf(deviceId),
    now: on.now(),
    isLate: () => on.clock() > until,
    steps: [],
  };
  const subject = await arrival(trail);
  if (subject !== undefined) {
    const samples = await decoding(trail, subject);
    await storing(trail, subject, samples);
    const fired = await ruling(trail, subject, samples);
    await delivering(trail, subject, samples, fired);
  }
  return {
    at: subject?.at ?? trail.steps[0]?.at ?? null,
    verdict: verdictOf(trail),
    steps: trail.steps,
  };
}

function verdictOf({ steps, route }: Trail): DeviceTrace['verdict'] {
  const step =
    steps.find(({ state }) => state === 'BROKEN') ?? steps.find(({ state }) => state === 'WAITING');
  if (step === undefined) return { code: 'OK', text: 'No step is broken.', fix: null };
  return { code: step.code, text: step.text, fix: fixOf(step, route) };
}

function add(
  { steps }: Trail,
  kind: TraceKind,
  state: TraceState,
  step: {
    readonly code?: TraceCode;
    readonly text: string;
    readonly at?: EpochMs | null;
    readonly details?: JsonObject;
    readonly link?: TraceLink | null;
  },
): void {
  const { code = 'OK', text, at = null, details = null, link = null } = step;
  steps.push({ kind, state, at, code, text, details, link });
}

// Arrival: the uplink that is asked for, or why there is none.

async function arrival(trail: Trail): Promise<Subject | undefined> {
  const { on, asked, route, now } = trail;
  const { device } = route;
  if (asked.correlationId !== undefined || asked.at !== undefined) return namedUplink(trail);
  const metrics = await on.metricsOf(device.id);
  const [raw] = (await on.uplinks({ deviceId: device.id, skip: 0, limit: 1 })).uplinks;
  const newest = Math.max(...(await on.topics(device.id)).map((topic) => topic.newest), -Infinity);
  const last = Math.max(raw?.receivedAt ?? -Infinity, metrics?.timestamp ?? -Infinity);
  const { onlineState } = onlineStateOf(null, metrics ?? null, device.onlineTimeoutSeconds, now);
  const isHeard = last > -Infinity;
  const isQuiet = !isHeard || onlineState === 'OFFLINE';
  const refusal = await refusalOf(trail, isHeard ? last : -Infinity, isQuiet);
  if (refusal !== undefined) {
    refused(trail, refusal);
    return undefined;
  }
  if (!isHeard && newest === -Infinity) {
    add(trail, 'ARRIVED', 'BROKEN', {
      code: 'NEVER_HEARD',
      text: 'Nothing has ever arrived from this device, and no uplink with its device ID was rejected in the last 7 days.',
      link: { kind: 'DEVICE_CONNECTOR', id: route.connector.id },
    });
    return undefined;
  }
  // Samples that were stored without an uplink, as those of backfills.
  if (!isHeard) {
    add(trail, 'ARRIVED', 'OK', {
      at: newest,
      text: `Samples were stored without an uplink; the newest is of ${formatInstant(newest)}.`,
      details: { withoutUplink: true },
    });
    return { id: null, at: newest, raw: undefined, notes: [] };
  }
  const isLastKept = raw !== undefined && raw.receivedAt >= last;
  const id = isLastKept ? raw.id : (metrics?.uplinkId ?? null);
  if (onlineState === 'OFFLINE')
    add(trail, 'ARRIVED', 'BROKEN', {
      code: 'SILENT',
      at: last,
      text: `The last uplink arrived at ${formatInstant(last)}, longer ago than the ${durationText(device.onlineTimeoutSeconds * 1_000)} after which the device counts as silent.`,
      details: { timeoutSeconds: device.onlineTimeoutSeconds },
      link: { kind: 'DEVICE', id: device.id },
    });
  else arrived(trail, last, isLastKept ? raw : undefined);
  const notes = id === null ? [] : await on.notesOf(device.id, id);
  return { id, at: last, raw: isLastKept ? raw : undefined, notes };
}

function arrived(trail: Trail, at: EpochMs, raw: RawUplink | undefined): void {
  const bytes = raw?.payload.bodyBytes;
  const size = bytes === undefined ? '' : ` with ${bytes} bytes`;
  const transport = trail.route.connector.connectivity;
  const details = { transport, ...(bytes !== undefined && { bytes }) };
  add(trail, 'ARRIVED', 'OK', { at, details, text: `An uplink arrived over ${transport}${size}.` });
}

/** The uplink with the correlation id, or the newest one at or before the time. */
async function namedUplink(trail: Trail): Promise<Subject | undefined> {
  const { on, asked, route } = trail;
  const { id: deviceId } = route.device;
  const { correlationId: id } = asked;
  const to = asked.at === undefined ? undefined : asked.at + 1;
  const notes = id === undefined ? [] : await on.notesOf(deviceId, id);
  const raw = id === undefined ? await newestUplink(trail, to) : await uplinkById(trail, id, to);
  if (raw !== undefined) {
    arrived(trail, raw.receivedAt, raw);
    return {
      id: raw.id,
      at: raw.receivedAt,
      raw,
      notes: id === undefined ? await on.notesOf(deviceId, raw.id) : notes,
    };
  }
  const at = notes.at(-1)?.timestamp ?? asked.at ?? null;
  const code = at === null || at < trail.now - on.retentionMs ? 'EXPIRED' : 'OK';
  add(trail, 'ARRIVED', 'UNKNOWN', { code, at, ...noLongerKept(on) });
  return at === null ? undefined : { id: id ?? null, at, raw: undefined, notes };
}

function noLongerKept({ retentionMs }: TraceParts) {
  return {
    text: `The payload of then is no longer kept (${durationText(retentionMs)}).`,
    details: { keptSeconds: retentionMs / 1_000 },
  };
}

async function newestUplink({ on, route }: Trail, to: EpochMs | undefined) {
  const range = { deviceId: route.device.id, skip: 0, limit: 1, ...(to !== undefined && { to }) };
  return (await on.uplinks(range)).uplinks[0];
}

async function uplinkById({ on, route, isLate }: Trail, id: string, to: EpochMs | undefined) {
  const { uplinksPerRead: limit, uplinksSeenMax } = traceLimits;
  for (let skip = 0; skip < uplinksSeenMax && !isLate(); skip += limit) {
    const range = { deviceId: route.device.id, skip, limit, ...(to !== undefined && { to }) };
    const { uplinks } = await on.uplinks(range);
    const found = uplinks.find((uplink) => uplink.id === id);
    if (found !== undefined || uplinks.length < limit) return found;
  }
  return undefined;
}

/**
 * A refusal since the time that names the device, or else a similar one, if `isQuiet`: another device
 * may well be meant while this one sends.
 */
async function refusalOf(
  { on, route }: Trail,
  since: EpochMs,
  isQuiet: boolean,
): Promise<TracedRefusal | undefined> {
  const { deviceId, workspaceId } = route.device;
  const later = (await on.refusals(workspaceId)).filter(({ last }) => last > since);
  const own = later.find((refusal) => refusal.deviceId === deviceId);
  if (own !== undefined || !isQuiet) return own;
  const similar = later.flatMap((refusal) => {
    if (refusal.reason !== 'UNKNOWN_DEVICE' || refusal.deviceId === null) return [];
    const slips = slipsBetween(refusal.deviceId, deviceId);
    return slips === undefined ? [] : [{ refusal, slips }];
  });
  return similar.toSorted((one, other) => one.slips - other.slips)[0]?.refusal;
}

function refused(trail: Trail, refusal: TracedRefusal): void {
  const { deviceId } = trail.route.device;
  const { last: at, deviceId: named, message, transport, reason, connectorId, count } = refusal;
  const isOther = named !== null && named !== deviceId;
  const link: TraceLink = { kind: 'DEVICE_CONNECTOR', id: connectorId };
  const text = `An uplink arrived over ${transport}.`;
  add(trail, 'ARRIVED', 'OK', { at, text, details: { transport }, link });
  add(trail, 'REFUSED', 'BROKEN', {
    code: 'REFUSED',
    at,
    text: isOther
      ? `The uplink was rejected: no device has the ID \`${named}\`. Did you mean \`${deviceId}\`?`
      : `The uplink was rejected: ${message}`,
    details: {
      refusalId: refusal.id,
      connectorId,
      reason,
      deviceId: named,
      count,
      message,
      ...(isOther && { meant: deviceId }),
    },
    link,
  });
}

// Decoding: the samples that the uplink led to, and whether the topic and key are in them.

async function decoding(trail: Trail, subject: Subject): Promise<readonly Sample[]> {
  const { on, asked, route } = trail;
  const { raw, notes, at } = subject;
  const { flow, type } = route;
  const decoder: TraceLink =
    type === null ? { kind: 'DATA_FLOW', id: flow.id } : { kind: 'DEVICE_TYPE', id: type.id };
  const isScripted = !flow.passThrough && (type?.uplinkScript ?? null) !== null;
  const error = notes.find(({ level, source }) => level === 'ERROR' && source === 'SCRIPT');
  const unread = notes.find(({ level, source }) => level === 'ERROR' && source === 'UPLINK');
  const break_ = (code: TraceCode, text: string, about: JsonObject) => {
    const details = { ...about, correlationId: subject.id };
    add(trail, 'DECODED', 'BROKEN', { code, text, at, link: decoder, details });
  };
  if (error !== undefined) {
    const { message } = error;
    break_('SCRIPT_ERROR', `The decoder failed: ${message}`, { ...error.details, message });
    return raw?.samples ?? [];
  }
  if (raw === undefined || raw.samples === null) {
    const stored = await on.sampleAt(route.device.id, asked.topic, at);
    const why =
      raw === undefined
        ? noLongerKept(on)
        : { text: 'The samples of the uplink are too large to be kept with it.' };
    add(trail, 'DECODED', subject.id === null ? 'SKIPPED' : 'UNKNOWN', { at, ...why });
    return stored === undefined ? [] : [stored];
  }
  const { samples, duplicates } = raw;
  if (samples.length === 0 && duplicates === 0) {
    const reason = unread?.message ?? 'the decoder emitted no sample';
    const text = `The payload led to no sample: ${reason}.`.replace('..', '.');
    break_('NO_SAMPLE', text, unread === undefined ? {} : { message: unread.message });
    return [];
  }
  const ofTopic =
    asked.topic === undefined ? samples : samples.filter(({ topic }) => topic === asked.topic);
  if (ofTopic.length === 0 && samples.length > 0) {
    const topics = [...new Set(samples.map(({ topic }) => topic))].slice(0, 10).join(', ');
    const text = `The uplink led to no sample with topic ${asked.topic}, but to ${topics}.`;
    break_('NO_SAMPLE', text, { topic: asked.topic ?? null, topics });
    return samples;
  }
  if (brokenKey(ofTopic, asked.dataKey, break_)) return ofTopic;
  const many = `${samples.length} ${samples.length === 1 ? 'sample' : 'samples'}`;
  const again = duplicates === 0 ? '' : ` and ${duplicates} that were stored before`;
  const how = isScripted ? 'The decoder emitted' : 'The payload was taken as';
  const details = { samples: samples.length, duplicates, isScripted };
  add(trail, 'DECODED', 'OK', { at, text: `${how} ${many}${again}.`, details, link: decoder });
  return ofTopic;
}

/** Whether the key is missing, or was removed; without a key, whether nothing is left. */
function brokenKey(
  samples: readonly Sample[],
  dataKey: string | undefined,
  break_: (code: TraceCode, text: string, about: JsonObject) => void,
): boolean {
  const removed = samples.flatMap(({ meta }) => Object.entries(removedIn(meta)));
  if (dataKey === undefined) {
    const [first] = removed;
    if (first === undefined || samples.some(({ data }) => Object.keys(data).length > 0))
      return false;
    const message = messageOf(first[1]);
    const text = `Every data key was removed: ${message} at ${first[0]}.`;
    break_('KEY_INVALID', text, { dataKey: first[0], message, isEvery: true });
    return true;
  }
  if (samples.length === 0) return false;
  const value = samples.map(({ data }) => valueAt(data, dataKey)).find((one) => one !== undefined);
  if (value !== undefined && value !== null) return false;
  const invalid = removed.find(([path]) => path === dataKey || path.startsWith(`${dataKey} (`));
  if (invalid !== undefined) {
    const message = messageOf(invalid[1]);
    break_('KEY_INVALID', `The data key ${dataKey} was removed: ${message}.`, { dataKey, message });
  } else if (value === null)
    break_('KEY_MISSING', `The data key ${dataKey} is null in the sample.`, {
      dataKey,
      isNull: true,
    });
  else {
    const keys = [...new Set(samples.flatMap(({ data }) => Object.keys(data)))].slice(0, 20);
    const has = keys.length === 0 ? 'no keys' : keys.join(', ');
    const text = `The sample lacks the data key ${dataKey}; it has ${has}.`;
    break_('KEY_MISSING', text, { dataKey, keys: keys.join(', ') });
  }
  return true;
}

function removedIn(meta: Json | undefined): JsonObject {
  const removed = isJsonObject(meta) ? meta['svcDataKeyValidation'] : undefined;
  return isJsonObject(removed) ? removed : {};
}

function messageOf(removed: Json | undefined): string {
  return isJsonObject(removed) ? String(removed['message']) : 'invalid data key';
}

function valueAt(data: JsonObject, path: string): Json | undefined {
  if (Object.hasOwn(data, path)) return data[path];
  let value: Json | undefined = data;
  for (const key of path.split('.')) {
    if (!isJsonObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

// Storing: whether the data flow stores the topic, and for how long.

async function storing(trail: Trail, subject: Subject, samples: readonly Sample[]): Promise<void> {
  const { on, asked, route, now } = trail;
  const flow: TraceLink = { kind: 'DATA_FLOW', id: route.flow.id };
  const [sample] = samples.toSorted((one, other) => other.timestamp - one.timestamp);
  if (sample === undefined) {
    add(trail, 'STORED', 'SKIPPED', { text: 'There was no sample to store.' });
    return;
  }
  const { topic, timestamp } = sample;
  const kept = storedTopicsOf(route);
  if (kept !== '*' && !kept.has(topic)) {
    const text = `The data flow ${route.flow.name} does not store samples with topic ${topic}.`;
    // Who asks for a rule or an output does not ask for the database.
    const isAsked = asked.ruleId === undefined && asked.outputConnectorId === undefined;
    const step = { text, details: { topic, dataFlow: route.flow.name }, link: flow };
    if (isAsked) add(trail, 'STORED', 'BROKEN', { code: 'NOT_ROUTED', ...step });
    else add(trail, 'STORED', 'SKIPPED', step);
    return;
  }
  if (isTooOld(timestamp, route.keptDays, now)) {
    add(trail, 'STORED', 'BROKEN', {
      code: 'EXPIRED',
      at: timestamp,
      text: `The sample is of ${formatInstant(timestamp)}, and samples are kept for ${route.keptDays} days.`,
      details: { keptDays: route.keptDays ?? null },
      link: flow,
    });
    return;
  }
  const found = await on.sampleAt(route.device.id, topic, timestamp);
  if (found?.timestamp === timestamp)
    add(trail, 'STORED', 'OK', {
      at: timestamp,
      text: `Stored with topic ${topic}.`,
      details: { topic },
    });
  else
    add(trail, 'STORED', 'UNKNOWN', {
      at: subject.at,
      text: `The sample of ${formatInstant(timestamp)} is not stored any more: it was deleted or corrected.`,
    });
}

// Rules: what each rule that reads the device made of the uplink.

interface Fired {
  readonly rule: Rule;
  readonly fired: boolean;
}

async function ruling(
  trail: Trail,
  subject: Subject,
  samples: readonly Sample[],
): Promise<readonly Fired[]> {
  const { on, asked, route, reach } = trail;
  if (!reach.rules) {
    add(trail, 'RULE', 'SKIPPED', { text: 'You may not read rules (rule read).' });
    return [];
  }
  const tagIds = route.tags.map(({ id }) => id);
  const rules = await rulesAsked(trail, tagIds);
  if (rules === undefined) return [];
  if (rules.length === 0) {
    add(trail, 'RULE', 'SKIPPED', { text: 'No rule reads this device.' });
    return [];
  }
  const fired: Fired[] = [];
  for (const rule of rules) {
    if (trail.isLate()) {
      add(trail, 'RULE', 'UNKNOWN', { text: 'There was no time to look at all rules.' });
      break;
    }
    fired.push({ rule, fired: await ruleStep(trail, rule, subject, samples, tagIds) });
  }
  const firing = fired.filter((one) => one.fired);
  for (const { rule } of firing) {
    const alarms = await on.alarmsOf(rule, route.device.id);
    const own = alarms.find(({ correlationId }) => correlationId === subject.id) ?? alarms[0];
    if (own === undefined) continue;
    if (own.muted !== null) {
      add(trail, 'ALARM', 'WAITING', {
        code: 'MUTED',
        at: own.lastTriggered,
        text: `The alarm ${own.name} is muted until ${formatInstant(own.muted.until)}: it sends no messages.`,
        details: {
          alarmId: own.id,
          muteId: own.muted.muteId,
          alarm: own.name,
          until: formatInstant(own.muted.until),
        },
        link: { kind: 'RULE', id: rule.id },
      });
      continue;
    }
    add(trail, 'ALARM', 'OK', {
      at: own.lastTriggered,
      text: `The alarm ${own.name} is ${own.state.toLowerCase()}.`,
      details: { alarmId: own.id, alarm: own.name, alarmState: own.state },
      link: { kind: 'RULE', id: rule.id },
    });
  }
  if (asked.ruleId !== undefined && firing.length === 0)
    add(trail, 'ALARM', 'SKIPPED', { text: 'The rule did not fire for this uplink.' });
  return firing;
}

/** Undefined when the rule that is asked for does not exist, which is said. */
async function rulesAsked(
  trail: Trail,
  tagIds: readonly string[],
): Promise<readonly Rule[] | undefined> {
  const { on, asked, route } = trail;
  const { id, workspaceId } = route.device;
  if (asked.ruleId === undefined) return on.rulesOf(id, tagIds, traceLimits.rulesMax);
  const rule = await on.rule(asked.ruleId, workspaceId);
  if (rule !== undefined) return [rule];
  add(trail, 'RULE', 'BROKEN', {
    code: 'RULE_OF_OTHERS',
    text: `No rule of this workspace has the ID ${asked.ruleId}.`,
    details: { ruleId: asked.ruleId },
  });
  return undefined;
}

/** Whether it fired. */
async function ruleStep(
  trail: Trail,
  rule: Rule,
  subject: Subject,
  samples: readonly Sample[],
  tagIds: readonly string[],
): Promise<boolean> {
  // What nobody asks for is not broken because it is off or false.
  const isAsked = trail.asked.ruleId !== undefined;
  const link: TraceLink = { kind: 'RULE', id: rule.id };
  const say = (state: TraceState, code: TraceCode, text: string, at?: EpochMs | null) =>
    add(trail, 'RULE', state, {
      code,
      text: `${rule.name}: ${text}`,
      at: at ?? null,
      details: { rule: rule.name, ...(at !== undefined && { reason: text }) },
      link,
    });
  if (!reads(rule, trail.route.device.id, tagIds)) {
    say('BROKEN', 'RULE_OF_OTHERS', 'the rule does not read this device');
    return false;
  }
  if (!rule.active) {
    say(isAsked ? 'BROKEN' : 'SKIPPED', 'RULE_OFF', 'the rule is switched off');
    return false;
  }
  const run = await runFor(trail, rule, subject, samples);
  if (run === undefined) {
    if (rule.timer.enabled || trail.now - subject.at < minuteMs)
      say('WAITING', 'RULE_WAITING', 'the rule has not run for this uplink yet');
    else
      say(
        isAsked ? 'BROKEN' : 'SKIPPED',
        'RULE_OF_OTHERS',
        'the rule reads no topic and data key of this uplink',
      );
    return false;
  }
  const at = parseInstant(run.timestamp) ?? null;
  switch (run.outcome) {
    case 'FIRED':
      say('OK', 'OK', `fired: ${run.reason}`, at);
      return true;
    case 'SUPPRESSED':
      say(isAsked ? 'BROKEN' : 'OK', 'RULE_SUPPRESSED', run.reason, at);
      return false;
    case 'NOT_FIRED':
    case 'LATE':
      if (isWaiting(run.reason)) say('WAITING', 'RULE_WAITING', run.reason, at);
      else say(isAsked ? 'BROKEN' : 'OK', 'RULE_FALSE', run.reason, at);
      return false;
    default:
      say('BROKEN', 'RULE_FAILED', run.reason, at);
      return false;
  }
}

/** As `runOf` writes it of a block whose time is not over. */
function isWaiting(reason: string): boolean {
  return /^logic block \d+ is met since .*; it is true after /.test(reason);
}

function reads({ inputs }: Rule, deviceId: string, tagIds: readonly string[]): boolean {
  return inputs.some(({ type, id, tagCombination }) => {
    if (type === 'DEVICE') return id === deviceId;
    if (type === 'ASSET_TAG') return tagIds.includes(id);
    const [join, list = ''] = (tagCombination ?? '').split(':');
    const ids = list.split(',');
    if (join === 'AND') return ids.every((tag) => tagIds.includes(tag));
    return ids.some((tag) => tagIds.includes(tag));
  });
}

/** The run of the uplink; of one that is no longer listed, what the rule as it is now makes of it. */
async function runFor(
  { on, route }: Trail,
  rule: Rule,
  subject: Subject,
  samples: readonly Sample[],
): Promise<RunView | undefined> {
  const runs = (await on.runsOf(rule.id)) as readonly RunView[];
  const listed = runs.find(({ correlationId }) => correlationId === (subject.id ?? ''));
  if (listed !== undefined) return listed;
  const oldest = runs.at(-1)?.timestamp;
  // Those since are listed, so that the rule did not run for it.
  const isListed = oldest !== undefined && (parseInstant(oldest) ?? Infinity) <= subject.at;
  if (isListed && subject.id !== null) return undefined;
  const time = samples[0]?.timestamp;
  if (time === undefined || rule.activatedAt > subject.at) return undefined;
  const range = { from: Math.max(time - minuteMs + 1, 0), to: time + 1 };
  const { content } = await on.simulate(rule.id, range);
  const own = (content as readonly RunView[]).filter(
    ({ deviceId }) => (deviceId ?? route.device.id) === route.device.id,
  );
  const newest = own.toSorted((one, other) => (one.timestamp < other.timestamp ? 1 : -1))[0];
  return newest && { ...newest, reason: `${newest.reason} (simulated with the rule as it is now)` };
}

// Deliveries: what each output made of the uplink.

/** Outputs that are no target of deliveries. */
const ownTypes: ReadonlySet<string> = new Set(['DATABASE', 'ALARM', 'INSTALLATION_MAIL']);

interface Wanted {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  /** Whether the data flow or a rule that fired sends to it. */
  readonly isRouted: boolean;
}

async function delivering(
  trail: Trail,
  subject: Subject,
  samples: readonly Sample[],
  fired: readonly Fired[],
): Promise<void> {
  const { route, reach } = trail;
  if (!reach.deliveries) {
    add(trail, 'DELIVERY', 'SKIPPED', { text: 'You may not read deliveries (dataFlow read).' });
    return;
  }
  const outputs = await outputsWanted(trail, samples, fired);
  if (outputs.length === 0)
    add(trail, 'DELIVERY', 'SKIPPED', { text: 'No output was to get this uplink.' });
  let left: number = traceLimits.deliveriesMax;
  for (const output of outputs) {
    if (trail.isLate() || left <= 0) {
      add(trail, 'DELIVERY', 'UNKNOWN', { text: 'There was no time to look at all outputs.' });
      return;
    }
    const found = await deliveriesOf(trail, subject, output.id, left);
    left -= found.length;
    for (const delivery of found) deliveryStep(trail, output, delivery);
    if (found.length > 0) continue;
    const link: TraceLink = { kind: 'OUTPUT_CONNECTOR', id: output.id };
    const details = { output: output.name };
    if (!output.isRouted)
      add(trail, 'DELIVERY', 'BROKEN', {
        code: 'NOT_ROUTED',
        text: `Neither the data flow ${route.flow.name} nor a rule that fired sends this uplink to ${output.name}.`,
        details: { output: output.name, dataFlow: route.flow.name },
        link: { kind: 'DATA_FLOW', id: route.flow.id },
      });
    else if (samples.length === 0)
      add(trail, 'DELIVERY', 'SKIPPED', {
        text: `${output.name}: there was no sample to send.`,
        details,
        link,
      });
    else if (trail.now - subject.at < minuteMs)
      add(trail, 'DELIVERY', 'WAITING', {
        code: 'DELIVERY_WAITING',
        text: `${output.name}: the delivery is being made.`,
        details,
        link,
      });
    else
      add(trail, 'DELIVERY', 'UNKNOWN', {
        text: `${output.name}: the delivery log does not list the uplink any more.`,
        details,
        link,
      });
  }
}

async function outputsWanted(
  { on, asked, route }: Trail,
  samples: readonly Sample[],
  fired: readonly Fired[],
): Promise<readonly Wanted[]> {
  const routed = new Map<string, Wanted>();
  for (const { connector, topic } of route.outputs)
    if (topic === '*' || samples.length === 0 || samples.some((sample) => sample.topic === topic))
      routed.set(connector.id, { ...named(connector), isRouted: true });
  const ofRules = fired.flatMap(({ rule }) => rule.actions.map(({ id }) => id));
  const { outputConnectorId } = asked;
  const unknown = [
    ...new Set([...ofRules, ...((outputConnectorId ?? '') ? [outputConnectorId ?? ''] : [])]),
  ];
  const others = unknown.filter((id) => !routed.has(id)).slice(0, traceLimits.outputsMax);
  const found = new Map(
    (await on.outputs(others, route.device.workspaceId)).map((output) => [output.id, output]),
  );
  for (const id of others) {
    const output = found.get(id) ?? { id, name: id, type: 'UNKNOWN' };
    routed.set(id, { ...named(output), isRouted: ofRules.includes(id) });
  }
  const all = [...routed.values()].filter(({ type }) => !ownTypes.has(type));
  if (outputConnectorId === undefined) return all.slice(0, traceLimits.outputsMax);
  return all.filter(({ id }) => id === outputConnectorId);
}

const named = ({ id, name, type }: Omit<Wanted, 'isRouted'>) => ({ id, name, type });

async function deliveriesOf(
  { on, route }: Trail,
  { id, at }: Subject,
  connectorId: string,
  max: number,
): Promise<readonly Delivery[]> {
  if (id === null) return [];
  const { organizationId, workspaceId, id: deviceId } = route.device;
  const filter = { connectorId, organizationId, workspaceIds: [workspaceId], deviceId };
  const size = traceLimits.deliveriesMax;
  // Newest first; those of before the uplink are not of it.
  for (let page = 0; ; page++) {
    const { rows } = await on.deliveries.list(filter, { page, size, sort: [] });
    const own = rows.filter(({ correlationId }) => correlationId === id);
    const oldest = rows.at(-1)?.created ?? 0;
    if (own.length > 0 || rows.length < size || oldest < at - minuteMs) return own.slice(0, max);
    if (page >= traceLimits.deliveriesMax) return [];
  }
}

function deliveryStep(trail: Trail, { id, name }: Wanted, delivery: Delivery): void {
  const { state, tries, reason, updated: at, nextAt } = delivery;
  const link: TraceLink = { kind: 'OUTPUT_CONNECTOR', id };
  const details = { deliveryId: delivery.id, output: name, tries, ...(reason && { reason }) };
  const times = `${tries} ${tries === 1 ? 'attempt' : 'attempts'}`;
  if (state === 'DELIVERED')
    add(trail, 'DELIVERY', 'OK', { at, details, link, text: `${name}: delivered.` });
  else if (state === 'DEAD')
    add(trail, 'DELIVERY', 'BROKEN', {
      code: 'DELIVERY_FAILED',
      at,
      details,
      link,
      text: `${name}: given up after ${times}: ${reason ?? 'no reason is known'}`,
    });
  else
    add(trail, 'DELIVERY', 'WAITING', {
      code: 'DELIVERY_WAITING',
      at,
      details: { ...details, nextAt: formatInstant(nextAt) },
      link,
      text:
        tries === 0
          ? `${name}: the delivery waits for its turn.`
          : `${name}: failed ${tries === 1 ? 'once' : `${tries} times`}, next attempt at ${formatInstant(nextAt)}: ${reason ?? ''}`,
    });
}

// Fixes: what to do for each code, and where.

type Fixes = Readonly<
  Record<Exclude<TraceCode, 'OK'>, (step: TraceStep, route: UplinkRoute) => TraceFix>
>;

const fixes: Fixes = {
  NEVER_HEARD: (_, { connector }) => ({
    text: 'Send a first uplink with the address, secret and device ID that the device connector shows.',
    link: { kind: 'DEVICE_CONNECTOR', id: connector.id },
  }),
  SILENT: (_, { device }) => ({
    text: 'Check power and network of the device. If it sends less often, raise the time after which it counts as silent.',
    link: { kind: 'DEVICE', id: device.id },
  }),
  REFUSED: ({ details, link }) => ({
    text: refusalFixes[String(details?.['reason'])] ?? 'Correct what the device sends.',
    link,
  }),
  SCRIPT_ERROR: (step) => ({
    text: 'Correct the decoder, and try it on this payload.',
    link: step.link,
  }),
  NO_SAMPLE: (step) => ({
    text: 'Let the decoder emit a sample for this payload and topic.',
    link: step.link,
  }),
  KEY_MISSING: (step) => ({ text: 'Let the decoder emit the data key.', link: step.link }),
  KEY_INVALID: (step) => ({
    text: 'Let the decoder emit data keys of letters, digits and underscores.',
    link: step.link,
  }),
  EXPIRED: (step) => ({
    text: 'Check the clock of the device, or keep samples for longer.',
    link: step.link,
  }),
  RULE_OFF: (step) => ({ text: 'Switch the rule on.', link: step.link }),
  RULE_OF_OTHERS: (step) => ({
    text: 'Add the device, or one of its tags, and the data key to the inputs of the rule.',
    link: step.link,
  }),
  RULE_FALSE: (step) => ({ text: 'Check the condition of the rule.', link: step.link }),
  RULE_SUPPRESSED: (step) => ({
    text: 'The rule acts when it becomes true. Let its output repeat while it stays true.',
    link: step.link,
  }),
  RULE_WAITING: (step) => ({ text: 'Wait, or shorten the time in the rule.', link: step.link }),
  RULE_FAILED: (step) => ({ text: 'Correct the script or formula of the rule.', link: step.link }),
  MUTED: (step) => ({ text: 'End the mute.', link: step.link }),
  NOT_ROUTED: (_, { flow }) => ({
    text: 'Add the output to the data flow.',
    link: { kind: 'DATA_FLOW', id: flow.id },
  }),
  DELIVERY_WAITING: (step) => ({
    text: 'Wait for the next attempt, or check the output.',
    link: step.link,
  }),
  DELIVERY_FAILED: (step) => ({
    text: 'Correct the output, then resend the delivery.',
    link: step.link,
  }),
};

const refusalFixes: Readonly<Record<string, string>> = {
  UNKNOWN_DEVICE: 'Register this device, or correct the device ID.',
  OTHER_CONNECTOR:
    'Send with the secret of the device connector of this device, or move the device to a data flow of the other one.',
  WRONG_SECRET: 'Send the secret that the device connector shows.',
  INVALID_BODY: 'Correct the payload that the device sends.',
  TOO_LARGE: 'Send smaller payloads.',
  UNSUPPORTED_TYPE: 'Send the payload without this content encoding.',
};

function fixOf(step: TraceStep, route: UplinkRoute): TraceFix | null {
  return step.code === 'OK' ? null : fixes[step.code](step, route);
}

function durationText(ms: number): string {
  const units = [
    ['day', dayMs],
    ['hour', dayMs / 24],
    ['minute', minuteMs],
    ['second', 1_000],
  ] as const;
  for (const [unit, length] of units) {
    const many = ms / length;
    if (many >= 1) return `${Math.round(many * 10) / 10} ${unit}${many === 1 ? '' : 's'}`;
  }
  return `${ms} ms`;
}
