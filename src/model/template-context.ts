// Template context: the sample and all related values as plain JSON, for templates (interface 2.11).
// It is also what outputs send when no template says otherwise (contract 9).
import type { Device } from './device.ts';
import { type EpochMs, formatInstant } from './instant.ts';

import { isJsonObject, type Json, type JsonObject } from './json.ts';
import type { Mail } from './mail.ts';
import type { Sample } from './sample.ts';
import type { MetricField, UplinkMetrics } from './uplink-metrics.ts';
import type { EntryTrace } from './entry-trace.ts';

/** The first steps of paths; anything else is refused when a template is made. */
export const contextPrefixes: readonly string[] = [
  'data',
  'meta',
  'result',
  'uplinkMeta',
  'topic',
  'timestamp',
  'deviceId',
  'svcDeviceId',
  'akenzaDeviceId',
  'correlationId',
  'device',
  'place',
  'rule',
  'uplinkMetrics',
  'rawData',
  'dataSources',
  'alarm',
  'change',
];

// Type aliases, not interfaces: a context is a JSON object too.

/** One data source of a rule; its members are null after a timer trigger without a sample. */
export type DataSourceContext = {
  /** Only when this data source triggered. */
  readonly correlationId: string | null;
  readonly device: JsonObject | null;
  readonly deviceId: string | null;
  readonly svcDeviceId: string | null;
  readonly akenzaDeviceId: string | null;
  readonly topic: string | null;
  readonly timestamp: string | null;
  readonly data: JsonObject | null;
  readonly meta: JsonObject | null;
  readonly uplinkMeta: JsonObject | null;
  readonly trigger: boolean;
  readonly deviceInput: boolean;
  readonly tagInput: boolean;
};

/**
 * Absent members are missing values: null in JSON, nothing in other places. Times are ISO-8601
 * strings.
 */
export type TemplateContext = {
  readonly data?: JsonObject;
  readonly meta?: JsonObject;
  readonly topic?: string;
  readonly timestamp?: string;
  /** Physical device id. */
  readonly deviceId?: string;
  /** Service device id. */
  readonly svcDeviceId?: string;
  readonly akenzaDeviceId?: string;
  readonly correlationId?: string;
  readonly device?: JsonObject;
  /** Where the device is; null at no place. Not in the default payload. */
  readonly place?: PlaceContext | null;
  readonly uplinkMetrics?: JsonObject | null;
  readonly uplinkMeta?: JsonObject | null;
  /** The payload of LoRa uplinks: port and payloadHex. */
  readonly rawData?: JsonObject;
  readonly rule?: {
    readonly ruleId: string;
    readonly name: string;
    readonly description: string | null;
    readonly workspaceId: string;
  };
  /** What custom logic gave to `emit('action', ...)`. */
  readonly result?: JsonObject;
  /** By number from 1, as a string. */
  readonly dataSources?: Readonly<Record<string, DataSourceContext>>;
  /** The alarm of a notification as its endpoint shows it, and what happened to it. */
  readonly alarm?: JsonObject;
  readonly change?: string;
  /** What the mail connector of the installation sends; no template reads it. */
  readonly mail?: Mail;
};

/** The place of a device as templates show it; a type alias as above. */
export type PlaceContext = {
  readonly id: string;
  readonly name: string;
  /** Names from the top of the tree, separated by slashes. */
  readonly path: string;
};

export interface ContextDevice {
  readonly device: Device;
  readonly place: PlaceContext | null;
  readonly tags: readonly { readonly name: string }[];
  /** Custom field name to value. */
  readonly customFields: JsonObject;
}

interface ContextSource extends ContextDevice {
  readonly sample: Sample & { readonly correlationId?: string };
  /** The entry of the sample; absent if the sample was read from the store. */
  readonly entry?: {
    readonly receivedAt: EpochMs;
    readonly metrics?: UplinkMetrics;
    readonly trace?: EntryTrace;
  };
  /** When the output was made. */
  readonly producedAt: EpochMs;
}

/** The tree of one sample; rules add `rule`, `result` and `dataSources`. */
export function templateContextOf(source: ContextSource): TemplateContext {
  const { sample, entry, device } = source;
  const raw = rawDataOf(entry);
  return {
    data: sample.data,
    meta: sample.meta ?? {},
    topic: sample.topic,
    timestamp: formatInstant(sample.timestamp),
    deviceId: device.deviceId,
    svcDeviceId: device.id,
    akenzaDeviceId: device.id,
    ...(sample.correlationId !== undefined && { correlationId: sample.correlationId }),
    device: deviceContext(source),
    place: source.place,
    uplinkMetrics: entry?.metrics === undefined ? null : metricsContext(entry.metrics),
    uplinkMeta: entry === undefined ? null : uplinkMetaOf(entry, source.producedAt),
    ...(raw !== undefined && { rawData: raw }),
  };
}

/**
 * What is sent without a template: the whole sample as JSON (contract 9); `vendorNames` is false to
 * leave aliases out.
 */
