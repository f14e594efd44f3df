// Limits of one live session, what happens at each of them, and the memory that sessions share.
import { Problem } from '../../model/problem.ts';
import { quotaTable } from '../../model/quota.ts';
import { SharedPool } from '../../structures/shared-pool.ts';

export const liveLimits = {
  /**
   * Bytes of one message; larger ones are refused with MESSAGE_TOO_LARGE and the connection stays
   * open.
   */
  messageBytesMax: 4 * 1024 * 1024,
  /**
   * Bytes of one WebSocket message that are read at all; beyond it the connection ends with 1009.
   */
  frameBytesMax: 8 * 1024 * 1024,
  /**
   * Messages read but not handled yet; the edge stops reading long before, further ones are refused
   * with TOO_MANY_MESSAGES.
   */
  waitingMessagesMax: 20_000,
  /** From this many unhandled messages on, or bytes of them, the edge stops reading until they are handled. */
  waitingMessagesPause: 64,
  waitingBytesPause: 1024 * 1024,
  /** A message whose first bytes arrived this many ticks ago and whose last did not ends the connection with 1008. */
  partialTicksMax: 30,
  /** Messages read in one tick; a faster client is read slower. */
  messagesPerTickMax: 5_000,
  /**
   * Queued bytes from which on samples are not queued any more but read from the store when the
   * reader has caught up.
   */
  queuedBytesMax: 4 * 1024 * 1024,
  /** What was queued this many ticks ago must have left, or the reader is cut off. */
  slowTicksMax: 4,
  /**
   * A session that lives from the store for this many ticks without catching up is cut off as well.
   */
  behindTicksMax: 600,
  /** The edge ticks every session at this interval. */
  tickMs: 1_000,
  /** A cut or closing connection that does not answer the close frame ends hard after this time. */
  closeGraceMs: 1_500,
  /**
   * Replays and answers wait while more than this many bytes are queued, so they go as fast as the
   * reader.
   */
  replayQueueBytesMax: 64 * 1024,
  /**
   * Live samples kept while a replay runs; when more come the replay goes on from the store
   * instead.
   */
  heldSamplesMax: 1_000,
  heldBytesMax: 2 * 1024 * 1024,
  /** Bytes given to the socket in one write. */
  chunkBytesMax: 64 * 1024,
  /**
   * Bytes that all sessions keep: unsent frames of readers that are behind, samples kept while a
   * replay runs, unhandled messages and those that have arrived in part. From three quarters on, an
   * organization that holds these alone gets its samples from the store, as above. Beyond the limit
   * sessions of the organization that holds most are cut off, first those that changed least
   * recently.
   */
  sessionBytesMax: 256 * 1024 * 1024,
  /** Counted in blocks of so many bytes; less than one is not counted. */
  sessionBlockBytes: 16 * 1024,
  /** A session that must give way is told why, unless more than this waits in its socket before. */
  toldBehindBytesMax: 1024 * 1024,
} as const;

// The refusals of the live stream: one stable errorCode and one sentence each (interface 7, contract 35).

const refusals = {
  INVALID_JSON: (d: { reason: string }) => `Invalid JSON: ${d.reason}`,
  INVALID_MESSAGE: (d: { reason: string }) => `Invalid message: ${d.reason}`,
  UNKNOWN_TYPE: (d: { type: string }) => `Unknown message type ${d.type}`,
  BINARY_NOT_SUPPORTED: () => 'Binary messages are not supported; send JSON as text',
  MESSAGE_TOO_LARGE: (d: { bytesMax: number }) => `The message exceeds ${d.bytesMax} bytes`,
  TOO_MANY_MESSAGES: () => 'Too many pending messages; this message was ignored',
  NO_SUBSCRIPTIONS: () => 'subscriptions is required',
  NOTHING_TO_UNSUBSCRIBE: () =>
    'The list of subscriptions is empty; leave it out to end all subscriptions',
  INVALID_SUBSCRIPTION: (d: { reason: string }) => `${d.reason}; the message was not applied`,
  TOO_MANY_SUBSCRIPTIONS: (d: { max: number }) =>
    `Quota reached: ${d.max} ${quotaTable.subscriptionItems.what} per organization (limit subscriptionItems). The message was not applied.`,
  CURSOR_TOO_OLD: (d: { oldestCursor: string }) =>
    `The cursor has expired; the oldest available cursor is ${d.oldestCursor}. The subscription starts live.`,
  INTERNAL: () => 'Internal error',
} as const;

