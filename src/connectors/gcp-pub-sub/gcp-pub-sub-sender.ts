// Output to Google Cloud Pub/Sub: one message a delivery over HTTPS, with a token that the service account signs by itself.
import type { EpochMs } from '../../model/instant.ts';
import type { JsonObject } from '../../model/json.ts';
import { problem } from '../../model/problem.ts';
import { type ServiceAccount, serviceAccount } from '../target-address.ts';
import type { GcpProperties } from '../../model/target-properties.ts';
import type { OutboundConnector, OutboundMessage } from '../target.ts';
import type { HttpCall } from '../http-answer.ts';
import { attemptHttp } from '../http-outcome.ts';
import { attempt } from '../send-failure.ts';

const globalEndpoint = 'https://pubsub.googleapis.com';
/** Whom the token is for, whatever endpoint is asked. */
const audience = 'https://pubsub.googleapis.com/';
const tokenSeconds = 3_600;
const renewBeforeSeconds = 300;

/** `operatorKey` is used by connectors without a service account key of their own. */
export function gcpConnector(operatorKey: string | undefined): OutboundConnector {
  return {
    type: 'GCP',
    check({ endpoint, serviceAccountKey }, egress) {
      if (typeof endpoint === 'string') egress.checkUrl(endpoint, 'gcpProperties.endpoint');
      if (serviceAccountKey === null && operatorKey === undefined) {
        const reason = 'is needed, because the operator has not set GCP_SERVICE_ACCOUNT_KEY';
        throw problem('invalidRequest', {
          reason: `body gcpProperties.serviceAccountKey: ${reason}`,
        });
      }
    },
    open(properties, egress, now) {
      const settings = properties as unknown as GcpProperties;
      const account = serviceAccount(settings.serviceAccountKey ?? operatorKey ?? '');
      if (account === undefined) throw new Error('a service account key cannot be read');
      const tokens = selfSigned(account, now);
      return {
        async send(message, signal) {
          let token = '';
          const signed = await attempt(signal, async () => (token = await tokens()));
          return signed.ok
            ? attemptHttp(egress, publish(settings, message, token), signal, now)
            : signed;
        },
        close: () => Promise.resolve(),
      };
    },
  };
}

/** Messages of a device share an ordering key, so that subscribers who ask for order get it. */
function publish(
  { pubSubTopic, endpoint }: GcpProperties,
  message: OutboundMessage,
  token: string,
): HttpCall {
  const { deliveryId, deviceId, contentType, context, payload } = message;
  const { topic } = context as JsonObject;
  const attributes = {
    deliveryId,
    deviceId,
    contentType,
    ...(typeof topic === 'string' ? { topic } : {}),
  };
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

/** Tokens that need no token service; each is used until shortly before it ends. */
function selfSigned(account: ServiceAccount, now: () => EpochMs): () => Promise<string> {
  let kept: { readonly token: string; readonly untilSeconds: number } | undefined;
  return async () => {
    const seconds = Math.floor(now() / 1_000);
    if (kept !== undefined && seconds < kept.untilSeconds) return kept.token;
    const { importPKCS8, SignJWT } = await import('jose');
    const token = await new SignJWT()
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: account.keyId })
      .setIssuer(account.email)
      .setSubject(account.email)
      .setAudience(audience)
      .setIssuedAt(seconds)
      .setExpirationTime(seconds + tokenSeconds)
      .sign(await importPKCS8(account.privateKey, 'RS256'));
    kept = { token, untilSeconds: seconds + tokenSeconds - renewBeforeSeconds };
    return token;
  };
}
