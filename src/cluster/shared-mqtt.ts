// Shared MQTT: messages to devices reach the node that serves their clients, and what that one keeps follows the workspace.
import { setTimeout as wait } from 'node:timers/promises';
import type { SendDownlink } from '../downlinks/downlink-transport.ts';
import type { Downlink } from '../model/downlink.ts';
import type { MessageHandler, NodeMessages } from '../model/node-messages.ts';
import { Problem, type ProblemName } from '../model/problem.ts';
import type { MqttBroker } from '../transports/mqtt/mqtt-broker.ts';
import type { PublishToDevice } from '../transports/mqtt/mqtt-publisher.ts';
import type { Retained, RetainedOfDevice } from '../transports/mqtt/mqtt-retained.ts';
import type { KeptSession, SessionStore } from '../transports/mqtt/mqtt-session.ts';

const kinds = {
  publish: 'mqttPublish',
  downlink: 'mqttDownlink',
  handOver: 'mqttHandOver',
} as const;
/** Bytes of a message apart from its payload, and of a kept session, roughly. */
const overheadBytes = 400;
const keptBytes = 5_000;
const handOverBytesMax = 256 * 1024;
/** How long a node that stops waits for the next holders. */
const handOverMsMax = 2_000;
/** Records that are looked up together. */
const lookUpsMax = 500;

/** Nobody knows whether the device was reached: it is sent again when it connects. */
const unanswered: ReadonlySet<ProblemName> = new Set([
  'nodeUnreachable',
  'deviceWithoutOwner',
  'intakeFull',
]);

type PublishRequest = readonly [
  deviceId: string,
  topic: string,
  payload: string,
  options: Parameters<PublishToDevice>[3],
];

/** Payloads as base64. */
interface HandOverRequest {
  readonly retained: (Omit<RetainedOfDevice, 'message'> & {
    readonly message: Omit<RetainedOfDevice['message'], 'payload'> & { readonly payload: string };
  })[];
  readonly kept: (readonly [key: string, session: KeptSession])[];
}

interface SharedMqttParts {
  readonly messages: NodeMessages;
  /** Rejects for an unknown device. */
  readonly workspaceOfDevice: (deviceId: string) => Promise<string>;
  /** By the key of a session. Undefined when its connector or device is gone. */
  readonly workspaceOfKey: (key: string) => Promise<string | undefined>;
  readonly broker: () => MqttBroker | undefined;
  /** Of the workspaces of this node. */
  readonly retained: Retained;
  readonly keptSessions: SessionStore;
  readonly failed: (error: unknown) => void;
}

export class SharedMqtt {
  readonly #parts: SharedMqttParts;
  readonly #onTheirWay = new Set<Promise<unknown>>();

  constructor(parts: SharedMqttParts) {
    this.#parts = parts;
    parts.messages.handle(kinds.handOver, async (request) => {
      this.#take(request as HandOverRequest);
      return null;
    });
  }

