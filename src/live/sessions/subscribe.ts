// `subscribe`, `unsubscribe` and `ping`: opens the subscriptions that are allowed, and acknowledges what is open (interface 6, contract 30 and 35).
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Static, TSchema } from 'typebox';
import {
  type AcknowledgedItem,
  type AcknowledgementMessage,
  PingMessage,
  type ReplyTo,
  type ServerMessage,
  SubscribeMessage,
  type SubscriptionItem,
  UnsubscribeMessage,
} from '../../contract/live-messages.ts';
import { readCursor } from '../../model/journal-entry.ts';
import { type EpochMs, formatInstant, parseInstant } from '../../model/instant.ts';
import type { Principal } from '../../model/principal.ts';
import { defaultTopic } from '../../model/sample.ts';
import { refusal } from './live-limits.ts';
import type { ReplayRequest } from './replay-pass.ts';
import {
  inTableOrder,
  type SessionSubscriptions,
  type SessionWorkspaces,
  type WorkspaceTarget,
} from './session-subscriptions.ts';
import { type Coverage, readPlaceText, type ReplayStart } from './stream-position.ts';
import type { WorkspaceGrant } from './workspace-fan-out.ts';
import { compileSchema } from '../../structures/schema-compiler.ts';
import type { CatchUp } from './catch-up.ts';
import type {
  AccessChanges,
  AssetsOfPlace,
  AssetsOfTag,
  FindAssets,
  Followable,
  FollowDevices,
} from './session-access.ts';
import type { PlaceWatch, SessionPlaces } from './place-watch.ts';

// Acknowledgements: what is open after a message, as a list or as a number (interface 6, contract 37).

/** Items of an acknowledgement that are written in one turn. */
const acknowledgedPerTurn = 5_000;

/** Answers with the open subscriptions and the refused items; long lists take several turns. */
async function acknowledge(
  type: AcknowledgementMessage['type'],
  {
    replyTo,
    echo,
    context,
    refused = [],
    refusedWorkspaces = [],
  }: {
    readonly replyTo: ReplyTo | undefined;
    /** Whether the answer contains all that is open, and not only its number. */
    readonly echo: boolean;
    readonly context: MessageContext;
    readonly refused?: readonly AcknowledgedItem[];
    /** Refused workspaces, which are last. */
    readonly refusedWorkspaces?: readonly AcknowledgedItem[];
  },
): Promise<void> {
  const { subscriptions, workspaces, reply, now } = context;
  const to = replyTo !== undefined && { replyTo };
  if (!echo) {
    const items = [...refused, ...refusedWorkspaces];
    const open = subscriptions.size + workspaces.size;
    reply({ type, ...to, subscriptions: items, open, timestamp: formatInstant(now()) });
    return;
  }
  const ofDevices = subscriptions.acknowledged(refused);
  const ofWorkspaces = [...workspaces.acknowledged(), ...refusedWorkspaces];
  const items = ofWorkspaces.length === 0 ? ofDevices : [...ofDevices, ...ofWorkspaces];
  if (items.length > acknowledgedPerTurn)
    context.replyText(await longAcknowledgement(type, items, replyTo, now()));
  else reply({ type, ...to, subscriptions: items, timestamp: formatInstant(now()) });
}

/** The message, written over several turns of the event loop. */
async function longAcknowledgement(
  type: AcknowledgementMessage['type'],
  items: readonly AcknowledgedItem[],
  replyTo: ReplyTo | undefined,
  now: EpochMs,
): Promise<string> {
  const parts: string[] = [];
  for (let from = 0; from < items.length; from += acknowledgedPerTurn) {
    await nextTurn();
    parts.push(JSON.stringify(items.slice(from, from + acknowledgedPerTurn)).slice(1, -1));
  }
  const to = replyTo === undefined ? '' : `"replyTo":${JSON.stringify(replyTo)},`;
  return `{"type":"${type}",${to}"subscriptions":[${parts.join(',')}],"timestamp":"${formatInstant(now)}"}`;
}

