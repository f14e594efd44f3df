// Journal copy: with lost holders and lost answers, what was acknowledged is at a second node, byte for byte.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { realDisk } from '../../storage/log/durable-file.ts';
import { Journal } from '../../storage/log/journal.ts';
import type { NodeAddress } from '../../model/node-messages.ts';
import {
  type CopyAnswer,
  type CopyRequest,
  JournalCopy,
  journalCopyLimits,
} from './journal-copy.ts';
import { CopyStore, wholeCopy } from './copy-store.ts';

const self = 'aaaaaaaa-0000-4000-8000-000000000000';
const holders: readonly NodeAddress[] = [1, 2].map((n) => ({
  id: `bbbbbbbb-0000-4000-8000-00000000000${n}`,
  url: `http://node-${n}`,
}));

/** What happens to the next request to a holder. */
type Fault = 'refused' | 'answer lost';

const ends: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

function folder(): string {
  const directory = mkdtempSync(join(tmpdir(), 'heliograph-copies-'));
  ends.push(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function createWorld() {
  const directory = folder();
  mkdirSync(join(directory, 'samples', 'journal'), { recursive: true });
  const folders = holders.map(folder);
  const stores: CopyStore[] = folders.map((directory) => new CopyStore(directory));
  ends.push(async () => {
    for (const store of stores) await store.close();
  });
  const clock = { now: 0 };
  const copy = new JournalCopy({
    directory,
    disk: realDisk,
    now: () => clock.now,
    async wait(ms) {
      clock.now += ms;
    },
  });
  const world = {
    directory,
    copy,
    folders,
    stores,
    /** Those that work. */
    working: new Set([0, 1]),
    faults: [] as Fault[],
    noted: undefined as { readonly place: number; readonly name: string } | undefined,
    async send(to: NodeAddress, request: CopyRequest): Promise<CopyAnswer> {
      const place = holders.indexOf(to);
      const fault = world.faults.shift();
      if (fault === 'refused' || !world.working.has(place)) throw new Error('refused');
      const answer = await (stores[place] as CopyStore).store(self, request);
      if (fault === 'answer lost') throw new Error('the answer is lost');
      return answer;
    },
    /** Closes what it had open, as a process that starts again. */
    async restart(place: number): Promise<void> {
      await (stores[place] as CopyStore).close();
      stores[place] = new CopyStore(folders[place] ?? '');
    },
    connect(): void {
      copy.connect({
        holders: () => holders,
        send: world.send,
        async note({ id }, name) {
          world.noted = { place: holders.findIndex((each) => each.id === id), name };
        },
        moved: () => undefined,
      });
    },
    /** The journal as it is in the copy that was noted last. */
    async copied(): Promise<Record<string, string>> {
      const { place, name } = world.noted ?? { place: 0, name: '' };
      const found = await wholeCopy(folders[place] ?? '', self, name);
      return found === undefined ? {} : filesOf(found);
    },
  };
  return world;
}

function filesOf(directory: string): Record<string, string> {
  const journal = join(directory, 'samples', 'journal');
  const names = readdirSync(journal).filter((name) => name.endsWith('.journal'));
  return Object.fromEntries(
    names.map((name) => [name, readFileSync(join(journal, name)).toString('base64')]),
  );
}

async function openCopied(
  { disk }: JournalCopy,
  directory: string,
  segmentBytes = 200,
): Promise<Journal> {
  const journal = await Journal.open({
    directory: join(directory, 'samples', 'journal'),
    disk,
    segmentBytes,
    now: () => 1,
    visitFrom: 0,
    visit: () => undefined,
    onLost: () => undefined,
    resumeBytesMax: 0,
    resumeAgeMsMax: 0,
  });
  ends.push(() => journal.close());
  return journal;
}

async function append(journal: Journal, text: string): Promise<string> {
  try {
    await journal.append({ payload: Buffer.from(text), definitions: [] }).durable;
    return 'acknowledged';
  } catch (error) {
    return (error as { readonly problem?: string }).problem ?? String(error);
  }
}

describe('what is acknowledged is in the copy', () => {
  test.each<[string, readonly Fault[], (world: ReturnType<typeof createWorld>) => unknown]>([
    ['without a fault', [], () => undefined],
    ['when a request is lost', ['refused'], () => undefined],
    ['when an answer is lost', ['answer lost'], () => undefined],
    ['when both are lost', ['refused', 'answer lost', 'refused'], () => undefined],
    ['when the holder has started again', [], (world) => world.restart(0)],
    ['when the holder is gone', [], (world) => world.working.delete(0)],
    ['when nothing was copied before', [], (world) => world.working.delete(1)],
  ])('%s', async (_, faults, happens) => {
    const world = createWorld();
    const journal = await openCopied(world.copy, world.directory);
    expect(await append(journal, 'before the nodes know each other')).toBe('acknowledged');
    world.connect();
    await world.copy.ensure();
    expect(await world.copied()).toEqual(filesOf(world.directory));
    for (let n = 0; n < 6; n++) {
      if (n === 3) {
        world.faults.push(...faults);
        await happens(world);
      }
      expect(await append(journal, `entry ${n} ${'x'.repeat(60)}`)).toBe('acknowledged');
      expect(await world.copied()).toEqual(filesOf(world.directory));
    }
    // Released segments leave the copy as well.
    expect(await journal.dropBefore(journal.position())).toBeGreaterThan(0);
    expect(await append(journal, 'last')).toBe('acknowledged');
    expect(await world.copied()).toEqual(filesOf(world.directory));
    expect(Object.keys(await world.copied()).length).toBeLessThan(4);
  });

  test('small files are replaced, and are in a later copy too', async () => {
    const world = createWorld();
    await openCopied(world.copy, world.directory);
    world.connect();
    await world.copy.replaced('samples/shipping.json', 'one');
    const { name, place } = world.noted ?? { name: '', place: 0 };
    const found = (await wholeCopy(world.folders[place] ?? '', self, name)) ?? '';
    await world.copy.replaced('samples/shipping.json', 'two');
    expect(readFileSync(join(found, 'samples', 'shipping.json'), 'utf8')).toBe('two');
  });
});

test('without a holder nothing is acknowledged, and what was written is cut off again', async () => {
  const world = createWorld();
  const journal = await openCopied(world.copy, world.directory, 10_000);
  world.connect();
  expect(await append(journal, 'first')).toBe('acknowledged');
  const before = filesOf(world.directory);
  world.working.clear();
  expect(await append(journal, 'nowhere')).toBe('journalNotCopied');
  expect(filesOf(world.directory)).toEqual(before);
  expect(journal.position()).toBe(1);
  world.working.add(1);
  expect(await append(journal, 'second')).toBe('acknowledged');
  expect(await world.copied()).toEqual(filesOf(world.directory));
  expect(journal.position()).toBe(2);
});

test('an entry that is longer than a request is copied in pieces', async () => {
  const world = createWorld();
  const journal = await openCopied(world.copy, world.directory, 16 * 1024 * 1024);
  world.connect();
  const text = 'long '.repeat(journalCopyLimits.requestBytesMax / 2);
  for (let n = 0; n < 2; n++) expect(await append(journal, text)).toBe('acknowledged');
  expect(await world.copied()).toEqual(filesOf(world.directory));
});

test('after any faults, the copy has every acknowledged entry', async () => {
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ append: fc.integer({ min: 1, max: 90 }) }) },
    fc.record({ fault: fc.constantFrom<Fault>('refused', 'answer lost') }),
    fc.record({ restarts: fc.nat(1) }),
    fc.record({ toggles: fc.nat(1) }),
    fc.record({ drops: fc.constant(true) }),
  );
  const property = fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
    const world = createWorld();
    const journal = await openCopied(world.copy, world.directory);
    world.connect();
    let isFailing = false;
    for (const each of steps) {
      if ('fault' in each) world.faults.push(each.fault);
      else if ('restarts' in each) await world.restart(each.restarts);
      else if ('drops' in each) await journal.dropBefore(journal.position());
      else if ('toggles' in each) {
        if (!world.working.delete(each.toggles)) world.working.add(each.toggles);
      } else {
        // After a failure nobody waits again: one more lost request is the next failure.
        const mayFail = isFailing && world.faults.length > 0;
        const outcome = await append(journal, 'x'.repeat(each.append));
        if (!mayFail)
          expect(outcome).toBe(world.working.size > 0 ? 'acknowledged' : 'journalNotCopied');
        isFailing = outcome !== 'acknowledged';
        if (outcome === 'acknowledged')
          expect(await world.copied()).toEqual(filesOf(world.directory));
        else expect(outcome).toBe('journalNotCopied');
      }
    }
    for (const end of ends.splice(0).toReversed()) await end();
  });
  await fc.assert(property, { numRuns: 200 });
});

