// Silent nodes: requests of clients to a node that does not answer end soon, and calls when it owns nothing any longer.
import type { NodeAddress } from '../../model/node-messages.ts';
import type { SetTimer } from '../../structures/timers.ts';
import { type CallHandlers, type Nodes, NodeUnreachable } from './nodes.ts';

const silentNodeLimits = {
  checkEveryMs: 500,
  /** Of each of the two attempts of a question whether a node is there. */
  answerMsMax: 750,
} as const;

/** Every node answers it. */
export const presenceCall = 'presence';
export const presenceHandlers: CallHandlers = new Map([[presenceCall, async () => null]]);

interface WaitedFor {
  readonly node: NodeAddress;
  /** What to call for each of those that wait, and whether it ends although the node owns something. */
  readonly waiting: Map<(silent: NodeUnreachable) => void, boolean>;
  isAsked: boolean;
}

/**
 * As `nodes`, but forwards and calls of clients to a node that is silent, and other calls to one that
 * has also lost its leases, end with NodeUnreachable long before their own limit: clients can send
 * again, and the work of a node without leases is done by others. A node that answers may take its time, such as one that gave its
 * leases away and ends its last requests.
 */
export function withoutSilentNodes(
  nodes: Nodes,
  parts: {
    /** Whether the node owns something, as the leases were read last. */
    readonly isOwner: (id: string) => boolean;
    readonly setRepeatingTimer: SetTimer;
    readonly answerMsMax?: number;
  },
): Nodes {
  const { answerMsMax = silentNodeLimits.answerMsMax } = parts;
  const waitedFor = new Map<string, WaitedFor>();
  const ask = (node: NodeAddress) => nodes.call(node, presenceCall, null, { answerMsMax });
  const stop = parts.setRepeatingTimer(() => {
    for (const [id, one] of waitedFor) {
      if (one.waiting.size === 0) waitedFor.delete(id);
      else if (!one.isAsked) void askPresence(one, ask, () => parts.isOwner(id));
    }
  }, silentNodeLimits.checkEveryMs);

  async function whileThere<T>(
    node: NodeAddress,
    work: Promise<T>,
    ofClient?: { readonly onSilent: () => void },
  ): Promise<T> {
    const one = waitedFor.get(node.id) ?? { node, waiting: new Map(), isAsked: false };
    waitedFor.set(node.id, one);
    const { promise: silence, reject } = Promise.withResolvers<never>();
    const end = (silent: NodeUnreachable): void => {
      reject(silent);
      ofClient?.onSilent();
    };
    one.waiting.set(end, ofClient !== undefined);
    try {
      return await Promise.race([work, silence]);
    } finally {
      one.waiting.delete(end);
    }
  }

  return {
    call(to, name, request, options) {
      const ofClient = options?.isOfClient === true ? { onSilent: () => undefined } : undefined;
      return whileThere(to, nodes.call(to, name, request, options), ofClient);
    },
    forward(to, request) {
      const ended = new AbortController();
      const end = () => ended.abort();
      if (request.signal.aborted) end();
      request.signal.addEventListener('abort', end, { once: true });
      const forwarded = nodes.forward(to, { ...request, signal: ended.signal });
      return whileThere(to, forwarded, { onSilent: end });
    },
    async close() {
      stop();
      await nodes.close();
    },
  };
}

/** Any answer shows that the node is there, also that of an older version which does not know the call. */
async function askPresence(
  one: WaitedFor,
  ask: (node: NodeAddress) => Promise<unknown>,
  isOwner: () => boolean,
): Promise<void> {
  const { node, waiting } = one;
  const asked = [...waiting].filter(([, isOfClient]) => isOfClient || !isOwner());
  if (asked.length === 0) return;
  one.isAsked = true;
  try {
    await ask(node);
  } catch (error) {
    if (error instanceof NodeUnreachable)
      for (const [end] of asked)
        if (waiting.has(end)) end(new NodeUnreachable(node, true, 'it is silent', error.wasSent));
  } finally {
    one.isAsked = false;
  }
}
