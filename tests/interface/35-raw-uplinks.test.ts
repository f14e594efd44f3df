// Contract, decisions: raw uplinks are kept for their retention and feed the decoder test (contract 35).
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { anyTime, anyUuid, expectRefusal, pageEnvelope } from '../world/expectations.ts';
import { besidesPlatform, makeKey } from '../world/restricted-keys.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

const counting = `function consume(event) {
  const count = (event.state.count || 0) + 1;
  if (event.data.fail) throw new Error('no such payload');
  emit('state', { count });
  emit('sample', { data: { t: event.data.t, count } });
}`;
const doubled = counting.replace('t: event.data.t', 't: event.data.t * event.data.factor');

let world: World;
let device: TestDevice;
let readingKey: string;
let clock = Date.now();
beforeAll(async () => {
  world = await startWorld({ now: () => clock });
  readingKey = await besidesPlatform(world, (records) =>
    makeKey(records, world, { permissions: { deviceType: ['read'], asset: ['read'] } }),
  );
  device = await world.device({ name: 'counted', script: counting });
  for (let t = 0; t < 5; t++) {
    clock += 60_000;
    await world.capture(
      device,
      { t, factor: t < 3 ? 1 : 2 },
      t === 4 ? { topic: 'climate', timestamp: '2026-01-01T00:00:00Z' } : {},
    );
  }
});
afterAll(() => world.close());

const uplinks = (one: TestDevice, query = '') =>
  world.must('GET', `/v3/devices/${one.id}/uplinks${query}`);
const replay = (body: unknown) =>
  world.must('POST', `/v3/device-types/${device.deviceTypeId}/replay`, body);

describe('GET /v3/devices/{id}/uplinks', () => {
  test('newest first, every field, in the page envelope', async () => {
    const page = await uplinks(device, '?size=2');
    expect(page).toEqual(
      pageEnvelope({
        content: [
          {
            id: anyUuid,
            correlationId: page.content[0].id,
            deviceId: device.id,
            timestamp: anyTime,
            topic: 'climate',
            sentTimestamp: '2026-01-01T00:00:00.000Z',
            size: 18,
            payload: { t: 4, factor: 2 },
            encoding: 'JSON',
            payloadHex: null,
          },
          expect.objectContaining({
            topic: null,
            sentTimestamp: null,
            payload: { t: 3, factor: 2 },
          }),
        ],
        on: 2,
        total: 5,
        number: 0,
        size: 2,
      }),
    );
  });
  test('pages and an interval, from inclusive and to exclusive', async () => {
    const all = (await uplinks(device)).content;
    expect((await uplinks(device, '?size=2&page=1')).content).toEqual(all.slice(2, 4));
    const between = `?from=${all[3].timestamp}&to=${all[1].timestamp}`;
    expect((await uplinks(device, between)).content).toEqual(all.slice(2, 4));
    const path = `/v3/devices/${device.id}/uplinks`;
    expectRefusal(await world.call('GET', `${path}?from=soon`), 400, '40035_BAD_BOUND', { path });
  });
  test('an uplink whose decoder failed is kept, a backfill is not', async () => {
    const one = await world.device({ name: 'failing', script: counting });
    await world.capture(one, { fail: true });
    await world.must('POST', `/v3/devices/${one.id}/backfill`, { data: { t: 1 } });
    expect((await uplinks(one)).content).toMatchObject([{ payload: { fail: true } }]);
  });
  test('an array stays an array', async () => {
    const one = await world.device({ name: 'array' });
    await world.capture(one, [1, { a: 2 }]);
    expect((await uplinks(one)).content[0].payload).toEqual([1, { a: 2 }]);
  });
});

