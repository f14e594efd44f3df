// Reports: create, read, list, update, delete, and the links with which recipients leave one (contract 39.1).
import type { ReportDraft, ReportUpdate, ScheduleDraft } from '../../contract/reports.ts';
import { emailAddressOf } from '../../model/user.ts';
import { formatInstant, formatInstantOrNull } from '../../model/instant.ts';
import { parseIsoDuration } from '../../model/iso-duration.ts';
import { isLocalTime, openTimeZones } from '../../model/time-zone.ts';
import { isMailAddress } from '../../model/mail.ts';
import { pageOf, type PageRequest } from '../../model/page.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import {
  nextRunAfter,
  type Report,
  reportFormats,
  reportLimits,
  type ReportSchedule,
} from '../../model/report.ts';
import type { Records, RecordsDb } from '../../storage/records/records.ts';
import { dashboardRows } from '../../storage/records/rows/dashboards.ts';
import { reportRows } from '../../storage/records/rows/reports.ts';
import { secretHash } from '../../storage/records/secret-encryption.ts';
import { auditEntry } from '../audit/audit.ts';
import { listReach, type ListScope } from '../list-scope.ts';
import { auditView, change, Crud, nextVersion, placeIn, type Step } from '../record-crud.ts';
import { fixedValues } from './dashboards.ts';
import { reportProblem, stoppedState } from './report-states.ts';

const crud = new Crud<Report>('report', 'report', () => reportRows, check);
const zoneOf = openTimeZones();
const lastDefault = { DAILY: 'P1D', WEEKLY: 'P7D', MONTHLY: 'P1M' } as const;

type Owner = Report['owner'];

function reportView(report: Report) {
  const { id, organizationId, workspaceId, name, dashboardId, variables, last } = report;
  const { schedule, recipients, formats, active, owner, lastSent, nextRun } = report;
  return {
    id,
    organizationId,
    workspaceId,
    name,
    dashboardId,
    variables,
    last,
    schedule,
    recipients,
    formats,
    active,
    ownerId: owner.id,
    lastSent: formatInstantOrNull(lastSent),
    nextRun: formatInstantOrNull(nextRun),
    problem: report.problem && { ...report.problem, at: formatInstant(report.problem.at) },
    ...auditView(report),
  };
}

