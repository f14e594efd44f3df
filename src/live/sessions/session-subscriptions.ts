// The open subscriptions of one session: asset and topic, or workspace and what of it is followed, each combination once (interface 6 rules 1 to 4).
import type { AcknowledgedItem } from '../../contract/live-messages.ts';
import { type LiveKind, liveKinds } from '../../model/live-kind.ts';
import type { Principal } from '../../model/principal.ts';
import type { FanOut, Interest, Reader, Subscription } from './fan-out.ts';
import type { Coverage } from './stream-position.ts';
import type {
  WorkspaceFanOut,
  WorkspaceGrant,
  WorkspaceInterest,
  WorkspaceReader,
  WorkspaceSubscription,
} from './workspace-fan-out.ts';

/** Open subscriptions that the organization may still have, on all its connections together. */
export interface SubscriptionRoom {
  readonly max: number;
  /** False if the room is not sufficient; then nothing is taken. */
  readonly take: (amount: number) => boolean;
  readonly give: (amount: number) => void;
}

export interface SessionSubscriptions {
  readonly room: SubscriptionRoom;
  find(assetId: string, topic: string | undefined): Subscription | undefined;
  /**
   * Opens a combination that is not open, with room that was taken. Closing it returns the room.
   */
  add(
    asset: { readonly id: string; readonly topic: string | undefined },
    coverage: Coverage | undefined,
    grantedTo: Principal,
  ): Subscription;
  remove(subscription: Subscription): void;
  /** Closes all, the first of them immediately. Add nothing afterwards. */
  clear(): void;
  interest(assetId: string): Interest | undefined;
  interests(): IterableIterator<Interest>;
  /** The open subscriptions that were made by the tag, with this topic. */
  ofTag(tagId: string, topic: string | undefined): Subscription[];
  /**
   * The open subscriptions and the refused items, sorted by asset id, then topic. Items of tags are
   * last.
   */
  acknowledged(refused?: readonly AcknowledgedItem[]): AcknowledgedItem[];
  readonly size: number;
  /** Subscriptions that were opened since the start of the session. */
  readonly opened: number;
}

/** Subscriptions that are closed in one turn of the event loop. */
const removedPerTurn = 2_000;

export function createSubscriptions(
  fanOut: FanOut,
  reader: Reader,
  room: SubscriptionRoom,
): SessionSubscriptions {
  const interests = new Map<string, Interest>();
  const items = createItemList(() => openIn(interests));
  let size = 0;
  let opened = 0;

  function interestIn(assetId: string): Interest {
    const known = interests.get(assetId);
    if (known !== undefined) return known;
    const interest = createInterest(assetId, reader);
    interests.set(assetId, interest);
    return interest;
  }

  function remove(subscription: Subscription): void {
    const interest = interests.get(subscription.assetId);
    if (interest === undefined || !subscription.open) return;
    subscription.open = false;
    if (subscription.topic === undefined) interest.wildcard = undefined;
    else interest.topics.delete(subscription.topic);
    fanOut.remove(interest, subscription);
    if (interest.wildcard === undefined && interest.topics.size === 0)
      interests.delete(subscription.assetId);
    size--;
    room.give(1);
    items.removed();
  }

  return {
    room,
    find(assetId, topic) {
      const interest = interests.get(assetId);
      return topic === undefined ? interest?.wildcard : interest?.topics.get(topic);
    },
    add({ id: assetId, topic }, coverage, grantedTo) {
      const interest = interestIn(assetId);
      const tagIds = new Set<string>();
      const subscription = { assetId, topic, coverage, tagIds, open: true, grantedTo };
      if (topic === undefined) interest.wildcard = subscription;
      else interest.topics.set(topic, subscription);
      fanOut.add(interest, subscription);
      size++;
      opened++;
      items.added(subscription);
      return subscription;
    },
    remove,
    clear: () => removeInTurns(openIn(interests), remove),
    interest: (assetId) => interests.get(assetId),
    interests: () => interests.values(),
    ofTag: (tagId, topic) =>
      [...openIn(interests)].filter((each) => each.topic === topic && each.tagIds.has(tagId)),
    acknowledged: items.acknowledged,
    get size() {
      return size;
    },
    get opened() {
      return opened;
    },
  };
}

