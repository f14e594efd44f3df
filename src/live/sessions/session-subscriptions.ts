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
interface SubscriptionRoom {
  readonly max: number;
  /** False if the room is not sufficient; then nothing is taken. */
  readonly take: (amount: number) => boolean;
  readonly give: (amount: number) => void;
}

/** Subscriptions that are closed in one turn of the event loop. */
const removedPerTurn = 2_000;

export class SessionSubscriptions {
  readonly room: SubscriptionRoom;
  readonly #fanOut: FanOut;
  readonly #reader: Reader;
  readonly #interests = new Map<string, Interest>();
  readonly #items = new ItemList(() => openIn(this.#interests));
  #size = 0;
  #opened = 0;

  constructor(fanOut: FanOut, reader: Reader, room: SubscriptionRoom) {
    this.#fanOut = fanOut;
    this.#reader = reader;
    this.room = room;
  }

  readonly remove = (subscription: Subscription): void => {
    const interest = this.#interests.get(subscription.assetId);
    if (interest === undefined || !subscription.open) return;
    subscription.open = false;
    if (subscription.topic === undefined) interest.wildcard = undefined;
    else interest.topics.delete(subscription.topic);
    this.#fanOut.remove(interest, subscription);
    if (interest.wildcard === undefined && interest.topics.size === 0)
      this.#interests.delete(subscription.assetId);
    this.#size--;
    this.room.give(1);
    this.#items.removed();
  };

  readonly interest = (assetId: string): Interest | undefined => this.#interests.get(assetId);

  readonly interests = (): IterableIterator<Interest> => this.#interests.values();

  find(assetId: string, topic: string | undefined): Subscription | undefined {
    const interest = this.#interests.get(assetId);
    return topic === undefined ? interest?.wildcard : interest?.topics.get(topic);
  }

  /** Opens a combination that is not open, with room that was taken. Closing it returns the room. */
  add(
    { id: assetId, topic }: { readonly id: string; readonly topic: string | undefined },
    coverage: Coverage | undefined,
    grantedTo: Principal,
  ): Subscription {
    const interest = this.#interestIn(assetId);
    const subscription = {
      assetId,
      topic,
      coverage,
      tagIds: new Set<string>(),
      placeIds: new Set<string>(),
      isOwn: false,
      open: true,
      grantedTo,
    };
    if (topic === undefined) interest.wildcard = subscription;
    else interest.topics.set(topic, subscription);
    this.#fanOut.add(interest, subscription);
    this.#size++;
    this.#opened++;
    this.#items.added(subscription);
    return subscription;
  }

