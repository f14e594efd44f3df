// From a capture request to an uplink: whose payload it is, what decodes it, which of its samples are stored.
import type { UplinkRoute } from '../inventory/devices/uplink-route-cache.ts';
import type { EpochMs } from '../model/instant.ts';
import type { Json, JsonObject } from '../model/json.ts';
import type { DurableEntry } from '../model/journal-entry.ts';
import type { Uplink, UplinkDevice } from '../model/uplink.ts';
import type { Once } from './idempotency.ts';

export interface Capture {
  /** Where the payload of the sender goes, as its admission found it. */
  readonly route: UplinkRoute;
  readonly topic: string | null;
  readonly timestamp: EpochMs | null;
  readonly body: JsonObject | readonly Json[];
  readonly bodyBytes: number;
  readonly idempotencyKey: string | undefined;
  /** What the transport knows repetitions by. */
  readonly duplicateKey?: string;
}

export interface CaptureReceipt {
  readonly id: string;
  readonly receivedAt: EpochMs;
}

export interface CaptureStages {
  readonly handleUplink: (uplink: Uplink) => Promise<DurableEntry>;
  readonly once: Once;
  readonly newId: () => string;
  readonly now: () => EpochMs;
}

/** An uplink is one journal entry, so the request has one part. */
const wholeUplink = '';

/** Resolves when the payload's samples are durable. */
export async function capture(input: Capture, on: CaptureStages): Promise<CaptureReceipt> {
  const { route, idempotencyKey } = input;
  const work = async (
    receivedAt: EpochMs,
    duplicateKey = input.duplicateKey,
  ): Promise<CaptureReceipt> => {
    const { topic, timestamp, body, bodyBytes } = input;
    const key = duplicateKey === undefined ? {} : { duplicateKey };
    const payload = { topic, timestamp, body, bodyBytes, ...key };
    const uplink = uplinkOf(payload, route, on.newId(), receivedAt);
    await on.handleUplink(uplink);
    return { id: uplink.correlationId, receivedAt };
  };
  if (idempotencyKey === undefined) return work(on.now());
  // The secret stands for the sender; two devices behind one secret choose their keys independently.
  const call = {
    credential: `${route.connector.id} ${route.device.id}`,
    route: 'POST /v3/capture',
    key: idempotencyKey,
    body: input.body as Json,
  };
  const answer = await on.once.stored(call, async (attempt) => {
    const before = attempt.stored(wholeUplink);
    // The decoder ran already, and its state went on: it must not run again.
    if (before !== undefined && before.correlationId !== null) {
      return { status: 201, body: { id: before.correlationId, receivedAt: before.receivedAt } };
    }
    const receipt = await work(attempt.firstSeenAt, attempt.duplicateKey(wholeUplink));
    return { status: 201, body: { ...receipt } };
  });
  return answer.body as unknown as CaptureReceipt;
}

/** The uplink of a payload, whatever transport it came by. */
export function uplinkOf(
  payload: Pick<Uplink, 'topic' | 'timestamp' | 'body' | 'bodyBytes' | 'duplicateKey' | 'metrics'>,
  route: UplinkRoute,
  correlationId: string,
  receivedAt: EpochMs,
): Uplink {
  const { device, flow, type } = route;
  const code = flow.passThrough ? undefined : type?.uplinkScript?.code;
  return {
    correlationId,
    device: uplinkDeviceOf(route),
    script: code === undefined ? null : { code, tenant: device.organizationId },
    storedTopics: storedTopicsOf(route),
    receivedAt,
    ...payload,
  };
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

/** Topics whose samples are stored, being those of the database connector; others are only forwarded. */
export function storedTopicsOf(route: UplinkRoute): '*' | ReadonlySet<string> {
  const topics = route.outputs
    .filter(({ connector }) => connector.type === 'DATABASE')
    .map(({ topic }) => topic);
  return topics.includes('*') ? '*' : new Set(topics);
}
