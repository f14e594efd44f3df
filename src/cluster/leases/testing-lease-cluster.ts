// Lease cluster of tests: several nodes on one lease table, and one clock for all of them.
import { manualTimers } from '../../structures/testing-timers.ts';
import { type LeaseName, type LeasesChanged, type LeaseTable, workspaceLeases } from './leases.ts';
import { SharedLeases } from './shared-leases.ts';

export const clusterLeaseMs = 10_000;
const stepMs = 250;

export interface TestNode {
  readonly leases: SharedLeases;
  /** How often it reported that another process has its id. */
  superseded(): number;
  pause(): void;
  resume(): void;
  /** Stops it without a last word. */
  kill(): void;
}

export interface LeaseCluster {
  /** Starts a node that wants all partitions. */
  start(id: string, listener?: LeasesChanged): Promise<TestNode>;
  /**
   * Lets time pass, in which nodes that are not paused have their turns. With `isWaiting` false
   * while the test keeps a listener from ending.
   */
  advance(ms: number, isWaiting?: boolean): Promise<void>;
  /** Leases that the table knows a live holder of. */
  liveCount(): Promise<number>;
  epochOf(node: TestNode, name: LeaseName): number | undefined;
  close(): Promise<void>;
}

interface RunningNode extends TestNode {
  readonly isRunning: () => boolean;
  /** When its timers of one shot are due. */
  readonly timers: { readonly task: () => void; readonly at: number }[];
}

export async function openLeaseCluster(parts: {
  readonly openTable: () => Promise<LeaseTable>;
  /** Sets the clock of the table. */
  readonly setTime: (now: number) => Promise<void>;
}): Promise<LeaseCluster> {
  const nodes: RunningNode[] = [];
  let now = 1_000_000;
  await parts.setTime(now);

  async function start(id: string, listener?: LeasesChanged): Promise<TestNode> {
    const timers: { readonly task: () => void; readonly at: number }[] = [];
    const state = { isRunning: true, superseded: 0 };
    const leases = new SharedLeases({
      node: { id, url: `http://${id}` },
      openTable: parts.openTable,
      leaseMs: clusterLeaseMs,
      now: () => now,
      setTimer(task, delayMs) {
        const timer = { task, at: now + delayMs };
        timers.push(timer);
        return () => void timers.splice(timers.indexOf(timer) >>> 0, 1);
      },
      setRepeatingTimer: manualTimers().setTimer,
      events: {
        failed: (what, error) => {
          throw new Error(`${what}: ${String(error)}`);
        },
        superseded: () => void state.superseded++,
        changed: () => undefined,
      },
    });
    if (listener !== undefined) leases.onChange(listener);
    leases.want(workspaceLeases);
    const node: RunningNode = {
      leases,
      timers,
      isRunning: () => state.isRunning,
      superseded: () => state.superseded,
      pause: () => void (state.isRunning = false),
      resume: () => void (state.isRunning = true),
      kill() {
        state.isRunning = false;
        nodes.splice(nodes.indexOf(node), 1);
      },
    };
    nodes.push(node);
    if (listener === undefined) await leases.start();
    else await leases.refresh();
    return node;
  }

  async function advance(ms: number, isWaiting = true): Promise<void> {
    for (const end = now + ms; now < end; ) {
      now += stepMs;
      await parts.setTime(now);
      for (const { leases, timers, isRunning } of nodes) {
        if (!isRunning()) continue;
        for (const timer of timers.filter(({ at }) => at <= now)) timer.task();
        await leases.refresh();
        if (isWaiting) await leases.idle();
      }
    }
  }

  return {
    start,
    advance,
    async liveCount() {
      const table = await parts.openTable();
      const { rows } = await table.view();
      await table.close();
      return rows.filter(({ isLive, node }) => isLive && node !== undefined).length;
    },
    epochOf: ({ leases }, name) => leases.owners().get(name)?.epoch,
    async close() {
      for (const { leases } of nodes) await leases.close();
    },
  };
}
