// Date predicates: dates before and after another one (interface 2.9).
import type { Predicate } from '../predicate.ts';
import { order } from './comparison.ts';

export const datePredicates = {
  BEFORE: order('less', ['DATE'], 'The date is before the value'),
  AFTER: order('greater', ['DATE'], 'The date is after the value'),
} as const satisfies Readonly<Record<string, Predicate>>;
