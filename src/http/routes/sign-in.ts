// Routes of sign-in, sign-out and the own account (contract 35).
import {
  authenticateUser,
  changePassword,
  endSession,
  endSessions,
  type PasswordResetMail,
  preparePasswordReset,
  readAccount,
  readCaller,
  readPreferences,
  replacePreferences,
  resetPassword,
  startSession,
  switchOrganization,
} from '../../access/sign-in.ts';
import {
  endSessionsOfProvider,
  endSessionUrlOf,
  failureOf,
  idTokenOf,
  newTransaction,
  openTransaction,
  type ProviderClient,
  providerCookieName,
  sealTransaction,
  transactionSeconds,
} from '../../access/provider.ts';
import { ownSessions, passwordReset, providerSignIn, signIn } from '../../contract/sign-in.ts';
import { auditAction } from '../../inventory/audit/audit.ts';
import type { Actor, Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { Answer, type InputOf, route, type Route, type RouteInput } from '../edge/route.ts';
import { newChallenge, relyingPartyOf, signatureOptions } from '../../access/passkey-proof.ts';
import {
  checkSecondFactor,
  openTicket,
  sealTicket,
  type SecondFactorKind,
  secondFactorsOf,
  userOfFirstStep,
} from '../../access/second-factor.ts';
import {
  cookieNames,
  cookieValue,
  csrfTokenOf,
  sessionLifetimeMs,
  sessionTokenOf,
} from '../../access/authenticators.ts';
import { type Attempts, siteOf, TokenBuckets } from '../../access/rate-limits.ts';
import type { Inventory } from '../../inventory/record-crud.ts';
import {
  emailAddressOf,
  type ProviderFailure,
  type SignInKind,
  type SignInProvider,
  type User,
} from '../../model/user.ts';
import { formatInstant } from '../../model/instant.ts';
import { endOwnSession, isRecentSession, listOwnSessions } from '../../access/own-sessions.ts';
import { unpagedOf } from '../../model/page.ts';
import type { FieldChange } from '../../model/record.ts';
import { ownerOf, type SecondFactorParts } from './second-factor.ts';

import { organizationsOf } from '../../inventory/workspaces/organizations.ts';
import { admitPerson, userOfPerson } from '../../inventory/members/members.ts';
import { newId } from '../../model/ids.ts';

interface SignInParts extends LoginParts {
  /** Undefined without a provider. */
  readonly providerClient: ProviderClient | undefined;
  /** The present user of a session, in every organization of the user. */
  readonly userOf: (sessionId: string) => Promise<Principal | undefined>;
}

export function signInRoutes(parts: SignInParts): Route[] {
  return [
    ...loginRoutes(parts),
    ...endingRoutes(parts),
    ...ownRoutes(parts),
    ...accountRoutes(parts),
  ];
}

function endingRoutes(parts: SignInParts): Route[] {
  const { records, secure, providerClient } = parts;
  const cleared = { 'set-cookie': clearedCookies(secure) };
  return [
    route(signIn.logout, async (input, principal) => {
      const idToken = await idTokenOf(records, principal.sessionId!);
      await endSession(records, principal.sessionId!);
      await auditLogout({ records }, input, principal);
      const endSessionUrl = await endSessionUrlOf(records, providerClient, idToken);
      if (endSessionUrl === undefined) return new Answer(204, undefined, cleared);
      return new Answer(200, { endSessionUrl }, cleared);
    }),
    route(signIn.logoutEverywhere, async (input, principal) => {
      await confirmEnding(parts, input, principal);
      const sessions = await endSessions(records, principal.id);
      await auditLogout({ records }, input, principal);
      return new Answer(200, { sessions }, cleared);
    }),
  ];
}

function ownRoutes({ records, userOf }: SignInParts): Route[] {
  return [
    route(signIn.account, async (_input, principal) => {
      const { sessionId } = principal;
      // What a handler gets acts in one organization.
      const user = sessionId === undefined ? undefined : await userOf(sessionId);
      return readCaller(records.db, user ?? principal);
    }),
    route(signIn.preferences, (_input, principal) => readPreferences(records, principal)),
    route(signIn.savePreferences, ({ body }, principal) =>
      replacePreferences(records, principal, body),
    ),
  ];
}

function accountRoutes({ records, now, attempts, localSignIn }: SignInParts): Route[] {
  return [
    route(signIn.switchOrganization, async ({ body: { organizationId } }, principal) => {
      await switchOrganization(records, principal, organizationId);
      return readAccount(records.db, { id: principal.id, organizationId });
    }),
    route(signIn.changePassword, async ({ body, ip, requestId }, principal) => {
      if (!localSignIn) throw problem('localSignInOff');
      const work = () => changePassword(records, principal, body, now());
      const changed = await attempts.run({ ip, account: principal.id }, work, (right) => !right);
      if (!changed) throw problem('wrongPassword');
      const actor = {
        type: 'USER',
        id: principal.id,
        name: principal.name,
        requestId,
        ip,
      } as const;
      await auditAction(records, actor, {
        organizationId: principal.organizationId,
        action: 'UPDATE',
        user: principal,
        changes: [{ field: 'password', secret: true }],
      });
      return undefined;
    }),
  ];
}

async function auditLogout(
  { records }: { readonly records: Inventory },
  { ip, requestId }: RouteInput<unknown, unknown, unknown>,
  principal: Principal,
): Promise<void> {
  const actor = { type: 'USER', id: principal.id, name: principal.name, requestId, ip } as const;
  await auditAction(records, actor, {
    organizationId: principal.organizationId,
    action: 'LOGOUT',
    user: principal,
  });
}

// Routes of signing in with a password: one step, or two for a user with a second factor (contract 35).

export interface LoginParts extends SecondFactorParts {
  /** Whether the platform is reached by https, so that cookies travel by nothing else. */
  readonly secure: boolean;
  readonly publicUrl: () => string;
}

type Input = RouteInput<unknown, unknown, unknown>;

function loginRoutes(parts: LoginParts): Route[] {
  return [passwordRoute(parts), secondStepRoute(parts)];
}

function passwordRoute(parts: LoginParts): Route {
  const { records, attempts, localSignIn } = parts;
  return route(signIn.login, async (input) => {
    if (!localSignIn) throw problem('localSignInOff');
    const { body, ip } = input;
    const { email, password, organizationId } = body;
    const account = emailAddressOf(email);
    const work = () => authenticateUser(records, email, password);
    const user = await attempts.run({ ip, account }, work, (found) => found === undefined);
    if (user === undefined) throw problem('wrongPassword');
    const secondFactors = await secondFactorsOf(records.db, user.id);
    if (secondFactors.length === 0) return signedIn(parts, input, { user, organizationId });
    const second = await secondStepOf(parts, user, {
      organizationId: organizationId ?? null,
      secondFactors,
    });
    // `otherAnswers` describes it.
    return new Answer(202, second as never);
  });
}

/** What the client needs for the second step. */
async function secondStepOf(
  { records, now, publicUrl }: LoginParts,
  { id: userId, version }: User,
  {
    organizationId,
    secondFactors,
  }: {
    readonly organizationId: string | null;
    readonly secondFactors: readonly SecondFactorKind[];
  },
) {
  const challenge = newChallenge();
  const content = { userId, version, organizationId, challenge };
  const { ticket, expiresAt } = sealTicket(records.sealer, 'secondFactor', content, now());
  const party = relyingPartyOf(publicUrl());
  const answer = { ticket, expires: formatInstant(expiresAt), secondFactors };
  if (party === undefined || !secondFactors.includes('PASSKEY'))
    return { ...answer, passkeyOptions: null };
  const asked = { challenge, party };
  return { ...answer, passkeyOptions: await signatureOptions(records.db, asked, userId) };
}

function secondStepRoute(parts: LoginParts): Route {
  const { records, now, codeAttempts, localSignIn, publicUrl } = parts;
  return route(signIn.secondStep, async (input) => {
    if (!localSignIn) throw problem('localSignInOff');
    const { body, ip } = input;
    const first = openTicket(records.sealer, 'secondFactor', body.ticket, now());
    if (first === undefined) throw problem('ticketExpired');
    const { userId: account, organizationId } = first;
    const user = await userOfFirstStep(records.db, first);
    const shown = { now: now(), party: relyingPartyOf(publicUrl()) };
    const work = () => checkSecondFactor(records, first, body, shown);
    const kind = await codeAttempts.run({ ip, account }, work, (found) => found === undefined);
    if (kind === undefined) throw problem('wrongCode');
    return signedIn(parts, input, { user, organizationId, secondFactor: kind });
  });
}

/** Starts the session, logs the sign-in and answers with the cookies. */
export async function signedIn(
  { records, now, secure }: LoginParts,
  { headers, ip, requestId }: Input,
  {
    user,
    organizationId: wanted,
    secondFactor,
    signInKind = 'PASSWORD',
  }: {
    readonly user: User;
    readonly signInKind?: SignInKind;
    readonly organizationId: string | null | undefined;
    readonly secondFactor?: SecondFactorKind;
  },
) {
  const { sessionToken, session } = await startSession(records, user, {
    now: now(),
    signInKind,
    organizationId: wanted,
    from: { ip, userAgent: headers['user-agent'] },
    replaced: sessionTokenOf(headers.cookie, secure),
  });
  const { organizationId } = session;
  const actor = { type: 'USER', id: user.id, name: user.name, requestId, ip } as const;
  const shown = secondFactor && { changes: [{ field: 'secondFactor', after: secondFactor }] };
  await auditAction(records, actor, { organizationId, action: 'LOGIN', user, ...shown });
  const seen = await readAccount(records.db, { id: user.id, organizationId });
  const answer = { ...seen, csrfToken: csrfTokenOf(sessionToken) };
  return new Answer(200, answer, { 'set-cookie': sessionCookies(sessionToken, secure) });
}

// Routes of the own sessions (contract 35).

type Confirmed = Pick<RouteInput<unknown, unknown, unknown>, 'ip'> & {
  readonly body?: { readonly password?: string | null | undefined } | undefined;
};

/**
 * A session alone ends no others, because it may be in foreign hands. Throws 403 without the
 * password of the user, 401 for a wrong one.
 */
async function confirmEnding(
  parts: SecondFactorParts,
  { ip, body }: Confirmed,
  principal: Principal,
): Promise<void> {
  if (await isRecentSession(parts.records, principal, parts.now())) return;
  const password = body?.password ?? undefined;
  if (password === undefined) throw problem('authenticateAgain');
  await ownerOf(parts, ip, principal, password);
}

export function ownSessionRoutes(parts: SecondFactorParts): Route[] {
  const { records, now } = parts;
  return [
    route(ownSessions.list, async (_input, principal) =>
      unpagedOf(await listOwnSessions(records, principal, now())),
    ),
    route(ownSessions.end, async (input, principal) => {
      if (input.params.id !== principal.sessionId) await confirmEnding(parts, input, principal);
      const { id, userAgent, ip } = await endOwnSession(records, principal, input.params.id);
      const ended = { field: 'session', before: { id, userAgent, ip } };
      await auditEnd({ records }, input, { principal, changes: [ended] });
    }),
    route(ownSessions.endOthers, async (input, principal) => {
      await confirmEnding(parts, input, principal);
      const sessions = await endSessions(records, principal.id, principal.sessionId);
      const changes = [{ field: 'sessions', before: sessions + 1, after: 1 }];
      await auditEnd({ records }, input, { principal, changes });
      return { sessions };
    }),
  ];
}

async function auditEnd(
  { records }: { readonly records: Inventory },
  { ip, requestId }: RouteInput<unknown, unknown, unknown>,
  {
    principal,
    changes,
  }: {
    readonly principal: Principal;
    readonly changes: readonly FieldChange[];
  },
): Promise<void> {
  const { id, name, organizationId } = principal;
  const actor = { type: 'USER', id, name, requestId, ip } as const;
  await auditAction(records, actor, { organizationId, action: 'LOGOUT', user: principal, changes });
}

// Routes of password resets: request a link by address, use the mailed link (contract 36).

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

// Routes of sign-in by the provider: to it, back with a session, and its notification of a logout.

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
        () => signedInByProvider(parts, input),
        () => false,
      );
    } catch (error) {
      return refused(parts, error);
    }
  });
}

