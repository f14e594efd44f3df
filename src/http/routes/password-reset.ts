// Routes of password resets: request a link by address, use the mailed link (contract 36).
import { siteOf } from '../../access/sign-in-throttle.ts';
import {
  type PasswordResetMail,
  preparePasswordReset,
  resetPassword,
} from '../../access/password-reset.ts';
import { TokenBuckets } from '../../access/token-buckets.ts';
import { passwordReset } from '../../contract/password-reset.ts';
import { auditAction } from '../../inventory/audit/audit.ts';
import type { Inventory } from '../../inventory/record-crud.ts';
import { organizationsOf } from '../../inventory/workspaces/organizations.ts';
import { emailAddressOf } from '../../model/email-address.ts';
import { problem } from '../../model/problem.ts';
import { Answer, type Route, route } from '../edge/route.ts';

/** Number of immediate requests, and the seconds until each further one. */
const limits = {
  network: { capacity: 20, perSecond: 1 / 180 },
  // Above it the address gets no further mail, and the answer does not say so.
  address: { capacity: 3, perSecond: 1 / 1_200 },
} as const;
const keysMax = 100_000;

export function passwordResetRoutes(parts: {
  readonly records: Inventory;
  readonly now: () => number;
  readonly publicUrl: () => string;
  /** Whether passwords count. */
  readonly localSignIn: boolean;
  /** Mails without being waited for; undefined when the installation sends no mail. */
  readonly sendMail: ((mail: PasswordResetMail) => void) | undefined;
  readonly failed: (error: unknown) => void;
}): Route[] {
  const { records, now, publicUrl, sendMail, failed, localSignIn } = parts;
  const networks = new TokenBuckets({ ...limits.network, keysMax, now });
  const addresses = new TokenBuckets({ ...limits.address, keysMax, now });
  const mail = async (email: string): Promise<void> => {
    const prepared = await preparePasswordReset(records, email, {
      publicUrl: publicUrl(),
      now: now(),
    });
    if (prepared !== undefined) sendMail?.(prepared);
  };
  return [
    route(passwordReset.request, ({ body: { email }, ip }) => {
      if (!localSignIn) throw problem('localSignInOff');
      const network = siteOf(ip);
      if (!networks.take(network)) {
        throw problem('tooManyAttempts', { retryAfterSeconds: networks.secondsUntil(network) });
      }
      // After the answer, so that its time says nothing about the address.
      if (sendMail !== undefined && addresses.take(emailAddressOf(email))) {
        setImmediate(() => void mail(email).catch(failed));
      }
      return new Answer(202);
    }),
    route(passwordReset.complete, async ({ params, body, ip, requestId }) => {
      if (!localSignIn) throw problem('localSignInOff');
      const user = await resetPassword(records, params.token, body.password, now());
      const actor = { type: 'USER', id: user.id, name: user.name, requestId, ip } as const;
      for (const organizationId of await organizationsOf(records, user.id)) {
        await auditAction(records, actor, {
          organizationId,
          action: 'UPDATE',
          user,
          changes: [{ field: 'password', secret: true }],
        });
      }
      return undefined;
    }),
  ];
}
