// Report runs: reports that are due, and those that are sent on request; of each organization one after the other (contract 39.1).
import { randomBytes } from 'node:crypto';
import { setImmediate as pause } from 'node:timers/promises';
import {
  failedState,
  noteRefusedMail,
  reportProblem,
  stoppedState,
} from '../inventory/workspaces/report-states.ts';
import { change, type Step } from '../inventory/record-crud.ts';
import { type DeliveryDraft, mailDelivery } from '../model/delivery.ts';
import { dayMs, type EpochMs, formatInstant } from '../model/instant.ts';
import { holds, type Principal, principalIn } from '../model/principal.ts';
import { problem, Problem } from '../model/problem.ts';
import {
  lastRunIn,
  nextRunAfter,
  type Report,
  reportLimits,
  type ReportProblem,
} from '../model/report.ts';
import { openTimeZones } from '../model/time-zone.ts';
import { type Records, transaction, type TransactionStep } from '../storage/records/records.ts';
import { reportRows, type ReportState } from '../storage/records/rows/reports.ts';
import { secretHash } from '../storage/records/secret-encryption.ts';
import { type ReportContent, reportMail, type ReportMail } from './report-mail.ts';
import type { TriedDelivery } from '../outputs/deliveries/attempts/waiting-delivery.ts';
import { hasFormOfId, mailConnectorId } from '../model/ids.ts';
import { createSerialQueue } from '../structures/work-queues.ts';

const zoneOf = openTimeZones();
/** Organizations that have their turn before it is asked again what is due. */
const turnsMax = 50;
/** Each of another organization. One of them may take as long as a document is given. */
const runsAtOnce = 2;
const rowsPerStep = 500;
const tokenBytes = 32;

export class ReportRuns {
  readonly #parts;
  readonly #closing = new AbortController();

  constructor(parts: {
    readonly records: Records;
    /** The setting without which no mail can be sent; undefined when all are there. */
    readonly missingSetting: string | undefined;
    /** Undefined for an owner that is removed. */
    readonly ownerOf: (
      owner: Report['owner'],
      organizationId: string,
    ) => Promise<Principal | undefined>;
    /** Throws Problem 404 without the dashboard, 429 and 503 when it cannot be read now. */
    readonly render: (
      report: Report,
      to: EpochMs,
      owner: Principal,
      signal: AbortSignal,
    ) => Promise<ReportContent>;
    readonly enqueueDeliveries: (
      drafts: readonly DeliveryDraft[],
      step: TransactionStep,
    ) => Promise<unknown>;
    readonly newDeliveryId: () => string;
    readonly newId: () => string;
    /** Address of the installation. */
    readonly publicUrl: () => string;
    readonly failed: (error: unknown) => void;
  }) {
    this.#parts = parts;
  }

  /** Ends the run in progress, which is repeated after the next start. */
  readonly close = (): void => this.#closing.abort(new Error('The platform stops'));

