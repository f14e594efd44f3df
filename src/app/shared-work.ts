// Shared work: what one node of several does for all, what all do together, and what has moved.
import type { AsyncLocalStorage } from 'node:async_hooks';
import {
  createHeldWork,
  leaseOfOperation,
  type SharedWork,
  type WorkAtNodes,
  workLeases,
} from '../cluster/leases/lease-tasks.ts';
import { type Lease, type Leases, otherNodes } from '../cluster/leases/leases.ts';
import { NodeRounds } from '../cluster/nodes/node-fan-out.ts';
import { type CallHandlers, type Nodes, NodeUnreachable } from '../cluster/nodes/nodes.ts';
import { problem } from '../model/problem.ts';
import { setRepeatingTimer, setTimer } from '../structures/timers.ts';
import type { Parts } from './platform-parts.ts';
import type { OperationRunner } from '../operations/operation-runner.ts';
import type { Actor } from '../model/principal.ts';

/** With the calls that other nodes can make. */
interface ComposedWork extends SharedWork {
  readonly handlers: CallHandlers;
}

export function composeSharedWork(
  { telemetry }: Parts,
  leases: Leases,
  nodes: Nodes,
  beforeLoss: (lost: readonly Lease[]) => Promise<void>,
): ComposedWork {
  const handlers = new Map<string, (request: unknown) => Promise<unknown>>();
  const held = createHeldWork(leases, telemetry.backgroundFailed, beforeLoss);
  leases.want(workLeases);
  const askHolder: SharedWork['askHolder'] = async (lease, call, request) => {
    const holder = leases.owners().get(lease)?.node;
    if (holder === undefined || holder.id === leases.node.id) return undefined;
    return nodes.call(holder, call, request).catch((error: unknown) => {
      if (!(error instanceof NodeUnreachable)) throw error;
      throw Object.assign(problem('nodeUnreachable'), { cause: error });
    });
  };
  const skipped = new Map<string, () => number>();
  telemetry.labeledGauge('nodes_unresponsive', 'Nodes considered unresponsive.', 'call', () =>
    [...skipped].map(([call, nodesSkipped]) => [call, nodesSkipped()] as const),
  );
  const count = () => workLeases.filter((name) => held.holds(name)).length;
  telemetry.gauge('work_leases_held', 'Work leases held by this node.', count);
  return {
    ...held,
    handlers,
    answer: (call, handler) => void handlers.set(call, handler),
    askHolder,
    atOthers: ({ call, here, askMsMax }) => {
      handlers.set(call, async (request) => {
        await here(String(request));
        return null;
      });
      const rounds = new NodeRounds({
        askMsMax,
        setTimer,
        clock: () => performance.now(),
        others: () => otherNodes(leases),
        ask: (to, request) => nodes.call(to, call, request),
        failed: (error) => telemetry.backgroundFailed(`waiting for ${call} at other nodes`, error),
      });
      skipped.set(call, rounds.skipped);
      return rounds.ask;
    },
    tellHolders(names, call, request) {
      const owners = leases.owners();
      const holders = new Map(names.map((name) => [owners.get(name)?.node.id, name]));
      for (const name of holders.values())
        void askHolder(name, call, request).catch(() => undefined);
    },
  };
}

// Work at all nodes: an answer waits for what is done here and, in parallel, by the other nodes.

/**
 * Rejects as the work here does. Another node that fails, or does not answer in time, is not waited
 * for. Call before this node joins the others.
 */
export function everywhere(
  sharedWork: SharedWork | undefined,
  work: WorkAtNodes,
): (request: string) => Promise<void> {
  const others = sharedWork?.atOthers(work);
  return async (request) => {
    await Promise.all([work.here(request), others?.(request)]);
  };
}

// Connects a runner of operations with the other nodes: each operation runs at the holder of its lease.

/** A holder that was not notified of an operation, or could not continue it, finds it then. */
const operationsLookEveryMs = 2_000;

/** Operations are run by the holder of their lease, and continued by the next one. */
export function shareRunner(
  { telemetry }: Parts,
  work: SharedWork,
  {
    runner,
    call,
    what,
  }: {
    readonly runner: OperationRunner;
    /** Name of the call that starts an operation at its holder. */
    readonly call: string;
    /** What fails, for the log. */
    readonly what: string;
  },
): OperationRunner {
  const failed = (error: unknown) => telemetry.backgroundFailed(what, error);
  const resume = () => void runner.resume().catch(failed);
  work.follow({ family: 'operations/', gained: resume, lost: runner.chunkEnded });
  work.answer(call, async (id) => {
    runner.start(String(id));
    return null;
  });
  const stopLooking = setRepeatingTimer(resume, operationsLookEveryMs);
  return {
    ...runner,
    async close() {
      stopLooking();
      await runner.close();
    },
    start(id) {
      runner.start(id);
      work.tellHolders([leaseOfOperation(id)], call, id);
    },
  };
}

// Connects answers with the other nodes: an answer is sent when they have read what its request changed.

/** What requests change, and how it is shared before they are answered. */
interface ActingRequests {
  /** This node has committed changes that others read. */
  readonly published: () => void;
  /** Runs the work of a request in the name of its actor. */
  readonly actAs: <T>(actor: Actor, work: () => T) => T;
  /** Without other nodes, nothing is shared. */
  readonly useSharing: (share: () => Promise<void>) => void;
}

export function actingRequests(acting: AsyncLocalStorage<Actor | undefined>): ActingRequests {
  /** Those whose changes no other node was asked to read. */
  const unshared = new WeakSet<Actor>();
  let share: (() => Promise<void>) | undefined;
  return {
    published() {
      const actor = acting.getStore();
      if (actor !== undefined && share !== undefined) unshared.add(actor);
    },
    actAs<T>(actor: Actor, work: () => T): T {
      const result = acting.run(actor, work);
      if (share === undefined || !(result instanceof Promise)) return result;
      return sharedAfter(result, async () => {
        if (unshared.delete(actor)) await share?.();
      }) as T;
    },
    useSharing: (used) => void (share = used),
  };
}

/** A refusal may follow a change too. */
async function sharedAfter(result: Promise<unknown>, share: () => Promise<void>): Promise<unknown> {
  try {
    return await result;
  } finally {
    await share();
  }
}

/** The longest that an answer waits for a node to read what its request changed. */
const readMsMax = 2_000;

/** From now on, answers of this node wait for the others. Call before it joins them. */
export function shareChanges({ node, useChangeSharing }: Parts, work: SharedWork): void {
  const here = async () => node?.readNow();
  const share = work.atOthers({ call: 'readChanges', here, askMsMax: readMsMax });
  useChangeSharing(() => share(''));
}
