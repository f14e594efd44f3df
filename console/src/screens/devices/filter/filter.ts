// Filter: the platform's filter expression, what devices can be filtered by, and the expression as a sentence.
import { queryOptions } from '@tanstack/react-query';
import type { FilterExpression, FilterGroup, FilterLeaf } from '../device-search.ts';
import type { components } from '../../../../generated/interface-types.ts';
import { ask, platform } from '../../../api/platform.ts';
import type { Formats } from '../../../words/formats.ts';
import type { filterWords } from './filter-words.ts';

/** Indexes from the root group to a condition or group below it. */
export type FilterPath = readonly number[];

const everyDevice: FilterGroup = { operator: 'AND', expressions: [] };

export function isGroup(expression: FilterExpression): expression is FilterGroup {
  return 'expressions' in expression;
}

/** The expression as a group, which the builder shows. */
export function rootOf(expression: FilterExpression | undefined): FilterGroup {
  if (expression === undefined) return everyDevice;
  return isGroup(expression) ? expression : { operator: 'AND', expressions: [expression] };
}

/** The tree with another expression at the path; undefined removes what is there. */
export function replacedAt(
  group: FilterGroup,
  [at, ...rest]: FilterPath,
  wanted: FilterExpression | undefined,
): FilterGroup {
  if (at === undefined) return wanted === undefined ? everyDevice : rootOf(wanted);
  const expressions = group.expressions.flatMap(
    (expression, index): readonly FilterExpression[] => {
      if (index !== at) return [expression];
      if (rest.length > 0) return isGroup(expression) ? [replacedAt(expression, rest, wanted)] : [];
      return wanted === undefined ? [] : [wanted];
    },
  );
  return { ...group, expressions };
}

/** The tree without empty groups and without conditions that `isComplete` refuses. */
export function pruned(
  group: FilterGroup,
  isComplete: (leaf: FilterLeaf) => boolean,
): FilterGroup | undefined {
  const expressions = group.expressions.flatMap((expression): readonly FilterExpression[] => {
    if (!isGroup(expression)) return isComplete(expression) ? [expression] : [];
    const kept = pruned(expression, isComplete);
    return kept === undefined ? [] : [kept];
  });
  return expressions.length === 0 ? undefined : { ...group, expressions };
}

/** Paths of all conditions. */
export function leafPaths(group: FilterGroup): readonly FilterPath[] {
  return group.expressions.flatMap((expression, at): readonly FilterPath[] =>
    isGroup(expression) ? leafPaths(expression).map((path) => [at, ...path]) : [[at]],
  );
}

export function expressionAt(
  group: FilterGroup,
  [at, ...rest]: FilterPath,
): FilterExpression | undefined {
  const expression = at === undefined ? group : group.expressions[at];
  if (rest.length === 0 || expression === undefined) return expression;
  return isGroup(expression) ? expressionAt(expression, rest) : undefined;
}

type FilterValue = NonNullable<FilterLeaf['values']>[number];

/** The values of a condition; those of a custom field have another name (interface 2.9). */
export function valuesOf({ values, stringValues }: FilterLeaf): readonly FilterValue[] {
  return values ?? stringValues ?? [];
}

export function leafWith(leaf: FilterLeaf, values: readonly FilterValue[]): FilterLeaf {
  const { values: _, stringValues: __, ...rest } = leaf;
  if (rest.field === 'customFields') return { ...rest, stringValues: values.map(String) };
  return { ...rest, values: [...values] };
}

// Filter options: what the platform says devices can be filtered by, with the predicates of each field.

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

// Filter sentence: an expression as a person would say it.

type Words = (typeof filterWords)['en'];

interface Speaker {
  readonly words: Words;
  readonly formats: Formats;
  /** Names of records that the expression has ids of; without them the ids are said. */
  readonly options: FilterOptions | undefined;
}

/** Values of a longer list are counted. */
const saidMax = 3;

export function sentenceOf(expression: FilterExpression, speaker: Speaker): string {
  return isGroup(expression)
    ? groupSentence(expression, speaker)
    : leafSentence(expression, speaker);
}

function groupSentence({ operator, expressions }: FilterGroup, speaker: Speaker): string {
  const { words } = speaker;
  const parts = expressions.map((part) => {
    const said = sentenceOf(part, speaker);
    return isGroup(part) && part.expressions.length > 1 ? `(${said})` : said;
  });
  return parts.join(operator === 'OR' ? words.or : words.and);
}

export function leafSentence(leaf: FilterLeaf, speaker: Speaker): string {
  const { words } = speaker;
  const values = valuesOf(leaf).map((value) => saidValue(leaf, value, speaker));
  const [said, rest] = [values.slice(0, saidMax).join(', '), values.length - saidMax];
  const list = leaf.predicate === 'BETWEEN' ? values.join(words.and) : said;
  const more = rest > 0 ? ` +${rest}` : '';
  return `${fieldName(leaf, speaker)} ${predicateName(leaf, words)} ${list}${more}`.trim();
}

/** One value of many is said as one. */
function predicateName({ predicate, ...leaf }: FilterLeaf, words: Words): string {
  const isOne = valuesOf({ predicate, ...leaf }).length === 1;
  if (isOne && (predicate === 'IN' || predicate.startsWith('CONTAINS_A')))
    return words.predicates.EQUALS;
  if (isOne && (predicate === 'NOT_IN' || predicate === 'CONTAINS_NONE'))
    return words.predicates.NOT_EQUALS;
  return words.predicates[predicate] ?? predicate;
}

export function fieldName(
  leaf: Pick<FilterLeaf, 'field' | 'customFieldName'>,
  { words, options }: Speaker,
): string {
  if (leaf.customFieldName !== undefined) return leaf.customFieldName;
  const known = words.fields[leaf.field as keyof Words['fields']];
  const label = options?.filterOptions.find(({ field }) => field === leaf.field)?.label;
  return known ?? label ?? leaf.field;
}

function saidValue(leaf: FilterLeaf, value: unknown, { words, formats, options }: Speaker): string {
  const option = options === undefined ? undefined : optionOf(options, leaf);
  const choice = option?.values?.find((one) => one.value === value)?.label;
  const state = words.values[String(value) as keyof Words['values']];
  if (state !== undefined) return state;
  if (choice !== undefined) return choice;
  const kind = valueKindOf(option);
  if (kind === 'flag') return String(value) === 'true' ? words.yes : words.no;
  const isInstant = kind === 'date' && !Number.isNaN(Date.parse(String(value)));
  return isInstant ? formats.instant(String(value)) : String(value);
}
