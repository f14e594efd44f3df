// Leases: what every implementation must do for one node, and what nodes that share them must do among themselves.
import { describe, expect, test } from 'vitest';
import { type Lease, type LeaseName, type Leases, workspaceLeases } from '../leases.ts';
import type { LeaseCluster, TestNode } from '../testing-lease-cluster.ts';

const [first = 'workspaces/0', second = 'workspaces/1'] = workspaceLeases;

/** `open` starts a node that wants the names. */
export function leasesMustBehave(open: (names: readonly LeaseName[]) => Promise<Leases>): void {
  describe('leases of one node', () => {
    test('all that it wants are held, with itself as their owner', async () => {
      const leases = await open(workspaceLeases);
      for (const name of workspaceLeases) {
        const lease = leases.held(name);
        expect(lease?.name).toBe(name);
        expect(lease?.epoch).toBeGreaterThan(0);
        expect(lease?.isValid()).toBe(true);
        expect(leases.owners().get(name)).toEqual({ node: leases.node, epoch: lease?.epoch });
      }
    });

    test('others are not', async () => {
      const leases = await open([first]);
      expect(leases.held(second)).toBeUndefined();
      expect(leases.owners().has(second)).toBe(false);
    });

    test('those that are wanted later are held after a refresh', async () => {
      const leases = await open([first]);
      leases.want([second]);
      await leases.refresh();
      await expect.poll(() => leases.held(second)?.isValid()).toBe(true);
    });

    test('after draining it holds none, and its listeners were called before', async () => {
      const leases = await open([first, second]);
      const lease = leases.held(first);
      const lost: boolean[] = [];
      leases.onChange(async (_, ended) => {
        for (const one of ended) lost.push(one.isValid());
      });
      await leases.drain();
      expect(lost).toEqual([true, true]);
      expect(leases.held(first)).toBeUndefined();
      expect(lease?.isValid()).toBe(false);
      await leases.close();
    });
  });
}

/** Those that the node accepts work for. */
function heldBy({ leases }: TestNode): readonly LeaseName[] {
  return workspaceLeases.filter((name) => leases.held(name)?.isValid() === true);
}

const counts = (nodes: readonly TestNode[]) => nodes.map((node) => heldBy(node).length).toSorted();

