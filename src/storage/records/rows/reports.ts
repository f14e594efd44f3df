// Reports in the records store, with the files and links of the mails that they sent.
import type { Insertable, Selectable } from 'kysely';
import type { EpochMs } from '../../../model/instant.ts';
import type { MailFile } from '../../../model/mail.ts';
import type { PageRequest } from '../../../model/page.ts';
import type { Report, ReportProblem } from '../../../model/report.ts';
import {
  fromFlag,
  fromJsonText,
  fromJsonTextOrNull,
  searchTextOf,
  toFlag,
  toJsonText,
  toJsonTextOrNull,
} from '../columns.ts';
import { sortColumns, type WorkspaceFilter } from '../list.ts';
import type { RecordsDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';
import { RecordRows } from './record-rows.ts';

type Table = RecordTables['reports'];

function toRow({ owner, ...record }: Report): Insertable<Table> {
  return {
    ...record,
    variables: toJsonText(record.variables),
    schedule: toJsonText(record.schedule),
    recipients: toJsonText(record.recipients),
    formats: toJsonText(record.formats),
    active: toFlag(record.active),
    ownerType: owner.type,
    ownerId: owner.id,
    problem: toJsonTextOrNull(record.problem),
    searchText: searchTextOf(record.name),
  };
}

function fromRow({ searchText: _, ownerType, ownerId, ...row }: Selectable<Table>): Report {
  return {
    ...row,
    description: null,
    variables: fromJsonText(row.variables),
    schedule: fromJsonText(row.schedule),
    recipients: fromJsonText(row.recipients),
    formats: fromJsonText(row.formats),
    active: fromFlag(row.active),
    owner: { type: ownerType as Report['owner']['type'], id: ownerId },
    problem: fromJsonTextOrNull<ReportProblem>(row.problem),
  };
}

class ReportRows extends RecordRows<'reports', Report> {
  override async list(
    db: RecordsDb,
    filter: WorkspaceFilter & {
      readonly dashboardId?: string | undefined;
      readonly active?: boolean | undefined;
    },
    page: PageRequest,
  ) {
    let query = this.filtered(db, filter);
    if (filter.dashboardId !== undefined)
      query = query.where('dashboardId', '=', filter.dashboardId);
    if (filter.active !== undefined) query = query.where('active', '=', toFlag(filter.active));
    return this.page(db, query, page);
  }

  /** Of each organization with reports that are due, the one that is due first; the earliest first. */
  async due(db: RecordsDb, at: EpochMs, max: number): Promise<Report[]> {
    const turns = await db
      .selectFrom('reports')
      .select((eb) => ['organizationId', eb.fn.min('nextAt').as('first')])
      .where('nextAt', '<=', at)
      .groupBy('organizationId')
      .orderBy('first')
      .limit(max)
      .execute();
    const found: Report[] = [];
    for (const { organizationId } of turns) {
      const query = this.select(db)
        .where('organizationId', '=', organizationId)
        .where('nextAt', '<=', at)
        .orderBy('nextAt')
        .orderBy('id')
        .limit(1);
      const first = await this.first(db, query);
      if (first !== undefined) found.push(first);
    }
    return found;
  }

  /** Those of the dashboard that are active. */
  async activeOf(db: RecordsDb, dashboardId: string): Promise<Report[]> {
    const query = this.select(db).where('dashboardId', '=', dashboardId).where('active', '=', 1);
    return this.readAll(db, query.orderBy('id'));
  }

  /** Active ones behind the id, in the order of their ids. */
  async activeAfter(db: RecordsDb, after: string, max: number): Promise<Report[]> {
    const query = this.select(db).where('active', '=', 1).where('id', '>', after);
    return this.readAll(db, query.orderBy('id').limit(max));
  }

  /** When the next report is due; undefined when none is. */
  async nextTime(db: RecordsDb): Promise<EpochMs | undefined> {
    const query = db
      .selectFrom('reports')
      .select((eb) => eb.fn.min('nextAt').as('at'))
      .where('nextAt', 'is not', null);
    const at = (await query.executeTakeFirst())?.at;
    return at === null || at === undefined ? undefined : Number(at);
  }

  async count(db: RecordsDb, workspaceId: string): Promise<number> {
    const { count } = await db
      .selectFrom('reports')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('workspaceId', '=', workspaceId)
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  /** Reports of the workspace that are switched off with a reason, at most `max`. */
  async stopped(db: RecordsDb, workspaceId: string, max: number): Promise<Report[]> {
    const query = this.select(db)
      .where('workspaceId', '=', workspaceId)
      .where('active', '=', 0)
      .where('problem', 'is not', null)
      .orderBy('searchText')
      .orderBy('id')
      .limit(max);
    return this.readAll(db, query);
  }

  /**
   * Writes the state of a report that is as it was read: of the same version, with the same run to come.
   * Resolves to whether it was.
   */
  async saveState(
    step: RecordsDb,
    { id, version, nextRun, nextAt }: Report,
    { active, problem, ...state }: Partial<ReportState>,
  ): Promise<boolean> {
    const { numUpdatedRows } = await step
      .updateTable('reports')
      .set({
        ...state,
        ...(active !== undefined && { active: toFlag(active) }),
        ...(problem !== undefined && { problem: toJsonTextOrNull(problem) }),
      })
      .where('id', '=', id)
      .where('version', '=', version)
      .where((eb) => (nextRun === null ? eb('nextRun', 'is', null) : eb('nextRun', '=', nextRun)))
      .where((eb) => (nextAt === null ? eb('nextAt', 'is', null) : eb('nextAt', '=', nextAt)))
      .executeTakeFirstOrThrow();
    return Number(numUpdatedRows) === 1;
  }

  // Files of mails.
  async insertFiles(
    step: RecordsDb,
    of: {
      readonly contentId: string;
      readonly organizationId: string;
      readonly created: EpochMs;
    },
    files: readonly MailFile[],
  ): Promise<void> {
    for (const [place, file] of files.entries())
      await step
        .insertInto('reportFiles')
        .values({ ...of, ...file, place })
        .execute();
  }

  /** In their order; none when they are no longer kept. */
  async filesOf(db: RecordsDb, contentId: string): Promise<MailFile[]> {
    return db
      .selectFrom('reportFiles')
      .select(['name', 'contentType', 'cid', 'content'])
      .where('contentId', '=', contentId)
      .orderBy('place')
      .execute();
  }

  /** Removes the files of at most `max` contents that are older. Resolves to the number of contents. */
  async removeFilesBefore(step: RecordsDb, before: EpochMs, max: number): Promise<number> {
    const old = await step
      .selectFrom('reportFiles')
      .select('contentId')
      .distinct()
      .where('created', '<', before)
      .limit(max)
      .execute();
    const ids = old.map(({ contentId }) => contentId);
    if (ids.length > 0)
      await step.deleteFrom('reportFiles').where('contentId', 'in', ids).execute();
    return ids.length;
  }

  async insertMails(step: RecordsDb, mails: readonly ReportMail[]): Promise<void> {
    if (mails.length > 0)
      await step
        .insertInto('reportMails')
        .values([...mails])
        .execute();
  }

  async findMail(db: RecordsDb, tokenHash: string): Promise<ReportMail | undefined> {
    return db
      .selectFrom('reportMails')
      .selectAll()
      .where('tokenHash', '=', tokenHash)
      .executeTakeFirst();
  }

  /** Mails of the organization that were queued later than the moment. */
  async countMails(db: RecordsDb, organizationId: string, after: EpochMs): Promise<number> {
    const { count } = await db
      .selectFrom('reportMails')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('organizationId', '=', organizationId)
      .where('created', '>', after)
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  /** Removes at most `max` older ones. Resolves to their number. */
  async removeMailsBefore(step: RecordsDb, before: EpochMs, max: number): Promise<number> {
    const old = step
      .selectFrom('reportMails')
      .select('tokenHash')
      .where('created', '<', before)
      .limit(max);
    const { numDeletedRows } = await step
      .deleteFrom('reportMails')
      .where('tokenHash', 'in', old)
      .executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  }
}

export const reportRows = new ReportRows('reports', toRow, fromRow, {
  columns: { ...sortColumns, active: 'active', nextRun: 'nextRun', lastSent: 'lastSent' },
});

/** What the clock and the outcomes of mails change of a report; its version stays. */
export type ReportState = Pick<
  Report,
  | 'active'
  | 'lastSent'
  | 'nextRun'
  | 'nextAt'
  | 'tries'
  | 'lastRun'
  | 'refusedMails'
  | 'failedRuns'
  | 'problem'
>;

// Mails, by the hash of their token to unsubscribe.

type ReportMail = RecordTables['reportMails'];
