// Damage found while reading or sealing: reported once, and no answer hides it.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLog } from '../../src/telemetry/log.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

const minutes = 3_000;
const dayMinutes = 1_440;
const at = (minute: number): string =>
  new Date(Date.UTC(2026, 0, 5) + minute * 60_000).toISOString();
const lines: Record<string, unknown>[] = [];
const log = createLog('info', { write: (line: string) => void lines.push(JSON.parse(line)) });
const damageLines = () => lines.filter(({ msg }) => msg === 'data corruption detected');

let directory: string;
let world: World;
let device: TestDevice;
let sound: TestDevice;

const segments = () => join(directory, 'samples', 'segments');

/** Flips a bit among the values of the second day's chunk: a day takes some 12 kB. */
function flipInSecondDay(): void {
  const path = join(segments(), readdirSync(segments()).find((name) => name.endsWith('.segment'))!);
  const bytes = readFileSync(path);
  bytes[17_000]! ^= 1;
  writeFileSync(path, bytes);
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'heliograph-damage-'));
  world = await startWorld({ directory });
  device = await world.device();
  const samples = Array.from({ length: minutes }, (_, i) => ({
    timestamp: at(i),
    data: { level: Math.sin(i) },
  }));
  await world.must('POST', `/v3/devices/${device.id}/backfill/bulk`, samples);
  await world.close();
  flipInSecondDay();
  world = await startWorld({ directory, log });
  sound = await world.device({ name: 'sound' });
  await world.capture(sound, { level: 1 });
});

afterAll(async () => {
  await world.close();
  rmSync(directory, { recursive: true });
});

const path = (rest: string) => `/v3/devices/${device.id}/${rest}`;
const kpi = (from: number, to: number, more: object = {}) => ({
  topic: 'default',
  dataKey: 'level',
  accumulator: 'AVG',
  interval: { from: at(from), to: at(to) },
  ...more,
});

describe('review reliability 4: one flipped bit in a chunk', () => {
  test('a download that comes upon it breaks off, and the next one says that it is incomplete', async () => {
    const download = () =>
      fetch(`${world.base}${path('export?format=ndjson')}`, {
        headers: { 'x-api-key': world.apiKey },
      });
    const first = await download();
    expect([first.status, first.headers.get('x-incomplete')]).toEqual([200, null]);
    await expect(first.text()).rejects.toThrow('terminated');
    const second = await download();
    expect([second.status, second.headers.get('x-incomplete')]).toEqual([200, 'true']);
    expect((await second.text()).trim().split('\n')).toHaveLength(minutes - dayMinutes);
  });

  test('a query answers the rest, with X-Incomplete where the damage was in its way, and without where it was not', async () => {
    const all = await world.call('POST', path('query'), { limit: 10_000 });
    expect([all.status, all.headers.get('x-incomplete')]).toEqual([200, 'true']);
    expect(all.body).toHaveLength(minutes - dayMinutes);
    const newest = await world.call('POST', path('query'), { limit: 5 });
    expect(newest.headers.get('x-incomplete')).toBeNull();
    expect(newest.body).toHaveLength(5);
  });

  test.each(['raw/kpi', 'raw/time-series', 'time-series'])(
    '%s over it is a 500 that names it',
    async (query) => {
      const body =
        query === 'time-series'
          ? { topic: 'default', dataKey: 'level' }
          : kpi(dayMinutes + 1, dayMinutes + 90, { bucketInterval: 'PT30M' });
      const answer = await world.call('POST', path(`query/${query}`), body);
      expect([answer.status, answer.body.errorCode]).toEqual([500, '50010_SAMPLES_DAMAGED']);
      expect(answer.body.message).toContain(
        `device ${device.id}, topic default, from ${at(dayMinutes)}`,
      );
    },
  );

  test('a number that needs none of it is right', async () => {
    const late = await world.call(
      'POST',
      path('query/raw/kpi'),
      kpi(minutes - 30, minutes, { accumulator: 'COUNT' }),
    );
    expect([late.status, late.body.kpi]).toEqual([200, 30]);
    const other = await world.call('GET', `/v3/devices/${sound.id}/query/latest-sample`);
    expect([other.body.data, other.headers.get('x-incomplete')]).toEqual([{ level: 1 }, null]);
  });

  test('it is reported once: log, metrics and readiness, which stays 200', async () => {
    expect(damageLines()).toMatchObject([
      { level: 'error', kind: 'chunk', path: expect.stringContaining(segments()) },
    ]);
    const metrics = await (await fetch(`${world.base}/metrics`)).text();
    expect(metrics).toContain('\nheliograph_corruption_detected_total 1\n');
    expect(metrics).toContain('\nheliograph_corrupted_regions 1\n');
    const ready = await world.call('GET', '/health/ready');
    expect([ready.status, ready.body.notes]).toEqual([
      200,
      [expect.stringMatching(/^1 damaged place in the data folder/)],
    ]);
  });
});

test('review reliability 4: the newest sample says when newer ones cannot be read; without any it is a 500, not a 404', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'heliograph-newest-'));
  const files = () =>
    readdirSync(join(folder, 'samples', 'segments')).filter((name) => name.endsWith('.segment'));
  let newest = await startWorld({ directory: folder });
  const { id } = await newest.device();
  for (const from of [0, 500]) {
    const samples = Array.from({ length: 100 }, (_, i) => ({
      timestamp: at(from + i),
      data: { x: Math.cos(i) },
    }));
    await newest.must('POST', `/v3/devices/${id}/backfill/bulk`, samples);
    await newest.close();
    newest = await startWorld({ directory: folder });
  }
  const latest = async () => {
    await newest.close();
    newest = await startWorld({ directory: folder });
    return newest.call('GET', `/v3/devices/${id}/query/latest-sample`);
  };
  const harm = (name: string): void => {
    const bytes = readFileSync(join(folder, 'samples', 'segments', name));
    writeFileSync(join(folder, 'samples', 'segments', name), bytes.fill(0, 0, 400));
  };
  expect(files()).toHaveLength(2);
  harm(files()[1]!);
  const older = await latest();
  expect([older.status, older.body.timestamp, older.body.incomplete]).toEqual([200, at(99), true]);
  expect(older.headers.get('x-incomplete')).toBe('true');
  harm(files()[0]!);
  const none = await latest();
  expect([none.status, none.body.errorCode]).toEqual([500, '50010_SAMPLES_DAMAGED']);
  await newest.close();
  rmSync(folder, { recursive: true });
});

test('review reliability 4: what cannot be sealed at the stop is logged, and the stop fails', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'heliograph-stop-'));
  lines.length = 0;
  const stopping = await startWorld({ directory: folder, log });
  const one = await stopping.device();
  await stopping.capture(one, { a: 1 });
  rmSync(join(folder, 'samples', 'segments'), { recursive: true });
  await expect(stopping.close()).rejects.toThrow();
  expect(lines).toContainEqual(
    expect.objectContaining({ what: 'writing segments of samples', level: 'error' }),
  );
  // Nothing is lost: the journal has it.
  const again = await startWorld({ directory: folder, log });
  expect((await again.call('GET', `/v3/devices/${one.id}/query/latest-sample`)).body.data).toEqual({
    a: 1,
  });
  await again.close();
  rmSync(folder, { recursive: true });
});
