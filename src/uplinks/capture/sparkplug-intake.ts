// Sparkplug intake: messages of edge nodes become uplinks of their devices; what is missing is asked for.
import type { UplinkRoute } from '../../inventory/devices/uplink-route-cache.ts';
import type { DeviceConnector, SparkplugMapping } from '../../model/connector.ts';
import type { EpochMs } from '../../model/instant.ts';
import { Problem } from '../../model/problem.ts';
import type { Sample } from '../../model/sample.ts';
import type { Uplink } from '../../model/uplink.ts';
import { EdgeNode, type TakenMessage } from '../../transports/sparkplug/edge-node.ts';
import {
  messageBody,
  type Reading,
  samplesOfReadings,
} from '../../transports/sparkplug/metric-readings.ts';
import { sentTimeOf } from '../../transports/sparkplug/metric-value.ts';
import {
  commandTopic,
  isCommandFilter,
  type SparkplugClient,
  type SparkplugFilter,
  type SparkplugIntake,
  type SparkplugTopic,
  stateTopic,
} from '../../transports/sparkplug/sparkplug-topic.ts';
import { sparkplugLimits } from '../../transports/sparkplug/sparkplug-limits.ts';
import type { ConnectorDeviceStages } from '../bulk/named-devices.ts';
import type { NoteDevice } from '../device-events.ts';
import type { RefusedUplink } from '../refusals.ts';
import { isScripted, uplinkOf } from './capture.ts';
import { commandPayload, rebirthPayload } from '../../transports/sparkplug/command-payload.ts';
import { isJsonObject, type Json } from '../../model/json.ts';
import { type BoundedMap, createBoundedMap } from '../../structures/caches.ts';
import type { DownlinkOutcome } from '../../downlinks/downlink-transport.ts';

interface SparkplugStages extends ConnectorDeviceStages {
  readonly nodes: SparkplugNodes;
  readonly connectorOf: (
    id: string,
  ) => DeviceConnector | undefined | Promise<DeviceConnector | undefined>;
  /** Throws Problem 404 for an unknown device. */
  readonly routeOfDevice: (serviceDeviceId: string) => UplinkRoute | Promise<UplinkRoute>;
  readonly handleUplink: (uplink: Uplink) => Promise<unknown>;
  readonly note: NoteDevice;
  readonly refused: (reason: string, about: Readonly<Record<string, string>>) => void;
  /** Told of a message without a device, for the owner of the connector. */
  readonly dropped: (connectorId: string, uplink: Omit<RefusedUplink, 'transport'>) => void;
  /** Called with the service id of a device that can be sent commands. */
  readonly reachable: (serviceDeviceId: string) => void;
  readonly failed: (error: unknown) => void;
  readonly newId: () => string;
  readonly now: () => EpochMs;
}

const births: ReadonlySet<string> = new Set(['NBIRTH', 'DBIRTH']);
const absentForMs = 10_000;

/** The platform is online as a host from its start. */
export function createSparkplugIntake(on: SparkplugStages): SparkplugIntake {
  const { nodes } = on;
  const onlineSince = on.now();

  /** Work of one node begins in the order of its messages. */
  function inOrder<T>(node: LiveNode, work: () => Promise<T>): Promise<T> {
    const begun = node.work.then(work);
    node.work = begun.catch(() => undefined);
    return begun;
  }

  async function sendState(client: SparkplugClient, filter: SparkplugFilter): Promise<void> {
    const connector = await on.connectorOf(client.connectorId);
    const hostId = connector?.sparkplug?.hostId;
    if (hostId === undefined || filter.kind !== 'STATE') return;
    if (filter.host !== undefined && filter.host !== hostId) return;
    const state = JSON.stringify({ online: true, timestamp: onlineSince });
    await client.send(stateTopic(hostId), Buffer.from(state), true);
  }

  return {
    async take(client, topic, bytes) {
      const node = nodes.of(client);
      try {
        const { stored } = await inOrder(node, () => begin(node, topic, bytes, on));
        await stored;
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        // Births contain what is lost. Ending the connection would bring them all at the same time.
        on.refused(error.problem, { ...client.about(), reason: error.message });
        node.askFor ??= 'a message was not stored';
      }
    },
    subscribed(client, filter) {
      if (filter.kind === 'STATE') {
        sendState(client, filter).catch(on.failed);
        return;
      }
      const node = nodes.known(client);
      if (node === undefined) return;
      nodes.ask(node);
      for (const id of node.ids.values()) on.reachable(id);
    },
    left(client) {
      const node = nodes.known(client);
      if (node === undefined) return;
      // Its last messages come first.
      inOrder(node, () => leave(node, on)).catch(on.failed);
    },
  };
}

/** What is not durable yet; wrapped, because a promise of a promise would be awaited. */
interface Begun {
  readonly stored: Promise<unknown>;
}