function createInterest(assetId: string, reader: Reader): Interest {
  return {
    assetId,
    reader,
    topics: new Map(),
    wildcard: undefined,
    deliveredTo: '',
    settlingUntil: 0,
    held: false,
  };
}

function* openIn(interests: ReadonlyMap<string, Interest>): Generator<Subscription> {
  for (const { wildcard, topics } of interests.values()) {
    if (wildcard !== undefined) yield wildcard;
    yield* topics.values();
  }
}

function removeInTurns(
  open: Generator<Subscription>,
  remove: (subscription: Subscription) => void,
): void {
  for (let i = 0; i < removedPerTurn; i++) {
    const { value, done } = open.next();
    if (done === true) return;
    remove(value);
  }
  setImmediate(() => removeInTurns(open, remove));
}

interface ItemList {
  added(subscription: Subscription): void;
  removed(): void;
  /** Items of the open subscriptions and these, in order. */
  acknowledged(refused?: readonly AcknowledgedItem[]): AcknowledgedItem[];
}

/** The acknowledged items in order. They are sorted again only after a removal. */
function createItemList(open: () => Iterable<Subscription>): ItemList {
  let sorted: AcknowledgedItem[] | undefined = [];
  let added: AcknowledgedItem[] = [];
  return {
    added: (subscription) => void added.push(itemOf(subscription)),
    removed() {
      sorted = undefined;
    },
    acknowledged(refused = []) {
      if (sorted === undefined) sorted = [...open()].map(itemOf).sort(inOrder);
      else if (added.length > 0) sorted = merged(sorted, added.sort(inOrder));
      added = [];
      return refused.length === 0 ? sorted : merged(sorted, refused.toSorted(inOrder));
    },
  };
}

export function itemOf({ assetId, topic }: Subscription): AcknowledgedItem {
  return { assetId, ...(topic !== undefined && { topic }), valid: true };
}

function inOrder(a: AcknowledgedItem, b: AcknowledgedItem): number {
  return (
    compare(a.assetId, b.assetId) ||
    compare(a.tagId ?? '', b.tagId ?? '') ||
    compare(a.topic ?? '', b.topic ?? '')
  );
}

/** An item without an asset id is one of a tag, and comes after all others. */
function compare(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0;
  if (a === undefined) return 1;
  if (b === undefined) return -1;
  return a < b ? -1 : 1;
}

/** Merging keeps an acknowledgement of many thousand subscriptions fast when few were added. */
function merged(
  left: readonly AcknowledgedItem[],
  right: readonly AcknowledgedItem[],
): AcknowledgedItem[] {
  const result: AcknowledgedItem[] = [];
  let at = 0;
  for (const item of right) {
    for (let next = left[at]; next !== undefined && inOrder(next, item) <= 0; next = left[at]) {
      result.push(next);
      at += 1;
    }
    result.push(item);
  }
  for (const item of left.slice(at)) result.push(item);
  return result;
}

// The workspaces that one session follows: each combination of workspace and kinds once (contract 37).

/** An item of a message. */
export interface WorkspaceTarget {
  readonly workspaceId: string;
  /** In the order of the table, each once; none means all of the workspace's subscriptions. */
  readonly kinds: readonly LiveKind[];
  readonly perSecond: number | undefined;
}

