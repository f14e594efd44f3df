// NATS properties: schemas and parser (contract 9).
import type { PropertyReader } from '../property-parser.ts';
import { optionalFlag, optionalText, text } from '../property-schemas.ts';
import { parseUri } from '../target-uri.ts';
import {
  parseTls,
  parseUser,
  tlsProperties,
  type TlsProperties,
  userProperties,
  type UserProperties,
} from '../sign-on-properties.ts';

export const natsPorts = { nats: 4222, tls: 4222 } as const;

const credentialsForm = /-----BEGIN NATS USER JWT-----[^]*-----BEGIN USER NKEY SEED-----/;

export type NatsProperties = UserProperties &
  TlsProperties & {
    /** `nats://host:port` or `tls://host:port`. */
    readonly uri: string;
    readonly token: string | null;
    /** The content of a credentials file: the token and the seed of a user. */
    readonly credentials: string | null;
    /** A template. */
    readonly subject: string;
    /** Whether a stream must have stored the message. */
    readonly jetStream: boolean;
  };

export const natsProperties = {
  uri: text('Server URI: `nats://host:port` or `tls://host:port`.'),
  token: optionalText('Authentication token. Secret.'),
  credentials: optionalText('Contents of a NATS credentials file. Secret.'),
  subject: text('Template of the subject.'),
  jetStream: optionalFlag('Whether to wait until a JetStream stream has stored the message.'),
  ...userProperties,
  ...tlsProperties,
};

export function parseNats(sent: PropertyReader<keyof NatsProperties>): NatsProperties {
  const credentials = sent.text('credentials');
  if (credentials !== null && !credentialsForm.test(credentials))
    sent.refuse('credentials', 'must be the contents of a NATS credentials file');
  return {
    uri: parseUri(sent, natsPorts, 'without path'),
    ...parseUser(sent),
    token: sent.text('token'),
    credentials,
    subject: sent.needed('subject'),
    jetStream: sent.flag('jetStream'),
    ...parseTls(sent),
  };
}
