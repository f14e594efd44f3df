// Output to a webhook: one HTTP request a delivery, with the headers and the authentication that its owner chose (contract 9).
import { createHmac } from 'node:crypto';
import type { EgressGuard } from '../../egress/guard.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { WebhookProperties } from '../../model/message-properties.ts';
import { problem } from '../../model/problem.ts';
import { renderTemplate } from '../../templates/render-template.ts';
import { parseTemplate, type Template } from '../../templates/template.ts';
import type { OutboundConnector, OutboundMessage, SendOutcome, Target } from '../target.ts';
import { clientCredentials } from './client-credentials.ts';
import { call, failureOf, type HttpCall, outcomeOf } from '../http-answer.ts';

const where = 'body webhookProperties';
/** Methods whose requests carry no payload. */
const bodyless = new Set(['GET']);
/** What the platform itself says in a request. */
const ownHeaders = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'x-delivery-id',
  'idempotency-key',
]);

export const webhookConnector: OutboundConnector = {
  type: 'WEBHOOK',
  check(properties, egress) {
    const webhook = properties as unknown as WebhookProperties;
    egress.checkUrl(webhook.uri, 'webhookProperties.uri');
    parseTemplate(webhook.uri, 'url', `${where}.uri`);
    if (webhook.customPayload !== null)
      parseTemplate(webhook.customPayload, 'json', `${where}.customPayload`);
    if (webhook.authType === 'OAUTH2')
      egress.checkUrl(webhook.oauth2?.tokenUrl ?? '', 'webhookProperties.oauth2.tokenUrl');
    for (const [name, value] of Object.entries(webhook.headers))
      parseTemplate(value, 'text', `${where}.headers.${name}`);
    for (const [name, value] of [
      ...Object.entries(webhook.headers),
      ...Object.entries(webhook.authHeaders),
    ]) {
      if (
        !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) ||
        /[\r\n\0]/.test(value) ||
        ownHeaders.has(name.toLowerCase())
      ) {
        throw problem('invalidRequest', {
          reason: `${where}: the header ${JSON.stringify(name)} cannot be set`,
        });
      }
    }
  },
  open(properties, egress, now) {
    return webhookTarget(properties as unknown as WebhookProperties, egress, now);
  },
};

function webhookTarget(
  webhook: WebhookProperties,
  egress: EgressGuard,
  now: () => EpochMs,
): Target {
  const uri = parseTemplate(webhook.uri, 'url', `${where}.uri`);
  const templates = Object.entries(webhook.headers).map(
    ([name, value]) => [name, parseTemplate(value, 'text', `${where}.headers.${name}`)] as const,
  );
  const legacy = webhook.useCustomPayload && webhook.customPayload !== null;
  const payload = legacy ? parseTemplate(webhook.customPayload ?? '', 'json') : undefined;
  const tls = webhook.caCertificate === null ? {} : { ca: webhook.caCertificate };
  const dispatcher = egress.dispatcher(tls);
  const tokens =
    webhook.oauth2 === null ? undefined : clientCredentials(webhook.oauth2, egress, now);

  function callOf(message: OutboundMessage, body: string, token: string | undefined): HttpCall {
    const hasBody = !bodyless.has(webhook.method);
    const headers = {
      ...Object.fromEntries(
        templates.map(([name, template]) => [name, headerText(template, message)]),
      ),
      ...(hasBody ? { 'content-type': message.contentType } : {}),
      ...authorization(webhook, token),
      ...signature(webhook, hasBody ? body : ''),
      'x-delivery-id': message.deliveryId,
      'idempotency-key': message.deliveryId,
      'user-agent': 'heliograph',
    };
    const url = addressOf(uri, message);
    return { method: webhook.method, url, headers, ...(hasBody ? { body } : {}) };
  }

  async function attempt(
    message: OutboundMessage,
    body: string,
    signal: AbortSignal,
  ): Promise<SendOutcome> {
    const token = webhook.authType === 'OAUTH2' ? await tokens?.current(signal) : undefined;
    const answer = await call(callOf(message, body, token), signal, dispatcher);
    // A token may have been revoked before its time: once with a new one belongs to the same try.
    if (answer.status !== 401 || token === undefined || tokens === undefined)
      return outcomeOf(answer, now);
    return outcomeOf(
      await call(callOf(message, body, await tokens.renewed(token, signal)), signal, dispatcher),
      now,
    );
  }

  return {
    async send(message, signal) {
      try {
        const body =
          payload === undefined ? message.payload : renderTemplate(payload, message.context);
        const outcome = await attempt(message, body, signal);
        return payload === undefined ? outcome : { ...outcome, sent: body };
      } catch (error) {
        return failureOf(error, signal);
      }
    },
    close: async () => {},
  };
}

/** What a device sends must not break out of the header. */
function headerText(template: Template, { context }: OutboundMessage): string {
  return renderTemplate(template, context).replace(/[^\t\x20-\x7e]/g, (character) =>
    encodeURIComponent(character.toWellFormed()),
  );
}

/**
 * The address of a message. Throws Problem `urlSegmentRefused` when a value makes a segment of the path `.` or `..`, which would lead
 * elsewhere on the target, with its credentials.
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
  webhook: WebhookProperties,
  token: string | undefined,
): Readonly<Record<string, string>> {
  const { authType, authHeaders, bearerToken, basicCredentials } = webhook;
  if (authType === 'HEADER') return authHeaders;
  if (authType === 'BEARER') return { authorization: `Bearer ${bearerToken ?? ''}` };
  if (authType === 'BASIC') {
    return {
      authorization: `Basic ${Buffer.from(basicCredentials ?? '', 'utf8').toString('base64')}`,
    };
  }
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

/** `sha256=<hex>` of the body, so that the receiver can tell who sent it and that nobody changed it. */
function signature(
  { hmacSecret, hmacHeader }: WebhookProperties,
  body: string,
): Readonly<Record<string, string>> {
  if (hmacSecret === null) return {};
  return {
    [hmacHeader.toLowerCase()]: `sha256=${createHmac('sha256', hmacSecret).update(body, 'utf8').digest('hex')}`,
  };
}
