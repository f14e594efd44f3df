// Entry feed: what a follower gets of a real journal, live and from the files, with marks over foreign entries.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { setRepeatingTimer, setTimer } from '../structures/timers.ts';
import { openEmbeddedStore } from '../storage/samples/embedded/embedded-store.ts';
import { openSamples } from '../storage/samples/samples.ts';
import type { DurableEntry, JournalEntry } from '../model/journal-entry.ts';
import {
  createEntryFeed,
  type EntryFeedMessage,
  type EntryFeedRequest,
  EntryTail,
  entryFeed,
  followEntries,
} from './entry-feed.ts';
import { LinkSwitch } from './nodes/links/in-process-links.ts';
import type { OpenedFeed } from './nodes/links/links.ts';

let folder: string;
let samples: Awaited<ReturnType<typeof open>>;
let now = 1_700_000_000_000;
let tail: EntryTail;

function open() {
  return openSamples({
    directory: folder,
    now: () => now,
    openStore: (surroundings) =>
      openEmbeddedStore({ directory: join(folder, 'segments'), ...surroundings }),
    journalSegmentBytes: 2_000,
    resumeBytesMax: 0,
  });
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'entry-feed-'));
  samples = await open();
  tail = new EntryTail();
});
afterEach(async () => {
  await samples.close();
  rmSync(folder, { recursive: true });
});

const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

/** Workspaces are those of the devices. */
async function append(device: number, isAnnounced = true): Promise<DurableEntry> {
  now += 10;
  const workspaceId = idOf(100 + (device % 3));
  const sample = {
    deviceId: idOf(device),
    topic: 'default',
    timestamp: now,
    data: { now },
    organizationId: idOf(99),
    workspaceId,
    dataFlowId: null,
    correlationId: idOf(50),
    stored: true,
  };
  const entry: JournalEntry = {
    deviceId: idOf(device),
    receivedAt: now,
    samples: [sample],
    notes: [],
  };
  const durable = await samples.append(entry);
  if (isAnnounced) tail.announced(durable);
  return durable;
}

const failures: unknown[] = [];

function follow(request: EntryFeedRequest) {
  const abort = new AbortController();
  let change: (request: unknown) => void = () => undefined;
  const feed = createEntryFeed({
    log: samples.log,
    journal: () => 'journal-a',
    tail,
    setRepeatingTimer,
    failed: (error) => failures.push(error),
  })({
    request: request,
    signal: abort.signal,
    onChange: (listener) => (change = listener),
  });
  return {
    async next(): Promise<EntryFeedMessage> {
      const { value } = await feed.next();
      return value as EntryFeedMessage;
    },
    async until(position: number): Promise<DurableEntry[]> {
      const found: DurableEntry[] = [];
      for (;;) {
        const { entries, next } = await this.next();
        found.push(...entries);
        if (next >= position) return found;
      }
    },
    change: (changed: object) => change(changed),
    async close() {
      abort.abort();
      for await (const _ of feed) expect(_).toBeDefined();
    },
  };
}

test('older entries come from the files, newer ones from memory, in order and once', async () => {
  const written: DurableEntry[] = [];
  for (let n = 0; n < 60; n++) written.push(await append(n, false));
  const feed = follow({ interest: { all: true }, from: 0 });
  expect(await feed.next()).toMatchObject({ journal: 'journal-a', entries: [], next: 0 });
  const found = await feed.until(60);
  for (let n = 0; n < 60; n++) written.push(await append(n, n % 7 !== 0));
  found.push(...(await feed.until(120)));
  const plain = ({ position, deviceId, samples: rows }: DurableEntry) => ({
    position,
    deviceId,
    samples: rows.map((row) => ({ ...row })),
  });
  expect(found.map(plain)).toEqual(written.map(plain));
  await feed.close();
});

test('a mark says how far a follower is that nothing is for, and up to which time', async () => {
  const feed = follow({ interest: { workspaces: [idOf(101)] }, from: 0 });
  await feed.next();
  await append(1);
  expect(await feed.next()).toMatchObject({ entries: [{ position: 0 }], next: 1 });
  for (let n = 0; n < 5; n++) await append(3);
  expect(await feed.until(6)).toEqual([]);
  expect(await feed.next()).toEqual({ entries: [], next: 6, before: now, confirmed: 0 });
  await feed.close();
});

