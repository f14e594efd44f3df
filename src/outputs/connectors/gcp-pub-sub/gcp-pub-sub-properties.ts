// Google Cloud Pub/Sub properties: schemas and parser (contract 9).
import type { PropertyReader } from '../property-parser.ts';
import { optionalText, text } from '../property-schemas.ts';
import { serviceAccount } from './service-account.ts';

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
