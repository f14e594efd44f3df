// Routes of the token service (interface 4.10, contract 25, RFC 6749).
import type { Attempts } from '../../access/rate-limits.ts';
import type { SigningKeys, TokenService } from '../../access/token-service.ts';
import { apiKeys, oauthClients, tokenService } from '../../contract/machine-credentials.ts';
import type { Problem } from '../../model/problem.ts';
import { tokenPaths } from '../../model/credential.ts';
import { Answer, resourceRoute, route, type Route } from '../edge/route.ts';
import { ApiKeys, OAuthClients } from '../../inventory/members/machine-credentials.ts';
import { pageRequestOf } from '../edge/list-query.ts';
import { byOrganization, type RecordRoutes } from './record-routes.ts';

const uncached = { 'cache-control': 'no-store', pragma: 'no-cache' };

export function tokenRoutes(
  tokens: TokenService,
  keys: SigningKeys,
  publicUrl: () => string,
  attempts: Attempts,
): Route[] {
  const published = route(tokenService.keys, async () => (await keys.published()) as never);
  return [tokenRoute(tokens, attempts), discoveryRoute(publicUrl), published];
}

function tokenRoute(tokens: TokenService, attempts: Attempts): Route {
  return {
    ...route(tokenService.issue, async ({ headers, body, ip }) => {
      const form = typeof body === 'string' ? body : '';
      const work = () => tokens.issue(form, headers.authorization);
      const outcome = await attempts.run(
        { ip },
        work,
        (tried) => 'error' in tried && tried.error === 'invalid_client',
      );
      if (!('error' in outcome)) return new Answer(200, outcome, uncached);
      const { status, error, description, basic } = outcome;
      const challenge = basic && status === 401 && { 'www-authenticate': 'Basic realm="api-keys"' };
      return new Answer(status, { error, error_description: description } as never, {
        ...uncached,
        ...challenge,
      });
    }),
    refusal: refusalOf,
  };
}

/** Errors from before the handler, as RFC 6749 names them. */
function refusalOf(refused: Problem): Answer<unknown> {
  const { status, error } = oauthErrorOf(refused.status);
  return new Answer(status, { error, error_description: refused.message }, uncached);
}

function oauthErrorOf(status: number): { readonly status: number; readonly error: string } {
  if (status >= 500) return { status, error: 'server_error' };
  if (status === 429) return { status, error: 'slow_down' };
  if (status === 401) return { status, error: 'invalid_client' };
  // The standard has one status for every malformed request.
  return { status: 400, error: 'invalid_request' };
}

function discoveryRoute(publicUrl: () => string): Route {
  return route(tokenService.discovery, () => ({
    issuer: publicUrl() + tokenPaths.realm,
    token_endpoint: publicUrl() + tokenPaths.token,
    jwks_uri: publicUrl() + tokenPaths.keys,
    grant_types_supported: ['client_credentials'],
    response_types_supported: ['none'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    token_endpoint_auth_signing_alg_values_supported: [],
    id_token_signing_alg_values_supported: ['ES256'],
    subject_types_supported: ['public'],
  }));
}

// Routes of API keys and OAuth clients (interface 4.9, contract 23, 24, 35).

/** Of API keys and OAuth clients. `tokenUrl`: where clients get their tokens. */
export function machineCredentialRoutes(common: RecordRoutes, tokenUrl: () => string): Route[] {
  return [...apiKeyRoutes(common), ...oauthClientRoutes(common, tokenUrl)];
}

function apiKeyRoutes(common: RecordRoutes): Route[] {
  const { records } = common;
  const service = new ApiKeys(records);
  return [
    route(apiKeys.list, ({ query }, principal) =>
      service.list(principal, query, pageRequestOf(query)),
    ),
    resourceRoute(apiKeys.create, byOrganization, (input, principal) =>
      common.answeredOnce(input, principal, (step) =>
        new ApiKeys(step).create(principal, input.body),
      ),
    ),
    resourceRoute(apiKeys.read, common.byId('apiKey'), ({ params }) => service.read(params.id)),
    resourceRoute(apiKeys.remove, common.byId('apiKey'), ({ params }) => service.remove(params.id)),
  ];
}

// Routes of OAuth clients (interface 4.9, contract 24, 35).

function oauthClientRoutes(common: RecordRoutes, tokenUrl: () => string): Route[] {
  const { records } = common;
  const service = new OAuthClients(records);
  const place = common.byId('oauthClient');
  return [
    route(oauthClients.list, ({ query }, principal) =>
      service.list(principal, query.organizationId, tokenUrl()),
    ),
    resourceRoute(oauthClients.create, byOrganization, (input, principal) =>
      common.answeredOnce(input, principal, (step) =>
        new OAuthClients(step).create(principal, input.body, tokenUrl()),
      ),
    ),
    resourceRoute(oauthClients.read, place, ({ params }) => service.read(params.id, tokenUrl())),
    resourceRoute(oauthClients.rotateSecret, place, ({ params }, principal) =>
      service.rotateSecret(principal, params.id),
    ),
    resourceRoute(oauthClients.remove, place, ({ params }) => service.remove(params.id)),
  ];
}
