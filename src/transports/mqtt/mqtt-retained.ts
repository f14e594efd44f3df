// Retained messages: the last one of each topic, for later subscribers. In memory and bounded.
import type { EpochMs } from '../../model/instant.ts';
import { mqttLimits } from './mqtt-limits.ts';
import { type MessageProperties, propertyBytes } from './mqtt-properties.ts';
import { levelsMatch, type TopicFilter } from './mqtt-topic.ts';
import { ownBytes } from '../../structures/bytes.ts';
import { type BoundedMap, createBoundedMap } from '../../structures/caches.ts';
import { SharedPool } from '../../structures/shared-pool.ts';

export interface RetainedMessage {
  readonly levels: readonly string[];
  readonly payload: Buffer;
  readonly qos: 0 | 1;
  readonly properties?: MessageProperties | undefined;
  /** Not sent from then on. */
  readonly expiresAt?: EpochMs | undefined;
}

export interface RetainedOfDevice {
  readonly id: string;
  readonly direction: TopicFilter['direction'];
  readonly message: RetainedMessage;
}

/** Memory of a message apart from its payload, roughly. */
const overheadBytes = 256;

function sizeOf({ payload, properties }: RetainedMessage): number {
  return payload.length + propertyBytes(properties) + overheadBytes;
}

interface RetainedByDevice {
  readonly owner: string;
  readonly messages: BoundedMap<string, RetainedMessage>;
  bytes: number;
}

/**
 * `organizationOf` tells whose share the messages of a device take; those of devices that it
 * does not know share one.
 */
export class Retained {
  readonly #organizationOf: (id: string) => string | undefined;
  readonly #devices = new Map<string, RetainedByDevice>();
  readonly #shares = new SharedPool<string>({
    max: mqttLimits.retainedBytesMax,
    giveWay: (id) => void this.#devices.delete(id),
  });

  constructor(organizationOf: (id: string) => string | undefined = () => undefined) {
    this.#organizationOf = organizationOf;
  }

  /** An empty payload forgets the topic's message. `id` is the service device id. */
  keep(id: string, direction: TopicFilter['direction'], message: RetainedMessage): void {
    const topic = `${direction}/${message.levels.join('/')}`;
    const device = this.#devices.get(id) ?? this.#newDevice(this.#organizationOf(id) ?? '');
    this.#remove(device, topic);
    if (message.payload.length > 0) {
      device.messages.set(topic, { ...message, payload: ownBytes(message.payload) });
      device.bytes += sizeOf(message);
    }
    if (device.messages.size === 0) return this.forget(id);
    this.#devices.set(id, device);
    if (!this.#shares.hold(device.owner, id, device.bytes)) this.#devices.delete(id);
  }

  of(
    id: string,
    { direction, levels }: Pick<TopicFilter, 'direction' | 'levels'>,
  ): readonly RetainedMessage[] {
    const messages = [...(this.#devices.get(id)?.messages ?? [])];
    return messages
      .filter(
        ([topic, message]) =>
          topic.startsWith(`${direction}/`) && levelsMatch(levels, message.levels),
      )
      .map(([, message]) => message);
  }

  forget(id: string): void {
    this.#devices.delete(id);
    this.#shares.release(id);
  }

  get bytes(): number {
    return this.#shares.used;
  }

  has(id: string): boolean {
    return this.#devices.has(id);
  }

  /** Service ids of the devices that have some. */
  devices(): readonly string[] {
    return [...this.#devices.keys()];
  }

  /** Forgets the messages of the device and returns them. */
  take(id: string): readonly RetainedOfDevice[] {
    const messages = [...(this.#devices.get(id)?.messages ?? [])];
    this.forget(id);
    return messages.map(([topic, message]) => ({
      id,
      direction: topic.startsWith('up/') ? 'up' : 'down',
      message,
    }));
  }

  #newDevice(owner: string): RetainedByDevice {
    const device: RetainedByDevice = {
      owner,
      messages: createBoundedMap(mqttLimits.retainedPerDeviceMax, (evicted) => {
        device.bytes -= sizeOf(evicted);
      }),
      bytes: 0,
    };
    return device;
  }

  #remove(device: RetainedByDevice, topic: string): void {
    const message = device.messages.get(topic);
    if (message === undefined) return;
    device.bytes -= sizeOf(message);
    device.messages.delete(topic);
  }
}
