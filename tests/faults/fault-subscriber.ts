// Fault subscriber: a live session that resumes by its cursor at the next node when its node does not answer.
import { setTimeout as wait } from 'node:timers/promises';
import WebSocket from 'ws';
import { apiKey } from '../load/platform-process.ts';
import type { FaultDevice } from './fault-world.ts';

/** Without any message for this time, the session is taken to be lost. */
const silenceMsMax = 3_000;
const reconnectMs = 200;

export interface Subscriber {
  /** By device id, in the order they came. */
  received(deviceId: string): readonly number[];
  readonly connections: number;
  /** What the platform said that a session must never hear. */
  readonly errors: readonly string[];
  close(): Promise<void>;
}

export interface SubscriberParts {
  readonly devices: readonly FaultDevice[];
  readonly urls: readonly string[];
  /** Index of the first node. */
  readonly first: number;
}

interface Message {
  readonly type: string;
  readonly cursor?: string;
  readonly errorCode?: string;
  readonly message?: string;
  readonly sample?: { readonly deviceId: string; readonly data: { readonly n: number } };
}

export function startSubscriber({ devices, urls, first }: SubscriberParts): Subscriber {
  const received = new Map(devices.map(({ id }) => [id, [] as number[]]));
  const idOf = new Map(devices.map(({ id, deviceId }) => [deviceId, id]));
  const errors: string[] = [];
  let since = new Date().toISOString();
  let connections = 0;
  let isClosed = false;
  let current: WebSocket | undefined;

  function take({ type, cursor, sample, errorCode, message }: Message): void {
    if (type === 'error' && errorCode === 'CURSOR_TOO_OLD') errors.push(String(message));
    if (type !== 'sample_insert' || sample === undefined) return;
    received.get(sample.deviceId)?.push(sample.data.n);
    since = cursor ?? since;
  }

  /** Resolves when the session has ended, or is silent. */
  function session(url: string): Promise<void> {
    connections++;
    const socket = new WebSocket(`${url.replace('http', 'ws')}/v3/data-streams?xApiKey=${apiKey}`);
    current = socket;
    return new Promise((resolve) => {
      let heardAt = performance.now();
      const watch = setInterval(() => {
        if (performance.now() - heardAt > silenceMsMax) return socket.terminate();
        if (socket.readyState === WebSocket.OPEN) socket.send('{"type":"ping"}');
      }, silenceMsMax / 6);
      socket.on('open', () => {
        const subscriptions = devices.map(({ id: assetId }) => ({ assetId, topic: '*' }));
        socket.send(JSON.stringify({ type: 'subscribe', subscriptions, since }));
      });
      socket.on('message', (bytes) => {
        heardAt = performance.now();
        const message = JSON.parse(String(bytes)) as Message;
        take(message);
        // The replay was refused: it is asked for again.
        if (message.type === 'error') socket.terminate();
      });
      socket.on('error', () => undefined);
      socket.on('close', () => {
        clearInterval(watch);
        resolve();
      });
    });
  }

  async function keepFollowing(): Promise<void> {
    for (let turn = first; !isClosed; turn++) {
      await session(urls[turn % urls.length] ?? '');
      await wait(reconnectMs);
    }
  }

  const ended = keepFollowing();
  return {
    received: (deviceId) => received.get(idOf.get(deviceId) ?? '') ?? [],
    get connections() {
      return connections;
    },
    errors,
    async close() {
      isClosed = true;
      current?.terminate();
      await ended;
    },
  };
}
