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

/**
 * Samples have their own way. Every node notices by itself which records change and which devices
 * go offline.
 */
const sharedKinds: readonly LiveKind[] = liveKinds.filter(
  (kind) => kind !== 'SAMPLE' && kind !== 'RECORD_CHANGED',
);

interface EventsElsewhereParts {
  /** Another one in each run of this node. */
  readonly run: string;
  readonly messages: Pick<NodeMessages, 'toNode' | 'handle'>;
  /** The other nodes. */
  readonly nodes: () => readonly NodeAddress[];
  /** The sessions of this node. */
  readonly here: WorkspaceFanOut;
  readonly now: () => EpochMs;
  /** A monotonic clock in milliseconds. */
  readonly clock: () => number;
  readonly setTimer: SetTimer;
  readonly setRepeatingTimer: SetTimer;
  readonly failed: (error: unknown) => void;
}

/** A node with sessions that follow workspaces. */
interface Follower {
  readonly heardAt: number;
  readonly workspaces: ReadonlyMap<string, FollowedWorkspace>;
  readonly outbox: EventOutbox;
}

export class EventsElsewhere {
  readonly #parts: EventsElsewhereParts;
  readonly #sharing: FollowedSharing;
  /** By the id of the node. */
  readonly #followers = new Map<string, Follower>();
  /** The last batch of each node. */
  readonly #received = new Map<string, { readonly run: string; readonly number: number }>();
  /** One for each kind, so that many runs of rules do not keep alarms from being sent. */
  readonly #budgets = new Map(sharedKinds.map((kind) => [kind, new SendBudget()]));
  readonly #stop: () => void;

