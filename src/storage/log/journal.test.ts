// The journal: group commit, failing disks, rotation and dropping, reading while writing, and what a crash leaves behind.
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Disk, realDisk } from './durable-file.ts';
import { FollowerPositions, logDamage } from './journal-recovery.ts';
import { frameBytes, frameHeaderBytes, frameTypes, scanFrames, writeFrame } from './frame.ts';
import { type EncodedEntry, entryCountOf } from './journal-block.ts';
import { Journal, type JournalOptions } from './journal.ts';

let directory: string;
const opened: Journal[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'journal-'));
});

afterEach(async () => {
  for (const journal of opened.splice(0)) await journal.close();
  rmSync(directory, { recursive: true });
});

async function open(options: Partial<JournalOptions> = {}): Promise<Journal> {
  const journal = await Journal.open({
    directory,
    now: () => 1,
    visitFrom: 0,
    visit: () => {},
    onLost: () => {},
    segmentBytes: 1024 * 1024,
    ...options,
  });
  opened.push(journal);
  return journal;
}

const bytes = (text: string): Buffer => Buffer.from(text);
const entry = (text: string): EncodedEntry => ({ payload: bytes(text), definitions: [] });

async function texts(journal: Journal, from = 0): Promise<string[]> {
  const found: string[] = [];
  for await (const frames of journal.read(from))
    found.push(...frames.map(({ payload }) => payload.toString()));
  return found;
}

/** A disk that counts, and fails where told. */
function testDisk(): Disk & {
  writes: number;
  syncs: number;
  failWrite?: string;
  failSync?: string;
  failTruncate?: string;
} {
  const fail = (code: string): Promise<never> =>
    Promise.reject(Object.assign(new Error(code), { code }));
  return {
    writes: 0,
    syncs: 0,
    write(fd, data, offset) {
      this.writes++;
      // Half of it gets there, as on a real disk that runs full.
      if (this.failWrite !== undefined) {
        const { failWrite } = this;
        return realDisk
          .write(fd, data.subarray(0, data.length >> 1), offset)
          .then(() => fail(failWrite));
      }
      return realDisk.write(fd, data, offset);
    },
    sync(fd) {
      this.syncs++;
      return this.failSync === undefined ? realDisk.sync(fd) : fail(this.failSync);
    },
    truncate(fd, length) {
      return this.failTruncate === undefined
        ? realDisk.truncate(fd, length)
        : fail(this.failTruncate);
    },
  };
}

test('appends of one moment share a sync, and what comes during a flush shares the next', async () => {
  const disk = testDisk();
  const journal = await open({ disk });
  await journal.append(entry('first')).durable;
  disk.writes = disk.syncs = 0;
  const appended = Array.from({ length: 500 }, (_, i) => journal.append(entry(`e${i}`)));
  expect(appended.map(({ position }) => position)).toEqual(
    Array.from({ length: 500 }, (_, i) => i + 1),
  );
  expect(journal.position()).toBe(1);
  await Promise.all(appended.map(({ durable }) => durable));
  expect([disk.writes, disk.syncs, journal.position()]).toEqual([1, 1, 501]);
});

describe('leases that lapse', () => {
  test.each([
    ['another process may have held them meanwhile', 1],
    ['they are not valid', Number.NaN],
  ])('what is written across it is cut off, because %s', async (_, after) => {
    const leases = { continuity: 0, afterSync: 0 };
    let losses = 0;
    const told: string[] = [];
    const disk: Disk = {
      ...realDisk,
      async sync(fd) {
        await realDisk.sync(fd);
        leases.continuity = leases.afterSync;
      },
    };
    const journal = await open({
      disk,
      continuity: () => leases.continuity,
      onLost: () => losses++,
      onWriting: ({ kind }) => told.push(kind),
    });
    await journal.append(entry('kept')).durable;
    leases.afterSync = after;
    const cut = [journal.append(entry('a')), journal.append(entry('b'))];
    const outcomes = await Promise.allSettled(cut.map(({ durable }) => durable));
    expect(outcomes).toMatchObject(cut.map(() => ({ reason: { problem: 'deviceMoved' } })));
    expect([losses, journal.position(), await texts(journal)]).toEqual([1, 1, ['kept']]);
    Object.assign(leases, { continuity: 2, afterSync: 2 });
    await journal.append(entry('after')).durable;
    await journal.close();
    const reopened = await open();
    expect([await texts(reopened), reopened.damage, told]).toEqual([['kept', 'after'], [], []]);
  });
});

