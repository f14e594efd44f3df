// Select column: a box for each row, and one for all rows in view.
import type { Selection } from './use-selection.ts';
import type { Column } from './windowed-table.tsx';

interface SelectWords {
  readonly selectShown: string;
  readonly select: (name: string) => string;
}

interface Named {
  readonly id: string;
  readonly name: string;
}

export function selectColumn<T extends Named>(
  selection: Selection<T>,
  words: SelectWords,
): Column<T> {
  return {
    key: 'select',
    width: '20px',
    header: (
      <input
        type="checkbox"
        aria-label={words.selectShown}
        checked={selection.isAll || selection.count > 0}
        ref={(box) => {
          if (box !== null) box.indeterminate = !selection.isAll && selection.count > 0;
        }}
        onChange={selection.toggleShown}
      />
    ),
    cell: (row, index) => (
      <input
        type="checkbox"
        tabIndex={-1}
        aria-label={words.select(row.name)}
        checked={selection.has(row)}
        onChange={({ nativeEvent }) =>
          selection.toggle(row, index, (nativeEvent as MouseEvent).shiftKey)
        }
      />
    ),
  };
}