async function begin(
  node: LiveNode,
  topic: SparkplugTopic,
  bytes: Buffer,
  on: SparkplugStages,
): Promise<Begun> {
  const { nodes } = on;
  const connector = await on.connectorOf(node.client.connectorId);
  if (!connector?.sparkplug) return ended(node, 'the device connector is not for Sparkplug');
  const receivedAt = on.now();
  const mapping = connector.sparkplug;
  const message = { node, topic, bodyBytes: bytes.length, receivedAt, connector, mapping };
  if (topic.type === 'NBIRTH') nodes.claim(node);
  const taken = node.edge.take(topic, bytes, receivedAt);
  if (births.has(topic.type)) {
    if (topic.type === 'NBIRTH' && taken.payload !== undefined) dropBorn(node, on);
    if (!nodes.hasRoom(node)) return ended(node, 'birth metrics exceed the memory limit');
  }
  if (taken.missing !== undefined) node.askFor = taken.missing;
  nodes.ask(node);
  const deaths = taken.gone.map((part) => storeDeath(node, part, message, on));
  if (topic.type.endsWith('DEATH')) {
    const noted = noteFaults(message, node.ids.get(undefined), taken, on);
    return { stored: Promise.all([...deaths, noted]) };
  }
  const route = await routeOf(message, on);
  const noted = noteFaults(message, route?.device.id ?? node.ids.get(undefined), taken, on);
  const isEmpty = taken.missing !== undefined && taken.readings.length === 0;
  if (route === undefined || taken.payload === undefined || isEmpty) return { stored: noted };
  const uplinks = sparkplugUplinks(message, taken, route, on.newId);
  const stored = Promise.all([...uplinks.map(on.handleUplink), noted]);
  if (!births.has(topic.type)) return { stored };
  nodes.born(node, topic.device, route.device.id);
  return { stored: stored.then(() => on.reachable(route.device.id)) };
}

function ended({ client }: LiveNode, because: string): Begun {
  client.end(because);
  return { stored: Promise.resolve() };
}

/** After the birth of an edge node, its devices are born again. */
function dropBorn(node: LiveNode, { nodes }: SparkplugStages): void {
  node.askFor = undefined;
  for (const part of [...node.ids.keys()]) nodes.gone(node, part);
}

/** The device of the message; undefined without one, which is counted. */
async function routeOf(
  message: SparkplugMessage,
  on: SparkplugStages,
): Promise<UplinkRoute | undefined> {
  const { node, topic, connector } = message;
  const part = topic.device;
  const id = births.has(topic.type) ? undefined : node.ids.get(part);
  try {
    if (id !== undefined) {
      const route = await on.routeOfDevice(id);
      if (route.connector.id === connector.id) return route;
    }
    const at = node.absentAt.get(part);
    const isAbsent = at !== undefined && message.receivedAt - at < absentForMs;
    if (isAbsent && !births.has(topic.type)) return undefined;
    const name = physicalId(message);
    const refused = await createMissing(connector, name, on);
    if (refused !== undefined) return await absent(message, { status: 404, message: refused }, on);
    const route = await on.routeOf(connector, name);
    node.absentAt.delete(part);
    return route;
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    return await absent(message, error, on);
  }
}

/** Counts a message without a device. The edge node's device gets a note, if there is one. */
async function absent(
  message: SparkplugMessage,
  failure: Pick<Problem, 'status' | 'message'>,
  on: SparkplugStages,
): Promise<undefined> {
  const { node, topic, receivedAt, connector, bodyBytes: bytes } = message;
  const reason = failure.message;
  node.absentAt.set(topic.device, receivedAt);
  on.dropped(connector.id, { failure, deviceId: physicalId(message), bytes });
  on.refused('unknownDevice', { ...node.client.about(), reason });
  const nodeId = node.ids.get(undefined);
  if (nodeId !== undefined && topic.device !== undefined)
    await noteOnce(node, nodeId, `${physicalId(message)} was not stored: ${reason}`, on);
  return undefined;
}

/** Creates the device, if it is missing and the connector creates devices. Returns why it could not. */
async function createMissing(
  connector: DeviceConnector,
  name: string,
  on: SparkplugStages,
): Promise<string | undefined> {
  if (!connector.sparkplug?.createDevices) return undefined;
  try {
    await on.routeOf(connector, name);
    return undefined;
  } catch (error) {
    if (!(error instanceof Problem) || error.problem !== 'notFound') throw error;
    const refused = await on.createDevices(connector, [name]);
    return refused.get(name)?.message;
  }
}

function physicalId({ topic: { group, edge, device }, mapping }: SparkplugMessage): string {
  const template = device === undefined ? mapping.node : mapping.device;
  const names: Readonly<Record<string, string | undefined>> = { group, edge, device };
  return template.replaceAll(/\{(group|edge|device)\}/g, (_, name: string) => names[name] ?? '');
}

