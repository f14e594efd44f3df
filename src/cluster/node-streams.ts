// Node streams: publishes samples of all other nodes to the sessions of this one, as far as these want them.
import type { InterestChange, LiveInterests } from '../live/sessions/live-interests.ts';
import type { Replay } from '../live/sessions/catch-up.ts';
import type { FanOut } from '../live/sessions/fan-out.ts';
import { inJournal, type JournalStream } from '../live/sessions/journal-stream.ts';
import type { LiveSample } from '../live/sessions/stream-position.ts';
import type { EntryLog } from '../storage/log/entry-log.ts';
import { cursorAt } from '../model/cursor.ts';
import type { DurableEntry } from '../model/journal-entry.ts';
import type { NodeAddress } from '../model/node-messages.ts';
import { Problem } from '../model/problem.ts';
import type { SetTimer } from '../structures/timers.ts';
import type { EntryFeedMessage, EntryFeedRequest, FollowedEntries } from './entry-feed.ts';

const nodeStreamLimits = {
  tickMs: 100,
  /**
   * How long a subscription waits for nodes that do not answer. A link that is silent is broken by
   * then (`linkLimits`), and its node sends what it stores meanwhile when it is followed again; from
   * one that works, samples would be lost that it stores before it knows of the subscription.
   */
  confirmedMsMax: 10_000,
} as const;

interface NodeStreamsParts {
  readonly log: Pick<EntryLog, 'position' | 'nextPosition' | 'reachTime'>;
  /** Name of the own journal. */
  readonly journal: () => string;
  readonly stream: JournalStream;
  readonly interests: LiveInterests;
  /** The other nodes that hold leases. */
  readonly nodes: () => readonly NodeAddress[];
  readonly follow: (
    node: NodeAddress,
    request: () => EntryFeedRequest,
    broken: () => void,
  ) => FollowedEntries;
  readonly publish: (samples: readonly LiveSample[]) => void;
  /** Samples of a node were released before this one had them: sessions must begin again. */
  readonly missed: () => void;
  readonly failed: (error: unknown) => void;
  readonly setTimer: SetTimer;
  readonly setRepeatingTimer: SetTimer;
}

interface NodeStreams {
  /** Call for every own entry, before it is published. */
  announced(end: number): void;
  /** See the context of messages of sessions. */
  follow(assetIds: readonly string[]): Promise<() => void>;
  /** The other nodes whose journals can be read: they hold leases, or are connected still. */
  readable(): readonly NodeAddress[];
  /** The journal of the node was not read, because that left. */
  unread(node: NodeAddress): void;
  close(): Promise<void>;
}

/** What the live stream of a node needs of the others. */
export interface LiveNodes extends Pick<NodeStreams, 'announced' | 'follow' | 'close'> {
  readonly fanOut: FanOut;
  /** Publishes own entries. */
  readonly own: Pick<FanOut, 'publish' | 'pass' | 'interestsIn' | 'workspaces' | 'size'>;
  readonly replay: Replay;
  /** Follows the other nodes. `missed` is called when sessions must begin again. */
  start(missed: () => void): void;
}

interface FollowedNode {
  readonly node: NodeAddress;
  followed: FollowedEntries | undefined;
  journal: string | undefined;
  /** The link works, and the node knows the interests up to this number. */
  isConnected: boolean;
  confirmed: number;
  done: Promise<void>;
}

interface StreamsState {
  readonly parts: NodeStreamsParts;
  readonly followedNodes: Map<string, FollowedNode>;
  readonly waiting: Set<() => void>;
  /** Where nodes are followed from that were followed before. */
  readonly left: Map<string, Pick<EntryFeedRequest, 'from' | 'journal'>>;
  /** Own entries before this position were announced. */
  announcedTo: number;
  isClosed: boolean;
}

export function createNodeStreams(parts: NodeStreamsParts): NodeStreams {
  const { interests, setRepeatingTimer } = parts;
  const state: StreamsState = {
    parts,
    followedNodes: new Map(),
    waiting: new Set(),
    left: new Map(),
    announcedTo: parts.log.position,
    isClosed: false,
  };
  const stop = setRepeatingTimer(() => tick(state), nodeStreamLimits.tickMs);
  tick(state);
  return {
    announced(end) {
      state.announcedTo = Math.max(state.announcedTo, end);
    },
    async follow(assetIds) {
      for (const id of assetIds) interests.followed(id, true);
      sendChange(state);
      await confirmed(state, interests.number);
      return () => {
        for (const id of assetIds) interests.followed(id, false);
      };
    },
    readable: () => readableNodes(state),
    unread({ id }) {
      const { journal } = state.followedNodes.get(id) ?? {};
      if (journal !== undefined) parts.stream.setLive(journal, false);
    },
    async close() {
      stop();
      state.isClosed = true;
      const open = [...state.followedNodes.values()];
      for (const { followed } of open) followed?.close();
      await Promise.all(open.map(({ done }) => done));
    },
  };
}

