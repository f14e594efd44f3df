// Connects sign-in by the provider of the installation: its client, through the egress guard, and its routes.
import type { Parts } from './platform-parts.ts';
import { createProviderClient, type ProviderClient } from '../access/provider-client.ts';
import type { EgressGuard } from '../egress/guard.ts';
import { createGuardedFetch } from '../egress/guarded-fetch.ts';
import type { Route } from '../http/edge/route.ts';
import { providerSignInRoutes } from '../http/routes/provider-sign-in.ts';

export interface Provider {
  readonly client: ProviderClient;
  readonly routes: readonly Route[];
}

/** Undefined when the settings name no provider. Asks it nothing before the first sign-in. */
export function composeProvider(
  { config, address, records, access, telemetry, now }: Parts,
  egress: EgressGuard,
): Provider | undefined {
  const { provider } = config;
  if (provider === undefined) return undefined;
  const { url: publicUrl } = address;
  const { attempts, actAs } = access;
  const fetch = createGuardedFetch(egress, provider.issuer);
  const client = createProviderClient({ provider, fetch, publicUrl, now });
  const routes = providerSignInRoutes({
    ...{ records, provider, client, publicUrl, now, attempts, actAs },
    secure: config.publicUrl.startsWith('https:'),
    failed: telemetry.providerSignInFailed,
  });
  return { client, routes };
}
