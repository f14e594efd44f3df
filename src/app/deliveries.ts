// Connects delivery: output connectors, the delivery log and the outputs of data flows.
import { join } from 'node:path';
import { setImmediate as pause } from 'node:timers/promises';
import { DeliveryCounts, recordOutcome } from '../outputs/deliveries/delivery-outcomes.ts';
import {
  type WaitingDelivery,
  type TriedDelivery,
  loadDelivery,
} from '../outputs/deliveries/attempts/waiting-delivery.ts';
import { OpenTargets, TargetCache } from '../outputs/deliveries/attempts/open-targets.ts';
import { previewTemplate, testConnector } from '../outputs/deliveries/connector-test.ts';
import { DeliveryHandover } from '../outputs/deliveries/delivery-handoff.ts';
import {
  DeliveryIntake,
  DeliveryUpkeep,
  recoverDeliveries,
} from '../outputs/deliveries/delivery-intake.ts';
import { LoggedDeliveries } from '../outputs/deliveries/delivery-queries.ts';
import { queueOutputs, rowsForOutputs } from '../outputs/deliveries/outputs.ts';
import type { Route } from '../http/edge/route.ts';
import { deliveryRoutes, templatePreviewRoute } from '../http/routes/deliveries.ts';
import type { RecordRoutes } from '../http/routes/record-routes.ts';
import type { InvitationMail } from '../inventory/members/invitations.ts';
import type { DurableEntry, DurableRows } from '../model/journal-entry.ts';
import { problem } from '../model/problem.ts';
import { ChangeFollower } from '../model/record.ts';
import {
  type AvailableOutputs,
  createAvailableOutputs,
} from '../outputs/connectors/available-outputs.ts';
import type { ConnectorServices, OrderDownlink } from '../outputs/connectors/connector-services.ts';
import { createConfiguredMails, type MailSender } from '../outputs/connectors/mail/mail-sender.ts';
import type { EgressGuard } from '../outputs/egress/guard.ts';
import { RuleBudget, storeWrittenSample } from '../uplinks/written-sample.ts';
import { DeliveryLog } from '../storage/delivery-log/delivery-log.ts';
import { outputConnectorRows } from '../storage/records/rows/data-flows.ts';
import { onTheirWayRows } from '../storage/records/rows/deliveries.ts';
import { deliveryLogMark, followerPositionRows } from '../storage/records/rows/positions.ts';
import { reportRows } from '../storage/records/rows/reports.ts';
import { closeInOrder } from '../structures/closers.ts';
import { setRepeatingTimer, setTimer } from '../structures/timers.ts';
import type { JournalFollower } from '../uplinks/followers/journal-consumer.ts';
import { composeDeliverer, type KeptDeliveries, outputStagesOf } from './deliverer.ts';
import type { Parts } from './platform-parts.ts';
import type { Uplinks } from './uplinks.ts';

export interface Deliveries extends KeptDeliveries {
  readonly availableOutputs: AvailableOutputs;
  /**
   * Sends one mail. Undefined without a mail server. A failure is logged, and the inviter has the
   * link.
   */
  readonly sendInvitation: ((mail: InvitationMail) => void) | undefined;
  readonly routes: readonly Route[];
}

/** Starts the delivery of what waits. */
export async function composeDeliveries(
  parts: Parts,
  uplinks: Uplinks,
  egress: EgressGuard,
  orderDownlink: OrderDownlink,
  common: RecordRoutes,
): Promise<Deliveries> {
  const { config, records, directory, now, newId, store } = parts;
  const services = connectorServices(parts, uplinks, egress, orderDownlink);
  const mails = 'missingSetting' in services.mails ? undefined : services.mails;
  const vendorNames = config.vendorAliases !== 'off';
  const findConnector = (id: string) =>
    outputConnectorRows.find({ ...records, db: records.committed }, id);
  const targets = new OpenTargets(new TargetCache(services, findConnector, vendorNames));
  parts.followChanges({
    recordChanged({ kind, id }) {
      if (kind === 'outputConnector') targets.forget(id);
    },
    changesMissed: targets.discardAll,
  });
  const kept = await keptDeliveries(parts, targets);
  const findRoute = (id: string) => directory.byDevice(id);
  const previews = { db: records.db, store, findRoute, now, newId, targets };
  return {
    sendInvitation: mails && invitationsBy(mails, parts),
    availableOutputs: createAvailableOutputs(services),
    routes: [
      ...deliveryRoutes(
        common,
        kept.book,
        vendorNames,
        (connectorId, deviceId, principal, signal) =>
          testConnector({ connectorId, deviceId, signal }, principal, previews),
      ),
      templatePreviewRoute(common, (request, principal) =>
        previewTemplate(request, principal, previews),
      ),
    ],
    book: kept.book,
    enqueueDeliveries: kept.enqueueDeliveries,
    settled: kept.settled,
    dropDevices: kept.dropDevices,
    waitingOf: kept.waitingOf,
    counted: kept.counted,
    runMaintenance: kept.runMaintenance,
    dropOld: kept.dropOld,
    close: () => closeInOrder(kept.close, targets.close, () => mails?.close()),
  };
}

/** Deliveries of several nodes are rows of the records; those of the only process are in its log. */
async function keptDeliveries(parts: Parts, targets: OpenTargets): Promise<KeptDeliveries> {
  const { sharedWork } = parts;
  if (sharedWork === undefined) return loggedDeliveries(parts, targets);
  const { composeSharedDeliveries } = await import('./shared-work.ts');
  return composeSharedDeliveries(parts, targets, sharedWork);
}

