// Rule state between runs and the queue of script runs, written after the journal with the effects of the runs.
import { type Selectable, sql } from 'kysely';
import type { EpochMs } from '../../../model/instant.ts';
import type { Json, JsonObject } from '../../../model/json.ts';
import { type BlockWaits, nextDueOf } from '../../../model/rule.ts';
import {
  fromJsonText,
  fromJsonTextOrNull,
  isOneOf,
  lastOfEach,
  toJsonText,
  toJsonTextOrNull,
} from '../columns.ts';
import { commitOrder, type CommitPlace } from '../commit-order.ts';
import { engineSql } from '../engine.ts';
import type { RecordsDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';

// One statement writes this many rows: few enough for every engine's parameter limit.
const rowsPerStatement = 100;

function* chunks<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < rows.length; from += rowsPerStatement)
    yield rows.slice(from, from + rowsPerStatement);
}

/** An activation of a rule. */
export interface ActivationRef {
  readonly ruleId: string;
  readonly activation: number;
}

/** Deletes the state and the waiting runs of the rule. Its recent runs stay. */
export async function clearRuleState(step: RecordsDb, ruleId: string): Promise<void> {
  for (const table of [
    'ruleScriptStates',
    'ruleDeviceStates',
    'ruleTimers',
    'ruleTriggers',
  ] as const) {
    await step
      .deleteFrom(table as 'ruleTimers')
      .where('ruleId', '=', ruleId)
      .execute();
  }
}

/** Those of the rules that are active still, with the activation that counts. */
export async function activationsOf(
  step: RecordsDb,
  ruleIds: readonly string[],
): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const ids of chunks(ruleIds)) {
    const query = step
      .selectFrom('rules')
      .select(['id', 'activation'])
      .where('active', '=', 1)
      .where('id', 'in', [...ids]);
    for (const { id, activation } of await query.execute()) found.set(id, activation);
  }
  return found;
}

/** What scripts keep between their runs. */
class ScriptStateRows {
  async find(db: RecordsDb, of: ActivationRef): Promise<JsonObject | undefined> {
    const query = db
      .selectFrom('ruleScriptStates')
      .select(['activation', 'state'])
      .where('ruleId', '=', of.ruleId);
    const row = await query.executeTakeFirst();
    return row?.activation === of.activation ? fromJsonText<JsonObject>(row.state) : undefined;
  }

  async save(step: RecordsDb, of: ActivationRef, state: JsonObject): Promise<void> {
    const row = { activation: of.activation, state: toJsonText(state) };
    await step
      .insertInto('ruleScriptStates')
      .values({ ruleId: of.ruleId, ...row })
      .onConflict((conflict) => conflict.column('ruleId').doUpdateSet(row))
      .execute();
  }
}

export const scriptStateRows = new ScriptStateRows();

export interface DeviceConditionState extends ActivationRef {
  /** Empty for timed runs. */
  readonly deviceId: string;
  /** One character for each thing that can hold. */
  readonly holds: string;
  /** Of a rule whose logic blocks wait before they change. */
  readonly waits: BlockWaits | null;
}

function stateOfRow({ dueAt: _, waits, ...row }: Selectable<RecordTables['ruleDeviceStates']>) {
  return { ...row, waits: fromJsonTextOrNull<BlockWaits>(waits) };
}

/** What holds for a rule and a device. */
class ConditionStateRows {
  /** Those of the rules and devices that have one; `activation` is that of the state. */
  async find(
    db: RecordsDb,
    of: readonly { readonly ruleId: string; readonly deviceId: string }[],
  ): Promise<DeviceConditionState[]> {
    const found: DeviceConditionState[] = [];
    for (const some of chunks(of)) {
      const rows = some.map(({ ruleId, deviceId }) => sql`(${ruleId}, ${deviceId})`);
      const query = db
        .selectFrom('ruleDeviceStates')
        .selectAll()
        .where(sql<boolean>`("ruleId", "deviceId") in (values ${sql.join(rows)})`);
      for (const row of await query.execute()) found.push(stateOfRow(row));
    }
    return found;
  }

