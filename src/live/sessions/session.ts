// Live session: one connection without its socket. Answers messages in their order, and sends frames through the outbox.
import type { AcknowledgedItem, ReplyTo, ServerMessage } from '../../contract/live-messages.ts';
import { type EpochMs, formatInstant } from '../../model/instant.ts';
import { parsedJson } from '../../model/json-keys.ts';
import { isJsonObject } from '../../model/json.ts';
import type { Principal } from '../../model/principal.ts';
import type { QuotaCount } from '../../model/quota.ts';
import { createCatchUp, type Replay } from './catch-up.ts';
import type {
  AccessChanges,
  AssetsOfTag,
  ClientMessageType,
  FindAssets,
  Followable,
  MessageContext,
} from './client-message.ts';
import type { FanOut, Interest, Reader } from './fan-out.ts';
import {
  liveLimits,
  type LiveRefusal,
  refusal,
  refusalOf,
  type SessionMemory,
} from './live-limits.ts';
import type { Outbox } from './send-buffer.ts';
import {
  createSessionWorkspaces,
  createSubscriptions,
  itemOf,
  workspaceItemOf,
} from './session-subscriptions.ts';
import { later } from './stream-position.ts';
import { ping, subscribe, unsubscribe } from './subscribe.ts';
import type { WorkspaceReader } from './workspace-fan-out.ts';

// Every message a client may send: one row each (interface 6).

const clientMessages: Readonly<Record<string, ClientMessageType>> = {
  subscribe,
  unsubscribe,
  ping,
};

interface SessionOptions {
  /**
   * Owner of the connection, and the count of open subscriptions per organization (contract 36).
   */
  readonly organizationId: string;
  readonly items: QuotaCount;
  readonly fanOut: FanOut;
  readonly outbox: Outbox;
  /** Counts what is kept for the session; the outbox counts its part itself. */
  readonly memory: SessionMemory;
  readonly now: () => EpochMs;
  readonly newErrorId: () => string;
  /**
   * Checks the token of a message or, without one, the credential of the connection. Throws a
   * Problem.
   */
  readonly authorize: (accessToken: string | undefined) => Promise<Principal>;
  readonly findAssets: FindAssets;
  readonly assetsOfTag: AssetsOfTag;
  readonly followable: Followable;
  readonly access: AccessChanges;
  readonly replay: Replay;
  /** See the context of messages. Undefined without other nodes. */
  readonly follow?: MessageContext['follow'];
  /** Ends the connection, because samples that are owed cannot be sent. */
  readonly end: (reason: string) => void;
  /** Every message is handled. The HTTP layer may read further ones. */
  readonly idle: () => void;
  /** Internal error. The client gets INTERNAL with the same id. */
  readonly failed: (errorId: string, error: unknown) => void;
}

export interface Session {
  /** Sends the greeting. Call it first. */
  open(): void;
  receive(text: string): void;
  receiveBinary(): void;
  receiveTooLarge(): void;
  tick(): void;
  /** Cancels everything. The session sends nothing more. */
  close(): void;
  /** Messages that are not handled. */
  readonly waiting: number;
  readonly waitingBytes: number;
  readonly subscriptions: number;
}

/** A session of an authenticated principal (interface 6 and 4.11). */
export function createSession(options: SessionOptions): Session {
  const { outbox, now } = options;
  const replies = createReplies(options);
  const { reply, refuse } = replies;
  const open = createOpenSubscriptions(options, replies);
  const { subscriptions, workspaces, catchUp } = open;
  const context = contextOf(options, { ...open, reply });
  const incoming = createIncoming(options, refuse, (message) => handle(message, context, refuse));

  return {
    open: () => reply({ type: 'connected', message: 'Connected', timestamp: formatInstant(now()) }),
    receive: (text) => incoming.add({ text }),
    receiveBinary: () => incoming.add({ refused: refusal('BINARY_NOT_SUPPORTED') }),
    receiveTooLarge() {
      const { messageBytesMax: bytesMax } = liveLimits;
      incoming.add({ refused: refusal('MESSAGE_TOO_LARGE', { bytesMax }) });
    },
    tick() {
      outbox.tick();
      catchUp.tick();
      workspaces.reportOmitted((workspaceId, kind, leftOut) =>
        reply({ type: 'event', kind, workspaceId, leftOut, timestamp: formatInstant(now()) }),
      );
    },
    close() {
      options.memory.close();
      outbox.close();
      catchUp.close();
      incoming.clear();
      subscriptions.clear();
      workspaces.clear();
    },
    get waiting() {
      return incoming.size;
    },
    get waitingBytes() {
      return incoming.bytes;
    },
    get subscriptions() {
      return subscriptions.size + workspaces.size;
    },
  };
}

