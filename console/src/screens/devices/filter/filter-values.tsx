// Filter values: none, one, two or many, chosen or typed as the field has them.
import { X } from 'lucide-react';
import { type KeyboardEvent, useState } from 'react';
import { useFormats, useWords } from '../../../words/language.tsx';
import type { FilterLeaf } from '../device-search.ts';
import {
  countOf,
  type FilterOption,
  type FilterOptions,
  type ValueKind,
  valueKindOf,
} from './filter-options.ts';
import { leafWith, valuesOf } from './filter-tree.ts';
import { filterWords } from './filter-words.ts';
import styles from './filter.module.css';
import { instantOfLocal, localOf } from '../../../words/zone-times.ts';

interface FilterValuesProps {
  readonly options: FilterOptions;
  readonly option: FilterOption | undefined;
  readonly leaf: FilterLeaf;
  readonly change: (leaf: FilterLeaf) => void;
}

export function FilterValues({ options, option, leaf, change }: FilterValuesProps) {
  const words = useWords(filterWords);
  const { max } = countOf(options, leaf.predicate);
  const values = valuesOf(leaf).map(String);
  const set = (changed: readonly string[]) => change(leafWith(leaf, changed));
  if (max === 0) return <span className={styles['values']} />;
  if (max > 2) return <ManyValues option={option} values={values} set={set} />;
  const labels = max === 1 ? [words.value] : [words.from, words.to];
  return (
    <span className={styles['values']}>
      {labels.map((label, at) => (
        <OneValue
          key={label}
          label={label}
          option={option}
          value={values[at] ?? ''}
          set={(value) =>
            set(labels.map((_, index) => (index === at ? value : (values[index] ?? ''))))
          }
        />
      ))}
    </span>
  );
}

interface OneValueProps {
  readonly label: string;
  readonly option: FilterOption | undefined;
  readonly value: string;
  readonly set: (value: string) => void;
}

const inputTypes: Partial<Readonly<Record<ValueKind, string>>> = {
  number: 'number',
  date: 'datetime-local',
};

function OneValue({ label, option, value, set }: OneValueProps) {
  const { zone } = useFormats();
  const words = useWords(filterWords);
  const kind = valueKindOf(option);
  if (kind === 'choice' || kind === 'flag') {
    const flags = [
      { value: 'true', label: words.yes },
      { value: 'false', label: words.no },
    ];
    return (
      <select
        className={styles['input']}
        aria-label={label}
        value={value}
        onChange={({ target }) => set(target.value)}
      >
        <option value="">…</option>
        <Choices choices={option?.values ?? flags} />
      </select>
    );
  }
  const isDate = kind === 'date';
  return (
    <input
      className={styles['input']}
      aria-label={label}
      type={inputTypes[kind] ?? 'text'}
      {...(kind === 'number' ? { step: 'any' } : {})}
      value={isDate ? localOrNone(value, zone) : value}
      onChange={({ target }) => set(isDate ? instantOrNone(target.value, zone) : target.value)}
    />
  );
}

interface ManyValuesProps {
  readonly option: FilterOption | undefined;
  readonly values: readonly string[];
  readonly set: (values: readonly string[]) => void;
}

function ManyValues({ option, values, set }: ManyValuesProps) {
  const words = useWords(filterWords);
  const labelOf = (value: string) => {
    const state = words.values[value as keyof typeof words.values];
    return state ?? option?.values?.find((choice) => choice.value === value)?.label ?? value;
  };
  const add = (value: string) => {
    if (value !== '' && !values.includes(value)) set([...values, value]);
  };
  const others = option?.values?.filter(({ value }) => !values.includes(value));
  return (
    <span className={styles['values']} data-many="true">
      {values.map((value) => (
        <button
          key={value}
          type="button"
          className={styles['token']}
          aria-label={words.removeValue(labelOf(value))}
          onClick={() => set(values.filter((one) => one !== value))}
        >
          {labelOf(value)}
          <X aria-hidden="true" />
        </button>
      ))}
      {others === undefined ? (
        <TypedValue kind={valueKindOf(option)} add={add} />
      ) : (
        others.length > 0 && (
          <select
            className={styles['input']}
            aria-label={words.addValue}
            value=""
            onChange={({ target }) => add(target.value)}
          >
            <option value="">{words.addValue}…</option>
            <Choices choices={others} />
          </select>
        )
      )}
    </span>
  );
}

function Choices({ choices }: { readonly choices: NonNullable<FilterOption['values']> }) {
  const words = useWords(filterWords);
  return choices.map(({ value, label }) => (
    <option key={value} value={value}>
      {words.values[value as keyof typeof words.values] ?? label}
    </option>
  ));
}

/** Enter, a comma or leaving the field adds what was typed. */
function TypedValue({
  kind,
  add,
}: {
  readonly kind: ValueKind;
  readonly add: (value: string) => void;
}) {
  const words = useWords(filterWords);
  const [typed, setTyped] = useState('');
  const take = () => {
    add(typed.trim());
    setTyped('');
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' && event.key !== ',') return;
    event.preventDefault();
    take();
  };
  return (
    <input
      className={styles['input']}
      aria-label={words.addValue}
      placeholder={words.addValueHint}
      type={kind === 'number' ? 'number' : 'text'}
      value={typed}
      onChange={({ target }) => setTyped(target.value)}
      onKeyDown={onKeyDown}
      onBlur={take}
    />
  );
}

const localOrNone = (instant: string, zone: string): string =>
  Number.isNaN(Date.parse(instant)) ? '' : localOf(instant, zone);

const instantOrNone = (local: string, zone: string): string =>
  local === '' ? '' : instantOfLocal(local, zone);
