// Tokens by the OAuth2 client credentials grant, kept until shortly before they expire.
import type { EgressGuard } from '../../egress/guard.ts';
import type { EpochMs } from '../../model/instant.ts';
import { isJsonObject } from '../../model/json.ts';
import type { ClientCredentials } from '../../model/message-properties.ts';
import { call } from '../http-answer.ts';
import { PermanentRefusal } from '../send-failure.ts';

const tokenLimits = {
  lifetimeMsDefault: 300_000,
  renewBeforeMs: 30_000,
  charactersMax: 8_192,
} as const;

export interface Tokens {
  /** A token that is good for a while; rejects when none is given. */
  current(signal: AbortSignal): Promise<string>;
  /** A token other than the refused one. */
  renewed(refused: string, signal: AbortSignal): Promise<string>;
}

export function clientCredentials(
  credentials: ClientCredentials,
  egress: EgressGuard,
  now: () => EpochMs,
): Tokens {
  let kept: { readonly token: string; readonly until: number } | undefined;

  async function ask(signal: AbortSignal): Promise<string> {
    const form = new URLSearchParams({ grant_type: 'client_credentials' });
    if (credentials.scope !== null) form.set('scope', credentials.scope);
    const basic = [credentials.clientId, credentials.clientSecret]
      .map(encodeURIComponent)
      .join(':');
    const headers = {
      accept: 'application/json',
      authorization: `Basic ${Buffer.from(basic).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    };
    const request = { method: 'POST', url: credentials.tokenUrl, headers, body: form.toString() };
    const answer = await call(request, signal, egress.dispatcher());
    const given = parsed(answer.text);
    const token = given?.['access_token'];
    if (
      answer.status !== 200 ||
      typeof token !== 'string' ||
      token.length > tokenLimits.charactersMax
    ) {
      const told = `the token service answered ${answer.status} without a token`;
      throw answer.status >= 400 && answer.status < 500
        ? new PermanentRefusal(told)
        : new Error(told);
    }
    const seconds = given?.['expires_in'];
    const lifetimeMs =
      typeof seconds === 'number' ? seconds * 1_000 : tokenLimits.lifetimeMsDefault;
    kept = { token, until: now() + lifetimeMs - tokenLimits.renewBeforeMs };
    return token;
  }

  return {
    current: async (signal) =>
      kept !== undefined && kept.until > now() ? kept.token : ask(signal),
    renewed: async (refused, signal) =>
      kept !== undefined && kept.token !== refused ? kept.token : ask(signal),
  };
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
