// Record quotas: limits of how many records an organization has (contract 36).
import { problem } from '../../model/problem.ts';
import { quotaDetails } from '../../model/quota.ts';
import { type CountedRecord, recordCount } from '../../storage/records/rows/organizations.ts';
import type { Step } from '../record-change.ts';

/** Call in the transaction that inserts the record. Throws 409 `quotaReached` at the limit. */
export async function checkRecordQuota(
  step: Step,
  organizationId: string,
  what: CountedRecord,
): Promise<void> {
  const used = await recordCount(step.db, organizationId, what);
  if (used >= step.quotas[what]) throw problem('quotaReached', quotaDetails(step.quotas, what));
}