// `ping`: the keep-alive of clients that cannot send WebSocket-level pings (interface 6).

export const ping = clientMessage(PingMessage, (_message, replyTo, { reply, now }) =>
  reply({
    type: 'pong',
    ...(replyTo !== undefined && { replyTo }),
    timestamp: formatInstant(now()),
  }),
);

export const unsubscribe = clientMessage(UnsubscribeMessage, (message, replyTo, context) => {
  const { subscriptions, workspaces: followed } = context;
  // A list that a program made empty by mistake must not end everything.
  if (message.subscriptions?.length === 0) throw refusal('NOTHING_TO_UNSUBSCRIBE');
  const { targets, workspaces } = targetsOf(message.subscriptions ?? []);
  if (targets.length + workspaces.length === 0) {
    subscriptions.clear();
    followed.clear();
    context.places.clear();
  }
  for (const target of targets) removeTarget(target, context);
  for (const target of workspaces) followed.closeTarget(target);
  return acknowledge('unsubscribed', { replyTo, echo: message.echo ?? true, context });
});

/** A tag means what was subscribed by it: later tag changes are not applied (rule 6). */
function removeTarget(
  { assetId, tagId, placeId, topic }: SubscriptionTarget,
  { subscriptions, places }: MessageContext,
): void {
  if (placeId !== undefined) return places.close(placeId, topic);
  const found =
    assetId === undefined
      ? subscriptions.ofTag(tagId!, topic)
      : [subscriptions.find(assetId, topic)];
  for (const subscription of found)
    if (subscription !== undefined) subscriptions.remove(subscription);
}

/** Subscriptions that are opened in one turn of the event loop. */
const openedPerTurn = 1_000;
/** Combinations that are looked up in one turn. */
const lookedUpPerTurn = 5_000;

interface Allowed {
  readonly target: SubscriptionTarget;
  /** The assets of the target; undefined if it is unknown or forbidden. */
  readonly assetIds: readonly string[] | undefined;
  /** Of a place. */
  readonly workspaceId?: string | undefined;
}

export const subscribe = clientMessage(SubscribeMessage, async (message, replyTo, context) => {
  const { subscriptions } = context;
  const { targets, workspaces } = targetsOf(message.subscriptions ?? [], message.since);
  if (targets.length + workspaces.length === 0) throw refusal('NO_SUBSCRIPTIONS');
  if (workspaces.some(({ kinds }) => kinds.length === 0))
    throw refusal('INVALID_SUBSCRIPTION', { reason: 'kinds is required with workspaceId' });
  const changesBefore = context.access.changes();
  const movesBefore = context.placeChanges.changes();
  const principal = await context.authorize(message.accessToken || undefined);
  const allowed = await allowedTargets(targets, principal, context);
  const verdict = await judgeWorkspaces(workspaces, principal, context);
  if (context.closed()) return;
  const taken = await takeRoomForAll(allowed, verdict, context);
  openWorkspaces(verdict, principal, context);
  openPlaces(allowed, principal, context);
  const sizeBefore = subscriptions.opened;
  let requests: readonly ReplayRequest[] | undefined;
  let followed: (() => void) | undefined;
  try {
    followed = await context.follow?.(allowed.flatMap(({ assetIds }) => assetIds ?? []));
    requests = await openAll(allowed, replyTo, context, principal);
  } finally {
    followed?.();
    subscriptions.room.give(taken - (subscriptions.opened - sizeBefore));
  }
  if (requests === undefined) return;
  const refused = allowed
    .filter(({ assetIds }) => assetIds === undefined)
    .map(({ target }) => refusedItem(target));
  const echo = message.echo ?? true;
  const { refused: refusedWorkspaces } = verdict;
  await acknowledge('subscribed', { replyTo, echo, context, refused, refusedWorkspaces });
  if (requests.length > 0) context.catchUp.request(requests);
  // A device may have moved between the check and here.
  if (context.access.changes() !== changesBefore) {
    context.access.check(allowed.flatMap(({ assetIds }) => assetIds ?? []));
  }
  if (context.placeChanges.changes() !== movesBefore)
    context.placeChanges.check(targets.flatMap(({ placeId }) => placeId ?? []));
});

