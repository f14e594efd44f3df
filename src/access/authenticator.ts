// Who is asking: each kind of credential is one authenticator; a request may carry a single one (interface 5).
import type { Principal } from '../model/principal.ts';
import { problem } from '../model/problem.ts';

export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface Authenticator {
  /** The header, in lower case, that carries this kind of credential. */
  readonly header: string;
  /** Throws Problem 401 for a credential that is unknown, deleted or expired. */
  readonly authenticate: (credential: string) => Principal | Promise<Principal>;
}

/** Throws Problem 401 when the headers hold no credential, two, or an invalid one. */
export function identify(
  authenticators: readonly Authenticator[],
  headers: RequestHeaders,
): Principal | Promise<Principal> {
  let used: Authenticator | undefined;
  for (const authenticator of authenticators) {
    if (headers[authenticator.header] === undefined) continue;
    if (used !== undefined) throw problem('twoCredentials');
    used = authenticator;
  }
  if (used === undefined) throw problem('unauthorized');
  const credential = headers[used.header];
  // A header sent twice arrives joined or as a list; neither can be a valid credential.
  if (typeof credential !== 'string') throw problem('twoCredentials');
  return used.authenticate(credential);
}

/** Refuses every `Authorization` header: no token is ever issued by an installation without a token service. */
export const noTokens: Authenticator = {
  header: 'authorization',
  authenticate: () => {
    throw problem('invalidToken');
  },
};
