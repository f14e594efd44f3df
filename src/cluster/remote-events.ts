// Events elsewhere: live events of this node for sessions of other nodes that follow the workspace (contract 37).
import {
  type LiveEvent,
  SendBudget,
  sendCosts,
  type WorkspaceFanOut,
} from '../live/sessions/workspace-fan-out.ts';
import type { EpochMs } from '../model/instant.ts';
import type { JsonObject } from '../model/json.ts';
import { type LiveKind, liveKinds } from '../model/live-kind.ts';
import type { NodeAddress, NodeMessages } from '../model/node-messages.ts';
import type { SetTimer } from '../structures/timers.ts';

const limits = {
  /** How often other nodes get what is followed here, if it has changed. */
  tickMs: 100,
  /** A node that has sent nothing about that for this time is gone. */
  silentMsMax: 35_000,
} as const;

const eventsMessage = 'live events';

export interface EventsElsewhere {
  /** Whether a session of another node follows the kind in the workspace. */
  wants(workspaceId: string, kind: LiveKind): boolean;
  /** Whether a session of another node follows the kind in any workspace. */
  wantsAny(kind: LiveKind): boolean;
  /** Sends the event to the nodes whose sessions follow its kind. */
  publish(event: LiveEvent): void;
  /** Resolves when the other nodes know what is followed here, or after a limit. */
  known(): Promise<void>;
  close(): void;
}

interface EventsElsewhereParts extends SharingParts {
  /** Another one in each run of this node. */
  readonly run: string;
  readonly messages: Pick<NodeMessages, 'toNode' | 'handle'>;
  /** The sessions of this node. */
  readonly here: WorkspaceFanOut;
  readonly now: () => EpochMs;
  readonly setRepeatingTimer: SetTimer;
  readonly failed: (error: unknown) => void;
}

/** A node with sessions that follow workspaces. */
interface Follower {
  readonly heardAt: number;
  readonly workspaces: ReadonlyMap<string, FollowedWorkspace>;
  readonly outbox: EventOutbox;
}

interface State {
  readonly parts: EventsElsewhereParts;
  /** By the id of the node. */
  readonly followers: Map<string, Follower>;
  /** One for each kind, so that many runs of rules do not keep alarms from being sent. */
  readonly budgets: ReadonlyMap<LiveKind, SendBudget>;
  /** The last batch of each node. */
  readonly received: Map<string, Pick<SentEvents, 'run' | 'number'>>;
}

export function createEventsElsewhere(parts: EventsElsewhereParts): EventsElsewhere {
  const state: State = {
    parts,
    followers: new Map(),
    received: new Map(),
    budgets: new Map(sharedKinds.map((kind) => [kind, new SendBudget()])),
  };
  const { followers } = state;
  const sharing = new FollowedSharing(parts);
  parts.messages.handle(followedMessage, async (request, from) => {
    const outbox = followers.get(from)?.outbox ?? outboxTo(from, parts);
    followers.set(from, { heardAt: parts.clock(), workspaces: readFollowed(request), outbox });
    return null;
  });
  parts.messages.handle(eventsMessage, async (request, from) => {
    // A form of JSON: lists of texts and numbers.
    receive(request as SentEvents, from, state);
    return null;
  });
  const stop = parts.setRepeatingTimer(() => {
    evictSilent(state);
    void sharing.share();
  }, limits.tickMs);
  return {
    wants: (workspaceId, kind) =>
      followers
        .values()
        .some(({ workspaces }) => workspaces.get(workspaceId)?.kinds.has(kind) === true),
    wantsAny: (kind) =>
      followers
        .values()
        .some(({ workspaces }) => workspaces.values().some(({ kinds }) => kinds.has(kind))),
    publish: (event) => publish(event, state),
    known: sharing.known,
    close() {
      stop();
      for (const { outbox } of followers.values()) outbox.close();
    },
  };
}

function outboxTo(id: string, { run, nodes, messages, failed }: EventsElsewhereParts): EventOutbox {
  return createEventOutbox({
    run,
    failed,
    async send(sent, bytes) {
      const node = nodes().find((each) => each.id === id);
      // Its sessions have ended with it.
      if (node === undefined) return;
      const request = sent;
      await messages.toNode(node, { kind: eventsMessage, request, bytes, again: request });
    },
  });
}

function evictSilent({ followers, parts }: State): void {
  for (const [id, { heardAt, outbox }] of followers)
    if (parts.clock() - heardAt > limits.silentMsMax) followers.delete(id);
    else outbox.flush();
}

