// The refusals of the live stream: one stable errorCode and one sentence each (interface 7, contract 35).
import { Problem } from '../../model/problem.ts';
import { quotaTable } from '../../model/quota.ts';

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
