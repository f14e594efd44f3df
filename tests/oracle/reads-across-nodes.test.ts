// Reads across nodes: three nodes answer like one list of samples, while devices move and samples are shipped and deleted.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { workspaceLeases } from '../../src/cluster/leases/leases.ts';
import { dayMs, hourMs } from '../../src/model/instant.ts';
import type { Sample } from '../../src/model/sample.ts';
import { Random } from '../../src/storage/samples/conformance/random-entries.ts';
import {
  fleetKeys,
  fleetStart,
  Fleet,
} from '../../src/storage/samples/conformance/random-fleet.ts';
import {
  answers,
  expectSame,
} from '../../src/storage/samples/conformance/random-streams.conformance.ts';
import { ReferenceStore } from '../../src/storage/samples/conformance/reference-store.ts';
import { keeping } from '../../src/storage/samples/conformance/retention-times.ts';
import {
  allSamples,
  collect,
  entryOf,
  type Given,
} from '../../src/storage/samples/conformance/sample-entries.ts';
import { accumulatorNames } from '../../src/query/summaries/accumulators.ts';
import { clickhouse, startClickHouse } from '../servers/clickhouse.ts';
import { currentClickHouse, startCurrentClickHouse } from '../servers/current-clickhouse.ts';
import { describeWith, startedBefore } from '../servers/server-tests.ts';
import {
  leaseOfDevice,
  openReadingNodes,
  type ReadingNode,
  type ReadingNodes,
} from './reading-nodes.ts';

const seeds = Number(process.env['FLEETS'] ?? 1);
const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

let databases = 0;

async function nodesOn(url: string, now: () => number): Promise<ReadingNodes> {
  const directories = [1, 2, 3].map(() => mkdtempSync(join(tmpdir(), 'reads-')));
  cleanups.push(() =>
    directories.forEach((each) => rmSync(each, { recursive: true, force: true })),
  );
  const database = `${url}/reads_${process.pid}_${++databases}`;
  const nodes = await openReadingNodes({ directories, url: database, now });
  cleanups.push(() => nodes.close());
  return nodes;
}

/** What was stored, in its order, and what of it is kept. */
interface Stored {
  readonly given: Map<string, Given[]>;
  keepFrom: number;
}

function referenceOf(deviceId: string, { given, keepFrom }: Stored): ReferenceStore {
  const reference = new ReferenceStore();
  reference.add((given.get(deviceId) ?? []).filter(({ at }) => at >= keepFrom));
  return reference;
}

const seen = (samples: readonly Sample[]) =>
  samples.map(({ timestamp, topic, data }) => JSON.stringify([timestamp, topic, data]));
const seenGiven = (samples: readonly Given[]) =>
  samples.map(({ at, topic, data }) => JSON.stringify([at, topic, data]));

async function mustEqual(
  node: ReadingNode,
  ids: readonly string[],
  stored: Stored,
  random: Random,
) {
  const samples = node.samples();
  const references = ids.map((id) => referenceOf(id, stored));
  const one = random.below(ids.length);
  const deviceId = ids[one] ?? '';
  const buckets = Array.from({ length: 4 }, () => bucketsMustEqual(node, ids, references, random));
  const [latest, all, exported, topics] = await Promise.all([
    samples.latest({ deviceIds: ids }),
    allSamples(samples, deviceId),
    collect(samples.exportSamples({ deviceId })),
    samples.topics(deviceId),
    ...buckets,
  ]);
  const expected = references[one]?.newestFirst() ?? [];
  expect(seen(all)).toEqual(seenGiven(expected));
  expect(seen(exported)).toEqual(seenGiven(expected.toReversed()));
  expect(topics.map(({ topic }) => topic).sort()).toEqual(
    [...new Set(expected.map(({ topic = '' }) => topic))].sort(),
  );
  for (const [place, found] of latest.entries()) {
    const newest = new Map<string | undefined, Given>();
    for (const given of references[place]?.newestFirst() ?? [])
      if (!newest.has(given.topic)) newest.set(given.topic, given);
    expect(seen(found).sort()).toEqual(seenGiven([...newest.values()]).sort());
  }
}

async function usageMustEqual(node: ReadingNode, ids: readonly string[], stored: Stored) {
  const usage = [...(await node.samples().usage()).values()];
  const samples = ids.map((id) => referenceOf(id, stored).newestFirst().length);
  const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0);
  expect(sum(usage.map((one) => one.samples))).toBe(sum(samples));
}

async function bucketsMustEqual(
  node: ReadingNode,
  deviceIds: readonly string[],
  references: readonly ReferenceStore[],
  random: Random,
): Promise<void> {
  const from = Math.floor(fleetStart / hourMs) * hourMs - 4 * dayMs;
  const to = from + 12 * dayMs;
  const stepMs = random.pick([hourMs, 6 * hourMs, dayMs, to - from]);
  const accumulator = random.pick(accumulatorNames);
  const edges = Array.from({ length: (to - from) / stepMs + 1 }, (_, at) => from + at * stepMs);
  const [topic, dataKey] = [random.pick(['default', 'side']), random.pick(fleetKeys)];
  const request = { topic, dataKey, accumulator, edges };
  for (const source of ['raw', 'hours'] as const) {
    const found = await node.samples().buckets({ ...request, deviceIds, source });
    for (const [place, reference] of references.entries())
      expectSame(
        answers(accumulator, found[place] ?? []),
        answers(accumulator, reference.buckets(request)),
        `${source} ${accumulator} of ${dataKey}, ${topic}, ${stepMs}, ${deviceIds[place]} at ${node.address.id}`,
      );
  }
}

