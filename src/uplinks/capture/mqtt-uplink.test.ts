// MQTT uplinks: payloads are read at the turns of their organization, in their order.
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { UplinkRoute } from '../../inventory/devices/uplink-route-cache.ts';
import type { Uplink } from '../../model/uplink.ts';
import { DuplicateFilter } from '../../transports/duplicate-filter.ts';
import { WorkTurns, workTurnLimits } from '../../transports/work-turns.ts';
import { MqttUplinks } from './mqtt-uplink.ts';

const route = {
  device: { id: 'd', organizationId: 'o', workspaceId: 'w' },
  flow: { id: 'f', passThrough: true },
  outputs: [],
  connector: {},
  tags: [],
  customFields: [],
} as unknown as UplinkRoute;

test('review security 4: payloads that inflate are read at the turns of their organization', async () => {
  const at = 0;
  const turns = new WorkTurns(() => at);
  const handled: Uplink[] = [];
  const uplinks = new MqttUplinks(
    async (uplink: Uplink) => void handled.push(uplink),
    new DuplicateFilter(() => at),
    turns,
    () => undefined,
    () => 'id',
    () => at,
  );
  const send = (payload: Buffer) =>
    uplinks.take(route, { topic: 'default', payload, isRepeated: false });
  const packed = gzipSync(JSON.stringify({ long: 'x'.repeat(100_000) }));
  await send(packed);
  expect(handled).toHaveLength(1);
  turns.charge('o', workTurnLimits.busyMs);
  const sent = [send(packed), send(Buffer.from('2')), send(Buffer.from('3'))];
  expect(turns.size).toBe(3);
  expect(handled).toHaveLength(1);
  await Promise.all(sent);
  const long = { long: 'x'.repeat(100_000) };
  expect(handled.map(({ body }) => body)).toEqual([long, long, { value: 2 }, { value: 3 }]);
});
