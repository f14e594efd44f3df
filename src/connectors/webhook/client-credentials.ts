// Client credentials: tokens by the OAuth2 grant of that name, cached until shortly before they expire.
import type { EgressGuard } from '../../egress/guard.ts';
import type { HttpAnswer, HttpCall } from '../../egress/http-exchange.ts';
import type { EpochMs } from '../../model/instant.ts';
import { parseJsonObject } from '../json-object.ts';
import { PermanentRefusal } from '../send-failure.ts';
import type { ClientCredentials } from './webhook-properties.ts';

const tokenLimits = {
  lifetimeMsDefault: 300_000,
  renewBeforeMs: 30_000,
  charactersMax: 8_192,
} as const;

export interface TokenSource {
  /**
   * Resolves with a token that is valid for a while. Rejects when the token service issues none.
   */
  current(signal: AbortSignal): Promise<string>;
  /** Resolves with a token other than the rejected one. */
  renewed(rejected: string, signal: AbortSignal): Promise<string>;
}

interface IssuedToken {
  readonly token: string;
  readonly lifetimeMs: number;
}

export function createTokenSource(
  credentials: ClientCredentials,
  egress: EgressGuard,
  now: () => EpochMs,
): TokenSource {
  let cached: { readonly token: string; readonly until: EpochMs } | undefined;

  async function requestToken(signal: AbortSignal): Promise<string> {
    const answer = await egress.request(tokenRequest(credentials), signal);
    const { token, lifetimeMs } = issuedToken(answer);
    cached = { token, until: now() + lifetimeMs - tokenLimits.renewBeforeMs };
    return token;
  }

  return {
    async current(signal) {
      if (cached !== undefined && cached.until > now()) return cached.token;
      return requestToken(signal);
    },
    async renewed(rejected, signal) {
      if (cached !== undefined && cached.token !== rejected) return cached.token;
      return requestToken(signal);
    },
  };
}

function tokenRequest({ tokenUrl, clientId, clientSecret, scope }: ClientCredentials): HttpCall {
  const form = new URLSearchParams({ grant_type: 'client_credentials' });
  if (scope !== null) form.set('scope', scope);
  const basic = [clientId, clientSecret].map(encodeURIComponent).join(':');
  const headers = {
    accept: 'application/json',
    authorization: `Basic ${Buffer.from(basic).toString('base64')}`,
    'content-type': 'application/x-www-form-urlencoded',
  };
  return { method: 'POST', url: tokenUrl, headers, body: form.toString() };
}

/**
 * Throws `PermanentRefusal` for an answer 4xx, else an Error, when the answer has no usable token.
 */
function issuedToken({ status, text }: HttpAnswer): IssuedToken {
  const { access_token: token, expires_in: seconds } = parseJsonObject(text) ?? {};
  if (status === 200 && typeof token === 'string' && token.length <= tokenLimits.charactersMax) {
    if (typeof seconds !== 'number') return { token, lifetimeMs: tokenLimits.lifetimeMsDefault };
    return { token, lifetimeMs: seconds * 1_000 };
  }
  const told = `the token service returned ${status} without a token`;
  if (status >= 400 && status < 500) throw new PermanentRefusal(told);
  throw new Error(told);
}
