// Events elsewhere: live events of this node for sessions of other nodes that follow the workspace (contract 37).
import { createSendBudget, sendCosts } from '../live/send-budget.ts';
import type { LiveEvent, WorkspaceFanOut } from '../live/workspace-fan-out.ts';
import type { EpochMs } from '../model/instant.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { type LiveKind, liveKinds } from '../model/live-kind.ts';
import type { NodeAddress } from '../model/node-address.ts';
import type { NodeMessages } from '../model/node-messages.ts';
import type { SetTimer } from '../structures/timers.ts';
import { createEventOutbox, type EventOutbox, type SentEvents } from './event-outbox.ts';

const limits = {
  /** How often other nodes are told what is followed here, if it has changed. */
  tickMs: 100,
  /** How often they are told again without a change. */
  repeatMs: 10_000,
  /** A node that has told nothing for so long is gone. */
  silentMsMax: 35_000,
  /** How long a subscription waits for nodes that do not answer. */
  toldMsMax: 2_000,
} as const;

const followedMessage = 'followed workspaces';
const eventsMessage = 'live events';

/**
 * Samples have their own way. Every node notices by itself which records change and which devices
 * go offline.
 */
const sharedKinds: readonly LiveKind[] = liveKinds.filter(
  (kind) => kind !== 'SAMPLE' && kind !== 'RECORD_CHANGED',
);

export interface EventsElsewhere {
  /** Whether a session of another node follows the kind in the workspace. */
  wants(workspaceId: string, kind: LiveKind): boolean;
  /** Whether a session of another node follows the kind in any workspace. */
  wantsAny(kind: LiveKind): boolean;
  /** Sends the event to the nodes whose sessions follow its kind. */
  publish(event: LiveEvent): void;
  /** Resolves when the other nodes know what is followed here, or after a limit. */
  told(): Promise<void>;
  close(): void;
}

export interface EventsElsewhereParts {
  /** Another one in each run of this node. */
  readonly run: string;
  readonly messages: Pick<NodeMessages, 'toNode' | 'handle'>;
  /** The other nodes. */
  readonly nodes: () => readonly NodeAddress[];
  /** The sessions of this node. */
  readonly here: Pick<WorkspaceFanOut, 'wanting' | 'publish' | 'omit'>;
  readonly now: () => EpochMs;
  /** A monotonic clock in milliseconds. */
  readonly clock: () => number;
  readonly setTimer: SetTimer;
  readonly setRepeatingTimer: SetTimer;
  readonly failed: (error: unknown) => void;
}

/** A node with sessions that follow workspaces. */
interface Follower {
  heardAt: number;
  workspaces: ReadonlyMap<string, FollowedWorkspace>;
  readonly outbox: EventOutbox;
}

interface FollowedWorkspace {
  readonly organizationId: string;
  readonly kinds: ReadonlySet<LiveKind>;
}

type FollowedList = readonly (readonly [
  workspaceId: string,
  organizationId: string,
  kinds: readonly LiveKind[],
])[];

