// Absent journals: sessions that move between nodes while other nodes are away get each sample once.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cursorAt } from '../../model/journal-entry.ts';
import { FanOut } from './fan-out.ts';
import { JournalStream, inJournal } from './journal-stream.ts';
import { mergedReplays } from './replay-pass.ts';
import {
  type JournalPlaces,
  type LiveSample,
  reaches,
  type ReplayStart,
} from './stream-position.ts';
import { openTestSession, storedSample, testLog } from './testing-session.ts';
import { createWorkspaceFanOut } from './workspace-fan-out.ts';

const device = '02a';

/** The journal of a node; sessions are at two further nodes. */
interface Journal {
  readonly name: string;
  readonly samples: LiveSample[];
  isAway: boolean;
}

function createWorld() {
  const world = { now: 1_000 };
  const journals = ['1', '2', '3'].map((name): Journal => ({ name, samples: [], isAway: false }));

  function startNode() {
    const stream = new JournalStream({
      from: world.now,
      behindMs: 0,
      // What a session waits for comes with a later step.
      setTimer: () => () => undefined,
    });
    const workspaces = createWorkspaceFanOut(() => world.now);
    const fanOut = new FanOut(workspaces, { stream, followed: () => undefined });
    const next = new Map<string, number>();
    const live = new Set<string>();

    function notice({ name, isAway, samples }: Journal): void {
      if (isAway && live.delete(name)) stream.setLive(name, false);
      if (isAway || live.has(name)) return;
      const { before } = stream.place;
      const first = samples.findIndex(({ storedAt }) => storedAt >= before);
      if (!next.has(name)) next.set(name, first < 0 ? samples.length : first);
      live.add(name);
      stream.setLive(name, true);
    }

    async function* replayOf(journal: Journal, place: JournalPlaces) {
      if (journal.isAway) notice(journal);
      else yield journal.samples.filter((sample) => !reaches(place, sample));
    }

    for (const journal of journals) notice(journal);
    return {
      /** Publishes some samples of a journal, if sessions want them, and then a mark. */
      deliver(journal: Journal, max: number, isWanted: boolean): void {
        notice(journal);
        stream.setComplete(journals.every(({ isAway, name }) => isAway || next.has(name)));
        if (journal.isAway) return;
        const { name, samples } = journal;
        const from = next.get(name) ?? 0;
        const to = Math.min(samples.length, from + max);
        if (isWanted) fanOut.publish(samples.slice(from, to), world.now);
        next.set(name, to);
        const isAll = to === samples.length;
        const before = isAll ? world.now : (samples[to - 1]?.storedAt ?? 0);
        stream.reached(name, { cursor: cursorAt(to, 0), before });
      },
      open(): ReturnType<typeof openTestSession> {
        const replay = (start: ReplayStart) => {
          const place =
            'cursor' in start
              ? (start.cursor as JournalPlaces)
              : { before: start.storedSince, journals: new Map() };
          return mergedReplays(journals.map((journal) => replayOf(journal, place)));
        };
        return openTestSession({ fanOut, log: { ...testLog(), replay }, now: () => world.now });
      },
    };
  }

  return {
    world,
    journals,
    startNode,
    append(journal: Journal): void {
      if (journal.isAway) return;
      const { length } = journal.samples;
      const sample = { ...storedSample(length, device), data: { at: `${journal.name}.${length}` } };
      const stored = { ...sample, cursor: cursorAt(length, 1), storedAt: world.now };
      journal.samples.push(inJournal(stored, journal.name));
    },
  };
}

type Node = ReturnType<ReturnType<typeof createWorld>['startNode']>;

/** A client that takes the samples of the device, and resumes by its last cursor. */
function createClient() {
  const received: string[] = [];
  let since = new Date(0).toISOString();
  let session: ReturnType<typeof openTestSession> | undefined;
  const client = {
    received,
    node: -1,
    async move(node: Node, number: number, lost: number): Promise<void> {
      await client.take(lost);
      session?.session.close();
      client.node = number;
      session = node.open();
      const message = { type: 'subscribe', subscriptions: [{ assetId: device }], since };
      session.received.push(...(await session.send(message)));
    },
    /** Takes what was sent, without the last ones. */
    async take(lost = 0): Promise<void> {
      if (session === undefined) return;
      const messages = await session.settle();
      const samples = messages.filter(({ type }) => type === 'sample_insert');
      for (const { sample, cursor } of samples.slice(0, Math.max(0, samples.length - lost))) {
        received.push((sample as { data: { at: string } }).data.at);
        since = cursor as string;
      }
    },
    get hasEnded() {
      return session !== undefined && session.ended.length > 0;
    },
  };
  return client;
}