function publish({ workspaceId, kind, content }: LiveEvent, state: State): void {
  const { followers, budgets, parts } = state;
  let text: string | undefined;
  for (const { workspaces, outbox } of followers.values()) {
    const followed = workspaces.get(workspaceId);
    if (followed?.kinds.has(kind) !== true) continue;
    const { organizationId } = followed;
    const isFree = budgets.get(kind)?.take(organizationId, parts.now(), sendCosts.sent) === true;
    if (isFree) outbox.add(workspaceId, kind, (text ??= JSON.stringify(content())));
    else outbox.omit(workspaceId, kind);
  }
}

function receive({ run, number, events, omitted }: SentEvents, from: string, state: State): void {
  const { received, parts } = state;
  const last = received.get(from);
  // A repetition, because the answer was lost.
  if (last?.run === run && last.number >= number) return;
  received.set(from, { run, number });
  for (const [workspaceId, kind, text] of events)
    parts.here.publish({ workspaceId, kind, content: () => JSON.parse(text) as JsonObject });
  for (const [workspaceId, kind, count] of omitted) parts.here.omit(workspaceId, kind, count);
}

// Event outbox: live events on their way to one other node, in order, in batches, and up to a limit.

export const outboxLimits = {
  /** What waits; beyond, events are counted and not sent. */
  eventsMax: 5_000,
  charactersMax: 4 * 1024 * 1024,
  /** Of one batch. */
  batchMax: 500,
  batchCharactersMax: 512 * 1024,
} as const;

type SentEvent = readonly [workspaceId: string, kind: LiveKind, content: string];
type OmittedEvents = readonly [workspaceId: string, kind: LiveKind, count: number];

/** Events as they are sent: the content is JSON. */
interface SentEvents {
  readonly run: string;
  /** One more with each batch of the run. */
  readonly number: number;
  readonly events: readonly SentEvent[];
  readonly omitted: readonly OmittedEvents[];
}

interface EventOutbox {
  add(workspaceId: string, kind: LiveKind, content: string): void;
  /** Counts an event that is not sent; the receiver reports the count to its sessions. */
  omit(workspaceId: string, kind: LiveKind): void;
  /** Sends counts that wait, when no event takes them along. */
  flush(): void;
  close(): void;
}

/** One batch at a time is on its way. */
function createEventOutbox({
  run,
  send,
  failed,
}: {
  readonly run: string;
  /** Rejects when the outcome is unknown. */
  readonly send: (sent: SentEvents, bytes: number) => Promise<void>;
  readonly failed: (error: unknown) => void;
}): EventOutbox {
  const queue = createEventQueue();
  const state = { number: 0, isSending: false, isPlanned: false, isClosed: false };

  async function sendAll(): Promise<void> {
    state.isPlanned = false;
    state.isSending = true;
    while (!state.isClosed && !queue.isEmpty()) {
      const { events, omitted, characters } = queue.take();
      state.number += 1;
      try {
        await send({ run, number: state.number, events, omitted }, characters);
      } catch (error) {
        failed(error);
        for (const [workspaceId, kind] of events) queue.omit(workspaceId, kind, 1);
        for (const [workspaceId, kind, count] of omitted) queue.omit(workspaceId, kind, count);
        break;
      }
    }
    state.isSending = false;
  }

  /** Events of one turn of the event loop leave together. */
  function plan(): void {
    if (state.isPlanned || state.isSending) return;
    state.isPlanned = true;
    setImmediate(() => void sendAll());
  }

  return {
    add(workspaceId, kind, content) {
      queue.add(workspaceId, kind, content);
      plan();
    },
    omit: (workspaceId, kind) => queue.omit(workspaceId, kind, 1),
    flush() {
      if (!queue.isEmpty()) plan();
    },
    close() {
      state.isClosed = true;
    },
  };
}

interface Batch extends Pick<SentEvents, 'events' | 'omitted'> {
  readonly characters: number;
}

/** What waits, and the count of what was too much. */
function createEventQueue() {
  let waiting: SentEvent[] = [];
  let characters = 0;
  let omitted = new Map<string, OmittedEvents>();

  function omit(workspaceId: string, kind: LiveKind, count: number): void {
    const key = `${kind} ${workspaceId}`;
    omitted.set(key, [workspaceId, kind, (omitted.get(key)?.[2] ?? 0) + count]);
  }

  return {
    omit,
    isEmpty: () => waiting.length === 0 && omitted.size === 0,
    add(workspaceId: string, kind: LiveKind, content: string): void {
      const { eventsMax, charactersMax } = outboxLimits;
      const isFull = waiting.length >= eventsMax || characters + content.length > charactersMax;
      if (isFull) return omit(workspaceId, kind, 1);
      waiting.push([workspaceId, kind, content]);
      characters += content.length;
    },
    take(): Batch {
      const events: SentEvent[] = [];
      let size = 0;
      for (const event of waiting) {
        if (events.length >= outboxLimits.batchMax || size > outboxLimits.batchCharactersMax) break;
        events.push(event);
        size += event[2].length;
      }
      waiting = waiting.slice(events.length);
      characters -= size;
      const counts = [...omitted.values()];
      omitted = new Map();
      return { events, omitted: counts, characters: size };
    },
  };
}

