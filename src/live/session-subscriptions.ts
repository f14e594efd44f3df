// The open subscriptions of one session: asset and topic, each combination once (interface 6 rules 1 to 4).
import type { AcknowledgedItem } from '../contract/live-messages.ts';
import type { Principal } from '../model/principal.ts';
import type { Coverage } from './coverage.ts';
import type { FanOut, Interest, Reader, Subscription } from './fan-out.ts';

/** The room that the organization has for open subscriptions, over all of its connections. */
export interface SubscriptionRoom {
  readonly max: number;
  /** False when there is not so much room; then nothing is taken. */
  readonly take: (amount: number) => boolean;
  readonly give: (amount: number) => void;
}

export interface SessionSubscriptions {
  readonly room: SubscriptionRoom;
  find(assetId: string, topic: string | undefined): Subscription | undefined;
  /** Opens a combination that is not open; the room for it was taken. Closing it gives the room back. */
  add(
    asset: { readonly id: string; readonly topic: string | undefined },
    coverage: Coverage | undefined,
    grantedTo: Principal,
  ): Subscription;
  remove(subscription: Subscription): void;
  /** Closes all, the first of them at once; nothing may be added any more. */
  clear(): void;
  interest(assetId: string): Interest | undefined;
  interests(): IterableIterator<Interest>;
  /** Every open one that was subscribed by the tag, with this topic. */
  ofTag(tagId: string, topic: string | undefined): Subscription[];
  /** All open ones and the refused items, sorted by asset id, then topic; items of tags last. */
  acknowledged(refused?: readonly AcknowledgedItem[]): AcknowledgedItem[];
  readonly size: number;
  /** How many were ever opened. */
  readonly opened: number;
}

/** So many subscriptions are closed in one turn of the event loop. */
const removedPerTurn = 2_000;

export function createSubscriptions(
  fanOut: FanOut,
  reader: Reader,
  room: SubscriptionRoom,
): SessionSubscriptions {
  const interests = new Map<string, Interest>();
  let size = 0;
  let opened = 0;
  /** The acknowledged items in order; undefined when something was removed. */
  let sorted: AcknowledgedItem[] | undefined = [];
  let added: AcknowledgedItem[] = [];

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
    sorted = undefined;
  }

  function* all(): Generator<Subscription> {
    for (const interest of interests.values()) {
      if (interest.wildcard !== undefined) yield interest.wildcard;
      yield* interest.topics.values();
    }
  }

  return {
    room,
    find(assetId, topic) {
      const interest = interests.get(assetId);
      return topic === undefined ? interest?.wildcard : interest?.topics.get(topic);
    },
    add({ id: assetId, topic }, coverage, grantedTo) {
      let interest = interests.get(assetId);
      if (interest === undefined) {
        interest = {
          assetId,
          reader,
          topics: new Map(),
          wildcard: undefined,
          deliveredTo: '',
          settlingUntil: 0,
          held: false,
        };
        interests.set(assetId, interest);
      }
      const subscription: Subscription = {
        assetId,
        topic,
        coverage,
        tagIds: new Set(),
        open: true,
        grantedTo,
      };
      if (topic === undefined) interest.wildcard = subscription;
      else interest.topics.set(topic, subscription);
      fanOut.add(interest, subscription);
      size++;
      opened++;
      added.push(itemOf(subscription));
      return subscription;
    },
    remove,
    clear() {
      const left = all();
      const removeSome = (): void => {
        for (let i = 0; i < removedPerTurn; i++) {
          const { value, done } = left.next();
          if (done === true) return;
          remove(value);
        }
        setImmediate(removeSome);
      };
      removeSome();
    },
    interest: (assetId) => interests.get(assetId),
    interests: () => interests.values(),
    ofTag: (tagId, topic) =>
      [...all()].filter((one) => one.topic === topic && one.tagIds.has(tagId)),
    acknowledged(refused = []) {
      if (sorted === undefined) sorted = [...all()].map(itemOf).sort(inOrder);
      else if (added.length > 0) sorted = merged(sorted, added.sort(inOrder));
      added = [];
      return refused.length === 0 ? sorted : merged(sorted, [...refused].sort(inOrder));
    },
    get size() {
      return size;
    },
    get opened() {
      return opened;
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

// An item without an asset id is one of a tag, and comes after all others.
function compare(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0;
  if (a === undefined || b === undefined) return a === undefined ? 1 : -1;
  return a < b ? -1 : 1;
}

// Merging keeps an acknowledgement of many thousand subscriptions cheap when few were added.
function merged(
  left: readonly AcknowledgedItem[],
  right: readonly AcknowledgedItem[],
): AcknowledgedItem[] {
  if (left.length === 0) return [...right];
  const result: AcknowledgedItem[] = [];
  let at = 0;
  for (const item of right) {
    while (at < left.length && inOrder(left[at]!, item) <= 0) result.push(left[at++]!);
    result.push(item);
  }
  while (at < left.length) result.push(left[at++]!);
  return result;
}
