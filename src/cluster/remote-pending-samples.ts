// Open samples elsewhere: a read asks the owners of its devices for what they have stored and not shipped yet.
import type { NodeAddress } from '../model/node-messages.ts';
import {
  isRefused,
  problem,
  Problem,
  problemOf,
  type Refusal,
  refusalOf,
} from '../model/problem.ts';
import type {
  OpenHere,
  OpenOfJournal,
  OpenRange,
  OpenSample,
  UsageOfJournal,
} from '../storage/samples/remote-pending-samples.ts';

// Open samples call: asks a node for the open samples of ranges or their number by workspace, and answers such calls.

/** The call between nodes. */
export const openSamplesCall = 'openSamples';

const callLimits = {
  /** Characters of samples in one answer; see `remote-samples.ts`. */
  answerCharsMax: 2_000_000,
  /** Answers of one read: what is open while ClickHouse takes nothing is more than a read can have. */
  pagesMax: 32,
} as const;

/** The Problem of a node that does not answer, with its id. */
export function nodeUnreachable({ id }: NodeAddress): Problem {
  const { message } = problem('nodeUnreachable');
  return new Problem('nodeUnreachable', { node: id }, `${message} (node ${id})`);
}

/** What one node is asked. */
interface OpenQuestion {
  readonly node: NodeAddress;
  readonly ranges: readonly OpenRange[];
  /** What it must own. */
  readonly leases: ReadonlySet<string>;
}

interface OpenOfNode extends OpenOfJournal {
  /** See `OpenHere.isClean`. */
  readonly isClean: boolean;
  /** What it does not own of the leases. */
  readonly notHeld: readonly string[];
  /** Others that may have samples of its devices. */
  readonly formerOwners: readonly NodeAddress[];
}

type Place = { readonly position: number; readonly index: number };

interface OpenRequest {
  readonly ranges: readonly OpenRange[];
  readonly leases: readonly string[];
  readonly after?: Place;
}

interface OpenAnswer extends Omit<OpenOfNode, 'samples'> {
  /** JSON, because its length is counted. */
  readonly samples: string;
  /** The place of the last sample when there are more. */
  readonly last: Place | null;
}

/**
 * Undefined when the node cannot be reached. Throws its Problem, and `samplesBusy` for more samples
 * than one read can have.
 */
async function askOpenSamples(
  { ranges, leases }: OpenQuestion,
  call: (name: string, request: unknown) => Promise<unknown>,
): Promise<OpenOfNode | undefined> {
  let found: OpenOfNode | undefined;
  let after: Place | undefined;
  for (let page = 0; page < callLimits.pagesMax; page += 1) {
    const request: OpenRequest = {
      ranges,
      leases: [...leases],
      ...(after !== undefined && { after }),
    };
    const given = await call(openSamplesCall, request);
    if (given === undefined) return undefined;
    const answer = given as OpenAnswer | Refusal;
    if (isRefused(answer)) throw problemOf(answer);
    const { samples: json, last, ...rest } = answer;
    const samples = JSON.parse(json) as OpenSample[];
    found = found === undefined ? { ...rest, samples } : joined(found, { ...rest, samples }, after);
    if (last === null) return found;
    after = last;
  }
  throw problem('samplesBusy');
}

/** Positions are shipped in their order: when the first page ends before them, the shared store has it. */
function joined(first: OpenOfNode, next: OpenOfNode, after: Place | undefined): OpenOfNode {
  if (after === undefined || next.shipped > after.position)
    return { ...next, notHeld: first.notHeld, formerOwners: first.formerOwners };
  return { ...first, samples: [...first.samples, ...next.samples] };
}

/** Answers the call of another node, with everything of one moment. */
export function openSamplesReceiver({
  openHere,
  formerOwners,
  holds,
}: {
  readonly openHere: (request: {
    readonly ranges: readonly OpenRange[];
    readonly after?: Place | undefined;
  }) => OpenHere;
  readonly formerOwners: () => readonly NodeAddress[];
  /** Whether this node accepts work for the lease. */
  readonly holds: (lease: string) => boolean;
}) {
  return async (given: unknown): Promise<unknown> => {
    const { ranges, leases, after } = given as OpenRequest;
    try {
      const notHeld = leases.filter((lease) => !holds(lease));
      const { journal, shipped, isClean, removed, samples } = openHere({ ranges, after });
      const state = { journal, shipped, isClean, removed, notHeld, formerOwners: formerOwners() };
      const answer: OpenAnswer = { ...state, ...pageOf(samples()) };
      return answer;
    } catch (error) {
      return refusalOf(error);
    }
  };
}

