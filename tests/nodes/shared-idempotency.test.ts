// Idempotency-Key at several nodes: one of them does the work, the others get its answer.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  createIdempotencyRecords,
  type FirstAnswer,
  type IdempotentCall,
  Once,
} from '../../src/uplinks/idempotency/idempotency.ts';
import {
  createSharedIdempotency,
  sharedIdempotency,
} from '../../src/cluster/shared-idempotency.ts';
import { problem } from '../../src/model/problem.ts';
import { postgresEngine } from '../../src/storage/records/postgres/postgres-engine.ts';
import { openRecords } from '../../src/storage/records/records.ts';
import { recordsSettings } from '../../src/storage/records/testing-engine.ts';
import { telemetryOf } from '../../src/telemetry/testing-telemetry.ts';

let directory: string;
let url: string;
const opened: { close(): Promise<void> }[] = [];
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'idempotency-'));
  url = (await recordsSettings(directory))['RECORDS_URL'] ?? '';
});
afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.close();
  rmSync(directory, { recursive: true, force: true });
});

/** A process of a node, which counts what it does; `waits` is called instead of waiting. */
async function open(node: string, waits: () => Promise<void> = async () => undefined) {
  const engine = postgresEngine({ url, node });
  const records = await openRecords({ directory, engine, announce: () => undefined });
  opened.push(records);
  const until = sql`now() + interval '1 hour'`;
  await sql`insert into "nodes" ("id", "session", "url", "seenUntil", "draining")
    values (${node}, '', '', ${until}, false) on conflict do nothing`.execute(records.db);
  const log = { position: 0 };
  const telemetry = telemetryOf({});
  let ms = 0;
  const shared = createSharedIdempotency({
    records,
    log,
    own: createIdempotencyRecords({ records, log, telemetry }),
    runBy: `${node}/${opened.length}`,
    now: () => ms,
    async wait(pause) {
      ms += pause;
      await waits();
    },
  });
  const once = new Once(shared, () => 1_000);
  let runs = 0;
  const work = async (): Promise<FirstAnswer> => ({ status: 201, body: { node, run: ++runs } });
  return { records, once, work, runs: () => runs };
}

const call: IdempotentCall = { credential: 'c', route: 'POST /v3/x', key: 'k', body: { a: 1 } };

test('a later request at another node gets the first answer', async () => {
  const [one, two] = [await open('one'), await open('two')];
  for (const kind of ['stored', 'created'] as const) {
    const of = { ...call, key: kind };
    const first = await one.once[kind](of, one.work);
    expect(await two.once[kind](of, two.work)).toEqual(first);
  }
  expect(two.runs()).toBe(0);
  const other = { ...call, key: 'stored', body: {} };
  await expect(two.once.stored(other, two.work)).rejects.toMatchObject({ status: 422 });
});

test.each(['stored', 'created'] as const)(
  '%s at the same time: one does the work',
  async (kind) => {
    const nodes = await Promise.all(['one', 'two', 'three'].map((node) => open(node)));
    const answers = await Promise.all(nodes.map(({ once, work }) => once[kind](call, work)));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(nodes.reduce((sum, { runs }) => sum + runs(), 0)).toBe(1);
  },
);

test('a request whose first one takes too long is a conflict', async () => {
  const [one, two] = [await open('one'), await open('two')];
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const first = one.once.stored(call, async () => {
    begin();
    await end;
    return one.work();
  });
  await begun;
  await expect(two.once.stored(call, two.work)).rejects.toMatchObject({
    status: 409,
    problem: 'requestUnderWay',
  });
  resolve();
  const answer = await first;
  expect(await two.once.stored(call, two.work)).toEqual(answer);
  expect(sharedIdempotency.waitMsMax).toBe(30_000);
});

test('the work of a request that broke off, or was refused, is done at the next node', async () => {
  const [one, two] = [await open('one'), await open('two')];
  const refused = { ...call, key: 'refused' };
  for (const [of, why] of [
    [call, problem('stopping')],
    [refused, problem('notFound', { what: 'device', id: 'x' })],
  ] as const) {
    await expect(one.once.stored(of, () => Promise.reject(why))).rejects.toBe(why);
    expect(await two.once.stored(of, two.work)).toMatchObject({ body: { node: 'two' } });
  }
});

test('a node that is gone, and one that has started again, leave their requests', async () => {
  const [one, two] = [await open('one'), await open('two')];
  const never = () => new Promise<FirstAnswer>(() => undefined);
  const keys = ['gone', 'restarted'].map((key) => ({ ...call, key }));
  await Promise.all(
    keys.map(
      (of) =>
        new Promise<void>((begun) => {
          void one.once.stored(of, () => {
            begun();
            return never();
          });
        }),
    ),
  );
  const again = await open('one');
  expect(await again.once.stored(keys[1] ?? call, again.work)).toMatchObject({ status: 201 });
  await sql`update "nodes" set "seenUntil" = now() where "id" = 'one'`.execute(two.records.db);
  expect(await two.once.stored(keys[0] ?? call, two.work)).toMatchObject({ body: { node: 'two' } });
});
