// Contract 38.2: calculations of random streams, with late, corrected and deleted samples, a change of the clock and restarts, equal a plain computation of all samples.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const zone = 'Europe/Zurich';
/** Far above what a round takes, so that it also ends on a loaded machine with ClickHouse. */
const waits = { timeout: 240_000, interval: 500 };
/** CALCULATION_ROUNDS=30 compares as many as the first comparison did. */
const rounds = Number(process.env['CALCULATION_ROUNDS'] ?? 3);

// Three days behind the night of 25 hours.
const begin = Date.parse('2026-10-28T10:20:00Z');
let shift = begin - Date.now();
const now = () => Date.now() + shift;

let directory: string;
let world: World;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'heliograph-calculations-'));
  world = await startWorld({ now, directory });
});
afterAll(async () => {
  await world.close();
  rmSync(directory, { recursive: true, force: true });
});

interface Stored {
  readonly at: number;
  readonly value: number;
  readonly on: boolean;
}

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

const each = (accumulator: string, of: object, across: string) => ({
  each: { accumulator, ...of },
  across,
});
const value = { dataKey: 'value' };
const dayOutputs = [
  { key: 'sum', ...each('SUM', value, 'AVG') },
  { key: 'rise', ...each('INCREASE', { ...value, resets: 'ALL' }, 'SUM') },
  { key: 'on', ...each('DURATION_TRUE', { dataKey: 'on', maxGap: 'PT3H' }, 'SUM') },
  { key: 'n', ...each('COUNT', value, 'SUM') },
  { key: 'reporting', count: 'REPORTING' },
  { key: 'mean', expression: 'n > 0 ? sum / n : null' },
];
const hourOutputs = [
  { key: 'last', ...each('LAST', value, 'MAX') },
  { key: 'most', ...each('MAX', value, 'MEDIAN') },
  { key: 'window', ...each('LAST', { expression: 'sumOver(value, "PT2H")' }, 'SUM') },
  { key: 'step', ...each('SUM', { expression: 'value - prev(value)' }, 'SUM') },
];

// The plain computation.

type Row = Record<string, number>;

const add = (values: readonly number[]) => values.reduce((sum, one) => sum + one, 0);
const mean = (values: readonly number[]) => add(values) / values.length;
function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return mean([sorted[Math.ceil(sorted.length / 2) - 1]!, sorted[sorted.length >> 1]!]);
}

function put(row: Row, key: string, found: readonly (number | null)[], combine: typeof add): void {
  const values = found.filter((one) => one !== null);
  if (values.length > 0) row[key] = Math.round(combine(values) * 1e6) / 1e6;
}

function riseOf(samples: readonly Stored[], from: number, to: number): number | null {
  let rise = 0;
  let inside = 0;
  let used = 0;
  for (const [i, { at, value: reading }] of samples.entries()) {
    if (at < from || at >= to) continue;
    const before = samples[i - 1]?.value;
    inside++;
    used = Math.max(used, inside + Number(samples[0]!.at < from));
    if (before !== undefined) rise += reading >= before ? reading - before : reading;
  }
  return used < 2 ? null : rise;
}

function onOf(samples: readonly Stored[], from: number, to: number): number | null {
  let seconds = 0;
  let covered = 0;
  for (const [i, { at, on }] of samples.entries()) {
    const end = Math.min(samples[i + 1]?.at ?? Infinity, at + 3 * hour, to);
    const length = end - Math.max(at, from);
    if (length <= 0) continue;
    covered += length;
    if (on) seconds += length / 1_000;
  }
  return covered === 0 ? null : seconds;
}

function dayRow(devices: readonly (readonly Stored[])[], from: number, to: number): Row {
  const inside = devices.map((all) => all.filter(({ at }) => at >= from && at < to));
  const row: Row = {};
  put(
    row,
    'sum',
    inside.map((own) => (own.length === 0 ? null : add(own.map((one) => one.value)))),
    mean,
  );
  put(
    row,
    'rise',
    devices.map((all) => riseOf(all, from, to)),
    add,
  );
  put(
    row,
    'on',
    devices.map((all) => onOf(all, from, to)),
    add,
  );
  row['n'] = inside.flat().length;
  row['reporting'] = inside.filter((own) => own.length > 0).length;
  if (row['n'] > 0) row['mean'] = Math.round((row['sum']! / row['n']) * 1e6) / 1e6;
  return row;
}

