// Fan-out: sends a stored sample to the sessions that subscribed to it, serialized once, as one message per session.
import { cursorAt } from '../../model/cursor.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { DurableEntry, DurableRows } from '../../model/journal-entry.ts';
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

export interface FanOut {
  /**
   * Sends samples that became durable to all who subscribed, in the order given. Samples that are
   * only forwarded are left out. Call it with every durable entry, in the order of the journal.
   * Work is done in the call: give long entries in slices of about a thousand samples, each in its
   * own turn of the event loop.
   */
  publish(samples: readonly LiveSample[], now: EpochMs): void;
  /** As `publish`, for stored samples of a device that no session has an interest in. */
  pass(firstCursor: string, lastCursor: string): void;
  add(interest: Interest, subscription: Subscription): void;
  remove(interest: Interest, subscription: Subscription): void;
  /** Those who follow whole workspaces (contract 37). */
  readonly workspaces: WorkspaceFanOut;
  /** The interests of all sessions in the device. */
  interestsIn(assetId: string): readonly Interest[];
  /** The first cursor published since the start of the process; undefined with several journals. */
  readonly firstCursor: string | undefined;
  /** The place up to which everything was published. */
  readonly lastCursor: StreamPlace | undefined;
  /** With several journals: how far they were published. */
  readonly journals?: JournalStream | undefined;
  /** The cursor of a sample that is published now. */
  readonly cursorOf: (sample: LiveSample) => string;
  /** Devices with subscriptions. */
  readonly size: number;
}

interface Audience {
  readonly byTopic: Map<string, Set<Interest>>;
  readonly wildcard: Set<Interest>;
}

/** What several nodes need of the index. */
export interface NodesOfFanOut {
  readonly stream: JournalStream;
  /** Called when a device gets its first subscription, and when it loses the last one. */
  readonly followed: (assetId: string, isFollowed: boolean) => void;
}

/** An empty index; one per process. Samples have a journal if and only if there are several nodes. */
export function createFanOut(workspaces: WorkspaceFanOut, nodes?: NodesOfFanOut): FanOut {
  const cursorOf = nodes?.stream.cursorOf ?? ownCursor;
  const audiences = new Map<string, Audience>();
  let firstCursor: string | undefined;
  let lastCursor: string | undefined;

  function publishOne(sample: LiveSample, now: EpochMs): void {
    const frame = publishToDevice(sample, now);
    if (workspaces.size > 0) workspaces.publishSample(sample, frame, cursorOf);
  }

  /** Returns the frame, if any session is interested. */
  function publishToDevice(sample: LiveSample, now: EpochMs): Buffer | undefined {
    const audience = audiences.get(sample.deviceId);
    if (audience === undefined) return undefined;
    const byTopic = audience.byTopic.get(sample.topic);
    if (byTopic === undefined && audience.wildcard.size === 0) return undefined;
    const frame = sampleFrame(sample, now, cursorOf(sample));
    for (const interest of audience.wildcard) deliver(interest, sample, frame, firstCursor);
    for (const interest of byTopic ?? [])
      if (interest.wildcard === undefined) deliver(interest, sample, frame, firstCursor);
    return frame;
  }

  return {
    workspaces,
    publish(samples, now) {
      for (const sample of samples) {
        if (!sample.stored) continue;
        if (nodes === undefined) firstCursor ??= sample.cursor;
        publishOne(sample, now);
        // Set after publishing, so that a reader that spills continues from the sample before this
        // one.
        if (nodes !== undefined) nodes.stream.published(sample);
        else if (lastCursor === undefined || sample.cursor > lastCursor) lastCursor = sample.cursor;
      }
    },
    pass(first, last) {
      firstCursor ??= first;
      if (lastCursor === undefined || last > lastCursor) lastCursor = last;
    },
    add(interest, { assetId, topic }) {
      const audience = audiences.get(assetId) ?? { byTopic: new Map(), wildcard: new Set() };
      if (!audiences.has(assetId)) nodes?.followed(assetId, true);
      audiences.set(assetId, audience);
      addTo(audience, interest, topic);
    },
    remove(interest, { assetId, topic }) {
      const audience = audiences.get(assetId);
      if (audience === undefined) return;
      removeFrom(audience, interest, topic);
      if (audience.byTopic.size > 0 || audience.wildcard.size > 0) return;
      audiences.delete(assetId);
      nodes?.followed(assetId, false);
    },
    interestsIn(assetId) {
      const audience = audiences.get(assetId);
      if (audience === undefined) return [];
      const interests = new Set(audience.wildcard);
      for (const byTopic of audience.byTopic.values())
        for (const interest of byTopic) interests.add(interest);
      return [...interests];
    },
    get firstCursor() {
      return firstCursor;
    },
    get lastCursor() {
      return nodes === undefined ? lastCursor : nodes.stream.place;
    },
    cursorOf,
    journals: nodes?.stream,
    get size() {
      return audiences.size;
    },
  };
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
  } else if (entry.samples.length > 0) fanOut.publish(entry.samples, now());
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
