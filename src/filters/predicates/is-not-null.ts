// IS_NOT_NULL: The field is set, the list is not empty.
import { filterTypes } from '../../model/filter-type.ts';
import { noValue, type Predicate } from '../predicate.ts';

export const isNotNull: Predicate = {
  values: noValue,
  types: filterTypes,
  meaning: 'The field is set, the list is not empty',
  question: () => ({ ask: 'present' }),
};
