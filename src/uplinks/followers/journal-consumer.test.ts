// The follower over a real journal: every entry in order, once without failures, again after them, whatever was announced.
import { mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import type { DurableEntry, DurableRows } from '../../model/journal-entry.ts';
import { missing } from '../../structures/missing.ts';
import { entryOf } from '../../storage/samples/conformance/sample-entries.ts';
import { openTestSamples } from '../../storage/samples/testing-samples.ts';
import { JournalFollower } from './journal-consumer.ts';

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function folder(): string {
  const directory = mkdtempSync(join(tmpdir(), 'follower-'));
  cleanups.push(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

async function openIn(directory: string) {
  let closing: Promise<void> | undefined;
  const store = await openTestSamples({ directory, now: () => 1_000 });
  const close = () => (closing ??= store.close());
  cleanups.push(close);
  const append = (value: number) => store.append(entryOf('d1', [{ at: value, data: { value } }]));
  return { store, close, append };
}

/** A follower that can be set to fail. */
function following({ store }: Awaited<ReturnType<typeof openIn>>, name = 'f') {
  const seen: unknown[] = [];
  const batches: number[] = [];
  const failures: unknown[] = [];
  const retries: (() => void)[] = [];
  const disk = { failuresLeft: 0, underWay: 0, gate: undefined as Promise<void> | undefined };
  const follower = new JournalFollower({
    name,
    log: store,
    durability: 'told',
    async handle(entries) {
      disk.underWay += 1;
      expect(disk.underWay).toBe(1);
      await disk.gate;
      disk.underWay -= 1;
      if (disk.failuresLeft-- > 0) throw new Error('refused');
      batches.push(entries.length);
      for (const entry of entries) seen.push(...entry.samples.map(({ data }) => data['value']));
    },
    failed: (error) => failures.push(error),
    setTimer: (task) => {
      retries.push(task);
      return () => void retries.splice(retries.indexOf(task), 1);
    },
  });
  cleanups.push(() => follower.close());
  return { follower, seen, batches, failures, retries, disk };
}

test('announced entries are handled in order and the position is kept', async () => {
  const opened = await openIn(folder());
  const { follower, seen } = following(opened);
  for (const value of [1, 2, 3]) follower.follow(await opened.append(value));
  await follower.settled();
  expect(seen).toEqual([1, 2, 3]);
  expect(opened.store.followerPosition('f')).toBe(3);
});

test('entries announced out of order or not at all are handled in order all the same', async () => {
  const opened = await openIn(folder());
  const { follower, seen } = following(opened);
  const [one, two, three] = await Promise.all([1, 2, 3].map(opened.append));
  await opened.append(4);
  for (const entry of [three, one, two]) follower.follow(entry!);
  await follower.settled();
  expect(seen).toEqual([1, 2, 3, 4]);
});

test('an entry of which nothing was left does not take the place of the next one', async () => {
  const opened = await openIn(folder());
  const { follower, seen } = following(opened);
  follower.follow(await opened.append(1));
  const again = await opened.append(1);
  expect(again.samples).toHaveLength(0);
  follower.follow(again);
  follower.follow(await opened.append(2));
  await follower.settled();
  expect(seen).toEqual([1, 2]);
});

test('what was lost with the end of the journal fails no follower, whether it was behind or had seen all', async () => {
  const directory = folder();
  const opened = await openIn(directory);
  const first = { behind: following(opened, 'behind'), ahead: following(opened, 'ahead') };
  for (const value of [1, 2, 3, 4, 5, 6]) {
    const entry = await opened.append(value);
    first.ahead.follower.follow(entry);
    if (value < 3) first.behind.follower.follow(entry);
  }
  await Promise.all([first.ahead.follower.settled(), first.behind.follower.close()]);
  await first.ahead.follower.close();
  expect(['behind', 'ahead'].map((name) => opened.store.followerPosition(name))).toEqual([2, 6]);
  await opened.close();
  const journal = join(directory, 'journal');
  const file = join(journal, readdirSync(journal)[0] ?? missing('segment'));
  truncateSync(file, statSync(file).size - 100);
  for (const value of [7, 8]) {
    const again = await openIn(directory);
    const second = { behind: following(again, 'behind'), ahead: following(again, 'ahead') };
    await Promise.all([second.behind.follower.settled(), second.ahead.follower.settled()]);
    const entry = await again.append(value);
    for (const { follower, failures } of Object.values(second)) {
      follower.follow(entry);
      await follower.settled();
      expect(failures).toEqual([]);
      await follower.close();
    }
    expect(second.ahead.seen).toEqual([value]);
    expect(second.behind.seen.at(-1)).toBe(value);
    await again.close();
  }
});

test('a new follower starts at the end; one that was stopped goes on where it stopped, after a restart too', async () => {
  const directory = folder();
  const opened = await openIn(directory);
  await opened.append(1);
  const first = following(opened);
  first.follower.follow(await opened.append(2));
  await first.follower.settled();
  await first.follower.close();
  await opened.append(3);
  await opened.close();
  const again = await openIn(directory);
  const second = following(again);
  second.follower.follow(await again.append(4));
  await second.follower.settled();
  expect([first.seen, second.seen]).toEqual([[2], [3, 4]]);
});

test('after a failure the same entries come again, in order, and nothing is skipped', async () => {
  const opened = await openIn(folder());
  const { follower, seen, failures, retries, disk } = following(opened);
  disk.failuresLeft = 1;
  follower.follow(await opened.append(1));
  await expect(follower.settled()).rejects.toThrow('refused');
  expect(opened.store.followerPosition('f')).toBe(0);
  follower.follow(await opened.append(2));
  expect(retries).toHaveLength(1);
  retries.splice(0)[0]!();
  await follower.settled();
  expect([seen, failures.length]).toEqual([[1, 2], 1]);
});

test('what piles up while a batch is handled goes into the next batches', async () => {
  const opened = await openIn(folder());
  const { follower, seen, batches, disk } = following(opened);
  let open = () => {};
  disk.gate = new Promise((resolve) => {
    open = resolve;
  });
  const entries: DurableEntry[] = await Promise.all(
    Array.from({ length: 2_500 }, (_, i) => opened.append(i)),
  );
  for (const entry of entries) follower.follow(entry);
  open();
  await follower.settled();
  expect(seen).toEqual(entries.map((_, i) => i));
  expect(batches).toEqual([1_000, 1_000, 500]);
});

/** Entries whose positions follow each other, as rows. */
function rowsOf(entries: readonly DurableEntry[]): DurableRows {
  const { position, receivedAt } = entries[0] ?? missing('entry');
  const summary = { count: entries.length, workspaceId: 'w', dataFlowId: null, oldest: 0 };
  const entryAt = (place: number) => entries[place] ?? missing('entry');
  return { position, receivedAt, length: entries.length, summary, entryAt };
}

test('rows are handled as their entries, those that were handled before only once', async () => {
  const opened = await openIn(folder());
  const { follower, seen, batches } = following(opened);
  const entries = await Promise.all([1, 2, 3, 4, 5].map(opened.append));
  follower.follow(entries[0]!);
  await follower.settled();
  follower.followRows(rowsOf(entries));
  follower.followRows(rowsOf(entries.slice(0, 2)));
  await follower.settled();
  expect([seen, batches.length]).toEqual([[1, 2, 3, 4, 5], 2]);
  expect(opened.store.followerPosition('f')).toBe(5);
});

test('rows beyond the limit of memory are read from the journal', async () => {
  const opened = await openIn(folder());
  const { follower, seen, disk } = following(opened);
  let open = () => {};
  disk.gate = new Promise((resolve) => {
    open = resolve;
  });
  const entries = await Promise.all(Array.from({ length: 11_500 }, (_, i) => opened.append(i)));
  for (let at = 0; at < entries.length; at += 500)
    follower.followRows(rowsOf(entries.slice(at, at + 500)));
  open();
  await follower.settled();
  expect(seen).toEqual(entries.map((_, i) => i));
});

test('property: whatever is announced, lost, failed or restarted, every entry is handled, in order', async () => {
  const step = fc.constantFrom('announce', 'announce', 'rows', 'swallow', 'fail', 'restart');
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const opened = await openIn(folder());
      let at = following(opened);
      const seen: unknown[] = [];
      let value = 0;
      for (const one of steps) {
        if (one === 'fail') at.disk.failuresLeft = 1;
        else if (one === 'restart') {
          await at.follower.close();
          seen.push(...at.seen);
          at = following(opened);
        } else if (one === 'rows') {
          const values = [value++, value++, value++];
          at.follower.followRows(rowsOf(await Promise.all(values.map(opened.append))));
        } else {
          const entry = await opened.append(value++);
          if (one === 'announce') at.follower.follow(entry);
        }
      }
      await at.follower.settled().catch(() => undefined);
      at.disk.failuresLeft = 0;
      await at.follower.settled();
      expect([...seen, ...at.seen]).toEqual(Array.from({ length: value }, (_, i) => i));
    }),
    { numRuns: 40 },
  );
});
