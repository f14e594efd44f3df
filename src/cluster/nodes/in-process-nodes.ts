// Nodes of one process: calls and forwards are function calls, with values that cross as JSON does.
import { randomUUID } from 'node:crypto';
import type { NodeAddress } from '../../model/node-messages.ts';
import {
  type CallHandlers,
  createCallTable,
  type ForwardedAnswer,
  type ForwardedRequest,
  type HandleCall,
  type Nodes,
  NodeUnreachable,
  passedHeaders,
} from './nodes.ts';

/** What a node offers to the others. */
interface InProcessNode {
  readonly handlers: CallHandlers;
  readonly holds: (lease: string) => boolean;
  readonly serve: (request: ForwardedRequest) => Promise<ForwardedAnswer>;
}

/** Carries a message to another node and its answer back; rejects when one of them is lost. */
export type Carry = <T>(deliver: () => Promise<T>) => Promise<T>;

export function createNodeSwitch(carry: Carry = (deliver) => deliver()): {
  /** Connects a node; the function disconnects it. */
  connect(id: string, node: InProcessNode): () => void;
  /** What the node with the id asks the others with. */
  nodesOf(id: string): Nodes;
} {
  const connected = new Map<string, InProcessNode & { readonly handle: HandleCall }>();

  function reached(to: NodeAddress) {
    const node = connected.get(to.id);
    if (node === undefined) throw new NodeUnreachable(to, false, 'not connected');
    return node;
  }

  return {
    connect(id, node) {
      connected.set(id, { ...node, handle: createCallTable(node.handlers) });
      return () => void connected.delete(id);
    },
    nodesOf: (from) => ({
      async call(to, name, request) {
        const { handle } = reached(to);
        const message = { id: randomUUID(), name, from, request: structuredClone(request) };
        const deliver = () =>
          carry(() =>
            handle(message).then(
              (value) => ({ value }),
              (error: unknown) => ({ error }),
            ),
          );
        const answer = await deliver()
          .catch(deliver)
          .catch((cause: unknown) => {
            throw new NodeUnreachable(to, true, cause);
          });
        if ('error' in answer) throw answer.error;
        return structuredClone<unknown>(answer.value);
      },
      async forward(to, request) {
        const { holds, serve } = reached(to);
        const deliver = async () => {
          if (!holds(request.lease)) return 'notHeld';
          return serve({ ...request, headers: [...passedHeaders(request.headers)] });
        };
        return carry(deliver).catch((cause: unknown) => {
          throw new NodeUnreachable(to, true, cause);
        });
      },
      close: async () => undefined,
    }),
  };
}
