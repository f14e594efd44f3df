// Connects the live stream: authorization of subscriptions and the feed of durable samples.
import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { setImmediate as pause } from 'node:timers/promises';
import { identify } from '../access/authenticators.ts';
import { requireMfaSetup } from '../access/second-factor.ts';
import { createStreamRevocation } from '../access/stream-revocation.ts';
import type { LiveNodes } from '../cluster/node-streams.ts';
import { DataStreams, type DataStreamsOptions } from '../http/streams/data-streams.ts';
import { mqttSocketPath } from '../http/streams/mqtt-socket.ts';
import { OfflineWatch } from '../live/live-events.ts';
import { StreamAccess } from '../live/stream-access.ts';
import { AccessWatch, createWorkspaceWatch } from '../live/sessions/access-watch.ts';
import type { Replay } from '../live/sessions/catch-up.ts';
import { FanOut, publishEntry, publishRows } from '../live/sessions/fan-out.ts';
import { PlaceWatch } from '../live/sessions/place-watch.ts';
import { isWritten } from '../model/journal-entry.ts';
import { problem } from '../model/problem.ts';
import { ChangeFollower } from '../model/record.ts';
import { deviceStatusRows } from '../storage/records/rows/device-status.ts';
import { placeRows } from '../storage/records/rows/places.ts';
import { closeInOrder } from '../structures/closers.ts';
import { setRepeatingTimer } from '../structures/timers.ts';
import type { Parts } from './platform-parts.ts';
import type { Uplinks } from './uplinks.ts';

/** Serves the data stream on the server's upgrades. */
export function composeLive(
  server: Server,
  parts: Parts,
  { settled }: Uplinks,
): Pick<DataStreams, 'close'> & {
  /** Ends connections of API keys that expired; returns how many. */
  readonly endExpired: () => number;
} {
  const { log, telemetry, now, records, openCounts, quotaUse, followChanges } = parts;
  const { workspaceFanOut, liveEvents, alarmFeed } = parts;
  const nodes = parts.openLiveNodes?.();
  const fanOut = nodes?.fanOut ?? new FanOut(workspaceFanOut);
  publishEntries(parts, nodes ?? { own: fanOut });
  const { isReadable: readable, readableOf, devicesOfTag, ...granted } = new StreamAccess(records);
  const failed = (error: unknown) => telemetry.backgroundFailed('ending live connections', error);
  const access = new AccessWatch({ fanOut, readable, pause, failed });
  const placeWatch = new PlaceWatch({
    fanOut,
    placesAbove: (deviceIds) => placeRows.aboveDevices(records.db, deviceIds),
    devicesAt: async (placeId) =>
      (await placeRows.devicesOf(records.db, placeId)).map(({ id }) => id),
    pause,
    failed: (error) => telemetry.backgroundFailed('following devices of places', error),
  });
  const streams = new DataStreams(server, {
    fanOut,
    access,
    authenticate: authenticateWith(parts),
    findAssets: readableOf,
    assetsOfTag: devicesOfTag,
    assetsOfPlace: granted.devicesOfPlace,
    followable: granted.followable,
    placeWatch,
    counts: openCounts,
    isElsewhere: (path) => path === mqttSocketPath,
    follow: nodes?.follow,
    replay: nodes?.replay ?? replayOf(log),
    now,
    publicUrl: parts.config.publicUrl,
    trustedProxies: parts.config.trustedProxies,
    refused: telemetry.credentialRefused,
    cut: telemetry.liveSocketCut,
    failed: (errorId, error) =>
      telemetry.failed(error, { path: '/v3/data-streams', requestId: randomUUID(), errorId }),
  });
  // After missed changes, all connections end and begin again: see the revocation of streams.
  followChanges(new ChangeFollower(access.recordChanged));
  followChanges(placeWatch);
  followChanges(new ChangeFollower(createWorkspaceWatch(workspaceFanOut)));
  alarmFeed.follow(liveEvents.alarmChanged);
  followChanges(createStreamRevocation(streams, parts.access.sessions, failed));
  quotaUse.readBy('webSockets', openCounts.webSockets.usedBy);
  quotaUse.readBy('subscriptionItems', openCounts.subscriptionItems.usedBy);
  telemetry.gauge('live_sessions', 'Open connections of the data stream.', () => streams.sessions);
  telemetry.gauge(
    'live_buffer_bytes',
    'Bytes kept for slow readers of the data stream.',
    () => streams.sessionBytes,
  );
  telemetry.gauge('live_devices', 'Devices with live subscriptions.', () => fanOut.size);
  telemetry.gauge(
    'live_workspaces',
    'Workspaces with live subscriptions.',
    () => workspaceFanOut.size,
  );
  const offline = composeOfflineWatch(parts, settled);
  nodes?.start(streams.restart);
  const closeNodes = async () => nodes?.close();
  return {
    endExpired: () =>
      streams.endSessions(({ expiresAt }) => expiresAt !== undefined && expiresAt <= now()),
    close: () => closeInOrder(offline.close, streams.close, closeNodes),
  };
}

/** Publishes what becomes durable on this node. */
function publishEntries(
  { followers, now, liveEvents }: Parts,
  { own, announced }: Pick<LiveNodes, 'own'> & Partial<LiveNodes>,
): void {
  followers.listen(
    'live',
    (entry) => {
      publishEntry(own, entry, now);
      if (entry.replaces !== undefined) liveEvents.samplesChanged(entry.deviceId, entry.replaces);
      if (isWritten(entry)) announced?.(entry.position + 1);
    },
    (rows) => {
      publishRows(own, rows, now);
      announced?.(rows.position + rows.length);
    },
  );
}

/** Cursors of several journals are not of this process. */
function replayOf(log: Parts['log']): Replay {
  return (start, deviceIds) => {
    if (!('cursor' in start)) return log.replay(start, deviceIds);
    const { cursor } = start;
    if (typeof cursor === 'string') return log.replay({ cursor }, deviceIds);
    throw problem('invalidRequest', {
      reason: 'the cursor belongs to a cluster, but this is a single node',
    });
  };
}

/** Reports devices that went offline to those who follow their states. */
function composeOfflineWatch(
  { workspaceFanOut, liveEvents, records, now, telemetry }: Parts,
  settled: Uplinks['settled'],
): OfflineWatch {
  return new OfflineWatch({
    followed: () => workspaceFanOut.wanting('DEVICE_STATE'),
    settled,
    goneOffline: ({ workspaceId, organizationId }, range) =>
      deviceStatusRows.goneOffline(records.elsewhere(organizationId), workspaceId, range),
    deviceChanged: liveEvents.deviceWentOffline,
    now,
    setRepeatingTimer,
    failed: (error) => telemetry.backgroundFailed('noticing devices that go offline', error),
  });
}

function authenticateWith({ access }: Parts): DataStreamsOptions['authenticate'] {
  return async ({ apiKey, accessToken, cookie }) =>
    requireMfaSetup(
      await identify(access.authenticators, {
        'x-api-key': apiKey,
        authorization: accessToken && `Bearer ${accessToken}`,
        cookie,
      }),
    );
}
