// A filter expression once it is understood: what the store turns into SQL (interface 2.9).
import type { AssetFieldName } from './asset-fields.ts';
import type { Question } from './predicate.ts';

/** A custom field of one workspace, asked in the terms of its own type. */
export interface CustomFieldQuestion {
  readonly metaId: string;
  readonly question: Question;
}

export type Condition =
  | { readonly join: 'AND' | 'OR'; readonly parts: readonly Condition[] }
  | { readonly field: AssetFieldName; readonly question: Question }
  /** Fields of one name: a device has at most one of them, that of its workspace. All questions ask alike. */
  | { readonly customFields: readonly CustomFieldQuestion[]; readonly inverse: boolean };