  /** States with a logic block that changes by the moment, the earliest first. */
  async findDue(
    db: RecordsDb,
    now: EpochMs,
    max: number,
    workspaces?: readonly string[],
  ): Promise<DeviceConditionState[]> {
    let query = db.selectFrom('ruleDeviceStates').selectAll().where('dueAt', '<=', now);
    if (workspaces !== undefined) query = query.where('ruleId', 'in', rulesOf(db, workspaces));
    return (await query.orderBy('dueAt').limit(max).execute()).map(stateOfRow);
  }

  /** Nothing is waited for any longer by this activation of the rule. */
  async endWaits(
    step: RecordsDb,
    state: { readonly ruleId: string; readonly deviceId: string; readonly activation: number },
  ): Promise<void> {
    await step
      .updateTable('ruleDeviceStates')
      .set({ waits: null, dueAt: null })
      .where('ruleId', '=', state.ruleId)
      .where('deviceId', '=', state.deviceId)
      .where('activation', '=', state.activation)
      .execute();
  }

  /** The state is due again at the moment; what its blocks wait for stays. */
  async postponeWaits(
    step: RecordsDb,
    { ruleId, deviceId }: DeviceConditionState,
    dueAt: EpochMs,
  ): Promise<void> {
    await step
      .updateTable('ruleDeviceStates')
      .set({ dueAt })
      .where('ruleId', '=', ruleId)
      .where('deviceId', '=', deviceId)
      .where('dueAt', 'is not', null)
      .execute();
  }

  /** Blocks wait as long as before, although the clock was set back. */
  async moveWaits(
    step: RecordsDb,
    { now, byMs }: { readonly now: EpochMs; readonly byMs: number },
    workspaces?: readonly string[],
  ): Promise<void> {
    let [ruleId, deviceId] = ['', ''];
    for (;;) {
      let query = step
        .selectFrom('ruleDeviceStates')
        .selectAll()
        .where('dueAt', '>', now)
        .where(sql<boolean>`("ruleId", "deviceId") > (${ruleId}, ${deviceId})`);
      if (workspaces !== undefined) query = query.where('ruleId', 'in', rulesOf(step, workspaces));
      const rows = await query
        .orderBy('ruleId')
        .orderBy('deviceId')
        .limit(rowsPerStatement)
        .execute();
      const moved = rows.map(stateOfRow).map((state) => ({
        ...state,
        waits: state.waits?.map((wait) => wait && { ...wait, due: wait.due - byMs }) ?? null,
      }));
      await this.save(step, moved);
      const last = rows.at(-1);
      if (last === undefined || rows.length < rowsPerStatement) return;
      ({ ruleId, deviceId } = last);
    }
  }

  async save(step: RecordsDb, states: readonly DeviceConditionState[]): Promise<void> {
    const last = lastOfEach(states, ({ ruleId, deviceId }) => `${ruleId} ${deviceId}`);
    for (const rows of chunks(last)) {
      await step
        .insertInto('ruleDeviceStates')
        .values(
          rows.map(({ waits, ...row }) => ({
            ...row,
            waits: toJsonTextOrNull(waits),
            dueAt: waits && nextDueOf(waits),
          })),
        )
        .onConflict((conflict) =>
          conflict.columns(['ruleId', 'deviceId']).doUpdateSet((eb) => ({
            activation: eb.ref('excluded.activation'),
            holds: eb.ref('excluded.holds'),
            waits: eb.ref('excluded.waits'),
            dueAt: eb.ref('excluded.dueAt'),
          })),
        )
        .execute();
    }
  }
}

export const conditionStateRows = new ConditionStateRows();

interface LastSampleRow {
  readonly deviceId: string;
  readonly topic: string;
  readonly dataKey: string;
  readonly sample: JsonObject;
}

