// Connects documents of dashboards, and reports: the clock that sends those that are due, and the routes.
import { join } from 'node:path';
import { storedPrincipal } from '../access/authenticators.ts';
import type { Route } from '../http/edge/route.ts';
import { reportContent, reportRoutes } from '../http/routes/reports.ts';
import { mailConnectorId } from '../model/ids.ts';
import { RuleTimers, watchClockSteps } from '../operations/clock.ts';
import { createConfiguredMails } from '../outputs/connectors/mail/mail-sender.ts';
import { ReportRuns } from '../reports/report-runs.ts';
import { randomDeliveryId } from '../storage/delivery-log/record.ts';
import { reportRows } from '../storage/records/rows/reports.ts';
import { setRepeatingTimer, setTimer } from '../structures/timers.ts';
import type { Deliveries } from './deliveries.ts';
import type { Parts } from './platform-parts.ts';
import { authorize } from '../access/authorize.ts';
import { DocumentSlots } from '../dashboards/documents/document-slots.ts';
import { DocumentThread } from '../dashboards/documents/document-thread.ts';
import { wantsVendorNames } from '../http/routes/connector-view-options.ts';
import { DashboardReader } from '../http/routes/dashboard-reader.ts';
import type { DeviceAccess, Queries } from '../http/routes/device-access.ts';
import type { RecordRoutes } from '../http/routes/record-routes.ts';
import { WorkspaceCalendars } from '../inventory/workspaces/workspaces.ts';
import { openTimeZones } from '../model/time-zone.ts';
import { createDevicePlaces } from '../operations/device-places.ts';
import { Calendars } from '../query/calendars.ts';
import { openPublicHolidays } from '../query/public-holidays.ts';

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
  common: RecordRoutes,
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
        reportContent(
          { records, now, ...documents, openZone: queries.calendars.openZone },
          report,
          to,
          {
            owner,
            signal: ended,
          },
        ),
      ),
    enqueueDeliveries: deliveries.enqueueDeliveries,
    newDeliveryId: () => randomDeliveryId(mailConnectorId, newId()),
    newId,
    publicUrl: address.url,
    failed,
  });
  const holds = () => sharedWork?.holds('maintenance') ?? true;
  const timers = new RuleTimers({
    nextTime: async () => (holds() ? reportRows.nextTime(db) : undefined),
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
    routes: reportRoutes(common, missingSetting, runs.prepare),
    dropOld: () => runs.dropOld(),
    async close() {
      stopLooking?.();
      stopWatching();
      runs.close();
      await timers.close();
    },
  };
}

// Connects documents of dashboards: what reads their data, and the thread that draws them.

export function deviceAccess({ config, directory, records }: Parts): DeviceAccess {
  const aliased = wantsVendorNames(config.vendorAliases);
  return { ...createDevicePlaces(directory, records), authorize, aliased };
}

/** The calendars of all workspaces, for queries, rules and calculations. */
export function composeCalendars({ records, followChanges }: Parts): Calendars {
  const workspaces = new WorkspaceCalendars(records.db);
  followChanges(workspaces);
  return new Calendars(workspaces.calendarOf, openTimeZones(), openPublicHolidays());
}

/** What the routes of queries share with documents. */
export function composeQueries(parts: Parts, calendars: Calendars): Queries {
  const { store, now, records, directory } = parts;
  const typeOfDevice = async (id: string) => (await directory.byDevice(id)).type;
  const shared = { records, store, now, calendars, typeOfDevice };
  return { ...deviceAccess(parts), ...shared };
}

export interface Documents {
  readonly reader: DashboardReader;
  readonly slots: DocumentSlots;
  readonly thread: DocumentThread;
  readonly close: () => Promise<void>;
}

export function composeDocuments({ config }: Parts, queries: Queries): Documents {
  const thread = new DocumentThread(join(config.dataDirectory, 'fonts'));
  return {
    reader: new DashboardReader(queries),
    slots: new DocumentSlots(),
    thread,
    close: thread.close,
  };
}
