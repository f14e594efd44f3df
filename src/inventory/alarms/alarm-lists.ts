// Alarm lists: alarms by many filters, one alarm as answers and messages show it, and those that a bulk request means (contract 37).
import {
  type Alarm,
  type AlarmComment,
  alarmSeverities,
  type AlarmSeverity,
  type AlarmState,
  alarmStates,
} from '../../model/alarm.ts';
import { formatInstant, formatInstantOrNull } from '../../model/instant.ts';
import { parseOptionalBound } from '../../model/timestamp.ts';
import { type Page, pageOf, type PageRequest } from '../../model/page.ts';
import { holds, type Principal, type Verb } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { Records, RecordsDb } from '../../storage/records/records.ts';
import {
  type AlarmFilter,
  alarmRows,
  alarmCommentRows,
} from '../../storage/records/rows/alarms.ts';
import { listReach, type ListScope } from '../list-scope.ts';
import { found } from '../record-crud.ts';

export interface AlarmQuery extends ListScope {
  readonly states?: readonly string[] | undefined;
  readonly severities?: readonly string[] | undefined;
  readonly deviceIds?: readonly string[] | undefined;
  readonly ruleIds?: readonly string[] | undefined;
  /** Of devices at the place or below it. */
  readonly placeId?: string | undefined;
  /** Times of the last trigger. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Triggered before or at the instant, and not cleared at it. */
  readonly openAt?: string | undefined;
  readonly search?: string | undefined;
}

const idsPerRead = 1_000;

/** Alarms as callers read them (contract 37). */
export class Alarms {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  /** Newest trigger first, unless the page asks for another order. Throws 400, 403 or 404. */
  async list(principal: Principal, query: AlarmQuery, page: PageRequest): Promise<Page<AlarmView>> {
    const filter = await filterOf(this.#records, principal, query, 'read');
    const db = this.#records.elsewhere(filter.organizationId);
    const { rows, total } = await alarmRows.list(db, filter, page);
    return pageOf(await alarmViews(this.#records.db, rows), total, page);
  }

  /** Throws 404. */
  async read(id: string): Promise<AlarmView> {
    const [alarm] = await alarmRows.find(this.#records.db, [id]);
    const [view] = await alarmViews(this.#records.db, [found(alarm, 'alarm', id)]);
    if (view === undefined) throw new Error(`Alarm ${id} has no view`);
    return view;
  }

  /** The ids of the alarms that the caller may change and that can change. Throws 400, 403 or 404. */
  async changeableIds(principal: Principal, query: AlarmQuery): Promise<readonly string[]> {
    const filter = await filterOf(this.#records, principal, query, 'update');
    const db = this.#records.elsewhere(filter.organizationId);
    const open = { ...filter, states: filter.states ?? ['OPEN', 'ACKNOWLEDGED'] };
    const ids: string[] = [];
    for (;;) {
      const some = await alarmRows.idsAfter(db, open, ids.at(-1) ?? '', idsPerRead);
      ids.push(...some);
      if (some.length < idsPerRead) return ids;
    }
  }

  /** Of named alarms, those that the caller may change, and the others: unknown or out of reach. */
  async reachableIds(
    principal: Principal,
    ids: readonly string[],
  ): Promise<{ readonly allowed: readonly string[]; readonly unknown: readonly string[] }> {
    const { db } = this.#records;
    const alarms = new Map((await alarmRows.find(db, ids)).map((alarm) => [alarm.id, alarm]));
    const allowed: string[] = [];
    const unknown: string[] = [];
    for (const id of new Set(ids)) {
      const alarm = alarms.get(id);
      const isAllowed =
        alarm?.organizationId === principal.organizationId &&
        holds(principal, 'rule', 'update', alarm.workspaceId) &&
        (principal.workspaces === 'all' || principal.workspaces.has(alarm.workspaceId));
      (isAllowed ? allowed : unknown).push(id);
    }
    return { allowed, unknown };
  }
}

async function filterOf(
  records: Records,
  principal: Principal,
  query: AlarmQuery,
  verb: Verb,
): Promise<AlarmFilter> {
  const { deviceIds, ruleIds, placeId, search } = query;
  return {
    ...(await listReach(records, principal, query, ['rule', verb])),
    states: known<AlarmState>('state', query.states, alarmStates),
    severities: known<AlarmSeverity>('severity', query.severities, alarmSeverities),
    deviceIds,
    ruleIds,
    placeId,
    from: parseOptionalBound('from', query.from),
    to: parseOptionalBound('to', query.to),
    openAt: parseOptionalBound('openAt', query.openAt),
    search,
  };
}

function known<T extends string>(
  field: string,
  sent: readonly string[] | undefined,
  names: readonly T[],
): readonly T[] | undefined {
  return sent?.map((value) => {
    const name = names.find((one) => one === value.toUpperCase());
    if (name !== undefined) return name;
    const reason = `${field}: must be one of ${names.join(', ')}`;
    throw problem('invalidRequest', { reason });
  });
}

// Alarm view: an alarm with its comments as answers, messages and live events show it (contract 37).

export type AlarmView = ReturnType<typeof alarmView>;

function alarmView(alarm: Alarm, comments: readonly AlarmComment[]) {
  const { acknowledged, cleared, device, rule, sampleTime } = alarm;
  return {
    id: alarm.id,
    workspaceId: alarm.workspaceId,
    organizationId: alarm.organizationId,
    name: alarm.name,
    severity: alarm.severity,
    state: alarm.state,
    key: alarm.key,
    device: device && { id: device.id, name: device.name, deviceId: device.deviceId },
    rule: { id: rule.id, name: rule.name },
    outputConnectorId: alarm.connectorId,
    count: alarm.count,
    firstTriggered: formatInstant(alarm.firstTriggered),
    lastTriggered: formatInstant(alarm.lastTriggered),
    sampleTime: sampleTime && {
      first: formatInstant(sampleTime.first),
      last: formatInstant(sampleTime.last),
    },
    acknowledged: acknowledged && { at: formatInstant(acknowledged.at), by: acknowledged.by },
    cleared: cleared && {
      at: formatInstant(cleared.at),
      by: cleared.by,
      reason: cleared.reason,
    },
    escalated: formatInstantOrNull(alarm.escalatedAt),
    muted: alarm.muted && {
      until: formatInstant(alarm.muted.until),
      muteId: alarm.muted.muteId,
    },
    data: alarm.data,
    correlationId: alarm.correlationId,
    comments: comments.map(({ id, at, by, text }) => ({ id, at: formatInstant(at), by, text })),
    version: alarm.version,
  };
}

/** In their order. */
export async function alarmViews(db: RecordsDb, alarms: readonly Alarm[]): Promise<AlarmView[]> {
  const commented = alarms.filter(({ commentCount }) => commentCount > 0).map(({ id }) => id);
  const comments = await alarmCommentRows.ofAlarms(db, [...new Set(commented)]);
  return alarms.map((alarm) => alarmView(alarm, comments.get(alarm.id) ?? []));
}