function hourRow(devices: readonly (readonly Stored[])[], from: number, to: number): Row {
  const inside = devices.map((all) => all.filter(({ at }) => at >= from && at < to));
  const row: Row = {};
  const ofLast = (own: readonly Stored[]) => own.at(-1)?.value ?? null;
  put(row, 'last', inside.map(ofLast), (values) => Math.max(...values));
  put(
    row,
    'most',
    inside.map((own) => (own.length === 0 ? null : Math.max(...own.map((one) => one.value)))),
    median,
  );
  put(
    row,
    'window',
    devices.map((all, i) => {
      const at = inside[i]!.at(-1)?.at;
      if (at === undefined) return null;
      return add(
        all.filter((one) => one.at > at - 2 * hour && one.at <= at).map((one) => one.value),
      );
    }),
    add,
  );
  put(
    row,
    'step',
    devices.map((all) => {
      const steps = all
        .map((one, i) => ({ at: one.at, step: i === 0 ? null : one.value - all[i - 1]!.value }))
        .filter(({ at, step }) => at >= from && at < to && step !== null);
      return steps.length === 0 ? null : add(steps.map(({ step }) => step ?? 0));
    }),
    add,
  );
  return row;
}

/** Starts of hours, from the one with `from` on. */
function hoursOf(from: number, to: number): number[] {
  const starts: number[] = [];
  for (let at = Math.floor(from / hour) * hour; at <= to; at += hour) starts.push(at);
  return starts;
}

/** Starts of local days, from the one with `from` on. */
function localDays(from: number, to: number): number[] {
  const starts: number[] = [];
  let local = Temporal.Instant.fromEpochMilliseconds(from).toZonedDateTimeISO(zone).startOfDay();
  for (; local.epochMilliseconds <= to; local = local.add({ days: 1 }).startOfDay())
    starts.push(local.epochMilliseconds);
  return starts;
}

function expected(
  devices: readonly (readonly Stored[])[],
  starts: readonly number[],
  rowOf: typeof dayRow,
): Record<string, Row> {
  const rows: Record<string, Row> = {};
  for (const [i, start] of starts.slice(0, -1).entries()) {
    const row = rowOf(devices, start, starts[i + 1]!);
    if (Object.keys(row).length > 0) rows[new Date(start).toISOString()] = row;
  }
  return rows;
}

async function results(target: TestDevice, topic: string): Promise<Record<string, Row>> {
  const path = `/v3/devices/${target.id}/query`;
  const found = await world.must('POST', path, { topic, limit: 8_000 });
  const rows = found.toReversed().map(({ timestamp, data }: never) => {
    const rounded = Object.entries(data as Row).map(([key, one]) => [
      key,
      Math.round(one * 1e6) / 1e6,
    ]);
    return [timestamp, Object.fromEntries(rounded)];
  });
  const byStart = Object.fromEntries(rows);
  // Two samples of one period would be a fault.
  expect(Object.keys(byStart)).toHaveLength(rows.length);
  return byStart;
}

