// Known nodes: nodes whose clients use devices of this node, each with a name for what is known of it.
import type { EpochMs } from '../../../model/instant.ts';
import type { NodeAddress } from '../../../model/node-address.ts';

/** A node that is silent for this time has no clients any longer. */
const silentMsMax = 30_000;

export interface KnownNodes {
  /**
   * The node has called. Returns the name of what is known of it: another one after it was
   * dropped or after a start, so that the node registers its clients again.
   */
  heard(node: NodeAddress): string;
  /** Drops nodes that are silent. */
  dropSilent(): void;
}

interface KnownNodesParts {
  readonly now: () => EpochMs;
  readonly newId: () => string;
  readonly forgotten: (nodeId: string) => void;
}

export function createKnownNodes({ now, newId, forgotten }: KnownNodesParts): KnownNodes {
  const known = new Map<string, { readonly memory: string; heardAt: EpochMs }>();
  return {
    heard({ id }) {
      const node = known.get(id) ?? { memory: newId(), heardAt: now() };
      known.set(id, node);
      node.heardAt = now();
      return node.memory;
    },
    dropSilent() {
      for (const [id, { heardAt }] of known) {
        if (now() - heardAt < silentMsMax) continue;
        known.delete(id);
        forgotten(id);
      }
    },
  };
}
