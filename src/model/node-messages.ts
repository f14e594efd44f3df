// Node messages: what nodes of a cluster send to the owners of devices and to each other, and how they are addressed.
import { crc32 } from 'node:zlib';

export interface NodeMessage {
  /** Decides which handler of the receiver gets the request. */
  readonly kind: string;
  /** As JSON can carry it, like every answer. */
  readonly request: unknown;
  /** Of the request, roughly. */
  readonly bytes: number;
  /**
   * The request for a node that may have received the first one already. Without it, such a message
   * fails.
   */
  readonly again?: unknown;
  /**
   * Whether only the node that may have received it recognizes the repetition. When another one owns
   * the id by then, the message fails: both would keep it.
   */
  readonly isReceiverBound?: boolean;
  /** Whether a client waits that can send again: the message fails soon when its node is silent. */
  readonly isOfClient?: boolean;
}

export interface OwnedMessage extends NodeMessage {
  /** Does the work on this node, which may be the owner now or later. */
  readonly own: () => Promise<unknown>;
}

/** Does the work of one kind of messages. It must bear repetitions of those with `again`. */
export type MessageHandler = (request: unknown, from: string) => Promise<unknown>;

/** Who serves a partition of devices. */
export interface Place {
  readonly node: NodeAddress;
  /** Higher than that of every earlier owner. */
  readonly epoch: number;
}

/** Numbers of partitions that this node serves from now on, and of those that it no longer serves. */
type PartitionsMoved = (
  gained: ReadonlySet<number>,
  lost: ReadonlySet<number>,
) => void | Promise<void>;

/** An id is that of a device or of a client; its partition decides who owns it. */
export interface NodeMessages {
  /** This node. */
  readonly node: NodeAddress;
  /** Whether this node owns the id. */
  isOwn(id: string): boolean;
  /** Whether work for the id begins here: this node owns it, and no earlier message for it waits. */
  beginsHere(id: string): boolean;
  /**
   * The answer of the owner. Messages of one partition begin in the order of the calls, also while it
   * moves. Throws the Problem of the owner, `intakeFull`, and `deviceWithoutOwner` after a time
   * without one.
   */
  toOwner(id: string, message: OwnedMessage): Promise<unknown>;
  /** The answer of another node. Messages to it begin in order. Rejects when it does not answer. */
  toNode(node: NodeAddress, message: NodeMessage): Promise<unknown>;
  /** Undefined for a partition without an owner. */
  place(partition: number): Place | undefined;
  /** Adds the handler of a kind; all are added before the node serves anything. */
  handle(kind: string, handler: MessageHandler): void;
  onMoved(listener: PartitionsMoved): void;
}

// Node address: where the other nodes of a cluster reach a node.

export interface NodeAddress {
  /** Of its data folder, without change. */
  readonly id: string;
  /** Of its internal port. */
  readonly url: string;
}

// Device partition: the part of all devices that a device belongs to, which decides its node and its shard.

/** Never changed: tables and leases contain the numbers of partitions. */
export const partitionCount = 256;

/** The partition of a device, by its service id. */
export function partitionOf(deviceId: string): number {
  return crc32(deviceId) % partitionCount;
}
