// Followed workspaces: what sessions of a node follow, as the other nodes know it.
import type { WorkspaceFanOut } from '../live/sessions/workspace-fan-out.ts';
import { type LiveKind, liveKinds } from '../model/live-kind.ts';
import type { NodeAddress, NodeMessages } from '../model/node-messages.ts';
import type { SetTimer } from '../structures/timers.ts';

const limits = {
  /** How often other nodes get it without a change. */
  repeatMs: 10_000,
  /** How long a subscription waits for nodes that do not answer. */
  knownMsMax: 2_000,
} as const;

export const followedMessage = 'followed workspaces';

/**
 * Samples have their own way. Every node notices by itself which records change and which devices
 * go offline.
 */
export const sharedKinds: readonly LiveKind[] = liveKinds.filter(
  (kind) => kind !== 'SAMPLE' && kind !== 'RECORD_CHANGED',
);

export interface FollowedWorkspace {
  readonly organizationId: string;
  readonly kinds: ReadonlySet<LiveKind>;
}

type FollowedList = readonly (readonly [
  workspaceId: string,
  organizationId: string,
  kinds: readonly LiveKind[],
])[];

/** By workspace, what a node has sent. */
export function readFollowed(request: unknown): Map<string, FollowedWorkspace> {
  const { workspaces } = request as { readonly workspaces: FollowedList };
  return new Map(
    workspaces.map(([workspaceId, organizationId, kinds]) => [
      workspaceId,
      { organizationId, kinds: new Set(kinds) },
    ]),
  );
}

export interface SharingParts {
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

interface State {
  readonly parts: SharingParts;
  readonly knowing: Map<string, KnowingNode>;
  version: number;
  /** The list as JSON. */
  text: string;
}

export class FollowedSharing {
  readonly #parts: SharingParts;
  readonly #state: State;

  constructor(parts: SharingParts) {
    this.#parts = parts;
    this.#state = { parts, knowing: new Map(), version: 0, text: '[]' };
  }

  /** The same, after a limit at the latest. */
  readonly known = async (): Promise<void> => {
    readFollowing(this.#state);
    if (this.#isKnown()) return;
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const cancel = this.#parts.setTimer(resolve, limits.knownMsMax);
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

function readFollowing(state: State): void {
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

async function share(state: State): Promise<void> {
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

async function sendTo(node: NodeAddress, known: KnowingNode, state: State): Promise<void> {
  const { clock, messages } = state.parts;
  while (known.version !== state.version || clock() - known.at > limits.repeatMs) {
    const [version, at] = [state.version, clock()];
    const request = { workspaces: JSON.parse(state.text) as unknown };
    const bytes = state.text.length;
    await messages.toNode(node, { kind: followedMessage, request, bytes, again: request });
    [known.version, known.at] = [version, at];
  }
}