function pageOf(samples: Iterable<OpenSample>): {
  readonly samples: string;
  readonly last: Place | null;
} {
  const texts: string[] = [];
  let chars = 0;
  let last: Place | null = null;
  for (const sample of samples) {
    const text = JSON.stringify(sample);
    if (chars + text.length > callLimits.answerCharsMax && texts.length > 0)
      return { samples: `[${texts.join(',')}]`, last };
    texts.push(text);
    chars += text.length;
    last = { position: sample.position, index: sample.index };
  }
  return { samples: `[${texts.join(',')}]`, last: null };
}

// Usage elsewhere: how many samples the journals of other nodes have, by workspace.

/** The call between nodes. */
export const usageCall = 'samplesUsage';

type CallNode = (to: NodeAddress, name: string, request: unknown) => Promise<unknown>;

/** Asks all nodes in parallel. Throws `nodeUnreachable` when one does not answer. */
export function createUsageElsewhere(
  nodes: () => readonly NodeAddress[],
  call: CallNode,
): () => Promise<readonly UsageOfJournal[]> {
  return () =>
    Promise.all(
      nodes().map(async (node) => {
        const answer = await call(node, usageCall, null);
        if (answer === undefined) throw nodeUnreachable(node);
        return answer as UsageOfJournal;
      }),
    );
}

/** Answers the call of another node. */
export function usageReceiver(usageHere: () => Promise<UsageOfJournal>) {
  return async (): Promise<unknown> => await usageHere();
}

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
  /**
   * Names the part of all devices to which each device belongs. Devices that are unknown are absent:
   * nobody writes for them.
   */
  leasesOf(deviceIds: Iterable<string>): Promise<ReadonlyMap<string, string>>;
  /** Whether this node accepts work for the part now. */
  isOwn(lease: string): boolean;
  /** The owner of each part, this node included, as it was read last. */
  owners(): ReadonlyMap<string, NodeAddress>;
  /** Reads the owners again. */
  refresh(): Promise<void>;
}

interface ElsewhereParts {
  readonly owners: DeviceOwners;
  /** The id of this node. */
  readonly self: string;
  /**
   * The answer of the node; undefined when it cannot be reached. Throws `nodeUnreachable` when the
   * time for it is over.
   */
  readonly call: (to: NodeAddress, name: string, request: unknown) => Promise<unknown>;
  /** A monotonic clock in milliseconds, and a wait. */
  readonly now: () => number;
  readonly wait: (ms: number) => Promise<void>;
}

/**
 * Asks each owner once for all reads of one turn, in parallel. Every device is confirmed by the
 * node that has it: an answer of a node that has it no longer is asked for again. Former owners
 * are asked too, until they have shipped what was written before the device moved.
 */