  /** Publishes at the node that serves the clients of the device. */
  publishAtHolder(publish: PublishToDevice): PublishToDevice {
    const here: MessageHandler = (request) => {
      const [id, topic, payload, options] = request as PublishRequest;
      return publish(id, topic, Buffer.from(payload, 'base64'), options);
    };
    this.#parts.messages.handle(kinds.publish, here);
    return async (id, topic, payload, options) => {
      const request: PublishRequest = [id, topic, payload.toString('base64'), options];
      const work = () => publish(id, topic, payload, options);
      const sent = { kind: kinds.publish, request, bytes: payload.length + overheadBytes };
      return (await this.#atHolder(id, sent, work)) ?? 'offline';
    };
  }

  /** The same for a downlink, which may be a command of Sparkplug. */
  downlinkAtHolder(send: SendDownlink): SendDownlink {
    const never = new AbortController().signal;
    this.#parts.messages.handle(kinds.downlink, (request) => send(request as Downlink, never));
    return async (downlink, signal) => {
      const bytes = JSON.stringify(downlink).length;
      const sent = { kind: kinds.downlink, request: downlink, bytes };
      const outcome = await this.#atHolder(downlink.deviceId, sent, () => send(downlink, signal));
      return outcome ?? { outcome: 'offline', reason: 'the node of the device does not answer' };
    };
  }

  /** Ends the connections of workspaces that this node loses, and hands over what it keeps of them. */
  async lost(isLost: (workspaceId: string) => boolean): Promise<void> {
    const { broker, retained, keptSessions, workspaceOfDevice, workspaceOfKey } = this.#parts;
    for (const session of broker()?.sessions ?? [])
      if (session.workspaceId !== undefined && isLost(session.workspaceId))
        broker()?.end(session, 'another node serves the workspace');
    const left = await this.#ofLost(retained.devices(), workspaceOfDevice, isLost);
    for (const [workspaceId, ids] of left)
      this.#handOver(
        workspaceId,
        ids.flatMap((id) => retained.take(id)),
        [],
      );
    const keys = await this.#ofLost(keptSessions.keys(), workspaceOfKey, isLost);
    for (const [workspaceId, ofWorkspace] of keys)
      this.#handOver(
        workspaceId,
        [],
        ofWorkspace.map((key) => [key, keptSessions.take(key)] as const),
      );
  }

  /** Resolves when what was handed over has arrived, or after a time. */
  async handedOver(): Promise<void> {
    const arrived = Promise.all(this.#onTheirWay);
    await Promise.race([arrived, wait(handOverMsMax, undefined, { ref: false })]);
  }

  /** What is kept of a device that was moved to a workspace of another node follows it. */
  deviceChanged(id: string): void {
    const { messages, retained, keptSessions, workspaceOfDevice, failed } = this.#parts;
    if (!retained.has(id) && keptSessions.get(id) === undefined) return;
    workspaceOfDevice(id).then((workspaceId) => {
      if (messages.holds(workspaceId)) return;
      this.#handOver(workspaceId, retained.take(id), [[id, keptSessions.take(id)]]);
    }, failed);
  }

  async #atHolder<T>(
    deviceId: string,
    sent: { readonly kind: string; readonly request: unknown; readonly bytes: number },
    work: () => Promise<T>,
  ): Promise<T | undefined> {
    const { messages, workspaceOfDevice } = this.#parts;
    const workspaceId = await workspaceOfDevice(deviceId);
    if (messages.holds(workspaceId)) return work();
    try {
      return (await messages.toHolder(workspaceId, { ...sent, own: work })) as T;
    } catch (error) {
      if (error instanceof Problem && !unanswered.has(error.problem)) throw error;
      return undefined;
    }
  }

  /** Those of workspaces that are lost, by workspace. */
  async #ofLost(
    names: readonly string[],
    workspaceOf: (name: string) => Promise<string | undefined>,
    isLost: (workspaceId: string) => boolean,
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const found: (readonly [workspaceId: string, name: string])[] = [];
    for (let from = 0; from < names.length; from += lookUpsMax) {
      const some = names.slice(from, from + lookUpsMax).map(async (name) => {
        // What is of nothing any longer stays until it is dropped.
        const workspaceId = await workspaceOf(name).catch(() => undefined);
        if (workspaceId !== undefined && isLost(workspaceId)) found.push([workspaceId, name]);
      });
      await Promise.all(some);
    }
    const byWorkspace = Map.groupBy(found, ([workspaceId]) => workspaceId);
    return new Map([...byWorkspace].map(([id, pairs]) => [id, pairs.map(([, name]) => name)]));
  }

  /** The messages wait until the workspace has another holder. */
  #handOver(
    workspaceId: string,
    retained: readonly RetainedOfDevice[],
    kept: readonly (readonly [key: string, session: KeptSession | undefined])[],
  ): void {
    let part: HandOverRequest = { retained: [], kept: [] };
    let bytes = 0;
    const send = (): void => {
      const request = part;
      const sent = { kind: kinds.handOver, request, again: request, bytes };
      const own = async () => this.#take(request);
      const arrived = this.#parts.messages
        .toHolder(workspaceId, { ...sent, own })
        .catch(this.#parts.failed)
        .finally(() => this.#onTheirWay.delete(arrived));
      this.#onTheirWay.add(arrived);
      part = { retained: [], kept: [] };
      bytes = 0;
    };
    const add = (more: number, change: (to: HandOverRequest) => void): void => {
      if (bytes > 0 && bytes + more > handOverBytesMax) send();
      change(part);
      bytes += more;
    };
    for (const { message, ...one } of retained) {
      const payload = message.payload.toString('base64');
      const sent = { ...one, message: { ...message, payload } };
      add(payload.length + overheadBytes, (to) => to.retained.push(sent));
    }
    for (const [key, session] of kept)
      if (session !== undefined) add(keptBytes, (to) => to.kept.push([key, session]));
    if (bytes > 0) send();
  }

  /** What came to this node since is newer. */
  #take({ retained: sent, kept }: HandOverRequest): void {
    const { retained, keptSessions } = this.#parts;
    for (const { id, direction, message } of sent) {
      const { levels } = message;
      if (retained.of(id, { direction, levels }).length > 0) continue;
      const payload = Buffer.from(message.payload, 'base64');
      retained.keep(id, direction, { ...message, payload });
    }
    for (const [key, session] of kept)
      if (keptSessions.get(key) === undefined) keptSessions.set(key, session);
  }
}
