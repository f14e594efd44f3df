// Filter condition: a field, how it is compared, and with which values.
import { X } from 'lucide-react';
import { Button } from '../../../parts/button.tsx';
import { useFormats, useWords } from '../../../words/language.tsx';
import type { FilterLeaf } from '../device-search.ts';
import {
  type FilterOption,
  type FilterOptions,
  keyOf,
  leafOn,
  optionOf,
  predicatesOf,
  withPredicate,
} from './filter-options.ts';
import { fieldName, leafSentence } from './filter-sentence.ts';
import { FilterValues } from './filter-values.tsx';
import { filterWords } from './filter-words.ts';
import styles from './filter.module.css';

interface FilterConditionProps {
  readonly options: FilterOptions;
  readonly leaf: FilterLeaf;
  readonly change: (leaf: FilterLeaf) => void;
  readonly remove: () => void;
}

export function FilterCondition({ options, leaf, change, remove }: FilterConditionProps) {
  const words = useWords(filterWords);
  const formats = useFormats();
  const option = optionOf(options, leaf);
  const known = option === undefined ? [leaf.predicate] : predicatesOf(options, option);
  return (
    <div className={styles['condition']}>
      <FieldSelect options={options} leaf={leaf} change={change} />
      <select
        className={styles['input']}
        aria-label={words.comparison}
        value={leaf.predicate}
        onChange={({ target }) => {
          const predicate = known.find((name) => name === target.value);
          if (predicate !== undefined) change(withPredicate(options, leaf, predicate));
        }}
      >
        {known.map((name) => (
          <option key={name} value={name}>
            {words.predicates[name] ?? name}
          </option>
        ))}
      </select>
      <FilterValues options={options} option={option} leaf={leaf} change={change} />
      <Button
        look="ghost"
        isIcon
        aria-label={words.removeCondition(leafSentence(leaf, { words, formats, options }))}
        onClick={remove}
      >
        <X aria-hidden="true" />
      </Button>
    </div>
  );
}

function FieldSelect({ options, leaf, change }: Omit<FilterConditionProps, 'remove'>) {
  const words = useWords(filterWords);
  const formats = useFormats();
  const isKnown = optionOf(options, leaf) !== undefined;
  return (
    <select
      className={styles['input']}
      aria-label={words.field}
      value={keyOf(leaf)}
      onChange={({ target }) => {
        const chosen = options.filterOptions.find((option) => keyOf(option) === target.value);
        if (chosen !== undefined) change(leafOn(options, chosen));
      }}
    >
      {!isKnown && <option value={keyOf(leaf)}>{leaf.customFieldName ?? leaf.field}</option>}
      {groupsOf(options.filterOptions, words).map(({ name, fields }) => (
        <optgroup key={name} label={name}>
          {fields.map((option) => (
            <option key={keyOf(option)} value={keyOf(option)}>
              {fieldName(option, { words, formats, options })}
            </option>
          ))}
        </optgroup>
      ))}
    </select>
  );
}

type Words = (typeof filterWords)['en'];

const usual = [
  'tags.id',
  'name',
  'deviceId',
  'onlineState',
  'deviceType',
  'dataFlow',
  'uplinkMetrics.timestamp',
  'uplinkMetrics.batteryLevel',
];

/** Fields with one meaning in one workspace only would be a choice of one. */
const pointless = ['type', 'workspaceId'];

function groupsOf(all: readonly FilterOption[], words: Words) {
  const nameOf = ({ field, customFieldName }: FilterOption) => {
    if (customFieldName !== undefined) return words.custom;
    if (usual.includes(field)) return words.usual;
    if (field.startsWith('loraProperties.')) return words.lora;
    return field.startsWith('uplinkMetrics.') ? words.metrics : words.more;
  };
  const shown = all.filter(({ field }) => !pointless.includes(field));
  const byName = Map.groupBy(shown, nameOf);
  return [words.usual, words.custom, words.more, words.metrics, words.lora].flatMap((name) => {
    const fields = byName.get(name) ?? [];
    return fields.length === 0 ? [] : [{ name, fields }];
  });
}
