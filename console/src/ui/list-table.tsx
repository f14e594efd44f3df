// List table: one row a record; on a phone the cells of a row are below each other.
import type { ReactNode } from 'react';
import styles from './list-table.module.css';
import { Bone } from './states.tsx';

export interface ListTableProps {
  readonly headers: readonly string[];
  /** The first column is a small control, such as a switch. */
  readonly hasControl?: boolean;
  /** Name of a last column of buttons, which is not shown. */
  readonly actions?: string;
  /** Rows whose name is a `<th scope="row">`. */
  readonly children: ReactNode;
}

export function ListTable({ headers, hasControl = false, actions, children }: ListTableProps) {
  const columns = [hasControl && styles['controlled'], actions !== undefined && styles['acted']];
  return (
    <table className={[styles['list'], ...columns].filter(Boolean).join(' ')}>
      <thead>
        <tr>
          {headers.map((header) => (
            <th key={header} scope="col">
              {header}
            </th>
          ))}
          {actions !== undefined && (
            <th scope="col">
              <span className="sr">{actions}</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

/** The shape of a list while its rows are on the way. */
export function ListBones({ rows = 5 }: { readonly rows?: number }) {
  return (
    <div className={styles['bones']}>
      {Array.from({ length: rows }, (_, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- rows of a skeleton have no other identity
        <Bone key={at} width="100%" />
      ))}
    </div>
  );
}
