// Secret mask: hides secrets in answers, and restores them when a client returns the mask (contract 35).
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import type { PropertyRules } from './connector-type.ts';
import { problem } from '../../model/problem.ts';
import { propertyReader } from './properties.ts';

/** Replaces a secret in answers; sent back in an update it represents the stored secret. */
const secretMask = '********';

/**
 * Names of headers that carry credentials. Any other header is shown, because users look for
 * mistakes there.
 */
const secretName =
  /auth|key|token|secret|password|passwd|credential|cookie|session|signature|sign$|bearer|jwt/i;

type SecretRules = PropertyRules;
type Path = readonly string[];
type Replace = (secret: string, path: Path) => string;

/** Returns the properties with every secret masked. */
export function masked(rules: SecretRules, properties: JsonObject): JsonObject {
  return mapSecrets(rules, properties, () => secretMask);
}

/**
 * Returns the sent properties with the stored secret for every mask. A mask without a stored secret
 * stays.
 */
function unmasked(rules: SecretRules, sent: JsonObject, stored: JsonObject | null): JsonObject {
  return mapSecrets(rules, sent, (secret, path) => {
    if (secret !== secretMask || stored === null) return secret;
    const before = path.reduce<Json | undefined>(memberOf, stored);
    return typeof before === 'string' ? before : secret;
  });
}

function memberOf(value: Json | undefined, name: string): Json | undefined {
  return isJsonObject(value) ? value[name] : undefined;
}

function mapSecrets(rules: SecretRules, properties: JsonObject, replace: Replace): JsonObject {
  const byName: Replace = (value, path) =>
    isSecret(path.at(-1) ?? '', value) ? replace(value, path) : value;
  let mapped = properties;
  for (const path of rules.secrets) mapped = mapMember(mapped, path.split('.'), replace);
  for (const name of rules.secretsByName) mapped = mapMember(mapped, [name], byName);
  return mapped;
}

/** A header with an ordinary name can still contain a credential. */
function isSecret(name: string, value: string): boolean {
  return (
    secretName.test(name) ||
    value === secretMask ||
    /^(basic|bearer|token|apikey) \S/i.test(value) ||
    /\S{40,}/.test(value)
  );
}

/**
 * Replaces the strings at `path`: one string, or every string of a map. `above` is the path of
 * `object`.
 */
function mapMember(object: JsonObject, path: Path, replace: Replace, above: Path = []): JsonObject {
  const [name = '', ...rest] = path;
  const here = [...above, name];
  const value = object[name];
  if (isJsonObject(value)) {
    const inner =
      rest.length > 0 ? mapMember(value, rest, replace, here) : mapTexts(value, replace, here);
    return { ...object, [name]: inner };
  }
  if (typeof value !== 'string' || rest.length > 0) return object;
  return { ...object, [name]: replace(value, here) };
}

function mapTexts(object: JsonObject, replace: Replace, above: Path): JsonObject {
  const entries = Object.entries(object).map(([name, value]) => {
    if (typeof value !== 'string') return [name, value];
    return [name, replace(value, [...above, name])];
  });
  return Object.fromEntries(entries) as JsonObject;
}

// Sent properties: from the property object of a request to the properties that are stored (contract 9, 35).

/**
 * Returns the properties with defaults filled in. Masks in `sent` stand for the secrets of
 * `stored`. Throws `invalidRequest`; one error names all members that are missing.
 */
export function parseProperties(
  rules: PropertyRules,
  sent: JsonObject,
  stored: JsonObject | null,
): JsonObject {
  const properties = unmasked(rules, sent, stored);
  const missing = rules.needed(properties).filter((member) => isMissing(properties[member]));
  if (missing.length > 0) {
    const reasons = missing.map((member) => `body ${rules.key}.${member}: is required`);
    throw problem('invalidRequest', { reason: reasons.join('; ') });
  }
  return rules.parse(propertyReader(properties, rules.key));
}

function isMissing(value: Json | undefined): boolean {
  return value === undefined || value === null || value === '';
}
