// Fan-out: sends a stored sample to the sessions that subscribed to it, serialized once, as one message per session.
import { cursorAt, type DurableEntry, type DurableRows } from '../../model/journal-entry.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { Principal } from '../../model/principal.ts';
import type { JournalStream } from './journal-stream.ts';
import { type Outbox, sampleFrame } from './send-buffer.ts';
import {
  type Coverage,
  covers,
  type LiveSample,
  reaches,
  type StreamPlace,
} from './stream-position.ts';
import type { WorkspaceFanOut } from './workspace-fan-out.ts';

export interface Subscription {
  readonly assetId: string;
  /** Undefined means all topics. */
  readonly topic: string | undefined;
  /** Undefined until the replay that it was opened with is complete. */
  coverage: Coverage | undefined;
  /** Tags it was subscribed by. */
  readonly tagIds: Set<string>;
  /** Places it was subscribed by. */
  readonly placeIds: Set<string>;
  /** Whether a client named the device itself. */
  isOwn: boolean;
  open: boolean;
  /** Checked again when the device changes. */
  readonly grantedTo: Principal;
}

/** The subscriptions of one session to one device. */
export interface Interest {
  readonly assetId: string;
  readonly reader: Reader;
  readonly topics: Map<string, Subscription>;
  wildcard: Subscription | undefined;
  /** Samples up to this place were sent, or are not wanted. */
  deliveredTo: StreamPlace;
  /**
   * Time of the last `since`. The client may already have samples that were stored before and are
   * published later.
   */
  settlingUntil: EpochMs;
  /** A replay is in progress, and live samples are buffered. */
  held: boolean;
}

export interface Reader {
  readonly outbox: Outbox;
  /** The shared frame of a live sample, or the one that this session gets instead. */
  frameFor(sample: LiveSample, frame: Buffer): Buffer;
  /** Takes a live sample of a held interest. */
  hold(sample: LiveSample, frame: Buffer, interest: Interest): void;
  /** Ends subscriptions that are no longer permitted, and notifies the client. */
  withdraw(subscriptions: readonly Subscription[]): void;
  /** The outbox is full: this sample and all later ones must come from the store. */
  spill(): void;
}

interface Audience {
  readonly byTopic: Map<string, Set<Interest>>;
  readonly wildcard: Set<Interest>;
}

/** What several nodes need of the index. */
interface NodesOfFanOut {
  readonly stream: JournalStream;
  /** Called when a device gets its first subscription, and when it loses the last one. */
  readonly followed: (assetId: string, isFollowed: boolean) => void;
}

/**
 * An empty index; one per process. Samples have a journal if and only if there are several
 * nodes.
 */
export class FanOut {
  /** Those who follow whole workspaces (contract 37). */
  readonly workspaces: WorkspaceFanOut;
  /** The cursor of a sample that is published now. */
  readonly cursorOf: (sample: LiveSample) => string;
  /** With several journals: how far they were published. */
  readonly journals?: JournalStream | undefined;
  readonly #nodes: NodesOfFanOut | undefined;
  readonly #cursorOf;
  readonly #audiences = new Map<string, Audience>();
  #firstCursor: string | undefined;
  #lastCursor: string | undefined;

  constructor(workspaces: WorkspaceFanOut, nodes?: NodesOfFanOut) {
    this.workspaces = workspaces;
    this.#nodes = nodes;
    this.#cursorOf = nodes?.stream.cursorOf ?? ownCursor;
    this.cursorOf = this.#cursorOf;
    this.journals = nodes?.stream;
  }

  /** The interests of all sessions in the device. */
  readonly interestsIn = (assetId: string): readonly Interest[] => {
    const audience = this.#audiences.get(assetId);
    if (audience === undefined) return [];
    const interests = new Set(audience.wildcard);
    for (const byTopic of audience.byTopic.values())
      for (const interest of byTopic) interests.add(interest);
    return [...interests];
  };

