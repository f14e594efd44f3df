// `subscribe`: opens the subscriptions that are allowed, acknowledges all that are open, then replays (interface 6, contract 30 and 35).
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type AcknowledgedItem,
  type ReplyTo,
  SubscribeMessage,
} from '../../contract/live-messages.ts';
import type { Principal } from '../../model/principal.ts';
import { acknowledge } from './acknowledgement.ts';
import { clientMessage, type MessageContext } from './client-message.ts';
import { refusal } from './live-refusal.ts';
import type { ReplayRequest } from './replay-pass.ts';
import type { WorkspaceTarget } from './session-workspaces.ts';
import { type SubscriptionTarget, targetsOf } from './subscription-target.ts';
import type { WorkspaceGrant } from './workspace-interest.ts';

/** Subscriptions that are opened in one turn of the event loop. */
const openedPerTurn = 1_000;
/** Combinations that are looked up in one turn. */
const lookedUpPerTurn = 5_000;

interface Allowed {
  readonly target: SubscriptionTarget;
  /** The assets of the target; undefined if it is unknown or forbidden. */
  readonly assetIds: readonly string[] | undefined;
}

export const subscribe = clientMessage(SubscribeMessage, async (message, replyTo, context) => {
  const { subscriptions } = context;
  const { targets, workspaces } = targetsOf(message.subscriptions ?? [], message.since);
  if (targets.length + workspaces.length === 0) throw refusal('NO_SUBSCRIPTIONS');
  if (workspaces.some(({ kinds }) => kinds.length === 0))
    throw refusal('INVALID_SUBSCRIPTION', { reason: 'kinds is required with workspaceId' });
  const changesBefore = context.access.changes();
  const principal = await context.authorize(message.accessToken || undefined);
  const allowed = await allowedTargets(targets, principal, context);
  const verdict = await judgeWorkspaces(workspaces, principal, context);
  if (context.closed()) return;
  const taken = await takeRoomForAll(allowed, verdict, context);
  openWorkspaces(verdict, principal, context);
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
});

/** Takes room for workspaces and devices, or for nothing. Returns that of the devices. */
async function takeRoomForAll(
  allowed: readonly Allowed[],
  verdict: WorkspaceVerdict,
  context: MessageContext,
): Promise<number> {
  const taken = takeWorkspaceRoom(verdict, context);
  try {
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
  { findAssets, assetsOfTag, closed }: MessageContext,
): Promise<Allowed[]> {
  const asked = new Set(targets.flatMap(({ assetId }) => assetId ?? []));
  const found = asked.size > 0 && (await findAssets(principal, [...asked], closed));
  const tagged = new Map<string, readonly string[] | undefined>();
  for (const { tagId } of targets) {
    if (tagId !== undefined && !tagged.has(tagId))
      tagged.set(tagId, await assetsOfTag(principal, tagId));
  }
  return targets.map((target) => {
    const { assetId, tagId = '' } = target;
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
  { tagId, topic, start }: SubscriptionTarget,
  context: MessageContext,
  grantedTo: Principal,
) {
  const coverage = start === undefined ? context.liveCoverage(assetId) : undefined;
  const subscription =
    context.subscriptions.find(assetId, topic) ??
    context.subscriptions.add({ id: assetId, topic }, coverage, grantedTo);
  if (tagId !== undefined) subscription.tagIds.add(tagId);
  return subscription;
}

function refusedItem({ assetId, tagId, topic }: SubscriptionTarget): AcknowledgedItem {
  return {
    ...(assetId !== undefined && { assetId }),
    ...(tagId !== undefined && { tagId }),
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
