// API schemas of the live stream: every message in both directions (interface 6, contract 30, 35).
import Type, { type Static } from 'typebox';

const orNull = <T extends Type.TSchema>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]));

/** Strings and numbers are echoed in `replyTo` with the same JSON type. */
const MessageId = Type.Union([Type.String({ maxLength: 1_000 }), Type.Number()]);

/** A cursor of an earlier `sample_insert`, or an ISO-8601 time of storing. */
const Since = Type.String({ minLength: 1, maxLength: 200 });

export const SubscriptionItem = Type.Object({
  /** Service device id; exactly one of `assetId` and `tagId` is set. */
  assetId: orNull(Type.String()),
  tagId: orNull(Type.String()),
  /** `default` when absent, `*` for all topics. */
  topic: orNull(Type.String({ maxLength: 256 })),
  since: orNull(Since),
});
export type SubscriptionItem = Static<typeof SubscriptionItem>;

export const SubscribeMessage = Type.Object({
  type: Type.Literal('subscribe'),
  id: orNull(MessageId),
  subscriptions: orNull(Type.Array(SubscriptionItem)),
  /** A JWT that is used for this message instead of the connection's credential. */
  accessToken: orNull(Type.String({ maxLength: 16_384 })),
  /** Applies to the items that have no `since` of their own. */
  since: orNull(Since),
});
export type SubscribeMessage = Static<typeof SubscribeMessage>;

export const UnsubscribeMessage = Type.Object({
  type: Type.Literal('unsubscribe'),
  id: orNull(MessageId),
  /** Absent or empty cancels all subscriptions. */
  subscriptions: orNull(Type.Array(SubscriptionItem)),
});
export type UnsubscribeMessage = Static<typeof UnsubscribeMessage>;

export const PingMessage = Type.Object({ type: Type.Literal('ping'), id: orNull(MessageId) });
export type PingMessage = Static<typeof PingMessage>;

export type ReplyTo = string | number;

/**
 * An item of an acknowledgement: no `topic` means all topics. `valid: false` items are unknown or
 * forbidden and not subscribed.
 */
export interface AcknowledgedItem {
  readonly assetId?: string;
  readonly tagId?: string;
  readonly topic?: string;
  readonly valid: boolean;
}

export interface ConnectedMessage {
  readonly type: 'connected';
  readonly message: string;
  readonly timestamp: string;
}

/** `subscriptions` are all that are open, sorted by `assetId`. */
export interface AcknowledgementMessage {
  readonly type: 'subscribed' | 'unsubscribed';
  readonly replyTo?: ReplyTo;
  readonly subscriptions: readonly AcknowledgedItem[];
  /**
   * With `unsubscribed` that no message asked for: the device was deleted or moved out of reach.
   */
  readonly ended?: readonly AcknowledgedItem[];
  readonly timestamp: string;
}

export interface SampleInsertMessage {
  readonly type: 'sample_insert';
  /** Place in the order of storing, for `since`. */
  readonly cursor: string;
  readonly sample: {
    /** Service device id. */
    readonly deviceId: string;
    readonly topic: string;
    readonly timestamp: string;
    readonly data: object;
  };
  readonly timestamp: string;
}

export interface PongMessage {
  readonly type: 'pong';
  readonly replyTo?: ReplyTo;
  readonly timestamp: string;
}

export interface ErrorMessage {
  readonly type: 'error';
  readonly replyTo?: ReplyTo;
  readonly errorCode: string;
  readonly errorId: string;
  readonly message: string;
  /** With `CURSOR_TOO_OLD`: the oldest cursor from which samples can still be sent. */
  readonly oldestCursor?: string;
  readonly timestamp: string;
}

export type ServerMessage =
  | ConnectedMessage
  | AcknowledgementMessage
  | SampleInsertMessage
  | PongMessage
  | ErrorMessage;