describe('what a holder does not take', () => {
  const copy = 'cccccccc-0000-4000-8000-000000000000';
  const bytes = Buffer.from('bytes').toString('base64');
  test.each([
    ['a copy that did not begin here', { copy, changes: [] }, { isStored: false }],
    [
      'bytes behind a gap',
      {
        copy,
        begins: true,
        changes: [{ file: 'samples/journal/1.journal', offset: 1, bytes }],
      },
      { isStored: false },
    ],
    [
      'a length beyond the end',
      { copy, begins: true, changes: [{ file: 'samples/journal/1.journal', length: 9 }] },
      { isStored: false },
    ],
  ])('%s', async (_, request, answer) => {
    const store = new CopyStore(folder());
    ends.push(() => store.close());
    expect(await store.store(self, request)).toEqual(answer);
  });

  test.each(['../node-id', 'samples/journal/../../x.journal', 'records.sqlite', '', 'node-id/x'])(
    'the file %s',
    async (file) => {
      const store = new CopyStore(folder());
      ends.push(() => store.close());
      const changes = [{ file, contents: 'x' }];
      await expect(store.store(self, { copy, begins: true, changes })).rejects.toThrow(
        'does not belong',
      );
    },
  );

  test('a node or copy without an id as its name', async () => {
    const store = new CopyStore(folder());
    for (const [node, name] of [
      ['..', copy],
      [self, '../x'],
    ] as const)
      await expect(store.store(node, { copy: name, begins: true, changes: [] })).rejects.toThrow();
  });

  test('copies that count no longer are removed', async () => {
    const directory = folder();
    const store = new CopyStore(directory);
    await store.store(self, { copy, begins: true, isWhole: true, changes: [] });
    await store.close();
    expect(await wholeCopy(directory, self, copy)).toBeDefined();
    const later = new CopyStore(directory);
    await later.keepOnly([{ node: self, copy }]);
    expect(await wholeCopy(directory, self, copy)).toBeDefined();
    await later.keepOnly([]);
    expect(await wholeCopy(directory, self, copy)).toBeUndefined();
  });
});
