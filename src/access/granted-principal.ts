// Granted principal: the principal of an API key or OAuth client, from what it was granted when it was created.
import type { Grant } from '../model/credential.ts';
import type { Principal } from '../model/principal.ts';

export function grantedPrincipal(
  kind: 'API_KEY' | 'OAUTH_CLIENT',
  credential: Grant & { readonly id: string; readonly name: string },
): Principal {
  return {
    kind,
    id: credential.id,
    name: credential.name,
    organizationId: credential.organizationId,
    workspaces: credential.allWorkspaces ? 'all' : new Set(credential.workspaceIds),
    permissions: credential.permissions,
  };
}
