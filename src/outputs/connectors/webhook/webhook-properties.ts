// Webhook properties: schemas and parser (contract 9).
import Type from 'typebox';
import type { PropertyReader } from '../property-parser.ts';
import {
  anyText,
  oneOf,
  optional,
  optionalFlag,
  optionalText,
  optionalTexts,
  text,
} from '../property-schemas.ts';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const contentTypes = ['JSON'] as const;
const authTypes = ['BEARER', 'HEADER', 'BASIC', 'NONE', 'OAUTH2'] as const;
const hmacHeaderDefault = 'X-Signature';

/** What a token service needs to issue a token. */
export type ClientCredentials = {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string | null;
};

export type WebhookProperties = {
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

export const webhookProperties = {
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

export function parseWebhook(sent: PropertyReader<keyof WebhookProperties>): WebhookProperties {
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
