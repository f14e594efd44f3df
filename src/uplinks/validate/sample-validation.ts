// Sample validation: removes and notes invalid parts before a sample is stored, and notes unlikely times.
import { exactIntegersNote } from '../../model/json-keys.ts';
import { type EpochMs, formatInstant, newestUntil } from '../../model/instant.ts';
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import { cutName, isTopic } from '../../model/ids.ts';
import type { Note } from '../../model/entry-trace.ts';
import { defaultTopic, type Sample } from '../../model/sample.ts';
import type { UplinkMetrics } from '../../model/uplink-metrics.ts';
import { cleanedOf, isShallow, type RemovedKey, validationLimits } from './data-cleaning.ts';

// Uplink metrics that a device reports as measured values (interface 2.3).

type SampleMetrics = Pick<UplinkMetrics, 'sqi' | 'batteryLevel' | 'latitude' | 'longitude'>;

const noMetrics: SampleMetrics = Object.freeze({});

/**
 * Position (`latitude` and `longitude` in degrees), signal quality (1, 2 or 3; of `sqi`, `signalQuality`, `signalQualityIndicator` the first with
 * such a value) and battery level (0 to 100 percent). Values outside or of another type are
 * measured values like any other, and no metrics.
 */
function sampleMetrics(data: JsonObject): SampleMetrics {
  const metrics = signalAndBattery(data);
  const { latitude, longitude } = data;
  if (!isDegrees(latitude, 90) || !isDegrees(longitude, 180)) return metrics;
  return { ...metrics, latitude, longitude };
}

function isDegrees(value: unknown, max: number): value is number {
  return typeof value === 'number' && value >= -max && value <= max;
}

function signalAndBattery(data: JsonObject): SampleMetrics {
  const sqi =
    quality(data.sqi) ?? quality(data.signalQuality) ?? quality(data.signalQualityIndicator);
  const level = data.batteryLevel;
  const batteryLevel = typeof level === 'number' && level >= 0 && level <= 100 ? level : undefined;
  // Literals, because every sample is asked.
  if (sqi === undefined) return batteryLevel === undefined ? noMetrics : { batteryLevel };
  return batteryLevel === undefined ? { sqi } : { sqi, batteryLevel };
}

function quality(value: unknown): number | undefined {
  if (value === 1 || value === 2 || value === 3) return value;
  return undefined;
}

interface ValidatedSample<S extends Sample> {
  /** The very object that came in when everything was valid. */
  readonly sample: S;
  readonly notes: readonly Note[];
  readonly metrics: SampleMetrics;
}

export type Validated = ValidatedSample<Sample>;

const noNotes: readonly Note[] = Object.freeze([]);

/**
 * Checks topic and data keys (interface 2.3) and reads the uplink metrics. Never throws. An invalid
 * topic becomes `default`, an invalid key is removed; `meta.svcTopicValidation` and
 * `meta.svcDataKeyValidation` tell. Other `meta` stays; in those two properties the platform's
 * entries win over the script's of the same name.
 */
export function validateSample<S extends Sample>(sample: S): ValidatedSample<S> {
  const topicOk = sample.topic === defaultTopic || isTopic(sample.topic);
  const metaOk = sample.meta === undefined || isShallow(sample.meta);
  const found = cleanedOf(sample.data);
  if (topicOk && metaOk && found === undefined) {
    const exact = exactIntegersNote(sample.data);
    const notes = exact === undefined ? noNotes : [exact];
    return { sample, notes, metrics: sampleMetrics(sample.data) };
  }
  const notes: Note[] = [];
  const exact = exactIntegersNote(sample.data);
  if (exact !== undefined) notes.push(exact);
  if (!metaOk)
    notes.push(
      warning(
        `meta exceeds the maximum nesting depth of ${validationLimits.depthMax} and was dropped`,
      ),
    );
  const meta: Record<string, Json> = { ...(metaOk && sample.meta) };
  if (!topicOk) {
    const message = `invalid topic ${cutName(sample.topic)}`;
    meta.svcTopicValidation = { message };
    notes.push(
      warning(`${message}; stored with topic ${defaultTopic}`, {
        topic: cutName(sample.topic),
      }),
    );
  }
  const cleaned = found ?? { data: sample.data, removed: [], removedMore: 0, notFinite: [] };
  if (cleaned.removed.length > 0)
    meta.svcDataKeyValidation = removedKeysMeta(meta.svcDataKeyValidation, cleaned.removed);
  noteCleaning({ ...cleaned, what: 'invalid' }, notes);
  for (const path of cleaned.notFinite)
    notes.push(warning(`The number at ${path} is not finite and was stored as null`, { path }));
  const { meta: _, ...rest } = sample;
  const topic = topicOk ? sample.topic : defaultTopic;
  const checked = {
    ...rest,
    topic,
    data: cleaned.data,
    ...(Object.keys(meta).length > 0 && { meta }),
  };
  return { sample: checked as unknown as S, notes, metrics: sampleMetrics(cleaned.data) };
}

