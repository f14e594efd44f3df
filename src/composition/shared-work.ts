// Shared work: what one node of several does for all, how the others reach it, and what has moved.
import type { Leases } from '../leases/leases.ts';
import { createHeldWork, type SharedWork } from '../leases/held-work.ts';
import { otherNodes } from '../leases/other-nodes.ts';
import { leaseOfOperation, workLeases } from '../leases/work-leases.ts';
import type { OperationRunner } from '../flows/operation-runner.ts';
import type { Json } from '../model/json.ts';
import { problem } from '../model/problem.ts';
import { createNodeRounds } from '../nodes/node-rounds.ts';
import { type CallHandlers, type Nodes, NodeUnreachable } from '../nodes/nodes.ts';
import type { Parts } from './platform-parts.ts';
import { setRepeatingTimer, setTimer } from '../structures/timers.ts';

/** With the calls that other nodes can make. */
export interface ComposedWork extends SharedWork {
  readonly handlers: CallHandlers;
}

export function composeSharedWork(
  { telemetry }: Pick<Parts, 'telemetry'>,
  leases: Leases,
  nodes: Pick<Nodes, 'call'>,
): ComposedWork {
  const handlers = new Map<string, (request: Json) => Promise<Json>>();
  const held = createHeldWork(leases, telemetry.backgroundFailed);
  leases.want(workLeases);
  const askHolder: SharedWork['askHolder'] = async (lease, call, request) => {
    const holder = leases.owners().get(lease)?.node;
    if (holder === undefined || holder.id === leases.node.id) return undefined;
    return nodes.call(holder, call, request).catch((error: unknown) => {
      throw error instanceof NodeUnreachable ? problem('nodeUnreachable') : error;
    });
  };
  const skipped = new Map<string, () => number>();
  telemetry.labeledGauge(
    'nodes_not_waited_for',
    'Nodes that did not answer a call, and for which answers do not wait at present.',
    'call',
    () => [...skipped].map(([call, nodesSkipped]) => [call, nodesSkipped()] as const),
  );
  const count = () => workLeases.filter((name) => held.holds(name)).length;
  telemetry.gauge('work_leases_held', 'Leases of work that this node does for all.', count);
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
      const rounds = createNodeRounds({
        ...{ askMsMax, setTimer, clock: () => performance.now() },
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

const runOperation = 'operation';
/** A holder that was not notified of an operation, or could not continue it, finds it then. */
const operationsLookEveryMs = 2_000;

/** Operations are run by the holder of their lease, and continued by the next one. */
export function shareOperations(
  {
    operations,
    divideOperations,
    telemetry,
  }: Pick<Parts, 'operations' | 'divideOperations' | 'telemetry'>,
  work: SharedWork,
): OperationRunner {
  divideOperations(work.holds);
  const failed = (error: unknown) => telemetry.backgroundFailed('resuming operations', error);
  work.follow({
    family: 'operations/',
    gained: () => void operations.resume().catch(failed),
    lost: operations.chunkEnded,
  });
  work.answer(runOperation, async (id) => {
    operations.start(String(id));
    return null;
  });
  const stopLooking = setRepeatingTimer(
    () => void operations.resume().catch(failed),
    operationsLookEveryMs,
  );
  return {
    ...operations,
    async close() {
      stopLooking();
      await operations.close();
    },
    start(id) {
      operations.start(id);
      work.tellHolders([leaseOfOperation(id)], runOperation, id);
    },
  };
}