/** Takes room for workspaces, places and devices, or for nothing. Returns that of the devices. */
async function takeRoomForAll(
  allowed: readonly Allowed[],
  verdict: WorkspaceVerdict,
  context: MessageContext,
): Promise<number> {
  let taken = takeWorkspaceRoom(verdict, context);
  try {
    taken += takePlaceRoom(allowed, context);
    return await takeRoom(allowed, context);
  } catch (error) {
    context.subscriptions.room.give(taken);
    throw error;
  }
}

/** Opens what is allowed. Undefined if the session ended in the meantime. */
async function openAll(
  allowed: readonly Allowed[],
  replyTo: ReplyTo | undefined,
  context: MessageContext,
  principal: Principal,
): Promise<readonly ReplayRequest[] | undefined> {
  const requests: ReplayRequest[] = [];
  let handled = 0;
  for (const { target, assetIds } of allowed) {
    for (const assetId of assetIds ?? []) {
      if (context.closed()) return undefined;
      const subscription = opened(assetId, target, context, principal);
      if (target.start !== undefined) requests.push({ subscription, start: target.start, replyTo });
      // A tag can have many devices. Samples of the first ones may be sent before all are
      // acknowledged.
      if (++handled % openedPerTurn === 0) await nextTurn();
    }
  }
  if (context.closed()) return undefined;
  return requests;
}

async function allowedTargets(
  targets: readonly SubscriptionTarget[],
  principal: Principal,
  { findAssets, assetsOfTag, assetsOfPlace, closed }: MessageContext,
): Promise<Allowed[]> {
  const asked = new Set(targets.flatMap(({ assetId }) => assetId ?? []));
  const found = asked.size > 0 && (await findAssets(principal, [...asked], closed));
  const tagged = new Map<string, readonly string[] | undefined>();
  for (const { tagId } of targets) {
    if (tagId !== undefined && !tagged.has(tagId))
      tagged.set(tagId, await assetsOfTag(principal, tagId));
  }
  const placed = new Map<string, Awaited<ReturnType<typeof assetsOfPlace>>>();
  for (const { placeId } of targets) {
    if (placeId !== undefined && !placed.has(placeId))
      placed.set(placeId, await assetsOfPlace(principal, placeId));
  }
  return targets.map((target) => {
    const { assetId, tagId = '', placeId } = target;
    if (placeId !== undefined) return { target, assetIds: undefined, ...placed.get(placeId) };
    if (assetId === undefined) return { target, assetIds: tagged.get(tagId) };
    const isFound = found !== false && found.has(assetId);
    return { target, assetIds: isFound ? [assetId] : undefined };
  });
}

/** Takes room for all that may be opened, and returns how much. Throws if there is not enough. */
async function takeRoom(
  allowed: readonly Allowed[],
  { subscriptions }: MessageContext,
): Promise<number> {
  const { room } = subscriptions;
  const asked = allowed.reduce((sum, { assetIds }) => sum + (assetIds?.length ?? 0), 0);
  // Counting what is new is needed only near the limit.
  if (room.take(asked)) return asked;
  const fresh = new Set<string>();
  let looked = 0;
  for (const { target, assetIds } of allowed) {
    const topic = JSON.stringify(target.topic ?? null);
    for (const assetId of assetIds ?? []) {
      if (subscriptions.find(assetId, target.topic) === undefined) fresh.add(topic + assetId);
      if (++looked % lookedUpPerTurn === 0) await nextTurn();
    }
  }
  if (!room.take(fresh.size)) throw refusal('TOO_MANY_SUBSCRIPTIONS', { max: room.max });
  return fresh.size;
}