// Followed workspaces: what sessions of a node follow, as the other nodes know it.

const followLimits = {
  /** How often other nodes get it without a change. */
  repeatMs: 10_000,
  /** How long a subscription waits for nodes that do not answer. */
  knownMsMax: 2_000,
} as const;

const followedMessage = 'followed workspaces';

/**
 * Samples have their own way. Every node notices by itself which records change and which devices
 * go offline.
 */
const sharedKinds: readonly LiveKind[] = liveKinds.filter(
  (kind) => kind !== 'SAMPLE' && kind !== 'RECORD_CHANGED',
);

interface FollowedWorkspace {
  readonly organizationId: string;
  readonly kinds: ReadonlySet<LiveKind>;
}

type FollowedList = readonly (readonly [
  workspaceId: string,
  organizationId: string,
  kinds: readonly LiveKind[],
])[];

/** By workspace, what a node has sent. */
function readFollowed(request: unknown): Map<string, FollowedWorkspace> {
  const { workspaces } = request as { readonly workspaces: FollowedList };
  return new Map(
    workspaces.map(([workspaceId, organizationId, kinds]) => [
      workspaceId,
      { organizationId, kinds: new Set(kinds) },
    ]),
  );
}

interface SharingParts {
  readonly messages: Pick<NodeMessages, 'toNode'>;
  /** The other nodes. */
  readonly nodes: () => readonly NodeAddress[];
  /** The sessions of this node. */
  readonly here: WorkspaceFanOut;
  /** A monotonic clock in milliseconds. */
  readonly clock: () => number;
  readonly setTimer: SetTimer;
}

/** What another node knows. */
interface KnowingNode {
  version: number;
  at: number;
  /** While it is sent. */
  pending: Promise<void> | undefined;
}

interface FollowState {
  readonly parts: SharingParts;
  readonly knowing: Map<string, KnowingNode>;
  version: number;
  /** The list as JSON. */
  text: string;
}

class FollowedSharing {
  readonly #parts: SharingParts;
  readonly #state: FollowState;

  constructor(parts: SharingParts) {
    this.#parts = parts;
    this.#state = { parts, knowing: new Map(), version: 0, text: '[]' };
  }

  /** The same, after a limit at the latest. */
  readonly known = async (): Promise<void> => {
    readFollowing(this.#state);
    if (this.#isKnown()) return;
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const cancel = this.#parts.setTimer(resolve, followLimits.knownMsMax);
    await Promise.race([share(this.#state), late]).finally(cancel);
  };

  /** Sends what has changed. Resolves when the nodes that answer know it. */
  share(): Promise<void> {
    return share(this.#state);
  }

  #isKnown(): boolean {
    return this.#parts
      .nodes()
      .every(({ id }) => this.#state.knowing.get(id)?.version === this.#state.version);
  }
}

function readFollowing(state: FollowState): void {
  const text = JSON.stringify(followedHere(state.parts.here));
  if (text === state.text) return;
  state.text = text;
  state.version += 1;
}

function followedHere({ wanting }: SharingParts['here']): FollowedList {
  const followed = new Map<string, [string, string, LiveKind[]]>();
  for (const kind of sharedKinds)
    for (const { workspaceId, organizationId } of wanting(kind)) {
      const known = followed.get(workspaceId) ?? [workspaceId, organizationId, []];
      followed.set(workspaceId, known);
      known[2].push(kind);
    }
  return [...followed.values()];
}

async function share(state: FollowState): Promise<void> {
  const { knowing, parts } = state;
  readFollowing(state);
  const present = parts.nodes();
  for (const id of knowing.keys()) if (!present.some((node) => node.id === id)) knowing.delete(id);
  await Promise.all(
    present.map((node) => {
      const known = knowing.get(node.id) ?? { version: -1, at: 0, pending: undefined };
      knowing.set(node.id, known);
      // A node that cannot be reached gets it later.
      known.pending ??= sendTo(node, known, state)
        .catch(() => undefined)
        .finally(() => {
          known.pending = undefined;
        });
      return known.pending;
    }),
  );
}

async function sendTo(node: NodeAddress, known: KnowingNode, state: FollowState): Promise<void> {
  const { clock, messages } = state.parts;
  while (known.version !== state.version || clock() - known.at > followLimits.repeatMs) {
    const [version, at] = [state.version, clock()];
    const request = { workspaces: JSON.parse(state.text) as unknown };
    const bytes = state.text.length;
    await messages.toNode(node, { kind: followedMessage, request, bytes, again: request });
    [known.version, known.at] = [version, at];
  }
}
