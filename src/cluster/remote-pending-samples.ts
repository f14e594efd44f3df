// Open samples elsewhere: a read asks the owners of its devices for what they have stored and not shipped yet.
import type { Json } from '../model/json.ts';
import type { NodeAddress } from '../model/node-messages.ts';
import { problem } from '../model/problem.ts';
import type {
  OpenOfJournal,
  OpenRange,
  ReadElsewhere,
} from '../storage/samples/remote-pending-samples.ts';
import {
  askOpenSamples,
  nodeUnreachable,
  type OpenOfNode,
  type OpenQuestion,
} from './open-samples-call.ts';

const searchLimits = {
  /** How long a read waits for an owner: longer than the lease of a dead node is valid. */
  ownerMsMax: 15_000,
  pollMs: 100,
  /** A node that does not answer this often is reported. */
  attemptsMax: 3,
  /** How often former owners are asked at most, when only others read. */
  confirmEveryMs: 1_000,
} as const;

/** Who has which devices. */
export interface DeviceOwners {
  /** Names the part of all devices to which the device belongs. */
  leaseOf(deviceId: string): string;
  /** Whether this node accepts work for the part now. */
  isOwn(lease: string): boolean;
  /** The owner of each part, this node included, as it was read last. */
  owners(): ReadonlyMap<string, NodeAddress>;
  /** Reads the owners again. */
  refresh(): Promise<void>;
}

export interface ElsewhereParts {
  readonly owners: DeviceOwners;
  /** The id of this node. */
  readonly self: string;
  /**
   * The answer of the node; undefined when it cannot be reached. Throws `nodeUnreachable` when the
   * time for it is over.
   */
  readonly call: (to: NodeAddress, name: string, request: Json) => Promise<Json | undefined>;
  /** A monotonic clock in milliseconds, and a wait. */
  readonly now: () => number;
  readonly wait: (ms: number) => Promise<void>;
}

export interface OpenElsewhere {
  readonly read: ReadElsewhere;
  /** To be called before this node accepts work for devices that it gained. */
  readonly gained: () => void;
  /** Nodes that may have open rows of devices of this one; they are asked again in the background. */
  readonly formerOwners: () => readonly NodeAddress[];
  /** See `Elsewhere.changes`. */
  readonly changes: () => number;
}

/**
 * Asks each owner once for all reads of one turn, in parallel. Every device is confirmed by the node
 * that has it: an answer of a node that has it no longer is asked for again. Former owners are asked
 * too, until they have shipped what was written before the device moved.
 */
export function createOpenElsewhere(parts: ElsewhereParts): OpenElsewhere {
  const { isOwn, leaseOf, owners } = parts.owners;
  const former = createFormerOwners(parts.self);
  let turn: { readonly ranges: OpenRange[]; readonly found: Promise<OpenOfJournal[]> } | undefined;
  let confirmedAt = Number.NEGATIVE_INFINITY;

  async function readTurn(ranges: readonly OpenRange[]): Promise<OpenOfJournal[]> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    turn = undefined;
    return search(ranges, former, parts);
  }

  function read(range: OpenRange): Promise<OpenOfJournal[]> {
    former.update(owners());
    const isHere = former.nodes().length === 0 && range.deviceIds.every((id) => isOwn(leaseOf(id)));
    if (isHere) return Promise.resolve([]);
    if (turn === undefined) {
      const ranges: OpenRange[] = [];
      turn = { ranges, found: readTurn(ranges) };
    }
    turn.ranges.push(range);
    return turn.found;
  }

  return {
    read,
    gained() {
      former.update(owners());
      former.noteAll();
    },
    changes() {
      former.update(owners());
      return former.changes();
    },
    formerOwners() {
      former.update(owners());
      const nodes = former.nodes();
      if (nodes.length > 0 && parts.now() - confirmedAt >= searchLimits.confirmEveryMs) {
        confirmedAt = parts.now();
        // One that does not answer is asked again later.
        void askAll([], former, parts).catch(() => undefined);
      }
      return nodes.map(({ id, url }) => ({ id, url }));
    },
  };
}

async function search(
  ranges: readonly OpenRange[],
  former: FormerOwners,
  parts: ElsewhereParts,
): Promise<OpenOfJournal[]> {
  const { owners, now, wait } = parts;
  const until = now() + searchLimits.ownerMsMax;
  let unanswered = 0;
  for (;;) {
    former.update(owners.owners());
    const { answers, silent, isComplete } = await askAll(ranges, former, parts);
    if (isComplete) {
      const more = answers.flatMap((answer) => answer.formerOwners);
      if (!former.noteUnasked(more, answers)) return answers.map(journalOf);
      continue;
    }
    if (silent !== undefined) unanswered += 1;
    if (silent !== undefined && unanswered >= searchLimits.attemptsMax)
      throw nodeUnreachable(silent);
    if (now() >= until) throw problem('deviceWithoutOwner');
    await wait(searchLimits.pollMs);
    await owners.refresh();
  }
}

interface Attempt {
  readonly answers: readonly (OpenOfNode & { readonly id: string })[];
  /** A node that cannot be reached. */
  readonly silent: NodeAddress | undefined;
  /** Whether every device was confirmed by its owner, and every node has answered. */
  readonly isComplete: boolean;
}

