// Tools of the device list: search, state, and how many devices match.
import { Search, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { Segments } from '../../parts/choice.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { type DeviceSearch, deviceStates } from './device-search.ts';
import { without } from './device-columns.tsx';
import { devicesWords } from './devices-words.ts';
import styles from './devices.module.css';

/** A person types several letters in this time. */
const typingMs = 160;

interface ListToolsProps {
  readonly search: DeviceSearch;
  readonly change: (search: DeviceSearch) => void;
  readonly total: number | undefined;
}

export function ListTools({ search, change, total }: ListToolsProps) {
  const words = useWords(devicesWords);
  const formats = useFormats();
  const states = { online: words.online, silent: words.silent, never: words.neverHeard };
  return (
    <div className={styles['tools']}>
      <SearchField
        q={search.q ?? ''}
        choose={(q) => change(q === '' ? without(search, 'q') : { ...search, q })}
      />
      <Segments
        label={words.state}
        value={search.state ?? 'all'}
        options={[
          { value: 'all', label: words.all },
          ...deviceStates.map((value) => ({ value, label: states[value] })),
        ]}
        choose={(state) =>
          change(state === 'all' ? without(search, 'state') : { ...search, state })
        }
      />
      {search.filter !== undefined && (
        <Button onClick={() => change(without(search, 'filter'))}>
          <X aria-hidden="true" />
          {words.withoutFilter}
        </Button>
      )}
      <span className="grow" />
      <span className="mute num" aria-live="polite">
        {total !== undefined && words.count(formats.count(total), total)}
      </span>
    </div>
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
