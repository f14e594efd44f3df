// Filter options: what the platform says devices can be filtered by, with the predicates of each field.
import { queryOptions } from '@tanstack/react-query';
import type { components } from '../../../../generated/interface-types.ts';
import { ask, platform } from '../../../api/platform.ts';
import type { FilterLeaf } from '../device-search.ts';
import { leafWith, valuesOf } from './filter-tree.ts';

export type FilterOptions = components['schemas']['FilterOptions'];
type Predicate = components['schemas']['Predicate'];
export type FilterOption = FilterOptions['filterOptions'][number];

/** What the value of a condition is typed into. */
export type ValueKind = 'text' | 'number' | 'date' | 'flag' | 'choice';

export const filterOptions = (workspaceId: string) =>
  queryOptions({
    queryKey: ['filter-options', workspaceId],
    staleTime: 60_000,
    queryFn: ({ signal }) => {
      const body = { workspaceIds: [workspaceId] };
      return ask(platform.POST('/v3/assets/filter-options-v2', { signal, body }));
    },
  });

/** Names the field in a choice of fields. */
export function keyOf({ field, customFieldName }: Pick<FilterLeaf, 'field' | 'customFieldName'>) {
  return customFieldName === undefined ? field : `${field}:${customFieldName}`;
}

export function optionOf(options: FilterOptions, leaf: FilterLeaf): FilterOption | undefined {
  return options.filterOptions.find((option) => keyOf(option) === keyOf(leaf));
}

export function predicatesOf(options: FilterOptions, { filterTypes }: FilterOption): Predicate[] {
  const { predicates } = options.definitions;
  return [...new Set(filterTypes.flatMap((type) => predicates[type] ?? []))];
}

/** How many values a predicate takes. */
interface ValueCount {
  readonly min: number;
  readonly max: number;
}

export function countOf(options: FilterOptions, predicate: string): ValueCount {
  const known = options.definitions.values[predicate] as ValueCount | undefined;
  return known ?? { min: 1, max: 1 };
}

export function valueKindOf(option: FilterOption | undefined): ValueKind {
  if (option?.values !== undefined) return 'choice';
  const types = option?.filterTypes ?? [];
  if (types.includes('NUMBER')) return 'number';
  if (types.includes('DATE')) return 'date';
  return types.includes('BOOLEAN') ? 'flag' : 'text';
}

/** Whether the condition has as many values as its predicate takes. */
export function isComplete(options: FilterOptions, leaf: FilterLeaf): boolean {
  const { min, max } = countOf(options, leaf.predicate);
  const values = valuesOf(leaf).filter((value) => value !== '');
  return values.length >= min && values.length <= max;
}

/** A first condition on the field, with the predicate that is asked for most. */
export function leafOn(options: FilterOptions, option: FilterOption): FilterLeaf {
  const known = predicatesOf(options, option);
  const wanted = ['CONTAINS_ANY', 'CONTAINS', 'AFTER', 'LESS_THAN', 'IN', 'EQUALS'] as const;
  const isNumber = option.filterTypes.includes('NUMBER');
  const usual = wanted.find((name) => known.includes(name) && !(name === 'CONTAINS' && isNumber));
  const predicate = usual ?? known[0] ?? 'IS_NOT_NULL';
  const { field, customFieldName } = option;
  const leaf = { field, predicate, ...(customFieldName === undefined ? {} : { customFieldName }) };
  return leafWith(leaf, []);
}

/** The condition with another predicate, and as many of its values as that one takes. */
export function withPredicate(
  options: FilterOptions,
  leaf: FilterLeaf,
  predicate: Predicate,
): FilterLeaf {
  const { max } = countOf(options, predicate);
  return leafWith({ ...leaf, predicate }, valuesOf(leaf).slice(0, max));
}
