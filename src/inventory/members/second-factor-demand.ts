// Second factor demand of an organization: whether its members must have a second factor.
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { Records, RecordsDb } from '../../storage/records/records.ts';
import {
  demandsSecondFactor,
  findSession,
  hasSecondFactor,
  saveSecondFactorDemand,
} from '../../storage/records/rows/sign-in.ts';
import { change } from '../record-change.ts';

export async function readSecondFactorDemand({ db }: Pick<Records, 'db'>, organizationId: string) {
  return { secondFactorRequired: await demandsSecondFactor(db, organizationId) };
}

/**
 * Open sessions follow the change with their next request. Throws 409 for a caller who demands what
 * the caller does not have, and would be shut out.
 */
export async function changeSecondFactorDemand(
  records: Records,
  principal: Principal,
  organizationId: string,
  required: boolean,
) {
  return change(records, async (step) => {
    if ((await demandsSecondFactor(step.db, organizationId)) !== required) {
      if (required && !(await wouldStay(step.db, principal)))
        throw problem('ownSecondFactorMissing');
      await saveSecondFactorDemand(step.db, organizationId, required);
      step.announce({ kind: 'organization', id: organizationId, action: 'updated' });
    }
    return { secondFactorRequired: required };
  });
}

/** Whether the demand does not concern the caller: with a second factor, or signed in by the provider. */
async function wouldStay(db: RecordsDb, { id, sessionId }: Principal): Promise<boolean> {
  if (await hasSecondFactor(db, id)) return true;
  const session = sessionId === undefined ? undefined : await findSession(db, sessionId);
  return session?.signInKind === 'PROVIDER';
}
