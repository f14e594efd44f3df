// ClickHouse killed, paused and away under load: uplinks are accepted, queries get 503, and each sample is there once.
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { clickhouse, startClickHouse } from '../servers/clickhouse.ts';
import { describeWith, startedBefore } from '../servers/server-tests.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

const rounds = 3;
const clients = 4;
const perRound = 60;
const pauseMs = 2_500;

interface LoadState {
  isRunning: boolean;
  /** Numbers that were acknowledged, by client. */
  readonly acknowledged: Set<number>[];
}

/** Captures until it is stopped; every tenth uplink is repeated with its timestamp. */
async function load(world: World, device: TestDevice, known: Set<number>, state: LoadState) {
  for (let n = 0; state.isRunning; n += 1) {
    const answer = await world.capture(device, { n });
    if (answer.status === 201) known.add(n);
    else expect([answer.status, answer.headers.get('retry-after') !== null]).toEqual([503, true]);
  }
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(20);
}

describeWith(clickhouse, 'ClickHouse under load', () => {
  const server = startedBefore(startClickHouse);

  test(`is killed ${rounds} times and paused once`, async () => {
    const url = `${server().url}/killed_${process.pid}`;
    const environment = { SAMPLES_URL: url };
    const world = await startWorld({ environment });
    const state: LoadState = {
      isRunning: true,
      acknowledged: Array.from({ length: clients }, () => new Set<number>()),
    };
    const sum = () => state.acknowledged.reduce((all, { size }) => all + size, 0);
    const more = async () => {
      const before = sum();
      await until(() => sum() >= before + perRound);
    };
    try {
      const devices = await Promise.all(state.acknowledged.map(() => world.device()));
      const running = devices.map((device, i) =>
        load(world, device, state.acknowledged[i]!, state),
      );
      await more();
      const samplesOf = ({ id }: TestDevice) =>
        world.call('GET', `/v3/devices/${id}/export?format=ndjson&from=1970-01-01T00:00:00Z`);
      for (let round = 0; round < rounds; round += 1) {
        await server().kill();
        // Devices are acknowledged as before; queries are not answered without the older samples.
        await more();
        const refused = await samplesOf(devices[0]!);
        expect([refused.status, refused.headers.get('retry-after') !== null]).toEqual([503, true]);
        await server().restart();
        await more();
      }
      server().pause();
      await delay(pauseMs);
      server().resume();
      await more();
      state.isRunning = false;
      await Promise.all(running);
      const numbersOf = (text: string): number[] =>
        text
          .trim()
          .split('\n')
          .map((line) => (JSON.parse(line) as { data: { n: number } }).data.n);
      for (const [i, device] of devices.entries()) {
        await until(async () => (await samplesOf(device)).status === 200);
        const found = numbersOf(String((await samplesOf(device)).body));
        expect(found.length).toBe(new Set(found).size);
        expect([...state.acknowledged[i]!].filter((n) => !found.includes(n))).toEqual([]);
      }
      // Shipped too, each row once.
      await until(async () => {
        const [[open]] = await shippedAndTwice(server(), url);
        return Number(open) >= sum();
      });
      const [[stored, different]] = await shippedAndTwice(server(), url);
      expect(stored).toBe(different);
    } finally {
      state.isRunning = false;
      await world.close();
    }
  }, 300_000);

  test(`is killed ${rounds} times while deletions are made and pending`, async () => {
    const url = `${server().url}/deleted_${process.pid}`;
    const world = await startWorld({ environment: { SAMPLES_URL: url } });
    const startMs = Date.UTC(2026, 2, 1);
    const minutes = 240;
    const at = (minute: number) => new Date(startMs + minute * 60_000).toISOString();
    try {
      const device = await world.device();
      const numbers = Array.from({ length: minutes }, (_, n) => n);
      const samples = numbers.map((n) => ({
        deviceId: device.id,
        timestamp: at(n),
        data: { n },
      }));
      await world.must('POST', '/v3/samples/bulk', samples);
      const { workspaceId } = world;
      let left = numbers;
      for (let round = 0; round < rounds; round += 1) {
        const [from, to] = [20 + round * 70, 60 + round * 70];
        const range = { deviceIds: [device.id], from: at(from), to: at(to) };
        const { id } = await world.must('POST', '/v3/samples/delete', { workspaceId, ...range });
        const ended = async () =>
          (await world.must('GET', `/v3/operations/${id}`)).completed !== null;
        // Maybe before it is made, in later rounds while its range is pending.
        if (round > 0) await until(ended);
        await server().kill();
        await server().restart();
        await until(async () => {
          await world.platform.runMaintenance();
          return ended();
        });
        left = left.filter((n) => n < from || n >= to);
        const body = { topic: 'default', limit: 8_000 };
        const query = () => world.call('POST', `/v3/devices/${device.id}/query`, body);
        await until(async () => (await query()).status === 200);
        const found = (await query()).body as unknown as { data: { n: number } }[];
        expect(found.map(({ data }) => data.n).toReversed()).toEqual(left);
      }
      const table = (name: string) => `${new URL(url).pathname.slice(1)}.${name}`;
      const rowsOf = async (name: string): Promise<number> => {
        const where = `device = '${device.id}'`;
        const [[count]] = (await server().ask(
          `select count() from ${table(name)} where ${where} format TabSeparated`,
        )) as [[string]];
        return Number(count);
      };
      // Out of the tables too.
      await until(async () => {
        await world.platform.runMaintenance();
        return (await rowsOf('samples')) <= left.length;
      });
      const interval = { from: at(0), to: at(minutes) };
      const asked = { topic: 'default', dataKey: 'n', accumulator: 'SUM', interval };
      const series = async (source: string) =>
        (
          await world.must('POST', `/v3/devices/${device.id}/query/${source}/time-series`, {
            ...asked,
            bucketInterval: 'PT1H',
          })
        ).dataPoints;
      const hours = [0, 1, 2, 3].map((hour) =>
        left.filter((n) => Math.floor(n / 60) === hour).reduce((sum, n) => sum + n, 0),
      );
      expect(await series('raw')).toEqual(hours);
      expect(await series('aggregated/hourly')).toEqual(hours);
    } finally {
      await world.close();
    }
  }, 300_000);
});

async function shippedAndTwice(
  server: ReturnType<ReturnType<typeof startedBefore<Awaited<ReturnType<typeof startClickHouse>>>>>,
  url: string,
): Promise<[[string, string]]> {
  const table = `${new URL(url).pathname.slice(1)}.samples`;
  const rows = await server.ask(
    `select count(), uniqExact(journal, position, idx) from ${table} format TabSeparated`,
  );
  return rows as [[string, string]];
}
