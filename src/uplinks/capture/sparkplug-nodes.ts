// Sparkplug nodes: the connected edge nodes, their devices, and what they are asked and sent.
import { commandPayload, rebirthPayload } from '../../transports/sparkplug/command-payload.ts';
import { EdgeNode } from '../../transports/sparkplug/edge-node.ts';
import type { SparkplugClient } from '../../transports/sparkplug/sparkplug-client.ts';
import { sparkplugLimits } from '../../transports/sparkplug/sparkplug-limits.ts';
import { commandTopic, isCommandFilter } from '../../transports/sparkplug/sparkplug-topic.ts';
import type { EpochMs } from '../../model/instant.ts';
import { isJsonObject, type Json } from '../../model/json.ts';
import { type BoundedMap, createBoundedMap } from '../../structures/bounded-map.ts';
import type { DownlinkOutcome } from '../../downlinks/downlink-transport.ts';

/** The device of a name; undefined is the edge node itself. */
export type NodePart = string | undefined;

export interface LiveNode {
  readonly client: SparkplugClient;
  readonly edge: EdgeNode;
  /** The message in progress: the next one begins after it has. */
  work: Promise<unknown>;
  /** Service device ids of what was born. */
  readonly ids: Map<NodePart, string>;
  /** When it was found that the device does not exist. */
  readonly absentAt: BoundedMap<NodePart, EpochMs>;
  readonly notedAt: BoundedMap<string, EpochMs>;
  askedAt: EpochMs;
  /** Why it must still be asked for its births. */
  askFor: string | undefined;
  /** Of its births, as counted. */
  bytes: number;
}

const { rebirthEveryMs, birthBytesMax, devicesPerNodeMax } = sparkplugLimits;
const notesKept = 100;

export class SparkplugNodes {
  readonly #now: () => EpochMs;
  readonly #byClient = new Map<SparkplugClient, LiveNode>();
  readonly #byName = new Map<string, LiveNode>();
  readonly #byDevice = new Map<string, { readonly node: LiveNode; readonly part: NodePart }>();
  #bytes = 0;

  constructor(now: () => EpochMs) {
    this.#now = now;
  }

  /** Sends a command; undefined for a device that no connected edge node has. */
  readonly command = (id: string, payload: Json | Buffer): Promise<DownlinkOutcome> | undefined => {
    const found = this.#byDevice.get(id);
    return found && sendCommand(found.node, found.part, payload, this.#now());
  };

  /** The node of a client; a new one for a client without. */
  of(client: SparkplugClient): LiveNode {
    const known = this.#byClient.get(client);
    if (known !== undefined) return known;
    const node: LiveNode = {
      client,
      edge: new EdgeNode(),
      work: Promise.resolve(),
      ids: new Map(),
      absentAt: createBoundedMap(devicesPerNodeMax),
      notedAt: createBoundedMap(notesKept),
      askedAt: Number.NEGATIVE_INFINITY,
      askFor: undefined,
      bytes: 0,
    };
    this.#byClient.set(client, node);
    return node;
  }

  /** Undefined for a client that has sent nothing. */
  known(client: SparkplugClient): LiveNode | undefined {
    return this.#byClient.get(client);
  }

  /** The client is this edge node now: another client of the same name is ended. */
  claim(node: LiveNode): void {
    const key = keyOf(node.client);
    const other = this.#byName.get(key);
    if (other === node) return;
    this.#byName.set(key, node);
    other?.client.end('another client took over this edge node');
  }

  isCurrent(node: LiveNode): boolean {
    return this.#byName.get(keyOf(node.client)) === node;
  }

  /** A device was born. */
  born(node: LiveNode, part: NodePart, id: string): void {
    node.ids.set(part, id);
    this.#byDevice.set(id, { node, part });
  }

  /** A device is gone. Returns its service id. */
  gone(node: LiveNode, part: NodePart): string | undefined {
    const id = node.ids.get(part);
    node.ids.delete(part);
    if (id !== undefined && this.#byDevice.get(id)?.node === node) this.#byDevice.delete(id);
    return id;
  }

  /** Counts the memory of its births. False when there is not enough. */
  hasRoom(node: LiveNode): boolean {
    const needed = node.edge.bytes();
    this.#bytes += needed - node.bytes;
    node.bytes = needed;
    return this.#bytes <= birthBytesMax;
  }

  drop(node: LiveNode): void {
    for (const part of [...node.ids.keys()]) this.gone(node, part);
    this.#bytes -= node.bytes;
    node.bytes = 0;
    this.#byClient.delete(node.client);
    const key = keyOf(node.client);
    if (this.#byName.get(key) === node) this.#byName.delete(key);
  }

  /** Sends what makes the node send its births, as often as it may be asked. */
  ask(node: LiveNode): void {
    const { client } = node;
    if (node.askFor === undefined || this.#now() - node.askedAt < rebirthEveryMs) return;
    if (!listens(client, undefined)) return;
    node.askedAt = this.#now();
    node.askFor = undefined;
    void client.send(commandTopic(client.name, undefined), rebirthPayload(this.#now()), false);
  }

  get size(): number {
    return this.#byClient.size;
  }
}

function keyOf({ connectorId, name: { group, edge } }: SparkplugClient): string {
  return `${connectorId}/${group}/${edge}`;
}

function listens({ filters }: SparkplugClient, part: NodePart): boolean {
  return filters.values().some((filter) => isCommandFilter(filter, part));
}

async function sendCommand(
  { client, edge }: LiveNode,
  part: NodePart,
  payload: Json | Buffer,
  now: EpochMs,
): Promise<DownlinkOutcome> {
  if (!listens(client, part))
    return { outcome: 'offline', reason: 'the edge node is not subscribed to commands' };
  const bytes = bytesOf(payload, edge, part, now);
  if ('refused' in bytes) return { outcome: 'failed', reason: bytes.refused };
  const isSent = await client.send(commandTopic(client.name, part), bytes.bytes, false);
  if (isSent) return { outcome: 'sent' };
  return { outcome: 'offline', reason: 'the edge node is not connected' };
}

function bytesOf(payload: Json | Buffer, edge: EdgeNode, part: NodePart, now: EpochMs) {
  if (Buffer.isBuffer(payload)) return { bytes: payload };
  const birth = edge.birthOf(part);
  if (birth === undefined) return { refused: 'the device has not sent its birth' };
  if (!isJsonObject(payload)) return { refused: 'the payload must be an object of metrics' };
  return commandPayload(payload, birth, now);
}