describe('POST /v3/device-types/{id}/replay', () => {
  test('the stored decoder leads to the same samples, its state carried on', async () => {
    const report = await replay({ deviceId: device.id });
    expect(report.summary).toMatchObject({
      devices: 1,
      uplinks: 5,
      same: 5,
      different: 0,
      errors: 0,
      complete: true,
    });
    expect(report.dryRun).toBe(true);
    expect(report.uplinks.map((one: { payload: { t: number } }) => one.payload.t)).toEqual([
      0, 1, 2, 3, 4,
    ]);
  });
  test('the state before the first uplink of the selection is the one it really began with', async () => {
    const report = await replay({ deviceIds: [device.id], limit: 2 });
    expect(report.summary).toMatchObject({ uplinks: 2, same: 2 });
    expect(report.uplinks[0].newSamples[0].data).toEqual({ t: 3, count: 4 });
  });
  test('a changed decoder: old and new side by side with a verdict each, and nothing is stored', async () => {
    const before = await world.must('POST', `/v3/devices/${device.id}/query`, { topic: '*' });
    const report = await replay({ deviceId: device.id, uplinkScript: { code: doubled } });
    expect(report.uplinks.map((one: { verdict: string }) => one.verdict)).toEqual([
      'SAME',
      'SAME',
      'SAME',
      'DIFFERENT',
      'DIFFERENT',
    ]);
    expect(report.uplinks[3]).toMatchObject({
      oldSamples: [{ topic: 'default', data: { t: 3, count: 4 }, meta: null }],
      newSamples: [{ topic: 'default', data: { t: 6, count: 4 }, meta: null }],
      notes: [],
    });
    expect(await world.must('POST', `/v3/devices/${device.id}/query`, { topic: '*' })).toEqual(
      before,
    );
    expect((await world.must('GET', `/v3/devices/${device.id}/processing-logs`)).content).toEqual(
      [],
    );
    // The decoder in use continues with its own state.
    clock += 60_000;
    await world.capture(device, { t: 5, factor: 2 });
    expect(
      (await world.must('GET', `/v3/devices/${device.id}/query/latest-sample?topic=default`)).data,
    ).toEqual({
      t: 5,
      count: 6,
    });
  });
  test('a decoder that fails: ERROR with its message; one that does not compile too', async () => {
    const report = await replay({
      deviceId: device.id,
      limit: 1,
      uplinkScript: 'function consume() { throw new Error("broken"); }',
    });
    expect(report).toMatchObject({
      summary: { errors: 1 },
      uplinks: [{ verdict: 'ERROR', newSamples: [] }],
    });
    expect(report.uplinks[0].notes[0]).toMatchObject({
      level: 'ERROR',
      message: expect.stringContaining('broken'),
    });
    expect(
      (await replay({ deviceId: device.id, limit: 1, uplinkScript: 'function (' })).summary.errors,
    ).toBe(1);
  });
  test('without devices: those of the type', async () => {
    expect((await replay({ limit: 1000 })).summary).toMatchObject({ devices: 1 });
  });
  test('samples that were stored before do not count as missing', async () => {
    const one = await world.device({
      name: 'repeating',
      script: 'function consume(e) { emit("sample", { data: e.data, timestamp: new Date(5) }); }',
    });
    await world.capture(one, { a: 1 });
    await world.capture(one, { a: 1 });
    const report = await world.must('POST', `/v3/device-types/${one.deviceTypeId}/replay`, {});
    expect(report.summary).toMatchObject({ uplinks: 2, same: 2 });
  });
  for (const [what, body, code] of [
    ['limit 0', { limit: 0 }, '40001_INVALID_REQUEST'],
    ['limit 1001', { limit: 1_001 }, '40001_INVALID_REQUEST'],
    ['51 devices', { deviceIds: Array.from({ length: 51 }, () => '02') }, '40001_INVALID_REQUEST'],
    ['a time that is none', { from: 'x' }, '40035_BAD_BOUND'],
  ] as const)
    test(`${what}: 400 ${code}`, async () => {
      const path = `/v3/device-types/${device.deviceTypeId}/replay`;
      const named = 'deviceIds' in body ? body : { ...body, deviceId: device.id };
      expectRefusal(await world.call('POST', path, named), 400, code, { path });
    });
  test('a named device needs asset update; without naming any, only such devices are taken', async () => {
    const path = `/v3/device-types/${device.deviceTypeId}/replay`;
    const headers = { 'x-api-key': readingKey };
    expectRefusal(
      await world.call('POST', path, { deviceId: device.id }, headers),
      403,
      '40300_PERMISSION_DENIED',
      {
        path,
      },
    );
    expect((await world.call('POST', path, {}, headers)).body.summary.devices).toBe(0);
    expectRefusal(
      await world.call('POST', path, { deviceId: '0200000000000000' }),
      404,
      '40400_NOT_FOUND',
      { path },
    );
  });
});

describe('kept and dropped', () => {
  test('through a restart, until the retention, and gone with the device', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'heliograph-raw-'));
    let at = Date.now();
    const now = () => at;
    let one = await startWorld({ directory, now });
    const [kept, gone] = [await one.device({ name: 'kept' }), await one.device({ name: 'gone' })];
    await one.capture(kept, { mark: 'kept-payload' });
    await one.capture(gone, { mark: 'gone-payload' });
    await one.must('DELETE', `/v3/devices/${gone.id}`);
    await one.close();
    at += 700_000;
    one = await startWorld({ directory, now });
    await one.platform.runMaintenance();
    expect((await one.must('GET', `/v3/devices/${kept.id}/uplinks`)).content).toMatchObject([
      { payload: { mark: 'kept-payload' } },
    ]);
    expect(namesIn(join(directory, 'uplinks'), gone.id)).toBe(false);
    at += 7 * 86_400_000;
    expect((await one.must('GET', `/v3/devices/${kept.id}/uplinks`)).content).toEqual([]);
    await one.platform.runMaintenance();
    expect(filesOf(join(directory, 'uplinks'))).toEqual([]);
    await one.close();
    one = await startWorld({ directory, now, environment: { RAW_UPLINK_RETENTION: '0' } });
    await one.capture(kept, { a: 1 });
    expect((await one.must('GET', `/v3/devices/${kept.id}/uplinks`)).content).toEqual([]);
    await one.close();
    rmSync(directory, { recursive: true, force: true });
  });
});

/** No folder, when the uplinks are not in the data folder. */
function filesOf(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** Whether any index of the folder names the device. */
function namesIn(folder: string, deviceId: string): boolean {
  return filesOf(folder).some(
    (name) => name.endsWith('.index') && readFileSync(join(folder, name)).includes(deviceId),
  );
}