type LiveErrorCode = keyof typeof refusals;
type DetailsOf<C extends LiveErrorCode> = Parameters<(typeof refusals)[C]>;

/** A refused message; the session answers it and goes on. */
export class LiveRefusal extends Error {
  override readonly name = 'LiveRefusal';
  readonly errorCode: string;
  readonly oldestCursor: string | undefined;

  constructor(errorCode: string, message: string, oldestCursor?: string) {
    super(message);
    this.errorCode = errorCode;
    this.oldestCursor = oldestCursor;
  }
}

/** Makes the refusal of a row: `throw refusal('UNKNOWN_TYPE', { type })`. */
export function refusal<C extends LiveErrorCode>(code: C, ...args: DetailsOf<C>): LiveRefusal {
  const message = (refusals[code] as (details: unknown) => string)(args[0]);
  const details = args[0] as { oldestCursor?: string } | undefined;
  return new LiveRefusal(code, message, details?.oldestCursor);
}

/**
 * A refusal for whatever was thrown; undefined when it is our own mistake. Catalogue codes lose
 * their number: `INVALID_TOKEN`.
 */
export function refusalOf(thrown: unknown): LiveRefusal | undefined {
  if (thrown instanceof LiveRefusal) return thrown;
  if (thrown instanceof Problem)
    return new LiveRefusal(thrown.code.replace(/^\d+_/, ''), thrown.message);
  return undefined;
}

// Session memory: what sessions keep for readers and senders that are slow, in one pool with a share for each organization.

/** Of all sessions of a process. Beyond the limit, sessions of the organization that holds most are cut off. */
export class LiveMemory {
  readonly #pool: SharedPool<SessionMemory>;

  constructor(bytesMax: number = liveLimits.sessionBytesMax) {
    this.#pool = new SharedPool({ max: bytesMax, giveWay: (session) => session.giveWay() });
  }

  /** In blocks, so that sessions that keep little cost nothing. */
  get bytes(): number {
    return this.#pool.used;
  }

  /** `cut` ends the session because its memory must give way. It may be called by any change of another one. */
  open(organizationId: string, cut: () => void): SessionMemory {
    return new SessionMemory(this.#pool, organizationId, cut);
  }
}

/**
 * The bytes of one session. Frames that sessions share count for each, because none knows when the
 * last of the others has sent them.
 */
export class SessionMemory {
  readonly #pool: SharedPool<SessionMemory>;
  readonly #organizationId: string;
  readonly #cut: () => void;
  #bytes = 0;
  #blocks = 0;
  #isClosed = false;

  constructor(pool: SharedPool<SessionMemory>, organizationId: string, cut: () => void) {
    this.#pool = pool;
    this.#organizationId = organizationId;
    this.#cut = cut;
  }

  /** Whether the organization may keep more of what can also be read from the store later. */
  get hasRoom(): boolean {
    const organizationId = this.#organizationId;
    return this.#pool.hasRoomFor(organizationId) || this.#pool.hasShareLeft(organizationId);
  }

  /** The session keeps so many bytes more, or fewer. Cuts it off when it must give way itself. */
  change(by: number): void {
    if (this.#isClosed) return;
    this.#bytes += by;
    const blocks = Math.floor(this.#bytes / liveLimits.sessionBlockBytes);
    if (blocks === this.#blocks) return;
    this.#blocks = blocks;
    if (blocks === 0) this.#pool.release(this);
    else if (!this.#pool.hold(this.#organizationId, this, blocks * liveLimits.sessionBlockBytes))
      this.giveWay();
  }

  giveWay(): void {
    this.close();
    this.#cut();
  }

  close(): void {
    this.#isClosed = true;
    this.#pool.release(this);
  }
}
