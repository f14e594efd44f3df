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

/** The devices of connectors for Sparkplug. */
interface SparkplugDevices extends ConnectorDeviceStages {
  readonly connectorOf: (
    id: string,
  ) => DeviceConnector | undefined | Promise<DeviceConnector | undefined>;
  /** Throws Problem 404 for an unknown device. */
  readonly routeOfDevice: (serviceDeviceId: string) => UplinkRoute | Promise<UplinkRoute>;
}

/** What is told of messages. */
interface SparkplugEvents {
  readonly refused: (reason: string, about: Readonly<Record<string, string>>) => void;
  /** A message without a device, for the owner of the connector. */
  readonly dropped: (connectorId: string, uplink: Omit<RefusedUplink, 'transport'>) => void;
  /** The service id of a device that can be sent commands. */
  readonly reachable: (serviceDeviceId: string) => void;
  readonly failed: (error: unknown) => void;
}

const births: ReadonlySet<string> = new Set(['NBIRTH', 'DBIRTH']);
const absentForMs = 10_000;

/** What is not durable yet; wrapped, because a promise of a promise would be awaited. */
interface Begun {
  readonly stored: Promise<unknown>;
}

/** Takes the messages of edge nodes. The platform is online as a host from its start. */
export class SparkplugUplinks implements SparkplugIntake {
  readonly #nodes: SparkplugNodes;
  readonly #devices: SparkplugDevices;
  readonly #handleUplink: (uplink: Uplink) => Promise<unknown>;
  readonly #note: NoteDevice;
  readonly #events: SparkplugEvents;
  readonly #newId: () => string;
  readonly #now: () => EpochMs;
  readonly #onlineSince: EpochMs;

  constructor(
    nodes: SparkplugNodes,
    devices: SparkplugDevices,
    handleUplink: (uplink: Uplink) => Promise<unknown>,
    note: NoteDevice,
    events: SparkplugEvents,
    newId: () => string,
    now: () => EpochMs,
  ) {
    this.#nodes = nodes;
    this.#devices = devices;
    this.#handleUplink = handleUplink;
    this.#note = note;
    this.#events = events;
    this.#newId = newId;
    this.#now = now;
    this.#onlineSince = now();
  }

  async take(client: SparkplugClient, topic: SparkplugTopic, bytes: Buffer): Promise<void> {
    const node = this.#nodes.of(client);
    try {
      const { stored } = await this.#inOrder(node, () => this.#begin(node, topic, bytes));
      await stored;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      // Births contain what is lost. Ending the connection would bring them all at the same time.
      this.#events.refused(error.problem, { ...client.about(), reason: error.message });
      node.askFor ??= 'a message was not stored';
    }
  }

  subscribed(client: SparkplugClient, filter: SparkplugFilter): void {
    if (filter.kind === 'STATE') {
      this.#sendState(client, filter).catch(this.#events.failed);
      return;
    }
    const node = this.#nodes.known(client);
    if (node === undefined) return;
    this.#nodes.ask(node);
    for (const id of node.ids.values()) this.#events.reachable(id);
  }

  left(client: SparkplugClient): void {
    const node = this.#nodes.known(client);
    if (node === undefined) return;
    // Its last messages come first.
    this.#inOrder(node, () => this.#leave(node)).catch(this.#events.failed);
  }