async function loggedDeliveries(parts: Parts, targets: OpenTargets): Promise<KeptDeliveries> {
  const { now } = parts;
  const waiting = await composeWaiting(parts, targets);
  const { log, deliverer, counts, intake, handover, upkeep, isKnown } = waiting;
  parts.followChanges(
    new ChangeFollower(({ kind, id, action }) => {
      if (kind === 'outputConnector' && action === 'deleted') upkeep.forgetConnector(id);
    }),
  );
  const outputs = composeOutputs(parts, intake);
  return {
    book: new LoggedDeliveries({ log, deliverer, intake, isKnown, pause, now }),
    enqueueDeliveries: handover.enqueue,
    async settled() {
      await outputs.settled();
      await handover.move();
      await deliverer.settled();
    },
    dropDevices: upkeep.dropDevices,
    waitingOf: async (connectorIds) =>
      new Map(
        connectorIds.map((id) => [
          id,
          { waiting: deliverer.waitingOf(id), nextRetry: deliverer.nextRetryOf(id) },
        ]),
      ),
    counted: counts.settled,
    runMaintenance: upkeep.compact,
    dropOld: async () => undefined,
    close: () =>
      closeInOrder(
        ...[
          outputs.close,
          handover.close,
          deliverer.close,
          upkeep.close,
          counts.close,
          () => log.close(),
        ],
      ),
  };
}

/** Everything about deliveries that wait, with what the last process left. */
async function composeWaiting(parts: Parts, targets: OpenTargets) {
  const { config, records, telemetry, log: journal, diskIsFull, now, newId } = parts;
  const failed = (error: unknown) => telemetry.backgroundFailed('keeping the delivery log', error);
  const { db } = records;
  const expected = (await followerPositionRows.find(db, deliveryLogMark)) !== undefined;
  const log = await DeliveryLog.open({
    expected,
    directory: join(config.dataDirectory, 'deliveries'),
    now,
    setTimer,
    checkRoom() {
      if (diskIsFull()) throw problem('storageFull');
    },
    damaged: (damage) => telemetry.damageFound({ what: 'deliveries', ...damage }),
    failed,
  });
  if (!expected && log.isNoted) await followerPositionRows.save(db, deliveryLogMark, 0);
  telemetry.gauge('delivery_log_bytes', 'Bytes of the delivery log on disk.', () => log.bytes);
  const existing = (ids: readonly string[]) => outputConnectorRows.existing(records.db, ids);
  const from = journal.followerPosition('outputs') ?? journal.position;
  const recovered = await recoverDeliveries(log, { from, existing });
  const counts = new DeliveryCounts({ db, setRepeatingTimer, failed });
  const recorded = (tried: TriedDelivery) => {
    intake.release(tried.waiting);
    counts.tried(tried);
    parts.liveEvents.delivered(tried);
    parts.reportOutcomes.tried(tried);
  };
  const kept = {
    load: (waiting: WaitingDelivery) => loadDelivery(waiting, log),
    record: (tried: TriedDelivery) => recordOutcome(tried, { log, telemetry, recorded }),
    isBlocked: () => log.isBehind,
  };
  const deliverer = composeDeliverer(parts, targets, kept, counts);
  const { known } = recovered;
  const knownTo = journal.position;
  const intake = new DeliveryIntake({ log, deliverer, now, from, known, knownTo });
  deliverer.add(recovered.waiting);
  const handover = new DeliveryHandover({
    left: await onTheirWayRows.count(db),
    records,
    log,
    deliverer,
    from,
    newId,
    now,
    failed,
    setTimer,
    newestWaiting: recovered.waiting.at(-1)?.sequence,
    position: () => journal.position,
  });
  const upkeep = new DeliveryUpkeep({
    journal,
    log,
    deliverer,
    intake,
    existing,
    setRepeatingTimer,
    failed,
    follower: 'outputs',
  });
  const isKnown = async (id: string) => (await existing([id])).has(id);
  return { log, deliverer, counts, intake, handover, upkeep, isKnown };
}

function connectorServices(
  { config, records, directory, now, newId }: Parts,
  { appendEntry, admit }: Uplinks,
  egress: EgressGuard,
  orderDownlink: OrderDownlink,
): ConnectorServices {
  const { smsGatewayUrl, gcpServiceAccountKey, quotas } = config;
  const budget = new RuleBudget(quotas.ruleSamples);
  const findRoute = (id: string) => directory.byDevice(id);
  const stages = { findRoute, budget, admit, appendEntry, newId, now };
  return {
    egress,
    now,
    mails: createConfiguredMails(config),
    mailContent: (contentId) => reportRows.filesOf(records.db, contentId),
    smsGatewayUrl,
    gcpServiceAccountKey,
    writeSample: (sample) => storeWrittenSample(sample, stages),
    orderDownlink,
  };
}

function composeOutputs(parts: Parts, intake: DeliveryIntake): JournalFollower {
  const { directory, followers, telemetry } = parts;
  const stages = outputStagesOf(parts, intake.add);
  const handle = async (entries: readonly DurableEntry[]) => {
    await queueOutputs(entries, stages);
    intake.followed((entries.at(-1)?.position ?? -1) + 1);
  };
  const keepRows = (rows: DurableRows) => rowsForOutputs(rows, directory.cachedFlowOutputs);
  const failed = (error: unknown) => telemetry.backgroundFailed('queueing outputs', error);
  return followers.start('outputs', { handle, keepRows, failed });
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
