// Journal replay: stored samples of devices from the journals of all nodes, in the order of storing.
import type { NodeAddress } from '../model/node-messages.ts';
import { Problem, problem } from '../model/problem.ts';
import type { EntryLog } from '../storage/log/entry-log.ts';
import { inJournal } from './sessions/journal-stream.ts';
import { mergedReplays } from './sessions/replay-pass.ts';
import {
  advanced,
  type JournalPlaces,
  later,
  type LiveSample,
  placeIn,
  placeText,
  reaches,
  readPlaceText,
  type ReplayStart,
} from './sessions/stream-position.ts';

/** The name of the feed between nodes. */
export const replayFeed = 'replay';

const replayLimits = {
  /** How often a node that cannot be reached is asked, and how long in between. */
  attemptsMax: 20,
  waitMs: 500,
} as const;

interface ReplayRequest {
  readonly place: string;
  readonly devices: readonly string[];
}

export interface OwnReplayParts {
  readonly log: EntryLog;
  /** Name of the journal. */
  readonly journal: () => string;
}

/** Samples of the devices in the own journal after the place. Throws Problem `cursorTooOld`. */
async function* ownReplay(
  { log, journal: nameOf }: OwnReplayParts,
  place: JournalPlaces,
  deviceIds: ReadonlySet<string>,
): AsyncGenerator<readonly LiveSample[]> {
  const journal = nameOf();
  const { cursor, before } = placeIn(place, journal);
  const start = cursor === '' ? { storedSince: before } : { cursor };
  try {
    for await (const batch of log.replay(start, deviceIds)) {
      const samples = batch.map((sample) => inJournal(sample, journal));
      yield samples.filter((sample) => !reaches(place, sample));
    }
  } catch (error) {
    if (!(error instanceof Problem) || error.problem !== 'cursorTooOld') throw error;
    const oldest = { cursor: String(error.details['oldest']), before: 0 };
    const kept = later(place, { before: 0, journals: new Map([[journal, oldest]]) });
    throw problem('cursorTooOld', { oldest: placeText(kept as JournalPlaces) });
  }
}

/** Offers the own journal to other nodes. */
export function createReplayFeed(parts: OwnReplayParts) {
  return async function* replay({ request }: { readonly request: unknown }): AsyncGenerator {
    const { place, devices } = request as ReplayRequest;
    const from = readPlaceText(place);
    if (from === undefined) throw new Error(`${place} is not a place`);
    for await (const samples of ownReplay(parts, from, new Set(devices)))
      if (samples.length > 0) yield samples;
  };
}

interface JournalReplayParts extends OwnReplayParts {
  /** The other nodes whose journals can be read. */
  readonly nodes: () => readonly NodeAddress[];
  /** The journal of a node was not read, because that left. */
  readonly unread: (node: NodeAddress) => void;
  /** Opens a feed of another node. */
  readonly follow: (node: NodeAddress, feed: string, request: unknown) => AsyncIterable<unknown>;
  readonly wait: (ms: number) => Promise<unknown>;
}

/** See the log's `replay`. Throws Problem `nodeUnreachable` after a while without a node. */
export function createJournalReplay(parts: JournalReplayParts) {
  return (start: ReplayStart, deviceIds: ReadonlySet<string>) => {
    const place = placeOf(start);
    const others = parts.nodes().map((node) => remoteReplay(parts, node, place, deviceIds));
    return mergedReplays([ownReplay(parts, place, deviceIds), ...others]);
  };
}

function placeOf(start: ReplayStart): JournalPlaces {
  if ('storedSince' in start) return { before: start.storedSince, journals: new Map() };
  if (typeof start.cursor !== 'string') return start.cursor;
  // Of a single process, and not of this cluster.
  throw problem('invalidRequest', {
    reason: `cursor ${start.cursor} belongs to another installation`,
  });
}

async function* remoteReplay(
  { nodes, unread, follow, wait }: JournalReplayParts,
  node: NodeAddress,
  from: JournalPlaces,
  deviceIds: ReadonlySet<string>,
): AsyncGenerator<readonly LiveSample[]> {
  const devices = [...deviceIds];
  let place = from;
  for (let attempt = 1; ; attempt++) {
    try {
      const request: ReplayRequest = { place: placeText(place), devices };
      for await (const item of follow(node, replayFeed, request)) {
        const samples = item as readonly LiveSample[];
        yield samples;
        const last = samples.at(-1);
        if (last !== undefined) place = advanced(place, last) as JournalPlaces;
      }
      return;
    } catch (error) {
      if (error instanceof Problem) throw error;
      // What it still has follows when it returns.
      if (!nodes().some(({ id }) => id === node.id)) return unread(node);
      if (attempt >= replayLimits.attemptsMax) throw problem('nodeUnreachable');
      await wait(replayLimits.waitMs);
    }
  }
}
