// Connects delivery: output connectors, the delivery log and the outputs of data flows.
import { join } from 'node:path';
import { setImmediate as pause } from 'node:timers/promises';
import { withoutMemory } from '../model/record.ts';
import type { Parts } from './platform-parts.ts';
import type { Uplinks } from './uplinks.ts';
import { type AvailableOutputs, createAvailableOutputs } from '../connectors/available-outputs.ts';
import type { ConnectorServices } from '../connectors/connector-services.ts';
import type { OrderDownlink } from '../connectors/downlink/downlink-order.ts';
import { createConfiguredMails, type MailSender } from '../connectors/mail/mail-sender.ts';
import { type DeliveryLog, openDeliveryLog } from '../delivery-log/delivery-log.ts';
import { loadDelivery } from '../deliveries/delivery-records.ts';
import {
  createDeliverer,
  type Deliverer,
  type TriedDelivery,
} from '../deliveries/delivery-worker.ts';
import { createOpenTargets, type OpenTargets } from '../deliveries/open-targets.ts';
import type { EgressGuard } from '../egress/guard.ts';
import { testConnector } from '../flows/connector-test.ts';
import { createDeliveryBook } from '../flows/delivery-book.ts';
import { createDeliveryCounts } from '../flows/delivery-counts.ts';
import { createDeliveryHandover } from '../flows/delivery-handover.ts';
import { createDeliveryIntake, type DeliveryIntake } from '../flows/delivery-intake.ts';
import { recordOutcome, saveFailureNotes } from '../flows/delivery-outcomes.ts';
import type { JournalFollower } from '../flows/journal-follower.ts';
import { recoverDeliveries } from '../flows/delivery-recovery.ts';
import { createDeliveryUpkeep } from '../flows/delivery-upkeep.ts';
import { noteUnreadable } from '../flows/output-notes.ts';
import { type OutputStages, queueOutputs, rowsForOutputs } from '../flows/outputs.ts';
import { createRuleBudget } from '../flows/rule-budget.ts';
import { previewTemplate } from '../flows/template-preview.ts';
import { storeWrittenSample } from '../flows/written-sample.ts';
import { deliveryRoutes } from '../http/routes/deliveries.ts';
import { templatePreviewRoute } from '../http/routes/template-preview.ts';
import type { Route } from '../http/edge/route.ts';
import type { InvitationMail } from '../inventory/members/invitations.ts';
import type { DeliveryDraft } from '../model/delivery.ts';
import type { EpochMs } from '../model/instant.ts';
import type { DurableEntry, DurableRows } from '../model/journal-entry.ts';
import { problem } from '../model/problem.ts';
import type { TransactionStep } from '../records/transaction.ts';
import {
  existingOutputConnectors,
  findOutputConnector,
} from '../records/rows/output-connectors.ts';
import { findFollowerPosition, saveFollowerPosition } from '../records/rows/follower-positions.ts';
import { deliveryLogMark } from '../records/rows/recorded-positions.ts';
import { closeInOrder } from '../structures/closers.ts';
import { setRepeatingTimer, setTimer } from '../structures/timers.ts';

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
  readonly enqueueDeliveries: (
    drafts: readonly DeliveryDraft[],
    step?: TransactionStep,
  ) => Promise<void>;
  /**
   * Resolves when all durable samples have their deliveries, and those that are due were attempted.
   */
  readonly settled: () => Promise<void>;
  /** Ends the waiting deliveries of deleted devices and removes the others. */
  readonly dropDevices: (deviceIds: ReadonlySet<string>) => Promise<void>;
  /** Deliveries of the output connector that wait. */
  readonly waitingOf: (connectorId: string) => number;
  /** When the output connector attempts a failed delivery again. */
  readonly nextRetryOf: (connectorId: string) => EpochMs | undefined;
  /** Resolves when the counts of deliveries can be read from the records. */
  readonly counted: () => Promise<void>;
  readonly runMaintenance: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Starts the delivery of what waits. */
