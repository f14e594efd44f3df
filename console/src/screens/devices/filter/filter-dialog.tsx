// Filter dialog: builds a filter expression, says it in a sentence, counts what it leaves, and shows its JSON.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { FolderPlus, Plus, Trash2, X } from 'lucide-react';
import { type KeyboardEvent, useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Segments } from '../../../ui/choice.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Bone, CodeBlock, Failure } from '../../../ui/states.tsx';
import { useSettledValue } from '../../../ui/use-settled-value.ts';
import { useFormats, useWords } from '../../../words/language.tsx';
import { instantOfLocal, localOf } from '../../../words/zone-times.ts';
import { countDevices, encodeFilter, listBody } from '../device-list.ts';
import {
  decodeFilter,
  type DeviceSearch,
  type FilterExpression,
  type FilterGroup,
  type FilterLeaf,
} from '../device-search.ts';
import {
  countOf,
  expressionAt,
  fieldName,
  type FilterOption,
  filterOptions,
  type FilterOptions,
  type FilterPath,
  isComplete,
  isGroup,
  keyOf,
  leafOn,
  leafPaths,
  leafSentence,
  leafWith,
  optionOf,
  predicatesOf,
  pruned,
  replacedAt,
  rootOf,
  sentenceOf,
  type ValueKind,
  valueKindOf,
  valuesOf,
  withPredicate,
} from './filter.ts';
import { filterWords } from './filter-words.ts';
import styles from './filter.module.css';

interface FilterDialogProps {
  readonly workspaceId: string;
  readonly search: DeviceSearch;
  /** Shows the devices of another filter; undefined for all devices. */
  readonly show: (filter: string | undefined) => void;
  readonly close: () => void;
}

export function FilterDialog(props: FilterDialogProps) {
  const { workspaceId, search, close } = props;
  const words = useWords(filterWords);
  const options = useQuery(filterOptions(workspaceId));
  if (options.data !== undefined)
    return <Builder {...props} options={options.data} first={firstOf(search, options.data)} />;
  const curl = { path: `/v3/assets/filter-options-v2?workspaceId=${workspaceId}` };
  return (
    <Dialog title={words.title} close={close} isWide>
      {options.error === null ? (
        <Bone width="20em" />
      ) : (
        <Failure error={options.error} retry={() => void options.refetch()} curl={curl} />
      )}
    </Dialog>
  );
}

/** An empty filter begins with a condition, because that is what the dialog was opened for. */
function firstOf({ filter }: DeviceSearch, options: FilterOptions): FilterGroup {
  const root = rootOf(filter === undefined ? undefined : decodeFilter(filter));
  if (root.expressions.length > 0) return root;
  const usual = options.filterOptions.find(({ field }) => field === 'tags.id');
  const option = usual ?? options.filterOptions[0];
  return option === undefined ? root : { ...root, expressions: [leafOn(options, option)] };
}

interface BuilderProps extends FilterDialogProps {
  readonly options: FilterOptions;
  readonly first: FilterGroup;
}

function Builder({ workspaceId, search, show, close, options, first }: BuilderProps) {
  const words = useWords(filterWords);
  const formats = useFormats();
  const [root, setRoot] = useState(first);
  const complete = pruned(root, (leaf) => isComplete(options, leaf));
  const filter = complete === undefined ? undefined : encodeFilter(complete);
  const counts = useCounts(workspaceId, search, filter);
  const count = counts.data?.matching;
  const apply = () => {
    close();
    show(filter);
  };
  const shown = count === undefined ? words.showThem : words.show(formats.count(count));
  return (
    <Dialog
      title={words.title}
      close={close}
      isWide
      footer={
        <>
          <Button look="ghost" onClick={() => setRoot(rootOf(undefined))}>
            {words.clear}
          </Button>
          <span className="grow" />
          <Button onClick={close}>{words.cancel}</Button>
          <Button look="primary" onClick={apply}>
            {shown}
          </Button>
        </>
      }
    >
      <FilterGroupEditor options={options} root={root} path={[]} change={setRoot} />
      <Summary options={options} root={root} complete={complete} counts={counts} />
    </Dialog>
  );
}

interface SummaryProps {
  readonly options: FilterOptions;
  readonly root: FilterGroup;
  readonly complete: FilterGroup | undefined;
  readonly counts: ReturnType<typeof useCounts>;
}

function Summary({ options, root, complete, counts }: SummaryProps) {
  const words = useWords(filterWords);
  const formats = useFormats();
  const said =
    complete === undefined ? undefined : sentenceOf(complete, { words, formats, options });
  const kept = complete === undefined ? 0 : leafPaths(complete).length;
  const { data, error } = counts;
  return (
    <section className={styles['summary']} aria-label={words.sentence}>
      <p aria-live="polite">
        <b>{said === undefined ? words.everything : words.where(said)}</b>{' '}
        <span className="mute num">
          {data === undefined
            ? error === null && words.counting
            : words.matches(data.matching, data.total)}
        </span>
      </p>
      {error !== null && <p className="bad">{error.message}</p>}
      {kept < leafPaths(root).length && <p className="faint">{words.incomplete}</p>}
      <details>
        <summary>{words.json}</summary>
        <CodeBlock code={JSON.stringify({ expression: complete }, null, 2)} />
      </details>
    </section>
  );
}

