// Requests with an Idempotency-Key in columns have the parts of parsed elements: a repetition finds them, also after an upgrade.
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { jsonArrayGroups } from '../../transports/http/json-groups.ts';
import { sampleGroups, type SampleGroup } from '../../transports/http/sample-groups.ts';
import { durablePart, type StoredPart } from '../../model/journal-entry.ts';
import { Attempts } from '../idempotency/idempotency.ts';
import {
  bodyOf,
  closePlatforms,
  limits,
  type Platform,
  platform,
  requestElements,
  send,
  stateOf,
} from './testing-backfill.ts';

afterAll(closePlatforms);
let runs = 0;

/** Breaks off behind `bytesMax`. */
async function* cut(body: string, size: number, bytesMax = Number.POSITIVE_INFINITY) {
  const bytes = Buffer.from(body);
  for (let at = 0; at < bytes.length; at += size) {
    yield bytes.subarray(at, Math.min(at + size, bytesMax));
    if (at + size > bytesMax) throw new Error('the connection broke');
  }
}

interface Tried {
  readonly answer: unknown;
  readonly parts: readonly StoredPart[];
}

/** One try of a request, and the parts that are durable after it. */
async function tried(
  on: Platform,
  groups: AsyncIterable<SampleGroup>,
  before: readonly StoredPart[] = [],
): Promise<Tried> {
  let parts: readonly StoredPart[] = [];
  let answer: unknown;
  const attempts = new Attempts({
    find: async () => undefined,
    reserve: async () => undefined,
    complete: async () => undefined,
    interrupt: async (_, durable) => void (parts = durable),
    release: async () => undefined,
    create: () => Promise.reject(new Error('needs records')),
    failed: () => undefined,
  });
  const request = { id: 'key', bodyHash: '', firstSeenAt: 7, durable: before };
  await attempts
    .run(request, async (attempt) => {
      answer = await send(on, groups, attempt).catch((error: Error) => error.message);
      // Asks for the parts.
      throw new Error('not answered');
    })
    .catch(() => undefined);
  return { answer, parts: parts.toSorted((a, b) => (a.part < b.part ? -1 : 1)) };
}

const small = { ...limits, groupBytes: 250 };
const byElements = (chunks: AsyncIterable<Uint8Array>) => jsonArrayGroups(chunks, small);
const byColumns = (chunks: AsyncIterable<Uint8Array>) => sampleGroups(chunks, 'fixed', small);

test('property: a request that broke off is completed by its repetition, in columns or not, with other chunks', async () => {
  const ways = await Promise.all(
    [
      [byElements, byElements],
      [byElements, byColumns],
      [byColumns, byColumns],
      [byColumns, byElements],
    ].map(async ([first, second], i) => ({
      on: await platform(String(i)),
      first: first!,
      second: second!,
    })),
  );
  let repeated = 0;
  await fc.assert(
    fc.asyncProperty(
      requestElements,
      fc.constantFrom(undefined, 1),
      fc.tuple(fc.integer({ min: 1, max: 900 }), fc.integer({ min: 1, max: 900 })),
      fc.nat(3_000),
      async (elements, indent, [size, other], place) => {
        const run = runs++;
        const body = bodyOf(elements, run, indent);
        const results: unknown[] = [];
        for (const [i, { on, first, second }] of ways.entries()) {
          const firstSize = i % 2 === 0 ? size : other;
          const broken = await tried(on, first(cut(body, firstSize, place % (body.length + 1))));
          const whole = await tried(on, second(cut(body, other)), broken.parts);
          if (first === byColumns && broken.parts.length > 0) repeated++;
          results.push({ whole, state: await stateOf(on, run) });
        }
        for (const result of results.slice(1)) expect(result).toEqual(results[0]);
      },
    ),
    { numRuns: 120 },
  );
  expect(repeated).toBeGreaterThan(20);
});

// The bytes are not those that the parser would write: they have spaces and zeros.
const sent = `[
  {"timestamp": "2026-01-01T00:00:00Z", "deviceId": "d0-x", "data": {"t": 20.50, "on": true}},
  {"timestamp": "2026-01-01T00:00:00Z", "deviceId": "p1-x", "data": {"t": -0.0, "on": false}},
  {"timestamp": "2026-01-01T00:01:00Z", "deviceId": "d0-x", "data": {"t": 1e1, "on": true}}
]`.replaceAll('-x', '-99');
const hashes = {
  'd0-99': 'tmseu1U44IOoTZswSKX84JEBBzYyO84z0qkebqs3vrc',
  'd1-99': 'R-o5zkxNg3istLiPBVQ37bkyTsN9HXiURUK3x5Lg0SQ',
};

test('names and hashes of parts stay the same, in the answer and in the journal', async () => {
  for (const groups of [byElements, byColumns]) {
    const on = await platform(groups === byColumns ? 'named by columns' : 'named by elements');
    const { parts } = await tried(on, groups(cut(sent, 40)));
    const named = Object.entries(hashes).map(([id, contentHash]) => ({
      part: `0.${id}`,
      contentHash,
      receivedAt: 7,
    }));
    expect(parts).toMatchObject(named);
    const keys: (string | undefined)[] = [];
    for await (const entries of on.store.entriesFrom(0))
      for (const { trace } of entries) keys.push(trace?.duplicateKey);
    const expected = named.map(({ part, contentHash }) =>
      durablePart.toDuplicateKey({ id: 'key', part, contentHash }),
    );
    expect(keys).toEqual(expected);
  }
});

test('another body with the key is refused', async () => {
  const on = await platform('another body');
  const { parts } = await tried(on, byColumns(cut(sent, 40)));
  expect(parts).toHaveLength(2);
  const { answer } = await tried(on, byColumns(cut(sent.replace('20.50', '20.51'), 40)), parts);
  expect(answer).toMatchObject({ problem: 'idempotencyKeyReused' });
  const same = await tried(on, byColumns(cut(sent, 33)), parts);
  expect(same).toEqual({ answer: { accepted: 3, duplicates: 0, stored: 3, rejected: [] }, parts });
});