describe('a failing disk', () => {
  test('full: appends are refused with 507, reads go on, and it recovers when space returns', async () => {
    const disk = testDisk();
    let losses = 0;
    const told: string[] = [];
    const onWriting: JournalOptions['onWriting'] = (state) => void told.push(state.kind);
    const journal = await open({ disk, onLost: () => losses++, onWriting });
    await journal.append(entry('kept')).durable;
    disk.failWrite = 'ENOSPC';
    const refused = [journal.append(entry('a')), journal.append(entry('b'))];
    const outcomes = await Promise.allSettled(refused.map(({ durable }) => durable));
    expect(outcomes.map((o) => o.status === 'rejected' && o.reason.problem)).toEqual([
      'storageFull',
      'storageFull',
    ]);
    expect([losses, journal.position(), await texts(journal)]).toEqual([1, 1, ['kept']]);
    delete disk.failWrite;
    expect(journal.append(entry('after')).position).toBe(1);
    await journal.newest();
    expect(await texts(journal)).toEqual(['kept', 'after']);
    expect(told).toEqual(['full', 'writing']);
    await journal.close();
    expect(await texts(await open())).toEqual(['kept', 'after']);
  });

  test('full at the very first segment leaves nothing behind', async () => {
    const disk = testDisk();
    const journal = await open({ disk });
    disk.failWrite = 'ENOSPC';
    await expect(journal.append(entry('a')).durable).rejects.toMatchObject({
      problem: 'storageFull',
    });
    expect(readdirSync(directory)).toEqual([]);
    delete disk.failWrite;
    await journal.append(entry('b')).durable;
    expect(await texts(journal)).toEqual(['b']);
  });

  test.each([
    ['a sync that fails', { failSync: 'EIO' }],
    ['a write that fails', { failWrite: 'EIO' }],
    ['a full disk that cannot be cut back', { failWrite: 'ENOSPC', failTruncate: 'EIO' }],
  ])('%s stops writing for good; it is never tried again and acknowledged', async (_, failure) => {
    const disk = testDisk();
    const told: unknown[] = [];
    const journal = await open({ disk, onWriting: (state) => void told.push(state) });
    await journal.append(entry('kept')).durable;
    Object.assign(disk, failure);
    await expect(journal.append(entry('a')).durable).rejects.toMatchObject({
      problem: 'storageStopped',
    });
    for (const key of Object.keys(failure)) delete disk[key as 'failSync'];
    expect(() => journal.append(entry('b'))).toThrow(
      expect.objectContaining({ problem: 'storageStopped' }),
    );
    expect(told).toEqual([
      { kind: 'stopped', error: expect.objectContaining({ code: Object.values(failure)[0] }) },
    ]);
    expect(await texts(journal)).toEqual(['kept']);
  });
});

describe('segments', () => {
  const small = { segmentBytes: 250, resumeBytesMax: 0, resumeAgeMsMax: 0 };

  async function fill(journal: Journal, count: number): Promise<void> {
    for (let i = 0; i < count; i++)
      await journal.append(entry(`entry ${i} ${'.'.repeat(60)}`)).durable;
  }

  test('are dropped when they lie before the position, unless they are kept for resuming', async () => {
    const clock = { now: 0 };
    const journal = await open({
      ...small,
      now: () => clock.now,
      resumeBytesMax: 700,
      resumeAgeMsMax: 1_000,
    });
    await fill(journal, 20);
    const before = readdirSync(directory).length;
    expect(await journal.dropBefore(0)).toBe(0);
    await journal.dropBefore(12);
    expect(journal.bytes()).toBeLessThanOrEqual(journal.firstPosition() >= 9 ? 2_500 : 700);
    expect(journal.firstPosition()).toBeGreaterThan(0);
    expect(journal.firstPosition()).toBeLessThanOrEqual(12);
    expect(readdirSync(directory).length).toBeLessThan(before);
    await journal.dropBefore(20);
    const kept = journal.bytes();
    clock.now = 5_000;
    await journal.dropBefore(20);
    expect(journal.bytes()).toBeLessThan(kept);
    expect((await texts(journal)).at(-1)).toContain('entry 19');
  });

  test('are not dropped under a reader', async () => {
    const journal = await open(small);
    await fill(journal, 12);
    const reader = journal.read(0);
    const first = await reader.next();
    await journal.dropBefore(12);
    const seen = [...(first.value ?? [])];
    for await (const frames of reader) seen.push(...frames);
    expect(seen.map(({ position }) => position)).toEqual(Array.from({ length: 12 }, (_, i) => i));
    expect(await journal.dropBefore(12)).toBeGreaterThan(0);
  });

  test('a time finds its position, and whether older entries are gone', async () => {
    const clock = { now: 0 };
    const journal = await open({ ...small, now: () => clock.now });
    for (let i = 0; i < 12; i++) {
      clock.now = 100 + i;
      await journal.append(entry(`entry ${i} ${'.'.repeat(60)}`)).durable;
    }
    expect(await journal.positionAt(0)).toEqual({ position: 0, complete: true });
    expect(await journal.positionAt(107)).toEqual({ position: 7, complete: true });
    expect(await journal.positionAt(500)).toEqual({ position: 12, complete: true });
    await journal.dropBefore(8);
    const oldest = journal.firstPosition();
    expect(await journal.positionAt(100 + oldest)).toEqual({ position: oldest, complete: true });
    expect(await journal.positionAt(99 + oldest)).toEqual({ position: oldest, complete: false });
  });

  test('a reader follows what is written while it reads', async () => {
    const journal = await open(small);
    await fill(journal, 3);
    const seen: number[] = [];
    for await (const frames of journal.read(1)) {
      seen.push(...frames.map(({ position }) => position));
      if (seen.length < 9) await fill(journal, 2);
    }
    expect(seen).toEqual(Array.from({ length: seen.length }, (_, i) => i + 1));
    expect(seen.length).toBeGreaterThanOrEqual(9);
  });
});

