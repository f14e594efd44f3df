// Filter chips: the conditions of the list, each with a button that removes it.
import { useQuery } from '@tanstack/react-query';
import { ListFilter, X } from 'lucide-react';
import { useMemo, useState } from 'react';
import { usePageActions } from '../../../ui/page.tsx';
import { Button } from '../../../ui/button.tsx';
import { late } from '../../../ui/late.tsx';
import { useFormats, useWords } from '../../../words/language.tsx';
import { decodeFilter, type DeviceSearch, type FilterExpression } from '../device-search.ts';
import { encodeFilter } from '../device-list.ts';
import { filterOptions, replacedAt, rootOf, sentenceOf } from './filter.ts';
import { filterWords } from './filter-words.ts';
import styles from './filter.module.css';

const FilterDialog = late(
  'FilterDialog',
  async () => (await import('./filter-dialog.tsx')).FilterDialog,
);

interface FilterChipsProps {
  readonly workspaceId: string;
  readonly search: DeviceSearch;
  readonly show: (filter: string | undefined) => void;
}

export function FilterChips({ workspaceId, search, show }: FilterChipsProps) {
  const words = useWords(filterWords);
  const [isOpen, setOpen] = useState(false);
  const label = search.filter === undefined ? words.add : words.edit;
  usePageActions(useMemo(() => [{ label, icon: ListFilter, run: () => setOpen(true) }], [label]));
  const expression = search.filter === undefined ? undefined : decodeFilter(search.filter);
  const root = rootOf(expression);
  // Conditions of which any may hold cannot be taken one by one without another meaning.
  const isOne = root.operator === 'OR' && root.expressions.length > 1;
  const remove = (at: number) => {
    const rest = isOne ? rootOf(undefined) : replacedAt(root, [at], undefined);
    show(rest.expressions.length === 0 ? undefined : encodeFilter(rest));
  };
  const shown = isOne ? [root] : root.expressions;
  return (
    <div
      className={`row gap-6 shrinks ${styles['chips']}`}
      role="group"
      aria-label={words.conditions}
    >
      {shown.map((part, at) => (
        <ConditionChip
          // oxlint-disable-next-line react/no-array-index-key -- a condition has no other identity
          key={at}
          workspaceId={workspaceId}
          expression={part}
          edit={() => setOpen(true)}
          remove={() => remove(at)}
        />
      ))}
      <Button look="ghost" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <ListFilter aria-hidden="true" />
        {label}
      </Button>
      {isOpen && (
        <FilterDialog
          workspaceId={workspaceId}
          search={search}
          show={show}
          close={() => setOpen(false)}
        />
      )}
    </div>
  );
}

interface ConditionChipProps {
  readonly workspaceId: string;
  readonly expression: FilterExpression;
  readonly edit: () => void;
  readonly remove: () => void;
}

function ConditionChip({ workspaceId, expression, edit, remove }: ConditionChipProps) {
  const words = useWords(filterWords);
  const said = useSentence(workspaceId)(expression);
  return (
    <span className={styles['chip']}>
      <button type="button" title={said} onClick={edit}>
        {said}
      </button>
      <button type="button" aria-label={words.removeCondition(said)} onClick={remove}>
        <X aria-hidden="true" />
      </button>
    </span>
  );
}

/** Says expressions with the names of the workspace's records. */
export function useSentence(workspaceId: string): (expression: FilterExpression) => string {
  const words = useWords(filterWords);
  const formats = useFormats();
  const options = useQuery(filterOptions(workspaceId)).data;
  return (expression) => sentenceOf(expression, { words, formats, options });
}