  /** Closes all, the first of them immediately. Add nothing afterwards. */
  clear(): void {
    removeInTurns(openIn(this.#interests), this.remove);
  }

  /** The open subscriptions that were made by the tag, with this topic. */
  ofTag(tagId: string, topic: string | undefined): Subscription[] {
    return [...openIn(this.#interests)].filter(
      (each) => each.topic === topic && each.tagIds.has(tagId),
    );
  }

  /** As `ofTag`, for a place. */
  ofPlace(placeId: string, topic: string | undefined): Subscription[] {
    return [...openIn(this.#interests)].filter(
      (each) => each.topic === topic && each.placeIds.has(placeId),
    );
  }

  /**
   * The open subscriptions and the refused items, sorted by asset id, then topic. Items of tags
   * and places are last.
   */
  acknowledged(refused?: readonly AcknowledgedItem[]): AcknowledgedItem[] {
    return this.#items.acknowledged(refused);
  }

  get size(): number {
    return this.#size;
  }

  /** Subscriptions that were opened since the start of the session. */
  get opened(): number {
    return this.#opened;
  }

  #interestIn(assetId: string): Interest {
    const known = this.#interests.get(assetId);
    if (known !== undefined) return known;
    const interest = createInterest(assetId, this.#reader);
    this.#interests.set(assetId, interest);
    return interest;
  }
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

/** The acknowledged items in order. They are sorted again only after a removal. */
class ItemList {
  readonly #open: () => Iterable<Subscription>;
  #sorted: AcknowledgedItem[] | undefined = [];
  #added: AcknowledgedItem[] = [];

  constructor(open: () => Iterable<Subscription>) {
    this.#open = open;
  }

  /** Items of the open subscriptions and these, in order. */
  readonly acknowledged = (refused: readonly AcknowledgedItem[] = []): AcknowledgedItem[] => {
    if (this.#sorted === undefined) this.#sorted = [...this.#open()].map(itemOf).sort(inOrder);
    else if (this.#added.length > 0) this.#sorted = merged(this.#sorted, this.#added.sort(inOrder));
    this.#added = [];
    return refused.length === 0 ? this.#sorted : merged(this.#sorted, refused.toSorted(inOrder));
  };

  added(subscription: Subscription): void {
    this.#added.push(itemOf(subscription));
  }

  removed(): void {
    this.#sorted = undefined;
  }
}

export function itemOf({ assetId, topic }: Subscription): AcknowledgedItem {
  return { assetId, ...(topic !== undefined && { topic }), valid: true };
}

function inOrder(a: AcknowledgedItem, b: AcknowledgedItem): number {
  return (
    compare(a.assetId, b.assetId) ||
    compare(a.tagId ?? '', b.tagId ?? '') ||
    compare(a.placeId ?? '', b.placeId ?? '') ||
    compare(a.topic ?? '', b.topic ?? '')
  );
}

/** An item without an asset id is one of a tag or place, and comes after all others. */
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

export class SessionWorkspaces {
  readonly #fanOut: WorkspaceFanOut;
  readonly #reader: WorkspaceReader;
  readonly #room: SubscriptionRoom;
  readonly #interests = new Map<string, WorkspaceInterest>();
  #size = 0;

  constructor(fanOut: WorkspaceFanOut, reader: WorkspaceReader, room: SubscriptionRoom) {
    this.#fanOut = fanOut;
    this.#reader = reader;
    this.#room = room;
  }

  find({ workspaceId, kinds }: WorkspaceTarget): WorkspaceSubscription | undefined {
    return this.#interests.get(workspaceId)?.subscriptions.get(keyOf(kinds));
  }

  /** Opens a combination with room that was taken, or changes the limit of one that is open. */
  open(
    { workspaceId, kinds, perSecond }: WorkspaceTarget,
    grant: WorkspaceGrant,
    grantedTo: Principal,
  ): void {
    const interest = this.#interestIn(workspaceId, grant);
    const key = keyOf(kinds);
    const known = interest.subscriptions.get(key);
    if (known === undefined) {
      interest.subscriptions.set(key, { workspaceId, kinds, perSecond, grant, grantedTo });
      this.#size++;
    } else known.perSecond = perSecond;
    this.#fanOut.changed(interest);
  }

  close(subscription: WorkspaceSubscription): void {
    const interest = this.#interests.get(subscription.workspaceId);
    const key = keyOf(subscription.kinds);
    if (interest === undefined || interest.subscriptions.get(key) !== subscription) return;
    interest.subscriptions.delete(key);
    this.#size--;
    this.#room.give(1);
    if (interest.subscriptions.size > 0) return this.#fanOut.changed(interest);
    this.#interests.delete(subscription.workspaceId);
    this.#fanOut.remove(interest);
  }

  closeTarget({ workspaceId, kinds }: WorkspaceTarget): void {
    const open = [...(this.#interests.get(workspaceId)?.subscriptions.values() ?? [])];
    const isMeant = (each: WorkspaceSubscription) =>
      kinds.length === 0 || keyOf(each.kinds) === keyOf(kinds);
    for (const subscription of open.filter(isMeant)) this.close(subscription);
  }

  clear(): void {
    for (const subscription of this.#all()) this.close(subscription);
  }

  acknowledged(): readonly AcknowledgedItem[] {
    return this.#all().map(workspaceItemOf);
  }

  /** Calls the function for each kind of which something was omitted since the last call. */
  reportOmitted(report: (workspaceId: string, kind: LiveKind, omitted: number) => void): void {
    for (const interest of this.#interests.values())
      for (const [kind, omitted] of this.#fanOut.takeOmitted(interest))
        report(interest.workspaceId, kind, omitted);
  }

  get size(): number {
    return this.#size;
  }

  #interestIn(workspaceId: string, { organizationId }: WorkspaceGrant): WorkspaceInterest {
    const known = this.#interests.get(workspaceId);
    if (known !== undefined) return known;
    const interest = newInterest(workspaceId, organizationId, this.#reader);
    this.#interests.set(workspaceId, interest);
    this.#fanOut.add(interest);
    return interest;
  }

  #all() {
    return [...this.#interests.values()].flatMap(({ subscriptions }) => [
      ...subscriptions.values(),
    ]);
  }
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