/** The last sample of each data source of a device, as rules see it. */
class LastSampleRows {
  async find(db: RecordsDb, deviceIds: readonly string[]): Promise<LastSampleRow[]> {
    const found: LastSampleRow[] = [];
    for (const ids of chunks(deviceIds)) {
      const query = db
        .selectFrom('ruleLastSamples')
        .selectAll()
        .where('deviceId', 'in', [...ids]);
      for (const row of await query.execute())
        found.push({ ...row, sample: fromJsonText<JsonObject>(row.sample) });
    }
    return found;
  }

  async removeOf(db: RecordsDb, deviceId: string): Promise<void> {
    await db.deleteFrom('ruleLastSamples').where('deviceId', '=', deviceId).execute();
  }

  async save(step: RecordsDb, samples: readonly LastSampleRow[]): Promise<void> {
    const last = lastOfEach(samples, ({ deviceId, topic, dataKey }) =>
      JSON.stringify([deviceId, topic, dataKey]),
    );
    for (const rows of chunks(last)) {
      await step
        .insertInto('ruleLastSamples')
        .values(rows.map((row) => ({ ...row, sample: toJsonText(row.sample) })))
        .onConflict((conflict) =>
          conflict
            .columns(['deviceId', 'topic', 'dataKey'])
            .doUpdateSet((eb) => ({ sample: eb.ref('excluded.sample') })),
        )
        .execute();
    }
  }
}

export const lastSampleRows = new LastSampleRows();

/** By rule: its activation, then the newest judged time of each data source, null without one. */
type JudgedTimes = Readonly<Record<string, readonly (number | null)[]>>;

export interface JudgedDevice {
  readonly deviceId: string;
  readonly times: JudgedTimes;
}

class JudgedTimeRows {
  async find(db: RecordsDb, deviceIds: readonly string[]): Promise<JudgedDevice[]> {
    const found: JudgedDevice[] = [];
    for (const ids of chunks(deviceIds)) {
      const query = db
        .selectFrom('ruleJudgedTimes')
        .selectAll()
        .where('deviceId', 'in', [...ids]);
      for (const { deviceId, times } of await query.execute())
        found.push({ deviceId, times: fromJsonText<JudgedTimes>(times) });
    }
    return found;
  }

  /** Each device once. */
  async save(step: RecordsDb, devices: readonly JudgedDevice[]): Promise<void> {
    for (const rows of chunks(devices)) {
      await step
        .insertInto('ruleJudgedTimes')
        .values(rows.map(({ deviceId, times }) => ({ deviceId, times: toJsonText(times) })))
        .onConflict((conflict) =>
          conflict.column('deviceId').doUpdateSet((eb) => ({ times: eb.ref('excluded.times') })),
        )
        .execute();
    }
  }
}

export const judgedTimeRows = new JudgedTimeRows();

/** A timer that a script set. */
export interface ScriptTimer extends ActivationRef {
  readonly id: string;
  readonly runAt: EpochMs;
  readonly meta: JsonObject | null;
}

function rulesOf(db: RecordsDb, workspaces: readonly string[]) {
  return db.selectFrom('rules').select('id').where(isOneOf('workspaceId', workspaces));
}

/** Timers that scripts set. */
class ScriptTimerRows {
  /** A timer with a known id changes nothing. */
  async insert(step: RecordsDb, timers: readonly ScriptTimer[]): Promise<void> {
    for (const rows of chunks(timers)) {
      await step
        .insertInto('ruleTimers')
        .values(rows.map((timer) => ({ ...timer, meta: toJsonTextOrNull(timer.meta) })))
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
    }
  }

  /** Those due by the moment, the earliest first; of all workspaces without a list. */
  async findDue(
    db: RecordsDb,
    now: EpochMs,
    max: number,
    workspaces?: readonly string[],
  ): Promise<ScriptTimer[]> {
    let query = db.selectFrom('ruleTimers').selectAll().where('runAt', '<=', now);
    if (workspaces !== undefined) query = query.where('ruleId', 'in', rulesOf(db, workspaces));
    const rows = await query.orderBy('runAt').orderBy('id').limit(max).execute();
    return rows.map((row) => ({ ...row, meta: fromJsonTextOrNull<JsonObject>(row.meta) }));
  }

