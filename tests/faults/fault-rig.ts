// Fault rig: nodes, PostgreSQL, ClickHouse and ZooKeeper on loopback, each of which can be killed, paused or cut off.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type ClickHouseCluster, startClickHouseCluster } from '../servers/clickhouse-cluster.ts';
import { type RecordsCluster, startRecordsCluster } from '../servers/records-cluster.ts';
import { type RigNode, startRigNode } from './rig-node.ts';

export interface FaultRig {
  readonly nodes: readonly RigNode[];
  readonly samples: ClickHouseCluster;
  readonly records: RecordsCluster;
  readonly leaseMs: number;
  stop(): Promise<void>;
}

export interface RigOptions {
  readonly folder: string;
  readonly nodes: number;
  readonly shards: number;
  readonly replicas: number;
  readonly leaseMs: number;
  /** See JOURNAL_COPIES. */
  readonly journalCopies?: number;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Nothing has to survive the machine; commits are as those of an operator. */
const recordsSettings = { fsync: 'off', full_page_writes: 'off' };

/** Throws with the end of the log of what does not start; everything is ended then. */
export async function startFaultRig(options: RigOptions): Promise<FaultRig> {
  const { folder, shards, replicas, leaseMs, journalCopies = 1, environment = {} } = options;
  const stops: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (let last = stops.pop(); last !== undefined; last = stops.pop()) await last();
  };
  try {
    const records = await startRecordsCluster(recordsSettings);
    stops.push(records.stop);
    mkdirSync(join(folder, 'databases'), { recursive: true });
    const size = { shards, replicas };
    const samples = await startClickHouseCluster(join(folder, 'databases'), size);
    stops.push(() => samples.stop());
    const nodes: RigNode[] = [];
    for (let number = 1; number <= options.nodes; number++) {
      const node = await startRigNode({
        folder: join(folder, `node-${number}`),
        name: `node ${number}`,
        leaseMs,
        environment,
        journalCopies,
        publicUrl: nodes[0]?.url ?? 'http://127.0.0.1:8080',
        recordsUrl: records.url,
        samplesUrl: samples.url,
      });
      nodes.push(node);
      stops.push(() => node.stop());
    }
    return { nodes, samples, records, leaseMs, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
