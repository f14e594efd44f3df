// Connector test: sends one message through an output connector and returns the answer of the target (contract 35).
import { delivererLimits } from './attempts/delivery-worker.ts';
import type { OpenTargets } from './attempts/open-targets.ts';
import type { Principal } from '../../model/principal.ts';
import type { JsonObject } from '../../model/json.ts';
import { type TemplateContext, templateContextOf } from '../../model/template-context.ts';
import { parseTemplate, renderTemplate, textFault } from '../templates/template.ts';
import { authorize } from '../../access/authorize.ts';
import type { UplinkRoute } from '../../inventory/devices/uplink-route-cache.ts';
import { type EpochMs, formatInstant } from '../../model/instant.ts';
import { problem } from '../../model/problem.ts';
import type { RecordsDb } from '../../storage/records/records.ts';
import { deviceStatusRows } from '../../storage/records/rows/device-status.ts';
import type { Samples } from '../../storage/samples/samples.ts';

/**
 * Resolves with the outcome of one attempt, or with its time limit. Throws the errors of
 * `previewContext`.
 */
export async function testConnector(
  {
    connectorId,
    deviceId,
    signal,
  }: {
    readonly connectorId: string;
    /** The device whose last sample is sent. Without one an example is sent. */
    readonly deviceId: string | undefined;
    /** Aborted when the caller disconnects. */
    readonly signal: AbortSignal;
  },
  principal: Principal,
  parts: ContextSources & {
    readonly targets: Pick<OpenTargets, 'test'>;
    readonly newId: () => string;
  },
): Promise<{
  readonly ok: boolean;
  readonly answer: string | null;
  readonly reason: string | null;
  readonly payload: string | null;
  readonly durationMs: number;
}> {
  const context = await previewContext({ deviceId, topic: undefined }, principal, parts);
  const startedAt = performance.now();
  const ends = AbortSignal.any([signal, AbortSignal.timeout(delivererLimits.tryMsMax)]);
  const message = {
    deliveryId: parts.newId(),
    deviceId: deviceId ?? '',
    context,
    createdAt: parts.now(),
  };
  const outcome = await Promise.race([
    parts.targets.test(connectorId, message, ends),
    timedOut(ends),
  ]);
  const { answerCharactersMax, payloadCharactersMax } = delivererLimits;
  return {
    ok: outcome.ok,
    answer: outcome.answer?.slice(0, answerCharactersMax) ?? null,
    reason: outcome.ok ? null : outcome.reason,
    payload: outcome.sent?.slice(0, payloadCharactersMax) ?? null,
    durationMs: Math.round(performance.now() - startedAt),
  };
}

async function timedOut(signal: AbortSignal) {
  const aborted = Promise.withResolvers<void>();
  if (signal.aborted) aborted.resolve();
  signal.addEventListener('abort', () => aborted.resolve(), { once: true });
  await aborted.promise;
  const reason = `timed out after ${delivererLimits.tryMsMax / 1_000} s`;
  return { ok: false, retry: true, reason, answer: undefined, sent: undefined } as const;
}

// Template preview: renders a template with the context of a device, partly replaced by the caller (interface 2.11).

/** Throws `templateInvalid` for a broken template, and the errors of `previewContext`. */
export async function previewTemplate(
  request: ContextChoice & {
    readonly template: string;
    readonly place: 'json' | 'text' | 'url';
    /** Members that replace those of the device's context. */
    readonly context: JsonObject | undefined;
  },
  principal: Principal,
  sources: ContextSources,
): Promise<{
  readonly text: string;
  readonly valid: boolean;
  /** Why the text cannot be used; null when it is valid. */
  readonly reason: string | null;
  readonly context: JsonObject;
}> {
  const { template, place } = request;
  const parsed = parseTemplate(template, place, 'body template');
  const known = await previewContext(request, principal, sources);
  const context = { ...known, ...request.context } as TemplateContext;
  const text = renderTemplate(parsed, context);
  const reason = textFault(text, place);
  return { text, valid: reason === null, reason, context };
}

// Template contexts for previews: of the last sample of a device, or of an example device.

export interface ContextSources {
  readonly db: RecordsDb;
  readonly store: Pick<Samples, 'latestSample'>;
  /** Throws Problem 404. */
  readonly findRoute: (deviceId: string) => UplinkRoute | Promise<UplinkRoute>;
  readonly now: () => EpochMs;
}

/**
 * Identifies a device, and a topic of it or all of them. Without a device it is the example device.
 */
interface ContextChoice {
  readonly deviceId: string | undefined;
  readonly topic: string | undefined;
}

/**
 * Throws Problem 404 or 403 for a device that the principal may not read, 404 `noSample` for one
 * without samples.
 */
async function previewContext(
  { deviceId, topic }: ContextChoice,
  principal: Principal,
  sources: ContextSources,
): Promise<TemplateContext> {
  const { db, store, findRoute, now } = sources;
  if (deviceId === undefined) return exampleContext(now());
  const route = await findRoute(deviceId);
  const { organizationId, workspaceId } = route.device;
  const place = { organizationId, workspaceId, what: 'device', id: deviceId };
  authorize(principal, 'asset', 'read', place);
  const sample = await store.latestSample(deviceId, topic);
  if (sample === undefined) throw problem('noSample', { deviceId });
  const known = { ...route, sample, producedAt: now() };
  const metrics = (await deviceStatusRows.metrics(db, [deviceId])).get(deviceId);
  if (metrics === undefined) return templateContextOf(known);
  return templateContextOf({ ...known, entry: { receivedAt: metrics.timestamp, metrics } });
}

/** A sample of no real device, for connectors whose devices have not sent yet. */
function exampleContext(now: EpochMs): TemplateContext {
  const id = '0200000000000000';
  return {
    data: { test: true, temperature: 21.5, humidity: 40, batteryLevel: 97 },
    meta: {},
    topic: 'default',
    timestamp: formatInstant(now),
    deviceId: 'test-device',
    svcDeviceId: id,
    akenzaDeviceId: id,
    correlationId: 'test',
    device: {
      id,
      deviceId: 'test-device',
      name: 'Test device',
      description: null,
      customFields: {},
      tags: [],
    },
    place: { id: '4100000000000000', name: 'Room 1', path: 'Building/Floor 1/Room 1' },
    uplinkMetrics: null,
    uplinkMeta: null,
  };
}