  /**
   * Runs what is due: of each organization one report, then of each the next one. Two run at once, so
   * that a report that takes long does not hold all others.
   */
  async runDue(): Promise<void> {
    const { records } = this.#parts;
    for (;;) {
      const due = await reportRows.due(records.db, records.now(), turnsMax);
      if (due.length === 0) return;
      const turns = due.values();
      await Promise.all(Array.from({ length: runsAtOnce }, () => this.#runEach(turns)));
      if (this.#closing.signal.aborted) return;
      await pause();
    }
  }

  /** Those that no other has taken yet. */
  async #runEach(turns: Iterable<Report>): Promise<void> {
    for (const report of turns) {
      if (this.#closing.signal.aborted) return;
      await this.#run(report);
    }
  }

  /** After the clock was set back: the next runs are those behind the present time, and none is repeated. */
  async planAgain(): Promise<void> {
    const { records } = this.#parts;
    let after = '';
    for (;;) {
      const some = await reportRows.activeAfter(records.db, after, rowsPerStep);
      await transaction(records.db, async ({ db }) => {
        const now = records.now();
        for (const report of some) {
          const next = nextRunAfter(report.schedule, zoneOf, now);
          const run =
            next !== undefined && next === report.lastRun
              ? nextRunAfter(report.schedule, zoneOf, next)
              : next;
          await reportRows.saveState(db, report, { nextRun: run ?? null, nextAt: run ?? null });
        }
      });
      after = some.at(-1)?.id ?? '';
      if (some.length < rowsPerStep) return;
      await pause();
    }
  }

  /** Removes the files of mails that are not sent again, and links that nobody uses any longer. */
  async dropOld(): Promise<void> {
    const { db, now } = this.#parts.records;
    const { contentKeptMs, unsubscribeMs } = reportLimits;
    const some = 100;
    while ((await reportRows.removeFilesBefore(db, now() - contentKeptMs, some)) === some)
      await pause();
    while (
      (await reportRows.removeMailsBefore(db, now() - unsubscribeMs, rowsPerStep)) === rowsPerStep
    )
      await pause();
  }

  /**
   * What a request sends: rendered now, and queued by the returned function in a transaction of the
   * caller, which returns the ids of the deliveries. Throws Problem 409 and 429.
   */
  readonly prepare = async (
    id: string,
    signal: AbortSignal,
  ): Promise<(step: Step) => Promise<readonly string[]>> => {
    const { records, missingSetting } = this.#parts;
    if (missingSetting !== undefined) throw problem('reportsNeedMail', { setting: missingSetting });
    const report = await reportRows.find(records.db, id);
    if (report === undefined) throw problem('notFound', { what: 'report', id });
    const used = await this.#tooManyUsed(report);
    if (used !== undefined) {
      const max = reportLimits.mailsADayMax;
      throw problem('reportMailsUsed', { max, used, retryAfterSeconds: 3_600 });
    }
    const owner = await this.#ownerOf(report);
    if (owner === undefined) throw problem('reportOwnerRemoved', { name: report.name });
    const to = records.now();
    const content = await this.#render(report, to, owner, signal);
    if (content === undefined) throw problem('reportDashboardDeleted', { name: report.name });
    const mail = reportMail(report, content, this.#linkTo(report), undefined);
    return async (step) => {
      const current = await reportRows.find(step.db, id);
      if (current === undefined) throw problem('notFound', { what: 'report', id });
      const deliveryIds = await this.#queue(step, current, mail, undefined);
      await reportRows.saveState(step.db, current, { lastSent: step.now() });
      step.announce({ kind: 'report', id, action: 'updated' });
      return deliveryIds;
    };
  };

  async #run(report: Report): Promise<void> {
    const { records } = this.#parts;
    const now = records.now();
    const due = report.nextRun ?? now;
    const run = lastRunIn(report.schedule, zoneOf, due, now) ?? due;
    const next = nextRunAfter(report.schedule, zoneOf, now) ?? null;
    const missed =
      run !== due || now - run > reportLimits.lateMsMax
        ? reportProblem('MISSED', missedText(due, run, now), now)
        : null;
    if (now - run > reportLimits.lateMsMax) {
      await this.#save(report, { nextRun: next, nextAt: next, tries: 0, problem: missed });
      return;
    }
    try {
      await this.#send(report, run, next, missed);
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      await this.#fail(report, next, error);
    }
  }

  /** Queues the mails of a run and plans the next one, in one transaction: a run is sent once. */
  async #send(
    report: Report,
    run: EpochMs,
    next: EpochMs | null,
    missed: ReportProblem | null,
  ): Promise<void> {
    const { records, missingSetting } = this.#parts;
    const now = records.now();
    const skip = (reason: ReportProblem['reason'], message: string) =>
      this.#save(report, {
        nextRun: next,
        nextAt: next,
        tries: 0,
        problem: reportProblem(reason, message, now),
      });
    const stop = (reason: ReportProblem['reason'], message: string) =>
      this.#save(report, stoppedState(reportProblem(reason, message, now)));
    if (missingSetting !== undefined)
      return skip('MAIL_NOT_CONFIGURED', `The operator must set ${missingSetting}.`);
    if ((await this.#tooManyUsed(report)) !== undefined) return skip('MAILS_USED', tooManyText);
    const owner = await this.#ownerOf(report);
    if (owner === undefined)
      return stop(
        'OWNER_REMOVED',
        'The owner is removed, or can no longer read the dashboard. Save the report to become its owner.',
      );
    const content = await this.#render(report, run, owner, this.#closing.signal);
    if (content === undefined) return stop('DASHBOARD_DELETED', 'The dashboard is deleted.');
    const mail = reportMail(report, content, this.#linkTo(report), missed?.message);
    await change(records, async (step) => {
      // Changed, or sent by another node, since it was read: it is looked at again if it is still due.
      const isSame = await reportRows.saveState(step.db, report, {
        lastSent: step.now(),
        lastRun: run,
        nextRun: next,
        nextAt: next,
        tries: 0,
        refusedMails: 0,
        // A run without a refused mail ends the row of failures.
        ...(report.refusedMails === 0 && { failedRuns: 0 }),
        problem: missed,
      });
      if (!isSame) return;
      await this.#queue(step, report, mail, run);
      step.announce({ kind: 'report', id: report.id, action: 'updated' });
    });
  }

  /** What cannot be read at the moment is tried again; else the run has failed. */
  async #fail(report: Report, next: EpochMs | null, error: unknown): Promise<void> {
    const { records, failed } = this.#parts;
    if (!(error instanceof Problem)) failed(error);
    const passes = !(error instanceof Problem) || error.status === 429 || error.status === 503;
    const { retryAfterMs, triesMax } = reportLimits;
    if (passes && report.tries + 1 < triesMax) {
      await this.#save(report, { tries: report.tries + 1, nextAt: records.now() + retryAfterMs });
      return;
    }
    const message = error instanceof Problem ? error.message : 'An internal error occurred.';
    const failure = reportProblem('NOT_RENDERED', message, records.now());
    await this.#save(report, failedState(report, failure, next));
  }

  async #save(report: Report, state: Partial<ReportState>): Promise<void> {
    await change(this.#parts.records, async (step) => {
      if (await reportRows.saveState(step.db, report, state))
        step.announce({ kind: 'report', id: report.id, action: 'updated' });
    });
  }

