// Open samples call: asks a node for the open samples of ranges or their number by workspace, and answers such calls.
import type { NodeAddress } from '../model/node-messages.ts';
import {
  isRefused,
  Problem,
  problem,
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
export interface OpenQuestion {
  readonly node: NodeAddress;
  readonly ranges: readonly OpenRange[];
  /** What it must own. */
  readonly leases: ReadonlySet<string>;
}

export interface OpenOfNode extends OpenOfJournal {
  /** See `OpenHere.isClean`. */
  readonly isClean: boolean;
  /** What it does not own of the leases. */
  readonly notHeld: readonly string[];
  /** Others that may have samples of its devices. */
  readonly formerOwners: readonly NodeAddress[];
}

type Place = Pick<OpenSample, 'position' | 'index'>;

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
export async function askOpenSamples(
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

function pageOf(samples: Iterable<OpenSample>): Pick<OpenAnswer, 'samples' | 'last'> {
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
