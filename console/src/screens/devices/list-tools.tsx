// Tools of the device list: search, state, conditions, columns, and how many devices match.
import { Columns3, Search } from 'lucide-react';
import { useEffect, useMemo, useState } from 'react';
import { usePageActions } from '../../palette/page-actions.ts';
import { Button } from '../../parts/button.tsx';
import { Segments } from '../../parts/choice.tsx';
import { late } from '../../parts/late.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { type ChosenColumn, columnsOf } from './columns/column-order.ts';
import { columnWords } from './columns/column-words.ts';
import { type DeviceSearch, deviceStates } from './device-search.ts';
import { without } from './device-columns.tsx';
import type { ListPlace } from './device-table.tsx';
import type { ValueKey } from './device-values.ts';
import { devicesWords } from './devices-words.ts';
import { FilterChips } from './filter/filter-chips.tsx';
import styles from './devices.module.css';

const ColumnDialog = late(
  'ColumnDialog',
  async () => (await import('./columns/column-dialog.tsx')).ColumnDialog,
);

/** A person types several letters in this time. */
const typingMs = 160;

interface ListToolsProps {
  readonly place: ListPlace;
  readonly change: (search: DeviceSearch) => void;
  readonly changeColumns: (columns: readonly ChosenColumn[]) => void;
  readonly total: number | undefined;
  /** Values that the devices in view send. */
  readonly known: readonly ValueKey[];
}

export function ListTools({ place, change, changeColumns, total, known }: ListToolsProps) {
  const words = useWords(devicesWords);
  const formats = useFormats();
  const { workspaceId, search } = place;
  return (
    <div className={styles['tools']}>
      <SearchField
        q={search.q ?? ''}
        choose={(q) => change(q === '' ? without(search, 'q') : { ...search, q })}
      />
      <StateChoice search={search} change={change} />
      <FilterChips
        workspaceId={workspaceId}
        search={search}
        show={(filter) =>
          change(filter === undefined ? without(search, 'filter') : { ...search, filter })
        }
      />
      <span className="grow" />
      <span className="mute num" aria-live="polite">
        {total !== undefined && words.count(formats.count(total), total)}
      </span>
      <ColumnChoice place={place} changeColumns={changeColumns} known={known} />
    </div>
  );
}

function StateChoice({
  search,
  change,
}: Pick<ListToolsProps, 'change'> & Pick<ListPlace, 'search'>) {
  const words = useWords(devicesWords);
  const states = { online: words.online, silent: words.silent, never: words.neverHeard };
  return (
    <Segments
      label={words.state}
      value={search.state ?? 'all'}
      options={[
        { value: 'all', label: words.all },
        ...deviceStates.map((value) => ({ value, label: states[value] })),
      ]}
      choose={(state) => change(state === 'all' ? without(search, 'state') : { ...search, state })}
    />
  );
}

function ColumnChoice({ place, changeColumns, known }: Omit<ListToolsProps, 'total' | 'change'>) {
  const words = useWords(columnWords);
  const [isOpen, setOpen] = useState(false);
  usePageActions(
    useMemo(
      () => [{ label: words.columns, icon: Columns3, run: () => setOpen(true) }],
      [words.columns],
    ),
  );
  const { workspaceId, search } = place;
  return (
    <span className={styles['columnChoice']}>
      <Button
        look="ghost"
        isIcon
        aria-haspopup="dialog"
        aria-label={words.columns}
        title={words.columns}
        onClick={() => setOpen(true)}
      >
        <Columns3 aria-hidden="true" />
      </Button>
      {isOpen && (
        <ColumnDialog
          workspaceId={workspaceId}
          columns={columnsOf(search)}
          known={known}
          change={changeColumns}
          close={() => setOpen(false)}
        />
      )}
    </span>
  );
}

interface SearchFieldProps {
  readonly q: string;
  readonly choose: (q: string) => void;
}

/** What is typed counts after a short rest; the address may change it from outside. */
function SearchField({ q, choose }: SearchFieldProps) {
  const words = useWords(devicesWords);
  const [typed, setTyped] = useState(q);
  const [lastQ, setLastQ] = useState(q);
  if (q !== lastQ) {
    setLastQ(q);
    setTyped(q);
  }
  useEffect(() => {
    if (typed === q) return undefined;
    const timer = setTimeout(() => choose(typed.trim()), typingMs);
    return () => clearTimeout(timer);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only typing starts the wait again
  }, [typed]);
  return (
    <label className={styles['search']}>
      <Search aria-hidden="true" />
      <span className="sr">{words.search}</span>
      <input
        aria-keyshortcuts="/"
        type="search"
        placeholder={words.search}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
    </label>
  );
}