  /** Work of one node begins in the order of its messages. */
  #inOrder<T>(node: LiveNode, work: () => Promise<T>): Promise<T> {
    const begun = node.work.then(work);
    node.work = begun.catch(() => undefined);
    return begun;
  }

  async #sendState(client: SparkplugClient, filter: SparkplugFilter): Promise<void> {
    const connector = await this.#devices.connectorOf(client.connectorId);
    const hostId = connector?.sparkplug?.hostId;
    if (hostId === undefined || filter.kind !== 'STATE') return;
    if (filter.host !== undefined && filter.host !== hostId) return;
    const state = JSON.stringify({ online: true, timestamp: this.#onlineSince });
    await client.send(stateTopic(hostId), Buffer.from(state), true);
  }

  async #begin(node: LiveNode, topic: SparkplugTopic, bytes: Buffer): Promise<Begun> {
    const connector = await this.#devices.connectorOf(node.client.connectorId);
    if (!connector?.sparkplug) return ended(node, 'the device connector is not for Sparkplug');
    const receivedAt = this.#now();
    const mapping = connector.sparkplug;
    const message = { node, topic, bodyBytes: bytes.length, receivedAt, connector, mapping };
    if (topic.type === 'NBIRTH') this.#nodes.claim(node);
    const taken = node.edge.take(topic, bytes, receivedAt);
    if (births.has(topic.type)) {
      if (topic.type === 'NBIRTH' && taken.payload !== undefined) this.#dropBorn(node);
      if (!this.#nodes.hasRoom(node)) return ended(node, 'birth metrics exceed the memory limit');
    }
    if (taken.missing !== undefined) node.askFor = taken.missing;
    this.#nodes.ask(node);
    const deaths = taken.gone.map((part) => this.#storeDeath(node, part, message));
    if (topic.type.endsWith('DEATH')) {
      const noted = this.#noteFaults(message, node.ids.get(undefined), taken);
      return { stored: Promise.all([...deaths, noted]) };
    }
    const route = await this.#routeOf(message);
    const noted = this.#noteFaults(message, route?.device.id ?? node.ids.get(undefined), taken);
    const isEmpty = taken.missing !== undefined && taken.readings.length === 0;
    if (route === undefined || taken.payload === undefined || isEmpty) return { stored: noted };
    const uplinks = sparkplugUplinks(message, taken, route, this.#newId);
    const stored = Promise.all([...uplinks.map(this.#handleUplink), noted]);
    if (!births.has(topic.type)) return { stored };
    this.#nodes.born(node, topic.device, route.device.id);
    return { stored: stored.then(() => this.#events.reachable(route.device.id)) };
  }

  /** After the birth of an edge node, its devices are born again. */
  #dropBorn(node: LiveNode): void {
    node.askFor = undefined;
    for (const part of [...node.ids.keys()]) this.#nodes.gone(node, part);
  }

  /** The device of the message; undefined without one, which is counted. */
  async #routeOf(message: SparkplugMessage): Promise<UplinkRoute | undefined> {
    const { node, topic, connector } = message;
    const part = topic.device;
    const id = births.has(topic.type) ? undefined : node.ids.get(part);
    try {
      if (id !== undefined) {
        const route = await this.#devices.routeOfDevice(id);
        if (route.connector.id === connector.id) return route;
      }
      const at = node.absentAt.get(part);
      const isAbsent = at !== undefined && message.receivedAt - at < absentForMs;
      if (isAbsent && !births.has(topic.type)) return undefined;
      const name = physicalId(message);
      const refused = await this.#createMissing(connector, name);
      if (refused !== undefined)
        return await this.#absent(message, { status: 404, message: refused });
      const route = await this.#devices.routeOf(connector, name);
      node.absentAt.delete(part);
      return route;
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) throw error;
      return await this.#absent(message, error);
    }
  }

  /** Counts a message without a device. The edge node's device gets a note, if there is one. */
  async #absent(
    message: SparkplugMessage,
    failure: Pick<Problem, 'status' | 'message'>,
  ): Promise<undefined> {
    const { node, topic, receivedAt, connector, bodyBytes: bytes } = message;
    const reason = failure.message;
    node.absentAt.set(topic.device, receivedAt);
    this.#events.dropped(connector.id, { failure, deviceId: physicalId(message), bytes });
    this.#events.refused('unknownDevice', { ...node.client.about(), reason });
    const nodeId = node.ids.get(undefined);
    if (nodeId !== undefined && topic.device !== undefined)
      await this.#noteOnce(node, nodeId, `${physicalId(message)} was not stored: ${reason}`);
    return undefined;
  }

  /** Creates the device, if it is missing and the connector creates devices. Returns why it could not. */
  async #createMissing(connector: DeviceConnector, name: string): Promise<string | undefined> {
    if (!connector.sparkplug?.createDevices) return undefined;
    try {
      await this.#devices.routeOf(connector, name);
      return undefined;
    } catch (error) {
      if (!(error instanceof Problem) || error.problem !== 'notFound') throw error;
      const refused = await this.#devices.createDevices(connector, [name]);
      return refused.get(name)?.message;
    }
  }

  /** A device that is gone is offline from then on. Decoders do not see it. */
  async #storeDeath(
    node: LiveNode,
    part: NodePart,
    {
      topic,
      bodyBytes,
      receivedAt,
    }: { readonly topic: SparkplugTopic; readonly bodyBytes: number; readonly receivedAt: EpochMs },
  ): Promise<void> {
    const id = this.#nodes.gone(node, part);
    if (id === undefined) return;
    const body = messageBody(topic, undefined, []);
    const payload = { topic: null, timestamp: null, body, bodyBytes };
    try {
      const route = await this.#devices.routeOfDevice(id);
      const uplink = uplinkOf(payload, route, this.#newId(), receivedAt);
      const metrics = { isGone: true } as const;
      await this.#handleUplink({ ...uplink, script: null, samples: [], metrics });
    } catch (error) {
      // A device that was deleted needs no death.
      if (!(error instanceof Problem) || error.status >= 500) throw error;
    }
  }

  /** The connection of a node has ended: all that it had is gone, unless another one is the node. */
  async #leave(node: LiveNode): Promise<void> {
    const topic: SparkplugTopic = { ...node.client.name, type: 'NDEATH', device: undefined };
    const message = { topic, bodyBytes: 0, receivedAt: this.#now() };
    const parts = this.#nodes.isCurrent(node) ? [...node.ids.keys()] : [];
    const deaths = parts.map((part) => this.#storeDeath(node, part, message));
    this.#nodes.drop(node);
    await Promise.all(deaths);
  }

  /** One note for the faults of a message, in the processing log of its device. */
  async #noteFaults(
    { node, topic }: SparkplugMessage,
    deviceId: string | undefined,
    { faults, faultCount, missing }: TakenMessage,
  ): Promise<void> {
    const said = [...faults, ...(missing === undefined ? [] : [`${missing}; requested a rebirth`])];
    if (said.length === 0) return;
    const more = faultCount - faults.length;
    const text = `${topic.type}: ${said.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
    if (deviceId === undefined)
      this.#events.refused('sparkplug', { ...node.client.about(), reason: text });
    else await this.#noteOnce(node, deviceId, text);
  }

  /** The same note again only after some time: data comes every second. */
  async #noteOnce(node: LiveNode, deviceId: string, message: string): Promise<void> {
    // Numbers of messages differ each time.
    const key = `${deviceId} ${message.replaceAll(/\d+/g, '#')}`;
    const at = node.notedAt.get(key);
    const now = this.#now();
    if (at !== undefined && now - at < sparkplugLimits.noteEveryMs) return;
    node.notedAt.set(key, now);
    await this.#note(deviceId, [{ level: 'WARN', source: 'UPLINK', message }], this.#newId());
  }
}

function ended({ client }: LiveNode, because: string): Begun {
  client.end(because);
  return { stored: Promise.resolve() };
}

function physicalId({ topic: { group, edge, device }, mapping }: SparkplugMessage): string {
  const template = device === undefined ? mapping.node : mapping.device;
  const names: Readonly<Record<string, string | undefined>> = { group, edge, device };
  return template.replaceAll(/\{(group|edge|device)\}/g, (_, name: string) => names[name] ?? '');
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