// Before its replay, a subscription covers nothing: the replay does, and the device is held until
// it ends.
function opened(
  assetId: string,
  { assetId: ownId, tagId, placeId, topic, start }: SubscriptionTarget,
  context: MessageContext,
  grantedTo: Principal,
) {
  const coverage = start === undefined ? context.liveCoverage(assetId) : undefined;
  const subscription =
    context.subscriptions.find(assetId, topic) ??
    context.subscriptions.add({ id: assetId, topic }, coverage, grantedTo);
  if (ownId !== undefined) subscription.isOwn = true;
  if (tagId !== undefined) subscription.tagIds.add(tagId);
  if (placeId !== undefined) subscription.placeIds.add(placeId);
  return subscription;
}

/** Each followed place takes room too, also one without devices. Throws if there is not enough. */
function takePlaceRoom(
  allowed: readonly Allowed[],
  { places, subscriptions: { room } }: MessageContext,
): number {
  const fresh = new Set<string>();
  for (const { target, assetIds } of allowed)
    if (target.placeId !== undefined && assetIds !== undefined)
      if (!places.has(target.placeId, target.topic))
        fresh.add(`${target.placeId} ${target.topic ?? '*'}`);
  if (room.take(fresh.size)) return fresh.size;
  throw refusal('TOO_MANY_SUBSCRIPTIONS', { max: room.max });
}

/** Follows the places that are allowed, with room that was taken. */
function openPlaces(
  allowed: readonly Allowed[],
  principal: Principal,
  { places }: MessageContext,
): void {
  for (const { target, workspaceId } of allowed)
    if (target.placeId !== undefined && workspaceId !== undefined)
      places.open(target.placeId, workspaceId, { topic: target.topic, grantedTo: principal });
}

function refusedItem({ assetId, tagId, placeId, topic }: SubscriptionTarget): AcknowledgedItem {
  return {
    ...(assetId !== undefined && { assetId }),
    ...(tagId !== undefined && { tagId }),
    ...(placeId !== undefined && { placeId }),
    ...(topic !== undefined && { topic }),
    valid: false,
  };
}

// Subscriptions to workspaces: opens the kinds that are permitted, and refuses the others (contract 37).

interface Permitted {
  readonly target: WorkspaceTarget;
  readonly grant: WorkspaceGrant;
}

interface WorkspaceVerdict {
  readonly permitted: readonly Permitted[];
  /** Unknown or forbidden workspaces and kinds, as the acknowledgement shows them. */
  readonly refused: readonly AcknowledgedItem[];
}

/** What the principal may follow. A permitted and a forbidden kind of one item are two items. */
async function judgeWorkspaces(
  targets: readonly WorkspaceTarget[],
  principal: Principal,
  { followable }: MessageContext,
): Promise<WorkspaceVerdict> {
  const permitted: Permitted[] = [];
  const refused: AcknowledgedItem[] = [];
  const grants = new Map<string, WorkspaceGrant | undefined>();
  for (const { workspaceId } of targets)
    if (!grants.has(workspaceId)) grants.set(workspaceId, await followable(principal, workspaceId));
  for (const target of targets) {
    const { workspaceId, perSecond } = target;
    const grant = grants.get(workspaceId);
    const kinds = target.kinds.filter((kind) => grant?.kinds.has(kind));
    const others = target.kinds.filter((kind) => grant?.kinds.has(kind) !== true);
    if (grant !== undefined && kinds.length > 0)
      permitted.push({ target: { workspaceId, kinds, perSecond }, grant });
    if (others.length === 0) continue;
    const reason =
      grant === undefined
        ? 'The workspace is unknown or out of reach of the credential'
        : `The credential lacks the permission for ${others.join(', ')}`;
    refused.push({ workspaceId, kinds: others, valid: false, reason });
  }
  return { permitted, refused };
}

/** Takes room for those that are not open. Throws if there is not enough. */
function takeWorkspaceRoom(
  { permitted }: WorkspaceVerdict,
  { workspaces, subscriptions: { room } }: MessageContext,
): number {
  const fresh = permitted.filter(({ target }) => workspaces.find(target) === undefined);
  const keys = new Set(fresh.map(({ target }) => `${target.workspaceId} ${target.kinds.join()}`));
  if (!room.take(keys.size)) throw refusal('TOO_MANY_SUBSCRIPTIONS', { max: room.max });
  return keys.size;
}

