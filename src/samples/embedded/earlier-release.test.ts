// A folder of the release before tables, as a crash left it, opens and takes new rows.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { hourMs } from '../../model/instant.ts';
import { allSamples, entryOf, type Given } from '../conformance/sample-entries.ts';
import { openTestSamples, type TestSamples } from '../testing-samples.ts';
import { verifyStore } from './verify-chunks.ts';

const start = Date.UTC(2026, 2, 1);
const rounds = 8;
const written = JSON.parse(
  readFileSync(join(import.meta.dirname, 'earlier-release.json'), 'utf8'),
) as { readonly files: Readonly<Record<string, string>> };
let directory: string;
let store: TestSamples;

const open = (): Promise<TestSamples> => openTestSamples({ directory, now: () => 1 });

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'heliograph-earlier-'));
  for (const [name, content] of Object.entries(written.files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), gunzipSync(Buffer.from(content, 'base64')));
  }
  store = await open();
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

/** What the device sent in that round. */
function entry(d: number, round: number): Given[] {
  const at = start + round * 900_000 + d;
  const data = {
    t: d + round / 10,
    on: round % 2 === 0,
    label: `l${d % 3}`,
    inner: { n: round },
  };
  const side = { list: [round], n: round / 7 };
  return [
    { at, data, ...(round % 3 === 0 && { meta: { round } }) },
    { at, data: side, topic: 'side', dataFlowId: d % 2 === 0 ? 'f2' : null },
  ];
}

async function send(d: number, round: number): Promise<number> {
  return (await store.append(entryOf(`d${d}`, entry(d, round)))).samples.length;
}

/** The device was dropped in the midst. */
function firstRound(d: number): number {
  return d === 11 ? 6 : 0;
}

async function expectAll(end: number): Promise<void> {
  for (let d = 0; d < 12; d++) {
    const sent = Array.from({ length: end - firstRound(d) }, (_, i) => entry(d, firstRound(d) + i));
    const read = (await allSamples(store, `d${d}`)).toReversed();
    expect(
      read.map(({ timestamp, topic, data, meta }) => ({ timestamp, topic, data, meta })),
    ).toEqual(
      sent.flat().map(({ at, topic = 'default', data, meta }) => ({
        timestamp: at,
        topic,
        data,
        meta,
      })),
    );
  }
  const samples = 2 * (11 * end + end - 6);
  expect(await store.usage()).toEqual(
    new Map([['w1', { samples, bytes: expect.any(Number) as number }]]),
  );
}

test('everything is there, is recognized when it comes again, and stays', async () => {
  expect(await verifyStore(directory)).toMatchObject({ damage: [], tornBytes: 0 });
  expect(store.damage).toEqual([]);
  await expectAll(rounds);
  for (let d = 0; d < 12; d++)
    for (const round of [6, 7, firstRound(d)]) expect(await send(d, round)).toBe(0);
  await store.sealAll();
  await expectAll(rounds);
  await store.close();
  store = await open();
  await expectAll(rounds);
  expect(store.damage).toEqual([]);
});

test('new rows come to the old ones, in every read and after every end', async () => {
  for (let round = rounds; round < rounds + 4; round++) {
    for (let d = 0; d < 12; d++) expect(await send(d, round)).toBe(2);
    if (round === rounds + 1) await store.sealAll();
  }
  await expectAll(rounds + 4);
  const edges = [0, 1, 2, 3].map((hour) => start + hour * hourMs);
  const request = { deviceIds: ['d3'], topic: 'default', dataKey: 'inner.n', edges };
  for (const source of ['raw', 'hours'] as const) {
    const [found] = await store.buckets({ ...request, source, accumulator: 'COUNT' });
    expect(found).toMatchObject([{ count: 4 }, { count: 4 }, { count: 4 }]);
  }
  await store.close();
  expect((await verifyStore(directory)).damage).toEqual([]);
  store = await open();
  await expectAll(rounds + 4);
  await store.dropDevice('d3');
  expect(await allSamples(store, 'd3')).toEqual([]);
  expect(await store.topics('d3')).toEqual([]);
});
