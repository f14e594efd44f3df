// Health of data flows, device types, output connectors and rules: what details=health adds to their lists (contract 37).
import { isSharedConnector } from '../../model/ids.ts';
import { dayMs, type EpochMs, formatInstant } from '../../model/instant.ts';
import { holds, type Principal } from '../../model/principal.ts';
import type { RunOutcome } from '../../model/rule.ts';
import { isOneOf } from '../../storage/records/columns.ts';
import type { Records, RecordsDb } from '../../storage/records/records.ts';
import {
  periodKinds,
  periodOf,
  periodCountRows,
} from '../../storage/records/rows/period-counts.ts';

export interface FlowHealthParts {
  /** Resolves when the records have what samples changed. */
  readonly settled: () => Promise<void>;
}

interface FlowHealth {
  readonly deviceCount: number;
  readonly lastSampleAt: string | null;
}

/** By flow; without those in whose workspace the principal cannot read devices. */
export async function healthOfFlows(
  records: Records,
  principal: Principal,
  flowIds: readonly string[],
  { settled }: FlowHealthParts,
): Promise<ReadonlyMap<string, FlowHealth>> {
  await settled().catch(() => undefined);
  const totals = await shownTotals(records, principal, 'id', flowIds);
  return new Map(totals.map((flow) => [flow.id, healthOf([flow])]));
}

/** By type, of the data flows in the workspaces where the principal can read devices. */
export async function healthOfDeviceTypes(
  records: Records,
  principal: Principal,
  typeIds: readonly string[],
  { settled }: FlowHealthParts,
): Promise<ReadonlyMap<string, FlowHealth>> {
  await settled().catch(() => undefined);
  const totals = await shownTotals(records, principal, 'deviceTypeId', typeIds);
  const byType = Map.groupBy(totals, ({ deviceTypeId }) => deviceTypeId ?? '');
  return new Map(typeIds.map((id) => [id, healthOf(byType.get(id) ?? [])]));
}

async function shownTotals(
  records: Records,
  principal: Principal,
  column: 'deviceTypeId' | 'id',
  values: readonly string[],
): Promise<FlowTotals[]> {
  const { organizationId, workspaces } = principal;
  const totals = await flowTotals(
    records.elsewhere(organizationId),
    organizationId,
    column,
    values,
  );
  return totals.filter(
    ({ workspaceId }) =>
      (workspaces === 'all' || workspaces.has(workspaceId)) &&
      holds(principal, 'asset', 'read', workspaceId),
  );
}

function healthOf(totals: readonly FlowTotals[]): FlowHealth {
  const times = totals.flatMap(({ lastSampleAt }) => lastSampleAt ?? []);
  const last = times.reduce<number | undefined>(
    (latest, at) => (latest === undefined || at > latest ? at : latest),
    undefined,
  );
  const lastSampleAt = last === undefined ? null : (formatInstant(last) ?? null);
  return { deviceCount: totals.reduce((sum, flow) => sum + flow.deviceCount, 0), lastSampleAt };
}

// Flow totals: the number of devices of data flows, and when each flow brought its last sample.

interface FlowTotals {
  readonly id: string;
  readonly workspaceId: string;
  readonly deviceTypeId: string | null;
  readonly deviceCount: number;
  readonly lastSampleAt: EpochMs | null;
}

/** Those of the organization with one of the ids, or with one of the device types. */
async function flowTotals(
  db: RecordsDb,
  organizationId: string,
  column: 'deviceTypeId' | 'id',
  values: readonly string[],
): Promise<FlowTotals[]> {
  const rows = await db
    .selectFrom('dataFlows')
    .leftJoin('flowSamples', 'flowSamples.dataFlowId', 'dataFlows.id')
    .select((eb) => [
      'dataFlows.id',
      'dataFlows.workspaceId',
      'dataFlows.deviceTypeId',
      'flowSamples.lastSampleAt',
      eb
        .selectFrom('devices')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .whereRef('devices.dataFlowId', '=', 'dataFlows.id')
        .as('deviceCount'),
    ])
    .where('dataFlows.organizationId', '=', organizationId)
    .where(isOneOf(`dataFlows.${column}`, values))
    .execute();
  return rows.map(({ deviceCount, ...row }) => ({ ...row, deviceCount: Number(deviceCount) }));
}

