// Sparkplug nodes: the connected edge nodes, their devices, and what they are asked and sent.
import { commandPayload, rebirthPayload } from '../../transports/sparkplug/command-payload.ts';
import { createEdgeNode, type EdgeNode } from '../../transports/sparkplug/edge-node.ts';
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

export interface SparkplugNodes {
  /** The node of a client; a new one for a client without. */
  readonly of: (client: SparkplugClient) => LiveNode;
  /** Undefined for a client that has sent nothing. */
  readonly known: (client: SparkplugClient) => LiveNode | undefined;
  /** The client is this edge node now: another client of the same name is ended. */
  readonly claim: (node: LiveNode) => void;
  readonly isCurrent: (node: LiveNode) => boolean;
  /** A device was born. */
  readonly born: (node: LiveNode, part: NodePart, serviceDeviceId: string) => void;
  /** A device is gone. Returns its service id. */
  readonly gone: (node: LiveNode, part: NodePart) => string | undefined;
  /** Counts the memory of its births. False when there is not enough. */
  readonly hasRoom: (node: LiveNode) => boolean;
  readonly drop: (node: LiveNode) => void;
  /** Sends what makes the node send its births, as often as it may be asked. */
  readonly ask: (node: LiveNode) => void;
  /** Sends a command; undefined for a device that no connected edge node has. */
  readonly command: (
    serviceDeviceId: string,
    payload: Json | Buffer,
  ) => Promise<DownlinkOutcome> | undefined;
  readonly size: number;
}

const { rebirthEveryMs, birthBytesMax, devicesPerNodeMax } = sparkplugLimits;
const notesKept = 100;

export function createSparkplugNodes(now: () => EpochMs): SparkplugNodes {
  const byClient = new Map<SparkplugClient, LiveNode>();
  const byName = new Map<string, LiveNode>();
  const byDevice = new Map<string, { readonly node: LiveNode; readonly part: NodePart }>();
  let bytes = 0;

  function of(client: SparkplugClient): LiveNode {
    const known = byClient.get(client);
    if (known !== undefined) return known;
    const node: LiveNode = {
      client,
      edge: createEdgeNode(),
      work: Promise.resolve(),
      ids: new Map(),
      absentAt: createBoundedMap(devicesPerNodeMax),
      notedAt: createBoundedMap(notesKept),
      askedAt: Number.NEGATIVE_INFINITY,
      askFor: undefined,
      bytes: 0,
    };
    byClient.set(client, node);
    return node;
  }

  function gone(node: LiveNode, part: NodePart): string | undefined {
    const id = node.ids.get(part);
    node.ids.delete(part);
    if (id !== undefined && byDevice.get(id)?.node === node) byDevice.delete(id);
    return id;
  }

  return {
    of,
    known: (client) => byClient.get(client),
    claim(node) {
      const key = keyOf(node.client);
      const other = byName.get(key);
      if (other === node) return;
      byName.set(key, node);
      other?.client.end('another client took over this edge node');
    },
    isCurrent: (node) => byName.get(keyOf(node.client)) === node,
    born(node, part, id) {
      node.ids.set(part, id);
      byDevice.set(id, { node, part });
    },
    gone,
    hasRoom(node) {
      const needed = node.edge.bytes();
      bytes += needed - node.bytes;
      node.bytes = needed;
      return bytes <= birthBytesMax;
    },
    drop(node) {
      for (const part of [...node.ids.keys()]) gone(node, part);
      bytes -= node.bytes;
      node.bytes = 0;
      byClient.delete(node.client);
      const key = keyOf(node.client);
      if (byName.get(key) === node) byName.delete(key);
    },
    ask(node) {
      const { client } = node;
      if (node.askFor === undefined || now() - node.askedAt < rebirthEveryMs) return;
      if (!listens(client, undefined)) return;
      node.askedAt = now();
      node.askFor = undefined;
      void client.send(commandTopic(client.name, undefined), rebirthPayload(now()), false);
    },
    command(id, payload) {
      const found = byDevice.get(id);
      return found && sendCommand(found.node, found.part, payload, now());
    },
    get size() {
      return byClient.size;
    },
  };
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