/** Opens all, with room that was taken. */
function openWorkspaces(
  { permitted }: WorkspaceVerdict,
  principal: Principal,
  { workspaces }: MessageContext,
): void {
  for (const { target, grant } of permitted) workspaces.open(target, grant, principal);
}

// Subscription target: an asset, a tag, a place or a workspace, and where its replay begins (interface 6, contract 35, 37).

/** Exactly one of `assetId`, `tagId` and `placeId` is set. */
interface SubscriptionTarget {
  readonly assetId: string | undefined;
  readonly tagId: string | undefined;
  readonly placeId: string | undefined;
  /** Undefined means all topics. */
  readonly topic: string | undefined;
  readonly start: ReplayStart | undefined;
}

/**
 * Reads the items of one message. An item without exactly one of `assetId`, `tagId`, `placeId` and
 * `workspaceId`, and a `since` that is neither a cursor nor a time, refuse the whole message. A
 * workspace has no replay: the `since` of the message is for the other items.
 */
function targetsOf(
  items: readonly SubscriptionItem[],
  sinceOfMessage?: string | null,
): {
  readonly targets: readonly SubscriptionTarget[];
  readonly workspaces: readonly WorkspaceTarget[];
} {
  const startOfMessage = startOf(sinceOfMessage ?? undefined, 'The message');
  const targets: SubscriptionTarget[] = [];
  const workspaces: WorkspaceTarget[] = [];
  for (const [index, item] of items.entries()) {
    const what = `Subscription ${index}`;
    const { assetId, tagId, placeId, workspaceId } = item;
    if ([assetId, tagId, placeId, workspaceId].filter(Boolean).length !== 1) {
      throw refusal('INVALID_SUBSCRIPTION', {
        reason: `${what} must set exactly one of assetId, tagId, placeId, and workspaceId`,
      });
    }
    if (workspaceId) workspaces.push(workspaceTargetOf(item, workspaceId, what));
    else targets.push(targetOf(item, what, startOfMessage));
  }
  return { targets, workspaces };
}

function targetOf(
  item: SubscriptionItem,
  what: string,
  startOfMessage: ReplayStart | undefined,
): SubscriptionTarget {
  if (item.kinds || item.perSecond)
    throw refusal('INVALID_SUBSCRIPTION', {
      reason: `${what}: kinds and perSecond require workspaceId`,
    });
  return {
    assetId: item.assetId || undefined,
    tagId: item.tagId || undefined,
    placeId: item.placeId || undefined,
    topic: item.topic === '*' ? undefined : item.topic || defaultTopic,
    start: startOf(item.since ?? undefined, what) ?? startOfMessage,
  };
}

function workspaceTargetOf(
  { topic, since, kinds, perSecond }: SubscriptionItem,
  workspaceId: string,
  what: string,
): WorkspaceTarget {
  if (topic || since)
    throw refusal('INVALID_SUBSCRIPTION', {
      reason: `${what}: topic and since cannot be used with workspaceId`,
    });
  return { workspaceId, kinds: inTableOrder(kinds ?? []), perSecond: perSecond ?? undefined };
}

function startOf(since: string | undefined, what: string): ReplayStart | undefined {
  if (since === undefined) return undefined;
  if (readCursor(since) !== undefined) return { cursor: since };
  const place = readPlaceText(since);
  if (place !== undefined) return { cursor: place };
  const storedSince = parseInstant(since);
  if (storedSince !== undefined) return { storedSince };
  throw refusal('INVALID_SUBSCRIPTION', {
    reason: `${what}: since must be a cursor or an ISO-8601 date-time`,
  });
}

// The shape of a client message type, and what a handler sees of the session.

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
function clientMessage<S extends TSchema>(
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
