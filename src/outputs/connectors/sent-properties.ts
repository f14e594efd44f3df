// Sent properties: from the property object of a request to the properties that are stored (contract 9, 35).
import type { Json, JsonObject } from '../../model/json.ts';
import { problem } from '../../model/problem.ts';
import type { PropertyRules } from './connector-type.ts';
import { propertyReader } from './property-parser.ts';
import { unmasked } from './secret-mask.ts';

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
