// Mutes and on-call orders in the records store: when alarms tell nobody, and whom they tell.
import type { Insertable, Selectable } from 'kysely';
import type { AlarmSeverity } from '../../../model/alarm.ts';
import type { EpochMs } from '../../../model/instant.ts';
import type { Mute } from '../../../model/mute.ts';
import type { PageRequest } from '../../../model/page.ts';
import {
  fromFlag,
  fromJsonText,
  fromJsonTextOrNull,
  isOneOf,
  searchTextOf,
  toFlag,
  toJsonText,
  toJsonTextOrNull,
} from '../columns.ts';
import { sortColumns, type WorkspaceFilter } from '../list.ts';
import type { RecordsDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';
import { RecordRows } from './record-rows.ts';
import type { OnCall, TurnLength } from '../../../model/on-call.ts';

type Table = RecordTables['mutes'];

function toRow({ what, once, weekly, active, ...record }: Mute): Insertable<Table> {
  return {
    ...record,
    what: toJsonText(what),
    startsAt: once?.from ?? null,
    endsAt: once?.to ?? null,
    weekly: toJsonTextOrNull(weekly),
    active: toFlag(active),
    searchText: searchTextOf(record.name),
  };
}

function fromRow({ searchText: _, startsAt, endsAt, ...row }: Selectable<Table>): Mute {
  return {
    ...row,
    what: fromJsonText(row.what),
    severityBelow: row.severityBelow as AlarmSeverity | null,
    once: startsAt === null || endsAt === null ? null : { from: startsAt, to: endsAt },
    weekly: fromJsonTextOrNull(row.weekly),
    active: fromFlag(row.active),
  };
}

class MuteRows extends RecordRows<'mutes', Mute> {
  override async list(
    db: RecordsDb,
    filter: WorkspaceFilter & {
      readonly active?: boolean | undefined;
    },
    page: PageRequest,
  ) {
    let query = this.filtered(db, filter);
    if (filter.active !== undefined) query = query.where('active', '=', toFlag(filter.active));
    return this.page(db, query, page);
  }

  /** Those of the workspaces that are active and not over, in the order of their ids. */
  async current(db: RecordsDb, workspaceIds: readonly string[], at: EpochMs): Promise<Mute[]> {
    if (workspaceIds.length === 0) return [];
    const query = this.select(db)
      .where(isOneOf('workspaceId', workspaceIds))
      .where('active', '=', 1)
      .where((eb) => eb.or([eb('endsAt', 'is', null), eb('endsAt', '>', at)]))
      .orderBy('id');
    return this.readAll(db, query);
  }

  /** Those that begin or have changed, the earliest first. */
  async due(db: RecordsDb, at: EpochMs, max: number): Promise<Mute[]> {
    return this.readAll(db, this.select(db).where('nextAt', '<=', at).orderBy('nextAt').limit(max));
  }

  /** When the next mute is due; undefined when none is. */
  async nextTime(db: RecordsDb): Promise<EpochMs | undefined> {
    const query = db
      .selectFrom('mutes')
      .select((eb) => eb.fn.min('nextAt').as('at'))
      .where('nextAt', 'is not', null);
    const at = (await query.executeTakeFirst())?.at;
    return at === null || at === undefined ? undefined : Number(at);
  }

  /** Sets when the mute is due next, unless it was changed since it was read. */
  async setTime(step: RecordsDb, { id, version }: Mute, nextAt: EpochMs | null): Promise<void> {
    await step
      .updateTable('mutes')
      .set({ nextAt })
      .where('id', '=', id)
      .where('version', '=', version)
      .execute();
  }

  /** Every active mute is due, because the clock was set back. */
  async lookAgain(step: RecordsDb, at: EpochMs): Promise<void> {
    await step.updateTable('mutes').set({ nextAt: at }).where('active', '=', 1).execute();
  }

  /** Mutes of the workspace that are not over. */
  async count(db: RecordsDb, workspaceId: string, at: EpochMs): Promise<number> {
    const { count } = await db
      .selectFrom('mutes')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('workspaceId', '=', workspaceId)
      .where((eb) => eb.or([eb('endsAt', 'is', null), eb('endsAt', '>', at)]))
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  /** Removes at most `max` mutes that ended before the moment. Resolves to their number. */
  async removeEndedBefore(step: RecordsDb, before: EpochMs, max: number): Promise<number> {
    const old = step.selectFrom('mutes').select('id').where('endsAt', '<', before).limit(max);
    const { numDeletedRows } = await step
      .deleteFrom('mutes')
      .where('id', 'in', old)
      .executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  }
}

export const muteRows = new MuteRows('mutes', toRow, fromRow, {
  columns: { ...sortColumns, active: 'active' },
});

// On-call orders in the records store: who takes turns in getting the messages of alarms.

type OnCallTable = RecordTables['onCallOrders'];

function onCallToRow({
  order,
  overrides,
  memberEmails,
  ...record
}: OnCall): Insertable<OnCallTable> {
  return {
    ...record,
    order: toJsonText(order),
    overrides: toJsonText(overrides),
    memberEmails: toJsonText(memberEmails),
    searchText: searchTextOf(record.name),
  };
}

function onCallFromRow({ searchText: _, ...row }: Selectable<OnCallTable>): OnCall {
  return {
    ...row,
    order: fromJsonText(row.order),
    turn: row.turn as TurnLength,
    overrides: fromJsonText(row.overrides),
    memberEmails: fromJsonText(row.memberEmails),
  };
}

class OnCallRows extends RecordRows<'onCallOrders', OnCall> {
  /** On-call orders of the workspace. */
  async count(db: RecordsDb, workspaceId: string): Promise<number> {
    const { count } = await db
      .selectFrom('onCallOrders')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('workspaceId', '=', workspaceId)
      .executeTakeFirstOrThrow();
    return Number(count);
  }
}

export const onCallRows = new OnCallRows('onCallOrders', onCallToRow, onCallFromRow, {
  columns: sortColumns,
});
