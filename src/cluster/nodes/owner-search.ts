// Owner search: asks the owner of a device, and its next one while the device moves.
import type { NodeAddress } from '../../model/node-messages.ts';
import { problem } from '../../model/problem.ts';
import { NodeUnreachable } from './nodes.ts';

export const ownerSearchLimits = {
  /** How long work waits for an owner: longer than the lease of a dead node is valid. */
  ownerMsMax: 15_000,
  pollMs: 100,
} as const;

/** Who serves a device: this node, another one, or none at present. */
export interface Ownership {
  readonly lease: string;
  /** Whether this node accepts work for the device. */
  readonly isOwn: () => boolean;
  /** The node that holds the lease, as far as this node knows. */
  readonly owner: () => NodeAddress | undefined;
}

export interface OwnerSearch {
  /** Reads the owners again. Rejects with the Problem for clients while nobody can be one. */
  readonly refresh: () => Promise<void>;
  /** A monotonic clock in milliseconds, and a wait. */
  readonly now: () => number;
  readonly wait: (ms: number) => Promise<void>;
}

/**
 * The answer of the owner, or `own` when this node must do the work. Throws Problem
 * `deviceWithoutOwner` after a time without one, what `refresh` rejects with, and what `ask` throws after it was sent.
 */
export async function askOwner<T>(
  { isOwn, owner }: Pick<Ownership, 'isOwn' | 'owner'>,
  { refresh, now, wait }: OwnerSearch,
  ask: (owner: NodeAddress) => Promise<T | 'notHeld'>,
): Promise<T | 'own'> {
  const until = now() + ownerSearchLimits.ownerMsMax;
  while (!isOwn()) {
    const node = owner();
    const answer = node === undefined ? 'notHeld' : await askNode(node, ask);
    if (answer !== 'notHeld') return answer;
    if (now() >= until) throw problem('deviceWithoutOwner');
    await wait(ownerSearchLimits.pollMs);
    await refresh();
  }
  return 'own';
}

/**
 * As `askOwner` for many: those of one node are asked together, and the nodes in parallel. `ask`
 * returns those that the node does not hold or did not receive. Returns those that this node must do.
 */
export async function askOwners<Item>(
  items: readonly Item[],
  ownershipOf: (item: Item) => Pick<Ownership, 'isOwn' | 'owner'>,
  { refresh, now, wait }: OwnerSearch,
  ask: (owner: NodeAddress, items: readonly Item[]) => Promise<readonly Item[]>,
): Promise<readonly Item[]> {
  const until = now() + ownerSearchLimits.ownerMsMax;
  const own: Item[] = [];
  let left = items;
  for (;;) {
    own.push(...left.filter((item) => ownershipOf(item).isOwn()));
    const others = left.filter((item) => !ownershipOf(item).isOwn());
    left = await askNodes(others, ownershipOf, ask);
    if (left.length === 0) return own;
    if (now() >= until) throw problem('deviceWithoutOwner');
    await wait(ownerSearchLimits.pollMs);
    await refresh();
  }
}

/** Returns those without an owner, and those that their node does not hold. */
async function askNodes<Item>(
  items: readonly Item[],
  ownershipOf: (item: Item) => Pick<Ownership, 'owner'>,
  ask: (owner: NodeAddress, items: readonly Item[]) => Promise<readonly Item[]>,
): Promise<readonly Item[]> {
  const left: Item[] = [];
  const nodes = new Map<string, { readonly node: NodeAddress; readonly items: Item[] }>();
  for (const item of items) {
    const node = ownershipOf(item).owner();
    if (node === undefined) left.push(item);
    else {
      const known = nodes.get(node.id) ?? { node, items: [] };
      nodes.set(node.id, known);
      known.items.push(item);
    }
  }
  const answers = [...nodes.values()].map(({ node, items: ofNode }) => ask(node, ofNode));
  const results = await Promise.allSettled(answers);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  return left.concat(
    ...results.map((result) => (result.status === 'fulfilled' ? result.value : [])),
  );
}

/** A node that cannot be reached is asked again while it is the owner and nothing was sent. */
async function askNode<T>(
  node: NodeAddress,
  ask: (owner: NodeAddress) => Promise<T | 'notHeld'>,
): Promise<T | 'notHeld'> {
  try {
    return await ask(node);
  } catch (error) {
    if (!(error instanceof NodeUnreachable)) throw error;
    if (error.wasSent) throw problem('nodeUnreachable');
    return 'notHeld';
  }
}

/** The answer of a call; undefined when the node cannot be reached and has received nothing. */
export async function ignoreUnsent<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof NodeUnreachable)) throw error;
    if (error.wasSent) throw problem('nodeUnreachable');
    return undefined;
  }
}
