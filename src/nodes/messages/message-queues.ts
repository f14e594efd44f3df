// Message queues: the messages of each lease or node in order, and the part of them that a batch takes.
import type { Json } from '../../model/json.ts';
import type { NodeAddress } from '../../model/node-address.ts';
import type { NodeMessage, OwnedMessage } from '../../model/node-messages.ts';

export const senderLimits = {
  /** Messages without an answer, and their bytes; a further one gets 503. */
  messagesMax: 4_096,
  bytesMax: 128 * 1024 * 1024,
  /** Messages for leases without a holder; a further one gets 503, and the others keep their room. */
  ownerlessMax: 1_024,
  batchMessagesMax: 512,
  batchBytesMax: 1024 * 1024,
  /** Messages of one queue in a batch. */
  queueMessagesMax: 128,
  /** Batches without an answer, of one node. */
  batchesPerNodeMax: 2,
} as const;

export interface Waiting {
  readonly message: NodeMessage & Partial<OwnedMessage>;
  readonly since: number;
  /** What is sent, which changes when a node may have received it. */
  request: Json;
  /** Id of the node that may have received it, when no other one may get it. */
  receiver?: string;
  readonly resolve: (answer: Json) => void;
  readonly reject: (error: unknown) => void;
}

export interface Queue {
  readonly name: string;
  /** The receiver of all messages; undefined when it is the owner of a lease. */
  readonly to: NodeAddress | undefined;
  waiting: Waiting[];
  /** Whether messages of it are in a batch; the next ones follow after the answer. */
  isSent: boolean;
  /** Whether its owner was not found, until the owners were read again. */
  isOwnerless: boolean;
  /** Whether some may have a receiver. */
  hasBound: boolean;
}

export function newQueue(name: string, to: NodeAddress | undefined): Queue {
  return { name, to, waiting: [], isSent: false, isOwnerless: false, hasBound: false };
}

export interface Taken {
  readonly queue: Queue;
  readonly waiting: Waiting;
}

/** Queues of one batch come after the others in the next one. */
export function putLast(queues: Map<string, Queue>, queue: Queue): void {
  queues.delete(queue.name);
  queues.set(queue.name, queue);
}

export function queuesOf(taken: readonly Taken[]): ReadonlySet<Queue> {
  return new Set(taken.map(({ queue }) => queue));
}

export function takeInto(taken: Taken[], queue: Queue): void {
  const { batchMessagesMax, batchBytesMax, queueMessagesMax } = senderLimits;
  let bytes = 0;
  for (const { waiting } of taken) bytes += waiting.message.bytes;
  let count = 0;
  for (const waiting of queue.waiting) {
    bytes += waiting.message.bytes;
    const isFull = taken.length > 0 && bytes > batchBytesMax;
    if (isFull || taken.length >= batchMessagesMax || count >= queueMessagesMax) break;
    taken.push({ queue, waiting });
    count++;
  }
  if (count === 0) return;
  queue.waiting.splice(0, count);
  queue.isSent = true;
}

/** Removes those that only another node than the owner may get, and returns them. */
export function takeForeign(queue: Queue, owner: string | undefined): readonly Waiting[] {
  if (!queue.hasBound) return [];
  const isForeign = ({ receiver = owner }: Waiting) => receiver !== owner;
  const foreign = queue.waiting.filter(isForeign);
  queue.waiting = queue.waiting.filter((waiting) => !isForeign(waiting));
  queue.hasBound = queue.waiting.some(({ receiver }) => receiver !== undefined);
  return foreign;
}