describe('recovery', () => {
  async function written(count: number): Promise<string> {
    const journal = await open();
    for (let i = 0; i < count; i++) await journal.append(entry(`entry ${i}`)).durable;
    await journal.close();
    return join(directory, readdirSync(directory)[0]!);
  }

  test('cuts a torn tail and writes on behind the last whole entry', async () => {
    const path = await written(5);
    truncateSync(path, statSync(path).size - 3);
    const journal = await open();
    expect(journal.damage.map(({ kind }) => kind)).toEqual(['tornTail']);
    expect(await texts(journal)).toEqual(['entry 0', 'entry 1', 'entry 2', 'entry 3']);
    expect(journal.append(entry('new')).position).toBe(4);
    await journal.close();
    const again = await open();
    expect(again.damage).toEqual([]);
    expect((await texts(again)).at(-1)).toBe('new');
  });

  test('cut at any byte, it says once which acknowledged entries are lost, and again at the next start', async () => {
    const path = await written(3);
    const journal = await open();
    await Promise.all([3, 4, 5].map((i) => journal.append(entry(`entry ${i}`)).durable));
    await journal.close();
    const contents = readFileSync(path);
    const acknowledgedTo = 6;
    /** Where each frame ends, and how many entries are before that. */
    const ends = [{ offset: 0, entries: 0 }];
    for await (const { frames } of scanFrames(path, 0, contents.length))
      for (const frame of frames) {
        const { offset, entries } = ends.at(-1)!;
        ends.push({ offset: offset + frameBytes(frame), entries: entries + entryCountOf(frame) });
      }
    expect(ends.map(({ entries }) => entries)).toEqual([0, 0, 1, 2, 3, 6]);
    const cuts = join(directory, 'cuts');
    for (let cut = 0; cut < contents.length; cut++) {
      const folder = join(cuts, String(cut));
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, basename(path)), contents.subarray(0, cut));
      const followers = await FollowerPositions.open(folder, () => 1);
      const { offset, entries } = ends.findLast((end) => end.offset <= cut)!;
      const told = [
        ...(cut > offset ? [`${cut - offset} bytes from ${offset} on cannot be read`] : []),
        `${acknowledgedTo - entries} journal entries are missing from position ${entries}`,
      ];
      for (const start of ['first', 'second']) {
        const found = await open({ directory: folder, acknowledgedTo });
        const reasons = logDamage(found.damage, followers, folder).map(({ reason }) => reason);
        expect(reasons, `cut at ${cut}, ${start} start`).toEqual(told);
        expect(await texts(found)).toEqual(Array.from({ length: entries }, (_, i) => `entry ${i}`));
        await found.close();
      }
    }
  });

  test('steps over a bad entry in the middle, says which was lost, and keeps the rest', async () => {
    const path = await written(6);
    const contents = readFileSync(path);
    contents[contents.indexOf('entry 2') + 3]! ^= 4;
    writeFileSync(path, contents);
    const visited: string[] = [];
    const journal = await open({
      visit: (entries) => void visited.push(...entries.map(({ payload }) => payload.toString())),
    });
    expect(visited).toEqual(['entry 0', 'entry 1', 'entry 3', 'entry 4', 'entry 5']);
    expect(await texts(journal)).toEqual(visited);
    expect(journal.damage).toMatchObject([
      { kind: 'unreadableBytes' },
      { kind: 'missingEntries', firstPosition: 2, entries: 1 },
    ]);
    expect(journal.position()).toBe(6);
  });

  /**
   * The journal as a power cut may leave it: of the last group, three blocks of 40 kB, any bytes
   * may be missing; `hole` says which, from its start.
   */
  async function cutByPower(hole: readonly [from: number, to: number]): Promise<number> {
    const path = await written(3);
    const durable = statSync(path).size;
    const journal = await open();
    await Promise.all(
      ['x', 'y', 'z'].map((text) => journal.append(entry(text.repeat(40_000))).durable),
    );
    await journal.close();
    const contents = readFileSync(path);
    contents.fill(0, durable + hole[0], durable + hole[1]);
    writeFileSync(path, contents);
    return durable;
  }

  test.each([
    ['its beginning', [0, 20]],
    ['its first entry', [400, 460]],
    ['an entry in the middle', [60_000, 60_010]],
    ['its end', [120_000, 120_100]],
  ] as const)(
    'review reliability 13: a last group that lost %s is the trace of a power cut, not damage',
    async (_, hole) => {
      await cutByPower(hole);
      const journal = await open();
      expect(journal.damage.map(({ kind }) => kind)).toEqual(['tornTail']);
      expect((await texts(journal)).slice(0, 3)).toEqual(['entry 0', 'entry 1', 'entry 2']);
      await journal.append(entry('new')).durable;
      await journal.close();
      const again = await open();
      expect(again.damage).toEqual([]);
      expect((await texts(again)).at(-1)).toBe('new');
    },
  );

  test('review reliability 13: the same hole is damage when the entries are known to be acknowledged', async () => {
    await cutByPower([0, 20]);
    const journal = await open({ acknowledgedTo: 6 });
    expect(journal.damage).toMatchObject([
      { kind: 'unreadableBytes' },
      { kind: 'missingEntries', firstPosition: 3, entries: 1 },
    ]);
    expect(await texts(journal)).toHaveLength(5);
  });

  test('review reliability 13: a hole before the last group is damage, and what follows is kept', async () => {
    const durable = await cutByPower([0, 0]);
    const path = join(directory, readdirSync(directory)[0]!);
    const contents = readFileSync(path);
    contents.fill(0, durable - 20, durable + 10);
    writeFileSync(path, contents);
    const journal = await open();
    expect(journal.damage.map(({ kind }) => kind)).toEqual(['unreadableBytes', 'missingEntries']);
    expect(await texts(journal)).toHaveLength(4);
  });

  test.each(['', '{"format":2}'])(
    'a segment of a development version, whose first frame says "%s", is refused and stays',
    async (text) => {
      const start = Buffer.alloc(frameHeaderBytes + text.length);
      const first = { type: frameTypes.segmentStart, position: 0, storedAt: 0 };
      writeFrame(start, 0, first, bytes(text));
      const path = join(directory, '000000000000000.journal');
      writeFileSync(path, start);
      await expect(open()).rejects.toThrow(
        /0\.journal was written by a development version before release 0\.2\.0/,
      );
      expect(readFileSync(path)).toEqual(start);
    },
  );

  test('review reliability 23: a segment of a newer program is refused with a sentence, not read as damage', async () => {
    const path = await written(1);
    const payload = bytes('{"format":4}');
    const start = Buffer.alloc(frameHeaderBytes + payload.length);
    writeFrame(start, 0, { type: frameTypes.segmentStart, position: 0, storedAt: 0 }, payload);
    const contents = readFileSync(path);
    start.copy(contents);
    writeFileSync(path, contents);
    await expect(open()).rejects.toThrow(/\.journal was written by a newer version/);
  });

  test('a segment whose first bytes never got to the disk is removed', async () => {
    await written(2);
    writeFileSync(join(directory, '000000000000002.journal'), Buffer.alloc(10));
    const journal = await open();
    expect(readdirSync(directory)).toEqual(['000000000000000.journal']);
    expect(journal.position()).toBe(2);
  });

  test('times of storing never go back, also over a restart', async () => {
    const first = await open({ now: () => 500 });
    await first.append(entry('a')).durable;
    await first.close();
    const second = await open({ now: () => 400 });
    expect(second.append(entry('b')).storedAt).toBe(500);
  });
});
