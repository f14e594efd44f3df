// Reads the properties of output connectors as they were sent, member by member; every refusal names the member.
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { problem } from '../model/problem.ts';

const textMax = 100_000;

/** The members of one property object; `where` is its name in the body. */
export interface PropertyReader {
  /** The members as they were sent. */
  readonly sent: JsonObject;
  refuse(member: string, reason: string): never;
  /** Null when it was not sent. */
  text(name: string): string | null;
  /** A text that must be there. */
  needed(name: string): string;
  flag(name: string, fallback?: boolean): boolean;
  oneOf<T extends string>(name: string, allowed: readonly T[], fallback: T): T;
  number<T extends number>(name: string, allowed: readonly T[], fallback: T): T;
  /** An object of texts. */
  texts(name: string): Readonly<Record<string, string>>;
  /** A list that must have at least one element and at most `max`. */
  list(name: string, max: number): readonly Json[];
  /** A nested property object; undefined when it was not sent. */
  nested(name: string): PropertyReader | undefined;
}

export function propertyReader(sent: JsonObject, where: string): PropertyReader {
  function refuse(member: string, reason: string): never {
    throw problem('invalidRequest', { reason: `body ${where}.${member}: ${reason}` });
  }
  function text(name: string): string | null {
    const value = sent[name] ?? null;
    if (value === null) return null;
    if (typeof value !== 'string') refuse(name, 'must be a text');
    return value.length > textMax ? refuse(name, `has at most ${textMax} characters`) : value;
  }
  return {
    sent,
    refuse,
    text,
    needed: (name) => text(name) || refuse(name, 'is needed'),
    flag(name, fallback = false) {
      const value = sent[name] ?? fallback;
      return typeof value === 'boolean' ? value : refuse(name, 'must be true or false');
    },
    oneOf<T extends string>(name: string, allowed: readonly T[], fallback: T): T {
      const value = text(name);
      if (value === null) return fallback;
      return (
        allowed.find((one) => one === value) ?? refuse(name, `must be one of ${allowed.join(', ')}`)
      );
    },
    number<T extends number>(name: string, allowed: readonly T[], fallback: T): T {
      const value = sent[name] ?? fallback;
      return (
        allowed.find((one) => one === value) ?? refuse(name, `must be one of ${allowed.join(', ')}`)
      );
    },
    texts(name) {
      const value = sent[name] ?? {};
      if (!isJsonObject(value)) return refuse(name, 'must be an object of texts');
      for (const [key, one] of Object.entries(value)) {
        if (typeof one !== 'string') refuse(`${name}.${key}`, 'must be a text');
      }
      return value as Readonly<Record<string, string>>;
    },
    list(name, max) {
      const value = sent[name];
      if (!Array.isArray(value) || value.length === 0)
        return refuse(name, 'must be a list with at least one element');
      return value.length > max
        ? refuse(name, `has at most ${max} elements`)
        : (value as readonly Json[]);
    },
    nested(name) {
      const value = sent[name] ?? null;
      if (value === null) return undefined;
      return isJsonObject(value)
        ? propertyReader(value, `${where}.${name}`)
        : refuse(name, 'must be an object');
    },
  };
}
