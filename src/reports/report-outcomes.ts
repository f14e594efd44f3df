// Report outcomes: mails of reports that a mail server refused for good (contract 39.1).
import type { TriedDelivery } from '../outputs/deliveries/attempts/delivery-worker.ts';
import { change } from '../inventory/record-change.ts';
import { noteRefusedMail } from '../inventory/workspaces/report-states.ts';
import { hasFormOfId, mailConnectorId } from '../model/ids.ts';
import type { Records } from '../storage/records/records.ts';
import { createSerialQueue } from '../structures/serial-queue.ts';

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