/**
 * `svcDataKeyValidation` with what was removed added to it. Entries are defined, not assigned: a
 * path can be `__proto__`.
 */
export function removedKeysMeta(
  given: Json | undefined,
  removed: readonly RemovedKey[],
): JsonObject {
  const entries = new Map<string, Json>(isJsonObject(given) ? Object.entries(given) : []);
  for (const { path, message, value } of removed) entries.set(path, { message, value });
  return Object.fromEntries(entries);
}

/** Notes the removed keys, the first ones singly; `what` says of what sort they are. */
export function noteCleaning(
  cleaned: {
    readonly removed: readonly RemovedKey[];
    readonly removedMore: number;
    readonly what: 'invalid' | 'new';
  },
  notes: Note[],
): void {
  const noted = cleaned.removed.slice(0, validationLimits.keyNotesMax);
  for (const { path, message } of noted)
    notes.push(warning(`${message} at ${path}; removed from the sample`, { path }));
  const more = cleaned.removed.length - noted.length + cleaned.removedMore;
  if (more > 0)
    notes.push(warning(`${more} more ${cleaned.what} data keys were removed from the sample`));
}

/** A note of the processing log. */
export function warning(message: string, details?: JsonObject): Note {
  return { level: 'WARN', source: 'UPLINK', message, ...(details && { details }) };
}

// Sample times: samples dated far ahead or before devices had clocks are stored and noted, because charts do not show them and they are newest to nothing.

/** Earlier times come from clocks that were not set, or from seconds that were sent as milliseconds. */
export const plausibleFrom: EpochMs = Date.UTC(2000, 0, 1);

/**
 * The validated sample, with a note when it is dated before 2000 or more than a day after `now`. With
 * a time of receipt it is dated then, and `meta.svcTimestamp` has the time that it named.
 */
export function withTimeNote<S extends Sample>(
  validated: ValidatedSample<S>,
  now: EpochMs,
  receivedAt?: EpochMs,
): ValidatedSample<S> {
  const { sample } = validated;
  const { timestamp } = sample;
  if (isPlausible(timestamp, now)) return validated;
  const at = formatInstant(timestamp);
  const isPast = timestamp < plausibleFrom;
  const when = isPast ? 'is before 2000' : 'is more than a day in the future';
  const areSeconds = isPast && isPlausible(timestamp * 1_000, now);
  const hint = areSeconds ? 'Send milliseconds, not seconds.' : "Check the device's clock.";
  const message = `The sample timestamp ${at} ${when}. ${hint}`;
  const notes = [...validated.notes, warning(message, { timestamp: at })];
  if (receivedAt === undefined) return { ...validated, notes };
  const meta = { ...sample.meta, svcTimestamp: { message, value: at } };
  return { ...validated, sample: { ...sample, timestamp: receivedAt, meta }, notes };
}

/** Whether clocks of devices can have shown the time. */
export function isPlausible(timestamp: EpochMs, now: EpochMs): boolean {
  return timestamp >= plausibleFrom && timestamp <= newestUntil(now);
}
