// Sign-in provider: the authorization code flow of OpenID Connect with PKCE, its failures, its sessions and both ways of signing out.
import { randomBytes } from 'node:crypto';
import { createRemoteJWKSet, customFetch, jwtVerify } from 'jose';
import type * as OpenId from 'openid-client';
import {
  emailAddressOf,
  type ProvenPerson,
  type ProviderFailure,
  type SignInProvider,
} from '../model/user.ts';
import { type EpochMs, isWithin } from '../model/instant.ts';
import { Problem, type ProblemName } from '../model/problem.ts';
import type { Records } from '../storage/records/records.ts';
import { sessionRows } from '../storage/records/rows/sign-in.ts';
import type { Sealer } from '../storage/records/secret-encryption.ts';

interface EndedAtProvider {
  readonly issuer: string;
  readonly subject: string | undefined;
  readonly providerSession: string | undefined;
}

type ProviderFetch = (url: string, init: OpenId.CustomFetchOptions) => Promise<Response>;

interface Known {
  readonly openId: typeof OpenId;
  readonly configuration: OpenId.Configuration;
  readonly keys: ReturnType<typeof createRemoteJWKSet>;
}

/** Metadata and keys of a provider change rarely; after this time they are read again. */
const knownForMs = 3_600_000;
const logoutTokenAge = '10 minutes';
const clockSkewSeconds = 60;
const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';

/**
 * Asks the provider for its metadata with the first use, so that the platform starts without it.
 * A failure is not kept.
 */
export class ProviderClient {
  readonly #provider: SignInProvider;
  readonly #fetch: ProviderFetch;
  readonly #publicUrl: () => string;
  readonly #now: () => EpochMs;
  #known: Promise<Known> | undefined;
  #readAt = 0;

  constructor(
    provider: SignInProvider,
    fetch: ProviderFetch,
    publicUrl: () => string,
    now: () => EpochMs,
  ) {
    this.#provider = provider;
    this.#fetch = fetch;
    this.#publicUrl = publicUrl;
    this.#now = now;
  }

