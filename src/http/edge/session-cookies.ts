// Session cookies of the console: one that scripts cannot read, and one that they must (contract 35).
import { providerCookieName, transactionSeconds } from '../../access/provider.ts';
import { cookieNames, csrfTokenOf, sessionLifetimeMs } from '../../access/session-authenticator.ts';

/** `set-cookie` values; `secure` when the platform is reached by https. */
export function sessionCookies(sessionToken: string, secure: boolean): string[] {
  const seconds = sessionLifetimeMs / 1_000;
  const names = cookieNames(secure);
  return [
    cookie(names.session, sessionToken, seconds, `; HttpOnly${secureFlag(secure)}`),
    cookie(names.csrf, csrfTokenOf(sessionToken), seconds, secureFlag(secure)),
  ];
}

/** Makes browsers forget both. */
export function clearedCookies(secure: boolean): string[] {
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
export function providerCookieOf(sealed: string, secure: boolean): string {
  return providerCookieFor(sealed, transactionSeconds, secure);
}

export function clearedProviderCookie(secure: boolean): string {
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
