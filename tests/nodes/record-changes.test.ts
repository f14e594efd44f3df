// Nodes on one PostgreSQL: they take turns, see what others commit, and follow changes in the order of commits.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { sql } from 'kysely';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { changeFollowing, ChangeFollowing } from '../../src/cluster/change-following.ts';
import type { RecordChange } from '../../src/model/record.ts';
import { publishChanges } from '../../src/storage/records/connection-pool.ts';
import { openRecords, type OpenRecords, transaction } from '../../src/storage/records/records.ts';
import { followerPositionRows } from '../../src/storage/records/rows/positions.ts';
import { recordChangeRows } from '../../src/storage/records/rows/shared-records.ts';
import { dropReferences, recordsSettings } from '../../src/storage/records/testing-engine.ts';
import { postgresEngine } from '../../src/storage/records/postgres/postgres-engine.ts';

let directory: string;
let url: string;
const opened: { close(): Promise<void> }[] = [];
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'nodes-'));
  url = (await recordsSettings(directory))['RECORDS_URL'] ?? '';
});
afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.close();
  rmSync(directory, { recursive: true, force: true });
});

async function open(node: string | undefined, waitMsMax?: number): Promise<OpenRecords> {
  const engine = postgresEngine({ url, node, waitMsMax });
  const records = await openRecords({ directory, engine, announce: () => undefined });
  opened.push(records);
  return records;
}

const deviceOf = (id: string): RecordChange => ({ kind: 'device', id, action: 'updated' });

/** Commits a transaction that changes the devices. */
const update = ({ db }: OpenRecords, ...ids: string[]) =>
  transaction(db, (step) => publishChanges(step.db, ids.map(deviceOf)));

interface Follower extends ChangeFollowing {
  /** Ids of changed devices, `missed`, and organizations whose lists changed. */
  readonly seen: string[];
  readonly time: { ms: number };
  readonly tick: () => void;
}

async function follow(records: OpenRecords, node: string): Promise<Follower> {
  const seen: string[] = [];
  const time = { ms: 0 };
  const timer = { tick: (): void => undefined };
  const { db } = records;
  const following = new ChangeFollowing({
    node,
    from: await recordChangeRows.newest(db),
    read: (last, max) => recordChangeRows.behind(db, last, max),
    newest: () => recordChangeRows.newest(db),
    follower: {
      recordChanged: ({ id }) => void seen.push(id),
      changesMissed: () => void seen.push('missed'),
    },
    listsChanged(ids) {
      if (ids !== 'all') seen.push(...ids.map((id) => `lists of ${id}`));
    },
    failed: (error) => {
      throw error;
    },
    clock: () => time.ms,
    setRepeatingTimer(task) {
      timer.tick = task;
      return () => undefined;
    },
  });
  opened.push(following);
  return Object.assign(following, { seen, time, tick: () => timer.tick() });
}