export async function composeDeliveries(
  parts: Parts,
  uplinks: Uplinks,
  egress: EgressGuard,
  orderDownlink: OrderDownlink,
): Promise<Deliveries> {
  const { config, records, directory, now, newId, store } = parts;
  const services = connectorServices(parts, uplinks, egress, orderDownlink);
  const mails = 'missingSetting' in services.mails ? undefined : services.mails;
  const vendorNames = config.vendorAliases !== 'off';
  const targets = createOpenTargets({
    services,
    findConnector: (id) => findOutputConnector({ ...records, db: records.committed }, id),
    vendorNames,
  });
  parts.followChanges({
    recordChanged({ kind, id }) {
      if (kind === 'outputConnector') targets.forget(id);
    },
    changesMissed: targets.discardAll,
  });
  const waiting = await composeWaiting(parts, targets);
  const { log, deliverer, counts, intake, handover, upkeep, isKnown } = waiting;
  parts.followChanges(
    withoutMemory(({ kind, id, action }) => {
      if (kind === 'outputConnector' && action === 'deleted') upkeep.forgetConnector(id);
    }),
  );
  const outputs = composeOutputs(parts, intake);
  const recordParts = { records, now, once: uplinks.once };
  const findRoute = (id: string) => directory.byDevice(id);
  const previews = { db: records.db, store, findRoute, now, newId, targets };
  return {
    sendInvitation: mails && invitationsBy(mails, parts),
    availableOutputs: createAvailableOutputs(services),
    routes: [
      ...deliveryRoutes({
        ...recordParts,
        book: createDeliveryBook({ log, deliverer, intake, isKnown, pause, now }),
        vendorNames,
        testConnector: (connectorId, deviceId, principal, signal) =>
          testConnector({ connectorId, deviceId, signal }, principal, previews),
      }),
      templatePreviewRoute({
        ...recordParts,
        preview: (request, principal) => previewTemplate(request, principal, previews),
      }),
    ],
    enqueueDeliveries: handover.enqueue,
    async settled() {
      await outputs.settled();
      await handover.move();
      await deliverer.settled();
    },
    dropDevices: upkeep.dropDevices,
    waitingOf: deliverer.waitingOf,
    nextRetryOf: deliverer.nextRetryOf,
    counted: counts.settled,
    runMaintenance: upkeep.compact,
    close: () =>
      closeInOrder(
        ...[outputs.close, handover.close, deliverer.close, upkeep.close, counts.close],
        ...[log.close, targets.close, () => mails?.close()],
      ),
  };
}

/** Everything about deliveries that wait, with what the last process left. */
async function composeWaiting(parts: Parts, targets: OpenTargets) {
  const { config, records, telemetry, log: journal, diskIsFull, now, newId } = parts;
  const failed = (error: unknown) => telemetry.backgroundFailed('keeping the delivery log', error);
  const { db } = records;
  const expected = (await findFollowerPosition(db, deliveryLogMark)) !== undefined;
  const log = await openDeliveryLog({
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
  if (!expected && log.isNoted) await saveFollowerPosition(db, deliveryLogMark, 0);
  telemetry.gauge('delivery_log_bytes', 'Bytes of the delivery log on disk.', () => log.bytes);
  const existing = (ids: readonly string[]) => existingOutputConnectors(records.db, ids);
  const from = journal.followerPosition('outputs') ?? journal.position;
  const recovered = await recoverDeliveries(log, { from, existing });
  const counts = createDeliveryCounts({ db, setRepeatingTimer, failed });
  const recorded = (tried: TriedDelivery) => {
    intake.release(tried.waiting);
    counts.tried(tried);
    parts.liveEvents.delivered(tried);
  };
  const deliverer = composeDeliverer(parts, targets, log, recorded);
  const { known } = recovered;
  const knownTo = journal.position;
  const intake = createDeliveryIntake({ log, deliverer, now, from, known, knownTo });
  deliverer.add(recovered.waiting);
  const handover = await createDeliveryHandover({
    ...{ records, log, deliverer, from, newId, now, failed, setTimer },
    newestWaiting: recovered.waiting.at(-1)?.sequence,
    position: () => journal.position,
  });
  const upkeep = createDeliveryUpkeep({
    ...{ journal, log, deliverer, intake, existing, setRepeatingTimer, failed },
    follower: 'outputs',
  });
  const isKnown = async (id: string) => (await existing([id])).has(id);
  return { log, deliverer, counts, intake, handover, upkeep, isKnown };
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
  log: DeliveryLog,
  recorded: (tried: TriedDelivery) => void,
): Deliverer {
  const { db } = records;
  const deliverer = createDeliverer({
    load: (waiting) => loadDelivery(waiting, log),
    send,
    saveNotes: (notes) => saveFailureNotes(notes, { db, telemetry }),
    record: (tried) => recordOutcome(tried, { log, telemetry, recorded }),
    newId,
    failed: (error) => telemetry.backgroundFailed('delivering', error),
    isBlocked: () => log.isBehind,
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
  intake: DeliveryIntake,
): JournalFollower {
  const failed = (error: unknown) => telemetry.backgroundFailed('queueing outputs', error);
  const stages: OutputStages = {
    outputsOf: directory.cachedOutputs,
    findRoute: (id) => directory.byDevice(id),
    enqueue: intake.add,
    unreadable: (notes) => noteUnreadable(notes, { db: records.db, telemetry }),
    failed,
    pause,
    now,
  };
  const handle = async (entries: readonly DurableEntry[]) => {
    await queueOutputs(entries, stages);
    intake.followed((entries.at(-1)?.position ?? -1) + 1);
  };
  const keepRows = (rows: DurableRows) => rowsForOutputs(rows, directory.cachedFlowOutputs);
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
