// IS_NULL: The field is not set, the list is empty.
import { filterTypes } from '../../model/filter-type.ts';
import { noValue, type Predicate } from '../predicate.ts';

export const isNull: Predicate = {
  values: noValue,
  types: filterTypes,
  meaning: 'The field is not set, the list is empty',
  question: () => ({ ask: 'absent' }),
};
