// Connects the routes of credentials, sessions and members.
import type { EgressGuard } from '../egress/guard.ts';
import type { Deliveries } from './deliveries.ts';
import { composeProvider } from './provider.ts';
import type { Parts } from './platform-parts.ts';
import type { Uplinks } from './uplinks.ts';
import { activityRoute } from '../http/routes/activity.ts';
import { apiKeyRoutes } from '../http/routes/api-keys.ts';
import { auditLogRoutes } from '../http/routes/audit-logs.ts';
import { passwordResetRoutes } from '../http/routes/password-reset.ts';
import { invitationRoutes } from '../http/routes/invitations.ts';
import { memberRoutes } from '../http/routes/members.ts';
import { oauthClientRoutes } from '../http/routes/oauth-clients.ts';
import { ownSessionRoutes } from '../http/routes/own-sessions.ts';
import { passkeyRoutes } from '../http/routes/passkeys.ts';
import { secondFactorDemandRoutes } from '../http/routes/second-factor-demand.ts';
import { secondFactorRoutes } from '../http/routes/second-factor.ts';
import { signInRoutes } from '../http/routes/sign-in.ts';
import { tokenRoutes } from '../http/routes/tokens.ts';
import type { Route } from '../http/edge/route.ts';
import { tokenPaths } from '../model/token-paths.ts';

/** Of sign-in, own accounts, API keys, OAuth clients, members and the audit log. */
export function accessRoutes(
  composed: Parts,
  { once }: Uplinks,
  {
    deliveries: { sendInvitation: sendMail },
    egress,
  }: {
    readonly deliveries: Pick<Deliveries, 'sendInvitation'>;
    readonly egress: EgressGuard;
  },
): Route[] {
  const { config, address, records, now, access, telemetry } = composed;
  const { localSignIn } = config;
  const provider = composeProvider(composed, egress);
  const publicUrl = address.url;
  const { tokens, keys, attempts, codeAttempts, actAs } = access;
  const parts = {
    records,
    now,
    once,
    publicUrl,
    localSignIn,
    attempts,
    codeAttempts,
    actAs,
    tokenUrl: () => publicUrl() + tokenPaths.token,
  };
  return [
    ...apiKeyRoutes(parts),
    ...oauthClientRoutes(parts),
    ...tokenRoutes({
      tokens,
      keys,
      publicUrl,
      attempt: (who, work, failed) => attempts.run(who, work, failed),
    }),
    ...signInRoutes({
      ...parts,
      secure: config.publicUrl.startsWith('https:'),
      userOf: access.sessions.current,
      providerClient: provider?.client,
    }),
    ...(provider?.routes ?? []),
    ...ownSessionRoutes(parts),
    ...secondFactorRoutes(parts),
    ...secondFactorDemandRoutes(parts),
    ...passkeyRoutes({ ...parts, secure: config.publicUrl.startsWith('https:') }),
    ...passwordResetRoutes({
      ...parts,
      sendMail,
      failed: (error) => telemetry.backgroundFailed('resetting a password', error),
    }),
    ...invitationRoutes(parts),
    ...memberRoutes({ ...parts, sendMail }),
    ...auditLogRoutes(parts),
    activityRoute(parts),
  ];
}
