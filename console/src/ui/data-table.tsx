// Data table: a short list with headers, for what fits on a page.
import type { ReactNode } from 'react';
import { Sheet } from './card.tsx';
import styles from './data-table.module.css';
import { type Answer, Answered, Bone } from './states.tsx';

export interface DataColumn<T> {
  readonly key: string;
  /** Hidden from sight when `isQuiet`, for columns of buttons. */
  readonly header: string;
  readonly isQuiet?: boolean;
  readonly cell: (row: T) => ReactNode;
}

interface DataTableProps<T> {
  readonly label: string;
  readonly columns: readonly DataColumn<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
}

export function DataTable<T>({ label, columns, rows, keyOf }: DataTableProps<T>) {
  return (
    <div className={styles['scroll']} role="region" aria-label={label} tabIndex={0}>
      <table className={styles['table']}>
        <thead>
          <tr>
            {columns.map(({ key, header, isQuiet = false }) => (
              <th key={key} scope="col">
                {isQuiet ? <span className="sr">{header}</span> : header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ key, header, isQuiet = false, cell }) => (
                <td key={key} data-header={isQuiet ? undefined : header}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RecordSheetProps<T> {
  readonly answer: Answer<{ readonly content: readonly T[] }>;
  /** Of the request, for a terminal. */
  readonly path: string;
  /** In place of a table without rows. */
  readonly none: ReactNode;
  readonly children: (records: readonly T[]) => ReactNode;
}

/** A card with a table of records, once they are read. */
export function RecordSheet<T>({ answer, path, none, children }: RecordSheetProps<T>) {
  return (
    <Sheet>
      <Answered answer={answer} curl={{ path }} skeleton={<TableSkeleton />}>
        {({ content }) => (content.length === 0 ? none : children(content))}
      </Answered>
    </Sheet>
  );
}

/** The shape of a table while its rows are on the way. */
export function TableSkeleton({ rows = 4 }: { readonly rows?: number }) {
  return (
    <table className={styles['table']} aria-hidden="true">
      <tbody>
        {Array.from({ length: rows }, (_, at) => (
          <tr key={at}>
            <td>
              <Bone width="14em" />
            </td>
            <td>
              <Bone width="8em" />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
