// Condition: a checked filter expression, which the records store turns into SQL (interface 2.9).
import type { AssetFieldName } from './asset-fields.ts';
import type { Question } from './predicate.ts';

/** A question about a custom field of one workspace, in the terms of its own type. */
export interface CustomFieldQuestion {
  readonly metaId: string;
  readonly question: Question;
}

export type Condition =
  | { readonly join: 'AND' | 'OR'; readonly parts: readonly Condition[] }
  | { readonly field: AssetFieldName; readonly question: Question }
  /** Fields of one name: a device has at most one of them, that of its workspace. All questions have the same `ask`. */
  | { readonly customFields: readonly CustomFieldQuestion[]; readonly inverse: boolean };
