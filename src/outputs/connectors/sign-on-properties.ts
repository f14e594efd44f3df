// Sign-on properties: the certificates, or the user name and password, with which a connector signs on at its target.
import type { PropertyReader } from './property-parser.ts';
import { optionalText } from './property-schemas.ts';

// User properties: user name and password at a target.

/** Both null for a target without users. */
export type UserProperties = { readonly username: string | null; readonly password: string | null };

export const userProperties = {
  username: optionalText('Username. Required with a password.'),
  password: optionalText('Password. Secret.'),
};

export function parseUser(sent: PropertyReader<keyof UserProperties>): UserProperties {
  const user = { username: sent.text('username'), password: sent.text('password') };
  if (user.password !== null && user.username === null)
    sent.refuse('username', 'is required with a password');
  return user;
}

/** In PEM; null for the public authorities and for no client certificate. */
export type TlsProperties = {
  readonly caCertificate: string | null;
  readonly clientCertificate: string | null;
  readonly clientKey: string | null;
};

type TlsReader = PropertyReader<keyof TlsProperties>;

export const tlsProperties = {
  caCertificate: optionalText('CA certificate in PEM format, for a private authority.'),
  clientCertificate: optionalText('Client certificate in PEM format. Requires `clientKey`.'),
  clientKey: optionalText('Unencrypted client private key in PEM format. Secret.'),
};

export function parseTls(sent: TlsReader): TlsProperties {
  const clientKey = sent.text('clientKey');
  if (clientKey !== null && !sent.isPrivateKey(clientKey)) {
    sent.refuse('clientKey', 'must be an unencrypted PEM private key');
  }
  const caCertificate = certificate(sent, 'caCertificate');
  const clientCertificate = certificate(sent, 'clientCertificate');
  if (clientCertificate !== null && clientKey === null)
    sent.refuse(
      'clientKey',
      'is required together with the other (clientCertificate and clientKey)',
    );
  if (clientCertificate === null && clientKey !== null)
    sent.refuse(
      'clientCertificate',
      'is required together with the other (clientCertificate and clientKey)',
    );
  return { caCertificate, clientCertificate, clientKey };
}

function certificate(sent: TlsReader, member: 'caCertificate' | 'clientCertificate') {
  const text = sent.text(member);
  if (text !== null && !sent.isCertificate(text)) sent.refuse(member, 'must be a PEM certificate');
  return text;
}
