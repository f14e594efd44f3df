// Copies of journals: without the disk of a killed node, nothing that was acknowledged is lost.
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testedProgram } from '../world/tested-program.ts';
import { clickhouse, startClickHouse } from '../servers/clickhouse.ts';
import { describeWith, startedBefore } from '../servers/server-tests.ts';
import { type LostNodeWorld, startLostNodeWorld } from '../world/lost-node.ts';
import type { JournalCopyRow } from '../../src/storage/records/rows/shared-records.ts';
import { nodeIdOf } from '../../src/storage/data-folder/data-folder.ts';
import { freePort } from '../../bench/load/server-process.ts';

const run = promisify(execFile);

describeWith(clickhouse, 'copies of journals', () => {
  const server = startedBefore(startClickHouse);
  let lostNode: LostNodeWorld;
  let samplesUrl: string;
  beforeAll(async () => {
    samplesUrl = `${server().url}/journal_copies_${process.pid}`;
    lostNode = await startLostNodeWorld({ samplesUrl, journalCopies: 2 });
  }, 600_000);
  afterAll(() => lostNode.close(), 240_000);

  async function copies(): Promise<readonly JournalCopyRow[]> {
    const client = new pg.Client({ connectionString: lostNode.cluster.recordsUrl });
    await client.connect();
    try {
      return (await client.query<JournalCopyRow>('select * from "journalCopies"')).rows;
    } finally {
      await client.end();
    }
  }

  /** Ends with its output, also when it fails. */
  async function adopt(node: string, directory: string): Promise<string> {
    const { recordsUrl = '' } = lostNode.cluster;
    const env = {
      PATH: process.env['PATH'],
      HOST: '127.0.0.1',
      DATA_DIR: directory,
      LEASE_SECONDS: '3',
      RECORDS_URL: recordsUrl,
      SAMPLES_URL: samplesUrl,
      JOURNAL_COPIES: '2',
      NODE_URL: `http://127.0.0.1:${await freePort()}`,
      ...lostNode.cluster.secrets,
    };
    const ended = await run(process.execPath, [testedProgram, 'adopt', node], {
      env,
      timeout: 300_000,
    }).catch((error: unknown) => error as { stdout: string; stderr: string });
    return ended.stdout + ended.stderr;
  }

  /** The partitions that the nodes hold together, again and again until it is done. */
  async function watchPartitions(ports: readonly number[], isDone: () => boolean) {
    const sums: number[] = [];
    while (!isDone()) {
      const figures = await Promise.all(
        ports.map(async (port) => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()),
      );
      const held = figures.map((text) => /^heliograph_partitions_held (\d+)$/m.exec(text)?.[1]);
      sums.push(held.reduce((sum, count) => sum + Number(count), 0));
    }
    return sums;
  }

  test('every metric that alerts-nodes.yml names exists at a node', async () => {
    const rules = readFileSync(join(import.meta.dirname, '../../docs/alerts-nodes.yml'), 'utf8');
    const named = new Set(rules.match(/\bheliograph_[a-z0-9_]+/g));
    expect(named.size).toBeGreaterThan(7);
    const [port = 0] = lostNode.survivors();
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const known = new Set(
      Array.from(text.matchAll(/^# TYPE (\S+)/gm), ([, family]) => family ?? ''),
    );
    expect([...named].filter((name) => !known.has(name))).toEqual([]);
  });

  test('reliability 4: a node and its disk are lost: its copy is adopted, and has everything once', async () => {
    const { cluster, sendRound, mustSee, survivors, loseNode } = lostNode;
    const { lost, without } = await loseNode();
    const node = await nodeIdOf(lost.directory);
    const found = mkdtempSync(join(tmpdir(), 'heliograph-node-'));
    cpSync(lost.directory, found, { recursive: true });
    rmSync(lost.directory, { recursive: true });
    await mustSee(survivors(), without);
    const row = (await copies()).find((each) => each.node === node);
    const ids = await Promise.all(cluster.directories.map((each) => nodeIdOf(each)));
    const place = ids.indexOf(row?.holder ?? '');
    const [holder, other] = [cluster.directories[place], cluster.directories[1 - place]];
    const unknown = '0b2f9c1e-6a57-4a0e-9f0e-2f7d1f0c3b5a';
    expect(await adopt(unknown, holder ?? '')).toContain(`knows no node ${unknown}`);
    expect(await adopt(node, other ?? '')).toContain(`It is on node ${row?.holder}`);
    // The others serve all devices meanwhile: the copy takes none.
    let isDone = false;
    const served = watchPartitions(survivors(), () => isDone);
    // The line of the file, as it stands.
    const line = readFileSync(join(found, 'node-id'), 'utf8');
    expect(await adopt(line, holder ?? '').finally(() => (isDone = true))).toContain(
      'has been flushed',
    );
    expect(new Set(await served)).toEqual(new Set([64]));
    await mustSee(survivors(), lostNode.sent);
    await sendRound();
    await mustSee(survivors(), lostNode.sent);
    // The disk is found after all: its journal would give positions again.
    await expect(cluster.addProcess({ directory: found })).rejects.toThrow('was promoted');
  }, 900_000);

  test('a node whose holder is lost copies its journal to another one', async () => {
    const { cluster, sendRound, mustSee, mustHold, survivors } = lostNode;
    const third = await cluster.addProcess();
    await mustHold(third);
    const node = await nodeIdOf(third.directory);
    await sendRound();
    await third.kill();
    // Each round is acknowledged, although a journal may have to find another holder first.
    for (let round = 0; round < 3; round++) await sendRound();
    const holders = new Map((await copies()).map(({ node: of, holder }) => [of, holder]));
    const ids = await Promise.all(cluster.directories.map((each) => nodeIdOf(each)));
    for (const id of ids) expect(ids).toContain(holders.get(id));
    const refused = await adopt(node, cluster.directories[0] ?? '');
    expect(refused + (await adopt(node, cluster.directories[1] ?? ''))).toContain(
      'has been flushed',
    );
    await mustSee(survivors(), lostNode.sent);
  }, 900_000);
});