export interface SessionWorkspaces {
  readonly find: (target: WorkspaceTarget) => WorkspaceSubscription | undefined;
  /** Opens a combination with room that was taken, or changes the limit of one that is open. */
  readonly open: (target: WorkspaceTarget, grant: WorkspaceGrant, grantedTo: Principal) => void;
  readonly close: (subscription: WorkspaceSubscription) => void;
  readonly closeTarget: (target: WorkspaceTarget) => void;
  readonly clear: () => void;
  readonly acknowledged: () => readonly AcknowledgedItem[];
  /** Calls the function for each kind of which something was omitted since the last call. */
  readonly reportOmitted: (
    report: (workspaceId: string, kind: LiveKind, omitted: number) => void,
  ) => void;
  readonly size: number;
}

export function createSessionWorkspaces(
  fanOut: WorkspaceFanOut,
  reader: WorkspaceReader,
  room: SubscriptionRoom,
): SessionWorkspaces {
  const interests = new Map<string, WorkspaceInterest>();
  let size = 0;

  function interestIn(workspaceId: string, { organizationId }: WorkspaceGrant): WorkspaceInterest {
    const known = interests.get(workspaceId);
    if (known !== undefined) return known;
    const interest = newInterest(workspaceId, organizationId, reader);
    interests.set(workspaceId, interest);
    fanOut.add(interest);
    return interest;
  }

  function close(subscription: WorkspaceSubscription): void {
    const interest = interests.get(subscription.workspaceId);
    const key = keyOf(subscription.kinds);
    if (interest === undefined || interest.subscriptions.get(key) !== subscription) return;
    interest.subscriptions.delete(key);
    size--;
    room.give(1);
    if (interest.subscriptions.size > 0) return fanOut.changed(interest);
    interests.delete(subscription.workspaceId);
    fanOut.remove(interest);
  }

  const all = () =>
    [...interests.values()].flatMap(({ subscriptions }) => [...subscriptions.values()]);

  return {
    find: ({ workspaceId, kinds }) => interests.get(workspaceId)?.subscriptions.get(keyOf(kinds)),
    open({ workspaceId, kinds, perSecond }, grant, grantedTo) {
      const interest = interestIn(workspaceId, grant);
      const key = keyOf(kinds);
      const known = interest.subscriptions.get(key);
      if (known === undefined) {
        interest.subscriptions.set(key, { workspaceId, kinds, perSecond, grant, grantedTo });
        size++;
      } else known.perSecond = perSecond;
      fanOut.changed(interest);
    },
    close,
    closeTarget({ workspaceId, kinds }) {
      const open = [...(interests.get(workspaceId)?.subscriptions.values() ?? [])];
      const isMeant = (each: WorkspaceSubscription) =>
        kinds.length === 0 || keyOf(each.kinds) === keyOf(kinds);
      for (const subscription of open.filter(isMeant)) close(subscription);
    },
    clear() {
      for (const subscription of all()) close(subscription);
    },
    acknowledged: () => all().map(workspaceItemOf),
    reportOmitted(report) {
      for (const interest of interests.values())
        for (const [kind, omitted] of fanOut.takeOmitted(interest))
          report(interest.workspaceId, kind, omitted);
    },
    get size() {
      return size;
    },
  };
}

/** The kinds in the order of their table, each once. */
export function inTableOrder(kinds: readonly LiveKind[]): readonly LiveKind[] {
  return liveKinds.filter((kind) => kinds.includes(kind));
}

export function workspaceItemOf({
  workspaceId,
  kinds,
  perSecond,
}: WorkspaceSubscription): AcknowledgedItem {
  return { workspaceId, kinds, ...(perSecond !== undefined && { perSecond }), valid: true };
}

function keyOf(kinds: readonly LiveKind[]): string {
  return kinds.join();
}

function newInterest(
  workspaceId: string,
  organizationId: string,
  reader: WorkspaceReader,
): WorkspaceInterest {
  return {
    workspaceId,
    organizationId,
    reader,
    pace: undefined,
    subscriptions: new Map(),
    omitted: new Map(),
    counted: new Map(),
  };
}
