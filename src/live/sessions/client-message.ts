// The shape of a client message type, and what a handler sees of the session.
import type { Static, TSchema } from 'typebox';
import type { ReplyTo, ServerMessage } from '../../contract/live-messages.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { Principal } from '../../model/principal.ts';
import { compileSchema } from '../../structures/schema-compiler.ts';
import type { CatchUp } from './catch-up.ts';
import { refusal } from './live-limits.ts';
import type { SessionSubscriptions, SessionWorkspaces } from './session-subscriptions.ts';
import type {
  AccessChanges,
  AssetsOfPlace,
  AssetsOfTag,
  FindAssets,
  Followable,
  FollowDevices,
} from './session-access.ts';
import type { PlaceWatch, SessionPlaces } from './place-watch.ts';
import type { Coverage } from './stream-position.ts';

export interface MessageContext {
  readonly subscriptions: SessionSubscriptions;
  readonly workspaces: SessionWorkspaces;
  readonly places: SessionPlaces;
  readonly catchUp: CatchUp;
  readonly now: () => EpochMs;
  readonly closed: () => boolean;
  readonly reply: (message: ServerMessage) => void;
  /** The same for a message that is a text already. */
  readonly replyText: (text: string) => void;
  /**
   * Who asks: by the token of the message, else by the credential of the connection, checked again.
   * Throws a Problem.
   */
  readonly authorize: (accessToken: string | undefined) => Promise<Principal>;
  /** Those of the devices that exist and may be read. */
  readonly findAssets: FindAssets;
  readonly assetsOfTag: AssetsOfTag;
  readonly assetsOfPlace: AssetsOfPlace;
  readonly followable: Followable;
  readonly access: AccessChanges;
  readonly placeChanges: PlaceWatch;
  readonly follow?: FollowDevices | undefined;
  /** What a subscription that begins now covers. */
  readonly liveCoverage: (assetId: string) => Coverage;
}

export interface ClientMessageType {
  /** Checks the message against its schema and handles it; throws LiveRefusal. */
  receive(
    message: unknown,
    replyTo: ReplyTo | undefined,
    context: MessageContext,
  ): void | Promise<void>;
}

/** A row of the table of client messages. */
export function clientMessage<S extends TSchema>(
  schema: S,
  handle: (
    message: Static<S>,
    replyTo: ReplyTo | undefined,
    context: MessageContext,
  ) => void | Promise<void>,
): ClientMessageType {
  let validator: ReturnType<typeof compileSchema<S>> | undefined;
  return {
    receive(message, replyTo, context) {
      validator ??= compileSchema(schema);
      if (validator.Check(message)) return handle(message, replyTo, context);
      const [error] = validator.Errors(message);
      const place = error?.instancePath || '/';
      throw refusal('INVALID_MESSAGE', { reason: `${place} ${error?.message}` });
    },
  };
}
