// Routes of sign-in by the provider: to it, back with a session, and its notification of a logout.
import {
  endSessionsOfProvider,
  failureOf,
  newTransaction,
  openTransaction,
  type ProviderClient,
  providerCookieName,
  sealTransaction,
} from '../../access/provider.ts';
import { cookieValue, sessionTokenOf } from '../../access/session-authenticator.ts';
import type { Attempts } from '../../access/sign-in-throttle.ts';
import { startSession } from '../../access/sign-in.ts';
import { providerSignIn } from '../../contract/sign-in.ts';
import { auditAction } from '../../inventory/audit/audit.ts';
import { admitPerson, userOfPerson } from '../../inventory/members/provider-members.ts';
import type { Inventory } from '../../inventory/record-crud.ts';
import type { Actor } from '../../model/principal.ts';
import { newId } from '../../model/ids.ts';
import { problem } from '../../model/problem.ts';
import type { ProviderFailure, SignInProvider } from '../../model/sign-in-provider.ts';
import { Answer, type InputOf, type Route, route } from '../edge/route.ts';
import {
  clearedProviderCookie,
  providerCookieOf,
  sessionCookies,
} from '../edge/session-cookies.ts';

interface ProviderSignInParts {
  readonly records: Inventory;
  readonly provider: SignInProvider;
  readonly client: ProviderClient;
  readonly publicUrl: () => string;
  readonly now: () => number;
  readonly attempts: Attempts;
  readonly secure: boolean;
  readonly actAs: <T>(actor: Actor, work: () => T) => T;
  /** Reports why a sign-in failed; the browser gets only the kind of failure. */
  readonly failed: (failure: ProviderFailure, error: unknown) => void;
}

export function providerSignInRoutes(parts: ProviderSignInParts): Route[] {
  return [startRoute(parts), callbackRoute(parts), backChannelRoute(parts)];
}

function startRoute(parts: ProviderSignInParts): Route {
  const { records, client, now, secure } = parts;
  return route(providerSignIn.start, async ({ query }) => {
    const transaction = newTransaction(query.to);
    try {
      const location = (await client.begin(transaction)).href;
      const sealed = sealTransaction(records.sealer, transaction, now());
      return new Answer(302, undefined, {
        location,
        'set-cookie': providerCookieOf(sealed, secure),
      });
    } catch (error) {
      return refused(parts, error);
    }
  });
}

function callbackRoute(parts: ProviderSignInParts): Route {
  const { attempts } = parts;
  return route(providerSignIn.callback, async (input) => {
    try {
      // Each costs a request to the provider, so that failures of one network are counted.
      return await attempts.run(
        { ip: input.ip },
        () => signedIn(parts, input),
        () => false,
      );
    } catch (error) {
      return refused(parts, error);
    }
  });
}

type CallbackInput = InputOf<typeof providerSignIn.callback>;

async function signedIn(
  parts: ProviderSignInParts,
  { headers, query, ip, requestId }: CallbackInput,
): Promise<Answer<unknown>> {
  const { records, provider, client, publicUrl, now, secure, actAs } = parts;
  const sealed = cookieValue(headers.cookie, providerCookieName(secure));
  const transaction = openTransaction(records.sealer, sealed, now());
  if (transaction === undefined || query.state !== transaction.state)
    throw problem('signInExpired');
  // Never the Host header: the provider compares the address.
  const came = new URL(publicUrl() + providerSignIn.callback.path);
  for (const [name, value] of Object.entries(query)) came.searchParams.set(name, String(value));
  const { person, providerSession, idToken } = await client.finish(came, transaction);
  refuseOtherDomains(provider, person.email);
  const known = await userOfPerson(records, person);
  const id = known?.id ?? newId('user');
  const name = known?.name ?? person.name ?? person.email ?? person.subject;
  const actor: Actor = { type: 'USER', id, name, requestId, ip };
  const user = await actAs(actor, () => admitPerson(records, person, provider.roles, id));
  const { session, sessionToken } = await startSession(records, user, {
    now: now(),
    signInKind: 'PROVIDER',
    from: { ip, userAgent: headers['user-agent'] },
    replaced: sessionTokenOf(headers.cookie, secure),
    provider: { providerSession, idToken: records.sealer.seal(idToken) },
  });
  const { organizationId } = session;
  const changes = [{ field: 'signInKind', after: 'PROVIDER' }];
  await auditAction(records, actor, { organizationId, action: 'LOGIN', user, changes });
  return new Answer(302, undefined, {
    location: publicUrl() + transaction.to,
    'set-cookie': [...sessionCookies(sessionToken, secure), clearedProviderCookie(secure)],
  });
}

/** Throws 403 where the settings name domains and the address is of none of them. */
function refuseOtherDomains({ allowedDomains }: SignInProvider, email: string | undefined): void {
  if (allowedDomains.length === 0) return;
  if (email === undefined) throw problem('emailNotVerified');
  const domain = email.slice(email.lastIndexOf('@') + 1);
  if (!allowedDomains.includes(domain)) throw problem('noEntry');
}

/** The sign-in page says in words what the kind of failure means. */
function refused(
  { publicUrl, secure, failed }: ProviderSignInParts,
  error: unknown,
): Answer<unknown> {
  const failure = failureOf(error);
  failed(failure, error);
  return new Answer(302, undefined, {
    location: `${publicUrl()}/sign-in?problem=${failure}`,
    'set-cookie': clearedProviderCookie(secure),
  });
}

function backChannelRoute({ records, client, attempts, failed }: ProviderSignInParts): Route {
  return route(providerSignIn.backChannelLogout, async ({ body, ip }) => {
    const token = new URLSearchParams(typeof body === 'string' ? body : '').get('logout_token');
    if (token === null)
      throw problem('invalidRequest', { reason: 'body logout_token: is required' });
    try {
      const ended = await attempts.run(
        { ip },
        () => client.readLogoutToken(token),
        () => false,
      );
      await endSessionsOfProvider(records, ended);
    } catch (error) {
      failed(failureOf(error), error);
      throw problem('invalidRequest', { reason: 'body logout_token: is not valid' });
    }
    return new Answer(200);
  });
}