export function createEventsElsewhere(parts: EventsElsewhereParts): EventsElsewhere {
  const { messages, here, nodes, clock } = parts;
  const followers = new Map<string, Follower>();
  // One for each kind, so that many runs of rules do not keep alarms from being sent.
  const budgets = new Map(sharedKinds.map((kind) => [kind, createSendBudget()]));
  const lastNumbers = new Map<string, { readonly run: string; readonly number: number }>();
  const telling = createTelling(parts);

  messages.handle(followedMessage, async (request, from) => {
    const known = followers.get(from);
    const workspaces = readFollowed((request as { workspaces: FollowedList }).workspaces);
    const outbox = known?.outbox ?? outboxTo(from);
    followers.set(from, { heardAt: clock(), workspaces, outbox });
    return null;
  });
  messages.handle(eventsMessage, async (request, from) => {
    const { run, number, events, omitted } = request as unknown as SentEvents;
    const last = lastNumbers.get(from);
    // A repetition, because the answer was lost.
    if (last?.run === run && last.number >= number) return null;
    lastNumbers.set(from, { run, number });
    for (const [workspaceId, kind, text] of events)
      here.publish({ workspaceId, kind, content: () => JSON.parse(text) as JsonObject });
    for (const [workspaceId, kind, count] of omitted) here.omit(workspaceId, kind, count);
    return null;
  });

  function outboxTo(id: string): EventOutbox {
    return createEventOutbox({
      run: parts.run,
      async send(sent, bytes) {
        const node = nodes().find((each) => each.id === id);
        if (node === undefined) return;
        // A form of JSON: lists of texts and numbers.
        const request = sent as unknown as Json;
        await messages.toNode(node, { kind: eventsMessage, request, bytes, again: request });
      },
      failed: parts.failed,
    });
  }

  function forgetSilent(): void {
    for (const [id, { heardAt }] of followers)
      if (clock() - heardAt > limits.silentMsMax) followers.delete(id);
    for (const { outbox } of followers.values()) outbox.flush();
  }

  const stop = parts.setRepeatingTimer(() => {
    forgetSilent();
    void telling.tell();
  }, limits.tickMs);

  return {
    wants: (workspaceId, kind) =>
      followers.values().some(({ workspaces }) => isFollowed(workspaces, workspaceId, kind)),
    wantsAny: (kind) =>
      followers
        .values()
        .some(({ workspaces }) => workspaces.values().some(({ kinds }) => kinds.has(kind))),
    publish({ workspaceId, kind, content }) {
      let text: string | undefined;
      for (const { workspaces, outbox } of followers.values()) {
        const followed = workspaces.get(workspaceId);
        if (followed?.kinds.has(kind) !== true) continue;
        const budget = budgets.get(kind);
        const isFree = budget?.take(followed.organizationId, parts.now(), sendCosts.sent) === true;
        if (isFree) outbox.add(workspaceId, kind, (text ??= JSON.stringify(content())));
        else outbox.omit(workspaceId, kind);
      }
    },
    told: telling.told,
    close() {
      stop();
      for (const { outbox } of followers.values()) outbox.close();
    },
  };
}

function isFollowed(
  workspaces: Follower['workspaces'],
  workspaceId: string,
  kind: LiveKind,
): boolean {
  return workspaces.get(workspaceId)?.kinds.has(kind) === true;
}

function readFollowed(list: FollowedList): Map<string, FollowedWorkspace> {
  return new Map(
    list.map(([workspaceId, organizationId, kinds]) => [
      workspaceId,
      { organizationId, kinds: new Set(kinds) },
    ]),
  );
}

/** What another node knows of what is followed here. */
interface ToldNode {
  version: number;
  at: number;
  /** While it is told. */
  pending: Promise<void> | undefined;
}

/** Tells the other nodes what is followed here. */
function createTelling(parts: EventsElsewhereParts) {
  const { messages, nodes, here, clock } = parts;
  const toldNodes = new Map<string, ToldNode>();
  let version = 0;
  let text = '[]';

  function look(): void {
    const followed = new Map<string, { organizationId: string; kinds: LiveKind[] }>();
    for (const kind of sharedKinds)
      for (const { workspaceId, organizationId } of here.wanting(kind)) {
        const known = followed.get(workspaceId) ?? { organizationId, kinds: [] };
        followed.set(workspaceId, known);
        known.kinds.push(kind);
      }
    const list: FollowedList = [...followed].map(([id, { organizationId, kinds }]) => [
      id,
      organizationId,
      kinds,
    ]);
    const now = JSON.stringify(list);
    if (now === text) return;
    text = now;
    version += 1;
  }

  const isDue = (told: ToldNode): boolean =>
    told.version !== version || clock() - told.at > limits.repeatMs;

  async function tellNode(node: NodeAddress, told: ToldNode): Promise<void> {
    while (isDue(told)) {
      const [sent, at] = [version, clock()];
      const request = { workspaces: JSON.parse(text) as Json };
      const message = { kind: followedMessage, request, bytes: text.length, again: request };
      await messages.toNode(node, message);
      [told.version, told.at] = [sent, at];
    }
  }

  /** Resolves when those that answer know it. */
  async function tell(): Promise<void> {
    look();
    const present = nodes();
    for (const id of toldNodes.keys())
      if (!present.some((node) => node.id === id)) toldNodes.delete(id);
    await Promise.all(
      present.map((node) => {
        const told = toldNodes.get(node.id) ?? { version: -1, at: 0, pending: undefined };
        toldNodes.set(node.id, told);
        // A node that cannot be reached is told with a later tick.
        told.pending ??= tellNode(node, told)
          .catch(() => undefined)
          .finally(() => (told.pending = undefined));
        return told.pending;
      }),
    );
  }

  return {
    tell,
    async told(): Promise<void> {
      look();
      const areTold = (): boolean =>
        nodes().every(({ id }) => toldNodes.get(id)?.version === version);
      if (areTold()) return;
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const cancel = parts.setTimer(resolve, limits.toldMsMax);
      await Promise.race([tell(), late]).finally(cancel);
    },
  };
}
