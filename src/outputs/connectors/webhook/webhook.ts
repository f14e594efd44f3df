// Webhook: one HTTP request per delivery, with the headers and the authentication that its owner chose (contract 9).
import { createHmac } from 'node:crypto';
import Type from 'typebox';
import { connectorType, type PropertyChecks } from '../connector-type.ts';
import type { OutboundMessage, Target } from '../target.ts';
import {
  anyText,
  oneOf,
  optional,
  optionalFlag,
  optionalText,
  optionalTexts,
  type PropertyReader,
  text,
} from '../properties.ts';
import type { EgressGuard } from '../../egress/guard.ts';
import type { HttpAnswer, HttpCall } from '../../egress/http-exchange.ts';
import type { EpochMs } from '../../../model/instant.ts';
import { problem } from '../../../model/problem.ts';
import { parseTemplate, renderTemplate, type Template } from '../../templates/template.ts';
import type { ConnectorServices } from '../connector-services.ts';
import { failureOf, outcomeOf } from '../http-answer.ts';
import { parseJsonObject } from '../../../model/json-keys.ts';
import { PermanentRefusal } from '../send-failure.ts';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const contentTypes = ['JSON'] as const;
const authTypes = ['BEARER', 'HEADER', 'BASIC', 'NONE', 'OAUTH2'] as const;
const hmacHeaderDefault = 'X-Signature';

/** What a token service needs to issue a token. */
type ClientCredentials = {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string | null;
};

type WebhookProperties = {
  /** A template; scheme and host are fixed. */
  readonly uri: string;
  readonly method: (typeof methods)[number];
  readonly contentType: (typeof contentTypes)[number];
  readonly headers: Readonly<Record<string, string>>;
  readonly authType: (typeof authTypes)[number];
  readonly authHeaders: Readonly<Record<string, string>>;
  /** `user:password`. */
  readonly basicCredentials: string | null;
  readonly bearerToken: string | null;
  readonly oauth2: ClientCredentials | null;
  /** If set, every body is signed. */
  readonly hmacSecret: string | null;
  readonly hmacHeader: string;
  /** In PEM; null for the public authorities. */
  readonly caCertificate: string | null;
  /** Where old clients send the template that belongs to the connector. */
  readonly customPayload: string | null;
  readonly useCustomPayload: boolean;
};

const webhookProperties = {
  uri: text('URL with scheme http or https. Can be a template, except for scheme and host.'),
  method: optional(oneOf(methods)),
  contentType: optional(oneOf(contentTypes)),
  headers: optionalTexts('Headers by name. Values are templates.'),
  authType: optional(oneOf(authTypes)),
  authHeaders: optionalTexts('Headers by name, for `HEADER`. Secret.'),
  basicCredentials: optionalText('`username:password`, for `BASIC`. Secret.'),
  bearerToken: optionalText('Bearer token, for `BEARER`. Secret.'),
  oauth2: optional(
    Type.Object({
      tokenUrl: anyText,
      clientId: anyText,
      clientSecret: text('Client secret. Secret.'),
      scope: optional(anyText),
    }),
  ),
  hmacSecret: optionalText('HMAC secret that signs every request body. Secret.'),
  hmacHeader: optionalText('Header that carries the signature. Defaults to `X-Signature`.'),
  caCertificate: optionalText('CA certificate in PEM format, for a private authority.'),
  customPayload: optionalText("Template that replaces the connector's, for older clients."),
  useCustomPayload: optionalFlag(
    "Whether `customPayload` replaces the connector's payload, for older clients.",
  ),
};

