// A segment whose file is gone: every answer that reaches into its times says so, until the file is back.
import { readdirSync, renameSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

const at = (minute: number): string =>
  new Date(Date.UTC(2026, 0, 5) + minute * 60_000).toISOString();
let directory: string;
let world: World;
let device: TestDevice;
let other: TestDevice;

const segments = () => join(directory, 'samples', 'segments');
const names = () => readdirSync(segments()).filter((name) => name.endsWith('.segment'));
const path = (rest: string, of = device) => `/v3/devices/${of.id}/${rest}`;

async function restarted(change: () => unknown): Promise<void> {
  await world.close();
  await change();
  world = await startWorld({ directory });
}

const samplesFrom = (from: number) =>
  Array.from({ length: 100 }, (_, i) => ({ timestamp: at(from + i), data: { level: i } }));

// Minutes 0 to 99, 500 to 599 and 1000 to 1099 are in a segment each; the one in the middle is
// lost.
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'heliograph-lost-segment-'));
  world = await startWorld({ directory });
  device = await world.device();
  for (const from of [0, 500, 1_000]) {
    await world.must('POST', path('backfill/bulk'), samplesFrom(from));
    await restarted(() => undefined);
  }
  other = await world.device({ name: 'never measured' });
  expect(names()).toHaveLength(3);
  const lost = names()[1]!;
  await restarted(() => renameSync(join(segments(), lost), join(directory, lost)));
});

afterAll(async () => {
  await world.close();
  rmSync(directory, { recursive: true });
});

const query = async (rest: string, body: object, of = device) => {
  const { status, body: answer, headers } = await world.call('POST', path(rest, of), body);
  return [
    status,
    Array.isArray(answer) ? answer.length : answer.errorCode,
    headers.get('x-incomplete'),
  ];
};
const between = (from: number, to: number) => ({ from: at(from), to: at(to) });
const kpi = async (from: number, to: number, of = device) => {
  const body = {
    topic: 'default',
    dataKey: 'level',
    accumulator: 'COUNT',
    interval: between(from, to),
  };
  const answer = await world.call('POST', path('query/raw/kpi', of), body);
  return [answer.status, answer.body.errorCode ?? answer.body.kpi];
};
const damaged = [500, '50010_SAMPLES_DAMAGED'];

async function expectMarked(left: number): Promise<void> {
  expect(await query('query', { limit: 1_000 })).toEqual([200, left, 'true']);
  expect(await kpi(0, 1_100)).toEqual(damaged);
  const download = await world.call('GET', path('export?format=csv'));
  expect(download.headers.get('x-incomplete')).toBe('true');
}

describe('review reliability 4: a segment whose file is gone', () => {
  test('answers over its times are incomplete, numbers over them are refused', async () => {
    await expectMarked(200);
    expect(await query('query', { limit: 10, timestamp: { gte: at(550), lt: at(560) } })).toEqual([
      200,
      0,
      'true',
    ]);
    expect(await kpi(599, 600)).toEqual(damaged);
    expect(
      (await query('query/time-series', { topic: 'default', dataKey: 'level' })).slice(0, 2),
    ).toEqual(damaged);
    const series = {
      topic: 'default',
      dataKey: 'level',
      accumulator: 'AVG',
      bucketInterval: 'PT1H',
    };
    expect(
      (await query('query/raw/time-series', { ...series, interval: between(0, 600) })).slice(0, 2),
    ).toEqual(damaged);
  });

  test('answers for other times are complete', async () => {
    expect(await query('query', { limit: 10 })).toEqual([200, 10, null]);
    expect(await query('query', { limit: 10, timestamp: { gte: at(0), lt: at(400) } })).toEqual([
      200,
      10,
      null,
    ]);
    expect(await kpi(0, 500)).toEqual([200, 100]);
    expect(await kpi(600, 1_100)).toEqual([200, 100]);
    const latest = await world.call('GET', path('query/latest-sample'));
    expect([latest.status, latest.body.timestamp, latest.body.incomplete]).toEqual([
      200,
      at(1_099),
      undefined,
    ]);
  });

  test('a device without any other sample may have had some there', async () => {
    expect(await query('query', { limit: 10 }, other)).toEqual([200, 0, 'true']);
    expect(await kpi(500, 600, other)).toEqual(damaged);
    expect(await kpi(0, 500, other)).toEqual([200, 0]);
    const latest = await world.call('GET', path('query/latest-sample', other));
    expect([latest.status, latest.body.errorCode]).toEqual(damaged);
  });

  test('its times stay known through later commits and starts', async () => {
    await world.must('POST', path('backfill/bulk'), samplesFrom(2_000));
    await restarted(() => undefined);
    expect(await kpi(0, 500)).toEqual([200, 100]);
    expect(await kpi(0, 501)).toEqual(damaged);
  });

  test('with the file back every answer is whole again', async () => {
    const lost = readdirSync(directory).find((name) => name.endsWith('.segment'))!;
    await restarted(() => renameSync(join(directory, lost), join(segments(), lost)));
    expect(await query('query', { limit: 1_000 })).toEqual([200, 400, null]);
    expect(await kpi(0, 3_000)).toEqual([200, 400]);
  });
});
