// Google Cloud Pub/Sub: one message per delivery (contract 9).
import { connectorType } from '../connector-type.ts';
import type { OutboundMessage, Target } from '../target.ts';
import { isJsonObject } from '../../../model/json.ts';
import { optionalText, type PropertyReader, text } from '../properties.ts';
import type { EpochMs } from '../../../model/instant.ts';
import type { HttpCall } from '../../egress/http-exchange.ts';
import type { ConnectorServices } from '../connector-services.ts';
import { attemptHttp } from '../http-answer.ts';
import { attempt } from '../send-failure.ts';

type GcpPubSubProperties = {
  /** `projects/<project>/topics/<topic>`. */
  readonly pubSubTopic: string;
  /** The JSON string of the key of a service account; null for the key of the operator. */
  readonly serviceAccountKey: string | null;
  /** A regional endpoint; null for the global one. */
  readonly endpoint: string | null;
};

const topicForm = /^projects\/[a-z0-9.:-]{4,100}\/topics\/[A-Za-z][\w.~+%-]{2,254}$/;

const gcpPubSubProperties = {
  pubSubTopic: text('Topic: `projects/project/topics/topic`.'),
  serviceAccountKey: optionalText(
    "Service account key as a JSON string. Defaults to the operator's key. Secret.",
  ),
  endpoint: optionalText('Regional endpoint. Defaults to the global one.'),
};

function parseGcpPubSub(sent: PropertyReader<keyof GcpPubSubProperties>): GcpPubSubProperties {
  const pubSubTopic = sent.needed('pubSubTopic');
  if (!topicForm.test(pubSubTopic))
    sent.refuse('pubSubTopic', 'must have the form projects/PROJECT/topics/TOPIC');
  const serviceAccountKey = sent.text('serviceAccountKey') || null;
  if (serviceAccountKey !== null && !isAccountKey(serviceAccountKey, sent))
    sent.refuse('serviceAccountKey', 'must be a service account key as a JSON string');
  return { pubSubTopic, serviceAccountKey, endpoint: sent.text('endpoint') };
}

function isAccountKey(text: string, { isPrivateKey }: PropertyReader): boolean {
  const account = serviceAccount(text);
  return account !== undefined && isPrivateKey(account.privateKey);
}

// Service account: e-mail address and private key out of the JSON string of its key.

interface ServiceAccount {
  readonly email: string;
  readonly keyId: string;
  readonly privateKey: string;
}

/** Undefined when the string is not JSON or a member is missing. */
export function serviceAccount(text: string): ServiceAccount | undefined {
  const key = parsed(text);
  if (!isJsonObject(key)) return undefined;
  const { client_email: email, private_key_id: keyId, private_key: privateKey } = key;
  if (!isText(email) || !isText(keyId) || !isText(privateKey)) return undefined;
  if (!privateKey.includes('-----BEGIN PRIVATE KEY-----')) return undefined;
  return { email, keyId, privateKey };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const gcpPubSub = connectorType({
  vendorName: 'GCP',
  propertiesKey: 'gcpProperties',
  properties: gcpPubSubProperties,
  secrets: ['serviceAccountKey'],
  parse: parseGcpPubSub,
  check({ endpoint, serviceAccountKey }, checks, { gcpServiceAccountKey }) {
    if (endpoint !== null) checks.url('endpoint', endpoint);
    if (serviceAccountKey === null && gcpServiceAccountKey === undefined) {
      const reason = 'is required because the operator has not set GCP_SERVICE_ACCOUNT_KEY';
      checks.refuse('serviceAccountKey', reason);
    }
  },
  open: (properties, services) => createPubSubTarget(properties, services),
});

// A delivery: one message over HTTPS, with a token that the service account signs itself.

const globalEndpoint = 'https://pubsub.googleapis.com';
/** The audience of a token is the same for every endpoint. */
const audience = 'https://pubsub.googleapis.com/';
const tokenSeconds = 3_600;
const renewBeforeSeconds = 300;

/** `gcpServiceAccountKey` is used by connectors without a key of their own. */
function createPubSubTarget(
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
    const { importPKCS8, SignJWT } = await import('jose');
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
