// Properties of connectors: their schemas, and their readers, whose errors name the member.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import Type, { type TSchema } from 'typebox';
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import { problem } from '../../model/problem.ts';

const textMax = 100_000;

/**
 * The members `N` of one property object. Every method throws `invalidRequest` for a value of
 * another kind.
 */
export interface PropertyReader<N extends string = string> {
  /** The members as they were sent. */
  readonly sent: JsonObject;
  /** Throws `invalidRequest`; `member` is a path such as `columns.0.path`. */
  refuse(member: N | `${N}.${string}`, reason: string): never;
  /** Null if absent. */
  text(member: N): string | null;
  /** Throws also if absent. */
  needed(member: N): string;
  flag(member: N, fallback?: boolean): boolean;
  oneOf<T extends string>(member: N, allowed: readonly T[], fallback: T): T;
  number<T extends number>(member: N, allowed: readonly T[], fallback: T): T;
  /** A map of strings; empty if absent. */
  texts(member: N): Readonly<Record<string, string>>;
  /** A list of 1 to `max` elements. */
  list(member: N, max: number): readonly Json[];
  /** A nested property object; undefined if absent. */
  nested(member: N): PropertyReader | undefined;
  isCertificate(text: string): boolean;
  isPrivateKey(text: string): boolean;
}

/** `key` is the name of the property object in the body. */
export function propertyReader(sent: JsonObject, key: string): PropertyReader {
  function refuse(member: string, reason: string): never {
    throw problem('invalidRequest', { reason: `body ${key}.${member}: ${reason}` });
  }
  function text(member: string): string | null {
    const value = sent[member] ?? null;
    if (value === null) return null;
    if (typeof value !== 'string') return refuse(member, 'must be a string');
    if (value.length > textMax) return refuse(member, `must be at most ${textMax} characters`);
    return value;
  }
  function allowedValue<T>(member: string, value: unknown, allowed: readonly T[]): T {
    const found = allowed.find((each) => each === value);
    return found ?? refuse(member, `must be one of ${allowed.join(', ')}`);
  }
  return {
    sent,
    refuse,
    text,
    needed: (member) => text(member) || refuse(member, 'is required'),
    flag(member, fallback = false) {
      const value = sent[member] ?? fallback;
      if (typeof value !== 'boolean') return refuse(member, 'must be true or false');
      return value;
    },
    oneOf: (member, allowed, fallback) => allowedValue(member, text(member) ?? fallback, allowed),
    number: (member, allowed, fallback) => allowedValue(member, sent[member] ?? fallback, allowed),
    texts(member) {
      const value = sent[member] ?? {};
      if (!isJsonObject(value)) return refuse(member, 'must be an object with string values');
      for (const [name, entry] of Object.entries(value)) {
        if (typeof entry !== 'string') refuse(`${member}.${name}`, 'must be a string');
      }
      return value as Readonly<Record<string, string>>;
    },
    list(member, max) {
      const value = sent[member];
      if (!Array.isArray(value) || value.length === 0)
        return refuse(member, 'must be an array with at least one item');
      if (value.length > max) return refuse(member, `must have at most ${max} items`);
      return value as readonly Json[];
    },
    nested(member) {
      const value = sent[member] ?? null;
      if (value === null) return undefined;
      if (!isJsonObject(value)) return refuse(member, 'must be an object');
      return propertyReader(value, `${key}.${member}`);
    },
    isCertificate,
    isPrivateKey,
  };
}

// PEM: whether a string is a certificate or a private key in PEM.

function isCertificate(text: string): boolean {
  return succeeds(() => new X509Certificate(text));
}

/** Whether a string is a private key in PEM without a passphrase. */
function isPrivateKey(text: string): boolean {
  return succeeds(() => createPrivateKey(text));
}

function succeeds(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}

// Property schemas: members of the property objects as clients send them, each with its description.

/** A member that may be absent or null. */
export function optional<T extends TSchema>(schema: T) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

/** One of a list of strings. */
export function oneOf<const T extends readonly string[]>(values: T) {
  return Type.Unsafe<T[number]>({ type: 'string', enum: values });
}

export function text(description: string): TSchema {
  return Type.String({ description });
}

export function optionalText(description: string) {
  return optional(Type.String({ description }));
}

export function optionalFlag(description: string) {
  return optional(Type.Boolean({ description }));
}

/** A map of strings. */
export function optionalTexts(description: string) {
  const schema = { type: 'object', additionalProperties: { type: 'string' }, description };
  return optional(Type.Unsafe<object>(schema));
}

export const anyText = Type.String();
export const anyObject = Type.Unsafe<object>({ type: 'object' });

// Sign-on properties: the certificates, or the user name and password, with which a connector signs on at its target.

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
