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