test('a change of the interest is confirmed, and holds for all later entries', async () => {
  const feed = follow({ interest: { devices: [idOf(1)] } });
  await feed.next();
  await append(2);
  feed.change({ number: 4, interest: { devices: [idOf(2)], withoutDevices: [idOf(1)] } });
  let message = await feed.next();
  while (message.confirmed !== 4) message = await feed.next();
  const { next } = message;
  await append(1);
  await append(2);
  expect((await feed.until(next + 2)).map(({ deviceId }) => deviceId)).toEqual([idOf(2)]);
  await feed.close();
});

test('a position that was released is refused with the oldest one', async () => {
  for (let n = 0; n < 100; n++) await append(n);
  await samples.log.release(100);
  const oldest = samples.log.firstPosition;
  expect(oldest).toBeGreaterThan(0);
  const feed = follow({ interest: { all: true }, from: 0 });
  await expect(feed.next()).rejects.toMatchObject({ problem: 'cursorTooOld' });
  const future = follow({ interest: { all: true }, from: 101 });
  await expect(future.next()).rejects.toMatchObject({ problem: 'invalidRequest' });
});

test('any order of appends, announcements, reads and changes gives each wanted entry once', async () => {
  const step = fc.oneof(
    fc.record({ append: fc.nat(8), isAnnounced: fc.boolean() }),
    fc.record({ read: fc.constant(true) }),
  );
  const wanted = fc.subarray([100, 101, 102]);
  const property = fc.asyncProperty(
    fc.array(step, { maxLength: 40 }),
    wanted,
    async (steps, ids) => {
      const from = samples.log.position;
      const feed = follow({ interest: { workspaces: ids.map(idOf) }, from });
      await feed.next();
      const expected: number[] = [];
      const found: number[] = [];
      for (const each of steps) {
        if ('append' in each) {
          const { position } = await append(each.append, each.isAnnounced);
          if (ids.includes(100 + (each.append % 3))) expected.push(position);
        } else if (found.length < expected.length)
          found.push(...(await feed.next()).entries.map(({ position }) => position));
      }
      tail.announced(await append(8, false));
      if (ids.includes(102)) expected.push(samples.log.position - 1);
      found.push(...(await feed.until(samples.log.position)).map(({ position }) => position));
      await feed.close();
      expect(found).toEqual(expected);
    },
  );
  await fc.assert(property, { numRuns: 40 });
  expect(failures).toEqual([]);
});

test('what is wanted while the link is opened is sent from the first entry on', async () => {
  // Entries that the node stored meanwhile are in memory, and are sent as soon as the feed is open.
  const unfollow = tail.follow(() => undefined);
  await append(1);
  const offered = createEntryFeed({
    log: samples.log,
    journal: () => 'journal-a',
    tail,
    setRepeatingTimer,
    failed: (error) => failures.push(error),
  });
  const feeds = new Map([[entryFeed, (opened: OpenedFeed) => offered(opened)]]);
  const linkSwitch = new LinkSwitch({
    carry: () => 1,
    setTimer,
    setRepeatingTimer,
    failed: (_, error) => failures.push(error),
  });
  const disconnect = linkSwitch.connect('a', feeds);
  const links = linkSwitch.linksOf('b');
  let wanted: EntryFeedRequest = { interest: {}, number: 0, from: 0 };
  const followed = followEntries({
    follow: (feed, request) => links.follow({ id: 'a', url: 'http://a' }, feed, request),
    request: () => wanted,
    broken: (error) => failures.push(error),
    wait: () => Promise.resolve(),
  });
  const messages = followed.messages[Symbol.asyncIterator]();
  const first = messages.next();
  const interest = { devices: [idOf(1)] };
  wanted = { interest, number: 1, from: 0 };
  followed.change({ interest, number: 1 });
  const found: string[] = [];
  for (let next = await first; !next.done; next = await messages.next()) {
    found.push(...next.value.entries.map(({ deviceId }) => deviceId));
    if (next.value.confirmed === 1 && next.value.next === 1) break;
  }
  expect(found).toEqual([idOf(1)]);
  followed.close();
  await links.close();
  await disconnect();
  unfollow();
  expect(failures).toEqual([]);
});
