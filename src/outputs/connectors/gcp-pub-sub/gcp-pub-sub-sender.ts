// Sender to Google Cloud Pub/Sub: one message per delivery over HTTPS, with a token that the service account signs itself.
import { importPKCS8, SignJWT } from 'jose';
import type { EpochMs } from '../../../model/instant.ts';
import type { HttpCall } from '../../egress/http-exchange.ts';
import type { ConnectorServices } from '../connector-services.ts';
import { attemptHttp } from '../http-answer.ts';
import { attempt } from '../send-failure.ts';
import type { OutboundMessage, Target } from '../target.ts';
import {
  type GcpPubSubProperties,
  type ServiceAccount,
  serviceAccount,
} from './gcp-pub-sub-properties.ts';

const globalEndpoint = 'https://pubsub.googleapis.com';
/** The audience of a token is the same for every endpoint. */
const audience = 'https://pubsub.googleapis.com/';
const tokenSeconds = 3_600;
const renewBeforeSeconds = 300;

/** `gcpServiceAccountKey` is used by connectors without a key of their own. */
export function createPubSubTarget(
  properties: GcpPubSubProperties,
  { egress, now, gcpServiceAccountKey }: ConnectorServices,
): Target {
  const account = serviceAccount(properties.serviceAccountKey ?? gcpServiceAccountKey ?? '');
  if (account === undefined) throw new Error('The stored service account key is not valid');
  const nextToken = createTokenSource(account, now);
  return {
    async send(message, signal) {
      let token = '';
      const signed = await attempt(signal, async () => (token = await nextToken()));
      if (!signed.ok) return signed;
      return attemptHttp({ egress, now, signal }, publish(properties, message, token));
    },
    close: async () => {},
  };
}

/** Messages of a device share an ordering key, so that subscribers can receive them in order. */
function publish(
  { pubSubTopic, endpoint }: GcpPubSubProperties,
  message: OutboundMessage,
  token: string,
): HttpCall {
  const { deliveryId, deviceId, contentType, context, payload } = message;
  const attributes: Record<string, string> = { deliveryId, deviceId, contentType };
  const { topic } = context;
  if (typeof topic === 'string') attributes['topic'] = topic;
  const messages = [
    { data: Buffer.from(payload).toString('base64'), attributes, orderingKey: deviceId },
  ];
  return {
    method: 'POST',
    url: new URL(`/v1/${encodeURI(pubSubTopic)}:publish`, endpoint ?? globalEndpoint).href,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messages }),
  };
}

/** Returns tokens that the account signs itself; each is used until shortly before it expires. */
function createTokenSource(account: ServiceAccount, now: () => EpochMs): () => Promise<string> {
  let cached: { readonly token: string; readonly untilSeconds: number } | undefined;
  return async () => {
    const seconds = Math.floor(now() / 1_000);
    if (cached !== undefined && seconds < cached.untilSeconds) return cached.token;
    const token = await new SignJWT()
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: account.keyId })
      .setIssuer(account.email)
      .setSubject(account.email)
      .setAudience(audience)
      .setIssuedAt(seconds)
      .setExpirationTime(seconds + tokenSeconds)
      .sign(await importPKCS8(account.privateKey, 'RS256'));
    cached = { token, untilSeconds: seconds + tokenSeconds - renewBeforeSeconds };
    return token;
  };
}
