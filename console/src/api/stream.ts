// Live stream of the page: one socket for all listeners; after a break it continues from the last cursor.
import { useEffect, useRef } from 'react';
import { connection } from './connection.ts';
import { createWatchedValue, useWatchedValue } from './watched-value.ts';

/** A stored sample as the stream sends it (interface 6). */
export interface LiveSample {
  readonly deviceId: string;
  readonly topic: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Of stored samples. */
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** Something else that happened in a workspace (contract 37); what is in it depends on the kind. */
export interface LiveEvent {
  readonly kind: string;
  readonly timestamp: string;
  readonly [member: string]: unknown;
}

/** What can be listened to: a device, the devices at a place and below it, or kinds of events of a workspace. */
export type Interest =
  | { readonly assetId: string }
  /** Samples of its devices arrive among those of others. */
  | { readonly placeId: string }
  | {
      readonly workspaceId: string;
      readonly kinds: readonly string[];
      readonly perSecond?: number;
    };

export interface Listener {
  /** From here on nothing is missed; what was asked for earlier can lack samples. */
  readonly onJoin?: () => void;
  readonly onSample?: (sample: LiveSample) => void;
  readonly onEvent?: (event: LiveEvent) => void;
}

export interface StreamStatus {
  readonly state: 'idle' | 'connecting' | 'open' | 'waiting';
  /** When the connection was lost, until it is back. */
  readonly lostAtMs?: number;
  readonly nextTryMs?: number;
}

interface Followed {
  readonly interest: Interest;
  readonly listeners: Set<Listener>;
}

interface Subscribed {
  readonly type: 'subscribed';
  readonly cursor?: string;
  /** Of the platform's clock. */
  readonly timestamp?: string;
}

interface SampleInsert {
  readonly type: 'sample_insert';
  readonly cursor?: string;
  readonly sample?: LiveSample & { readonly workspaceId?: string };
}

interface EventMessage extends LiveEvent {
  readonly type: 'event';
  readonly cursor?: string;
}

type ServerMessage = Subscribed | SampleInsert | EventMessage;

const firstWaitMs = 500;
const longestWaitMs = 15_000;
const pingMs = 30_000;

const followed = new Map<string, Followed>();
const streamStatus = createWatchedValue<StreamStatus>({ state: 'idle' });
let socket: WebSocket | undefined;
let cursor: string | undefined;
let waitMs = firstWaitMs;
let retry: ReturnType<typeof setTimeout> | undefined;

/** Calls the listener from now on; returns how to stop. Without listeners nothing is connected. */
export function follow(interest: Interest, listener: Listener): () => void {
  const key = JSON.stringify(interest);
  let entry = followed.get(key);
  if (entry === undefined) {
    followed.set(key, (entry = { interest, listeners: new Set() }));
    send({ type: 'subscribe', subscriptions: [itemOf(interest)] });
  }
  entry.listeners.add(listener);
  if (streamStatus.get().state === 'idle') connect();
  return () => leave(key, listener);
}

/** Drops the connection and what it knew, for the session of another user. */
export function discardStream(): void {
  followed.clear();
  cursor = undefined;
  clearTimeout(retry);
  // One that is not open yet is closed then: browsers report it otherwise.
  if (socket?.readyState === WebSocket.OPEN) socket.close();
  socket = undefined;
  streamStatus.set({ state: 'idle' });
}

/** Tries immediately instead of at the planned time. */
export function tryNow(): void {
  if (streamStatus.get().state !== 'waiting') return;
  clearTimeout(retry);
  connect();
}

// A request that is answered says that the stream may be there again, too.
connection.onReturn(tryNow);

function leave(key: string, listener: Listener): void {
  const entry = followed.get(key);
  if (entry === undefined) return;
  entry.listeners.delete(listener);
  if (entry.listeners.size > 0) return;
  followed.delete(key);
  send({ type: 'unsubscribe', subscriptions: [itemOf(entry.interest)] });
}

function connect(): void {
  const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
  streamStatus.set({ ...streamStatus.get(), state: 'connecting' });
  const opened = new WebSocket(`${scheme}://${location.host}/v3/data-streams`);
  socket = opened;
  const ping = setInterval(() => send({ type: 'ping' }), pingMs);
  opened.addEventListener('open', () => {
    if (socket !== opened) return opened.close();
    waitMs = firstWaitMs;
    streamStatus.set({ state: 'open' });
    void connection.tryNow();
    const subscriptions = [...followed.values()].map(({ interest }) => itemOf(interest));
    if (subscriptions.length > 0)
      send({
        type: 'subscribe',
        subscriptions,
        ...(cursor === undefined ? {} : { since: cursor }),
      });
  });
  opened.addEventListener('message', ({ data }) => {
    if (socket === opened) receive(JSON.parse(String(data)));
  });
  opened.addEventListener('close', () => {
    clearInterval(ping);
    if (socket === opened) planRetry();
  });
}

function planRetry(): void {
  socket = undefined;
  if (followed.size === 0) return streamStatus.set({ state: 'idle' });
  const lostAtMs = streamStatus.get().lostAtMs ?? Date.now();
  streamStatus.set({ state: 'waiting', lostAtMs, nextTryMs: Date.now() + waitMs });
  retry = setTimeout(connect, waitMs);
  waitMs = Math.min(waitMs * 2, longestWaitMs);
}

function receive(message: ServerMessage): void {
  if (message.cursor !== undefined) cursor = message.cursor;
  if (message.type === 'subscribed') {
    // Before the first sample the time of joining serves as the cursor.
    cursor ??= message.timestamp;
    for (const { listeners } of followed.values())
      for (const listener of listeners) listener.onJoin?.();
  }
  if (message.type === 'sample_insert' && message.sample !== undefined)
    for (const { interest, listeners } of followed.values())
      if (concerns(interest, message.sample))
        for (const listener of listeners) listener.onSample?.(message.sample);
  if (message.type === 'event')
    for (const { interest, listeners } of followed.values())
      if ('workspaceId' in interest) for (const listener of listeners) listener.onEvent?.(message);
}

function concerns(interest: Interest, sample: { readonly deviceId: string }): boolean {
  if ('assetId' in interest) return interest.assetId === sample.deviceId;
  return 'placeId' in interest || interest.kinds.includes('SAMPLE');
}

function itemOf(interest: Interest): object {
  return 'workspaceId' in interest ? interest : { ...interest, topic: '*' };
}

function send(message: object): void {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
}

// Hooks on the live stream: listeners that live as long as the part that shows what they hear.

/** Listens while the part is shown; a changed interest is followed instead of the earlier one. */
export function useStream(interest: Interest | undefined, listener: Listener): void {
  const latest = useRef(listener);
  useEffect(() => {
    latest.current = listener;
  });
  const key = interest === undefined ? undefined : JSON.stringify(interest);
  useEffect(() => {
    if (key === undefined) return undefined;
    return follow(JSON.parse(key) as Interest, {
      onJoin: () => latest.current.onJoin?.(),
      onSample: (sample) => latest.current.onSample?.(sample),
      onEvent: (event) => latest.current.onEvent?.(event),
    });
  }, [key]);
}

export function useStreamStatus(): StreamStatus {
  return useWatchedValue(streamStatus);
}
