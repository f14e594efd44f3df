// Leases in PostgreSQL: the conformance suites with a clock of the test, and several sessions that race.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { recordsSettings } from '../../../storage/records/testing-engine.ts';
import { openOwnSession } from '../../../storage/records/postgres/server.ts';
import { manualTimers } from '../../../structures/testing-timers.ts';
import { clusterLeaseMs, openLeaseCluster } from '../testing-lease-cluster.ts';
import { leasesMustBehave, leasesMustBeShared } from '../conformance/leases.conformance.ts';
import { type LeaseTable, workspaceLeases } from '../leases.ts';
import { SharedLeases } from '../shared-leases.ts';
import { postgresLeaseTable } from './postgres-lease-table.ts';

let directory: string;
let url: string;
let admin: pg.Client;
let closers: (() => Promise<void>)[];
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'leases-'));
  url = (await recordsSettings(directory))['RECORDS_URL'] ?? '';
  admin = new pg.Client({ connectionString: url });
  await admin.connect();
  // Found before the function of the system: the statements are those of the product.
  await admin.query(`
    create schema "testClock";
    create table "testClock"."clock" ("at" timestamptz not null);
    insert into "testClock"."clock" values ('2026-01-01T00:00:00Z');
    create function "testClock".now() returns timestamptz stable language sql
      as 'select "at" from "testClock"."clock"'`);
  closers = [];
});
afterEach(async () => {
  for (const close of closers) await close();
  await admin.end();
  rmSync(directory, { recursive: true, force: true });
});

async function openTable(): Promise<LeaseTable> {
  const session = await openOwnSession(url, 10_000);
  await session.query('set search_path = "testClock", pg_catalog, public', []);
  return postgresLeaseTable(session, clusterLeaseMs);
}

async function setTime(now: number): Promise<void> {
  await admin.query('update "testClock"."clock" set "at" = to_timestamp($1)', [now / 1_000]);
}

const { setTimer } = manualTimers();

function openLeases(id: string) {
  const leases = new SharedLeases({
    node: { id, url: `http://${id}` },
    openTable,
    leaseMs: clusterLeaseMs,
    now: () => 0,
    setTimer,
    setRepeatingTimer: setTimer,
    events: { failed: () => undefined, superseded: () => undefined, changed: () => undefined },
  });
  closers.push(() => leases.close());
  return leases;
}

leasesMustBehave(async (names) => {
  const leases = openLeases('a');
  leases.want(names);
  await leases.start();
  return leases;
});

leasesMustBeShared(async () => {
  const cluster = await openLeaseCluster({ openTable, setTime });
  closers.push(() => cluster.close());
  return cluster;
});

test('eight nodes that take at the same moment take each lease once', async () => {
  const all = Array.from({ length: 8 }, (_, place) => openLeases(`n${place}`));
  for (const leases of all) leases.want(workspaceLeases);
  await Promise.all(all.map((leases) => leases.start()));
  const holders = workspaceLeases.map(
    (name) => all.filter((leases) => leases.held(name) !== undefined).length,
  );
  expect(new Set(holders)).toEqual(new Set([1]));
  const { rows } = await admin.query<{ epoch: number }>('select "epoch"::int from "leases"');
  // Each is drawn once, for whichever lease.
  const epochs = rows.map(({ epoch }) => epoch).toSorted((a, b) => a - b);
  expect(new Set(epochs).size).toBe(workspaceLeases.length);
  expect((epochs.at(-1) ?? 0) - (epochs[0] ?? 0)).toBe(workspaceLeases.length - 1);
});

test('nodes get journal numbers in their order, which stay with them', async () => {
  for (const id of ['b', 'a', 'b', 'c']) {
    const table = await openTable();
    await table.register({ id, url: 'http://x' }, false);
    await table.close();
  }
  const { rows } = await admin.query('select "id", "journal"::int from "nodes" order by "journal"');
  expect(rows).toEqual([
    { id: 'b', journal: 1 },
    { id: 'a', journal: 2 },
    { id: 'c', journal: 3 },
  ]);
});

test('what an earlier session sends after the next one has registered changes nothing', async () => {
  const node = { id: 'a', url: 'http://a' };
  const [early, late, other] = [await openTable(), await openTable(), await openTable()];
  await other.register({ id: 'b', url: 'http://b' }, false);
  await early.register(node, false);
  await early.add(['workspaces/0']);
  const taken = await early.take(['workspaces/0'], 1);
  expect(taken.map(({ name }) => name)).toEqual(['workspaces/0']);
  await late.register(node, false);
  await early.move(taken, 'b');
  await early.release();
  expect(await early.renew(false)).toBeUndefined();
  expect(await late.renew(false)).toEqual(taken);
  for (const table of [early, late, other]) await table.close();
});

test('a lease that is given to a node that leaves is free at once', async () => {
  const [giver, leaving] = [await openTable(), await openTable()];
  await giver.register({ id: 'a', url: 'http://a' }, false);
  await leaving.register({ id: 'b', url: 'http://b' }, false);
  await giver.add(['workspaces/0', 'workspaces/1']);
  const taken = await giver.take(['workspaces/0', 'workspaces/1'], 2);
  await giver.move(taken.slice(0, 1), 'b');
  expect((await giver.view()).rows.filter(({ isLive }) => isLive)).toHaveLength(2);
  await leaving.renew(true);
  await leaving.release();
  await giver.move(taken.slice(1), 'b');
  const names = ['workspaces/0', 'workspaces/1'] as const;
  expect((await giver.take(names, 2)).map(({ name }) => name).toSorted()).toEqual(names);
  for (const table of [giver, leaving]) await table.close();
});