/** How many devices the filter leaves, of those that the rest of the list has. */
function useCounts(workspaceId: string, { filter: _, ...search }: DeviceSearch, filter?: string) {
  const settled = useSettledValue(filter);
  const wanted = settled === undefined ? search : { ...search, filter: settled };
  return useQuery({
    queryKey: ['devices', 'counts', workspaceId, wanted.q, wanted.state, settled],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const [matching, total] = await Promise.all([
        countDevices(listBody(workspaceId, wanted), signal),
        countDevices(listBody(workspaceId, {}), signal),
      ]);
      return { matching, total };
    },
  });
}

// Filter group: conditions and further groups, of which all or any must hold.

interface FilterGroupProps {
  readonly options: FilterOptions;
  readonly root: FilterGroup;
  /** Where the group is; empty for the root. */
  readonly path: FilterPath;
  readonly change: (root: FilterGroup) => void;
}

function FilterGroupEditor({ options, root, path, change }: FilterGroupProps) {
  const words = useWords(filterWords);
  const group = expressionAt(root, path);
  if (group === undefined || !isGroup(group)) return null;
  const replace = (at: FilterPath, wanted: FilterExpression | undefined) =>
    change(replacedAt(root, at, wanted));
  const add = (expression: FilterExpression) =>
    replace(path, { ...group, expressions: [...group.expressions, expression] });
  return (
    <div
      className={`stack gap-10 shrinks ${styles['group']}`}
      role="group"
      aria-label={words.group}
      data-nested={path.length > 0}
    >
      <GroupHead group={group} path={path} replace={replace} />
      {group.expressions.map((expression, at) => {
        const below = [...path, at];
        if (isGroup(expression))
          return (
            <FilterGroupEditor
              // oxlint-disable-next-line react/no-array-index-key -- a condition has no other identity
              key={at}
              options={options}
              root={root}
              path={below}
              change={change}
            />
          );
        return (
          <FilterCondition
            // oxlint-disable-next-line react/no-array-index-key -- a condition has no other identity
            key={at}
            options={options}
            leaf={expression}
            change={(leaf) => replace(below, leaf)}
            remove={() => replace(below, undefined)}
          />
        );
      })}
      <AddButtons options={options} depth={path.length} add={add} />
    </div>
  );
}

interface GroupHeadProps {
  readonly group: FilterGroup;
  readonly path: FilterPath;
  readonly replace: (at: FilterPath, wanted: FilterExpression | undefined) => void;
}

function GroupHead({ group, path, replace }: GroupHeadProps) {
  const words = useWords(filterWords);
  const isRoot = path.length === 0;
  return (
    <div className="row gap-10">
      <span className="mute">{words.match}</span>
      <Segments
        label={words.match}
        value={group.operator}
        options={[
          { value: 'AND', label: words.all },
          { value: 'OR', label: words.any },
        ]}
        choose={(operator) => replace(path, { ...group, operator })}
      />
      <span className="grow" />
      {!isRoot && (
        <Button
          look="ghost"
          isIcon
          aria-label={words.removeGroup}
          onClick={() => replace(path, undefined)}
        >
          <Trash2 aria-hidden="true" />
        </Button>
      )}
    </div>
  );
}

interface AddButtonsProps {
  readonly options: FilterOptions;
  readonly depth: number;
  readonly add: (expression: FilterExpression) => void;
}

function AddButtons({ options, depth, add }: AddButtonsProps) {
  const words = useWords(filterWords);
  const first = options.filterOptions.find(({ field }) => field === 'name');
  if (first === undefined) return null;
  const leaf = leafOn(options, first);
  return (
    <div className={`row gap-10 ${styles['add']}`}>
      <Button look="ghost" onClick={() => add(leaf)}>
        <Plus aria-hidden="true" />
        {words.addCondition}
      </Button>
      {depth + 1 < options.definitions.maxDepth && (
        <Button look="ghost" onClick={() => add({ operator: 'OR', expressions: [leaf] })}>
          <FolderPlus aria-hidden="true" />
          {words.addGroup}
        </Button>
      )}
    </div>
  );
}

// Filter condition: a field, how it is compared, and with which values.

interface FilterConditionProps {
  readonly options: FilterOptions;
  readonly leaf: FilterLeaf;
  readonly change: (leaf: FilterLeaf) => void;
  readonly remove: () => void;
}

function FilterCondition({ options, leaf, change, remove }: FilterConditionProps) {
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

// Filter values: none, one, two or many, chosen or typed as the field has them.

interface FilterValuesProps {
  readonly options: FilterOptions;
  readonly option: FilterOption | undefined;
  readonly leaf: FilterLeaf;
  readonly change: (leaf: FilterLeaf) => void;
}

function FilterValues({ options, option, leaf, change }: FilterValuesProps) {
  const words = useWords(filterWords);
  const { max } = countOf(options, leaf.predicate);
  const values = valuesOf(leaf).map(String);
  const set = (changed: readonly string[]) => change(leafWith(leaf, changed));
  if (max === 0) return <span className={`flow gap-8 shrinks ${styles['values']}`} />;
  if (max > 2) return <ManyValues option={option} values={values} set={set} />;
  const labels = max === 1 ? [words.value] : [words.from, words.to];
  return (
    <span className={`flow gap-8 shrinks ${styles['values']}`}>
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
    <span className={`flow gap-8 shrinks ${styles['values']}`} data-many="true">
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