const nodeNumber = fc.nat(1);
const journalNumber = fc.nat(2);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ append: journalNumber, afterMs: fc.nat(2) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      node: nodeNumber,
      journal: journalNumber,
      max: fc.integer({ min: 1, max: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ leaves: journalNumber }) },
  { weight: 1, arbitrary: fc.record({ returns: journalNumber }) },
  { weight: 1, arbitrary: fc.record({ restarts: nodeNumber }) },
  { weight: 2, arbitrary: fc.record({ moveTo: nodeNumber, lost: fc.nat(3) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

async function run(steps: readonly Step[]): Promise<{ received: string[]; expected: string[] }> {
  const { world, journals, startNode, append } = createWorld();
  const nodes = [startNode(), startNode()];
  const client = createClient();
  const nodeAt = (number: number) => nodes[number] as Node;

  async function apply(each: Step): Promise<void> {
    if ('append' in each) {
      world.now += each.afterMs;
      append(journals[each.append] as Journal);
    } else if ('node' in each) {
      // A mark is behind the newest entry in time, as the journal sees to.
      world.now += 1;
      const isWanted = client.node === each.node;
      nodeAt(each.node).deliver(journals[each.journal] as Journal, each.max, isWanted);
    } else if ('leaves' in each) (journals[each.leaves] as Journal).isAway = true;
    else if ('returns' in each) (journals[each.returns] as Journal).isAway = false;
    else if ('restarts' in each) {
      // A node cannot know of journals that left before it started, unless a cursor names them.
      if (journals.some(({ isAway }) => isAway)) return;
      world.now += 1;
      nodes[each.restarts] = startNode();
      if (client.node === each.restarts)
        await client.move(nodeAt(1 - each.restarts), 1 - each.restarts, 1);
    } else await client.move(nodeAt(each.moveTo), each.moveTo, each.lost);
    await client.take();
    if (client.hasEnded) await client.move(nodeAt(client.node), client.node, 0);
  }

  await client.move(nodeAt(0), 0, 0);
  for (const each of steps) await apply(each);
  for (const journal of [0, 1, 2]) await apply({ returns: journal });
  for (const node of [0, 1, 0, 1])
    for (const journal of [0, 1, 2]) await apply({ node, journal, max: 1_000 });
  for (const moveTo of [1, 0]) await apply({ moveTo, lost: 0 });
  const expected = journals.flatMap(({ samples }) =>
    samples.map(({ data }) => data['at'] as string),
  );
  return { received: client.received.toSorted(), expected: expected.toSorted() };
}

test('a session gets what a node stored before it left, once, when the node returns', async () => {
  const { received, expected } = await run([
    { append: 0, afterMs: 1 },
    { node: 0, journal: 0, max: 1 },
    { node: 1, journal: 0, max: 1 },
    { append: 0, afterMs: 1 },
    // The node of the session does not get the second sample, the other one does.
    { node: 1, journal: 0, max: 1 },
    { leaves: 0 },
    { moveTo: 1, lost: 0 },
    { append: 1, afterMs: 1 },
    { node: 1, journal: 1, max: 1 },
    { returns: 0 },
    { append: 0, afterMs: 1 },
    { node: 1, journal: 0, max: 4 },
  ]);
  expect(received).toEqual(expected);
});

test('a place names what it has of journals that are away, as far as the node has more or less', () => {
  const stream = new JournalStream({ from: 50, behindMs: 0, setTimer: () => () => undefined });
  const known = { cursor: cursorAt(5, 0), before: 100 };
  for (const journal of ['away', 'same', 'later', 'live']) stream.reached(journal, known);
  for (const journal of ['away', 'same', 'later']) stream.setLive(journal, false);
  const less = { cursor: cursorAt(3, 0), before: 90 };
  const named = { away: less, same: known, live: less, unknown: less };
  const place = { before: 101, journals: new Map(Object.entries(named)) };
  expect(stream.absent(place)).toEqual(new Map(Object.entries({ away: less, unknown: less })));
  const unnamed = { cursor: '', before: 99 };
  expect(stream.absent({ before: 99, journals: new Map() })).toEqual(
    new Map(['away', 'same', 'later'].map((journal) => [journal, unnamed])),
  );
  const returned: string[] = [];
  const stop = stream.onReturn((journal) => returned.push(journal));
  for (const journal of ['away', 'live', 'unknown', 'away']) stream.setLive(journal, true);
  stop();
  stream.setLive('same', true);
  expect(returned).toEqual(['away', 'unknown']);
});

test('sessions that move while nodes leave, return and restart get each sample once', async () => {
  const property = fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
    const { received, expected } = await run(steps);
    expect(received).toEqual(expected);
  });
  await fc.assert(property, { numRuns: 1000 });
}, 240_000);
