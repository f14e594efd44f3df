// Composes the live stream: who may listen to what, and the samples that became durable.
import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { identify } from './access/authenticator.ts';
import { authorize } from './access/authorize.ts';
import { streamRevocation } from './compose-access.ts';
import type { Parts } from './compose-parts.ts';
import type { Uplinks } from './compose-uplinks.ts';
import { attachDataStreams, type DataStreams } from './http/data-streams.ts';
import { mqttSocketPath } from './http/mqtt-socket.ts';
import { placeOf } from './inventory/places.ts';
import { createFanOut } from './live/fan-out.ts';
import type { Principal } from './model/principal.ts';
import { Problem } from './model/problem.ts';
import { deviceIdsOfTag } from './store/records/tags.ts';

/** Serves the data stream on the server's upgrades. */
export function composeLive(server: Server, parts: Parts, uplinks: Uplinks): DataStreams {
  const { store, telemetry, now, records, directory } = parts;
  const fanOut = createFanOut();
  uplinks.follow((samples) => fanOut.publish(samples, now()));

  const readable = async (principal: Principal, assetId: string): Promise<boolean> => {
    return permitted(async () => {
      const { device } = await directory.byDevice(assetId);
      const place = {
        organizationId: device.organizationId,
        workspaceId: device.workspaceId,
        what: 'device',
        id: assetId,
      };
      authorize(principal, 'asset', 'read', place);
    });
  };

  const streams = attachDataStreams(server, {
    fanOut,
    authenticate: async ({ apiKey, accessToken, cookie }) =>
      identify(parts.access.authenticators, {
        'x-api-key': apiKey,
        authorization: accessToken === undefined ? undefined : `Bearer ${accessToken}`,
        cookie,
      }),
    findAssets: async (principal, assetIds) => {
      const found = new Set<string>();
      for (const id of assetIds) if (await readable(principal, id)) found.add(id);
      return found;
    },
    assetsOfTag: async (principal, tagId) => {
      const tagReadable = await permitted(async () =>
        authorize(principal, 'asset', 'read', await placeOf(records, 'tag', tagId)),
      );
      return tagReadable ? deviceIdsOfTag(records.db, tagId) : undefined;
    },
    quotas: parts.config.quotas,
    isElsewhere: (path) => path === mqttSocketPath,
    replay: (start, wanted) => store.replay(start, wanted),
    now,
    failed: (errorId, error) => telemetry.failed(error, { path: '/v3/data-streams', requestId: randomUUID(), errorId }),
  });
  const failed = (error: unknown) => telemetry.backgroundFailed('ending live connections', error);
  parts.followChanges(streamRevocation(streams, parts.access.sessions, failed));
  parts.quotaUse.readBy('webSockets', streams.sessionsOf);
  telemetry.gauge('live_sessions', 'Open connections of the data stream.', () => streams.sessions);
  telemetry.gauge('live_devices', 'Devices with live subscriptions.', () => fanOut.size);
  return streams;
}

/** Whether the check lets through; a refusal is an answer here, anything else is a fault. */
async function permitted(check: () => Promise<void>): Promise<boolean> {
  try {
    await check();
    return true;
  } catch (error) {
    if (error instanceof Problem) return false;
    throw error;
  }
}