  /** Undefined for an owner that is removed or may not read the dashboard and its data. */
  async #ownerOf({ owner, organizationId, workspaceId }: Report): Promise<Principal | undefined> {
    const found = await this.#parts.ownerOf(owner, organizationId);
    if (found === undefined) return undefined;
    const { workspaces } = found;
    const reaches = workspaces === 'all' || workspaces.has(workspaceId);
    const reads = (['dashboard', 'asset'] as const).every((scope) =>
      holds(found, scope, 'read', workspaceId),
    );
    return reaches && reads ? principalIn(found, organizationId) : undefined;
  }

  /** Undefined without the dashboard. */
  async #render(
    report: Report,
    to: EpochMs,
    owner: Principal,
    signal: AbortSignal,
  ): Promise<ReportContent | undefined> {
    try {
      return await this.#parts.render(report, to, owner, signal);
    } catch (error) {
      const isGone =
        error instanceof Problem &&
        error.status === 404 &&
        error.details['id'] === report.dashboardId;
      if (isGone) return undefined;
      throw error;
    }
  }

  #linkTo({ workspaceId, dashboardId }: Report): string {
    return `${this.#parts.publicUrl()}/w/${workspaceId}/dashboards/${dashboardId}`;
  }

  /** Mails of the organization in 24 hours, if those of the report would be too many. */
  async #tooManyUsed({ organizationId, recipients }: Report): Promise<number | undefined> {
    const { db, now } = this.#parts.records;
    const used = await reportRows.countMails(db, organizationId, now() - dayMs);
    return used + recipients.length > reportLimits.mailsADayMax ? used : undefined;
  }

  /** A mail for each recipient, with a link of its own to unsubscribe. */
  async #queue(
    step: Step,
    report: Report,
    { subject, text, files }: ReportMail,
    run: EpochMs | undefined,
  ): Promise<readonly string[]> {
    const { newId, newDeliveryId, publicUrl, enqueueDeliveries } = this.#parts;
    const { id, organizationId, workspaceId, recipients } = report;
    const created = step.now();
    const contentId = newId();
    await reportRows.insertFiles(step.db, { contentId, organizationId, created }, files);
    const mails = recipients.map((email) => ({
      email,
      token: randomBytes(tokenBytes).toString('base64url'),
      deliveryId: newDeliveryId(),
    }));
    await reportRows.insertMails(
      step.db,
      mails.map(({ email, token }) => ({
        tokenHash: secretHash(token),
        organizationId,
        reportId: id,
        email,
        created,
      })),
    );
    const drafts = mails.map(({ email, token, deliveryId }) => {
      const unsubscribe = `${publicUrl()}/v3/reports/unsubscribe/${token}`;
      return mailDelivery(
        { to: [email], subject, text, contentId, unsubscribe },
        {
          id: deliveryId,
          idempotencyKey: `report:${id}:${run ?? contentId}:${email}`,
          organizationId,
          workspaceId,
          deviceId: id,
          correlationId: contentId,
          cause: 'REPORT',
          // Its outcome counts for the run of this time.
          context: run === undefined ? {} : { timestamp: formatInstant(run) },
        },
      );
    });
    await enqueueDeliveries(drafts, step);
    return mails.map(({ deliveryId }) => deliveryId);
  }
}

