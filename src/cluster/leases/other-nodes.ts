// Other nodes: those that hold a lease, as the leases were read last.
import type { Leases } from './leases.ts';
import type { NodeAddress } from '../../model/node-address.ts';

export function otherNodes(leases: Pick<Leases, 'node' | 'owners'>): readonly NodeAddress[] {
  const byId = new Map([...leases.owners().values()].map(({ node }) => [node.id, node]));
  byId.delete(leases.node.id);
  return [...byId.values()];
}