test('late, corrected and deleted samples, a longer day and restarts', async () => {
  const random = seeded(7);
  const { id: tagId } = await world.must('POST', '/v3/tags', {
    name: 'random group',
    workspaceId: world.workspaceId,
  });
  const devices: TestDevice[] = [];
  for (let i = 0; i < 4; i++) devices.push(await world.device({ tags: [{ id: tagId }] }));
  const target = await world.device();
  const since = begin - 5 * day;
  const stored: Stored[][] = devices.map(() => []);

  const sampleAt = (at: number): Stored => ({
    at,
    value: Math.round(random() * 1_000) / 10,
    on: random() < 0.5,
  });
  async function send(device: number, samples: readonly Stored[]): Promise<void> {
    stored[device]!.push(...samples);
    stored[device]!.sort((a, b) => a.at - b.at);
    const bodies = samples.map(({ at, value: one, on }) => ({
      deviceId: devices[device]!.id,
      timestamp: new Date(at).toISOString(),
      data: { value: one, on },
    }));
    await world.must('POST', '/v3/samples/bulk', bodies);
  }
  /** Each instant once, so that the plain computation need not know of the order of storing. */
  const taken = new Set<number>();
  function instant(from: number, to: number): number {
    const at = Math.floor(from + random() * (to - from));
    if (taken.has(at)) return instant(from, to);
    taken.add(at);
    return at;
  }

  for (const i of devices.keys())
    await send(
      i,
      Array.from({ length: 60 }, () => sampleAt(instant(since, now()))),
    );
  const common = { workspaceId: world.workspaceId, tagId, topic: 'default', timeZone: zone };
  const from = new Date(since).toISOString();
  const day1 = await world.must('POST', '/v3/calculations', {
    ...{ ...common, name: 'days', period: 'P1D', from, outputs: dayOutputs },
    target: { deviceId: target.id, topic: 'days' },
  });
  const hour1 = await world.must('POST', '/v3/calculations', {
    ...{ ...common, name: 'hours', period: 'PT1H', from, outputs: hourOutputs },
    target: { deviceId: target.id, topic: 'hours' },
  });

  for (let round = 0; round < rounds; round++) {
    if (round > 0) {
      for (let i = 0; i < 6; i++) {
        const device = Math.floor(random() * devices.length);
        const own = stored[device]!;
        const kind = random();
        if (kind < 0.5 || own.length < 5)
          await send(
            device,
            Array.from({ length: 1 + Math.floor(random() * 3) }, () =>
              sampleAt(instant(since - day, now())),
            ),
          );
        else if (kind < 0.8) {
          const place = Math.floor(random() * own.length);
          const next = sampleAt(own[place]!.at);
          own[place] = next;
          const { corrected } = await world.must(
            'POST',
            `/v3/devices/${devices[device]!.id}/samples/correct`,
            {
              corrections: [
                {
                  timestamp: new Date(next.at).toISOString(),
                  replacement: { data: { value: next.value, on: next.on } },
                },
              ],
            },
          );
          expect(corrected).toBe(1);
        } else {
          const start = since + random() * (now() - since - 6 * hour);
          const range = [Math.floor(start), Math.floor(start + 6 * hour)] as const;
          stored[device] = own.filter(({ at }) => at < range[0] || at >= range[1]);
          const { id } = await world.must('POST', '/v3/samples/delete', {
            workspaceId: world.workspaceId,
            deviceIds: [devices[device]!.id],
            from: new Date(range[0]).toISOString(),
            to: new Date(range[1]).toISOString(),
          });
          await expect
            .poll(async () => (await world.must('GET', `/v3/operations/${id}`)).completed, waits)
            .not.toBeNull();
        }
      }
      // Periods end meanwhile, and what is under way begins again.
      shift += hour + Math.floor(random() * 2 * hour);
      if (round % 2 === 1) {
        await world.platform.close('restart');
        world = await startWorld({ now, directory });
      }
    }
    // The clock runs on: what is expected includes the periods that end during the wait.
    await vi.waitFor(async () => {
      const wanted = expected(stored, hoursOf(since, now()), hourRow);
      expect(await results(target, 'hours')).toEqual(wanted);
    }, waits);
    await vi.waitFor(async () => {
      const wanted = expected(stored, localDays(since, now()), dayRow);
      expect(await results(target, 'days')).toEqual(wanted);
    }, waits);
    for (const { id } of [day1, hour1])
      await expect
        .poll(async () => (await world.must('GET', `/v3/calculations/${id}`)).progress, waits)
        .toMatchObject({ late: 0, error: null });
  }
}, 900_000);
