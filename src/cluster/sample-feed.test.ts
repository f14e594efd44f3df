// Sample feed: what a follower gets of a real journal, live and from the files, with marks over foreign entries.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { setRepeatingTimer } from '../structures/timers.ts';
import { openEmbeddedStore } from '../storage/samples/embedded/embedded-store.ts';
import { openSamples } from '../storage/samples/samples.ts';
import { inJournal } from '../live/sessions/journal-stream.ts';
import type { LiveSample } from '../live/sessions/stream-position.ts';
import { type DurableEntry, type JournalEntry, readCursor } from '../model/journal-entry.ts';
import {
  EntryTail,
  offerSamples,
  sampleFeed,
  type SampleFeedMessage,
  type SampleFeedRequest,
} from './sample-feed.ts';
import { createConnectionDialer } from './nodes/http/dialed-connections.ts';
import { Feeds } from './nodes/feeds.ts';
import { InternalPort } from './nodes/http/internal-port.ts';

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
const positionOf = ({ cursor }: LiveSample) => readCursor(cursor)?.position ?? -1;

function follow(request: SampleFeedRequest) {
  const abort = new AbortController();
  let change: (request: unknown) => void = () => undefined;
  const feed = offerSamples({
    log: samples.log,
    journal: () => 'journal-a',
    tail,
    setRepeatingTimer,
    failed: (error) => failures.push(error),
  })({
    request,
    from: 'b',
    signal: abort.signal,
    onChange: (listener) => (change = listener),
  })[Symbol.asyncIterator]();
  return {
    async next(): Promise<SampleFeedMessage> {
      const { value } = await feed.next();
      return value as SampleFeedMessage;
    },
    async until(position: number): Promise<LiveSample[]> {
      const found: LiveSample[] = [];
      for (;;) {
        const { samples: sent, next } = await this.next();
        found.push(...sent);
        if (next >= position) return found;
      }
    },
    change: (changed: object) => change(changed),
    async close() {
      abort.abort();
      while ((await feed.next()).done !== true);
    },
  };
}

test('older entries come from the files, newer ones from memory, in order and once', async () => {
  const written: DurableEntry[] = [];
  for (let n = 0; n < 60; n++) written.push(await append(n, false));
  const feed = follow({ interest: { all: true }, from: 0 });
  expect(await feed.next()).toMatchObject({ journal: 'journal-a', samples: [], next: 0 });
  const found = await feed.until(60);
  for (let n = 0; n < 60; n++) written.push(await append(n, n % 7 !== 0));
  found.push(...(await feed.until(120)));
  const expected = written.flatMap((entry) =>
    entry.samples.map((sample) => inJournal(sample, 'journal-a')),
  );
  expect(found).toEqual(expected);
  await feed.close();
});

test('a mark says how far a follower is that nothing is for, and up to which time', async () => {
  const feed = follow({ interest: { workspaces: [idOf(101)] }, from: 0 });
  await feed.next();
  await append(1);
  expect(await feed.next()).toMatchObject({ samples: [{ deviceId: idOf(1) }], next: 1 });
  for (let n = 0; n < 5; n++) await append(3);
  expect(await feed.until(6)).toEqual([]);
  expect(await feed.next()).toEqual({ samples: [], next: 6, before: now, confirmed: 0 });
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
          found.push(...(await feed.next()).samples.map(positionOf));
      }
      tail.announced(await append(8, false));
      if (ids.includes(102)) expected.push(samples.log.position - 1);
      found.push(...(await feed.until(samples.log.position)).map(positionOf));
      await feed.close();
      expect(found).toEqual(expected);
    },
  );
  await fc.assert(property, { numRuns: 40 });
  expect(failures).toEqual([]);
});

test('what is wanted while the connection is opened is sent from the first entry on', async () => {
  // Entries that the node stored meanwhile are in memory, and are sent as soon as the feed is open.
  const unfollow = tail.follow(() => undefined);
  await append(1);
  const offered = offerSamples({
    log: samples.log,
    journal: () => 'journal-a',
    tail,
    setRepeatingTimer,
    failed: (error) => failures.push(error),
  });
  const secret = 'a long and random secret of the tests 0123456789';
  const internal = new InternalPort({
    id: 'a',
    secret,
    feeds: new Map([[sampleFeed, offered]]),
    handlers: new Map(),
    servesMqtt: () => true,
    acceptMqtt: (socket) => void socket.destroy(),
    holds: () => true,
    failed: (_, error) => failures.push(error),
    serve: (_, response) => void response.end(),
    refused: (_, reason) => failures.push(reason),
  });
  const port = await internal.listen({ host: '127.0.0.1', port: 0 });
  const to = { id: 'a', url: `http://127.0.0.1:${port}` };
  const feeds = new Feeds(createConnectionDialer({ id: 'b', secret }));
  let wanted: SampleFeedRequest = { interest: {}, number: 0, from: 0 };
  const feed = feeds.follow(to, sampleFeed, () => wanted);
  const messages = feed[Symbol.asyncIterator]() as AsyncIterator<SampleFeedMessage>;
  const first = messages.next();
  const interest = { devices: [idOf(1)] };
  wanted = { interest, number: 1, from: 0 };
  feed.change({ interest, number: 1 });
  const found: string[] = [];
  for (let next = await first; next.done !== true; next = await messages.next()) {
    found.push(...next.value.samples.map(({ deviceId }) => deviceId));
    if (next.value.confirmed === 1 && next.value.next === 1) break;
  }
  expect(found).toEqual([idOf(1)]);
  feed.close();
  feeds.close();
  await internal.close();
  unfollow();
  expect(failures).toEqual([]);
});
