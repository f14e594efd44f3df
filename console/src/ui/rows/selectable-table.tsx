// Selectable table: rows that are read as they come into view; higher ones on a phone.
import type { Pages } from './use-pages.ts';
import { useNarrow } from './use-narrow.ts';
import type { Selection } from './use-selection.ts';
import { WindowedTable, type WindowedTableProps } from './windowed-table.tsx';

const skeletonRows = 12;

interface SelectableTableProps<T extends { readonly id: string }>
  extends Pick<WindowedTableProps<T>, 'label' | 'columns' | 'open' | 'keys' | 'box'> {
  readonly pages: Pages<T>;
  readonly selection: Selection<T>;
  /** Of a row on a phone, in pixels. */
  readonly narrowRowPx: number;
  readonly leastPx: number;
}

export function SelectableTable<T extends { readonly id: string }>(props: SelectableTableProps<T>) {
  const { pages, selection, narrowRowPx, leastPx, ...table } = props;
  const isNarrow = useNarrow();
  return (
    <WindowedTable
      {...table}
      total={pages.total ?? skeletonRows}
      rowAt={pages.rowAt}
      onView={pages.onView}
      isSelected={selection.has}
      toggle={selection.toggle}
      leastPx={isNarrow ? 0 : leastPx}
      {...(isNarrow ? { rowPx: narrowRowPx, hasHeader: false } : {})}
    />
  );
}