  constructor(parts: EventsElsewhereParts) {
    this.#parts = parts;
    this.#sharing = new FollowedSharing(parts);
    parts.messages.handle(followedMessage, async (request, from) => {
      const outbox = this.#followers.get(from)?.outbox ?? this.#outboxTo(from);
      const workspaces = readFollowed(request);
      this.#followers.set(from, { heardAt: parts.clock(), workspaces, outbox });
      return null;
    });
    parts.messages.handle(eventsMessage, async (request, from) => {
      // A form of JSON: lists of texts and numbers.
      this.#receive(request as SentEvents, from);
      return null;
    });
    this.#stop = parts.setRepeatingTimer(() => {
      this.#evictSilent();
      void this.#sharing.share();
    }, limits.tickMs);
  }

  /** Resolves when the other nodes know what is followed here, or after a limit. */
  readonly known = (): Promise<void> => this.#sharing.known();

  /** Whether a session of another node follows the kind in the workspace. */
  wants(workspaceId: string, kind: LiveKind): boolean {
    return this.#followers
      .values()
      .some(({ workspaces }) => workspaces.get(workspaceId)?.kinds.has(kind) === true);
  }

  /** Whether a session of another node follows the kind in any workspace. */
  wantsAny(kind: LiveKind): boolean {
    return this.#followers
      .values()
      .some(({ workspaces }) => workspaces.values().some(({ kinds }) => kinds.has(kind)));
  }

  /** Sends the event to the nodes whose sessions follow its kind. */
  publish({ workspaceId, kind, content }: LiveEvent): void {
    let text: string | undefined;
    for (const { workspaces, outbox } of this.#followers.values()) {
      const followed = workspaces.get(workspaceId);
      if (followed?.kinds.has(kind) !== true) continue;
      const { organizationId } = followed;
      const budget = this.#budgets.get(kind);
      const isFree = budget?.take(organizationId, this.#parts.now(), sendCosts.sent) === true;
      if (isFree) outbox.add(workspaceId, kind, (text ??= JSON.stringify(content())));
      else outbox.omit(workspaceId, kind, 1);
    }
  }

  close(): void {
    this.#stop();
    for (const { outbox } of this.#followers.values()) outbox.close();
  }

  #outboxTo(id: string): EventOutbox {
    const { run, nodes, messages, failed } = this.#parts;
    const send = async (request: SentEvents, bytes: number): Promise<void> => {
      const node = nodes().find((each) => each.id === id);
      // Its sessions have ended with it.
      if (node === undefined) return;
      await messages.toNode(node, { kind: eventsMessage, request, bytes, again: request });
    };
    return new EventOutbox(run, send, failed);
  }

  #evictSilent(): void {
    for (const [id, { heardAt, outbox }] of this.#followers)
      if (this.#parts.clock() - heardAt > limits.silentMsMax) this.#followers.delete(id);
      else outbox.flush();
  }

  #receive({ run, number, events, omitted }: SentEvents, from: string): void {
    const { here } = this.#parts;
    const last = this.#received.get(from);
    // A repetition, because the answer was lost.
    if (last?.run === run && last.number >= number) return;
    this.#received.set(from, { run, number });
    for (const [workspaceId, kind, text] of events)
      here.publish({ workspaceId, kind, content: () => JSON.parse(text) as JsonObject });
    for (const [workspaceId, kind, count] of omitted) here.omit(workspaceId, kind, count);
  }
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

/** One batch at a time is on its way. */
class EventOutbox {
  readonly #run: string;
  readonly #send: (sent: SentEvents, characters: number) => Promise<void>;
  readonly #failed: (error: unknown) => void;
  #waiting: SentEvent[] = [];
  #characters = 0;
  /** The count of what was too much, by kind and workspace. */
  #omitted = new Map<string, OmittedEvents>();
  #number = 0;
  #isSending = false;
  #isPlanned = false;
  #isClosed = false;

  /** `send` rejects when the outcome is unknown. */
  constructor(
    run: string,
    send: (sent: SentEvents, characters: number) => Promise<void>,
    failed: (error: unknown) => void,
  ) {
    this.#run = run;
    this.#send = send;
    this.#failed = failed;
  }

  add(workspaceId: string, kind: LiveKind, content: string): void {
    const { eventsMax, charactersMax } = outboxLimits;
    const isFull =
      this.#waiting.length >= eventsMax || this.#characters + content.length > charactersMax;
    if (isFull) this.omit(workspaceId, kind, 1);
    else {
      this.#waiting.push([workspaceId, kind, content]);
      this.#characters += content.length;
    }
    this.#plan();
  }

  /** Counts events that are not sent; the receiver reports the count to its sessions. */
  omit(workspaceId: string, kind: LiveKind, count: number): void {
    const key = `${kind} ${workspaceId}`;
    const before = this.#omitted.get(key)?.[2] ?? 0;
    this.#omitted.set(key, [workspaceId, kind, before + count]);
  }

  /** Sends counts that wait, when no event takes them along. */
  flush(): void {
    if (!this.#isEmpty()) this.#plan();
  }

  close(): void {
    this.#isClosed = true;
  }

  #isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#omitted.size === 0;
  }

  /** Events of one turn of the event loop leave together. */
  #plan(): void {
    if (this.#isPlanned || this.#isSending) return;
    this.#isPlanned = true;
    setImmediate(() => void this.#sendAll());
  }

  async #sendAll(): Promise<void> {
    this.#isPlanned = false;
    this.#isSending = true;
    while (!this.#isClosed && !this.#isEmpty()) {
      const characters = this.#characters;
      const batch = this.#take();
      try {
        await this.#send(batch, characters - this.#characters);
      } catch (error) {
        this.#failed(error);
        for (const [workspaceId, kind] of batch.events) this.omit(workspaceId, kind, 1);
        for (const [workspaceId, kind, count] of batch.omitted) this.omit(workspaceId, kind, count);
        break;
      }
    }
    this.#isSending = false;
  }

  #take(): SentEvents {
    const events: SentEvent[] = [];
    let size = 0;
    for (const event of this.#waiting) {
      if (events.length >= outboxLimits.batchMax || size > outboxLimits.batchCharactersMax) break;
      events.push(event);
      size += event[2].length;
    }
    this.#waiting = this.#waiting.slice(events.length);
    this.#characters -= size;
    const omitted = [...this.#omitted.values()];
    this.#omitted = new Map();
    this.#number += 1;
    return { run: this.#run, number: this.#number, events, omitted };
  }
}

// Followed workspaces: what sessions of a node follow, as the other nodes know it.

const followLimits = {
  /** How often other nodes get it without a change. */
  repeatMs: 10_000,
  /** How long a subscription waits for nodes that do not answer. */
  knownMsMax: 2_000,
} as const;

const followedMessage = 'followed workspaces';

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

function followedHere({ wanting }: WorkspaceFanOut): FollowedList {
  const followed = new Map<string, [string, string, LiveKind[]]>();
  for (const kind of sharedKinds)
    for (const { workspaceId, organizationId } of wanting(kind)) {
      const known = followed.get(workspaceId) ?? [workspaceId, organizationId, []];
      followed.set(workspaceId, known);
      known[2].push(kind);
    }
  return [...followed.values()];
}

/** What another node knows. */
interface KnowingNode {
  version: number;
  at: number;
  /** While it is sent. */
  pending: Promise<void> | undefined;
}

class FollowedSharing {
  readonly #parts: EventsElsewhereParts;
  readonly #knowing = new Map<string, KnowingNode>();
  #version = 0;
  /** The list as JSON. */
  #text = '[]';

  constructor(parts: EventsElsewhereParts) {
    this.#parts = parts;
  }

  /** Resolves when the other nodes know what is followed here, or after a limit. */
  async known(): Promise<void> {
    this.#read();
    const { nodes, setTimer } = this.#parts;
    if (nodes().every(({ id }) => this.#knowing.get(id)?.version === this.#version)) return;
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const cancel = setTimer(resolve, followLimits.knownMsMax);
    await Promise.race([this.share(), late]).finally(cancel);
  }

  /** Sends what has changed. Resolves when the nodes that answer know it. */
  async share(): Promise<void> {
    this.#read();
    const present = this.#parts.nodes();
    for (const id of this.#knowing.keys())
      if (!present.some((node) => node.id === id)) this.#knowing.delete(id);
    await Promise.all(
      present.map((node) => {
        const known = this.#knowing.get(node.id) ?? { version: -1, at: 0, pending: undefined };
        this.#knowing.set(node.id, known);
        // A node that cannot be reached gets it later.
        known.pending ??= this.#sendTo(node, known)
          .catch(() => undefined)
          .finally(() => {
            known.pending = undefined;
          });
        return known.pending;
      }),
    );
  }

  #read(): void {
    const text = JSON.stringify(followedHere(this.#parts.here));
    if (text === this.#text) return;
    this.#text = text;
    this.#version += 1;
  }

  async #sendTo(node: NodeAddress, known: KnowingNode): Promise<void> {
    const { clock, messages } = this.#parts;
    while (known.version !== this.#version || clock() - known.at > followLimits.repeatMs) {
      const [version, at] = [this.#version, clock()];
      const request = { workspaces: JSON.parse(this.#text) as unknown };
      const bytes = this.#text.length;
      await messages.toNode(node, { kind: followedMessage, request, bytes, again: request });
      [known.version, known.at] = [version, at];
    }
  }
}
