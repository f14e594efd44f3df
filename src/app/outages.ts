// Connects what an operator is told of PostgreSQL, ClickHouse and other nodes that do not answer.
import { sql } from 'kysely';
import { type Leases, otherNodes } from '../cluster/leases/leases.ts';
import { type Nodes, NodeUnreachable } from '../cluster/nodes/nodes.ts';
import { presenceCall } from '../cluster/nodes/unresponsive-nodes.ts';
import type { Config } from './config/config.ts';
import { minuteMs } from '../model/instant.ts';
import { Problem, type ProblemName } from '../model/problem.ts';
import type { ClickHouse } from '../storage/clickhouse/clickhouse.ts';
import {
  ClickHouseError,
  type ClickHouseFailure,
  placeOf as placeOfClickHouse,
  type ServerAddress,
} from '../storage/clickhouse/replica.ts';
import { placeOf as placeOfPostgres } from '../storage/records/postgres/server.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import type { Telemetry } from '../telemetry/events.ts';
import type { Readiness } from '../telemetry/readiness.ts';

type Watching = Telemetry;

const postgresName = 'PostgreSQL';

export function watchPostgres({ outages }: Watching, { recordsUrl }: Config, db: RecordsDb): void {
  if (recordsUrl === undefined) return;
  const ask = () => sql`select 1`.execute(db);
  const postgres = { name: postgresName, place: placeOfPostgres(recordsUrl), ask };
  outages.watch((error) => (isProblem(error, 'recordsUnreachable') ? postgres : undefined));
}

const silences = new Set<ClickHouseFailure>(['unreachable', 'timeout']);

/** Errors are those of a shard of which no replica answers. */
export function watchClickHouse(
  { outages }: Watching,
  { shards }: ClickHouse,
  addresses: readonly (readonly ServerAddress[])[],
): void {
  const place = addresses.flat().map(placeOfClickHouse).join(', ');
  const ask = () => Promise.all(shards.map((shard) => shard.select('select 1')));
  const clickHouse = { name: 'ClickHouse', place, ask };
  outages.watch((error) => {
    const isSilent = error instanceof ClickHouseError && silences.has(error.failure);
    return isSilent || isProblem(error, 'samplesUnreachable') ? clickHouse : undefined;
  });
}

/** A node that was removed never answers again. */
const nodeAskedMsMax = 60 * minuteMs;

export function watchNodes({ outages }: Watching, leases: Leases, nodes: Nodes): void {
  outages.watch((error) => {
    if (!(error instanceof NodeUnreachable)) return undefined;
    const { id, url: place } = error.node;
    const ask = () => {
      // It may have another address when it is back.
      const present = otherNodes(leases).find((node) => node.id === id);
      return nodes.call(present ?? error.node, presenceCall, null);
    };
    return { name: `node ${id}`, place, ask, askedMsMax: nodeAskedMsMax };
  });
}

/** A node that can hold no leases serves nobody: its balancer is told, and an operator. */
export function reportCutOff(
  { readiness, telemetry }: { readonly readiness: Readiness; readonly telemetry: Watching },
  leases: Leases,
): void {
  readiness.add('leases', () => {
    if (!leases.isCutOff()) return undefined;
    const since = telemetry.outages.since(postgresName);
    const from = since === undefined ? '' : ` since ${new Date(since).toISOString()}`;
    return `holds no devices: ${postgresName} unreachable${from}`;
  });
}

function isProblem(error: Error, name: ProblemName): boolean {
  return error instanceof Problem && error.problem === name;
}
