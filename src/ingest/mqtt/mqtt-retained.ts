// Retained messages: the last one of each topic, for later subscribers. In memory and bounded.
import type { EpochMs } from '../../model/instant.ts';
import { mqttLimits } from './mqtt-limits.ts';
import { type MessageProperties, propertyBytes } from './mqtt-properties.ts';
import { levelsMatch, type TopicFilter } from './mqtt-topic.ts';
import { ownBytes } from '../../structures/own-bytes.ts';
import { type BoundedMap, createBoundedMap } from '../../structures/bounded-map.ts';

export interface RetainedMessage {
  readonly levels: readonly string[];
  readonly payload: Buffer;
  readonly qos: 0 | 1;
  readonly properties?: MessageProperties | undefined;
  /** Not sent from then on. */
  readonly expiresAt?: EpochMs | undefined;
}

export interface Retained {
  /** An empty payload forgets the topic's message. `id` is the service device id. */
  keep(id: string, direction: TopicFilter['direction'], message: RetainedMessage): void;
  of(id: string, filter: Pick<TopicFilter, 'direction' | 'levels'>): readonly RetainedMessage[];
  forget(id: string): void;
  readonly bytes: number;
  all(): Iterable<RetainedOfDevice>;
}

export interface RetainedOfDevice {
  readonly id: string;
  readonly direction: TopicFilter['direction'];
  readonly message: RetainedMessage;
}

/** Retained messages of all nodes. */
export interface RetainedSource extends Pick<Retained, 'keep'> {
  of(
    id: string,
    filter: Pick<TopicFilter, 'direction' | 'levels'>,
  ): readonly RetainedMessage[] | Promise<readonly RetainedMessage[]>;
}

/** Memory of a message apart from its payload, roughly. */
const overheadBytes = 256;

function sizeOf({ payload, properties }: RetainedMessage): number {
  return payload.length + propertyBytes(properties) + overheadBytes;
}

export function createRetainedMessages(): Retained {
  const devices = new Map<string, BoundedMap<string, RetainedMessage>>();
  let bytes = 0;

  function createMessages(): BoundedMap<string, RetainedMessage> {
    return createBoundedMap(mqttLimits.retainedPerDeviceMax, (evicted) => {
      bytes -= sizeOf(evicted);
    });
  }

  function remove(id: string, topic: string): void {
    const messages = devices.get(id);
    const message = messages?.get(topic);
    if (messages === undefined || message === undefined) return;
    bytes -= sizeOf(message);
    messages.delete(topic);
    if (messages.size === 0) devices.delete(id);
  }

  function forget(id: string): void {
    for (const message of devices.get(id)?.values() ?? []) bytes -= sizeOf(message);
    devices.delete(id);
  }

  return {
    keep(id, direction, message) {
      const topic = `${direction}/${message.levels.join('/')}`;
      remove(id, topic);
      if (message.payload.length === 0) return;
      const messages = devices.get(id) ?? createMessages();
      // The device that retained something last is forgotten last.
      devices.delete(id);
      devices.set(id, messages);
      messages.set(topic, { ...message, payload: ownBytes(message.payload) });
      bytes += sizeOf(message);
      for (const oldest of devices.keys()) {
        if (bytes <= mqttLimits.retainedBytesMax) return;
        forget(oldest);
      }
    },
    of(id, { direction, levels }) {
      const messages = [...(devices.get(id) ?? [])];
      return messages
        .filter(
          ([topic, message]) =>
            topic.startsWith(`${direction}/`) && levelsMatch(levels, message.levels),
        )
        .map(([, message]) => message);
    },
    forget,
    get bytes() {
      return bytes;
    },
    *all() {
      for (const [id, messages] of devices)
        for (const [topic, message] of messages)
          yield { id, direction: topic.startsWith('up/') ? 'up' : 'down', message };
    },
  };
}
