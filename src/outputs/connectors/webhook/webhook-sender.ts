// Sender to webhooks: builds the request of a delivery from templates, credentials and a signature.
import { createHmac } from 'node:crypto';
import type { EgressGuard } from '../../egress/guard.ts';
import type { HttpAnswer, HttpCall } from '../../egress/http-exchange.ts';
import type { EpochMs } from '../../../model/instant.ts';
import { problem } from '../../../model/problem.ts';
import { renderTemplate } from '../../templates/render-template.ts';
import { parseTemplate, type Template } from '../../templates/template.ts';
import type { ConnectorServices } from '../connector-services.ts';
import { failureOf, outcomeOf } from '../http-answer.ts';
import { parseJsonObject } from '../../../model/json-keys.ts';
import { PermanentRefusal } from '../send-failure.ts';
import type { OutboundMessage, Target } from '../target.ts';
import type { ClientCredentials, WebhookProperties } from './webhook-properties.ts';

// Client credentials: tokens by the OAuth2 grant of that name, cached until shortly before they expire.

const tokenLimits = {
  lifetimeMsDefault: 300_000,
  renewBeforeMs: 30_000,
  charactersMax: 8_192,
} as const;

interface IssuedToken {
  readonly token: string;
  readonly lifetimeMs: number;
}

class TokenSource {
  readonly #credentials: ClientCredentials;
  readonly #egress: EgressGuard;
  readonly #now: () => EpochMs;
  #cached: { readonly token: string; readonly until: EpochMs } | undefined;

  constructor(credentials: ClientCredentials, egress: EgressGuard, now: () => EpochMs) {
    this.#credentials = credentials;
    this.#egress = egress;
    this.#now = now;
  }

