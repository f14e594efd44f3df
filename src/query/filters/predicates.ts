// Predicate table: every predicate of the filter language under its name, by family (interface 2.9).
import type { FilterType } from '../../model/filter-type.ts';
import type { Predicate } from './predicate.ts';
import { comparisonPredicates } from './predicates/comparison.ts';
import { datePredicates } from './predicates/date.ts';
import { listPredicates } from './predicates/list.ts';
import { presencePredicates } from './predicates/presence.ts';
import { textPredicates } from './predicates/text.ts';

/** The filter options endpoint lists them in this order. */
export const predicates = {
  ...comparisonPredicates,
  ...listPredicates,
  ...textPredicates,
  ...datePredicates,
  ...presencePredicates,
} as const satisfies Readonly<Record<string, Predicate>>;

export type PredicateName = keyof typeof predicates;
export const predicateNames = Object.keys(predicates) as readonly PredicateName[];

/** The predicates that work on a field of these types. */
export function predicatesOf(types: readonly FilterType[]): PredicateName[] {
  return predicateNames.filter((name) => {
    const takes: readonly FilterType[] = predicates[name].types;
    return takes.some((type) => types.includes(type));
  });
}
