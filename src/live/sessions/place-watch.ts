// Place watch: subscriptions by place follow devices that move into the place or out of it (contract 39.2).
import type { Principal } from '../../model/principal.ts';
import type { RecordChange } from '../../model/record.ts';
import type { FindAssets, FollowDevices } from './session-access.ts';
import type { Coverage } from './stream-position.ts';
import type { FanOut, Reader, Subscription } from './fan-out.ts';
import type { SessionSubscriptions } from './session-subscriptions.ts';

/** Devices looked at before others get their turn. */
const sliceDevices = 500;

export class PlaceWatch {
  readonly #fanOut: FanOut;
  /** For each device its place and all above it; those at no place are absent. */
  readonly #placesAbove: (
    deviceIds: readonly string[],
  ) => Promise<ReadonlyMap<string, readonly string[]>>;
  /** At the place and below it; none for a place that does not exist. */
  readonly #devicesAt: (placeId: string) => Promise<readonly string[]>;
  readonly #pause: () => Promise<unknown>;
  readonly #failed: (error: unknown) => void;
  readonly #watched = new Map<
    string,
    {
      readonly workspaceId: string;
      readonly sessions: Set<SessionPlaces>;
    }
  >();
  readonly #dueDevices = new Set<string>();
  readonly #duePlaces = new Set<string>();
  #changes = 0;
  #working = false;

  constructor(parts: {
    readonly fanOut: FanOut;
    readonly placesAbove: (
      deviceIds: readonly string[],
    ) => Promise<ReadonlyMap<string, readonly string[]>>;
    readonly devicesAt: (placeId: string) => Promise<readonly string[]>;
    readonly pause: () => Promise<unknown>;
    readonly failed: (error: unknown) => void;
  }) {
    this.#fanOut = parts.fanOut;
    this.#placesAbove = parts.placesAbove;
    this.#devicesAt = parts.devicesAt;
    this.#pause = parts.pause;
    this.#failed = parts.failed;
  }

  /** Call for every record change. */
  readonly recordChanged = ({ kind, id, action, about }: RecordChange): void => {
    if (kind !== 'device' && kind !== 'place') return;
    this.#changes += 1;
    if (this.#watched.size === 0) return;
    // Nothing is at a new place yet, and the subscriptions of a deleted device end with it.
    if (kind === 'device' && action !== 'deleted') this.#dueDevices.add(id);
    if (kind === 'place' && action !== 'created')
      for (const [placeId, { workspaceId }] of this.#watched)
        if (about === undefined || about.workspaceId === workspaceId) this.#duePlaces.add(placeId);
    this.#start();
  };

  /** Call when changes were missed. */
  readonly changesMissed = (): void => {
    this.#changes += 1;
    this.check(this.#watched.keys());
  };

  /** One more with every device and place that changed. */
  changes(): number {
    return this.#changes;
  }

  /** Compares the subscriptions of these places with what is there now. */
  check(placeIds: Iterable<string>): void {
    for (const id of placeIds) if (this.#watched.has(id)) this.#duePlaces.add(id);
    this.#start();
  }

  add(placeId: string, workspaceId: string, session: SessionPlaces): void {
    const known = this.#watched.get(placeId);
    if (known === undefined)
      this.#watched.set(placeId, { workspaceId, sessions: new Set([session]) });
    else known.sessions.add(session);
  }

  remove(placeId: string, session: SessionPlaces): void {
    const known = this.#watched.get(placeId);
    if (known?.sessions.delete(session) === true && known.sessions.size === 0)
      this.#watched.delete(placeId);
  }

  #start(): void {
    if (this.#working || this.#dueDevices.size + this.#duePlaces.size === 0) return;
    this.#working = true;
    this.#work()
      .catch(this.#failed)
      .finally(() => (this.#working = false));
  }

  async #work(): Promise<void> {
    while (this.#dueDevices.size + this.#duePlaces.size > 0) {
      const ids = [...this.#dueDevices].slice(0, sliceDevices);
      for (const id of ids) this.#dueDevices.delete(id);
      if (ids.length > 0) await this.#lookAtDevices(ids);
      const [placeId] = this.#duePlaces;
      if (placeId !== undefined) {
        this.#duePlaces.delete(placeId);
        await this.#lookAtPlace(placeId);
      }
      await this.#pause();
    }
  }

  async #lookAtDevices(ids: readonly string[]): Promise<void> {
    const above = await this.#placesAbove(ids);
    const present = new Map<string, string[]>();
    for (const id of ids) {
      const places = new Set(above.get(id));
      this.#endOutside(id, (placeId) => places.has(placeId));
      for (const placeId of places)
        if (this.#watched.has(placeId)) present.set(placeId, [...(present.get(placeId) ?? []), id]);
    }
    for (const [placeId, deviceIds] of present)
      for (const session of this.#watched.get(placeId)?.sessions ?? [])
        await session.came(placeId, deviceIds);
  }

  async #lookAtPlace(placeId: string): Promise<void> {
    const deviceIds = await this.#devicesAt(placeId);
    const present = new Set(deviceIds);
    for (const session of this.#watched.get(placeId)?.sessions ?? []) {
      for (const id of session.followedBy(placeId))
        if (!present.has(id)) this.#endOutside(id, (each) => each !== placeId);
      await session.came(placeId, deviceIds);
    }
  }

  /** Ends the subscriptions to the device that no place, tag, or client holds any more. */
  #endOutside(deviceId: string, isAt: (placeId: string) => boolean): void {
    const ended = new Map<Reader, Subscription[]>();
    for (const { reader, wildcard, topics } of this.#fanOut.interestsIn(deviceId))
      for (const subscription of [wildcard, ...topics.values()])
        if (subscription !== undefined && hasLeft(subscription, isAt))
          ended.set(reader, [...(ended.get(reader) ?? []), subscription]);
    for (const [reader, subscriptions] of ended) reader.withdraw(subscriptions);
  }
}

/** Removes the places where the device is not; whether nothing else holds the subscription. */
function hasLeft(subscription: Subscription, isAt: (placeId: string) => boolean): boolean {
  const { placeIds, tagIds } = subscription;
  if (placeIds.size === 0) return false;
  for (const placeId of placeIds) if (!isAt(placeId)) placeIds.delete(placeId);
  return placeIds.size === 0 && tagIds.size === 0 && !subscription.isOwn;
}

// The places that one session follows.

export class SessionPlaces {
  readonly #watch: PlaceWatch;
  readonly #subscriptions: SessionSubscriptions;
  readonly #findAssets: FindAssets;
  readonly #follow: FollowDevices | undefined;
  readonly #liveCoverage: (assetId: string) => Coverage;
  readonly #started: (subscriptions: readonly Subscription[]) => void;
  readonly #isFull: () => void;
  readonly #items = new Map<
    string,
    {
      readonly topic: string | undefined;
      readonly grantedTo: Principal;
    }[]
  >();

  constructor(parts: {
    readonly watch: PlaceWatch;
    readonly subscriptions: SessionSubscriptions;
    readonly findAssets: FindAssets;
    readonly follow: FollowDevices | undefined;
    readonly liveCoverage: (assetId: string) => Coverage;
    /** Tells the client of subscriptions that began by themselves. */
    readonly started: (subscriptions: readonly Subscription[]) => void;
    /** The organization has no room for a device that came to a place. */
    readonly isFull: () => void;
  }) {
    this.#watch = parts.watch;
    this.#subscriptions = parts.subscriptions;
    this.#findAssets = parts.findAssets;
    this.#follow = parts.follow;
    this.#liveCoverage = parts.liveCoverage;
    this.#started = parts.started;
    this.#isFull = parts.isFull;
  }

  has(placeId: string, topic: string | undefined): boolean {
    return this.#items.get(placeId)?.some((item) => item.topic === topic) ?? false;
  }

  /** Follows the place, with room that was taken unless it is followed with this topic already. */
  open(
    placeId: string,
    workspaceId: string,
    { topic, grantedTo }: { readonly topic: string | undefined; readonly grantedTo: Principal },
  ): void {
    if (this.has(placeId, topic)) return;
    this.#items.set(placeId, [...(this.#items.get(placeId) ?? []), { topic, grantedTo }]);
    this.#watch.add(placeId, workspaceId, this);
  }

  /** Ends the item, and the subscriptions that nothing else holds. */
  close(placeId: string, topic: string | undefined): void {
    const items = this.#items.get(placeId);
    const kept = items?.filter((item) => item.topic !== topic) ?? [];
    if (items === undefined || kept.length === items.length) return;
    this.#subscriptions.room.give(1);
    if (kept.length > 0) this.#items.set(placeId, kept);
    else this.#forget(placeId);
    for (const subscription of this.#subscriptions.ofPlace(placeId, topic))
      if (hasLeft(subscription, (each) => each !== placeId))
        this.#subscriptions.remove(subscription);
  }

  /** Leaves the subscriptions to devices, which the caller ends. */
  clear(): void {
    for (const [placeId, items] of [...this.#items]) {
      this.#subscriptions.room.give(items.length);
      this.#forget(placeId);
    }
  }

  /** Devices with a subscription by the place. */
  followedBy(placeId: string): string[] {
    const items = this.#items.get(placeId) ?? [];
    return items.flatMap(({ topic }) =>
      this.#subscriptions.ofPlace(placeId, topic).map(({ assetId }) => assetId),
    );
  }

  /** Opens subscriptions to those of the devices at the place that have none yet. */
  async came(placeId: string, deviceIds: readonly string[]): Promise<void> {
    for (const { topic, grantedTo } of this.#items.get(placeId) ?? []) {
      const isKnown = (id: string) =>
        this.#subscriptions.find(id, topic)?.placeIds.has(placeId) ?? false;
      const fresh = deviceIds.filter((id) => !isKnown(id));
      if (fresh.length === 0) continue;
      const isOver = () => !this.has(placeId, topic);
      const readable = await this.#findAssets(grantedTo, fresh, isOver);
      const followed = await this.#follow?.([...readable]);
      try {
        if (!isOver()) this.#openAll(placeId, topic, grantedTo, [...readable]);
      } finally {
        followed?.();
      }
    }
  }

  #openAll(
    placeId: string,
    topic: string | undefined,
    grantedTo: Principal,
    deviceIds: readonly string[],
  ): void {
    const started: Subscription[] = [];
    const { room } = this.#subscriptions;
    for (const id of deviceIds) {
      const known = this.#subscriptions.find(id, topic);
      if (known !== undefined) {
        known.placeIds.add(placeId);
        continue;
      }
      if (!room.take(1)) {
        this.#isFull();
        break;
      }
      const opened = this.#subscriptions.add({ id, topic }, this.#liveCoverage(id), grantedTo);
      opened.placeIds.add(placeId);
      started.push(opened);
    }
    if (started.length > 0) this.#started(started);
  }

  #forget(placeId: string): void {
    this.#items.delete(placeId);
    this.#watch.remove(placeId, this);
  }
}
