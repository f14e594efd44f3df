// Authenticators: one per kind of credential, each of which makes a principal; a request may carry a single credential (interface 5).
import type { Grant } from '../model/credential.ts';
import type { Principal } from '../model/principal.ts';
import { Problem, problem } from '../model/problem.ts';

export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface Authenticator {
  /** The header, in lower case, that carries this kind of credential. */
  readonly header: string;
  /**
   * Whether browsers send it by themselves: it counts only in a request that shows nothing else.
   */
  readonly ambient?: true;
  /** Throws Problem 401 for a credential that is unknown, deleted or expired. */
  readonly authenticate: (
    credential: string,
    request: ShownRequest,
  ) => Principal | Promise<Principal>;
}

/** What a check may look at besides the credential. */
export interface ShownRequest {
  readonly method: string;
  readonly headers: RequestHeaders;
}

/** Throws Problem 401 when the headers hold no credential, two, or an invalid one. */
export function identify(
  authenticators: readonly Authenticator[],
  headers: RequestHeaders,
  method = 'GET',
): Principal | Promise<Principal> {
  let used: Authenticator | undefined;
  for (const authenticator of authenticators) {
    if (headers[authenticator.header] === undefined) continue;
    if (authenticator.ambient && used !== undefined) continue;
    if (used !== undefined && !used.ambient) throw problem('twoCredentials');
    used = authenticator;
  }
  if (used === undefined) throw problem('unauthorized');
  const credential = headers[used.header];
  // A header sent twice arrives joined or as a list; neither can be a valid credential.
  if (typeof credential !== 'string') throw problem('twoCredentials');
  return used.authenticate(credential, { method, headers });
}

/** Whether the headers have one valid credential. Never throws a Problem. */
export async function isIdentified(
  authenticators: readonly Authenticator[],
  headers: RequestHeaders,
): Promise<boolean> {
  try {
    await identify(authenticators, headers);
    return true;
  } catch (error) {
    if (error instanceof Problem) return false;
    throw error;
  }
}

// Granted principal: the principal of an API key or OAuth client, from what it was granted when it was created.

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