describe('turns', () => {
  test('nodes write to one database; a platform without nodes is refused, and the other way around', async () => {
    const one = await open('one');
    await open('two');
    const single = postgresEngine({ url, waitMsMax: 100 })({ stopped: () => undefined });
    await expect(single).rejects.toThrow(/database is locked/);
    await opened.pop()?.close();
    await one.close();
    opened.length = 0;
    await open(undefined);
    const node = postgresEngine({ url, node: 'one', waitMsMax: 100 })({ stopped: () => undefined });
    await expect(node).rejects.toThrow(/database is locked/);
  });

  test('what a transaction has read stays true until it commits: counters of eight writers on two nodes', async () => {
    const nodes = [await open('one'), await open('two')];
    await sql`create table "counter" ("n" bigint not null)`.execute(nodes[0]!.db);
    await sql`insert into "counter" values (0)`.execute(nodes[0]!.db);
    const write = async ({ db }: OpenRecords) => {
      for (let time = 0; time < 10; time += 1)
        await transaction(db, async (step) => {
          const read = await sql<{ n: number }>`select "n" from "counter"`.execute(step.db);
          await sql`update "counter" set "n" = ${read.rows[0]!.n + 1}`.execute(step.db);
        });
    };
    await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map((n) => write(nodes[n % 2]!)));
    const { rows } = await sql<{ n: number }>`select "n" from "counter"`.execute(nodes[0]!.db);
    expect(rows).toEqual([{ n: 80 }]);
  });

  test('a statement outside of transactions waits for its turn too', async () => {
    const [one, two] = [await open('one'), await open('two')];
    let isWritten = false;
    let write = Promise.resolve();
    await transaction(one.db, async ({ db }) => {
      await followerPositionRows.save(db, 'of one', 1);
      write = followerPositionRows.save(two.db, 'of two', 2).then(() => {
        isWritten = true;
      });
      await sql`select pg_sleep(0.1)`.execute(db);
      expect(isWritten).toBe(false);
    });
    await write;
    expect(await followerPositionRows.find(two.db, 'of two')).toBe(2);
  });

  test('a node without a turn in time gets 503, and writes again afterwards', async () => {
    const [one, two] = [await open('one', 50), await open('two')];
    await transaction(two.db, async ({ db }) => {
      await followerPositionRows.save(db, 'b', 1);
      await expect(followerPositionRows.save(one.db, 'a', 1)).rejects.toMatchObject({
        status: 503,
      });
    });
    await followerPositionRows.save(one.db, 'a', 2);
    expect(await followerPositionRows.find(one.db, 'a')).toBe(2);
  });
});

test('positions are those of the node; a platform that becomes a node keeps its own', async () => {
  const single = await open(undefined);
  await followerPositionRows.save(single.db, 'rules', 7);
  await opened.pop()?.close();
  const [one, two] = [await open('one'), await open('two')];
  await followerPositionRows.adopt(one.db, { from: '', to: 'one' });
  await followerPositionRows.save(two.db, 'rules', 3);
  expect(await followerPositionRows.find(one.db, 'rules')).toBe(7);
  expect(await followerPositionRows.find(two.db, 'rules')).toBe(3);
  await followerPositionRows.adopt(two.db, { from: '', to: 'two' });
  expect(await followerPositionRows.find(two.db, 'rules')).toBe(3);
});

