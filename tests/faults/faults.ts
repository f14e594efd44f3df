// Faults: one row for each kind, with what is done to the cluster and how it is undone.
import type { FaultRig } from './fault-rig.ts';
import type { RigNode } from './rig-node.ts';
import type { KillableServer } from '../servers/killable-server.ts';

/** The choices of one round: a number from 0 to 1. */
export type Random = () => number;

export interface Fault {
  readonly target: string;
  /** How long it lasts, in milliseconds. */
  readonly lastsMs: number;
  /** Whether devices have another owner meanwhile, so that the takeover counts. */
  readonly takesOver: boolean;
  /** Whether a client that sends again to the next node must always be served. */
  readonly isPlanned?: boolean;
  /** Whether samples may get times that are not in the order of sending. */
  readonly stepsClock?: boolean;
  /** What was wrong with the fault itself, when it is over. */
  readonly violations?: () => readonly string[];
  readonly begin: () => Promise<void>;
  readonly end: () => Promise<void>;
}

export type FaultKind = keyof typeof faultKinds;

/** Longer than the leases of the node are valid and what another one needs to take them. */
const beyondLease = ({ leaseMs }: FaultRig): number => leaseMs * 1.6;
/** As a short pause of a virtual machine. */
const shortMs = (random: Random): number => 200 + random() * 1_500;

/** In the order in which a run of all kinds has them; each gets its target by chance. */
export const faultKinds = {
  'node restarted': (rig, random) => restarted(rig, nodeOf(rig, random)),
  'node killed and started again': (rig, random) => killed(nodeOf(rig, random), 0, false),
  'node killed and away': (rig, random) => killed(nodeOf(rig, random), beyondLease(rig), true),
  'node paused beyond its lease': (rig, random) =>
    paused(nodeOf(rig, random), beyondLease(rig), true),
  'node paused shortly': (rig, random) => paused(nodeOf(rig, random), shortMs(random), false),
  'ClickHouse replica killed': (rig, random) => killed(replicaOf(rig, random), 3_000, false),
  'ClickHouse replica paused': (rig, random) => paused(replicaOf(rig, random), 3_000, false),
  'ZooKeeper killed': ({ samples }) => killed(named(samples.zooKeeper, 'ZooKeeper'), 3_000, false),
  'ZooKeeper paused': ({ samples }) => paused(named(samples.zooKeeper, 'ZooKeeper'), 3_000, false),
  'PostgreSQL killed': ({ records }) => killed(named(records, 'PostgreSQL'), 1_000, false),
  'PostgreSQL paused': ({ records }) => paused(named(records, 'PostgreSQL'), 3_000, false),
  'node cut from PostgreSQL': (rig, random) => cut(rig, random, 'postgresql'),
  'node cut from ClickHouse': (rig, random) => cut(rig, random, 'clickhouse'),
  'node cut from other nodes': (rig, random) => cut(rig, random, 'nodes'),
  'clock of a node stepped forth and back': (rig, random) => stepped(nodeOf(rig, random), 1),
  'clock of a node stepped back and forth': (rig, random) => stepped(nodeOf(rig, random), -1),
} as const satisfies Record<string, (rig: FaultRig, random: Random) => Fault>;

type Target = Pick<KillableServer, 'kill' | 'restart' | 'pause' | 'resume'>;
type Named = Target & { readonly name: string };

function pickOf<T>(random: Random, from: readonly T[]): T {
  const picked = from[Math.floor(random() * from.length)];
  if (picked === undefined) throw new Error('Nothing to choose from');
  return picked;
}

const nodeOf = ({ nodes }: FaultRig, random: Random): RigNode => pickOf(random, nodes);

/** A server that started again is another process, which the functions know. */
function named({ kill, restart, pause, resume }: Target, name: string): Named {
  return { name, kill, restart, pause, resume };
}

function replicaOf({ samples }: FaultRig, random: Random): Named {
  const replicas = samples.shards.flatMap((ofShard, shard) =>
    ofShard.map((one, replica) => named(one, `replica ${shard + 1}-${replica + 1}`)),
  );
  return pickOf(random, replicas);
}

function killed(server: Named, lastsMs: number, takesOver: boolean): Fault {
  return {
    target: server.name,
    lastsMs,
    takesOver,
    begin: () => server.kill(),
    end: () => server.restart(),
  };
}

/** As in a rolling restart, which ends cleanly and is no error at any node. */
function restarted({ nodes }: FaultRig, node: RigNode): Fault {
  const before = nodes.map((each) => each.errors().length);
  const violations: string[] = [];
  return {
    target: node.name,
    lastsMs: 500,
    takesOver: false,
    isPlanned: true,
    async begin() {
      await node.drain();
      if (node.exitCode !== 0) violations.push(`${node.name} ended with code ${node.exitCode}`);
    },
    end: () => node.restart(),
    violations: () => [
      ...violations,
      ...nodes.flatMap((each, i) =>
        each
          .errors()
          .slice(before[i])
          .map((line) => `${each.name}: ${line}`),
      ),
    ],
  };
}

/** Clocks of nodes may differ by five minutes, see docs/scaling.md. */
export const clockStepMs = 240_000;

function stepped({ name, clock }: RigNode, direction: 1 | -1): Fault {
  return {
    target: name,
    lastsMs: 3_000,
    takesOver: false,
    stepsClock: true,
    begin: async () => clock.set(direction * clockStepMs),
    end: async () => clock.set(0),
  };
}

function paused(server: Named, lastsMs: number, takesOver: boolean): Fault {
  return {
    target: server.name,
    lastsMs,
    takesOver,
    begin: async () => server.pause(),
    end: async () => server.resume(),
  };
}

function cut(rig: FaultRig, random: Random, link: 'postgresql' | 'clickhouse' | 'nodes'): Fault {
  const node = nodeOf(rig, random);
  const mode = random() < 0.5 ? 'refused' : 'silent';
  const takesOver = link === 'postgresql';
  return {
    target: `${node.name}, ${mode}`,
    lastsMs: takesOver ? beyondLease(rig) : 3_000,
    takesOver,
    begin: () => node.cut(link, mode),
    end: () => node.cut(link, 'open'),
  };
}
