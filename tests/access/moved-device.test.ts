// Access ends with a move and with a deletion, on open sockets too.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLive } from '../world/live-socket.ts';
import { type AccessWorld, startAccessWorld } from './access-world.ts';

let at: AccessWorld;
beforeAll(async () => {
  at = await startAccessWorld();
});
afterAll(() => at.close());

async function movable() {
  const { world, secondWorkspaceId, owner } = at;
  const device = await world.device({ tags: [] });
  const connector = await owner.must('POST', '/v3/device-connectors', {
    name: 'c',
    workspaceId: secondWorkspaceId,
    connectivity: 'HTTP',
  });
  const flow = await owner.must('POST', '/v3/data-flows', {
    name: 'f',
    workspaceId: secondWorkspaceId,
    deviceConnector: { id: connector.id },
    outputConnectors: [{ id: '0900000000000000', topic: '*' }],
  });
  const move = async () => {
    const body = {
      workspaceId: world.workspaceId,
      deviceIds: [device.id],
      targetWorkspaceId: secondWorkspaceId,
      dataFlowId: flow.id,
    };
    const { id } = await owner.must('POST', '/v3/devices/bulk/move', body);
    await expect
      .poll(async () => (await owner.must('GET', `/v3/operations/${id}`)).succeeded)
      .toBe(true);
  };
  const capture = (value: number) =>
    at.nobody.call(
      'POST',
      `/v3/capture?secret=${connector.uplinkSecret}&deviceId=${device.deviceId}`,
      { value },
    );
  return { device, move, capture };
}

test.each(['assetId', 'tagId'])(
  'review security 7: a subscription by %s ends when its device moves out of reach',
  async (by) => {
    const { device, move, capture } = await movable();
    const tag = await at.owner.must('POST', '/v3/tags', {
      name: `t ${by}`,
      workspaceId: at.world.workspaceId,
    });
    await at.owner.must('POST', '/v3/devices/bulk/tag', {
      workspaceId: at.world.workspaceId,
      deviceIds: [device.id],
      addTagIds: [tag.id],
    });
    await expect
      .poll(async () => (await at.owner.must('GET', `/v3/devices/${device.id}`)).tags.length)
      .toBe(1);
    const permissions = { asset: ['read'] } as const;
    const restricted = await at.key({ permissions, workspaces: [{ id: at.world.workspaceId }] });
    const everywhere = await at.key({ permissions });
    const lost = await openLive(
      `${at.base.replace('http', 'ws')}/v3/data-streams?xApiKey=${restricted.secret}`,
    );
    const kept = await openLive(
      `${at.base.replace('http', 'ws')}/v3/data-streams?xApiKey=${everywhere.secret}`,
    );
    for (const live of [lost, kept]) {
      const item = by === 'tagId' ? { tagId: tag.id } : { assetId: device.id };
      const told = await live.ask({
        type: 'subscribe',
        id: 1,
        subscriptions: [{ ...item, topic: '*' }],
      });
      expect(told['subscriptions']).toMatchObject([{ assetId: device.id, valid: true }]);
    }
    await move();
    const told = await lost.next();
    expect(told).toMatchObject({
      type: 'unsubscribed',
      subscriptions: [],
      ended: [{ assetId: device.id, valid: false }],
    });
    expect((await capture(99)).status).toBe(201);
    expect((await kept.next())['sample'].data).toMatchObject({ value: 99 });
    expect(await lost.sofar()).toEqual([]);
    lost.close();
    kept.close();
  },
);

test('review behaviour 31: a subscription to a deleted device ends with a message', async () => {
  const device = await at.world.device();
  const live = await openLive(
    `${at.base.replace('http', 'ws')}/v3/data-streams?xApiKey=${at.world.apiKey}`,
  );
  const items = ['a', 'b'].map((topic) => ({ assetId: device.id, topic }));
  await live.ask({ type: 'subscribe', id: 1, subscriptions: items });
  await at.owner.must('DELETE', `/v3/devices/${device.id}`);
  const told = await live.next();
  expect(told['ended']).toEqual([
    { assetId: device.id, topic: 'a', valid: false },
    { assetId: device.id, topic: 'b', valid: false },
  ]);
  live.close();
});