async function askAll(
  ranges: readonly OpenRange[],
  former: FormerOwners,
  parts: ElsewhereParts,
): Promise<Attempt> {
  const asked = former.nodes();
  const { questions, isOwnerless } = questionsOf(ranges, asked, parts);
  const given = await Promise.all(
    questions.map((question) =>
      askOpenSamples(question, (name, request) => parts.call(question.node, name, request)),
    ),
  );
  const answers = given.flatMap((answer, place) => {
    const id = questions[place]?.node.id;
    return answer === undefined || id === undefined ? [] : [{ ...answer, id }];
  });
  const clean = new Set(answers.filter(({ isClean }) => isClean).map(({ id }) => id));
  former.confirm(asked.filter(({ id }) => clean.has(id)));
  const silent = questions.find((_, place) => given[place] === undefined)?.node;
  const areHeld = answers.every(({ notHeld }) => notHeld.length === 0);
  return { answers, silent, isComplete: !isOwnerless && silent === undefined && areHeld };
}

function journalOf({ journal, shipped, samples }: OpenOfNode): OpenOfJournal {
  return { journal, shipped, samples };
}

/** What each node is asked: owners for their devices, former owners for all. */
function questionsOf(
  ranges: readonly OpenRange[],
  former: readonly NodeAddress[],
  { owners: { isOwn, leaseOf, owners } }: ElsewhereParts,
): { readonly questions: readonly OpenQuestion[]; readonly isOwnerless: boolean } {
  const known = owners();
  const questions = new Map<string, OpenQuestion & { ranges: OpenRange[]; leases: Set<string> }>();
  let isOwnerless = false;
  const questionTo = (node: NodeAddress) => {
    const question = questions.get(node.id) ?? { node, ranges: [], leases: new Set<string>() };
    questions.set(node.id, question);
    return question;
  };
  for (const node of former) questionTo(node).ranges.push(...ranges);
  const isFormer = new Set(questions.keys());
  for (const range of ranges) {
    const ofNode = new Map<string, string[]>();
    for (const deviceId of range.deviceIds) {
      const lease = leaseOf(deviceId);
      if (isOwn(lease)) continue;
      const node = known.get(lease);
      if (node === undefined) {
        isOwnerless = true;
        continue;
      }
      questionTo(node).leases.add(lease);
      const deviceIds = ofNode.get(node.id) ?? [];
      ofNode.set(node.id, deviceIds);
      deviceIds.push(deviceId);
    }
    for (const [id, deviceIds] of ofNode)
      if (!isFormer.has(id)) questions.get(id)?.ranges.push({ ...range, deviceIds });
  }
  return { questions: [...questions.values()], isOwnerless };
}

// Former owners: nodes that may have samples of devices that moved away from them, until they have shipped those.

interface FormerOwners {
  /** Takes the owners as they were read last, and notes those that lost a part. */
  update(owners: ReadonlyMap<string, NodeAddress>): void;
  /** Notes every other node, because this one gained devices. */
  noteAll(): void;
  /** Notes those of the nodes that have not answered. Returns whether there is one. */
  noteUnasked(nodes: readonly NodeAddress[], answered: readonly Pick<NodeAddress, 'id'>[]): boolean;
  /** Those that still own something: others have shipped, or cannot be asked. */
  nodes(): readonly FormerOwner[];
  /** How often a node was noted. */
  changes(): number;
  /** To be called for those that have shipped everything, as `nodes` returned them. */
  confirm(clean: readonly FormerOwner[]): void;
}

interface FormerOwner extends NodeAddress {
  /** Which loss is meant: a later one needs a later answer. */
  readonly loss: number;
}

/** At first every other node is one, because nothing is known of the time before. */
function createFormerOwners(self: string): FormerOwners {
  let known: ReadonlyMap<string, NodeAddress> = new Map();
  const former = new Map<string, FormerOwner>();
  let present: ReadonlyMap<string, NodeAddress> = new Map();
  let losses = 0;

  function note(node: NodeAddress): void {
    if (node.id === self) return;
    losses += 1;
    former.set(node.id, { ...node, loss: losses });
  }

  return {
    update(owners) {
      if (owners === known) return;
      const now = new Map<string, NodeAddress>();
      for (const [lease, node] of owners) {
        if (!present.has(node.id) && !now.has(node.id)) note(node);
        now.set(node.id, node);
        const before = known.get(lease);
        if (before !== undefined && before.id !== node.id) note(before);
      }
      known = owners;
      present = now;
      for (const id of former.keys()) if (!present.has(id)) former.delete(id);
    },
    noteAll: () => present.forEach(note),
    noteUnasked(nodes, answered) {
      const isAnswered = new Set([self, ...answered.map(({ id }) => id)]);
      const unasked = nodes.filter(({ id }) => present.has(id) && !isAnswered.has(id));
      unasked.forEach(note);
      return unasked.length > 0;
    },
    nodes: () => [...former.values()],
    changes: () => losses,
    confirm(clean) {
      for (const { id, loss } of clean) if (former.get(id)?.loss === loss) former.delete(id);
    },
  };
}
