// Requests of the OAuth clients, and the commands with which a client gets and uses its token.
import { queryOptions } from '@tanstack/react-query';
import type { components } from '../../../../generated/interface-types.ts';
import { ask, platform } from '../../../api/platform.ts';
import { type Grant, grantBody } from '../keys/grant.ts';

export type OAuthClient = components['schemas']['OAuthClient'];

/** What a client authenticates with. */
export interface Credentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

export const clientsOf = (organizationId: string) =>
  queryOptions({
    queryKey: ['clients', organizationId],
    async queryFn({ signal }) {
      const query = { organizationId };
      return {
        content: await ask(platform.GET('/v3/oauth-clients', { signal, params: { query } })),
      };
    },
  });

export interface ClientDraft extends Grant {
  readonly name: string;
  readonly description: string;
}

export function createClient(draft: ClientDraft, organizationId: string) {
  const { name, description } = draft;
  const body = {
    name,
    organizationId,
    ...(description === '' ? {} : { description }),
    ...grantBody(draft),
  };
  return ask(platform.POST('/v3/oauth-clients', { body }));
}

export function rotateSecret(id: string) {
  return ask(platform.POST('/v3/oauth-clients/{id}/rotate-secret', { params: { path: { id } } }));
}

export function removeClient(id: string) {
  return ask(platform.DELETE('/v3/oauth-clients/{id}', { params: { path: { id } } }));
}

/** A command that prints a token; the secret is a variable of the shell where it is not known. */
export function tokenCommand(tokenUrl: string, { clientId, clientSecret }: Credentials): string {
  return `curl -sS '${tokenUrl}' -d grant_type=client_credentials -d client_id=${clientId} -d client_secret=${clientSecret}`;
}

/** A command that reads with the token. */
export function readCommand(): string {
  return `curl -sS '${location.origin}/v3/workspaces' -H "authorization: Bearer $ACCESS_TOKEN"`;
}