describe('changes', () => {
  test('are published with their transaction: for others, in order, and never after a rollback', async () => {
    const [one, two] = [await open('one'), await open('two')];
    const follower = await follow(two, 'two');
    await update(one, 'a', 'b');
    await update(two, 'own');
    const failed = transaction(one.db, async ({ db }) => {
      await publishChanges(db, [deviceOf('rolled back')]);
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    await update(one, 'c');
    await follower.readNow();
    expect(follower.seen).toEqual(['a', 'b', 'c']);
    await follower.readNow();
    expect(follower.seen).toEqual(['a', 'b', 'c']);
  });

  test('of device lists are published by transactions and single statements', async () => {
    const [one, two] = [await open('one'), await open('two')];
    const follower = await follow(two, 'two');
    const insert = (db: OpenRecords['db'], id: string) =>
      sql`insert into "tags" ("id", "name", "searchText", "organizationId", "workspaceId", "created", "version")
        values (${id}, 'n', 'n', ${`organization of ${id}`}, 'w', 0, 0)`.execute(db);
    await dropReferences(one.db);
    await transaction(one.db, ({ db }) => insert(db, 't1'));
    await insert(one.db, 't2');
    await follower.readNow();
    expect(follower.seen).toEqual(['lists of organization of t1', 'lists of organization of t2']);
  });

  test('are forwarded by the timer, and many together', async () => {
    const [one, two] = [await open('one'), await open('two')];
    const follower = await follow(two, 'two');
    const ids = Array.from({ length: 1_200 }, (_, n) => `d${n}`);
    await update(one, ...ids);
    for (let n = 0; n < changeFollowing.rowsMax + 5; n += 1) await update(one, `e${n}`);
    follower.tick();
    await expect.poll(() => follower.seen.length).toBe(ids.length + changeFollowing.rowsMax + 5);
    expect(follower.seen.slice(0, ids.length)).toEqual(ids);
    expect(follower.seen.at(-1)).toBe(`e${changeFollowing.rowsMax + 4}`);
  });

  test('that were removed before a node read them empty its memory, and it continues from there', async () => {
    const [one, two] = [await open('one'), await open('two')];
    const follower = await follow(two, 'two');
    await update(one, 'a');
    await update(one, 'b');
    await sql`update "recordChanges" set "created" = 0`.execute(one.db);
    await recordChangeRows.dropOld(one.db, 60_000);
    await follower.readNow();
    expect(follower.seen).toEqual(['missed']);
    await update(one, 'c');
    await follower.readNow();
    expect(follower.seen).toEqual(['missed', 'c']);
  });

  test('that are old empty no memory when the node has read them', async () => {
    const [one, two] = [await open('one'), await open('two')];
    const follower = await follow(two, 'two');
    await update(one, 'a');
    await update(one, 'b');
    await follower.readNow();
    await sql`update "recordChanges" set "created" = 0`.execute(one.db);
    await recordChangeRows.dropOld(one.db, 60_000);
    const { rows } = await sql`select * from "recordChanges"`.execute(one.db);
    expect(rows).toHaveLength(1);
    await update(one, 'c');
    await follower.readNow();
    expect(follower.seen).toEqual(['a', 'b', 'c']);
  });

  test('that cannot be read for ten seconds empty the memory of the node', async () => {
    const two = await open('two');
    const follower = await follow(two, 'two');
    await follower.readNow();
    follower.time.ms += changeFollowing.staleAfterMs;
    follower.tick();
    expect(follower.seen).toEqual([]);
    await follower.readNow();
    expect(follower.behindMs()).toBe(0);
    follower.time.ms += changeFollowing.staleAfterMs + 1;
    follower.tick();
    follower.tick();
    expect(follower.seen).toEqual(['missed']);
  });
});

test('property: however transactions of nodes overlap, none is missed, none comes twice, each keeps its order', async () => {
  const nodes = [await open('one'), await open('two'), await open('three')];
  const reader = await open('reader');
  const work = fc.record({
    writer: fc.constantFrom(0, 1, 2),
    pauses: fc.nat(3),
    ends: fc.constantFrom('commit', 'commit', 'rollback'),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(work, { maxLength: 20 }), async (works) => {
      const follower = await follow(reader, 'reader');
      const committed: string[] = [];
      const writes = works.map(async ({ writer, pauses, ends }, n) => {
        await transaction(nodes[writer]!.db, async ({ db, afterCommit }) => {
          const id = `${n}`;
          for (let part = 0; part <= pauses; part += 1) {
            await publishChanges(db, [deviceOf(`${id} ${part}`)]);
            await sql`select 1`.execute(db);
          }
          if (ends === 'rollback') throw new Error('rolled back');
          afterCommit(() => void committed.push(id));
        }).catch((error: Error) => expect(error.message).toBe('rolled back'));
        await follower.readNow();
      });
      await Promise.all(writes);
      await follower.readNow();
      const expected = committed.flatMap((id) =>
        Array.from({ length: works[Number(id)]!.pauses + 1 }, (_, part) => `${id} ${part}`),
      );
      expect(follower.seen.toSorted()).toEqual(expected.toSorted());
      for (const id of committed) {
        const parts = follower.seen.filter((seen) => seen.startsWith(`${id} `));
        expect(parts).toEqual(parts.toSorted());
      }
    }),
    { numRuns: 40 },
  );
});

test('changes are followed while a transaction of another database stays open', async () => {
  const [one, two] = [await open('one'), await open('two')];
  const follower = await follow(two, 'two');
  const other = new pg.Client({ connectionString: process.env['RECORDS_CLUSTER'] });
  await other.connect();
  opened.push({ close: () => other.end() });
  await other.query('begin; select pg_current_xact_id()');
  await update(one, 'a');
  await follower.readNow();
  expect(follower.seen).toEqual(['a']);
});