  /** Resolves with a token that is valid for a while. Rejects when the token service issues none. */
  async current(signal: AbortSignal): Promise<string> {
    if (this.#cached !== undefined && this.#cached.until > this.#now()) return this.#cached.token;
    return this.#requestToken(signal);
  }

  /** Resolves with a token other than the rejected one. */
  async renewed(rejected: string, signal: AbortSignal): Promise<string> {
    if (this.#cached !== undefined && this.#cached.token !== rejected) return this.#cached.token;
    return this.#requestToken(signal);
  }

  async #requestToken(signal: AbortSignal): Promise<string> {
    const answer = await this.#egress.request(tokenRequest(this.#credentials), signal);
    const { token, lifetimeMs } = issuedToken(answer);
    this.#cached = { token, until: this.#now() + lifetimeMs - tokenLimits.renewBeforeMs };
    return token;
  }
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

const where = 'body webhookProperties';
/** Methods whose requests have no body. */
const bodyless = new Set(['GET']);

/** A webhook with its templates parsed. */
interface OpenWebhook {
  readonly properties: WebhookProperties;
  readonly uri: Template;
  /** The URL of all messages; undefined when it depends on the message. */
  readonly address: string | undefined;
  readonly headers: readonly (readonly [name: string, value: Template])[];
  /** The template of the properties, which replaces the payload of the message. */
  readonly payload: Template | undefined;
  readonly egress: EgressGuard;
  readonly now: () => EpochMs;
  /** Defined for OAUTH2. */
  readonly tokens: TokenSource | undefined;
}

export function createWebhookTarget(
  properties: WebhookProperties,
  { egress, now }: ConnectorServices,
): Target {
  const { authType, oauth2 } = properties;
  const uri = parseTemplate(properties.uri, 'url', `${where}.uri`);
  const isFixed = uri.parts.every((part) => typeof part === 'string');
  const webhook: OpenWebhook = {
    properties,
    uri,
    address: isFixed ? renderTemplate(uri, {}) : undefined,
    headers: Object.entries(properties.headers).map(([name, value]) => [
      name,
      parseTemplate(value, 'text', `${where}.headers.${name}`),
    ]),
    payload: payloadTemplate(properties),
    egress,
    now,
    tokens:
      authType === 'OAUTH2' && oauth2 !== null ? new TokenSource(oauth2, egress, now) : undefined,
  };
  return {
    async send(message, signal) {
      try {
        const { payload: template } = webhook;
        if (template === undefined) {
          const exchanged = { message, body: message.payload, signal };
          return outcomeOf(await request(webhook, exchanged), now);
        }
        const sent = renderTemplate(template, message.context);
        return { ...outcomeOf(await request(webhook, { message, body: sent, signal }), now), sent };
      } catch (error) {
        return failureOf(error, signal);
      }
    },
    close: async () => {},
  };
}

function payloadTemplate({ useCustomPayload, customPayload }: WebhookProperties) {
  if (!useCustomPayload || customPayload === null) return undefined;
  return parseTemplate(customPayload, 'json');
}

interface Exchanged {
  readonly message: OutboundMessage;
  readonly body: string;
  readonly signal: AbortSignal;
}

function request(webhook: OpenWebhook, exchanged: Exchanged): Promise<HttpAnswer> {
  const { tokens, egress } = webhook;
  if (tokens !== undefined) return requestWithToken(webhook, tokens, exchanged);
  const { message, body, signal } = exchanged;
  return egress.request(callOf(webhook, message, body), signal);
}

/**
 * Sends the request; with a new token once more, because the target may have revoked the first one.
 */
async function requestWithToken(
  webhook: OpenWebhook,
  tokens: TokenSource,
  { message, body, signal }: Exchanged,
): Promise<HttpAnswer> {
  const { egress } = webhook;
  const token = await tokens.current(signal);
  const answer = await egress.request(callOf(webhook, message, body, token), signal);
  if (answer.status !== 401) return answer;
  const renewed = await tokens.renewed(token, signal);
  return egress.request(callOf(webhook, message, body, renewed), signal);
}

function callOf(
  { properties, uri, address, headers, now }: OpenWebhook,
  message: OutboundMessage,
  body: string,
  token?: string,
): HttpCall {
  const hasBody = !bodyless.has(properties.method);
  const own = headers.map(([name, template]) => [name, headerText(template, message)]);
  return {
    method: properties.method,
    url: address ?? addressOf(uri, message),
    headers: {
      ...(own.length > 0 && (Object.fromEntries(own) as Readonly<Record<string, string>>)),
      ...(hasBody && { 'content-type': message.contentType }),
      ...authorization(properties, token),
      ...signatures(properties, message.deliveryId, hasBody ? body : '', now()),
      'x-delivery-id': message.deliveryId,
      'idempotency-key': message.deliveryId,
      'user-agent': 'heliograph',
    },
    ...(hasBody && { body }),
    ...(properties.caCertificate !== null && { ca: properties.caCertificate }),
  };
}

/** Encodes values of a device, so that they cannot end the header. */
function headerText(template: Template, { context }: OutboundMessage): string {
  return renderTemplate(template, context).replace(/[^\t\x20-\x7e]/g, (character) =>
    encodeURIComponent(character.toWellFormed()),
  );
}

/**
 * Returns the URL of a message. Throws `urlSegmentRefused` when a value makes a path segment `.` or
 * `..`, because the request would reach another path of the target, with the credentials of the
 * connector.
 */
function addressOf(uri: Template, { context }: OutboundMessage): string {
  let segment = '';
  let isFilled = false;
  const ended = (): void => {
    if (isFilled && /^(?:\.|%2e){1,2}$/i.test(segment))
      throw problem('urlSegmentRefused', { segment });
    segment = '';
    isFilled = false;
  };
  for (const part of uri.parts) {
    if (typeof part !== 'string') {
      segment += renderTemplate({ ...uri, parts: [part] }, context);
      isFilled = true;
      continue;
    }
    const [first = '', ...others] = part.split(/[/\\?#]/);
    segment += first;
    for (const other of others) {
      ended();
      segment = other;
    }
  }
  ended();
  return renderTemplate(uri, context);
}

function authorization(
  { authType, authHeaders, bearerToken, basicCredentials }: WebhookProperties,
  token: string | undefined,
): Readonly<Record<string, string>> {
  switch (authType) {
    case 'HEADER':
      return authHeaders;
    case 'BEARER':
      return { authorization: `Bearer ${bearerToken ?? ''}` };
    case 'BASIC':
      return { authorization: `Basic ${Buffer.from(basicCredentials ?? '').toString('base64')}` };
    case 'OAUTH2':
      return { authorization: `Bearer ${token ?? ''}` };
    case 'NONE':
      return {};
  }
}

/**
 * Returns the signature of the body, `sha256=<hex>`, and the headers of Standard Webhooks, whose
 * signature also covers the delivery ID and the time of the attempt: a receiver can then reject a
 * recorded request that is sent again.
 */
function signatures(
  { hmacSecret, hmacHeader }: WebhookProperties,
  deliveryId: string,
  body: string,
  now: EpochMs,
): Readonly<Record<string, string>> {
  if (hmacSecret === null) return {};
  const signed = (text: string) => createHmac('sha256', hmacSecret).update(text, 'utf8');
  const seconds = Math.floor(now / 1_000);
  return {
    'webhook-id': deliveryId,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${signed(`${deliveryId}.${seconds}.${body}`).digest('base64')}`,
    [hmacHeader.toLowerCase()]: `sha256=${signed(body).digest('hex')}`,
  };
}
