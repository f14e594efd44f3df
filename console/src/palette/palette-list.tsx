// List of the palette: groups of items, of which one is current.
import { Check } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { useWords } from '../words/language.tsx';
import type { PaletteGroup, PaletteItem } from './palette-items.ts';
import { paletteWords } from './palette-words.ts';
import styles from './palette.module.css';

interface PaletteListProps {
  readonly id: string;
  readonly groups: readonly PaletteGroup[];
  readonly current: number;
  readonly choose: (item: PaletteItem) => void;
}

export function PaletteList({ id, groups, current, choose }: PaletteListProps) {
  const words = useWords(paletteWords);
  const starts = groups.map((_, at) =>
    groups.slice(0, at).reduce((sum, { items }) => sum + items.length, 0),
  );
  return (
    <div id={id} className={styles['list']} role="listbox" aria-label={words.results}>
      {groups.map(({ name, items }, group) => (
        <div key={name} role="group" aria-label={name}>
          <div className={styles['heading']} aria-hidden="true">
            {name}
          </div>
          {items.map((item, at) => (
            <Row
              key={item.id}
              id={`${id}${(starts[group] ?? 0) + at}`}
              item={item}
              isCurrent={(starts[group] ?? 0) + at === current}
              choose={choose}
            />
          ))}
        </div>
      ))}
    </div>
  );
}

interface RowProps {
  readonly id: string;
  readonly item: PaletteItem;
  readonly isCurrent: boolean;
  readonly choose: (item: PaletteItem) => void;
}

function Row({ id, item, isCurrent, choose }: RowProps) {
  const { icon: Icon, label, note } = item;
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isCurrent) element.current?.scrollIntoView({ block: 'nearest' });
  }, [isCurrent]);
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the keys of the field above walk the list
    <div
      ref={element}
      id={id}
      className={styles['row']}
      role="option"
      tabIndex={-1}
      aria-selected={isCurrent}
      // The press would take the focus from the field.
      onMouseDown={(event) => event.preventDefault()}
      onClick={() => choose(item)}
    >
      <Icon aria-hidden="true" />
      <span className={styles['label']}>{label}</span>
      {note !== undefined && note !== '' && <span className={styles['note']}>{note}</span>}
      {item.isCurrent === true && <Check aria-hidden="true" />}
    </div>
  );
}
