// Live session: one connection without its socket. Answers messages in their order, and sends frames through the outbox.
import type { AcknowledgedItem, ReplyTo, ServerMessage } from '../../contract/live-messages.ts';
import { type EpochMs, formatInstant } from '../../model/instant.ts';
import { parsedJson } from '../../model/json-keys.ts';
import { isJsonObject } from '../../model/json.ts';
import type { Principal } from '../../model/principal.ts';
import type { QuotaCount } from '../../model/quota.ts';
import { CatchUp, type Replay } from './catch-up.ts';
import {
  type ClientMessageType,
  type MessageContext,
  ping,
  subscribe,
  unsubscribe,
} from './subscribe.ts';
import type {
  AccessChanges,
  AssetsOfPlace,
  AssetsOfTag,
  FindAssets,
  Followable,
  FollowDevices,
} from './session-access.ts';
import type { FanOut, Interest, Reader } from './fan-out.ts';
import {
  liveLimits,
  type LiveRefusal,
  refusal,
  refusalOf,
  type SessionMemory,
} from './live-limits.ts';
import { type PlaceWatch, SessionPlaces } from './place-watch.ts';
import type { Outbox } from './send-buffer.ts';
import {
  itemOf,
  SessionSubscriptions,
  SessionWorkspaces,
  workspaceItemOf,
} from './session-subscriptions.ts';
import { later } from './stream-position.ts';
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
  readonly assetsOfPlace: AssetsOfPlace;
  readonly followable: Followable;
  readonly access: AccessChanges;
  readonly placeWatch: PlaceWatch;
  readonly replay: Replay;
  /** See the context of messages. Undefined without other nodes. */
  readonly follow?: FollowDevices | undefined;
  /** Ends the connection, because samples that are owed cannot be sent. */
  readonly end: (reason: string) => void;
  /** Every message is handled. The HTTP layer may read further ones. */
  readonly idle: () => void;
  /** Internal error. The client gets INTERNAL with the same id. */
  readonly failed: (errorId: string, error: unknown) => void;
}

/** A session of an authenticated principal (interface 6 and 4.11). */
export class Session {
  readonly #options: SessionOptions;
  readonly #reply: Reply;
  readonly #subscriptions: SessionSubscriptions;
  readonly #workspaces: SessionWorkspaces;
  readonly #places: SessionPlaces;
  readonly #catchUp: CatchUp;
  readonly #incoming: Incoming;

  constructor(options: SessionOptions) {
    this.#options = options;
    const replies = createReplies(options);
    const { reply, refuse } = replies;
    this.#reply = reply;
    const open = createOpenSubscriptions(options, replies);
    const { subscriptions, workspaces, places, catchUp } = open;
    this.#subscriptions = subscriptions;
    this.#workspaces = workspaces;
    this.#places = places;
    this.#catchUp = catchUp;
    const context = contextOf(options, { ...open, reply: this.#reply });
    this.#incoming = new Incoming(options, refuse, (message) => handle(message, context, refuse));
  }

  readonly tick = (): void => {
    this.#options.outbox.tick();
    this.#catchUp.tick();
    this.#workspaces.reportOmitted((workspaceId, kind, leftOut) =>
      this.#reply({
        type: 'event',
        kind,
        workspaceId,
        leftOut,
        timestamp: formatInstant(this.#options.now()),
      }),
    );
  };

  /** Sends the greeting. Call it first. */
  open(): void {
    this.#reply({
      type: 'connected',
      message: 'Connected',
      timestamp: formatInstant(this.#options.now()),
    });
  }

  receive(text: string): void {
    this.#incoming.add({ text });
  }

  receiveBinary(): void {
    this.#incoming.add({ refused: refusal('BINARY_NOT_SUPPORTED') });
  }

  receiveTooLarge(): void {
    const { messageBytesMax: bytesMax } = liveLimits;
    this.#incoming.add({ refused: refusal('MESSAGE_TOO_LARGE', { bytesMax }) });
  }

  /** Cancels everything. The session sends nothing more. */
  close(): void {
    this.#options.memory.close();
    this.#options.outbox.close();
    this.#catchUp.close();
    this.#incoming.clear();
    this.#places.clear();
    this.#subscriptions.clear();
    this.#workspaces.clear();
  }

  /** Messages that are not handled. */
  get waiting(): number {
    return this.#incoming.size;
  }

  get waitingBytes(): number {
    return this.#incoming.bytes;
  }

  get subscriptions(): number {
    return this.#subscriptions.size + this.#workspaces.size;
  }
}

type OpenParts = 'subscriptions' | 'workspaces' | 'places' | 'catchUp' | 'liveCoverage';