/** Reports as callers make and read them, and the links that end a subscription. */
export class Reports {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  /** Throws 400 naming the field, 404 for an unknown workspace, and 409 for a report too many. */
  async create(owner: Owner, draft: ReportDraft) {
    const record = await crud.create(this.#records, async (step, fields) => {
      const place = await placeIn(step, draft.workspaceId);
      const made = drafted(draft);
      const nextRun = made.active ? nextOf(made.schedule, step.now()) : null;
      return { ...fields, ...place, ...made, ...fresh, owner, nextRun, nextAt: nextRun };
    });
    return reportView(record);
  }

  async read(id: string) {
    return reportView(await crud.read(this.#records, id));
  }

  async list(
    principal: Principal,
    filter: ListScope & {
      readonly search?: string | undefined;
      readonly dashboardId?: string | undefined;
      readonly active?: boolean | undefined;
    },
    page: PageRequest,
  ) {
    const reach = await listReach(this.#records, principal, filter);
    const { search, dashboardId, active } = filter;
    const wanted = { ...reach, search, dashboardId, active };
    const { rows, total } = await reportRows.list(this.#records.db, wanted, page);
    return pageOf(rows.map(reportView), total, page);
  }

  /**
   * Whoever updates it becomes its owner: else one could have sent to oneself what only the owner may
   * read. Throws as for a new one, or 409 for a stale version.
   */
  async update(owner: Owner, id: string, sent: ReportUpdate) {
    const record = await crud.update(this.#records, id, sent, (current) => {
      const { version: _, id: __, name = current.name, ...changed } = sent;
      const given = Object.fromEntries(
        Object.entries(changed).filter(([, value]) => value !== undefined && value !== null),
      );
      const made = drafted({ ...current, ...given, name });
      if (!made.active) {
        const problem = current.active ? null : current.problem;
        return { ...made, owner, nextRun: null, nextAt: null, tries: 0, problem };
      }
      const isSame =
        current.nextRun !== null &&
        JSON.stringify(made.schedule) === JSON.stringify(current.schedule);
      const nextRun = isSame ? current.nextRun : nextOf(made.schedule, this.#records.now());
      return { ...made, owner, nextRun, nextAt: nextRun, tries: 0, failedRuns: 0, problem: null };
    });
    return reportView(record);
  }

  remove(id: string): Promise<void> {
    return crud.remove(this.#records, id);
  }

  /** Throws 404 for a token that is unknown or too old. */
  async findSubscription(token: string): Promise<Subscription> {
    const { db } = this.#records;
    const { email, report } = await mailOf({ db }, token);
    const isGone = report === undefined || !report.recipients.includes(email);
    return { email, name: report?.name ?? null, isGone };
  }

  /**
   * Removes the recipient of the mail from the report; without any left, the report is switched off.
   * Throws 404 as above; a repeated call changes nothing.
   */
  unsubscribe(token: string): Promise<Subscription> {
    return change(this.#records, async (step) => {
      const { email, report } = await mailOf(step, token);
      const gone = { email, name: report?.name ?? null, isGone: true };
      if (report === undefined || !report.recipients.includes(email)) return gone;
      const recipients = report.recipients.filter((one) => one !== email);
      const now = step.now();
      const problem = reportProblem('NO_RECIPIENTS', 'All recipients have unsubscribed.', now);
      const record: Report = {
        ...report,
        recipients,
        ...(recipients.length === 0 && report.active && stoppedState(problem)),
        ...nextVersion(report, undefined, now),
      };
      await reportRows.save(step.db, record);
      step.announce({ kind: 'report', id: report.id, action: 'updated' });
      const actor = { id: report.id, name: email, requestId: null, ip: null };
      const { organizationId, workspaceId, id, name } = report;
      await auditEntry(
        step,
        { ...actor, type: 'API_KEY' },
        {
          organizationId,
          workspaceId,
          action: 'UPDATE',
          changes: [{ field: 'recipients', before: [...report.recipients], after: recipients }],
          resourceType: 'REPORT',
          resourceId: id,
          resourceName: name,
        },
      );
      return gone;
    });
  }
}

const fresh = {
  description: null,
  lastSent: null,
  tries: 0,
  lastRun: null,
  refusedMails: 0,
  failedRuns: 0,
  problem: null,
} as const;

// Drafts.

const invalid = (field: string, reason: string) =>
  problem('invalidRequest', { reason: `body ${field}: ${reason}` });

function nextOf(schedule: ReportSchedule, now: number): number | null {
  return nextRunAfter(schedule, zoneOf, now) ?? null;
}

/** Checked as far as no other record is needed. Throws 400 naming the field. */
function drafted(draft: ReportDraft) {
  const schedule = scheduleFrom(draft.schedule);
  const last = draft.last ?? lastDefault[schedule.every];
  const parsed = parseIsoDuration(last);
  if ('reason' in parsed) throw invalid('last', parsed.reason);
  const { months, days, ms } = parsed.duration;
  if (months + days + ms <= 0) throw invalid('last', 'must be longer than nothing');
  const formats = draft.formats ?? ['PDF'];
  const variables = Object.entries(draft.variables ?? {}).map(
    ([name, values]) => [name, [values].flat()] as const,
  );
  return {
    name: draft.name,
    dashboardId: draft.dashboardId,
    variables: Object.fromEntries(variables),
    last,
    schedule,
    recipients: recipientsFrom(draft.recipients),
    formats: reportFormats.filter((format) => formats.includes(format)),
    active: draft.active ?? true,
  };
}

/** In the form in which addresses are compared, each once. */
function recipientsFrom(sent: readonly string[]): readonly string[] {
  const { recipientsMax } = reportLimits;
  if (sent.length === 0) throw invalid('recipients', 'must have at least one email address');
  if (sent.length > recipientsMax)
    throw invalid('recipients', `must have at most ${recipientsMax} email addresses`);
  const addresses = sent.map((one, at) => {
    const address = emailAddressOf(one);
    if (isMailAddress(address) && !/\p{Cc}/u.test(address)) return address;
    throw invalid(`recipients.${at}`, 'must be an email address');
  });
  return [...new Set(addresses)];
}

function scheduleFrom(sent: ScheduleDraft): ReportSchedule {
  const { every, at, weekday, day } = sent;
  if (!isLocalTime(at)) throw invalid('schedule.at', 'must be a local time, HH:mm');
  const timeZone = zoneOf(sent.timeZone)?.id;
  if (timeZone === undefined)
    throw problem('unknownTimeZone', { timeZone: sent.timeZone.slice(0, 100) });
  const has = { weekday: weekday ?? undefined, day: day ?? undefined };
  const wanted = { DAILY: undefined, WEEKLY: 'weekday', MONTHLY: 'day' } as const;
  for (const name of ['weekday', 'day'] as const) {
    if (wanted[every] === name && has[name] === undefined)
      throw invalid(`schedule.${name}`, `is required with ${every}`);
    if (wanted[every] !== name && has[name] !== undefined)
      throw invalid(`schedule.${name}`, `does not go with ${every}`);
  }
  return {
    every,
    at,
    timeZone,
    ...(has.weekday !== undefined && { weekday: has.weekday }),
    ...(has.day !== undefined && { day: has.day }),
  };
}

/** Throws 400 for a dashboard or values of another workspace, and 409 for a report too many. */
async function check(step: Step, report: Report, current: Report | undefined): Promise<void> {
  const { workspaceId, dashboardId, variables, active } = report;
  const dashboard = await dashboardRows.find(step.db, dashboardId);
  const isGone = dashboard === undefined && current?.dashboardId === dashboardId;
  if (isGone && active) throw problem('reportDashboardDeleted', { name: report.name });
  if (!isGone && dashboard?.workspaceId !== workspaceId)
    throw problem('unknownReference', {
      field: 'body dashboardId',
      what: 'dashboard',
      id: dashboardId,
      place: 'workspace',
    });
  if (dashboard !== undefined && active) await fixedValues(step, dashboard, variables);
  if (current !== undefined) return;
  const { perWorkspaceMax } = reportLimits;
  if ((await reportRows.count(step.db, workspaceId)) >= perWorkspaceMax)
    throw problem('quotaReached', {
      limitName: 'reports',
      limitMax: perWorkspaceMax,
      per: 'workspace',
      what: 'reports',
    });
}

// Links to unsubscribe: a token stands for one mail, and says neither report nor recipient (RFC 8058).

/** What a link is about; `isGone` when there is nothing left to unsubscribe from. */
export interface Subscription {
  readonly email: string;
  /** Of the report; null when it is deleted. */
  readonly name: string | null;
  readonly isGone: boolean;
}

async function mailOf({ db }: { readonly db: RecordsDb }, token: string) {
  const mail = await reportRows.findMail(db, secretHash(token));
  if (mail === undefined) throw problem('linkUnknown');
  return { email: mail.email, report: await reportRows.find(db, mail.reportId) };
}
