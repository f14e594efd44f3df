// Search field: what is typed goes into the address once the typist paused; `/` leads to it.
import { Search } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useSettledValue } from './use-settled-value.ts';
import styles from './search-field.module.css';

interface SearchFieldProps {
  readonly label: string;
  readonly value: string;
  readonly change: (value: string) => void;
}

export function SearchField({ label, value, change }: SearchFieldProps) {
  const [typed, setTyped] = useState(value);
  const settled = useSettledValue(typed);
  const [sent, setSent] = useState(value);
  const [lastValue, setLastValue] = useState(value);
  // A link or a button can change the address too; what is being typed stays.
  if (value !== lastValue) {
    setLastValue(value);
    if (value !== sent) setTyped(value);
  }
  const latest = useRef({ change, value });
  useEffect(() => {
    latest.current = { change, value };
  });
  useEffect(() => {
    if (settled === latest.current.value) return;
    setSent(settled);
    latest.current.change(settled);
  }, [settled]);
  return (
    <span className={styles['search']}>
      <Search aria-hidden="true" />
      <input
        aria-keyshortcuts="/"
        type="search"
        aria-label={label}
        placeholder={label}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
    </span>
  );
}
