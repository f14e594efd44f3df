// Options of `npm run cluster`: folder, ports and how many of each part there are.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

export interface ClusterOptions {
  readonly folder: string;
  /**
   * HTTP port of a single node, or of the front of several, whose nodes get the next ones; 0 for free
   * ones.
   */
  readonly port: number;
  readonly nodes: number;
  readonly shards: number;
  readonly replicas: number;
}

const defaults = { nodes: 3, shards: 2, replicas: 2 } as const;
/** More are a burden for one machine, and show nothing new. */
const nodesMax = 8;

export const usage = `usage: npm run cluster -- [--folder ./cluster] [--port 8080] [--nodes ${defaults.nodes}] [--shards ${defaults.shards}] [--replicas ${defaults.replicas}]

--folder    keeps all data; the next start on the same folder continues with it
--port      HTTP port, which takes the nodes in turns; the nodes get the ports behind it, 0 takes free ones
--nodes     Heliograph nodes (1 to ${nodesMax})
--shards    ClickHouse shards (1 to 8)
--replicas  ClickHouse servers of each shard (1 to 3)`;

export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const flags = {
  folder: { type: 'string', default: './cluster' },
  port: { type: 'string', default: '8080' },
  nodes: { type: 'string', default: String(defaults.nodes) },
  shards: { type: 'string', default: String(defaults.shards) },
  replicas: { type: 'string', default: String(defaults.replicas) },
  help: { type: 'boolean', default: false },
} as const;

/** Undefined when help is asked for. Throws UsageError. */
export function clusterOptions(args: readonly string[]): ClusterOptions | undefined {
  const { values } = parsed(args);
  if (values.help) return undefined;
  return {
    folder: resolve(values.folder),
    port: numberOf('port', values.port, 0, 65_000),
    nodes: numberOf('nodes', values.nodes, 1, nodesMax),
    shards: numberOf('shards', values.shards, 1, 8),
    replicas: numberOf('replicas', values.replicas, 1, 3),
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: flags });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function numberOf(name: string, text: string, min: number, max: number): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < min || number > max)
    throw new UsageError(`--${name} ${text} cannot be used: a whole number from ${min} to ${max}`);
  return number;
}