  /** Where the browser goes to prove who its user is. */
  async begin({ state, nonce, verifier }: ProviderTransaction): Promise<URL> {
    const { openId, configuration } = await this.#discovered();
    return openId.buildAuthorizationUrl(configuration, {
      redirect_uri: `${this.#publicUrl()}${callbackPath}`,
      scope: this.#provider.scopes,
      state,
      nonce,
      code_challenge: await openId.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
  }

  /** Exchanges the code in the address that the browser came back to. */
  async finish(
    came: URL,
    { state, nonce, verifier }: ProviderTransaction,
  ): Promise<{
    readonly person: ProvenPerson;
    readonly providerSession: string | null;
    readonly idToken: string;
  }> {
    const { openId, configuration } = await this.#discovered();
    const tokens = await openId.authorizationCodeGrant(configuration, came, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined || tokens.id_token === undefined)
      throw new Error('The provider returned no ID token');
    const info = await userInfoOf({ openId, configuration }, tokens.access_token, claims.sub);
    const providerSession = typeof claims['sid'] === 'string' ? claims['sid'] : null;
    const person = personOf(this.#provider, claims, info);
    return { person, providerSession, idToken: tokens.id_token };
  }

  /** Where the browser ends the session at the provider; undefined when it has no such page. */
  async endSessionUrl(idToken: string): Promise<string | undefined> {
    const { openId, configuration } = await this.#discovered();
    if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
    const back = `${this.#publicUrl()}/sign-in`;
    const parameters = { id_token_hint: idToken, post_logout_redirect_uri: back };
    return openId.buildEndSessionUrl(configuration, parameters).href;
  }

  /** Throws for a token that is not a valid notification of the provider. */
  async readLogoutToken(token: string): Promise<EndedAtProvider> {
    return readLogoutToken(await this.#discovered(), token, this.#provider.clientId, this.#now());
  }

  #discovered(): Promise<Known> {
    if (this.#known !== undefined && isWithin(knownForMs, this.#readAt, this.#now()))
      return this.#known;
    this.#readAt = this.#now();
    const reading = discover(this.#provider, this.#fetch);
    this.#known = reading;
    reading.catch(() => {
      if (this.#known === reading) this.#known = undefined;
    });
    return reading;
  }
}

const callbackPath = '/v3/auth/oidc/callback';

async function readLogoutToken(
  { configuration, keys }: Known,
  token: string,
  clientId: string,
  now: EpochMs,
): Promise<EndedAtProvider> {
  const { issuer } = configuration.serverMetadata();
  const { payload } = await jwtVerify(token, keys, {
    issuer,
    audience: clientId,
    // Any other token of the provider, such as an ID token, ends no session (contract 42).
    typ: 'logout+jwt',
    maxTokenAge: logoutTokenAge,
    clockTolerance: clockSkewSeconds,
    currentDate: new Date(now),
  });
  const events = payload['events'] as Readonly<Record<string, unknown>> | undefined;
  if (typeof events?.[logoutEvent] !== 'object') throw new Error('The token is not a logout token');
  // An ID token has one: it must not end sessions.
  if (payload['nonce'] !== undefined) throw new Error('A logout token must not contain a nonce');
  const providerSession = typeof payload['sid'] === 'string' ? payload['sid'] : undefined;
  if (providerSession === undefined && payload.sub === undefined)
    throw new Error('The token contains neither a session nor a subject');
  return { issuer, subject: payload.sub, providerSession };
}

async function discover(provider: SignInProvider, fetch: ProviderFetch): Promise<Known> {
  const openId = await import('openid-client');
  const { issuer, clientId, clientSecret } = provider;
  const isLocal = issuer.startsWith('http:');
  const execute = [openId.enableNonRepudiationChecks];
  if (isLocal) execute.push(openId.allowInsecureRequests);
  const options = { execute, [openId.customFetch]: fetch };
  const found = await openId.discovery(new URL(issuer), clientId, {}, openId.None(), options);
  const metadata = found.serverMetadata();
  const configuration = new openId.Configuration(
    metadata,
    clientId,
    clientSecret,
    authenticationOf(openId, clientSecret, metadata.token_endpoint_auth_methods_supported),
  );
  configuration[openId.customFetch] = fetch;
  for (const apply of execute) apply(configuration);
  if (metadata.jwks_uri === undefined) throw new Error('The provider publishes no keys');
  const keys = createRemoteJWKSet(new URL(metadata.jwks_uri), { [customFetch]: fetch as never });
  return { openId, configuration, keys };
}

/** By the standard, a provider that names no method takes HTTP Basic. */
function authenticationOf(
  openId: typeof OpenId,
  clientSecret: string | undefined,
  methods: readonly string[] | undefined,
): OpenId.ClientAuth {
  if (clientSecret === undefined) return openId.None();
  if (methods?.includes('client_secret_post') === true)
    return openId.ClientSecretPost(clientSecret);
  return openId.ClientSecretBasic(clientSecret);
}

/** E-mail and groups are often here only. */
async function userInfoOf(
  { openId, configuration }: Pick<Known, 'openId' | 'configuration'>,
  accessToken: string,
  subject: string,
): Promise<Readonly<Record<string, unknown>>> {
  if (configuration.serverMetadata().userinfo_endpoint === undefined) return {};
  return openId.fetchUserInfo(configuration, accessToken, subject);
}

// Provider claims: the person in the claims of a provider, with its groups.

type Claims = Readonly<Record<string, unknown>> & { readonly sub: string; readonly iss: string };

const claimLimits = { groupsMax: 5_000, lengthMax: 500 } as const;
const emailForm = /^[^\s@]+@[^\s@]+$/;
const emailLengthMax = 254;

/** `info`: what the provider says of the same subject besides, with more claims. */
function personOf(
  { groupsClaim, trustsEmail }: SignInProvider,
  token: Claims,
  info: Readonly<Record<string, unknown>>,
): ProvenPerson {
  const { sub: subject, iss: issuer } = token;
  const claims = { ...token, ...info };
  const withEmail = [token, info].filter((said) => said['email'] !== undefined);
  const verified = withEmail.find((said) => said['email_verified'] === true);
  const trusted = trustsEmail ? withEmail[0] : undefined;
  return {
    issuer,
    subject,
    email: emailOf(verified ?? trusted ?? {}),
    name: textOf(claims['name']) ?? textOf(claims['preferred_username']),
    groups: groupsOf(claimAt(claims, groupsClaim)),
  };
}

/**
 * An address counts only when the provider says that it is verified, in the same token: another
 * one can have another address. Or the operator says so for the provider.
 */
function emailOf(said: Readonly<Record<string, unknown>>): string | undefined {
  const { email: claim } = said;
  if (typeof claim !== 'string' || claim.length > emailLengthMax) return undefined;
  const email = emailAddressOf(claim);
  return emailForm.test(email) ? email : undefined;
}

/** By its whole name, which may be a URL with dots, else by its path. */
function claimAt(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let found: unknown = claims;
  for (const part of name.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part))
      return undefined;
    found = (found as Readonly<Record<string, unknown>>)[part];
  }
  return found;
}

function groupsOf(claim: unknown): readonly string[] {
  const texts = [claim].flat().map(textOf);
  return texts.filter((text) => text !== undefined).slice(0, claimLimits.groupsMax);
}

function textOf(claim: unknown): string | undefined {
  if (typeof claim !== 'string' || claim === '') return undefined;
  return claim.slice(0, claimLimits.lengthMax);
}

// Provider failure: what kind of failure an error of a sign-in by the provider is.

const byProblem: Partial<Record<ProblemName, ProviderFailure>> = {
  signInExpired: 'EXPIRED',
  noEntry: 'NO_ENTRY',
  noOrganization: 'NO_ENTRY',
  emailNotVerified: 'EMAIL_NOT_VERIFIED',
  emailTaken: 'EMAIL_TAKEN',
  tooManyAttempts: 'TOO_MANY_ATTEMPTS',
};
/** Names and codes of errors that say that no answer came from the provider. */
const unreachable = /^(EgressRefused|TimeoutError|E[A-Z]+|UND_ERR_\w+)$/;

export function failureOf(thrown: unknown): ProviderFailure {
  if (thrown instanceof Problem) return byProblem[thrown.problem] ?? 'FAILED';
  if (!(thrown instanceof Error)) return 'FAILED';
  // The provider sends the browser back with this when its user says no.
  if ('error' in thrown && thrown.error === 'access_denied') return 'DENIED';
  return causesOf(thrown).some(isUnreachable) ? 'UNREACHABLE' : 'FAILED';
}

function isUnreachable(error: Error): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return unreachable.test(error.name) || (typeof code === 'string' && unreachable.test(code));
}

const causesMax = 5;

function causesOf(error: Error): readonly Error[] {
  const causes: Error[] = [];
  let next: unknown = error;
  while (next instanceof Error && causes.length < causesMax) {
    causes.push(next);
    next = next.cause;
  }
  return causes;
}

// Provider transaction: what the browser keeps, sealed, while its user is at the provider.

/** For one path, so that it cannot have the prefix of the session's. */
export const providerCookieName = (secure: boolean) => (secure ? '__Secure-oidc' : 'oidc');
export const transactionSeconds = 600;
const secretBytes = 32;
const sealedLengthMax = 4_096;
const purpose = 'oidc';

interface ProviderTransaction {
  /** Repeated by the provider, so that a foreign page cannot end a sign-in that it began. */
  readonly state: string;
  /** Repeated in the ID token. */
  readonly nonce: string;
  /** Proves that who exchanges the code is who asked for it (RFC 7636). */
  readonly verifier: string;
  /** Where the user wanted to go: a path of the console. */
  readonly to: string;
}

export function newTransaction(to: string | undefined): ProviderTransaction {
  const secret = () => randomBytes(secretBytes).toString('base64url');
  return { state: secret(), nonce: secret(), verifier: secret(), to: pathOf(to) };
}

/** Browsers take a backslash for a slash, and two slashes for another host. */
function pathOf(to: string | undefined): string {
  if (to === undefined || !/^\/(?![/\\])[^\\\s]*$/.test(to)) return '/';
  return to;
}

export function sealTransaction(
  sealer: Sealer,
  transaction: ProviderTransaction,
  now: EpochMs,
): string {
  const expiresAt = now + transactionSeconds * 1_000;
  return sealer.seal(JSON.stringify({ ...transaction, purpose, expiresAt }));
}

/** Undefined for one that is missing, expired or was not sealed here. */
export function openTransaction(
  sealer: Sealer,
  sealed: string | undefined,
  now: EpochMs,
): ProviderTransaction | undefined {
  if (sealed === undefined || sealed.length > sealedLengthMax) return undefined;
  try {
    const { expiresAt, ...opened } = JSON.parse(sealer.open(sealed)) as ProviderTransaction & {
      readonly purpose?: string;
      readonly expiresAt: EpochMs;
    };
    return opened.purpose === purpose && expiresAt > now ? opened : undefined;
  } catch {
    // Any caller can send any cookie: one that cannot be opened was not sealed here.
    return undefined;
  }
}

// Provider sessions: sessions that the sign-in provider began, and ends.

/** Sealed; null for a session that no provider began. */
export async function idTokenOf({ db }: Records, sessionId: string): Promise<string | null> {
  return (await sessionRows.find(db, sessionId))?.idToken ?? null;
}

/**
 * Where the browser ends the session at the provider too; undefined for sessions that it did not
 * begin, and when it does not answer, because the user is signed out here anyway.
 */
export async function endSessionUrlOf(
  records: Records,
  client: ProviderClient | undefined,
  idToken: string | null,
): Promise<string | undefined> {
  if (client === undefined || idToken === null) return undefined;
  try {
    return await client.endSessionUrl(records.sealer.open(idToken));
  } catch {
    return undefined;
  }
}