function parseWebhook(sent: PropertyReader<keyof WebhookProperties>): WebhookProperties {
  const uri = sent.needed('uri');
  if (!/^https?:$/.test(URL.parse(uri)?.protocol ?? ''))
    sent.refuse('uri', 'must be an http or https URL');
  const webhook: WebhookProperties = {
    uri,
    method: sent.oneOf('method', methods, 'POST'),
    contentType: sent.oneOf('contentType', contentTypes, 'JSON'),
    headers: sent.texts('headers'),
    authType: sent.oneOf('authType', authTypes, 'NONE'),
    authHeaders: sent.texts('authHeaders'),
    basicCredentials: sent.text('basicCredentials'),
    bearerToken: sent.text('bearerToken'),
    oauth2: parseClientCredentials(sent.nested('oauth2')),
    hmacSecret: sent.text('hmacSecret'),
    hmacHeader: sent.text('hmacHeader') ?? hmacHeaderDefault,
    caCertificate: sent.text('caCertificate'),
    customPayload: sent.text('customPayload'),
    useCustomPayload: sent.flag('useCustomPayload'),
  };
  checkCredentials(sent, webhook);
  if (!/^[A-Za-z0-9-]{1,100}$/.test(webhook.hmacHeader))
    sent.refuse('hmacHeader', 'must be a valid header name');
  return webhook;
}

function parseClientCredentials(sent: PropertyReader | undefined): ClientCredentials | null {
  if (sent === undefined) return null;
  return {
    tokenUrl: sent.needed('tokenUrl'),
    clientId: sent.needed('clientId'),
    clientSecret: sent.needed('clientSecret'),
    scope: sent.text('scope'),
  };
}

function checkCredentials(
  sent: PropertyReader<keyof WebhookProperties>,
  { authType, bearerToken, basicCredentials, oauth2 }: WebhookProperties,
): void {
  if (authType === 'BEARER' && bearerToken === null)
    sent.refuse('bearerToken', 'is required for BEARER');
  if (authType === 'BASIC' && !basicCredentials?.includes(':'))
    sent.refuse('basicCredentials', 'must be user:password for BASIC');
  if (authType === 'OAUTH2' && oauth2 === null) sent.refuse('oauth2', 'is required for OAUTH2');
}

/** Headers that the platform sets itself. */
const ownHeaders = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'x-delivery-id',
  'idempotency-key',
]);

/** The member that an authentication type needs. */
const neededFor = new Map<unknown, readonly ['bearerToken' | 'basicCredentials' | 'oauth2']>([
  ['BEARER', ['bearerToken']],
  ['BASIC', ['basicCredentials']],
  ['OAUTH2', ['oauth2']],
]);

export const webhook = connectorType({
  vendorName: 'WEBHOOK',
  propertiesKey: 'webhookProperties',
  properties: webhookProperties,
  secrets: ['authHeaders', 'basicCredentials', 'bearerToken', 'oauth2.clientSecret', 'hmacSecret'],
  secretsByName: ['headers'],
  alsoNeeded: ({ authType }) => neededFor.get(authType) ?? [],
  needsJsonPayload: true,
  parse: parseWebhook,
  check,
  open: (properties, services) => createWebhookTarget(properties, services),
});

function check(properties: WebhookProperties, checks: PropertyChecks): void {
  const { uri, customPayload, authType, oauth2, headers, authHeaders } = properties;
  checks.url('uri', uri);
  checks.template('uri', uri, 'url');
  if (customPayload !== null) checks.template('customPayload', customPayload, 'json');
  if (authType === 'OAUTH2') checks.url('oauth2.tokenUrl', oauth2?.tokenUrl ?? '');
  for (const [name, value] of Object.entries(headers)) checks.template(`headers.${name}`, value);
  for (const [name, value] of [...Object.entries(headers), ...Object.entries(authHeaders)]) {
    if (isHeader(name, value) && !ownHeaders.has(name.toLowerCase())) continue;
    checks.refuse(undefined, `header ${JSON.stringify(name)} is reserved`);
  }
}

function isHeader(name: string, value: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) && !/[\r\n\0]/.test(value);
}

// The request of a delivery: built from templates, credentials and a signature.

// Client credentials: tokens by the OAuth2 grant of that name, cached until shortly before they expire.

const tokenLimits = {
  lifetimeMsDefault: 300_000,
  renewBeforeMs: 30_000,
  charactersMax: 8_192,
} as const;

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
function issuedToken({ status, text }: HttpAnswer): {
  readonly token: string;
  readonly lifetimeMs: number;
} {
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

function createWebhookTarget(
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