/** What the session has subscribed to, and the replays. */
function createOpenSubscriptions(
  { fanOut, outbox, memory, now, items, organizationId, replay, end }: SessionOptions,
  { reply, refuse }: Replies,
): Pick<MessageContext, 'subscriptions' | 'workspaces' | 'catchUp'> {
  /** Notifies the client of subscriptions that it did not end. */
  function replyEnded(ended: readonly AcknowledgedItem[]): void {
    if (ended.length === 0) return;
    reply({
      type: 'unsubscribed',
      ended: ended.map((item) => ({ ...item, valid: false })),
      subscriptions: [...subscriptions.acknowledged(), ...workspaces.acknowledged()],
      timestamp: formatInstant(now()),
    });
  }

  const reader: Reader = {
    outbox,
    frameFor: (sample, frame) => catchUp.frameFor(sample, frame),
    hold: (sample, frame, interest) => catchUp.hold(sample, frame, interest),
    spill: () => catchUp.spill(),
    withdraw(ended) {
      const open = ended.filter((subscription) => subscription.open);
      for (const subscription of open) subscriptions.remove(subscription);
      replyEnded(open.map(itemOf));
    },
  };
  const room = {
    max: items.max,
    take: (amount: number) => items.take(organizationId, amount),
    give: (amount: number) => items.give(organizationId, amount),
  };
  const subscriptions = createSubscriptions(fanOut, reader, room);
  const { interest, interests } = subscriptions;
  const catchUp = createCatchUp({
    replay,
    fanOut,
    outbox,
    memory,
    now,
    interest,
    interests,
    refuse,
    end,
  });
  const workspaceReader: WorkspaceReader = {
    outbox,
    frameFor: reader.frameFor,
    hasOwn: (deviceId, topic) => hasTopic(interest(deviceId), topic),
    withdraw(ended) {
      for (const subscription of ended) workspaces.close(subscription);
      replyEnded(ended.map(workspaceItemOf));
    },
  };
  const workspaces = createSessionWorkspaces(fanOut.workspaces, workspaceReader, room);
  return { subscriptions, workspaces, catchUp };
}

function hasTopic(interest: Interest | undefined, topic: string): boolean {
  return interest !== undefined && (interest.wildcard !== undefined || interest.topics.has(topic));
}

type Reply = (message: ServerMessage) => void;
type Refuse = (thrown: unknown, replyTo: ReplyTo | undefined) => void;

interface Replies {
  readonly reply: Reply;
  readonly refuse: Refuse;
}

function createReplies({ outbox, newErrorId, failed, now }: SessionOptions): Replies {
  function reply(message: ServerMessage): void {
    outbox.sendReply(JSON.stringify(message));
  }

  /** The client gets INTERNAL for an error that is not a refusal. */
  function refusalFor(thrown: unknown, errorId: string): LiveRefusal {
    const known = refusalOf(thrown);
    if (known !== undefined) return known;
    failed(errorId, thrown);
    return refusal('INTERNAL');
  }

  function refuse(thrown: unknown, replyTo: ReplyTo | undefined): void {
    const errorId = newErrorId();
    const { errorCode, message, oldestCursor } = refusalFor(thrown, errorId);
    reply({
      type: 'error',
      ...(replyTo !== undefined && { replyTo }),
      errorCode,
      errorId,
      message,
      ...(oldestCursor !== undefined && { oldestCursor }),
      timestamp: formatInstant(now()),
    });
  }

  return { reply, refuse };
}