export function defaultPayload(context: TemplateContext, vendorNames: boolean): string {
  const { data, meta, topic, timestamp, deviceId, svcDeviceId, akenzaDeviceId } = context;
  const { correlationId, device, uplinkMetrics, uplinkMeta, rule, result } = context;
  const { alarm, change } = context;
  const sample = vendorNames
    ? { data, meta, topic, timestamp, deviceId, svcDeviceId, akenzaDeviceId, correlationId }
    : { data, meta, topic, timestamp, deviceId, svcDeviceId, correlationId };
  if (device === undefined)
    return JSON.stringify({ ...sample, uplinkMetrics, uplinkMeta, rule, result, alarm, change });
  // The device is the same for many samples, so that its JSON is cached.
  const before = JSON.stringify(sample).slice(0, -1);
  const after = JSON.stringify({ uplinkMetrics, uplinkMeta, rule, result, alarm, change }).slice(1);
  const [first, last] = [before === '{' ? '' : ',', after === '}' ? '' : ','];
  return `${before}${first}"device":${deviceText(device)}${last}${after}`;
}

/** The whole context as JSON; `payload` is its default payload with all names, if that is known. */
export function contextText(
  context: TemplateContext,
  payload = defaultPayload(context, true),
): string {
  const { rawData, dataSources, place, mail } = context;
  const members = [rawData, dataSources, place, mail];
  if (members.every((member) => member === undefined)) return payload;
  const rest = JSON.stringify({ place, rawData, dataSources, mail }).slice(1);
  return payload === '{}' ? `{${rest}` : `${payload.slice(0, -1)},${rest}`;
}

const deviceTexts = new WeakMap<JsonObject, string>();

function deviceText(device: JsonObject): string {
  let text = deviceTexts.get(device);
  if (text === undefined) {
    text = JSON.stringify(device);
    deviceTexts.set(device, text);
  }
  return text;
}

/** Contexts of devices, with their sources. */
const deviceContexts = new WeakMap<
  Device,
  {
    readonly tags: readonly { readonly name: string }[];
    readonly customFields: JsonObject;
    readonly context: JsonObject;
  }
>();

/** The device as templates and outputs show it. */
export function deviceContext({ device, tags, customFields }: ContextDevice): JsonObject {
  const known = deviceContexts.get(device);
  if (known?.tags === tags && known.customFields === customFields) return known.context;
  const context = {
    id: device.id,
    deviceId: device.deviceId,
    name: device.name,
    description: device.description,
    integrationId: device.integrationId,
    workspaceId: device.workspaceId,
    dataFlowId: device.dataFlowId,
    connectivity: device.connectivity,
    customFields,
    tags: tags.map(({ name }) => name),
  };
  deviceContexts.set(device, { tags, customFields, context });
  return context;
}

/** One literal, because there is one for each delivery. */
function metricsContext(metrics: UplinkMetrics): JsonObject {
  const { uplinkId, deviceId } = metrics;
  const context = {
    uplinkId,
    deviceId,
    svcDeviceId: deviceId,
    timestamp: formatInstant(metrics.timestamp),
    uplinkSize: metrics.uplinkSize,
    latitude: metrics.latitude ?? null,
    longitude: metrics.longitude ?? null,
    locationRadius: metrics.locationRadius ?? null,
    port: metrics.port ?? null,
    frameCountUp: metrics.frameCountUp ?? null,
    frameCountDown: metrics.frameCountDown ?? null,
    rssi: metrics.rssi ?? null,
    snr: metrics.snr ?? null,
    sf: metrics.sf ?? null,
    txPower: metrics.txPower ?? null,
    numberOfGateways: metrics.numberOfGateways ?? null,
    esp: metrics.esp ?? null,
    sqi: metrics.sqi ?? null,
    batteryLevel: metrics.batteryLevel ?? null,
  } as const satisfies Record<MetricField, Json> & JsonObject;
  return context;
}

/**
 * Times and sizes of the uplink that the entry is of; `producedAt` is when the output was made
 * (interface 2.11).
 */
export function uplinkMetaOf(
  { receivedAt, trace, metrics }: NonNullable<ContextSource['entry']>,
  producedAt: EpochMs,
) {
  const times = trace?.times;
  const at = (time: EpochMs | undefined) => (time === undefined ? null : formatInstant(time));
  const took = (from: EpochMs | undefined, to: EpochMs | undefined) =>
    from === undefined || to === undefined ? null : formatDurationMs(Math.max(0, to - from));
  const dataReceived = times?.dataReceived ?? receivedAt;
  return {
    dataReceived: at(dataReceived),
    bytesReceived: trace?.raw?.bodyBytes ?? metrics?.uplinkSize ?? null,
    processingStart: at(times?.processingStart),
    scriptRunUplinkStart: at(times?.scriptRunUplinkStart),
    scriptRunUplinkEnd: at(times?.scriptRunUplinkEnd),
    processingEnd: at(times?.processingEnd),
    outputProduced: at(producedAt),
    uplinkDuration: took(dataReceived, producedAt),
    processingDuration: took(times?.processingStart, times?.processingEnd),
    scriptRunningDuration: took(times?.scriptRunUplinkStart, times?.scriptRunUplinkEnd),
  };
}

function rawDataOf(entry: ContextSource['entry']): JsonObject | undefined {
  const { body, payloadHex } = entry?.trace?.raw ?? {};
  const { port = null, payloadHex: inBody } = isJsonObject(body) ? body : {};
  const digits = payloadHex ?? inBody;
  return typeof digits === 'string' ? { port, payloadHex: digits } : undefined;
}

/** A length of time in seconds, `PT0.055S`. */
function formatDurationMs(ms: number): string {
  return `PT${ms / 1_000}S`;
}
