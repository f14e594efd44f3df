// Hand-over: retained messages and kept sessions follow their devices and clients to the next owner.
import { type NodeMessages, partitionOf } from '../../../model/node-messages.ts';
import type { Retained, RetainedOfDevice } from '../mqtt-retained.ts';
import type { KeptSession, SessionStore } from '../mqtt-session-store.ts';
import {
  type HandOverRequest,
  kinds,
  receivedMessage,
  requestAs,
  requestOf,
  sentBytes,
  sentMessage,
} from './message-kinds.ts';

const handOverBytesMax = 256 * 1024;
const keptBytes = 5_000;

interface HandOverParts {
  readonly messages: Pick<NodeMessages, 'handle' | 'toOwner'>;
  readonly retained: Pick<Retained, 'all' | 'keep' | 'of' | 'forget'>;
  readonly store: SessionStore;
  readonly failed: (error: unknown) => void;
}

/** What a partition leaves, in one order. */
interface Left {
  readonly id: string;
  readonly bytes: number;
  readonly retained?: RetainedOfDevice;
  readonly kept?: KeptSession;
}

/** Returns the function that sends what this node holds of partitions that it no longer serves. */
export function createHandOver(parts: HandOverParts): (lost: ReadonlySet<number>) => void {
  const { messages, failed } = parts;
  messages.handle(kinds.handOver, async (request) => {
    take(requestAs<HandOverRequest>(request), parts);
    return null;
  });
  return (lost) => {
    const byPartition = Map.groupBy(takeOut(lost, parts), ({ id }) => partitionOf(id));
    for (const left of byPartition.values()) sendAll(left, parts).catch(failed);
  };
}

function takeOut(lost: ReadonlySet<number>, { retained, store }: HandOverParts): readonly Left[] {
  const left: Left[] = [];
  for (const one of retained.all())
    if (lost.has(partitionOf(one.id)))
      left.push({ id: one.id, bytes: sentBytes(one.message), retained: one });
  for (const [key, kept] of store.all())
    if (lost.has(partitionOf(key))) left.push({ id: key, bytes: keptBytes, kept });
  for (const { id, kept } of left)
    if (kept === undefined) retained.forget(id);
    else store.delete(id);
  return left;
}

async function sendAll(left: readonly Left[], parts: HandOverParts): Promise<void> {
  let part: Left[] = [];
  let bytes = 0;
  for (const one of left) {
    if (part.length > 0 && bytes + one.bytes > handOverBytesMax) {
      await send(part, bytes, parts);
      part = [];
      bytes = 0;
    }
    part.push(one);
    bytes += one.bytes;
  }
  if (part.length > 0) await send(part, bytes, parts);
}

async function send(left: readonly Left[], bytes: number, parts: HandOverParts): Promise<unknown> {
  const sent: HandOverRequest = {
    retained: left.flatMap(({ retained }) => retained ?? []).map(sentRetained),
    kept: left.flatMap(({ id, kept }) => (kept === undefined ? [] : ([[id, kept]] as const))),
  };
  const request = requestOf(sent);
  return parts.messages.toOwner(left[0]?.id ?? '', {
    kind: kinds.handOver,
    request,
    again: request,
    bytes,
    own: async () => {
      take(sent, parts);
      return null;
    },
  });
}

function sentRetained({ id, direction, message }: RetainedOfDevice) {
  return { id, direction, message: sentMessage(message) };
}

/** What came to this node since is newer. */
function take({ retained: sent, kept }: HandOverRequest, { retained, store }: HandOverParts): void {
  for (const { id, direction, message } of sent) {
    const received = receivedMessage(message);
    const { levels } = received;
    if (retained.of(id, { direction, levels }).length === 0) retained.keep(id, direction, received);
  }
  for (const [key, session] of kept) if (store.get(key) === undefined) store.set(key, session);
}
