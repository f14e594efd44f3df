// Connects messages between nodes: to the owner of a device or client, and to nodes, in batches.
import { randomUUID } from 'node:crypto';
import {
  type LeaseName,
  leaseOfDevice,
  type Leases,
  partitionLeases,
} from '../cluster/leases/leases.ts';
import type { MessageHandler, NodeMessages } from '../model/node-messages.ts';
import { createMessageReceiver } from '../cluster/nodes/messages/message-receiver.ts';
import { queueOfNode } from '../cluster/nodes/messages/message-form.ts';
import { MessageSender } from '../cluster/nodes/messages/message-sender.ts';
import type { CallHandlers, Nodes } from '../cluster/nodes/nodes.ts';
import { setTimer } from '../structures/timers.ts';

export interface ComposedMessages extends NodeMessages {
  /** What answers the messages of other nodes. */
  readonly calls: CallHandlers;
  /** Messages of this node without an answer. */
  readonly waiting: () => number;
  readonly close: () => void;
}

const numbers: ReadonlyMap<LeaseName, number> = new Map(
  partitionLeases.map((name, number) => [name, number]),
);

export function composeNodeMessages(leases: Leases, nodes: Nodes): ComposedMessages {
  const { node } = leases;
  const handlers = new Map<string, MessageHandler>();
  const holds = (lease: string) => leases.held(lease as LeaseName) !== undefined;
  const sender = new MessageSender({
    call: nodes.call,
    isOwn: holds,
    owner: (lease) => {
      const owner = leases.owners().get(lease as LeaseName)?.node;
      return owner?.id === node.id ? undefined : owner;
    },
    refresh: leases.refresh,
    now: () => performance.now(),
    setTimer,
  });
  const own = queueOfNode(node.id);
  return {
    node,
    isOwn: (id) => leases.held(leaseOfDevice(id)) !== undefined,
    beginsHere(id) {
      const lease = leaseOfDevice(id);
      return leases.held(lease) !== undefined && !sender.hasWaiting(lease);
    },
    toOwner: (id, message) => sender.toOwner(leaseOfDevice(id), message),
    toNode: sender.toNode,
    place: (partition) => leases.owners().get(partitionLeases[partition] ?? 'devices/0'),
    handle: (kind, handler) => void handlers.set(kind, handler),
    onMoved: (listener) => {
      leases.onChange(async (gained, lost) => listener(numbersOf(gained), numbersOf(lost)));
    },
    calls: createMessageReceiver({
      serves: (queue) => queue === own || holds(queue),
      handlerOf: (kind) => handlers.get(kind),
      newTicket: randomUUID,
      setTimer,
    }),
    waiting: () => sender.size,
    close: sender.close,
  };
}

function numbersOf(leases: readonly { readonly name: LeaseName }[]): ReadonlySet<number> {
  return new Set(
    leases.map(({ name }) => numbers.get(name)).filter((number) => number !== undefined),
  );
}
