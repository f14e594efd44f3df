// Former owners: nodes that may have samples of devices that moved away from them, until they have shipped those.
import type { NodeAddress } from '../model/node-address.ts';

export interface FormerOwners {
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

export interface FormerOwner extends NodeAddress {
  /** Which loss is meant: a later one needs a later answer. */
  readonly loss: number;
}

/** At first every other node is one, because nothing is known of the time before. */
export function createFormerOwners(self: string): FormerOwners {
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