function contextOf(
  options: SessionOptions,
  parts: Pick<MessageContext, 'subscriptions' | 'workspaces' | 'catchUp' | 'reply'>,
): MessageContext {
  const { authorize, findAssets, assetsOfTag, followable, access, outbox, now, fanOut, follow } =
    options;
  return {
    ...parts,
    now,
    closed: () => outbox.closed,
    replyText: (text) => outbox.sendReply(text),
    authorize,
    findAssets,
    assetsOfTag,
    followable,
    access,
    follow,
    liveCoverage(assetId) {
      const settled = parts.subscriptions.interest(assetId)?.deliveredTo ?? '';
      const afterCursor = later(settled, fanOut.lastCursor);
      return { ...(afterCursor !== '' && { afterCursor }) };
    },
  };
}

const messagesByType = new Map(Object.entries(clientMessages));

async function handle(
  incoming: IncomingMessage,
  context: MessageContext,
  refuse: Refuse,
): Promise<void> {
  let replyTo: ReplyTo | undefined;
  try {
    if ('refused' in incoming) throw incoming.refused;
    const message = parsed(incoming.text);
    replyTo = replyToOf(message.id);
    const type = String(message.type).slice(0, 100);
    const known = messagesByType.get(type);
    if (known === undefined) throw refusal('UNKNOWN_TYPE', { type });
    await known.receive(message, replyTo, context);
  } catch (thrown) {
    refuse(thrown, replyTo);
  }
}

function parsed(text: string): { readonly id?: unknown; readonly type?: unknown } {
  let value: unknown;
  try {
    value = parsedJson(text);
  } catch (error) {
    throw refusal('INVALID_JSON', { reason: (error as Error).message.slice(0, 200) });
  }
  if (!isJsonObject(value))
    throw refusal('INVALID_MESSAGE', { reason: 'it must be an object with a type' });
  return value;
}

function replyToOf(id: unknown): ReplyTo | undefined {
  if (typeof id === 'number') return id;
  if (typeof id === 'string' && id.length <= 1_000) return id;
  return undefined;
}

// Incoming messages: handled one after the other, no faster than the reader takes the answers.

interface IncomingParts {
  readonly outbox: Outbox;
  /** Counts unhandled messages. */
  readonly memory: SessionMemory;
  /** Every message is handled. */
  readonly idle: () => void;
}

type IncomingMessage = { readonly text: string } | { readonly refused: LiveRefusal };

interface Incoming {
  readonly size: number;
  /** Of unhandled messages. */
  readonly bytes: number;
  add(message: IncomingMessage): void;
  clear(): void;
}

/**
 * Handles one message at a time, and none while the reader has not taken the answers. This limits
 * what is queued.
 */
function createIncoming(
  { outbox, memory, idle }: IncomingParts,
  refuse: (thrown: unknown, replyTo: undefined) => void,
  handleOne: (message: IncomingMessage) => Promise<void>,
): Incoming {
  let waiting: IncomingMessage[] = [];
  let isWorking = false;
  let unhandledInBatch = 0;
  let bytes = 0;

  function count(by: number): void {
    bytes += by;
    memory.change(by);
  }

  async function handleBatch(batch: readonly IncomingMessage[]): Promise<void> {
    for (const [at, message] of batch.entries()) {
      if (outbox.closed) break;
      unhandledInBatch = batch.length - at;
      await handleOne(message);
      count(-sizeOf(message));
      while (!outbox.writable) await outbox.whenWritable();
    }
    unhandledInBatch = 0;
  }

  async function work(): Promise<void> {
    isWorking = true;
    while (waiting.length > 0 && !outbox.closed) {
      const batch = waiting;
      waiting = [];
      await handleBatch(batch);
    }
    isWorking = false;
    idle();
  }

  return {
    get size() {
      return waiting.length + unhandledInBatch;
    },
    get bytes() {
      return bytes;
    },
    add(message) {
      if (outbox.closed) return;
      if (waiting.length >= liveLimits.waitingMessagesMax)
        return refuse(refusal('TOO_MANY_MESSAGES'), undefined);
      waiting.push(message);
      count(sizeOf(message));
      if (!isWorking) void work();
    },
    clear() {
      waiting = [];
    },
  };
}

function sizeOf(message: IncomingMessage): number {
  return 'text' in message ? message.text.length : 0;
}
