// Connects answers with the other nodes: an answer is sent when they have read what its request changed.
import type { AsyncLocalStorage } from 'node:async_hooks';
import type { Parts } from './platform-parts.ts';
import type { SharedWork } from '../cluster/leases/lease-tasks.ts';
import type { Actor } from '../model/principal.ts';

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
