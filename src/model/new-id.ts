// New record identifiers, which clients must treat as opaque strings (contract 0).
import { randomBytes } from 'node:crypto';
import { kindPrefixes, type RecordKind } from './ids.ts';

/** A new random identifier of the kind. */
export function newId(kind: RecordKind): string {
  return kindPrefixes[kind] + randomBytes(7).toString('hex');
}
