// Composes what goes out: the connectors, the delivery log, and the outputs of data flows.
import { setImmediate as pause } from 'node:timers/promises';
import { authorize } from '../access/authorize.ts';
import { closeInOrder } from '../structures/closers.ts';
import { outputEffects } from './delivery-results.ts';
import { testing } from './previews.ts';
import type { Parts } from './platform-parts.ts';
import type { Uplinks } from './uplinks.ts';
import { type ConnectorTable, connectorTable } from '../connectors/connector-table.ts';
import type { OrderDownlink } from '../connectors/downlink/downlink-sender.ts';
import { createDeliverer, type Deliverer, delivererLimits } from '../deliveries/delivery-worker.ts';
import { createMailSender, type MailSender } from '../connectors/mail/mail-sender.ts';
import { openTargets } from '../deliveries/open-targets.ts';
import type { EgressGuard } from '../egress/guard.ts';
import { createJournalFollower } from '../flows/journal-follower.ts';
import { queueOutputs } from '../flows/outputs.ts';
import { deliveryRoutes } from '../http/routes/deliveries.ts';
import { templatePreviewRoute } from '../http/routes/template-preview.ts';
import type { Route } from '../http/edge/route.ts';
import type { InvitationMail } from '../inventory/members/invitations.ts';
import type { AvailableOutputs, OutputConnectorType } from '../model/connector.ts';
import type { DeliveryDraft } from '../model/delivery.ts';
import { problem } from '../model/problem.ts';
import { lazyTransaction, type RecordsDb } from '../records/records.ts';
import {
  dropOldDeliveries,
  findDelivery,
  findPendingDeliveries,
  findRenewed,
  insertDeliveries,
} from '../records/rows/deliveries.ts';
import { findOutputConnector } from '../records/rows/output-connectors.ts';
import { appendProcessingLog } from '../records/rows/processing-log.ts';
import { canBeJson, parseTemplate } from '../templates/template.ts';
import { setTimer } from '../structures/timers.ts';

const outputsFollower = 'outputs';
/** Deliveries that housekeeping drops in one step. */
const droppedMax = 500;

