// Capture journey: the device, decoder and stored topics of a request make it an uplink.
import type { UplinkRoute } from '../../inventory/devices/uplink-route-cache.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { Json } from '../../model/json.ts';
import type { KeptSamples } from '../../model/kept-samples.ts';
import { keptPayload, type Payload } from '../../model/payload.ts';
import type { EarlyRun, Uplink, UplinkDevice } from '../../model/uplink.ts';
import type { Once } from '../idempotency/idempotency.ts';

export interface Capture {
  /** The route of the sender, found when the request was admitted. */
  readonly route: UplinkRoute;
  readonly topic: string | null;
  readonly timestamp: EpochMs | null;
  readonly payload: Payload;
  /** Of the payload as received. */
  readonly bodyBytes: number;
  readonly idempotencyKey: string | undefined;
  /** Identifies repetitions on the transport. */
  readonly duplicateKey?: string;
  /** Counts only if the route has not changed since. */
  readonly run?: EarlyCapture | undefined;
}

/** What became of a capture before its route was found here. */
export interface EarlyCapture extends EarlyRun {
  readonly route: UplinkRoute;
  readonly correlationId: string;
  readonly receivedAt: EpochMs;
}

export interface CaptureReceipt extends Partial<KeptSamples> {
  readonly id: string;
  readonly receivedAt: EpochMs;
}

/** An uplink is one journal entry, so the request has one part. */
const wholeUplink = '';

/** Takes the payloads of requests. */
export class Captures {
  /** Undefined for a repetition, whose samples were stored before. */
  readonly handleUplink: (uplink: Uplink) => Promise<KeptSamples | undefined>;
  readonly newId: () => string;
  readonly now: () => EpochMs;
  readonly #once: Once;

  constructor(
    handleUplink: (uplink: Uplink) => Promise<KeptSamples | undefined>,
    once: Once,
    newId: () => string,
    now: () => EpochMs,
  ) {
    this.handleUplink = handleUplink;
    this.#once = once;
    this.newId = newId;
    this.now = now;
  }

  /** Resolves when the payload's samples are durable. */
  capture(input: Capture): Promise<CaptureReceipt> {
    if (input.idempotencyKey === undefined) return this.#take(input, this.now());
    return this.once(input, (once, firstSeenAt) => this.#take(once, firstSeenAt));
  }

  /** Captures once per Idempotency-Key; `work` gets the input with its duplicate key. */
  async once(
    input: Capture,
    work: (input: Capture, firstSeenAt: EpochMs) => Promise<CaptureReceipt>,
  ): Promise<CaptureReceipt> {
    const { route, idempotencyKey: key = '' } = input;
    // Two devices with one secret choose their keys independently.
    const call = {
      credential: `${route.connector.id} ${route.device.id}`,
      route: 'POST /v3/capture',
      key,
      body: input.payload.body as Json,
    };
    const answer = await this.#once.stored(call, async (attempt) => {
      const before = attempt.stored(wholeUplink);
      // The decoder has already run and changed its state, so it must not run again.
      if (before !== undefined && before.correlationId !== null) {
        const { correlationId: id, receivedAt, stored = null } = before;
        return { status: 201, body: { id, receivedAt, ...(stored !== null && { stored }) } };
      }
      const duplicateKey = attempt.duplicateKey(wholeUplink);
      const receipt = await work({ ...input, duplicateKey }, attempt.firstSeenAt);
      return { status: 201, body: receipt };
    });
    return answer.body as CaptureReceipt;
  }

  async #take(
    { route, topic, timestamp, payload, bodyBytes, duplicateKey, run }: Capture,
    firstSeenAt: EpochMs,
  ): Promise<CaptureReceipt> {
    const early = run?.route === route ? run : undefined;
    const { correlationId = this.newId(), receivedAt = firstSeenAt } = early ?? {};
    const key = duplicateKey !== undefined && { duplicateKey };
    const sent = { topic, timestamp, ...keptPayload(payload, bodyBytes), run: early, ...key };
    const uplink = uplinkOf(sent, route, correlationId, receivedAt);
    const kept = await this.handleUplink(uplink);
    return { id: uplink.correlationId, receivedAt, ...kept };
  }
}

/** Returns the uplink of a payload of any transport. */
export function uplinkOf(
  payload: Pick<
    Uplink,
    | ('topic' | 'timestamp' | 'body' | 'bodyBytes')
    | ('inflatedBytes' | 'encoding' | 'payloadHex')
    | ('duplicateKey' | 'isRepeated' | 'metrics' | 'onlyNote' | 'run')
  >,
  route: UplinkRoute,
  correlationId: string,
  receivedAt: EpochMs,
): Uplink {
  return {
    correlationId,
    device: uplinkDeviceOf(route),
    script: scriptOf(route),
    storedTopics: storedTopicsOf(route),
    keptDays: route.keptDays,
    implausibleTimes: route.implausibleTimes,
    receivedAt,
    ...payload,
  };
}

/** The decoder of the device type; null when there is none or the flow passes payloads through. */
export function scriptOf({ device, flow, type }: UplinkRoute): Uplink['script'] {
  const code = type?.uplinkScript?.code;
  if (flow.passThrough || code === undefined) return null;
  return { code, tenant: device.organizationId };
}

/** Whether a decoder gets the payloads of the device. */
export function isScripted(route: UplinkRoute): boolean {
  return scriptOf(route) !== null;
}

/** The sender as decoders know it. */
export function uplinkDeviceOf({ device, flow, customFields, tags }: UplinkRoute): UplinkDevice {
  return {
    id: device.id,
    deviceId: device.deviceId,
    name: device.name,
    description: device.description,
    organizationId: device.organizationId,
    workspaceId: device.workspaceId,
    dataFlowId: flow.id,
    customFields,
    tags: tags.map((tag) => tag.name),
  };
}

/** Topics of the database connector: their samples are stored, others are only forwarded. */
export function storedTopicsOf({ outputs }: UplinkRoute): '*' | ReadonlySet<string> {
  // The usual answer takes no memory.
  for (const { connector, topic } of outputs)
    if (connector.type === 'DATABASE' && topic === '*') return '*';
  const stored = outputs.filter(({ connector }) => connector.type === 'DATABASE');
  return new Set(stored.map(({ topic }) => topic));
}