// Health of output connectors: the results of their deliveries in 24 hours, and what waits (contract 37).

export type WaitingOf = (connectorIds: readonly string[]) => Promise<
  ReadonlyMap<
    string,
    {
      readonly waiting: number;
      /** When a failed delivery is attempted again. */
      readonly nextRetry: EpochMs | undefined;
    }
  >
>;

export interface OutputHealthParts {
  /** What waits, of output connectors with such deliveries. */
  readonly waitingOf: WaitingOf;
  /** Resolves when the counts of deliveries can be read from the records. */
  readonly counted: () => Promise<void>;
}

interface OutputHealth {
  readonly deliveries: {
    readonly ok: number;
    readonly waiting: number;
    readonly failed: number;
    readonly nextTry: string | null;
    readonly okPerHour: readonly number[];
    readonly failedPerHour: readonly number[];
  };
}

const hours = 24;

/** By connector, without the database connector: its deliveries are those of all organizations. */
export async function healthOfOutputs(
  records: Records,
  { organizationId }: Principal,
  connectorIds: readonly string[],
  { waitingOf, counted }: OutputHealthParts,
): Promise<ReadonlyMap<string, OutputHealth>> {
  // What was counted so far can be read although the rest could not be written.
  await counted().catch(() => undefined);
  const now = records.now();
  const ids = connectorIds.filter((id) => !isSharedConnector(id));
  const from = periodOf('delivered', now - dayMs) + periodKinds.delivered.periodMs;
  const countsOf = await periodCountRows.hourly(
    records.elsewhere(organizationId),
    ids,
    ['delivered', 'failed'],
    { from, hours },
  );
  const waitingById = await waitingOf(ids);
  return new Map(ids.map((id) => [id, { deliveries: deliveriesOf(id) }]));

  function deliveriesOf(id: string): OutputHealth['deliveries'] {
    const okPerHour = countsOf(id, 'delivered');
    const failedPerHour = countsOf(id, 'failed');
    const { waiting, nextRetry } = waitingById.get(id) ?? { waiting: 0, nextRetry: undefined };
    return {
      ok: sum(okPerHour),
      waiting,
      failed: sum(failedPerHour),
      nextTry: nextRetry === undefined ? null : (formatInstant(Math.max(nextRetry, now)) ?? null),
      okPerHour,
      failedPerHour,
    };
  }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

// Health of rules: their last run, and how often they fired in 24 hours (contract 37).

export interface RuleHealthParts {
  /** Time and outcome of the newest run of each rule that has one. */
  readonly lastRunsOf: (
    db: RecordsDb,
    ruleIds: readonly string[],
  ) => Promise<ReadonlyMap<string, LastRun>>;
  /** Resolves when the rules of the organization were evaluated with what is durable. */
  readonly settledFor: (organizationId: string) => Promise<void>;
}

interface LastRun {
  readonly timestamp: string;
  readonly outcome: RunOutcome;
}

/** By rule. Runs show no values here, because their reader need not read devices. */
export async function healthOfRules(
  records: Records,
  { organizationId }: Principal,
  ruleIds: readonly string[],
  { lastRunsOf, settledFor }: RuleHealthParts,
): Promise<
  ReadonlyMap<
    string,
    {
      readonly lastRun: LastRun | null;
      readonly firedIn24h: number;
    }
  >
> {
  await settledFor(organizationId).catch(() => undefined);
  const db = records.elsewhere(organizationId);
  const from = periodOf('fired', records.now() - dayMs + 1);
  const fired = await periodCountRows.sums(db, ruleIds, ['fired'], from);
  const lastRuns = await lastRunsOf(db, ruleIds);
  return new Map(
    ruleIds.map((id) => [
      id,
      { lastRun: lastRuns.get(id) ?? null, firedIn24h: fired(id, 'fired') },
    ]),
  );
}
