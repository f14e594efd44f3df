// API schemas of the live stream: every message in both directions (interface 6, contract 30, 35).
import Type, { type Static } from 'typebox';
import { type LiveKind, liveKinds } from '../model/live-kind.ts';
import { outsideNameMax } from '../model/ids.ts';

const orNull = <T extends Type.TSchema>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]));

/** Strings and numbers are echoed in `replyTo` with the same JSON type. */
const MessageId = Type.Union([Type.String({ maxLength: 1_000 }), Type.Number()]);

/** A cursor of an earlier `sample_insert`, or an ISO-8601 time of storing. */
const Since = Type.String({ minLength: 1, maxLength: 200 });

/** `false`: the answer contains the number of open subscriptions instead of all of them. */
const Echo = Type.Boolean();

export const SubscriptionItem = Type.Object({
  /** Service ID of the device; exactly one of `assetId`, `tagId`, `placeId` and `workspaceId` is set. */
  assetId: orNull(Type.String({ maxLength: outsideNameMax })),
  tagId: orNull(Type.String({ maxLength: outsideNameMax })),
  /** The devices at the place and below it, also those that move there later. */
  placeId: orNull(Type.String({ maxLength: outsideNameMax })),
  /** What happens in a workspace, of these kinds; `unsubscribe` without kinds means all. */
  workspaceId: orNull(Type.String({ maxLength: outsideNameMax })),
  kinds: orNull(Type.Array(Type.Union(liveKinds.map((kind) => Type.Literal(kind))))),
  /** Samples per second; further ones are omitted and counted. */
  perSecond: orNull(Type.Integer({ minimum: 1, maximum: 10_000 })),
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
  echo: orNull(Echo),
});
export type SubscribeMessage = Static<typeof SubscribeMessage>;

export const UnsubscribeMessage = Type.Object({
  type: Type.Literal('unsubscribe'),
  id: orNull(MessageId),
  /** Absent or empty cancels all subscriptions. */
  subscriptions: orNull(Type.Array(SubscriptionItem)),
  echo: orNull(Echo),
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
  readonly placeId?: string;
  readonly workspaceId?: string;
  readonly kinds?: readonly LiveKind[];
  readonly perSecond?: number;
  readonly topic?: string;
  readonly valid: boolean;
  /** Why a workspace or a kind is not valid. */
  readonly reason?: string;
}

interface ConnectedMessage {
  readonly type: 'connected';
  readonly message: string;
  readonly timestamp: string;
}

/** `subscriptions` are all that are open, sorted by `assetId`; with `echo: false` the refused ones. */
export interface AcknowledgementMessage {
  readonly type: 'subscribed' | 'unsubscribed';
  readonly replyTo?: ReplyTo;
  readonly subscriptions: readonly AcknowledgedItem[];
  /**
   * With `unsubscribed` that no message asked for: the device was deleted, or moved out of reach or out of
   * a place.
   */
  readonly ended?: readonly AcknowledgedItem[];
  /** With `subscribed` that no message asked for: devices that moved into a place. */
  readonly started?: readonly AcknowledgedItem[];
  /** With `echo: false`: the number of open subscriptions. */
  readonly open?: number;
  readonly timestamp: string;
}

interface SampleInsertMessage {
  readonly type: 'sample_insert';
  /** Place in the order of storing, for `since`. */
  readonly cursor: string;
  readonly sample: {
    /** Service ID of the device. */
    readonly deviceId: string;
    readonly topic: string;
    readonly timestamp: string;
    readonly data: object;
  };
  readonly timestamp: string;
}

/** What happened in a workspace; the other members depend on the kind (contract 37). */
interface EventMessage {
  readonly type: 'event';
  readonly kind: LiveKind;
  readonly workspaceId: string;
  readonly timestamp: string;
  /** Events of the kind that were not sent since the last message of this form. */
  readonly leftOut?: number;
  readonly [member: string]: unknown;
}

interface PongMessage {
  readonly type: 'pong';
  readonly replyTo?: ReplyTo;
  readonly timestamp: string;
}

interface ErrorMessage {
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
  | EventMessage
  | PongMessage
  | ErrorMessage;
