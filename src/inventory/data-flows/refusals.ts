// Refused uplinks as the owners of their connectors read and delete them (contract 39.3).
import { formatInstant } from '../../model/instant.ts';
import { type PageRequest, pageOf } from '../../model/page.ts';
import { type Refusal, refusalLimits } from '../../model/refused-uplink.ts';
import type { Records } from '../../storage/records/records.ts';
import {
  listRefusals,
  type RefusalsOf,
  removeRefusals,
} from '../../storage/records/rows/payload-notes.ts';

/** Of a connector or a workspace; the last ones first unless the page asks for another order. */
export async function readRefusals({ db, now }: Records, of: RefusalsOf, page: PageRequest) {
  const { rows, total } = await listRefusals(db, of, now() - refusalLimits.ageMsMax, page);
  return pageOf(rows.map(refusalView), total, page);
}

function refusalView({ organizationId: _, first, last, ...refusal }: Refusal) {
  return { ...refusal, first: formatInstant(first), last: formatInstant(last) };
}

/**
 * One, or all. One that is gone is forgotten as well: the oldest make room for others at any time.
 */
export function forgetRefusals({ db }: Records, of: RefusalsOf, id?: string): Promise<void> {
  return removeRefusals(db, of, id);
}