function tick(state: StreamsState): void {
  const { parts, followedNodes, announcedTo } = state;
  const { log, stream } = parts;
  // With an entry in between, the time would be that of a sample which is not published yet.
  const isKnown = ({ id }: NodeAddress) => followedNodes.get(id)?.journal !== undefined;
  stream.setComplete(parts.nodes().every(isKnown));
  const isIdle = announcedTo === log.position && log.position === log.nextPosition;
  const before = isIdle ? log.reachTime() : 0;
  stream.reached(parts.journal(), { cursor: cursorAt(announcedTo, 0), before });
  sendChange(state);
  for (const node of parts.nodes()) {
    const known = followedNodes.get(node.id);
    if (known === undefined) start(state, node);
    // Its address has changed.
    else if (known.node.url !== node.url) known.followed?.close();
  }
}

function readableNodes({ parts, followedNodes }: StreamsState): readonly NodeAddress[] {
  const holding = parts.nodes();
  const connected = followedNodes
    .values()
    .filter(({ node, journal, isConnected }) => {
      const isFollowed = isConnected && journal !== undefined;
      return isFollowed && !holding.some(({ id }) => id === node.id);
    })
    .map(({ node }) => node);
  return [...holding, ...connected];
}

function sendChange({ parts: { interests }, followedNodes }: StreamsState): void {
  const interest: InterestChange | undefined = interests.takeChange();
  if (interest === undefined) return;
  const change = { number: interests.number, interest };
  for (const { followed } of followedNodes.values()) followed?.change(change);
}

/** Nodes that cannot be reached send what they have stored meanwhile, when they can. */
function confirmed(state: StreamsState, number: number): Promise<void> {
  const isDone = () =>
    state.followedNodes.values().every((node) => !node.isConnected || node.confirmed >= number);
  if (isDone()) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = () => {
    if (isDone()) resolve();
  };
  state.waiting.add(look);
  const cancel = state.parts.setTimer(resolve, nodeStreamLimits.confirmedMsMax);
  return promise.finally(() => {
    cancel();
    state.waiting.delete(look);
  });
}

function start(state: StreamsState, node: NodeAddress): void {
  const followedNode: FollowedNode = {
    node,
    followed: undefined,
    journal: undefined,
    // A new node is expected to answer.
    isConnected: true,
    confirmed: -1,
    done: Promise.resolve(),
  };
  state.followedNodes.set(node.id, followedNode);
  followedNode.done = followNode(state, followedNode)
    .catch((error: unknown) => {
      if (!state.isClosed) state.parts.failed(error);
    })
    .finally(() => {
      disconnected(state, followedNode);
      if (state.followedNodes.get(node.id) === followedNode) state.followedNodes.delete(node.id);
    });
}

async function followNode(state: StreamsState, followedNode: FollowedNode): Promise<void> {
  const { parts } = state;
  const { interests, stream, follow, missed } = parts;
  const { node } = followedNode;
  const first = { since: stream.place.before, ...state.left.get(node.id) };
  const followed = follow(
    node,
    () => ({
      interest: interests.whole(),
      number: interests.number,
      samplesOnly: true,
      ...first,
    }),
    () => disconnected(state, followedNode),
  );
  followedNode.followed = followed;
  try {
    for await (const message of followed.messages) take(state, followedNode, message);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    state.left.delete(node.id);
    missed();
  }
}

function take(state: StreamsState, followedNode: FollowedNode, message: EntryFeedMessage): void {
  const { stream, publish } = state.parts;
  const {
    journal = followedNode.journal ?? '',
    entries,
    next,
    before,
    confirmed: number,
  } = message;
  if (message.journal !== undefined) {
    followedNode.journal = journal;
    stream.setLive(journal, true);
  }
  for (const entry of entries) publish(samplesOf(entry, journal));
  stream.reached(journal, { cursor: cursorAt(next, 0), before });
  state.left.set(followedNode.node.id, { journal, from: next });
  followedNode.isConnected = true;
  if (number === followedNode.confirmed) return;
  followedNode.confirmed = number;
  for (const look of state.waiting) look();
}

function samplesOf({ samples }: DurableEntry, journal: string): LiveSample[] {
  return samples.map((sample) => inJournal(sample, journal));
}

/** While the node holds leases, cursors wait for it; else they name the place in its journal. */
function disconnected(state: StreamsState, followedNode: FollowedNode): void {
  const { node, journal, followed } = followedNode;
  const { nodes, stream } = state.parts;
  followedNode.isConnected = false;
  for (const look of state.waiting) look();
  if (nodes().some(({ id }) => id === node.id)) return;
  if (journal !== undefined) stream.setLive(journal, false);
  followed?.close();
}