/** A device that is gone is offline from then on. Decoders do not see it. */
async function storeDeath(
  node: LiveNode,
  part: NodePart,
  {
    topic,
    bodyBytes,
    receivedAt,
  }: { readonly topic: SparkplugTopic; readonly bodyBytes: number; readonly receivedAt: EpochMs },
  on: SparkplugStages,
): Promise<void> {
  const id = on.nodes.gone(node, part);
  if (id === undefined) return;
  const body = messageBody(topic, undefined, []);
  const payload = { topic: null, timestamp: null, body, bodyBytes };
  try {
    const route = await on.routeOfDevice(id);
    const uplink = uplinkOf(payload, route, on.newId(), receivedAt);
    const metrics = { isGone: true } as const;
    await on.handleUplink({ ...uplink, script: null, samples: [], metrics });
  } catch (error) {
    // A device that was deleted needs no death.
    if (!(error instanceof Problem) || error.status >= 500) throw error;
  }
}

/** The connection of a node has ended: all that it had is gone, unless another one is the node. */
async function leave(node: LiveNode, on: SparkplugStages): Promise<void> {
  const { nodes } = on;
  const topic: SparkplugTopic = { ...node.client.name, type: 'NDEATH', device: undefined };
  const message = { topic, bodyBytes: 0, receivedAt: on.now() };
  const parts = nodes.isCurrent(node) ? [...node.ids.keys()] : [];
  const deaths = parts.map((part) => storeDeath(node, part, message, on));
  nodes.drop(node);
  await Promise.all(deaths);
}

/** One note for the faults of a message, in the processing log of its device. */
async function noteFaults(
  { node, topic }: SparkplugMessage,
  deviceId: string | undefined,
  { faults, faultCount, missing }: TakenMessage,
  on: SparkplugStages,
): Promise<void> {
  const said = [...faults, ...(missing === undefined ? [] : [`${missing}; requested a rebirth`])];
  if (said.length === 0) return;
  const more = faultCount - faults.length;
  const text = `${topic.type}: ${said.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
  if (deviceId === undefined) on.refused('sparkplug', { ...node.client.about(), reason: text });
  else await noteOnce(node, deviceId, text, on);
}

/** The same note again only after some time: data comes every second. */
async function noteOnce(
  node: LiveNode,
  deviceId: string,
  message: string,
  on: SparkplugStages,
): Promise<void> {
  // Numbers of messages differ each time.
  const key = `${deviceId} ${message.replaceAll(/\d+/g, '#')}`;
  const at = node.notedAt.get(key);
  const now = on.now();
  if (at !== undefined && now - at < sparkplugLimits.noteEveryMs) return;
  node.notedAt.set(key, now);
  await on.note(deviceId, [{ level: 'WARN', source: 'UPLINK', message }], on.newId());
}

// Sparkplug uplinks: the readings of a message as uplinks of its device, with samples or for its decoder.

/** One message, with what it is of. */
interface SparkplugMessage {
  readonly node: LiveNode;
  readonly topic: SparkplugTopic;
  readonly bodyBytes: number;
  readonly receivedAt: EpochMs;
  readonly connector: DeviceConnector;
  readonly mapping: SparkplugMapping;
}

/** Readings that the node kept while it was not connected are a separate uplink. */
function sparkplugUplinks(
  message: SparkplugMessage,
  { payload, readings }: TakenMessage,
  route: UplinkRoute,
  newId: () => string,
): Uplink[] {
  const old = readings.filter(({ isHistorical }) => isHistorical);
  const sentAt = sentTimeOf(payload?.timestamp);
  const uplinks: Uplink[] = [];
  if (old.length > 0)
    uplinks.push({
      ...uplinkFrom(message, old, sentAt, route, newId),
      rulesSkipped: true,
    });
  if (old.length < readings.length || old.length === 0) {
    const live = readings.filter(({ isHistorical }) => !isHistorical);
    uplinks.push(uplinkFrom(message, live, sentAt, route, newId));
  }
  return uplinks;
}

/** A decoder gets the message; without one, the readings are samples. */
function uplinkFrom(
  { topic, bodyBytes, receivedAt, mapping }: SparkplugMessage,
  readings: readonly Reading[],
  sentAt: EpochMs | undefined,
  route: UplinkRoute,
  newId: () => string,
): Uplink {
  const body = messageBody(topic, sentAt, readings);
  const payload = { topic: mapping.topic, timestamp: sentAt ?? null, body, bodyBytes };
  const uplink = uplinkOf(payload, route, newId(), receivedAt);
  if (isScripted(route)) return uplink;
  const samples: Sample[] = samplesOfReadings(readings).map(({ meta, ...sample }) => ({
    deviceId: route.device.id,
    topic: mapping.topic,
    ...sample,
    ...(meta !== undefined && { meta }),
  }));
  return { ...uplink, samples };
}

// Sparkplug nodes: the connected edge nodes, their devices, and what they are asked and sent.

/** The device of a name; undefined is the edge node itself. */
type NodePart = string | undefined;

interface LiveNode {
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
