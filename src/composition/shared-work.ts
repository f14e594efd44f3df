// Shared work: what one node of several does for all, how the others reach it, and what has moved.
import type { Leases } from '../leases/leases.ts';
import { createHeldWork, type SharedWork } from '../leases/held-work.ts';
import { leaseOfOperation, workLeases } from '../leases/work-leases.ts';
import type { OperationRunner } from '../flows/operation-runner.ts';
import type { Json } from '../model/json.ts';
import { problem } from '../model/problem.ts';
import { type CallHandlers, type Nodes, NodeUnreachable } from '../nodes/nodes.ts';
import type { Parts } from './platform-parts.ts';
import { setRepeatingTimer } from '../structures/timers.ts';

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
  const count = () => workLeases.filter((name) => held.holds(name)).length;
  telemetry.gauge('work_leases_held', 'Leases of work that this node does for all.', count);
  return {
    ...held,
    handlers,
    answer: (call, handler) => void handlers.set(call, handler),
    askHolder,
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