export interface Deliveries {
  readonly availableOutputs: AvailableOutputs;
  /** Mails it once; undefined when the operator set no mail server. A failure is told, and the inviter has the link. */
  readonly sendInvitation: ((mail: InvitationMail) => void) | undefined;
  readonly routes: readonly Route[];
  /**
   * Writes deliveries to the log, durable when it resolves; those whose key is known are passed over. `step` is the transaction of
   * the caller, with which they come and go.
   */
  readonly enqueueDeliveries: (drafts: readonly DeliveryDraft[], step?: RecordsDb) => Promise<void>;
  /** Resolves when every sample that is durable by now has its deliveries, and those that are due were tried. */
  readonly settled: () => Promise<void>;
  readonly runMaintenance: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Starts delivering what waits. */
export function composeDeliveries(
  parts: Parts,
  uplinks: Uplinks,
  egress: EgressGuard,
  orderDownlink: OrderDownlink,
): Deliveries {
  const { config, records, directory, now, telemetry } = parts;
  const { smtpUrl, mailFrom, smsGatewayUrl, vendorAliases } = config;
  const mails =
    smtpUrl === undefined || mailFrom === undefined
      ? undefined
      : createMailSender({ smtpUrl, from: mailFrom });
  const effects = outputEffects(parts, uplinks);
  const table = connectorTable({
    mails,
    smsGatewayUrl,
    gcpServiceAccountKey: config.gcpServiceAccountKey,
    writeSample: effects.writeSample,
    orderDownlink,
  });
  const vendorNames = vendorAliases !== 'off';
  const targets = openTargets({
    table,
    egress,
    findConnector: (id) => findOutputConnector({ ...records, db: records.committed }, id),
    vendorNames,
    now,
  });
  const deliverer = createDeliverer({
    findPending: (after, max) => findPendingDeliveries(records.db, after, max),
    load: (sequence) => findDelivery(records.committed, { sequence }),
    send: targets.send,
    save: effects.save,
    failed: (error) => telemetry.backgroundFailed('delivering', error),
    targetChanged: telemetry.targetChanged,
    now,
    random: Math.random,
    schedule: setTimer,
  });
  parts.followChanges(({ kind, id }) => {
    if (kind === 'outputConnector') targets.forget(id);
  });
  const enqueue = enqueuing(parts, deliverer);
  const outputs = createJournalFollower({
    name: outputsFollower,
    store: parts.store,
    handle: (entries) =>
      queueOutputs(entries, {
        findRoute: (id) => directory.byDevice(id),
        enqueue: (drafts, isLast) => enqueue(drafts, isLast ? 'durable' : 'lazy'),
        unreadable: async (notes) => {
          const [first] = notes;
          telemetry.backgroundFailed(
            'queueing outputs',
            new Error(`${notes.length} uplinks, the first: ${first?.message}`),
          );
          for (const note of notes) telemetry.noted(note);
          await appendProcessingLog(records.db, notes);
        },
        failed: (error) => telemetry.backgroundFailed('queueing outputs', error),
        pause,
        now,
      }),
    failed: (error) => telemetry.backgroundFailed('queueing outputs', error),
  });
  uplinks.followEntries(outputs.follow);
  gauges(parts, deliverer);
  const trials = testing(parts, targets, authorize);
  const renewed = async (sequences: readonly number[]) =>
    deliverer.renew(await findRenewed(records.committed, sequences));
  const recordParts = { records, now, once: uplinks.once };
  return {
    sendInvitation: mails === undefined ? undefined : invitationsBy(mails, parts),
    availableOutputs: available(table, egress, config),
    routes: [
      ...deliveryRoutes({
        ...recordParts,
        renewed,
        vendorNames,
        testConnector: trials.testConnector,
      }),
      templatePreviewRoute({ ...recordParts, preview: trials.preview }),
    ],
    enqueueDeliveries: (drafts, step) => enqueue(drafts, step ?? 'durable'),
    async settled() {
      await outputs.settled();
      await deliverer.settled();
    },
    async runMaintenance() {
      while ((await dropOldDeliveries(records.db, now(), droppedMax)) === droppedMax) await pause();
    },
    close: () => closeInOrder(outputs.close, deliverer.close, targets.close, () => mails?.close()),
  };
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

function gauges({ telemetry }: Parts, deliverer: Deliverer): void {
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
}

/** Writes to the log: within a transaction of the caller, or in one of its own that waits for the disk or leaves that to the next. */
function enqueuing({ records, newId, now }: Parts, deliverer: Deliverer) {
  return async (
    drafts: readonly DeliveryDraft[],
    how: RecordsDb | 'durable' | 'lazy',
  ): Promise<void> => {
    const made = drafts.map((draft) => {
      const isFull =
        deliverer.waitingOf(draft.connectorId) >= delivererLimits.waitingPerConnectorMax;
      const reason = `more than ${delivererLimits.waitingPerConnectorMax} deliveries of this connector waited already`;
      return { id: newId(), draft, ...(isFull ? { refused: reason } : {}) };
    });
    const insert = (step: RecordsDb) => insertDeliveries(step, made, now());
    if (how === 'durable') await records.db.transaction().execute(insert);
    else if (how === 'lazy') await lazyTransaction(records.db, insert);
    else await insert(how);
    // What a transaction of the caller wrote is seen only when it has ended, and the caller ends it after this.
    if (typeof how === 'string') deliverer.wake();
    else void records.transactionsEnded().then(() => deliverer.wake());
  };
}

function available(
  table: ConnectorTable,
  egress: EgressGuard,
  { smtpUrl, mailFrom, smsGatewayUrl }: Parts['config'],
): AvailableOutputs {
  const missing: Partial<Record<OutputConnectorType, string | undefined>> = {
    MAIL: smtpUrl === undefined ? 'SMTP_URL' : mailFrom === undefined ? 'MAIL_FROM' : undefined,
    SMS: smsGatewayUrl === undefined ? 'SMS_GATEWAY_URL' : undefined,
  };
  return {
    types: [...table.keys()].filter((type) => type !== 'DATABASE'),
    missingSetting: (type) => missing[type],
    check({ type, properties, customPayload }) {
      if (customPayload !== null && customPayload !== '') {
        const parsed = parseTemplate(customPayload, 'json', 'body customPayload');
        const reason = 'it cannot become valid JSON, whatever the values are';
        if (type === 'WEBHOOK' && !canBeJson(parsed)) {
          throw problem('templateInvalid', { where: 'body customPayload', reason });
        }
      }
      table.get(type)?.check?.(properties ?? {}, egress);
    },
  };
}