/** `leaseMs` of the cluster is 10 s. */
export function leasesMustBeShared(open: () => Promise<LeaseCluster>): void {
  describe('leases of several nodes', () => {
    test('two nodes that start together hold half each, and no lease is without owner', async () => {
      const cluster = await open();
      const nodes = await Promise.all([cluster.start('a'), cluster.start('b')]);
      await cluster.advance(3_000);
      expect(counts(nodes)).toEqual([32, 32]);
      expect(new Set(nodes.flatMap(heldBy)).size).toBe(64);
      for (const { leases } of nodes) expect(leases.owners().size).toBe(64);
    });

    test('three nodes hold numbers that differ by one, in any order of their start', async () => {
      const cluster = await open();
      const nodes = [await cluster.start('c')];
      await cluster.advance(2_000);
      nodes.push(await cluster.start('a'), await cluster.start('b'));
      await cluster.advance(5_000);
      expect(counts(nodes)).toEqual([21, 21, 22]);
      const before = nodes.map(heldBy);
      await cluster.advance(30_000);
      expect(nodes.map(heldBy)).toEqual(before);
    });

    test('while leases move, each is live in the table, and held by one node at most', async () => {
      const cluster = await open();
      const nodes = [await cluster.start('a')];
      await cluster.advance(1_000);
      for (const id of ['b', 'c']) {
        nodes.push(await cluster.start(id));
        for (let step = 0; step < 10; step++) {
          await cluster.advance(500);
          expect(await cluster.liveCount()).toBe(64);
          const held = nodes.flatMap(heldBy);
          expect(new Set(held).size).toBe(held.length);
        }
      }
    });

    test('a node that does nothing loses its leases by its own clock before another takes them', async () => {
      const cluster = await open();
      const [paused, other] = [await cluster.start('a'), await cluster.start('b')];
      await cluster.advance(3_000);
      const leases = heldBy(paused).map((name) => paused.leases.held(name) as Lease);
      paused.pause();
      await cluster.advance(6_000);
      expect(leases.every((lease) => lease.isValid())).toBe(true);
      await cluster.advance(2_000);
      expect(leases.some((lease) => lease.isValid())).toBe(false);
      expect(heldBy(other)).toHaveLength(32);
      await cluster.advance(3_000);
      expect(heldBy(other)).toHaveLength(64);
    });

    test('a node that returns takes no lease back, and gets its share from the others', async () => {
      const cluster = await open();
      const [paused, other] = [await cluster.start('a'), await cluster.start('b')];
      await cluster.advance(3_000);
      const [name = 'workspaces/0'] = heldBy(paused);
      const lease = paused.leases.held(name);
      paused.pause();
      await cluster.advance(15_000);
      paused.resume();
      await cluster.advance(4_000);
      expect(counts([paused, other])).toEqual([32, 32]);
      expect(lease?.isValid()).toBe(false);
      expect(cluster.epochOf(paused, name) ?? 0).toBeGreaterThan(lease?.epoch ?? 0);
    });

    test('a killed node that starts again in time has its leases, with their epochs', async () => {
      const cluster = await open();
      const [killed, other] = [await cluster.start('a'), await cluster.start('b')];
      await cluster.advance(3_000);
      const before = heldBy(killed);
      const epochs = before.map((name) => killed.leases.held(name)?.epoch);
      killed.kill();
      await cluster.advance(5_000);
      const again = await cluster.start('a');
      expect(heldBy(again)).toEqual(before);
      expect(before.map((name) => again.leases.held(name)?.epoch)).toEqual(epochs);
      expect(heldBy(other)).toHaveLength(32);
    });

    test('a second process with the id of a node ends the leases of the first one', async () => {
      const cluster = await open();
      const one = await cluster.start('a');
      const copy = await cluster.start('a');
      await cluster.advance(3_000);
      expect(heldBy(one)).toEqual([]);
      expect(one.superseded()).toBe(1);
      expect(heldBy(copy)).toHaveLength(64);
    });

    test('a draining node gives all to the others within a second', async () => {
      const cluster = await open();
      const nodes = [await cluster.start('a'), await cluster.start('b'), await cluster.start('c')];
      await cluster.advance(5_000);
      await nodes[0]?.leases.drain();
      expect(await cluster.liveCount()).toBe(64);
      await cluster.advance(1_000);
      expect(counts(nodes)).toEqual([0, 32, 32]);
    });

    test('a lease moves after its listeners are ready, and is used after those of the receiver', async () => {
      const cluster = await open();
      const giver = await cluster.start('a');
      await cluster.advance(1_000);
      const [leaving, entering] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const moved: Lease[] = [];
      giver.leases.onChange(async (_, lost) => {
        moved.push(...lost);
        await leaving.promise;
      });
      const receiver = await cluster.start('b', async () => entering.promise);
      await cluster.advance(2_000, false);
      await expect.poll(() => moved.length).toBe(32);
      expect(moved.every((lease) => lease.isValid())).toBe(true);
      expect(counts([giver, receiver])).toEqual([0, 32]);
      leaving.resolve();
      await giver.leases.idle();
      expect(moved.some((lease) => lease.isValid())).toBe(false);
      await receiver.leases.refresh();
      expect(heldBy(receiver)).toEqual([]);
      entering.resolve();
      await receiver.leases.idle();
      expect(counts([giver, receiver])).toEqual([32, 32]);
    });

    test('a listener that does not end delays a move by half of the time only', async () => {
      const cluster = await open();
      const giver = await cluster.start('a');
      await cluster.advance(1_000);
      const { promise, resolve } = Promise.withResolvers<void>();
      giver.leases.onChange(() => promise);
      const receiver = await cluster.start('b');
      await cluster.advance(7_000, false);
      await expect
        .poll(async () => {
          await receiver.leases.refresh();
          return heldBy(receiver).length;
        })
        .toBe(32);
      resolve();
    });
  });
}
