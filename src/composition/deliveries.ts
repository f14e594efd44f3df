// Connects delivery: output connectors, the delivery log and the outputs of data flows.
import { setImmediate as pause } from 'node:timers/promises';
import type { Parts } from './platform-parts.ts';
import type { Uplinks } from './uplinks.ts';
import { type AvailableOutputs, createAvailableOutputs } from '../connectors/available-outputs.ts';
import type { ConnectorServices } from '../connectors/connector-services.ts';
import type { OrderDownlink } from '../connectors/downlink/downlink-order.ts';
import { createConfiguredMails, type MailSender } from '../connectors/mail/mail-sender.ts';
import { createDeliverer, type Deliverer } from '../deliveries/delivery-worker.ts';
import { createOpenTargets, type OpenTargets } from '../deliveries/open-targets.ts';
import type { EgressGuard } from '../egress/guard.ts';
import { testConnector } from '../flows/connector-test.ts';
import { createDeliveryIntake } from '../flows/delivery-intake.ts';
import { saveOutcomes } from '../flows/delivery-outcomes.ts';
import type { JournalFollower } from '../flows/journal-follower.ts';
import { dropOutdatedDeliveries } from '../flows/outdated-deliveries.ts';
import { noteUnreadable } from '../flows/output-notes.ts';
import { type OutputStages, queueOutputs } from '../flows/outputs.ts';
import { createRuleBudget } from '../flows/rule-budget.ts';
import { previewTemplate } from '../flows/template-preview.ts';
import { storeWrittenSample } from '../flows/written-sample.ts';
import { deliveryRoutes } from '../http/routes/deliveries.ts';
import { templatePreviewRoute } from '../http/routes/template-preview.ts';
import type { Route } from '../http/edge/route.ts';
import type { InvitationMail } from '../inventory/members/invitations.ts';
import type { DeliveryDraft } from '../model/delivery.ts';
import type { DurableEntry } from '../model/journal-entry.ts';
import type { RecordsDb } from '../records/records.ts';
import { findDelivery, findPendingDeliveries, findRenewed } from '../records/rows/deliveries.ts';
import { findOutputConnector } from '../records/rows/output-connectors.ts';
import { closeInOrder } from '../structures/closers.ts';
import { setTimer } from '../structures/timers.ts';

