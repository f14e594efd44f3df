// Backfill sample as a client writes it: {deviceId?, data, topic?, timestamp?, meta?} (interface 4.3, contract 28, 37).
import { type EpochMs, formatInstant } from '../../model/instant.ts';
import { timestampFault, timestampOf } from '../../model/timestamp.ts';
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import { isLongName, longNameReason } from '../../model/ids.ts';
import { problems } from '../../model/problem-table.ts';
import { defaultTopic } from '../../model/sample.ts';

/** What a backfilled sample says of itself, absent parts filled in. */
export interface BackfillSample {
  readonly topic: string;
  readonly timestamp: EpochMs;
  readonly data: JsonObject;
  readonly meta: JsonObject | undefined;
}

/** Why a sample cannot be stored, with a code of the catalogue. */
export interface SampleRefusal {
  readonly errorCode: string;
  readonly message: string;
}

export function isRefusal<T extends object>(read: T | SampleRefusal): read is SampleRefusal {
  return 'errorCode' in read;
}

// Made once: a body can hold a hundred thousand refused samples.
const notAnObject = refusalOf(problems.sampleNotAnObject);
const dataMissing = refusalOf(problems.sampleDataMissing);
const topicNotText = refusalOf(problems.sampleTopicNotText);
const metaNotAnObject = refusalOf(problems.sampleMetaNotAnObject);
const deviceMissing = refusalOf(problems.sampleDeviceMissing);

/**
 * Reads one element of a backfill. Without `timestamp` it is `now`, without `topic` `default`; null
 * counts as absent. An
 * invalid topic text or data key is no reason to refuse: validation mends it.
 */
export function readBackfillSample(element: Json, now: EpochMs): BackfillSample | SampleRefusal {
  if (!isJsonObject(element)) return notAnObject;
  const { data, topic, timestamp, meta } = element;
  if (!isJsonObject(data)) return dataMissing;
  if (topic !== undefined && topic !== null && typeof topic !== 'string') return topicNotText;
  if (meta !== undefined && meta !== null && !isJsonObject(meta)) return metaNotAnObject;
  const at = timestamp === undefined || timestamp === null ? now : timestampOf(timestamp);
  if (at === undefined) return refused('timestampInvalid', timestampFault(timestamp ?? now));
  return { topic: topic ?? defaultTopic, timestamp: at, data, meta: meta ?? undefined };
}

/** The service or physical id by which an element names its device (contract 37). */
export function deviceNameOf(element: Json): string | SampleRefusal {
  if (!isJsonObject(element)) return notAnObject;
  const { deviceId } = element;
  if (typeof deviceId !== 'string' || deviceId === '') return deviceMissing;
  if (isLongName(deviceId))
    return refused('nameTooLong', { reason: longNameReason('deviceId', deviceId) });
  return deviceId;
}

/**
 * Reveals nothing: unknown devices and those out of the caller's reach are refused with the same
 * words.
 */
export function deviceRefusal(deviceId: string): SampleRefusal {
  return refused('sampleDeviceUnknown', { deviceId: shortText(deviceId) });
}

export function ageRefusal(timestamp: EpochMs, keptDays: number): SampleRefusal {
  return refused('olderThanRetention', { timestamp: formatInstant(timestamp), keptDays });
}

/** Without an Error for each of many samples, whose stack would cost more than all else of them. */
function refused<
  N extends 'nameTooLong' | 'timestampInvalid' | 'sampleDeviceUnknown' | 'olderThanRetention',
>(name: N, details: Parameters<(typeof problems)[N]['message']>[0]): SampleRefusal {
  const { code, message } = problems[name];
  return { errorCode: code, message: (message as (given: typeof details) => string)(details) };
}

function refusalOf({
  code,
  message,
}: {
  readonly code: string;
  readonly message: string;
}): SampleRefusal {
  return { errorCode: code, message };
}

const shownLengthMax = 100;

function shortText(text: string): string {
  if (text.length <= shownLengthMax) return text;
  return `${text.slice(0, shownLengthMax)}…`;
}
