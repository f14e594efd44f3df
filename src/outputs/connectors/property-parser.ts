// Property parser: reads the members of a property object as they were sent; each error names the member.
import { createPrivateKey, X509Certificate } from 'node:crypto';
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
  // Methods, because the rows of the table are loaded in browsers, which do not have node:crypto.
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

// PEM checks: whether a string is a certificate or a private key in PEM.

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