  /**
   * Sends samples that became durable to all who subscribed, in the order given. Samples that are
   * only forwarded are left out. Call it with every durable entry, in the order of the journal.
   * Work is done in the call: give long entries in slices of about a thousand samples, each in its
   * own turn of the event loop.
   */
  publish(samples: readonly LiveSample[], now: EpochMs): void {
    for (const sample of samples) {
      if (!sample.stored) continue;
      if (this.#nodes === undefined) this.#firstCursor ??= sample.cursor;
      this.#publishOne(sample, now);
      // Set after publishing, so that a reader that spills continues from the sample before this
      // one.
      if (this.#nodes !== undefined) this.#nodes.stream.published(sample);
      else if (this.#lastCursor === undefined || sample.cursor > this.#lastCursor)
        this.#lastCursor = sample.cursor;
    }
  }

  /** As `publish`, for stored samples of a device that no session has an interest in. */
  pass(first: string, last: string): void {
    this.#firstCursor ??= first;
    if (this.#lastCursor === undefined || last > this.#lastCursor) this.#lastCursor = last;
  }

  add(interest: Interest, { assetId, topic }: Subscription): void {
    const audience = this.#audiences.get(assetId) ?? { byTopic: new Map(), wildcard: new Set() };
    if (!this.#audiences.has(assetId)) this.#nodes?.followed(assetId, true);
    this.#audiences.set(assetId, audience);
    addTo(audience, interest, topic);
  }

  remove(interest: Interest, { assetId, topic }: Subscription): void {
    const audience = this.#audiences.get(assetId);
    if (audience === undefined) return;
    removeFrom(audience, interest, topic);
    if (audience.byTopic.size > 0 || audience.wildcard.size > 0) return;
    this.#audiences.delete(assetId);
    this.#nodes?.followed(assetId, false);
  }

  /** The first cursor published since the start of the process; undefined with several journals. */
  get firstCursor(): string | undefined {
    return this.#firstCursor;
  }

  /** The place up to which everything was published. */
  get lastCursor(): StreamPlace | undefined {
    return this.#nodes === undefined ? this.#lastCursor : this.#nodes.stream.place;
  }

  /** Devices with subscriptions. */
  get size(): number {
    return this.#audiences.size;
  }

  #publishOne(sample: LiveSample, now: EpochMs): void {
    const frame = this.#publishToDevice(sample, now);
    if (this.workspaces.size > 0) this.workspaces.publishSample(sample, frame, this.#cursorOf);
  }

  /** Returns the frame, if any session is interested. */
  #publishToDevice(sample: LiveSample, now: EpochMs): Buffer | undefined {
    const audience = this.#audiences.get(sample.deviceId);
    if (audience === undefined) return undefined;
    const byTopic = audience.byTopic.get(sample.topic);
    if (byTopic === undefined && audience.wildcard.size === 0) return undefined;
    const frame = sampleFrame(sample, now, this.#cursorOf(sample));
    for (const interest of audience.wildcard) deliver(interest, sample, frame, this.#firstCursor);
    for (const interest of byTopic ?? [])
      if (interest.wildcard === undefined) deliver(interest, sample, frame, this.#firstCursor);
    return frame;
  }
}

function ownCursor({ cursor }: LiveSample): string {
  return cursor;
}

function addTo(
  { byTopic, wildcard }: Audience,
  interest: Interest,
  topic: string | undefined,
): void {
  if (topic === undefined) wildcard.add(interest);
  else byTopic.set(topic, (byTopic.get(topic) ?? new Set()).add(interest));
}

function removeFrom(
  { byTopic, wildcard }: Audience,
  interest: Interest,
  topic: string | undefined,
): void {
  if (topic === undefined) {
    wildcard.delete(interest);
    return;
  }
  const interests = byTopic.get(topic);
  interests?.delete(interest);
  if (interests?.size === 0) byTopic.delete(topic);
}

function deliver(
  interest: Interest,
  sample: LiveSample,
  frame: Buffer,
  firstCursor: string | undefined,
): void {
  const { reader } = interest;
  if (interest.held) reader.hold(sample, frame, interest);
  else if (reaches(interest.deliveredTo, sample)) return;
  else if (sample.storedAt <= interest.settlingUntil && !isCovered(interest, sample, firstCursor))
    return;
  else if (!reader.outbox.sendSample(reader.frameFor(sample, frame))) reader.spill();
}

function isCovered(
  { topics, wildcard }: Interest,
  sample: LiveSample,
  firstCursor: string | undefined,
): boolean {
  for (const subscription of [topics.get(sample.topic), wildcard]) {
    if (subscription?.coverage !== undefined && covers(subscription.coverage, sample, firstCursor))
      return true;
  }
  return false;
}

// Entry publishing: an entry that became durable goes to the sessions that are interested in its device.

/** Samples that no session would be sent are not created. */
export function publishEntry(
  fanOut: Pick<FanOut, 'publish' | 'pass' | 'interestsIn' | 'workspaces'>,
  entry: DurableEntry,
  now: () => EpochMs,
): void {
  const { deviceId, position, summary } = entry;
  const { workspaces } = fanOut;
  const isUnwanted =
    summary !== undefined &&
    fanOut.interestsIn(deviceId).length === 0 &&
    !workspaces.takesSamples(summary.workspaceId);
  if (isUnwanted) {
    workspaces.omit(summary.workspaceId, 'SAMPLE', summary.count);
    fanOut.pass(cursorAt(position, 1), cursorAt(position, summary.count));
    return;
  }
  const { length } = entry.samples;
  if (length === 0) return;
  // What comes in the place of other samples is told by an event.
  if (entry.replaces !== undefined) fanOut.pass(cursorAt(position, 1), cursorAt(position, length));
  else fanOut.publish(entry.samples, now());
}

/** As `publishEntry` for each of the entries, which costs nothing while no session listens. */
export function publishRows(
  fanOut: Pick<FanOut, 'publish' | 'pass' | 'interestsIn' | 'workspaces' | 'size'>,
  rows: DurableRows,
  now: () => EpochMs,
): void {
  const { position, length, summary } = rows;
  const { workspaces } = fanOut;
  if (fanOut.size > 0 || workspaces.takesSamples(summary.workspaceId)) {
    for (let place = 0; place < length; place++) publishEntry(fanOut, rows.entryAt(place), now);
    return;
  }
  workspaces.omit(summary.workspaceId, 'SAMPLE', length);
  fanOut.pass(cursorAt(position, 1), cursorAt(position + length - 1, 1));
}
