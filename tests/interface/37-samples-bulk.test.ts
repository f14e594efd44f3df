// Contract 37: samples of many devices in one request, as an array or a value a line.
import { isUtf8 } from 'node:buffer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import { type AccessWorld, addMember, signIn, startAccessWorld } from '../access/access-world.ts';
import type { TestDevice } from '../world/world.ts';

let at: AccessWorld;
beforeAll(async () => {
  at = await startAccessWorld();
});
afterAll(() => at.close());

const path = '/v3/samples/bulk';
const ndjson = { 'content-type': 'application/x-ndjson' };
const bulk = (body: unknown, headers?: Record<string, string>) =>
  at.world.call('POST', path, body, headers);
const lines = (values: readonly unknown[]) =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('');
const stored = async (device: { readonly id: string }) =>
  (
    await at.world.must('POST', `/v3/devices/${device.id}/query`, { topic: '*', limit: 10_000 })
  ).map((sample: { data: { n: number } }) => sample.data.n);
const minute = (n: number) => new Date(Date.UTC(2026, 0, 5, 0, n)).toISOString();
const sample = (deviceId: string, n: number) => ({ deviceId, timestamp: minute(n), data: { n } });
const devices = (count: number): Promise<TestDevice[]> =>
  Promise.all(Array.from({ length: count }, () => at.world.device()));
const unknownReason = (deviceId: string) =>
  `No device ${deviceId}, or no permission to write to it`;
const rejected = (index: number, deviceId: string) => ({
  index,
  errorCode: '40047_SAMPLE_DEVICE_UNKNOWN',
  message: unknownReason(deviceId),
});