  /** Timers of scripts wait as long as before, although the clock was set back. */
  async move(
    step: RecordsDb,
    { now, byMs }: { readonly now: EpochMs; readonly byMs: number },
    workspaces?: readonly string[],
  ): Promise<void> {
    let query = step
      .updateTable('ruleTimers')
      .set((eb) => ({ runAt: eb('runAt', '-', byMs) }))
      .where('runAt', '>', now);
    if (workspaces !== undefined) query = query.where('ruleId', 'in', rulesOf(step, workspaces));
    await query.execute();
  }

  async remove(step: RecordsDb, ids: readonly string[]): Promise<void> {
    for (const some of chunks(ids)) {
      await step
        .deleteFrom('ruleTimers')
        .where('id', 'in', [...some])
        .execute();
    }
  }

  async count(db: RecordsDb, ruleId: string): Promise<number> {
    const query = db.selectFrom('ruleTimers').select((eb) => eb.fn.countAll<number>().as('count'));
    return Number((await query.where('ruleId', '=', ruleId).executeTakeFirstOrThrow()).count);
  }
}

export const scriptTimerRows = new ScriptTimerRows();

/** When rules run next by themselves. */
class RuleTimes {
  /** Active rules whose timer is due later than at the moment. */
  async planned(
    db: RecordsDb,
    now: EpochMs,
    workspaces?: readonly string[],
  ): Promise<readonly { readonly id: string; readonly due: EpochMs }[]> {
    let query = db.selectFrom('rules').select(['id', 'nextExecution']).where('active', '=', 1);
    if (workspaces !== undefined) query = query.where(isOneOf('workspaceId', workspaces));
    const rows = await query.where('nextExecution', '>', now).execute();
    return rows.map(({ id, nextExecution }) => ({ id, due: Number(nextExecution) }));
  }

  /** When the next timer is due, of rules or set by scripts; undefined when none waits. */
  async next(db: RecordsDb, workspaces?: readonly string[]): Promise<EpochMs | undefined> {
    let rules = db
      .selectFrom('rules')
      .select((eb) => eb.fn.min('nextExecution').as('at'))
      .where('active', '=', 1);
    if (workspaces !== undefined) rules = rules.where(isOneOf('workspaceId', workspaces));
    const rule = await rules.executeTakeFirst();
    let scripts = db.selectFrom('ruleTimers').select((eb) => eb.fn.min('runAt').as('at'));
    if (workspaces !== undefined) scripts = scripts.where('ruleId', 'in', rulesOf(db, workspaces));
    const script = await scripts.executeTakeFirst();
    let states = db.selectFrom('ruleDeviceStates').select((eb) => eb.fn.min('dueAt').as('at'));
    if (workspaces !== undefined) states = states.where('ruleId', 'in', rulesOf(db, workspaces));
    const state = await states.where('dueAt', 'is not', null).executeTakeFirst();
    const times = [rule?.at, script?.at, state?.at]
      .filter((at) => at !== null && at !== undefined)
      .map(Number);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Ids of active rules whose timer is due by the moment. */
  async due(
    db: RecordsDb,
    now: EpochMs,
    max: number,
    workspaces?: readonly string[],
  ): Promise<{ readonly id: string; readonly due: EpochMs }[]> {
    let query = db.selectFrom('rules').select(['id', 'nextExecution']).where('active', '=', 1);
    if (workspaces !== undefined) query = query.where(isOneOf('workspaceId', workspaces));
    const rows = await query
      .where('nextExecution', '<=', now)
      .orderBy('nextExecution')
      .orderBy('id')
      .limit(max)
      .execute();
    return rows.map(({ id, nextExecution }) => ({ id, due: Number(nextExecution) }));
  }
}

export const ruleTimes = new RuleTimes();

// Rule queue: waiting script runs of rules, and the list of recent runs.

/** A run of a custom logic script that waits for its turn. */
export interface WaitingTrigger extends ActivationRef {
  /** Its place in the queue. */
  readonly place: CommitPlace;
  readonly trigger: JsonObject;
}

/** Script runs of rules that wait for their turn. */
class TriggerRows {
  async insert(step: RecordsDb, triggers: readonly Omit<WaitingTrigger, 'place'>[]): Promise<void> {
    for (let from = 0; from < triggers.length; from += rowsPerStatement) {
      const rows = triggers.slice(from, from + rowsPerStatement);
      const values = rows.map((row) => ({ ...row, trigger: toJsonText(row.trigger) }));
      await step.insertInto('ruleTriggers').values(values).execute();
    }
  }