/** What the session has subscribed to, and the replays. */
function createOpenSubscriptions(
  options: SessionOptions,
  { reply, refuse }: Replies,
): Pick<MessageContext, OpenParts> {
  const { fanOut, outbox, memory, now, items, organizationId, replay, end } = options;
  const { findAssets, follow, placeWatch } = options;
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
  const subscriptions = new SessionSubscriptions(fanOut, reader, room);
  const { interest, interests } = subscriptions;
  const catchUp = new CatchUp({
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
  const workspaces = new SessionWorkspaces(fanOut.workspaces, workspaceReader, room);
  const liveCoverage = (assetId: string) => {
    const settled = interest(assetId)?.deliveredTo ?? '';
    const afterCursor = later(settled, fanOut.lastCursor);
    return { ...(afterCursor !== '' && { afterCursor }) };
  };
  const places = new SessionPlaces({
    watch: placeWatch,
    subscriptions,
    findAssets,
    follow,
    liveCoverage,
    started: (begun) =>
      reply({
        type: 'subscribed',
        started: begun.map(itemOf),
        subscriptions: [...subscriptions.acknowledged(), ...workspaces.acknowledged()],
        timestamp: formatInstant(now()),
      }),
    isFull: () => refuse(refusal('TOO_MANY_SUBSCRIPTIONS', { max: room.max }), undefined),
  });
  return { subscriptions, workspaces, places, catchUp, liveCoverage };
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
  parts: Pick<MessageContext, OpenParts | 'reply'>,
): MessageContext {
  const { authorize, findAssets, assetsOfTag, assetsOfPlace, followable } = options;
  const { access, placeWatch, outbox, now, follow } = options;
  return {
    ...parts,
    now,
    closed: () => outbox.closed,
    replyText: (text) => outbox.sendReply(text),
    authorize,
    findAssets,
    assetsOfTag,
    assetsOfPlace,
    followable,
    access,
    placeChanges: placeWatch,
    follow,
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

type IncomingMessage = { readonly text: string } | { readonly refused: LiveRefusal };

/**
 * Handles one message at a time, and none while the reader has not taken the answers. This
 * limits what is queued.
 */
class Incoming {
  readonly #outbox: Outbox;
  readonly #memory: SessionMemory;
  readonly #idle: () => void;
  readonly #refuse: (thrown: unknown, replyTo: undefined) => void;
  readonly #handleOne: (message: IncomingMessage) => Promise<void>;
  #waiting: IncomingMessage[] = [];
  #isWorking = false;
  #unhandledInBatch = 0;
  #bytes = 0;

  constructor(
    {
      outbox,
      memory,
      idle,
    }: {
      readonly outbox: Outbox;
      /** Counts unhandled messages. */
      readonly memory: SessionMemory;
      /** Every message is handled. */
      readonly idle: () => void;
    },
    refuse: (thrown: unknown, replyTo: undefined) => void,
    handleOne: (message: IncomingMessage) => Promise<void>,
  ) {
    this.#outbox = outbox;
    this.#memory = memory;
    this.#idle = idle;
    this.#refuse = refuse;
    this.#handleOne = handleOne;
  }

  get size(): number {
    return this.#waiting.length + this.#unhandledInBatch;
  }

  /** Of unhandled messages. */
  get bytes(): number {
    return this.#bytes;
  }

  add(message: IncomingMessage): void {
    if (this.#outbox.closed) return;
    if (this.#waiting.length >= liveLimits.waitingMessagesMax)
      return this.#refuse(refusal('TOO_MANY_MESSAGES'), undefined);
    this.#waiting.push(message);
    this.#count(sizeOf(message));
    if (!this.#isWorking) void this.#work();
  }

  clear(): void {
    this.#waiting = [];
  }

  #count(by: number): void {
    this.#bytes += by;
    this.#memory.change(by);
  }

  async #handleBatch(batch: readonly IncomingMessage[]): Promise<void> {
    for (const [at, message] of batch.entries()) {
      if (this.#outbox.closed) break;
      this.#unhandledInBatch = batch.length - at;
      await this.#handleOne(message);
      this.#count(-sizeOf(message));
      while (!this.#outbox.writable) await this.#outbox.whenWritable();
    }
    this.#unhandledInBatch = 0;
  }

  async #work(): Promise<void> {
    this.#isWorking = true;
    while (this.#waiting.length > 0 && !this.#outbox.closed) {
      const batch = this.#waiting;
      this.#waiting = [];
      await this.#handleBatch(batch);
    }
    this.#isWorking = false;
    this.#idle();
  }
}

function sizeOf(message: IncomingMessage): number {
  return 'text' in message ? message.text.length : 0;
}
