// Filter sentence: an expression as a person would say it.
import type { Formats } from '../../../words/formats.ts';
import type { FilterExpression, FilterGroup, FilterLeaf } from '../device-search.ts';
import { type FilterOptions, optionOf, valueKindOf } from './filter-options.ts';
import { isGroup, valuesOf } from './filter-tree.ts';
import type { filterWords } from './filter-words.ts';

type Words = (typeof filterWords)['en'];

export interface Speaker {
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
