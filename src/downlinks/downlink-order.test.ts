// Downlink orders, device notes and server look-ups: the small functions that downlinks and webhooks use.
import { expect, test } from 'vitest';
import type { UplinkRoute } from '../inventory/devices/uplink-route-cache.ts';
import type { DeviceConnector } from '../model/connector.ts';
import type { JournalEntry } from '../model/journal-entry.ts';
import {
  serverOfDecodingType,
  serverOfIntegration,
} from '../transports/network-servers/network-server-table.ts';
import { createDeviceNotes } from '../uplinks/device-events.ts';
import { createDownlinkOrders } from './downlink-queue.ts';
import { createServerLookup } from '../uplinks/capture/network-server-capture.ts';

const routeIn = (workspaceId: string) => ({ device: { workspaceId } }) as UplinkRoute;
const routes = new Map([
  ['a', routeIn('w1')],
  ['b', routeIn('w1')],
  ['c', routeIn('w2')],
]);

test('an order reaches devices of its own workspace', async () => {
  const sent: unknown[] = [];
  const order = createDownlinkOrders({
    findRoute: (id) => routes.get(id) ?? routeIn('none'),
    send: async (...downlink) => sent.push(downlink),
  });
  const cause = { correlationId: 'x', idempotencyKey: 'k' };
  const command = { payloadHex: '01' } as never;
  await order({ from: 'a', to: 'b', command, ...cause });
  expect(sent).toEqual([['b', command, cause]]);
  const elsewhere = order({ from: 'a', to: 'c', command, ...cause });
  await expect(elsewhere).rejects.toMatchObject({ status: 404 });
  expect(sent).toHaveLength(1);
});

test('notes become one journal entry, and no notes none', async () => {
  const entries: JournalEntry[] = [];
  let ids = 0;
  const note = createDeviceNotes({
    appendEntry: async (entry) => {
      entries.push(entry);
      return entry as never;
    },
    newId: () => `${(ids += 1)}`,
    now: () => 7,
  });
  await note('d', [], 'x');
  const written = { level: 'INFO', source: 'DOWNLINK', message: 'm' } as const;
  await note('d', [written, written], 'x');
  const origin = { deviceId: 'd', timestamp: 7, correlationId: 'x' };
  expect(entries).toEqual([
    {
      deviceId: 'd',
      receivedAt: 7,
      samples: [],
      notes: [
        { id: '1', ...origin, ...written },
        { id: '2', ...origin, ...written },
      ],
    },
  ]);
});

test('the server of a connector: by its decoding type, else by its integration, which is read once', async () => {
  let reads = 0;
  const serverOf = createServerLookup(async (id) => {
    reads += 1;
    return id === 'i' ? { type: 'CHIRP_STACK' } : undefined;
  });
  const connectorOf = (decodingType: string, integrationId: string | null) =>
    ({ decodingType, integrationId }) as DeviceConnector;
  expect(await serverOf(connectorOf('HELIUM', null))).toBe(serverOfDecodingType.HELIUM);
  expect(reads).toBe(0);
  for (let n = 0; n < 2; n += 1)
    expect(await serverOf(connectorOf('NONE', 'i'))).toBe(serverOfIntegration.CHIRP_STACK);
  expect(reads).toBe(1);
  await expect(serverOf(connectorOf('NONE', 'gone'))).rejects.toThrow(
    /Integration gone .* missing/,
  );
});
