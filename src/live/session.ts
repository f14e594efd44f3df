// One connection of the live stream without its socket: messages in, answered in their order; frames out through the outbox.
import type { ErrorMessage, ReplyTo, ServerMessage } from '../contract/live-messages.ts';
import { type EpochMs, formatInstant } from '../model/instant.ts';
import { isJsonObject } from '../model/json.ts';
import type { Principal } from '../model/principal.ts';
import type { QuotaCount } from '../model/quota-count.ts';
import { createCatchUp, type Replay } from './catch-up.ts';
import type { AccessChanges, AssetsOfTag, FindAssets, MessageContext } from './client-message.ts';
import { clientMessages } from './client-message-table.ts';
import type { FanOut, Reader } from './fan-out.ts';
import { liveLimits } from './live-limits.ts';
import { type LiveRefusal, refusal, refusalOf } from './live-refusal.ts';
import type { Outbox } from './outbox.ts';
import { createSubscriptions, itemOf } from './session-subscriptions.ts';

interface SessionOptions {
  /** Whose connection it is, and the count of open subscriptions of organizations (contract 36). */
  readonly organizationId: string;
  readonly items: QuotaCount;
  readonly fanOut: FanOut;
  readonly outbox: Outbox;
  readonly now: () => EpochMs;
  readonly newErrorId: () => string;
  /** Checks the token of a message, or again the credential of the connection. Throws a Problem. */
  readonly authorize: (accessToken: string | undefined) => Promise<Principal>;
  readonly findAssets: FindAssets;
  readonly assetsOfTag: AssetsOfTag;
  readonly access: AccessChanges;
  readonly replay: Replay;
  /** Ends the connection because samples that were owed cannot be sent. */
  readonly end: (reason: string) => void;
  /** Every message is handled: the edge may read on. */
  readonly idle: () => void;
  /** Our own mistake; the client gets INTERNAL with the same id. */
  readonly failed: (errorId: string, error: unknown) => void;
}

export interface Session {
  /** Greets; must come before anything else. */
  open(): void;
  receive(text: string): void;
  receiveBinary(): void;
  receiveTooLarge(): void;
  tick(): void;
  /** Cancels everything; the session sends no more. */
  close(): void;
  /** Messages that are not handled yet. */
  readonly waiting: number;
  readonly subscriptions: number;
}

type Incoming = { readonly text: string } | { readonly refused: LiveRefusal };

/** A session of an authenticated principal (interface 6 and 4.11). */
export function createSession(options: SessionOptions): Session {
  const { fanOut, outbox, now } = options;
  const reader: Reader = {
    outbox,
    hold: (sample, frame, interest) => catchUp.hold(sample, frame, interest),
    spill: () => catchUp.spill(),
    withdraw(ended) {
      const open = ended.filter((subscription) => subscription.open);
      for (const subscription of open) subscriptions.remove(subscription);
      if (open.length === 0) return;
      reply({
        type: 'unsubscribed',
        ended: open.map((subscription) => ({ ...itemOf(subscription), valid: false })),
        subscriptions: subscriptions.acknowledged(),
        timestamp: formatInstant(now()),
      });
    },
  };
  const subscriptions = createSubscriptions(fanOut, reader, {
    max: options.items.max,
    take: (amount) => options.items.take(options.organizationId, amount),
    give: (amount) => options.items.give(options.organizationId, amount),
  });
  const catchUp = createCatchUp({
    replay: options.replay,
    fanOut,
    outbox,
    now,
    interest: subscriptions.interest,
    interests: subscriptions.interests,
    refuse,
    end: options.end,
  });
  const context: MessageContext = {
    subscriptions,
    catchUp,
    now,
    closed: () => outbox.closed,
    reply,
    replyText: (text) => outbox.sendReply(text),
    authorize: options.authorize,
    findAssets: options.findAssets,
    assetsOfTag: options.assetsOfTag,
    access: options.access,
    liveCoverage(assetId) {
      const settled = subscriptions.interest(assetId)?.deliveredTo ?? '';
      const { lastCursor } = fanOut;
      if (lastCursor === undefined) return settled === '' ? {} : { afterCursor: settled };
      return { afterCursor: settled > lastCursor ? settled : lastCursor };
    },
  };
  let waiting: Incoming[] = [];
  let working = false;
  let unhandledInBatch = 0;

  function reply(message: ServerMessage): void {
    outbox.sendReply(JSON.stringify(message));
  }

  function refuse(thrown: unknown, replyTo: ReplyTo | undefined): void {
    const errorId = options.newErrorId();
    let known = refusalOf(thrown);
    if (known === undefined) {
      options.failed(errorId, thrown);
      known = refusal('INTERNAL');
    }
    const { errorCode, message, oldestCursor } = known;
    const error: ErrorMessage = {
      type: 'error',
      ...(replyTo !== undefined && { replyTo }),
      errorCode,
      errorId,
      message,
      ...(oldestCursor !== undefined && { oldestCursor }),
      timestamp: formatInstant(now()),
    };
    reply(error);
  }

  function take(incoming: Incoming): void {
    if (outbox.closed) return;
    if (waiting.length >= liveLimits.waitingMessagesMax)
      return refuse(refusal('TOO_MANY_MESSAGES'), undefined);
    waiting.push(incoming);
    if (!working) void work();
  }

  // One message after the other, and none while the reader has not taken the answers: this bounds what is queued.
  async function work(): Promise<void> {
    working = true;
    while (waiting.length > 0 && !outbox.closed) {
      const batch = waiting;
      waiting = [];
      for (let at = 0; at < batch.length && !outbox.closed; at++) {
        unhandledInBatch = batch.length - at;
        await handle(batch[at]!);
        while (!outbox.writable) await outbox.whenWritable();
      }
      unhandledInBatch = 0;
    }
    working = false;
    options.idle();
  }

  async function handle(incoming: Incoming): Promise<void> {
    let replyTo: ReplyTo | undefined;
    try {
      if ('refused' in incoming) throw incoming.refused;
      const message = parsed(incoming.text);
      replyTo = replyToOf(message.id);
      const type = String(message.type).slice(0, 100);
      if (!Object.hasOwn(clientMessages, type)) throw refusal('UNKNOWN_TYPE', { type });
      await clientMessages[type]!.receive(message, replyTo, context);
    } catch (thrown) {
      refuse(thrown, replyTo);
    }
  }

  return {
    open: () => reply({ type: 'connected', message: 'Connected', timestamp: formatInstant(now()) }),
    receive: (text) => take({ text }),
    receiveBinary: () => take({ refused: refusal('BINARY_NOT_SUPPORTED') }),
    receiveTooLarge: () =>
      take({ refused: refusal('MESSAGE_TOO_LARGE', { bytesMax: liveLimits.messageBytesMax }) }),
    tick() {
      outbox.tick();
      catchUp.tick();
    },
    close() {
      outbox.close();
      waiting = [];
      subscriptions.clear();
    },
    get waiting() {
      return waiting.length + unhandledInBatch;
    },
    get subscriptions() {
      return subscriptions.size;
    },
  };
}

function parsed(text: string): { readonly id?: unknown; readonly type?: unknown } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw refusal('INVALID_JSON', { reason: (error as Error).message.slice(0, 200) });
  }
  if (!isJsonObject(value))
    throw refusal('INVALID_MESSAGE', { reason: 'it must be an object with a type' });
  return value;
}

function replyToOf(id: unknown): ReplyTo | undefined {
  return (typeof id === 'string' && id.length <= 1_000) || typeof id === 'number' ? id : undefined;
}
