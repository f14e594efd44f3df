// Journal stream: with journals that lag at random and sessions that move, each sample arrives once.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cursorAt } from '../../model/journal-entry.ts';
import { setTimer } from '../../structures/timers.ts';
import { JournalStream, inJournal } from './journal-stream.ts';
import { mergedReplays } from './replay-pass.ts';
import {
  advanced,
  earlier,
  type JournalPlaces,
  later,
  type LiveSample,
  placeText,
  reaches,
  readPlaceText,
  type StreamPlace,
} from './stream-position.ts';
import { storedSample } from './testing-session.ts';

const names = ['1', '2', '3'];

interface Journal {
  readonly name: string;
  readonly samples: LiveSample[];
}

interface Session {
  node: Node;
  deliveredTo: StreamPlace;
  /** What the replay has read; until this node has published that too, samples are held. */
  reached: StreamPlace;
  held: LiveSample[] | undefined;
  /** What was sent, with cursors; a client that ends can lack the last ones. */
  sent: { readonly sample: LiveSample; readonly cursor: string }[];
}

function nodeOf(journals: readonly Journal[]) {
  const stream = new JournalStream({ from: 0, behindMs: 0, setTimer });
  for (const { name } of journals) stream.reached(name, { cursor: '', before: 0 });
  const next = new Map<string, number>();
  return {
    stream,
    /** Publishes some samples of a journal, and then a mark. */
    deliver({ name, samples }: Journal, max: number, now: number, session: Session | undefined) {
      const from = next.get(name) ?? 0;
      const to = Math.min(samples.length, from + max);
      for (const sample of samples.slice(from, to)) {
        if (session !== undefined && !reaches(session.deliveredTo, sample))
          if (session.held === undefined)
            session.sent.push({ sample, cursor: stream.cursorOf(sample) });
          else session.held.push(sample);
        stream.published(sample);
      }
      next.set(name, to);
      const isAll = to === samples.length;
      const before = isAll ? now : (samples[to - 1]?.storedAt ?? 0);
      stream.reached(name, { cursor: cursorAt(to, 0), before });
      if (session !== undefined && isPublished(stream.place, session.reached)) release(session);
    },
    journals,
  };
}
type Node = ReturnType<typeof nodeOf>;

function isPublished(place: JournalPlaces, reached: StreamPlace): boolean {
  if (typeof reached === 'string') return true;
  return reached.journals.entries().every(([name, { cursor }]) => {
    return cursor <= (place.journals.get(name)?.cursor ?? '');
  });
}

function release(session: Session): void {
  for (const sample of session.held ?? []) {
    session.reached = advanced(session.reached, sample);
    session.sent.push({ sample, cursor: placeText(session.reached as JournalPlaces) });
  }
  session.held = undefined;
}

async function replayed(journals: readonly Journal[], place: JournalPlaces): Promise<LiveSample[]> {
  const found: LiveSample[] = [];
  async function* of({ samples }: Journal) {
    yield samples.filter((sample) => !reaches(place, sample));
  }
  for await (const batch of mergedReplays(journals.map(of))) found.push(...batch);
  return found;
}

const step = fc.oneof(
  fc.record({ append: fc.nat(2), afterMs: fc.nat(2) }),
  fc.record({ append: fc.nat(2), afterMs: fc.nat(2) }),
  fc.record({ node: fc.nat(1), journal: fc.nat(2), max: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ node: fc.nat(1), journal: fc.nat(2), max: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ moveTo: fc.nat(1), lost: fc.nat(4) }),
);