describe('samples of many devices', () => {
  test('service and physical ids, in any order: stored by device in the order sent', async () => {
    const many = await devices(5);
    const body = Array.from({ length: 2_500 }, (_, i) => {
      const device = many[i % 5]!;
      return sample(i % 2 === 0 ? device.id : device.deviceId, Math.floor(i / 5));
    });
    for (const [text, headers] of [
      [JSON.stringify(body), undefined],
      [lines(body), ndjson],
    ] as const) {
      const { status, body: answer } = await bulk(text, headers);
      expect({ status, rejected: answer.rejected }).toEqual({ status: 201, rejected: [] });
      expect(answer.accepted + answer.duplicates).toBe(2_500);
      expect([0, 2_500]).toContain(answer.accepted);
      for (const device of many)
        expect(await stored(device)).toEqual(Array.from({ length: 500 }, (_, i) => 499 - i));
    }
  });

  test('samples of one instant come newest stored first, by whichever name the device is meant', async () => {
    const [device] = await devices(1);
    const names = [device!.deviceId, device!.id, device!.deviceId, device!.id];
    await bulk(names.map((name, n) => ({ deviceId: name, timestamp: minute(0), data: { n } })));
    expect(await stored(device!)).toEqual([3, 2, 1, 0]);
  });

  test('rejected elements are listed by index, the rest is stored; what is absent is filled in', async () => {
    const [one, two] = await devices(2);
    const body = [
      sample(one!.id, 1),
      sample('nobody', 2),
      7,
      { data: { n: 3 } },
      { deviceId: 8, data: {} },
      { deviceId: two!.deviceId, data: 1 },
      { deviceId: two!.deviceId, timestamp: 'yesterday', data: {} },
      { deviceId: two!.deviceId, data: { n: 9 } },
      sample('x'.repeat(5_000), 2),
    ];
    const { status, body: answer } = await bulk(body);
    expect({ status, accepted: answer.accepted }).toEqual({ status: 201, accepted: 2 });
    expect(
      answer.rejected.map((one: { index: number; errorCode: string }) => [
        one.index,
        one.errorCode.slice(0, 5),
      ]),
    ).toEqual([
      [1, '40047'],
      [2, '40040'],
      [3, '40046'],
      [4, '40046'],
      [5, '40041'],
      [6, '40003'],
      [8, '40048'],
    ]);
    expect(answer.rejected.at(-1).message.length).toBeLessThan(200);
    expect([await stored(one!), await stored(two!)]).toEqual([[1], [9]]);
  });

  test('all rejected is a 400 with the list; no sample at all is not an error', async () => {
    expect(await bulk([sample('nobody', 1), 2])).toMatchObject({
      status: 400,
      body: {
        errorCode: '40044_BACKFILL_REJECTED',
        accepted: 0,
        rejected: [rejected(0, 'nobody'), { index: 1, errorCode: '40040_SAMPLE_NOT_AN_OBJECT' }],
      },
    });
    for (const [body, headers] of [
      ['[]', undefined],
      ['\n \r\n', ndjson],
    ] as const)
      expect(await bulk(body, headers)).toMatchObject({
        status: 201,
        body: { accepted: 0, duplicates: 0, rejected: [] },
      });
  });

  test('live clients get every sample once and in order, and invalid keys are noted by device', async () => {
    const [one, two] = await devices(2);
    const url = `${at.base.replace('http', 'ws')}/v3/data-streams?xApiKey=${at.world.apiKey}`;
    const socket = new WebSocket(url);
    const live: unknown[] = [];
    const { promise: subscribed, resolve: isSubscribed } = Promise.withResolvers<void>();
    const { promise: all, resolve: isAll } = Promise.withResolvers<void>();
    socket.on('message', (text) => {
      const message = JSON.parse(String(text));
      const subscriptions = [one!, two!].map(({ id }) => ({ assetId: id, topic: '*' }));
      if (message.type === 'connected')
        socket.send(JSON.stringify({ type: 'subscribe', id: 1, subscriptions }));
      if (message.type === 'subscribed') isSubscribed();
      if (message.type === 'sample_insert' && live.push(message.sample.data.n) === 4) isAll();
    });
    await subscribed;
    const odd = { deviceId: two!.id, timestamp: minute(9), data: { n: 3, 'bad key!': 1 } };
    await bulk([sample(one!.id, 0), sample(two!.id, 1), sample(one!.id, 2), odd]);
    await all;
    socket.close();
    expect(live.toSorted()).toEqual([0, 1, 2, 3]);
    expect(live.filter((n) => n === 0 || n === 2)).toEqual([0, 2]);
    const log = await at.world.must('GET', `/v3/devices/${two!.id}/processing-logs`);
    expect(log.content).toMatchObject([{ level: 'WARN', details: { index: 3 } }]);
  });
});