export class OpenElsewhere {
  readonly #parts: ElsewhereParts;
  readonly #owners: () => ReadonlyMap<string, NodeAddress>;
  readonly #former: FormerOwners;
  #turn: { readonly ranges: OpenRange[]; readonly found: Promise<OpenOfJournal[]> } | undefined;
  #confirmedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: ElsewhereParts) {
    this.#parts = parts;
    this.#owners = parts.owners.owners;
    this.#former = new FormerOwners(parts.self);
  }

  readonly read = async (range: OpenRange): Promise<OpenOfJournal[]> => {
    const { leasesOf, isOwn } = this.#parts.owners;
    const leases = new Set((await leasesOf(range.deviceIds)).values());
    this.#former.update(this.#owners());
    if (this.#former.nodes().length === 0 && [...leases].every(isOwn)) return [];
    if (this.#turn === undefined) {
      const ranges: OpenRange[] = [];
      this.#turn = { ranges, found: this.#readTurn(ranges) };
    }
    this.#turn.ranges.push(range);
    return this.#turn.found;
  };

  /** To be called before this node accepts work for devices that it gained. */
  readonly gained = (): void => {
    this.#former.update(this.#owners());
    this.#former.noteAll();
  };

  /** See `Elsewhere.changes`. */
  readonly changes = (): number => {
    this.#former.update(this.#owners());
    return this.#former.changes();
  };

  /** Nodes that may have open rows of devices of this one; they are asked again in the background. */
  readonly formerOwners = (): readonly NodeAddress[] => {
    this.#former.update(this.#owners());
    const nodes = this.#former.nodes();
    if (nodes.length > 0 && this.#parts.now() - this.#confirmedAt >= searchLimits.confirmEveryMs) {
      this.#confirmedAt = this.#parts.now();
      // One that does not answer is asked again later.
      void askAll([], new Map(), this.#former, this.#parts).catch(() => undefined);
    }
    return nodes.map(({ id, url }) => ({ id, url }));
  };

  async #readTurn(ranges: readonly OpenRange[]): Promise<OpenOfJournal[]> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.#turn = undefined;
    return search(ranges, this.#former, this.#parts);
  }
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
    // A device may change its workspace meanwhile.
    const leases = await owners.leasesOf(new Set(ranges.flatMap(({ deviceIds }) => deviceIds)));
    former.update(owners.owners());
    const { answers, silent, isComplete } = await askAll(ranges, leases, former, parts);
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
  leases: ReadonlyMap<string, string>,
  former: FormerOwners,
  parts: ElsewhereParts,
): Promise<Attempt> {
  const asked = former.nodes();
  const { questions, isOwnerless } = questionsOf(ranges, leases, asked, parts);
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

function journalOf({ journal, shipped, samples, removed }: OpenOfNode): OpenOfJournal {
  return { journal, shipped, samples, removed };
}

/** What each node is asked: owners for their devices, former owners for all. */
function questionsOf(
  ranges: readonly OpenRange[],
  leases: ReadonlyMap<string, string>,
  former: readonly NodeAddress[],
  { owners: { isOwn, owners } }: ElsewhereParts,
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
      const lease = leases.get(deviceId);
      if (lease === undefined || isOwn(lease)) continue;
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

interface FormerOwner extends NodeAddress {
  /** Which loss is meant: a later one needs a later answer. */
  readonly loss: number;
}

/** At first every other node is one, because nothing is known of the time before. */
class FormerOwners {
  readonly #self: string;
  #known: ReadonlyMap<string, NodeAddress> = new Map();
  readonly #former = new Map<string, FormerOwner>();
  #present: ReadonlyMap<string, NodeAddress> = new Map();
  #losses = 0;
  readonly #note = (node: NodeAddress): void => {
    if (node.id === this.#self) return;
    this.#losses += 1;
    this.#former.set(node.id, { ...node, loss: this.#losses });
  };

  constructor(self: string) {
    this.#self = self;
  }

  /** Takes the owners as they were read last, and notes those that lost a part. */
  update(owners: ReadonlyMap<string, NodeAddress>): void {
    if (owners === this.#known) return;
    const now = new Map<string, NodeAddress>();
    for (const [lease, node] of owners) {
      if (!this.#present.has(node.id) && !now.has(node.id)) this.#note(node);
      now.set(node.id, node);
      const before = this.#known.get(lease);
      if (before !== undefined && before.id !== node.id) this.#note(before);
    }
    this.#known = owners;
    this.#present = now;
    for (const id of this.#former.keys()) if (!this.#present.has(id)) this.#former.delete(id);
  }

  /** Notes every other node, because this one gained devices. */
  noteAll(): void {
    this.#present.forEach(this.#note);
  }

  /** Notes those of the nodes that have not answered. Returns whether there is one. */
  noteUnasked(
    nodes: readonly NodeAddress[],
    answered: readonly { readonly id: string }[],
  ): boolean {
    const isAnswered = new Set([this.#self, ...answered.map(({ id }) => id)]);
    const unasked = nodes.filter(({ id }) => this.#present.has(id) && !isAnswered.has(id));
    unasked.forEach(this.#note);
    return unasked.length > 0;
  }

  /** Those that still own something: others have shipped, or cannot be asked. */
  nodes(): readonly FormerOwner[] {
    return [...this.#former.values()];
  }

  /** How often a node was noted. */
  changes(): number {
    return this.#losses;
  }

  /** To be called for those that have shipped everything, as `nodes` returned them. */
  confirm(clean: readonly FormerOwner[]): void {
    for (const { id, loss } of clean)
      if (this.#former.get(id)?.loss === loss) this.#former.delete(id);
  }
}
