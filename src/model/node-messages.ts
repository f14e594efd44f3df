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

export interface NodeMessages {
  /** This node. */
  readonly node: NodeAddress;
  /**
   * Whether this node holds the workspace: it owns its devices, evaluates its rules, and serves its
   * MQTT clients.
   */
  holds(workspaceId: string): boolean;
  /**
   * Whether work for devices of the workspace begins here: this node holds it, and no earlier message
   * for it waits.
   */
  beginsHere(workspaceId: string): boolean;
  /**
   * The answer of the node that holds the workspace. Messages of one partition of workspaces begin in
   * the order of the calls, also while it moves. Throws the Problem of the holder, `intakeFull`, and
   * `deviceWithoutOwner` after a time without one.
   */
  toHolder(workspaceId: string, message: OwnedMessage): Promise<unknown>;
  /** The answer of another node. Messages to it begin in order. Rejects when it does not answer. */
  toNode(node: NodeAddress, message: NodeMessage): Promise<unknown>;
  /** Adds the handler of a kind; all are added before the node serves anything. */
  handle(kind: string, handler: MessageHandler): void;
  /** Called when workspaces have come to this node. */
  onGained(listener: () => void): void;
}

// Node address: where the other nodes of a cluster reach a node.

export interface NodeAddress {
  /** Of its data folder, without change. */
  readonly id: string;
  /** Of its internal port. */
  readonly url: string;
}

// Device partition: the part of all devices that a device belongs to, which decides its shard.

/** Never changed: tables contain the numbers of partitions. */
const partitionCount = 256;

/** The partition of a device, by its service id. */
export function partitionOf(deviceId: string): number {
  return crc32(deviceId) % partitionCount;
}
