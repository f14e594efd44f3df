// Connects answers with the other nodes: an answer is sent when they have read what its request changed.
import type { AsyncLocalStorage } from 'node:async_hooks';
import type { Parts } from './platform-parts.ts';
import { createChangeSharing, readChangesCall } from '../flows/change-sharing.ts';
import type { Actor } from '../model/actor.ts';
import type { NodeAddress } from '../model/node-address.ts';
import type { CallHandlers, Nodes } from '../nodes/nodes.ts';
import { setTimer } from '../structures/timers.ts';

/** What requests change, and how it is shared before they are answered. */
export interface ActingRequests {
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
      return result.then(async (answer: unknown) => {
        if (unshared.delete(actor)) await share?.();
        return answer;
      }) as T;
    },
    useSharing: (used) => void (share = used),
  };
}

/** From now on, answers of this node wait for the others. Returns what others can ask of it. */
export function shareChanges(
  { node, telemetry, useChangeSharing }: Pick<Parts, 'node' | 'telemetry' | 'useChangeSharing'>,
  nodes: Pick<Nodes, 'call'>,
  others: () => readonly NodeAddress[],
): CallHandlers {
  const sharing = createChangeSharing({
    others,
    ask: (to) => nodes.call(to, readChangesCall, null),
    failed: (error) => telemetry.backgroundFailed('sharing changes with another node', error),
    clock: () => performance.now(),
    setTimer,
  });
  useChangeSharing(sharing.share);
  const about = 'Nodes that did not answer, and for which answers do not wait at present.';
  telemetry.gauge('change_sharing_nodes_skipped', about, sharing.skipped);
  const readChanges = async () => {
    await node?.readNow();
    return null;
  };
  return new Map([[readChangesCall, readChanges]]);
}