const tooManyText = `The organization has used its ${reportLimits.mailsADayMax} mails of reports in 24 hours. The run was skipped.`;

function missedText(due: EpochMs, run: EpochMs, now: EpochMs): string {
  if (now - run > reportLimits.lateMsMax)
    return `The run of ${formatInstant(run)} was skipped, because it was more than 12 hours late.`;
  return `Runs from ${formatInstant(due)} on were missed. This one was due at ${formatInstant(run)}.`;
}

// Report outcomes: mails of reports that a mail server refused for good (contract 39.1).

export class ReportOutcomes {
  readonly #records: Records;
  readonly #failed: (error: unknown) => void;
  /** One after the other: several mails of a report are refused in one moment. */
  readonly #turns = createSerialQueue();

  constructor(parts: { readonly records: Records; readonly failed: (error: unknown) => void }) {
    this.#records = parts.records;
    this.#failed = parts.failed;
  }

  /** Call for every attempt of a delivery. */
  tried({ delivery, outcome }: TriedDelivery): void {
    const { connectorId, deviceId: reportId, context } = delivery;
    if (connectorId !== mailConnectorId || outcome.state !== 'DEAD') return;
    if (!hasFormOfId('report', reportId)) return;
    const run = context.timestamp === undefined ? null : Date.parse(context.timestamp);
    const recipient = context.mail?.to.join(', ') ?? '';
    const refused = { reportId, run, recipient, reason: outcome.reason ?? 'without a reason' };
    this.#turns.run(() => this.#note(refused)).catch(this.#failed);
  }

  /** Resolves when all outcomes so far are in the records. */
  readonly close = (): Promise<void> => this.#turns.idle();

  async #note(refused: Parameters<typeof noteRefusedMail>[1]): Promise<void> {
    await change(this.#records, async (step) => {
      if (await noteRefusedMail(step.db, refused, step.now()))
        step.announce({ kind: 'report', id: refused.reportId, action: 'updated' });
    });
  }
}