test('a session that moves between nodes gets each sample once', async () => {
  const property = fc.asyncProperty(fc.array(step, { maxLength: 120 }), async (steps) => {
    let now = 1_000;
    const journals = names.map((name): Journal => ({ name, samples: [] }));
    const nodes = [nodeOf(journals), nodeOf(journals)];
    const received: LiveSample[] = [];
    const expected: LiveSample[] = [];
    let cursor: string | undefined;
    let session: Session | undefined;

    async function move(node: Node, lost: number): Promise<void> {
      const got = session?.sent.slice(0, Math.max(0, session.sent.length - lost)) ?? [];
      received.push(...got.map(({ sample }) => sample));
      cursor = got.at(-1)?.cursor ?? cursor;
      const start = readPlaceText(cursor ?? placeText({ before: 0, journals: new Map() }));
      if (start === undefined) throw new Error(`${cursor} is not a valid cursor`);
      const deliveredTo = later(node.stream.place, start);
      session = { node, deliveredTo, reached: start, held: [], sent: [] };
      for (const sample of await replayed(journals, start)) {
        session.reached = advanced(session.reached, sample);
        session.sent.push({ sample, cursor: placeText(session.reached as JournalPlaces) });
      }
      session.deliveredTo = later(session.deliveredTo, session.reached);
      if (isPublished(node.stream.place, session.reached)) release(session);
    }

    await move(nodes[0]!, 0);
    for (const each of steps) {
      if ('append' in each) {
        now += each.afterMs;
        const journal = journals[each.append]!;
        const { length } = journal.samples;
        const sample = { ...storedSample(length, 'd'), cursor: cursorAt(length, 1), storedAt: now };
        journal.samples.push(inJournal(sample, journal.name));
        expected.push(journal.samples.at(-1)!);
      } else if ('node' in each) {
        const node = nodes[each.node]!;
        // A mark is behind the newest entry in time, as the journal sees to.
        now += 1;
        const own = session?.node === node ? session : undefined;
        node.deliver(journals[each.journal]!, each.max, now, own);
      } else await move(nodes[each.moveTo]!, each.lost);
    }
    await move(nodes[1]!, 0);
    await move(nodes[0]!, 0);
    const keyOf = ({ journal, cursor: own }: LiveSample) => `${journal} ${own}`;
    expect(received.map(keyOf).toSorted()).toEqual(expected.map(keyOf).toSorted());
  });
  await fc.assert(property, { numRuns: 300 });
});

describe('places', () => {
  const journalPlace = fc.record({
    cursor: fc.nat(50).map((position) => cursorAt(position, 1)),
    before: fc.nat(50),
  });
  const places = fc.record({
    before: fc.nat(50),
    journals: fc
      .uniqueArray(fc.tuple(fc.constantFrom(...names), journalPlace), {
        selector: ([name]) => name,
      })
      .map((entries) => new Map(entries)),
  });
  const sample = fc
    .record({ position: fc.nat(60), storedAt: fc.nat(60), journal: fc.constantFrom(...names, '4') })
    .map(({ position, storedAt, journal }) =>
      inJournal({ ...storedSample(1, 'd'), cursor: cursorAt(position, 1), storedAt }, journal),
    );

  test('the later one reaches what either reaches, the earlier one nothing more than both', () => {
    fc.assert(
      fc.property(places, places, sample, (a, b, each) => {
        const [inA, inB] = [reaches(a, each), reaches(b, each)];
        expect(reaches(later(a, b), each)).toBe(inA || inB);
        if (reaches(earlier(a, b), each)) expect([inA, inB]).toEqual([true, true]);
        expect(reaches(advanced(a, each), each)).toBe(true);
      }),
    );
  });

  test('a cursor of a client is read as it was written', () => {
    fc.assert(
      fc.property(places, (place) => {
        expect(readPlaceText(placeText(place))).toEqual(place);
      }),
    );
  });

  test('any string is read as a place or refused', () => {
    const nearly = fc.array(fc.constantFrom('c1', '~', '1.', '.', '-', 'z', 'zzzzzzzzz', ' ', 'é'));
    const sent = fc.oneof(
      fc.string(),
      nearly.map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(sent, (text) => {
        const place = readPlaceText(text);
        if (place !== undefined) expect(readPlaceText(placeText(place))).toEqual(place);
      }),
    );
  });

  test.each([
    '',
    '00000000000000000001',
    'c1',
    'c1~',
    'c1~1~1.1.1',
    'c1~1~x.1.1.1',
    'c1~1~1.zzzzzzzzzzzz.1.1',
    `c1~1${'~1.1.1.1'.repeat(201)}`,
  ])('the string "%.40s" is refused', (text) => expect(readPlaceText(text)).toBeUndefined());
});