describe('who may write', () => {
  /** One device in each place, all with the same physical id where that is possible. */
  async function places() {
    const { world, otherOwner, secondWorkspaceId, otherWorkspaceId } = at;
    const own = await world.device();
    const second = await world.device({ workspaceId: secondWorkspaceId });
    const connector = await otherOwner.must('POST', '/v3/device-connectors', {
      name: 'x',
      workspaceId: otherWorkspaceId,
      connectivity: 'HTTP',
    });
    const flow = await otherOwner.must('POST', '/v3/data-flows', {
      name: 'x',
      workspaceId: otherWorkspaceId,
      deviceConnector: { id: connector.id },
      outputConnectors: [{ id: '0900000000000000', topic: '*' }],
      passThrough: true,
    });
    const foreign = await otherOwner.must('POST', '/v3/devices', {
      name: 'x',
      deviceId: own.deviceId,
      workspaceId: otherWorkspaceId,
      dataFlowId: flow.id,
      connectivity: 'HTTP',
    });
    return { own, second, foreign };
  }

  test('a device of another organization or workspace is rejected like one that does not exist', async () => {
    const { own, second, foreign } = await places();
    const { owner, world, otherOwner } = at;
    const restricted = await owner.must('POST', '/v3/api-keys', {
      name: 'one workspace',
      organizationId: world.organizationId,
      allWorkspaces: false,
      workspaces: [{ id: world.workspaceId }],
      permissions: { asset: ['update'] },
    });
    const body = [
      sample(own.deviceId, 1),
      sample(own.id, 2),
      sample(second.id, 3),
      sample(second.deviceId, 4),
      sample(foreign.id, 5),
      sample('nobody', 6),
    ];
    // The second time, every route is in memory.
    for (const [headers, refused] of [
      [{ 'x-api-key': restricted.secret }, [2, 3, 4, 5]],
      [{ 'x-api-key': restricted.secret }, [2, 3, 4, 5]],
      [{}, [4, 5]],
      [{}, [4, 5]],
    ] as const) {
      const answer = await bulk(body, headers);
      expect(answer.status).toBe(201);
      expect(answer.body.rejected).toEqual(refused.map((i) => rejected(i, body[i]!.deviceId)));
    }
    // The same physical id in two organizations: each caller means their own.
    expect((await otherOwner.call('POST', path, body)).body).toMatchObject({
      accepted: 2,
      rejected: [1, 2, 3, 5].map((i) => rejected(i, body[i]!.deviceId)),
    });
    const series = await otherOwner.must('POST', `/v3/devices/${foreign.id}/query`, { topic: '*' });
    expect(series.map((one: { data: { n: number } }) => one.data.n)).toEqual([5, 1]);
    expect([await stored(own), await stored(second)]).toEqual([
      [2, 1],
      [4, 3],
    ]);
  });

  test('401 and 403 come before the body is read; a role in one workspace reaches its devices', async () => {
    const { own, second } = await places();
    const { base, owner, world } = at;
    const email = 'bulk@example.org';
    await addMember(base, owner, `/v3/workspaces/${world.workspaceId}`, email, 'EDITOR');
    const editor = await signIn(base, email);
    expect(
      await editor.call('POST', path, [sample(own.id, 1), sample(second.id, 2)]),
    ).toMatchObject({ status: 201, body: { accepted: 1, rejected: [{ index: 1 }] } });
    const reader = await owner.must('POST', '/v3/api-keys', {
      name: 'reads',
      organizationId: world.organizationId,
      permissions: { asset: ['read'] },
    });
    expect((await bulk('[', { 'x-api-key': reader.secret })).status).toBe(403);
    expect((await bulk('[', { 'x-api-key': 'no.key' })).status).toBe(401);
    expect((await bulk('[]', { 'content-type': 'text/plain' })).status).toBe(415);
  });

  test('a user of several organizations names the one of the devices', async () => {
    const { own, foreign } = await places();
    const { base, owner, otherOwner, world, otherOrganizationId } = at;
    const email = 'several@example.org';
    for (const [by, organizationId, role] of [
      [owner, world.organizationId, 'VIEWER'],
      [otherOwner, otherOrganizationId, 'EDITOR'],
    ] as const)
      await addMember(base, by, `/v3/organizations/${organizationId}`, email, role);
    const user = await signIn(base, email, { organizationId: world.organizationId });
    const body = [sample(own.deviceId, 1), sample(own.id, 2), sample(foreign.id, 3)];
    expect((await user.call('POST', path, body)).status).toBe(403);
    expect(
      await user.call('POST', `${path}?organizationId=${otherOrganizationId}`, body),
    ).toMatchObject({ status: 201, body: { accepted: 2, rejected: [rejected(1, own.id)] } });
    expect(await stored(own)).toEqual([]);
  });

  test('a deleted device is unknown, by both of its names', async () => {
    const [gone, kept] = await devices(2);
    expect((await bulk([sample(gone!.deviceId, 1)])).status).toBe(201);
    await at.world.must('DELETE', `/v3/devices/${gone!.id}`);
    const body = [sample(gone!.deviceId, 2), sample(gone!.id, 2), sample(kept!.deviceId, 2)];
    expect((await bulk(body)).body).toMatchObject({
      accepted: 1,
      rejected: [{ index: 0 }, { index: 1 }],
    });
  });
});