type CallbackInput = InputOf<typeof providerSignIn.callback>;

async function signedInByProvider(
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

// Session cookies of the console: one that scripts cannot read, and one that they must (contract 35).

/** `set-cookie` values; `secure` when the platform is reached by https. */
function sessionCookies(sessionToken: string, secure: boolean): string[] {
  const seconds = sessionLifetimeMs / 1_000;
  const names = cookieNames(secure);
  return [
    cookie(names.session, sessionToken, seconds, `; HttpOnly${secureFlag(secure)}`),
    cookie(names.csrf, csrfTokenOf(sessionToken), seconds, secureFlag(secure)),
  ];
}

/** Makes browsers forget both. */
function clearedCookies(secure: boolean): string[] {
  const names = cookieNames(secure);
  return [
    cookie(names.session, '', 0, `; HttpOnly${secureFlag(secure)}`),
    cookie(names.csrf, '', 0, secureFlag(secure)),
  ];
}

/**
 * Lax, because the browser comes back from another site. Sent nowhere but to the end of the
 * sign-in.
 */
function providerCookieOf(sealed: string, secure: boolean): string {
  return providerCookieFor(sealed, transactionSeconds, secure);
}

function clearedProviderCookie(secure: boolean): string {
  return providerCookieFor('', 0, secure);
}

function providerCookieFor(value: string, seconds: number, secure: boolean): string {
  const flags = `; HttpOnly${secureFlag(secure)}`;
  return `${providerCookieName(secure)}=${value}; Path=/v3/auth/oidc; Max-Age=${seconds}; SameSite=Lax${flags}`;
}

function cookie(name: string, value: string, seconds: number, flags: string): string {
  return `${name}=${value}; Path=/; Max-Age=${seconds}; SameSite=Strict${flags}`;
}

function secureFlag(secure: boolean): string {
  return secure ? '; Secure' : '';
}
