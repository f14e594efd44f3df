// Google Cloud Pub/Sub properties: schemas and parser (contract 9).
import { isJsonObject } from '../../../model/json.ts';
import type { PropertyReader } from '../property-parser.ts';
import { optionalText, text } from '../property-schemas.ts';

export type GcpPubSubProperties = {
  /** `projects/<project>/topics/<topic>`. */
  readonly pubSubTopic: string;
  /** The JSON string of the key of a service account; null for the key of the operator. */
  readonly serviceAccountKey: string | null;
  /** A regional endpoint; null for the global one. */
  readonly endpoint: string | null;
};

const topicForm = /^projects\/[a-z0-9.:-]{4,100}\/topics\/[A-Za-z][\w.~+%-]{2,254}$/;

export const gcpPubSubProperties = {
  pubSubTopic: text('Topic: `projects/project/topics/topic`.'),
  serviceAccountKey: optionalText(
    "Service account key as a JSON string. Defaults to the operator's key. Secret.",
  ),
  endpoint: optionalText('Regional endpoint. Defaults to the global one.'),
};

export function parseGcpPubSub(
  sent: PropertyReader<keyof GcpPubSubProperties>,
): GcpPubSubProperties {
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

export interface ServiceAccount {
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
