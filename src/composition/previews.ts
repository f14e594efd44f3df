// Composes what people try before they rely on it: a template with the last sample, a connector with a sample delivery.
import type { authorize as authorizeOf } from '../access/authorize.ts';
import type { Parts } from './platform-parts.ts';
import { delivererLimits } from '../deliveries/delivery-worker.ts';
import type { OpenTargets } from '../deliveries/open-targets.ts';
import type { DeliveryParts } from '../http/routes/deliveries.ts';
import type { TemplatePreviewParts } from '../http/routes/template-preview.ts';
import { formatInstant } from '../model/instant.ts';
import type { Principal } from '../model/principal.ts';
import { problem } from '../model/problem.ts';
import { type TemplateContext, templateContextOf } from '../model/template-context.ts';
import { findUplinkMetrics } from '../records/rows/device-status.ts';
import { renderTemplate } from '../templates/render-template.ts';
import { parseTemplate } from '../templates/template.ts';

export interface Trials {
  readonly testConnector: DeliveryParts['testConnector'];
  readonly preview: TemplatePreviewParts['preview'];
}

export function testing(parts: Parts, targets: OpenTargets, authorize: typeof authorizeOf): Trials {
  const contextOf = (deviceId: string, topic: string | undefined, principal: Principal) =>
    lastContext(parts, authorize, deviceId, topic, principal);
  return {
    async testConnector(connectorId, deviceId, principal, signal) {
      const context =
        deviceId === undefined
          ? inventedContext(parts.now())
          : await contextOf(deviceId, undefined, principal);
      const startedAt = performance.now();
      const ends = AbortSignal.any([signal, AbortSignal.timeout(delivererLimits.tryMsMax)]);
      const message = {
        deliveryId: parts.newId(),
        deviceId: deviceId ?? '',
        context,
        createdAt: parts.now(),
      };
      const outcome = await Promise.race([
        targets.test(connectorId, message, ends),
        afterAbort(ends),
      ]);
      return {
        ok: outcome.ok,
        answer: outcome.answer?.slice(0, delivererLimits.answerCharactersMax) ?? null,
        reason: outcome.ok ? null : outcome.reason,
        payload: outcome.sent?.slice(0, delivererLimits.payloadCharactersMax) ?? null,
        durationMs: Math.round(performance.now() - startedAt),
      };
    },
    async preview({ template, place, deviceId, topic, context }, principal) {
      const parsed = parseTemplate(template, place, 'body template');
      const known =
        deviceId === undefined
          ? inventedContext(parts.now())
          : await contextOf(deviceId, topic, principal);
      const filled = { ...known, ...context } as TemplateContext;
      const text = renderTemplate(parsed, filled);
      const reason = wrongBecause(text, place);
      return { text, valid: reason === null, reason, context: filled };
    },
  };
}

async function afterAbort(signal: AbortSignal) {
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const reason = `no answer within ${delivererLimits.tryMsMax / 1_000} s`;
  return { ok: false, retry: true, reason, answer: undefined, sent: undefined } as const;
}

/** The context of the newest sample of a device, of one topic or of all. */
async function lastContext(
  { directory, store, records, now }: Parts,
  authorize: typeof authorizeOf,
  deviceId: string,
  topic: string | undefined,
  principal: Principal,
): Promise<TemplateContext> {
  const route = await directory.byDevice(deviceId);
  const { organizationId, workspaceId } = route.device;
  authorize(principal, 'asset', 'read', {
    organizationId,
    workspaceId,
    what: 'device',
    id: deviceId,
  });
  const sample = await store.latestSample(deviceId, topic);
  if (sample === undefined) throw problem('noSample', { deviceId });
  const metrics = (await findUplinkMetrics(records.db, [deviceId])).get(deviceId);
  const entry = metrics === undefined ? {} : { entry: { receivedAt: metrics.timestamp, metrics } };
  return templateContextOf({ ...route, sample, producedAt: now(), ...entry });
}

/** A sample that no device sent, for connectors that have none yet. */
function inventedContext(now: number): TemplateContext {
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
    uplinkMetrics: null,
    uplinkMeta: null,
  };
}

/** Why a filled-in text cannot be used at its place; null when it can. */
function wrongBecause(text: string, place: 'json' | 'text' | 'url'): string | null {
  if (place === 'url') return URL.canParse(text) ? null : 'it is no URL';
  if (place === 'text') return null;
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return `it is no valid JSON: ${(error as Error).message}`;
  }
}
