// Routes of sign-in, sign-out and the own account (contract 35).
import { Accounts, type PasswordResetMail } from '../../access/accounts.ts';
import { UserSessions } from '../../access/user-sessions.ts';
import {
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
  type SecondFactorKind,
  SecondFactors,
  secondFactorsOf,
  Tickets,
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
import { unpagedOf } from '../../model/page.ts';
import type { FieldChange } from '../../model/record.ts';

import { Organizations } from '../../inventory/workspaces/organizations.ts';
import { ProviderMembers } from '../../inventory/members/members.ts';
import { newId } from '../../model/ids.ts';

type Input = RouteInput<unknown, unknown, unknown>;

/** What the routes of sign-in, second factors and passkeys share. */
export class SignIn {
  readonly records: Inventory;
  readonly now: () => number;
  readonly accounts: Accounts;
  readonly sessions: UserSessions;
  readonly publicUrl: () => string;
  readonly attempts: Attempts;
  /** The stricter limits of codes. */
  readonly codeAttempts: Attempts;
  /** Whether passwords count. */
  readonly localSignIn: boolean;
  /** Whether the platform is reached by https, so that cookies travel by nothing else. */
  readonly secure: boolean;

  constructor(
    records: Inventory,
    now: () => number,
    publicUrl: () => string,
    limits: { readonly attempts: Attempts; readonly codeAttempts: Attempts },
    settings: { readonly localSignIn: boolean; readonly publicUrl: string },
  ) {
    this.records = records;
    this.now = now;
    this.accounts = new Accounts(records, now);
    this.sessions = new UserSessions(records, now);
    this.publicUrl = publicUrl;
    this.attempts = limits.attempts;
    this.codeAttempts = limits.codeAttempts;
    this.localSignIn = settings.localSignIn;
    this.secure = settings.publicUrl.startsWith('https:');
  }

  /** Throws 403 where passwords do not count. */
  needLocalSignIn(): void {
    if (!this.localSignIn) throw problem('localSignInOff');
  }

  /** The user who asks. Throws 401 for a wrong password: an open session is not enough. */
  async ownerOf(ip: string, { id }: Principal, password: string): Promise<User> {
    this.needLocalSignIn();
    const work = () => this.accounts.withPassword(id, password);
    const user = await this.attempts.run({ ip, account: id }, work, (found) => found === undefined);
    if (user === undefined) throw problem('wrongPassword');
    return user;
  }

  /** Writes what the user did with the own account to the audit log. */
  async audit(
    { ip, requestId }: Input,
    principal: Principal,
    action: 'UPDATE' | 'LOGOUT',
    ...changes: readonly FieldChange[]
  ): Promise<void> {
    const { id, name, organizationId } = principal;
    const actor = { type: 'USER', id, name, requestId, ip } as const;
    const shown = changes.length > 0 && { changes };
    await auditAction(this.records, actor, { organizationId, action, user: principal, ...shown });
  }

  /** Starts the session, logs the sign-in and answers with the cookies. */
  async signedIn(
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
    const { sessionToken, session } = await this.sessions.start(user, {
      signInKind,
      organizationId: wanted,
      from: { ip, userAgent: headers['user-agent'] },
      replaced: sessionTokenOf(headers.cookie, this.secure),
    });
    const { organizationId } = session;
    const actor = { type: 'USER', id: user.id, name: user.name, requestId, ip } as const;
    const shown = secondFactor && { changes: [{ field: 'secondFactor', after: secondFactor }] };
    await auditAction(this.records, actor, { organizationId, action: 'LOGIN', user, ...shown });
    const seen = await this.accounts.account({ id: user.id, organizationId });
    const answer = { ...seen, csrfToken: csrfTokenOf(sessionToken) };
    return new Answer(200, answer, { 'set-cookie': sessionCookies(sessionToken, this.secure) });
  }
}

/** Of sign-in and sign-out, and of the own account and sessions. */
export function signInRoutes(
  own: SignIn,
  /** The present user of a session, in every organization of the user. */
  userOf: (sessionId: string) => Promise<Principal | undefined>,
  /** Undefined without a provider. */
  providerClient: ProviderClient | undefined,
): Route[] {
  return [
    ...loginRoutes(own),
    ...endingRoutes(own, providerClient),
    ...ownRoutes(own, userOf),
    ...accountRoutes(own),
    ...sessionRoutes(own),
  ];
}

function endingRoutes(own: SignIn, providerClient: ProviderClient | undefined): Route[] {
  const { records, sessions } = own;
  const cleared = { 'set-cookie': clearedCookies(own.secure) };
  return [
    route(signIn.logout, async (input, principal) => {
      const idToken = await idTokenOf(records, principal.sessionId!);
      await sessions.end([principal.sessionId!]);
      await own.audit(input, principal, 'LOGOUT');
      const endSessionUrl = await endSessionUrlOf(records, providerClient, idToken);
      if (endSessionUrl === undefined) return new Answer(204, undefined, cleared);
      return new Answer(200, { endSessionUrl }, cleared);
    }),
    route(signIn.logoutEverywhere, async (input, principal) => {
      await confirmEnding(own, input, principal);
      const ended = await sessions.endAll(principal.id);
      await own.audit(input, principal, 'LOGOUT');
      return new Answer(200, { sessions: ended }, cleared);
    }),
  ];
}

function ownRoutes(
  { accounts }: SignIn,
  userOf: (sessionId: string) => Promise<Principal | undefined>,
): Route[] {
  return [
    route(signIn.account, async (_input, principal) => {
      const { sessionId } = principal;
      // What a handler gets acts in one organization.
      const user = sessionId === undefined ? undefined : await userOf(sessionId);
      return accounts.caller(user ?? principal);
    }),
    route(signIn.preferences, (_input, principal) => accounts.preferences(principal)),
    route(signIn.savePreferences, ({ body }, principal) =>
      accounts.replacePreferences(principal, body),
    ),
  ];
}

function accountRoutes(own: SignIn): Route[] {
  const { accounts, sessions, attempts } = own;
  return [
    route(signIn.switchOrganization, async ({ body: { organizationId } }, principal) => {
      await sessions.switchOrganization(principal, organizationId);
      return accounts.account({ id: principal.id, organizationId });
    }),
    route(signIn.changePassword, async (input, principal) => {
      own.needLocalSignIn();
      const { body, ip } = input;
      const work = () => accounts.changePassword(principal, body);
      const changed = await attempts.run({ ip, account: principal.id }, work, (right) => !right);
      if (!changed) throw problem('wrongPassword');
      await own.audit(input, principal, 'UPDATE', { field: 'password', secret: true });
      return undefined;
    }),
  ];
}

// Routes of signing in with a password: one step, or two for a user with a second factor (contract 35).

function loginRoutes(own: SignIn): Route[] {
  return [passwordRoute(own), secondStepRoute(own)];
}

function passwordRoute(own: SignIn): Route {
  const { records, accounts, attempts } = own;
  return route(signIn.login, async (input) => {
    own.needLocalSignIn();
    const { body, ip } = input;
    const { email, password, organizationId } = body;
    const account = emailAddressOf(email);
    const work = () => accounts.authenticate(email, password);
    const user = await attempts.run({ ip, account }, work, (found) => found === undefined);
    if (user === undefined) throw problem('wrongPassword');
    const secondFactors = await secondFactorsOf(records.db, user.id);
    if (secondFactors.length === 0) return own.signedIn(input, { user, organizationId });
    const second = await secondStepOf(own, user, {
      organizationId: organizationId ?? null,
      secondFactors,
    });
    // `otherAnswers` describes it.
    return new Answer(202, second as never);
  });
}

/** What the client needs for the second step. */
async function secondStepOf(
  { records, now, publicUrl }: SignIn,
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
  const { ticket, expiresAt } = new Tickets(records, now).seal('secondFactor', content);
  const party = relyingPartyOf(publicUrl());
  const answer = { ticket, expires: formatInstant(expiresAt), secondFactors };
  if (party === undefined || !secondFactors.includes('PASSKEY'))
    return { ...answer, passkeyOptions: null };
  const asked = { challenge, party };
  return { ...answer, passkeyOptions: await signatureOptions(records.db, asked, userId) };
}

function secondStepRoute(own: SignIn): Route {
  const { records, now, accounts, codeAttempts, publicUrl } = own;
  const tickets = new Tickets(records, now);
  const secondFactors = new SecondFactors(records, now);
  return route(signIn.secondStep, async (input) => {
    own.needLocalSignIn();
    const { body, ip } = input;
    const first = tickets.open('secondFactor', body.ticket);
    if (first === undefined) throw problem('ticketExpired');
    const { userId: account, organizationId } = first;
    const user = await accounts.ofFirstStep(first);
    const work = () => secondFactors.check(first, body, relyingPartyOf(publicUrl()));
    const kind = await codeAttempts.run({ ip, account }, work, (found) => found === undefined);
    if (kind === undefined) throw problem('wrongCode');
    return own.signedIn(input, { user, organizationId, secondFactor: kind });
  });
}

// Routes of the own sessions (contract 35).

interface Confirmed {
  readonly ip: string;
  readonly body?: { readonly password?: string | null | undefined } | undefined;
}

/**
 * A session alone ends no others, because it may be in foreign hands. Throws 403 without the
 * password of the user, 401 for a wrong one.
 */
async function confirmEnding(
  own: SignIn,
  { ip, body }: Confirmed,
  principal: Principal,
): Promise<void> {
  if (await own.sessions.isRecent(principal)) return;
  const password = body?.password ?? undefined;
  if (password === undefined) throw problem('authenticateAgain');
  await own.ownerOf(ip, principal, password);
}

function sessionRoutes(own: SignIn): Route[] {
  const { sessions } = own;
  return [
    route(ownSessions.list, async (_input, principal) =>
      unpagedOf(await sessions.listOwn(principal)),
    ),
    route(ownSessions.end, async (input, principal) => {
      if (input.params.id !== principal.sessionId) await confirmEnding(own, input, principal);
      const { id, userAgent, ip } = await sessions.endOwn(principal, input.params.id);
      const ended = { field: 'session', before: { id, userAgent, ip } };
      await own.audit(input, principal, 'LOGOUT', ended);
    }),
    route(ownSessions.endOthers, async (input, principal) => {
      await confirmEnding(own, input, principal);
      const ended = await sessions.endAll(principal.id, principal.sessionId);
      const changed = { field: 'sessions', before: ended + 1, after: 1 };
      await own.audit(input, principal, 'LOGOUT', changed);
      return { sessions: ended };
    }),
  ];
}

// Routes of password resets: request a link by address, use the mailed link (contract 36).

/** Number of immediate requests, and the seconds until each further one. */
const limits = {
  network: { capacity: 20, perSecond: 1 / 180 },
  // Above it the address gets no further mail, and the answer does not say so.
  address: { capacity: 3, perSecond: 1 / 1_200 },
} as const;
const keysMax = 100_000;

export function passwordResetRoutes(
  own: SignIn,
  /** Mails without being waited for; undefined when the installation sends no mail. */
  sendMail: ((mail: PasswordResetMail) => void) | undefined,
  failed: (error: unknown) => void,
): Route[] {
  const { records, now, accounts, publicUrl } = own;
  const networks = new TokenBuckets({ ...limits.network, keysMax, now });
  const addresses = new TokenBuckets({ ...limits.address, keysMax, now });
  const mail = async (email: string): Promise<void> => {
    const prepared = await accounts.preparePasswordReset(email, publicUrl());
    if (prepared !== undefined) sendMail?.(prepared);
  };
  return [
    route(passwordReset.request, ({ body: { email }, ip }) => {
      own.needLocalSignIn();
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
      own.needLocalSignIn();
      const user = await accounts.resetPassword(params.token, body.password);
      const actor = { type: 'USER', id: user.id, name: user.name, requestId, ip } as const;
      for (const organizationId of await new Organizations(records).ofUser(user.id)) {
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

type ActAs = <T>(actor: Actor, work: () => T) => T;
type Refused = (error: unknown) => Answer<unknown>;

export function providerSignInRoutes(
  own: SignIn,
  provider: SignInProvider,
  client: ProviderClient,
  actAs: ActAs,
  /** Reports why a sign-in failed; the browser gets only the kind of failure. */
  failed: (failure: ProviderFailure, error: unknown) => void,
): Route[] {
  const refused = (error: unknown): Answer<unknown> => {
    const failure = failureOf(error);
    failed(failure, error);
    // The sign-in page says in words what the kind of failure means.
    return new Answer(302, undefined, {
      location: `${own.publicUrl()}/sign-in?problem=${failure}`,
      'set-cookie': clearedProviderCookie(own.secure),
    });
  };
  return [
    startRoute(own, client, refused),
    callbackRoute(own, refused, (input) => signedInByProvider(own, provider, client, actAs, input)),
    backChannelRoute(own, client, failed),
  ];
}

function startRoute(
  { records, now, secure }: SignIn,
  client: ProviderClient,
  refused: Refused,
): Route {
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
      return refused(error);
    }
  });
}

function callbackRoute(
  { attempts }: SignIn,
  refused: Refused,
  signedIn: (input: CallbackInput) => Promise<Answer<unknown>>,
): Route {
  return route(providerSignIn.callback, async (input) => {
    try {
      // Each costs a request to the provider, so that failures of one network are counted.
      return await attempts.run(
        { ip: input.ip },
        () => signedIn(input),
        () => false,
      );
    } catch (error) {
      return refused(error);
    }
  });
}

type CallbackInput = InputOf<typeof providerSignIn.callback>;

async function signedInByProvider(
  own: SignIn,
  provider: SignInProvider,
  client: ProviderClient,
  actAs: ActAs,
  { headers, query, ip, requestId }: CallbackInput,
): Promise<Answer<unknown>> {
  const { records, sessions, publicUrl, now, secure } = own;
  const sealed = cookieValue(headers.cookie, providerCookieName(secure));
  const transaction = openTransaction(records.sealer, sealed, now());
  if (transaction === undefined || query.state !== transaction.state)
    throw problem('signInExpired');
  // Never the Host header: the provider compares the address.
  const came = new URL(publicUrl() + providerSignIn.callback.path);
  for (const [name, value] of Object.entries(query)) came.searchParams.set(name, String(value));
  const { person, providerSession, idToken } = await client.finish(came, transaction);
  refuseOtherDomains(provider, person.email);
  const known = await new ProviderMembers(records).userOf(person);
  const id = known?.id ?? newId('user');
  const name = known?.name ?? person.name ?? person.email ?? person.subject;
  const actor: Actor = { type: 'USER', id, name, requestId, ip };
  const user = await actAs(actor, () =>
    new ProviderMembers(records).admit(person, provider.roles, id),
  );
  const { session, sessionToken } = await sessions.start(user, {
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

function backChannelRoute(
  { sessions, attempts }: SignIn,
  client: ProviderClient,
  failed: (failure: ProviderFailure, error: unknown) => void,
): Route {
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
      await sessions.endOfProvider(ended);
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
