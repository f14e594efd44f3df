// Fleet run: KPIs, series, pages and newest samples of a sparse fleet against SQL.
import { dayMs } from '../../src/model/instant.ts';
import type { Sample } from '../../src/model/sample.ts';
import { type FleetHistory, OracleFleet } from './oracle-fleet.ts';
import { askBoth, type OracleRun, dataKeys } from './oracle-run.ts';
import { below, pick, type QueryScope, randomOf, randomTopic } from './random-queries.ts';
import { sqlOracle } from './sql-oracle.ts';
import { lineOf, type PageQuery, sqlSamples } from './sql-samples.ts';

export interface FleetRunSize {
  readonly devices: number;
  readonly samples: number;
  /** Between two of them devices are deleted, rows sealed and stores reopened. */
  readonly steps: number;
  readonly queries: number;
}

export interface FleetRun extends OracleRun {
  readonly stored: number;
  readonly history: FleetHistory;
}

/** Share of the queries that list samples; the others are KPIs and series. */
const listShare = 0.2;

/** Throws with query and both answers at the first one that differs. */
export async function fleetRun(
  seed: number,
  { devices, samples, steps, queries }: FleetRunSize,
): Promise<FleetRun> {
  const random = randomOf(seed);
  const fleet = new OracleFleet(random, devices);
  try {
    const stored = await fleet.fill(samples, steps);
    const oracle = sqlOracle(stored, dataKeys);
    const lists = sqlSamples(stored);
    const scope = scopeOf(fleet.deviceIds, stored);
    const run = { queries, points: 0, nonNull: 0 };
    try {
      // A part of the queries after each move: the answers must be the same wherever rows are.
      for (const [part, move] of ([undefined, 'crash', 'seal', 'restart'] as const).entries()) {
        if (move !== undefined) await fleet.move(move);
        const end = Math.floor((queries * (part + 1)) / 4);
        for (let i = Math.floor((queries * part) / 4); i < end; i++) {
          const what = `fleet seed ${seed}, query ${i} after ${move}`;
          if (random() < listShare) {
            await mustList(fleet, lists, pageQuery(random, scope), what);
            continue;
          }
          const asked = await askBoth({ random, scope, oracle, store: fleet.store, what });
          run.points += asked.points;
          run.nonNull += asked.nonNull;
        }
      }
    } finally {
      oracle.close();
      lists.close();
    }
    return { ...run, stored: stored.length, history: fleet.history };
  } finally {
    await fleet.close();
  }
}

/** Queries are about stored samples, so that sparse devices are not asked about nothing. */
function scopeOf(deviceIds: readonly string[], stored: readonly Sample[]): QueryScope {
  return { deviceIds, around: (random) => pick(random, stored).timestamp };
}

function pageQuery(random: () => number, scope: QueryScope): PageQuery {
  const from = scope.around(random) - below(random, pick(random, [dayMs, 300 * dayMs]));
  return {
    deviceId: pick(random, scope.deviceIds),
    ...(random() < 0.5 && { topic: randomTopic(random) }),
    from,
    to: from + below(random, pick(random, [dayMs, 300 * dayMs])),
    limit: 1 + below(random, pick(random, [3, 1_000])),
    skip: random() < 0.5 ? 0 : below(random, 10),
  };
}

async function mustList(
  { store, deviceIds }: OracleFleet,
  lists: ReturnType<typeof sqlSamples>,
  query: PageQuery,
  what: string,
): Promise<void> {
  const first = deviceIds.indexOf(query.deviceId);
  const some = deviceIds.slice(first, first + query.limit);
  const page = (await store.samples(query)).map(lineOf);
  mustBeSame(page, lists.page(query), `${what}: ${JSON.stringify(query)}`);
  const latest = await store.latest({ deviceIds: some });
  for (const [i, deviceId] of some.entries())
    mustBeSame(latest[i]!.map(lineOf), lists.latest(deviceId), `${what}: latest of ${deviceId}`);
}

function mustBeSame(found: readonly string[], wanted: readonly string[], what: string): void {
  const place = wanted.findIndex((line, i) => line !== found[i]);
  if (place === -1 && found.length === wanted.length) return;
  throw new Error(
    `${what}: ${found.length} samples, not ${wanted.length}; first at ${place}: ${found[place]}, not ${wanted[place]}`,
  );
}