describe('NDJSON', () => {
  test('an error in the middle: 400 with line, index and byte, and what was stored before it', async () => {
    const [one, two] = await devices(2);
    const values = Array.from({ length: 1_500 }, (_, i) => sample([one!, two!][i % 2]!.id, i));
    const text = `\n${lines(values)}`;
    const place = text.indexOf('{"n":1400}');
    const broken = `${text.slice(0, place)}{"n" 1400}${text.slice(place + 10)}`;
    const answer = await bulk(broken, ndjson);
    expect(answer).toMatchObject({
      status: 400,
      body: { errorCode: '40045_BACKFILL_BROKEN', accepted: 1_400, duplicates: 0, rejected: [] },
    });
    expect(answer.body.message).toContain(`at sample 1400 (line 1402, byte ${place + 5})`);
    expect([...(await stored(one!)), ...(await stored(two!))]).toHaveLength(1_400);
  });

  test('interface 4.3: the bulk backfill of one device takes it too', async () => {
    const [device] = await devices(1);
    const body = lines([0, 1, 2].map((n) => ({ timestamp: minute(n), data: { n } })));
    const one = `/v3/devices/${device!.id}/backfill/bulk`;
    expect(await at.world.call('POST', one, body, ndjson)).toMatchObject({
      status: 201,
      body: { accepted: 3 },
    });
    expect(await stored(device!)).toEqual([2, 1, 0]);
  });

  test('malformed bytes are refused and the platform continues', async () => {
    const [device] = await devices(1);
    const good = Buffer.from(lines([sample(device!.id, 1)]));
    const bad = [[0xff, 0xfe], [0x00], [0xc3], [0xed, 0xa0, 0x80], [0x22, 0x0a, 0x22], [0x5b]];
    for (const headers of [ndjson, { 'content-type': 'application/json' }])
      for (const bytes of bad) {
        const answer = await sentBytes(Buffer.concat([good, Buffer.from(bytes)]), headers);
        const errorCode = isUtf8(Buffer.from(bytes))
          ? '40045_BACKFILL_BROKEN'
          : '40052_BACKFILL_UNREADABLE';
        expect(answer).toMatchObject({ status: 400, errorCode });
      }
    expect((await bulk(lines([sample(device!.id, 2)]), ndjson)).status).toBe(201);
    expect(await stored(device!)).toEqual([2, 1]);
  });

  async function sentBytes(bytes: Buffer, headers: Record<string, string>) {
    const answer = await fetch(`${at.base}${path}`, {
      method: 'POST',
      headers: { 'x-api-key': at.world.apiKey, ...headers },
      body: new Uint8Array(bytes),
    });
    return { status: answer.status, ...((await answer.json()) as { errorCode: string }) };
  }
});

test('more than 100,000 samples, of unknown devices too: 413 that names the stored ones', {
  timeout: 240_000,
}, async () => {
  const [device] = await devices(1);
  const many = Array.from({ length: 100_001 }, (_, i) => sample(`unknown ${i}`, 0));
  many[0] = sample(device!.id, 0);
  const answer = await bulk(lines(many), ndjson);
  expect(answer).toMatchObject({
    status: 413,
    body: { errorCode: '41301_BACKFILL_TOO_LARGE', accepted: 1 },
  });
  expect(answer.body.message).toContain('100,000 samples');
});

test('Idempotency-Key: one answer for one key, also at the same time; another body is a 422', async () => {
  const [one, two] = await devices(2);
  const key = { 'idempotency-key': 'samples-1' };
  const body = [one!, two!].flatMap(({ id }, n) => [
    { deviceId: id, data: { n } },
    { deviceId: 'nobody', data: { n } },
  ]);
  const [first, second] = await Promise.all([bulk(body, key), bulk(body, key)]);
  expect(first).toMatchObject({ status: 201, body: { accepted: 2, duplicates: 0 } });
  expect(second.body).toEqual(first.body);
  expect((await bulk(body, key)).body).toEqual(first.body);
  expect([await stored(one!), await stored(two!)]).toEqual([[0], [1]]);
  expect((await bulk([{ deviceId: one!.id, data: { n: 2 } }], key)).status).toBe(422);
  // Without the key the samples have another time, so that they are new ones.
  expect((await bulk(body)).body).toMatchObject({ accepted: 2 });
});
