// Every predicate of the filter language under its name (interface 2.9): one row, one file each.
import type { FilterType } from '../model/filter-type.ts';
import type { Predicate } from './predicate.ts';
import { after } from './predicates/after.ts';
import { before } from './predicates/before.ts';
import { between } from './predicates/between.ts';
import { containsAll } from './predicates/contains-all.ts';
import { containsAny } from './predicates/contains-any.ts';
import { containsNone } from './predicates/contains-none.ts';
import { contains } from './predicates/contains.ts';
import { endsWith } from './predicates/ends-with.ts';
import { equals } from './predicates/equals.ts';
import { greaterThanOrEquals } from './predicates/greater-than-or-equals.ts';
import { greaterThan } from './predicates/greater-than.ts';
import { isIn } from './predicates/in.ts';
import { isNotNull } from './predicates/is-not-null.ts';
import { isNull } from './predicates/is-null.ts';
import { lessThanOrEquals } from './predicates/less-than-or-equals.ts';
import { lessThan } from './predicates/less-than.ts';
import { notEquals } from './predicates/not-equals.ts';
import { isNotIn } from './predicates/not-in.ts';
import { startsWith } from './predicates/starts-with.ts';

export const predicates = {
  EQUALS: equals,
  NOT_EQUALS: notEquals,
  IN: isIn,
  NOT_IN: isNotIn,
  LESS_THAN: lessThan,
  LESS_THAN_OR_EQUALS: lessThanOrEquals,
  GREATER_THAN: greaterThan,
  GREATER_THAN_OR_EQUALS: greaterThanOrEquals,
  BETWEEN: between,
  CONTAINS_ALL: containsAll,
  CONTAINS_NONE: containsNone,
  CONTAINS_ANY: containsAny,
  CONTAINS: contains,
  STARTS_WITH: startsWith,
  ENDS_WITH: endsWith,
  BEFORE: before,
  AFTER: after,
  IS_NULL: isNull,
  IS_NOT_NULL: isNotNull,
} as const satisfies Readonly<Record<string, Predicate>>;

export type PredicateName = keyof typeof predicates;
export const predicateNames = Object.keys(predicates) as readonly PredicateName[];

/** The predicates that work on a field of these types. */
export function predicatesOf(types: readonly FilterType[]): PredicateName[] {
  return predicateNames.filter((name) =>
    predicates[name].types.some((type) => types.includes(type)),
  );
}
