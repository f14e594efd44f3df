// Work leases: the leases of what one node does for all, by connector, workspace, operation or in general.
import { crc32 } from 'node:zlib';
import type { LeaseName } from './leases.ts';

/** Never changed: rows contain the numbers of delivery shards. */
const deliveryShardCount = 64;
/** Never changed: rows contain the numbers of rule shards. */
const ruleShardCount = 64;
const operationShardCount = 16;

/** The shard of the deliveries to an output connector. */
export function deliveryShardOf(connectorId: string): number {
  return crc32(connectorId) % deliveryShardCount;
}

/** The shard of the rules of a workspace. */
function ruleShardOf(workspaceId: string): number {
  return crc32(workspaceId) % ruleShardCount;
}

export const leaseOfConnector = (connectorId: string): LeaseName =>
  `deliveries/${deliveryShardOf(connectorId)}`;

export const leaseOfWorkspace = (workspaceId: string): LeaseName =>
  `rules/${ruleShardOf(workspaceId)}`;

export const leaseOfOperation = (operationId: string): LeaseName =>
  `operations/${crc32(operationId) % operationShardCount}`;

/** All of them. */
export const workLeases: readonly LeaseName[] = [
  ...numbered('deliveries', deliveryShardCount),
  ...numbered('rules', ruleShardCount),
  ...numbered('operations', operationShardCount),
  'maintenance',
  'demo',
];

function numbered(family: 'deliveries' | 'rules' | 'operations', count: number): LeaseName[] {
  return Array.from({ length: count }, (_, shard): LeaseName => `${family}/${shard}`);
}

/** The number of a lease of a family. */
export function shardOfLease(name: LeaseName): number {
  return Number(name.slice(name.indexOf('/') + 1));
}
