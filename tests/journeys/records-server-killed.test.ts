// PostgreSQL killed under load: nothing acknowledged is lost, requests get 503 meanwhile, and the platform recovers.
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import pg from 'pg';
import { type RecordsCluster, startRecordsCluster } from '../servers/records-cluster.ts';
import { postgresql } from '../servers/postgresql.ts';
import { describeWith } from '../servers/server-tests.ts';
import { startWorld, type World } from '../world/world.ts';

const rounds = 3;
const clients = 4;
const createdPerRound = 12;

/** Creates tags until it is stopped; remembers which were acknowledged. */
async function load(world: World, client: number, state: LoadState): Promise<void> {
  for (let n = 0; state.isRunning; n += 1) {
    const name = `tag ${client} ${n}`;
    const answer = await world.call('POST', '/v3/tags', {
      name,
      color: '#123456',
      workspaceId: world.workspaceId,
    });
    if (answer.status < 300) state.acknowledged.set(String(answer.body.id), name);
    else {
      state.refused += 1;
      expect([answer.status, answer.headers.get('retry-after') !== null]).toEqual([503, true]);
    }
  }
}

interface LoadState {
  isRunning: boolean;
  refused: number;
  readonly acknowledged: Map<string, string>;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(5);
}

async function databaseIn({ url }: RecordsCluster): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('create database records');
  await client.end();
  return url.replace(/postgres$/, 'records');
}

describeWith(postgresql, 'PostgreSQL under load', () => {
  test(`is killed ${rounds} times and restarted`, async () => {
    const cluster = await startRecordsCluster({ fsync: 'on' });
    const environment = { RECORDS_URL: await databaseIn(cluster), SECRETS_KEY: 'key' };
    const world = await startWorld({ environment });
    const state: LoadState = { isRunning: true, refused: 0, acknowledged: new Map() };
    try {
      const running = Array.from({ length: clients }, (_, n) => load(world, n, state));
      for (let round = 0; round < rounds; round += 1) {
        const { size } = state.acknowledged;
        await until(() => state.acknowledged.size >= size + createdPerRound);
        const { refused } = state;
        await cluster.kill();
        await until(() => state.refused > refused);
        await cluster.restart();
      }
      const { size } = state.acknowledged;
      await until(() => state.acknowledged.size >= size + createdPerRound);
      state.isRunning = false;
      await Promise.all(running);
      const found = new Map<string, string>();
      for (let page = 0; ; page += 1) {
        const { content } = await world.must('GET', `/v3/tags?page=${page}&size=100`);
        for (const tag of content) found.set(tag.id, tag.name);
        if (content.length < 100) break;
      }
      expect([...state.acknowledged].filter(([id, name]) => found.get(id) !== name)).toEqual([]);
      expect(state.acknowledged.size).toBeGreaterThanOrEqual((rounds + 1) * createdPerRound);
    } finally {
      state.isRunning = false;
      await world.close();
      await cluster.stop();
    }
  }, 240_000);
});
