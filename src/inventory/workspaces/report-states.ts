// States of reports: what switches one off, or leaves a problem with it (contract 39.1).
import type { EpochMs } from '../../model/instant.ts';
import { type Report, reportLimits, type ReportProblem } from '../../model/report.ts';
import type { RecordsDb } from '../../storage/records/records.ts';
import { reportRows, type ReportState } from '../../storage/records/rows/reports.ts';
import type { Step } from '../record-crud.ts';

/** Longer answers of mail servers are cut. */
const messageCharactersMax = 500;

export function reportProblem(
  reason: ReportProblem['reason'],
  message: string,
  at: EpochMs,
): ReportProblem {
  return { reason, at, message: message.slice(0, messageCharactersMax) };
}

/** Switched off until somebody saves it. */
export function stoppedState(problem: ReportProblem): Partial<ReportState> {
  return { active: false, nextRun: null, nextAt: null, tries: 0, problem };
}

/** After a run that failed: one failure too many switches the report off. */
export function failedState(
  report: Report,
  problem: ReportProblem,
  nextRun: EpochMs | null,
): Partial<ReportState> {
  const failedRuns = report.failedRuns + 1;
  if (failedRuns >= reportLimits.failedRunsMax || nextRun === null)
    return { ...stoppedState(problem), failedRuns };
  return { nextRun, nextAt: nextRun, tries: 0, failedRuns, problem };
}

/** In the transaction that deletes the dashboard. */
export async function stopReportsOf(step: Step, dashboardId: string): Promise<void> {
  const problem = reportProblem('DASHBOARD_DELETED', 'The dashboard is deleted.', step.now());
  for (const report of await reportRows.activeOf(step.db, dashboardId)) {
    await reportRows.saveState(step.db, report, stoppedState(problem));
    step.announce({ kind: 'report', id: report.id, action: 'updated' });
  }
}

/**
 * Notes that a mail of a run was refused for good. When all mails of the run were, or some of three runs
 * in a row, the report is switched off. Resolves to whether the report has changed.
 */
export async function noteRefusedMail(
  db: RecordsDb,
  refused: {
    readonly reportId: string;
    /** When the run was due; null for mails that were sent on request. */
    readonly run: EpochMs | null;
    readonly recipient: string;
    readonly reason: string;
  },
  at: EpochMs,
): Promise<boolean> {
  const report = await reportRows.find(db, refused.reportId);
  if (report === undefined || !report.active) return false;
  const message = `The mail to ${refused.recipient} was refused: ${refused.reason}`;
  const problem = reportProblem('MAIL_REFUSED', message, at);
  if (refused.run === null || refused.run !== report.lastRun)
    return reportRows.saveState(db, report, { problem });
  const refusedMails = report.refusedMails + 1;
  const failedRuns = report.failedRuns + (report.refusedMails === 0 ? 1 : 0);
  const isOver =
    refusedMails >= report.recipients.length || failedRuns >= reportLimits.failedRunsMax;
  return reportRows.saveState(db, report, {
    ...(isOver && stoppedState(problem)),
    problem,
    refusedMails,
    failedRuns,
  });
}
