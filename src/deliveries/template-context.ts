// Template contexts for previews: of the last sample of a device, or of an example device.
import { authorize } from '../access/authorize.ts';
import type { UplinkRoute } from '../inventory/devices/uplink-route-cache.ts';
import { type EpochMs, formatInstant } from '../model/instant.ts';
import type { Principal } from '../model/principal.ts';
import { problem } from '../model/problem.ts';
import { type TemplateContext, templateContextOf } from '../model/template-context.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import { findUplinkMetrics } from '../storage/records/rows/device-status.ts';
import type { Samples } from '../storage/samples/samples.ts';

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
export interface ContextChoice {
  readonly deviceId: string | undefined;
  readonly topic: string | undefined;
}

/**
 * Throws Problem 404 or 403 for a device that the principal may not read, 404 `noSample` for one
 * without samples.
 */
export async function previewContext(
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
  const metrics = (await findUplinkMetrics(db, [deviceId])).get(deviceId);
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
