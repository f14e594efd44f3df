// Connects the routes of credentials, sessions and members.
import { ProviderClient } from '../access/provider.ts';
import type { Route } from '../http/edge/route.ts';
import { apiKeyRoutes, oauthClientRoutes } from '../http/routes/api-credentials.ts';
import { activityRoute, auditLogRoutes } from '../http/routes/audit-logs.ts';
import { invitationRoutes } from '../http/routes/invitations.ts';
import { memberRoutes } from '../http/routes/members.ts';
import { ownSessionRoutes } from '../http/routes/own-sessions.ts';
import { passkeyRoutes } from '../http/routes/passkeys.ts';
import { passwordResetRoutes } from '../http/routes/password-reset.ts';
import { providerSignInRoutes } from '../http/routes/provider-sign-in.ts';
import { secondFactorDemandRoutes, secondFactorRoutes } from '../http/routes/second-factor.ts';
import { signInRoutes } from '../http/routes/sign-in.ts';
import { tokenRoutes } from '../http/routes/tokens.ts';
import { tokenPaths } from '../model/token-paths.ts';
import { createGuardedFetch, type EgressGuard } from '../outputs/egress/guard.ts';
import type { Deliveries } from './deliveries.ts';
import type { Parts } from './platform-parts.ts';
import type { Uplinks } from './uplinks.ts';

/** Of sign-in, own accounts, API keys, OAuth clients, members and the audit log. */
export function accessRoutes(
  composed: Parts,
  { once }: Uplinks,
  {
    deliveries: { sendInvitation: sendMail },
    egress,
  }: {
    readonly deliveries: Deliveries;
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

// Connects sign-in by the provider of the installation: its client, through the egress guard, and its routes.

interface Provider {
  readonly client: ProviderClient;
  readonly routes: readonly Route[];
}

/** Undefined when the settings name no provider. Asks it nothing before the first sign-in. */
function composeProvider(
  { config, address, records, access, telemetry, now }: Parts,
  egress: EgressGuard,
): Provider | undefined {
  const { provider } = config;
  if (provider === undefined) return undefined;
  const { url: publicUrl } = address;
  const { attempts, actAs } = access;
  const fetch = createGuardedFetch(egress, provider.issuer);
  const client = new ProviderClient({ provider, fetch, publicUrl, now });
  const routes = providerSignInRoutes({
    records,
    provider,
    client,
    publicUrl,
    now,
    attempts,
    actAs,
    secure: config.publicUrl.startsWith('https:'),
    failed: telemetry.providerSignInFailed,
  });
  return { client, routes };
}
