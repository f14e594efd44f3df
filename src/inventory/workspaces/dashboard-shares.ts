// Shares of dashboards: links whose token reads one dashboard, until they expire or are revoked (contract 37).
import { randomBytes } from 'node:crypto';
import { formatInstant, formatInstantOrNull, parseInstant } from '../../model/instant.ts';
import { problem } from '../../model/problem.ts';
import { findDashboard } from '../../records/rows/dashboards.ts';
import {
  insertShare,
  removeExpiredShares,
  removeShares,
  sharesOf,
} from '../../records/rows/dashboard-shares.ts';
import type { Records } from '../../records/records.ts';
import { shareTokenPrefix } from '../../model/shared-dashboard.ts';
import { secretHash } from '../../records/secret-encryption.ts';
import { change, found } from '../record-change.ts';

const tokenBytes = 32;
/** Valid links of one dashboard. */
const sharesMax = 20;

interface NewShare {
  readonly publicUrl: string;
  readonly expires?: string | null | undefined;
}

/**
 * The token is shown only here. Throws 400 for an end that is not in the future, and 409 at the
 * limit.
 */
export async function shareDashboard(
  records: Records,
  dashboardId: string,
  { publicUrl, expires }: NewShare,
) {
  const token = shareTokenPrefix + randomBytes(tokenBytes).toString('base64url');
  const expiresAt = await change(records, async (step) => {
    found(await findDashboard(step.db, dashboardId), 'dashboard', dashboardId);
    const now = step.now();
    const end = endOf(expires, now);
    await removeExpiredShares(step.db, dashboardId, now);
    if ((await sharesOf(step.db, dashboardId, now)).length >= sharesMax)
      throw problem('quotaReached', {
        limitName: 'dashboardShares',
        limitMax: sharesMax,
        per: 'dashboard',
        what: 'links',
      });
    await insertShare(step.db, {
      tokenHash: secretHash(token),
      dashboardId,
      created: now,
      expiresAt: end,
    });
    step.announce({ kind: 'dashboard', id: dashboardId, action: 'updated' });
    return end;
  });
  // Behind the number sign, where neither servers nor their logs see it.
  const url = `${publicUrl.replace(/\/+$/, '')}/shared/dashboards/${dashboardId}#${token}`;
  return { url, token, expires: formatInstantOrNull(expiresAt) };
}

/** The valid links, without their tokens. */
export async function readShares({ db, now }: Records, dashboardId: string) {
  const shares = await sharesOf(db, dashboardId, now());
  return {
    shares: shares.map(({ created, expiresAt }) => ({
      created: formatInstant(created),
      expires: formatInstantOrNull(expiresAt),
    })),
  };
}

/** Revokes all links of the dashboard. */
export async function unshareDashboard(records: Records, dashboardId: string): Promise<void> {
  await change(records, async (step) => {
    await removeShares(step.db, dashboardId);
    step.announce({ kind: 'dashboard', id: dashboardId, action: 'updated' });
  });
}

export async function isShared({ db, now }: Records, dashboardId: string): Promise<boolean> {
  return (await sharesOf(db, dashboardId, now())).length > 0;
}

function endOf(expires: string | null | undefined, now: number): number | null {
  if (expires === null || expires === undefined) return null;
  const end = parseInstant(expires);
  if (end !== undefined && end > now) return end;
  throw problem('invalidRequest', {
    reason: 'body expires: must be an ISO-8601 time in the future',
  });
}