export interface Deliveries {
  readonly availableOutputs: AvailableOutputs;
  /**
   * Sends one mail. Undefined without a mail server. A failure is logged, and the inviter has the
   * link.
   */
  readonly sendInvitation: ((mail: InvitationMail) => void) | undefined;
  readonly routes: readonly Route[];
  /**
   * Resolves when the deliveries are in the log. Those with a known key are ignored. `step` is the
   * transaction of the caller: the deliveries are committed or rolled back with it.
   */
  readonly enqueueDeliveries: (drafts: readonly DeliveryDraft[], step?: RecordsDb) => Promise<void>;
  /**
   * Resolves when all durable samples have their deliveries, and those that are due were attempted.
   */
  readonly settled: () => Promise<void>;
  readonly runMaintenance: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Starts the delivery of what waits in the log. */
export function composeDeliveries(
  parts: Parts,
  uplinks: Uplinks,
  egress: EgressGuard,
  orderDownlink: OrderDownlink,
): Deliveries {
  const { config, records, directory, now, newId, store } = parts;
  const services = connectorServices(parts, uplinks, egress, orderDownlink);
  const mails = 'missingSetting' in services.mails ? undefined : services.mails;
  const vendorNames = config.vendorAliases !== 'off';
  const targets = createOpenTargets({
    services,
    findConnector: (id) => findOutputConnector({ ...records, db: records.committed }, id),
    vendorNames,
  });
  parts.followChanges(({ kind, id }) => {
    if (kind === 'outputConnector') targets.forget(id);
  });
  const deliverer = composeDeliverer(parts, targets);
  const enqueue = createDeliveryIntake({ records, deliverer, newId, now });
  const outputs = composeOutputs(parts, enqueue);
  const recordParts = { records, now, once: uplinks.once };
  const findRoute = (id: string) => directory.byDevice(id);
  const previews = { db: records.db, store, findRoute, now, newId, targets };
  return {
    sendInvitation: mails && invitationsBy(mails, parts),
    availableOutputs: createAvailableOutputs(services),
    routes: [
      ...deliveryRoutes({
        ...recordParts,
        renewed: async (sequences) =>
          deliverer.renew(await findRenewed(records.committed, sequences)),
        vendorNames,
        testConnector: (connectorId, deviceId, principal, signal) =>
          testConnector({ connectorId, deviceId, signal }, principal, previews),
      }),
      templatePreviewRoute({
        ...recordParts,
        preview: (request, principal) => previewTemplate(request, principal, previews),
      }),
    ],
    enqueueDeliveries: (drafts, step) => enqueue(drafts, step ?? 'durable'),
    async settled() {
      await outputs.settled();
      await deliverer.settled();
    },
    runMaintenance: () => dropOutdatedDeliveries(records.db, now(), pause),
    close: () => closeInOrder(outputs.close, deliverer.close, targets.close, () => mails?.close()),
  };
}

function connectorServices(
  { config, directory, now, newId }: Parts,
  { appendEntry, admit }: Uplinks,
  egress: EgressGuard,
  orderDownlink: OrderDownlink,
): ConnectorServices {
  const { smsGatewayUrl, gcpServiceAccountKey, quotas } = config;
  const budget = createRuleBudget(quotas.ruleSamples);
  const findRoute = (id: string) => directory.byDevice(id);
  const stages = { findRoute, budget, admit, appendEntry, newId, now };
  return {
    egress,
    now,
    mails: createConfiguredMails(config),
    smsGatewayUrl,
    gcpServiceAccountKey,
    writeSample: (sample) => storeWrittenSample(sample, stages),
    orderDownlink,
  };
}

function composeDeliverer(
  { records, telemetry, now, newId }: Parts,
  { send }: Pick<OpenTargets, 'send'>,
): Deliverer {
  const { db, committed } = records;
  const deliverer = createDeliverer({
    findPending: (after, max) => findPendingDeliveries(db, after, max),
    load: (sequence) => findDelivery(committed, { sequence }),
    send,
    save: (tried) => saveOutcomes(tried, { db, telemetry, newId }),
    failed: (error) => telemetry.backgroundFailed('delivering', error),
    targetChanged: telemetry.targetChanged,
    now,
    random: Math.random,
    setTimer,
  });
  telemetry.gauge(
    'deliveries_waiting',
    'Deliveries that wait or are under way.',
    () => deliverer.waiting,
  );
  telemetry.gauge(
    'delivery_targets_broken',
    'Output connectors whose target keeps failing.',
    () => deliverer.brokenTargets,
  );
  return deliverer;
}

function composeOutputs(
  { records, directory, followers, telemetry, now }: Parts,
  enqueue: ReturnType<typeof createDeliveryIntake>,
): JournalFollower {
  const failed = (error: unknown) => telemetry.backgroundFailed('queueing outputs', error);
  const stages: OutputStages = {
    findRoute: (id) => directory.byDevice(id),
    enqueue: (drafts, isLast) => enqueue(drafts, isLast ? 'durable' : 'lazy'),
    unreadable: (notes) => noteUnreadable(notes, { db: records.db, telemetry }),
    failed,
    pause,
    now,
  };
  const handle = (entries: readonly DurableEntry[]) => queueOutputs(entries, stages);
  return followers.start('outputs', { handle, failed });
}

function invitationsBy(
  mails: MailSender,
  { telemetry, newId }: Parts,
): (mail: InvitationMail) => void {
  return ({ to, subject, text }) => {
    mails
      .send({ id: newId(), to: [to], subject, text })
      .catch((error: unknown) => telemetry.backgroundFailed('mailing an invitation', error));
  };
}
