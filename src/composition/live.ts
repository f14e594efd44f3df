// Composes the live stream: who may listen to what, and the samples that became durable.
import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { setImmediate as pause } from 'node:timers/promises';
import { identify } from '../access/authenticator.ts';
import { authorize } from '../access/authorize.ts';
import { streamRevocation } from './access.ts';
import type { Parts } from './platform-parts.ts';
import type { Uplinks } from './uplinks.ts';
import { attachDataStreams, type DataStreams } from '../http/streams/data-streams.ts';
import { mqttSocketPath } from '../http/streams/mqtt-socket.ts';
import { placeOf } from '../inventory/resource-lookup.ts';
import { createAccessWatch } from '../live/access-watch.ts';
import { createFanOut } from '../live/fan-out.ts';
import { type Principal, principalIn } from '../model/principal.ts';
import { Problem } from '../model/problem.ts';
import { placesOfDevices } from '../records/rows/devices.ts';
import { deviceIdsOfTag } from '../records/rows/tags.ts';

type DevicePlace = { readonly organizationId: string; readonly workspaceId: string };

/** Serves the data stream on the server's upgrades. */
export function composeLive(server: Server, parts: Parts, uplinks: Uplinks): DataStreams {
  const { store, telemetry, now, records } = parts;
  const fanOut = createFanOut();
  uplinks.follow((samples) => fanOut.publish(samples, now()));

  const mayRead = (principal: Principal, id: string, place: DevicePlace): boolean =>
    permitted(() =>
      authorize(principalIn(principal, place.organizationId), 'asset', 'read', {
        ...place,
        what: 'device',
        id,
      }),
    );
  const readable = async (principal: Principal, id: string): Promise<boolean> => {
    const place = (await placesOfDevices(records.db, [id])).get(id);
    return place !== undefined && mayRead(principal, id, place);
  };
  const failed = (error: unknown) => telemetry.backgroundFailed('ending live connections', error);
  const access = createAccessWatch({ fanOut, readable, pause, failed });

  const streams = attachDataStreams(server, {
    fanOut,
    access,
    authenticate: async ({ apiKey, accessToken, cookie }) =>
      identify(parts.access.authenticators, {
        'x-api-key': apiKey,
        authorization: accessToken === undefined ? undefined : `Bearer ${accessToken}`,
        cookie,
      }),
    findAssets: async (principal, assetIds, isOver) => {
      const places = await placesOfDevices(records.db, assetIds, isOver);
      return new Set(
        [...places].filter(([id, place]) => mayRead(principal, id, place)).map(([id]) => id),
      );
    },
    assetsOfTag: async (principal, tagId) => {
      const place = await placeOf(records, 'tag', tagId).catch(ifUnknown);
      if (place === undefined) return undefined;
      const asking = principalIn(principal, place.organizationId);
      if (!permitted(() => authorize(asking, 'asset', 'read', place))) return undefined;
      return deviceIdsOfTag(records.elsewhere(asking.organizationId), tagId);
    },
    counts: parts.openCounts,
    isElsewhere: (path) => path === mqttSocketPath,
    replay: (start, wanted) => store.replay(start, wanted),
    now,
    trustedProxies: parts.config.trustedProxies,
    refused: telemetry.credentialRefused,
    cut: telemetry.liveSocketCut,
    failed: (errorId, error) =>
      telemetry.failed(error, { path: '/v3/data-streams', requestId: randomUUID(), errorId }),
  });
  parts.followChanges(access.recordChanged);
  parts.followChanges(streamRevocation(streams, parts.access.sessions, failed));
  parts.quotaUse.readBy('webSockets', parts.openCounts.webSockets.usedBy);
  parts.quotaUse.readBy('subscriptionItems', parts.openCounts.subscriptionItems.usedBy);
  telemetry.gauge('live_sessions', 'Open connections of the data stream.', () => streams.sessions);
  telemetry.gauge('live_devices', 'Devices with live subscriptions.', () => fanOut.size);
  return streams;
}

/** Whether the check lets through; a refusal is an answer here, anything else is an error. */
function permitted(check: () => void): boolean {
  try {
    check();
    return true;
  } catch (error) {
    if (isRefusal(error)) return false;
    throw error;
  }
}

function ifUnknown(error: unknown): undefined {
  if (!isRefusal(error)) throw error;
}

/** A disk that fails says nothing about who may read what. */
function isRefusal(error: unknown): boolean {
  return error instanceof Problem && error.status < 500;
}
