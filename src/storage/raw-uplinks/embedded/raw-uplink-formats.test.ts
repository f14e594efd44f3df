// Files of raw uplinks that this program must leave alone: of another version, or with what a journal that lost its end cannot give again.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { replaceChecked } from '../../log/durable-file.ts';
import { readFrame, writeFrame } from '../../log/frame.ts';
import { EmbeddedUplinks, type EmbeddedUplinksOptions } from './embedded-uplinks.ts';
import { positionBehindUplinks, verifyRawUplinks } from './uplink-segment.ts';
import type { RawUplinkStore } from '../raw-uplink-store.ts';

const deviceId = '0200000000000001';
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'heliograph-uplink-files-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function open(more: Partial<EmbeddedUplinksOptions> = {}): Promise<RawUplinkStore> {
  return EmbeddedUplinks.open({
    directory,
    now: () => 1_000,
    retentionMs: 1e9,
    bytesMax: Number.POSITIVE_INFINITY,
    followedFrom: undefined,
    damaged: ({ path }) => expect.fail(`${path} is told as damaged`),
    // Each uplink is a block.
    limits: { blockBytes: 1 },
    ...more,
  });
}

async function add(store: RawUplinkStore, from: number, to: number): Promise<void> {
  for (let position = from; position < to; position++) {
    const payload = { topic: null, timestamp: null, body: { position }, bodyBytes: 10 };
    const uplink = {
      id: `id-${position}`,
      deviceId,
      position,
      receivedAt: 900,
      payload,
      samples: null,
      duplicates: 0,
    };
    await store.add([uplink], position + 1);
  }
}

const positions = async (store: RawUplinkStore) =>
  (await store.list({ deviceId, skip: 0, limit: 1_000 })).uplinks
    .map(({ position }) => position)
    .toReversed();
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);
const file = (suffix: string) =>
  join(directory, readdirSync(directory).find((name) => name.endsWith(suffix))!);

test.each([
  ['lost its end', true],
  ['lost nothing', false],
])(
  'review reliability 5: blocks behind the follower, the journal %s: each uplink is there once',
  async (_, lost) => {
    const before = await open();
    await add(before, 0, 30);
    await before.close();
    rmSync(join(directory, 'durable.json'));
    expect(await positionBehindUplinks(directory)).toBe(30);
    const asked: number[][] = [];
    const isLost = (from: number, to: number) => {
      asked.push([from, to]);
      return lost;
    };
    const store = await open({ followedFrom: 10, isLost });
    expect(asked).toEqual([[10, 30]]);
    expect(await positions(store)).toEqual(upTo(lost ? 30 : 10));
    // What is left of the journal comes again, and then what is new.
    await add(store, 10, lost ? 20 : 30);
    await add(store, 30, 35);
    expect(await positions(store)).toEqual(upTo(35));
    await store.close();
  },
);

test('the newest position is known of closed segments and of none', async () => {
  expect(await positionBehindUplinks(join(directory, 'none'))).toBe(0);
  expect(await positionBehindUplinks(directory)).toBe(0);
  const store = await open({ limits: { blockBytes: 1, segmentBytes: 500 } });
  await add(store, 0, 12);
  await store.close();
  expect(existsSync(file('.index'))).toBe(true);
  expect(await positionBehindUplinks(directory)).toBe(12);
});

/** Gives the frame the type of a later format. */
async function newerBlock(): Promise<void> {
  const path = file('.uplinks');
  const bytes = readFileSync(path);
  const frame = readFrame(bytes, 0);
  if (typeof frame === 'string') throw new Error(frame);
  writeFrame(bytes, 0, { ...frame, type: frame.type + 1 }, Buffer.from(frame.payload));
  writeFileSync(path, bytes);
}

/** What the index says of its format is replaced. */
async function otherIndex(format: string): Promise<void> {
  const path = file('.index');
  const bytes = readFileSync(path);
  const end = 8 + bytes.readUInt32LE(4);
  const head = Buffer.from(bytes.toString('utf8', 8, end).replace('"format":1,', format));
  const prefix = Buffer.alloc(8);
  prefix.writeUInt32LE(crc32(head), 0);
  prefix.writeUInt32LE(head.length, 4);
  writeFileSync(path, Buffer.concat([prefix, head, bytes.subarray(end)]));
}

const newerMark = () =>
  replaceChecked(join(directory, 'durable.json'), '{"format":2,"sequence":1,"bytes":10}');

const newer = /was written by a newer version \(format 2; this version supports 1\)\. Start that/;
const unreleased = /was written by a development version before release 0\.2\.0, .*\. Set DATA_DIR/;

test.each([
  ['a block of a newer version', 1_000_000, newerBlock, newer],
  ['an index of a newer version', 100, () => otherIndex('"format":2,'), newer],
  ['a mark of a newer version', 1_000_000, newerMark, newer],
  ['an index without a format', 100, () => otherIndex(''), unreleased],
])(
  'review reliability 23: %s is refused with a sentence, and nothing changes',
  async (_, segmentBytes, make, sentence) => {
    const store = await open({ limits: { blockBytes: 1, segmentBytes } });
    await add(store, 0, 3);
    await store.close();
    await make();
    const before = readdirSync(directory).map((name) => readFileSync(join(directory, name), 'hex'));
    await expect(open({ followedFrom: 0 })).rejects.toThrow(sentence);
    await expect(verifyRawUplinks(directory)).rejects.toThrow(sentence);
    expect(
      readdirSync(directory).map((name) => readFileSync(join(directory, name), 'hex')),
    ).toEqual(before);
  },
);