  /** The first waiting runs of the rule, in order of commit. */
  async first(db: RecordsDb, ruleId: string, max: number): Promise<WaitingTrigger[]> {
    const query = db.selectFrom('ruleTriggers').selectAll().where('ruleId', '=', ruleId);
    const rows = await commitOrder(db).rowsBehind(query, undefined, max);
    return rows.map(({ sequence: _, ...row }) => ({
      ...row,
      trigger: fromJsonText<JsonObject>(row.trigger),
    }));
  }

  /** Number of waiting runs, by rule. */
  async counts(db: RecordsDb): Promise<Map<string, number>> {
    const query = db
      .selectFrom('ruleTriggers')
      .select((eb) => ['ruleId', eb.fn.countAll<number>().as('count')]);
    const rows = await query.groupBy('ruleId').execute();
    return new Map(rows.map(({ ruleId, count }) => [ruleId, Number(count)]));
  }

  /** Those of the rule up to a place in the queue. */
  async removeUpTo(step: RecordsDb, ruleId: string, upTo: CommitPlace): Promise<number> {
    const query = step
      .deleteFrom('ruleTriggers')
      .where('ruleId', '=', ruleId)
      .where(commitOrder(step).isUpTo(upTo));
    return Number((await query.executeTakeFirst()).numDeletedRows);
  }
}

export const triggerRows = new TriggerRows();

/** The list of recent runs of each rule. */
class RuleRunRows {
  /** The last runs of a rule as they were saved; empty when none were. */
  async find(db: RecordsDb, ruleId: string): Promise<Json[]> {
    const row = await db
      .selectFrom('ruleRuns')
      .select('runs')
      .where('ruleId', '=', ruleId)
      .executeTakeFirst();
    return row === undefined ? [] : fromJsonText<Json[]>(row.runs);
  }

  /** Time and outcome of the newest saved run of each rule that has one. */
  async lastOf(
    db: RecordsDb,
    ruleIds: readonly string[],
  ): Promise<{ ruleId: string; timestamp: string; outcome: string }[]> {
    const { textOfFirst } = engineSql(db);
    const runs = sql.ref('runs');
    const rows = await db
      .selectFrom('ruleRuns')
      .select([
        'ruleId',
        textOfFirst(runs, 'timestamp').as('timestamp'),
        textOfFirst(runs, 'outcome').as('outcome'),
      ])
      .where(isOneOf('ruleId', ruleIds))
      .execute();
    return rows.flatMap(({ ruleId, timestamp, outcome }) =>
      timestamp === null || outcome === null ? [] : [{ ruleId, timestamp, outcome }],
    );
  }

  async save(step: RecordsDb, ruleId: string, runs: readonly Json[]): Promise<void> {
    const row = { runs: toJsonText(runs) };
    await step
      .insertInto('ruleRuns')
      .values({ ruleId, ...row })
      .onConflict((conflict) => conflict.column('ruleId').doUpdateSet(row))
      .execute();
  }

  async remove(step: RecordsDb, ruleId: string): Promise<void> {
    await step.deleteFrom('ruleRuns').where('ruleId', '=', ruleId).execute();
  }
}

export const ruleRunRows = new RuleRunRows();
