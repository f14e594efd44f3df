// Devices in view: the same devices as a list, for the keyboard and for screen readers.
import { useMemo } from 'react';
import { StateMark } from '../../map/map-notes.tsx';
import { mapWords } from '../../map/map-words.ts';
import { Ago } from '../../parts/ago.tsx';
import { type Column, WindowedTable } from '../../parts/rows/windowed-table.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import styles from './map.module.css';
import { mapPageWords } from './map-page-words.ts';
import type { DevicePoint } from './positions.ts';

interface DevicesInViewProps {
  readonly points: readonly DevicePoint[];
  readonly open: (point: DevicePoint) => void;
}

export function DevicesInView({ points, open }: DevicesInViewProps) {
  const words = useWords(mapPageWords);
  const states = useWords(mapWords).states;
  const formats = useFormats();
  const columns = useMemo<readonly Column<DevicePoint>[]>(
    () => [
      {
        key: 'name',
        header: words.list,
        width: 'minmax(0, 1fr)',
        cell: (point) => (
          <button
            type="button"
            tabIndex={-1}
            className={styles['device']}
            onClick={() => open(point)}
          >
            <StateMark state={point.state} />
            <span>{point.name}</span>
            <span className="sr">{states[point.state]}</span>
          </button>
        ),
      },
      {
        key: 'heard',
        header: words.lastHeard,
        width: '104px',
        cell: ({ lastHeard }) => (
          <span className="faint">
            <Ago at={lastHeard} />
          </span>
        ),
      },
    ],
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- it only calls what is newest
    [words, states],
  );
  return (
    <section className={styles['list']} aria-label={words.list}>
      <p className={styles['count']} aria-live="polite">
        {words.listCount(formats.count(points.length))}
      </p>
      {points.length === 0 ? (
        <p className={styles['none']}>{words.noneInView}</p>
      ) : (
        <WindowedTable
          label={words.list}
          columns={columns}
          total={points.length}
          rowAt={(index) => points[index]}
          onView={ignore}
          open={open}
        />
      )}
    </section>
  );
}

/** All rows are there: nothing is asked for when others come into view. */
function ignore(): void {}