function readsMustEqual(url: () => string, fleets: number): void {
  test.each(Array.from({ length: fleets }, (_, i) => i + 1))(
    'random fleet %i',
    { timeout: 300_000 },
    async (seed) => {
      const random = new Random(seed + 400);
      const clock = { now: fleetStart };
      const cluster = await nodesOn(url(), () => clock.now);
      const { nodes } = cluster;
      const fleet = new Fleet(random);
      const devices = fleet.devices.slice(0, 24);
      const stored: Stored = { given: new Map(), keepFrom: Number.NEGATIVE_INFINITY };
      const gone = new Set<string>();
      /** Repetitions of what another node has not shipped are stored again, which is documented. */
      const sent = new Set<string>();
      let isUndeleted = true;
      for (let round = 0; round < 12; round++) {
        for (let i = 0; i < 25; i++) {
          const device = random.pick(devices);
          const entry = fleet.next(device).filter((given) => {
            const name = JSON.stringify([device.id, given.topic, given.at, given.data]);
            const isNew = !sent.has(name) && given.at >= stored.keepFrom;
            sent.add(name);
            return isNew;
          });
          if (gone.has(device.id) || entry.length === 0) continue;
          clock.now = Math.max(clock.now + 1, fleet.now());
          await cluster.ownerOf(device.id)?.samples().append(entryOf(device.id, entry));
          stored.given.set(device.id, [...(stored.given.get(device.id) ?? []), ...entry]);
        }
        clock.now += random.pick([0, 1_000, hourMs / 2, 2 * hourMs]);
        const left = devices.map(({ id }) => id).filter((id) => !gone.has(id));
        const reader = random.pick(nodes);
        const other = random.pick(nodes);
        const kind = random.below(8);
        const leases = workspaceLeases.filter(() => random.below(3) === 0);
        const read = () => mustEqual(reader, left, stored, random);
        if (kind === 0) await Promise.all([other.samples().store.flush(), read()]);
        if (kind === 1) await Promise.all([other.samples().store.flushHours(), read()]);
        if (kind === 2) await Promise.all([cluster.move(leases, other, true), read()]);
        if (kind === 3) await Promise.all([cluster.move(leases, other, false), read()]);
        if (kind === 4) await other.reopen();
        if (kind === 5)
          stored.keepFrom = Math.max(stored.keepFrom, clock.now - random.below(4 * dayMs));
        const workspaces = new Set(fleet.origins.map(({ workspaceId }) => workspaceId));
        const times = Object.fromEntries([...workspaces].map((id) => [id, stored.keepFrom]));
        // A node that starts has the rules before it answers.
        const ruled = { 4: [other], 5: nodes }[kind] ?? [];
        for (const node of ruled) await node.samples().retain(keeping(times));
        if (kind === 6) {
          const id = random.pick(left);
          gone.add(id);
          await cluster.ownerOf(id)?.samples().dropDevice(id);
        }
        const alive = left.filter((id) => !gone.has(id));
        for (const node of nodes) await mustEqual(node, alive, stored, random);
        // Other nodes count what was deleted a minute later.
        isUndeleted = isUndeleted && kind !== 5 && kind !== 6;
        if (isUndeleted) await usageMustEqual(reader, alive, stored);
      }
      for (const node of nodes) await node.samples().store.flushHours();
      const alive = devices.map(({ id }) => id).filter((id) => !gone.has(id));
      for (const node of nodes) {
        await mustEqual(node, alive, stored, random);
        expect(node.samples().failures).toEqual([]);
      }
    },
  );
}

describeWith(clickhouse, 'reads across three nodes on 18.16', () => {
  const server = startedBefore(startClickHouse);
  readsMustEqual(() => server().url, seeds);

  test('a node that does not answer is named, and an owner that moves is searched', async () => {
    const cluster = await nodesOn(server().url, () => fleetStart);
    const [reader, silent, next] = cluster.nodes;
    if (reader === undefined || silent === undefined || next === undefined)
      throw new Error('three');
    const ids = Array.from({ length: 40 }, (_, n) => `d${n}`);
    const ofSilent = ids.filter((id) => cluster.ownerOf(id) === silent);
    for (const id of ofSilent)
      await silent.samples().append(entryOf(id, [{ at: fleetStart, data: { n: 1 } }]));
    silent.setReachable(false);
    await expect(reader.samples().latest({ deviceIds: ids })).rejects.toMatchObject({
      problem: 'nodeUnreachable',
      details: { node: silent.address.id },
    });
    silent.setReachable(true);
    const found = reader.samples().latest({ deviceIds: ofSilent });
    // A node that has given everything away has left, and has shipped before.
    const leases = new Set(ofSilent.map(leaseOfDevice));
    await cluster.move([...leases], next, false);
    expect((await found).map((samples) => samples.length)).toEqual(ofSilent.map(() => 1));
  });
});

describeWith(currentClickHouse, 'reads across three nodes on a current version', () => {
  const server = startedBefore(startCurrentClickHouse);
  readsMustEqual(() => server().url, 1);
});
