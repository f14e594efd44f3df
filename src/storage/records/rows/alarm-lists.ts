// Lists of alarms: narrowed by many filters, the newest trigger first (contract 37).
import type { Alarm } from '../../../model/alarm.ts';
import type { EpochMs } from '../../../model/instant.ts';
import type { PageRequest } from '../../../model/page.ts';
import { contains, isOneOf } from '../columns.ts';
import { pageOfRows, type Rows, type WorkspaceFilter } from '../list.ts';
import type { RecordsDb } from '../records.ts';
import { alarmFromRow } from './alarms.ts';

/** An absent filter filters nothing. */
export interface AlarmFilter extends WorkspaceFilter {
  readonly states?: readonly string[] | undefined;
  readonly severities?: readonly string[] | undefined;
  readonly deviceIds?: readonly string[] | undefined;
  readonly ruleIds?: readonly string[] | undefined;
  /** Triggered last from this instant on. */
  readonly from?: EpochMs | undefined;
  /** Triggered last before this instant. */
  readonly to?: EpochMs | undefined;
}

const columns = {
  lastTriggered: 'lastTriggered',
  firstTriggered: 'firstTriggered',
  severity: 'severityRank',
  state: 'state',
  count: 'count',
  name: 'searchText',
} as const;

function filtered(db: RecordsDb, filter: AlarmFilter) {
  const { workspaceIds, states, severities, deviceIds, ruleIds, from, to, search } = filter;
  let query = db
    .selectFrom('alarms')
    .selectAll()
    .where('organizationId', '=', filter.organizationId);
  if (workspaceIds !== undefined) query = query.where(isOneOf('workspaceId', workspaceIds));
  if (states !== undefined) {
    query = query.where(isOneOf('state', states));
    // Few alarms are not cleared, and they have their own index.
    if (!states.includes('CLEARED')) query = query.where('openKey', 'is not', null);
  }
  if (severities !== undefined) query = query.where(isOneOf('severity', severities));
  if (deviceIds !== undefined) query = query.where(isOneOf('deviceId', deviceIds));
  if (ruleIds !== undefined) query = query.where(isOneOf('ruleId', ruleIds));
  if (from !== undefined) query = query.where('lastTriggered', '>=', from);
  if (to !== undefined) query = query.where('lastTriggered', '<', to);
  if (search) query = query.where(contains('searchText', search));
  return query;
}

export async function listAlarms(
  db: RecordsDb,
  filter: AlarmFilter,
  page: PageRequest,
): Promise<Rows<Alarm>> {
  const { rows, total } = await pageOfRows(filtered(db, filter), page, {
    columns,
    defaultSort: [{ field: 'lastTriggered', direction: 'desc' }],
  });
  return { rows: rows.map(alarmFromRow), total };
}

/** The next ids of a filter, in the order of the ids. */
export async function alarmIdsAfter(
  db: RecordsDb,
  filter: AlarmFilter,
  after: string,
  max: number,
): Promise<readonly string[]> {
  const query = filtered(db, filter).where('id', '>', after).orderBy('id').limit(max);
  return (await query.clearSelect().select('id').execute()).map(({ id }) => id);
}
