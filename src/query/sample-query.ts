// The samples query: which samples a request asks for, and how each is answered as JSON.
import { formatInstant } from '../model/instant.ts';
import type { JsonObject } from '../model/json.ts';
import { problem } from '../model/problem.ts';
import { defaultTopic, type Sample } from '../model/sample.ts';
import { parseBound } from '../model/timestamp.ts';
import type { SampleRange, SampleScan } from '../storage/samples/sample-store.ts';

const sampleLimitDefault = 8_000;
const sampleLimitMax = 10_000;
/** Represents all topics. */
export const everyTopic = '*';

/** Bounds as ISO-8601 date-times; several on one side must all hold. */
export interface TimestampBounds {
  readonly gt?: string | null;
  readonly gte?: string | null;
  readonly lt?: string | null;
  readonly lte?: string | null;
}

export interface SampleQueryBody {
  /** `default` when absent. */
  readonly topic?: string | null;
  readonly timestamp?: TimestampBounds | null;
  readonly limit?: number | null;
  readonly skip?: number | null;
}

/** A sample as answers show it; `deviceId` is the service device id. */
interface SampleAnswer {
  readonly timestamp: string;
  readonly deviceId: string;
  readonly svcDeviceId: string;
  readonly akenzaDeviceId?: string;
  readonly topic: string;
  readonly data: JsonObject;
  readonly meta?: JsonObject;
}

/**
 * What the store is asked for; refuses (400) bounds that are no times and a limit outside 1 to
 * `sampleLimitMax`.
 */
export function sampleScan(deviceId: string, body: SampleQueryBody): SampleScan {
  const limit = body.limit ?? sampleLimitDefault;
  const skip = body.skip ?? 0;
  if (limit < 1 || limit > sampleLimitMax) {
    throw problem('invalidRequest', {
      reason: `limit must be from 1 to ${sampleLimitMax}, got ${limit}`,
    });
  }
  if (skip < 0)
    throw problem('invalidRequest', { reason: `skip must not be negative, got ${skip}` });
  return {
    deviceId,
    ...topicOf(body.topic ?? defaultTopic),
    ...rangeOf(body.timestamp),
    limit,
    skip,
  };
}

/** The topic criterion of a scan: none for `*`. */
export function topicOf(topic: string): { readonly topic?: string } {
  return topic === everyTopic ? {} : { topic };
}

/** The half-open range of the bounds, in whole milliseconds. */
export function rangeOf(
  bounds: TimestampBounds | null | undefined,
): Pick<SampleRange, 'from' | 'to'> {
  const read = (bound: keyof TimestampBounds, added: number) => {
    const value = bounds?.[bound];
    return value === null || value === undefined
      ? []
      : [parseBound(`timestamp.${bound}`, value) + added];
  };
  const from = [...read('gt', 1), ...read('gte', 0)];
  const to = [...read('lt', 0), ...read('lte', 1)];
  return {
    ...(from.length > 0 ? { from: Math.max(...from) } : {}),
    ...(to.length > 0 ? { to: Math.min(...to) } : {}),
  };
}

/**
 * The wire form of a sample; `aliased` adds the name that older clients read the device id from
 * (contract 34).
 */
export function sampleAnswer(sample: Sample, aliased: boolean): SampleAnswer {
  const { deviceId, topic, data, meta } = sample;
  return {
    timestamp: formatInstant(sample.timestamp),
    deviceId,
    svcDeviceId: deviceId,
    ...(aliased ? { akenzaDeviceId: deviceId } : {}),
    topic,
    data,
    ...(meta === undefined ? {} : { meta }),
  };
}

// JSON of samples: written from the samples in one pass, because an answer holds up to ten thousand of them.

/**
 * The JSON of the samples, each in the form of `sampleAnswer`, which would first build one object
 * for each sample.
 */
export function samplesJson(samples: readonly Sample[], aliased: boolean): string {
  let [device, topic, between] = ['', '', ''];
  let json = '';
  for (const sample of samples) {
    if (sample.deviceId !== device || sample.topic !== topic || between === '') {
      ({ deviceId: device, topic } = sample);
      between = betweenOf(sample, aliased);
    }
    const { timestamp, data, meta } = sample;
    json += json === '' ? '[{"timestamp":"' : ',{"timestamp":"';
    json += formatInstant(timestamp) + between + JSON.stringify(data);
    json += meta === undefined ? '}' : `,"meta":${JSON.stringify(meta)}}`;
  }
  return json === '' ? '[]' : `${json}]`;
}

/** What is the same for most samples of an answer. */
function betweenOf({ deviceId, topic }: Sample, aliased: boolean): string {
  const device = JSON.stringify(deviceId);
  const alias = aliased ? `,"akenzaDeviceId":${device}` : '';
  return `","deviceId":${device},"svcDeviceId":${device}${alias},"topic":${JSON.stringify(topic)},"data":`;
}
