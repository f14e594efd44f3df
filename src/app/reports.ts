// Connects reports: the clock that sends those that are due, and the routes.
import { storedPrincipal } from '../access/stored-principals.ts';
import type { Route } from '../http/edge/route.ts';
import { reportContent } from '../http/routes/report-content.ts';
import { reportRoutes } from '../http/routes/reports.ts';
import { mailConnectorId } from '../model/ids.ts';
import { watchClockSteps } from '../operations/clock-steps.ts';
import { createConfiguredMails } from '../outputs/connectors/mail/mail-sender.ts';
import { ReportRuns } from '../reports/report-runs.ts';
import { RuleTimers } from '../rules/rule-timers.ts';
import { randomDeliveryId } from '../storage/delivery-log/record.ts';
import { nextReportTime } from '../storage/records/rows/reports.ts';
import { setRepeatingTimer, setTimer } from '../structures/timers.ts';
import type { Once } from '../uplinks/idempotency/idempotency.ts';
import type { Deliveries } from './deliveries.ts';
import type { Documents, Queries } from './documents.ts';
import type { Parts } from './platform-parts.ts';

/** How often the node that looks after time looks for reports that others have changed. */
const sharedLookEveryMs = 1_000;

export interface Reports {
  readonly routes: readonly Route[];
  /** Removes files and links of old mails, for all nodes. */
  readonly dropOld: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export function composeReports(
  parts: Parts,
  deliveries: Deliveries,
  documents: Documents,
  queries: Queries,
  once: Once,
): Reports {
  const { config, records, telemetry, now, newId, address, sharedWork } = parts;
  const { db } = records;
  const mails = createConfiguredMails(config);
  const missingSetting = 'missingSetting' in mails ? mails.missingSetting : undefined;
  const failed = (error: unknown) => telemetry.backgroundFailed('sending reports', error);
  const runs = new ReportRuns({
    // A timer that was set during a request would act in the name of its caller.
    records: { ...records, actor: () => undefined },
    missingSetting,
    ownerOf: (owner, organizationId) => storedPrincipal(db, owner, organizationId, now()),
    render: (report, to, owner, signal) =>
      documents.slots.run(report.organizationId, signal, (ended) =>
        reportContent({ records, now, ...documents, openZone: queries.openZone }, report, to, {
          owner,
          signal: ended,
        }),
      ),
    enqueueDeliveries: deliveries.enqueueDeliveries,
    newDeliveryId: () => randomDeliveryId(mailConnectorId, newId()),
    newId,
    publicUrl: address.url,
    failed,
  });
  const holds = () => sharedWork?.holds('maintenance') ?? true;
  const timers = new RuleTimers({
    nextTime: async () => (holds() ? nextReportTime(db) : undefined),
    async runDue() {
      if (holds()) await runs.runDue();
    },
    now,
    setTimer,
    failed,
  });
  timers.changed();
  const stopWatching = watchClockSteps({
    now,
    clock: () => performance.now(),
    setRepeatingTimer,
    setBack() {
      if (holds()) runs.planAgain().then(timers.changed, failed);
    },
  });
  parts.followChanges({
    recordChanged({ kind }) {
      if (kind === 'report') timers.changed();
    },
    changesMissed: timers.changed,
  });
  const stopLooking =
    sharedWork &&
    setRepeatingTimer(() => {
      if (holds()) timers.changed();
    }, sharedLookEveryMs);
  return {
    routes: reportRoutes({ records, now, once, missingSetting, prepare: runs.prepare }),
    dropOld: () => runs.dropOld(),
    async close() {
      stopLooking?.();
      stopWatching();
      runs.close();
      await timers.close();
    },
  };
}
