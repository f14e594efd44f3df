// Field rows: a list of fields in a form, whose rows are added and removed.
import { Plus, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button } from '../../../ui/button.tsx';
import styles from './form.module.css';

interface FieldRowsProps<T> {
  readonly legend: string;
  readonly rows: readonly T[];
  readonly least: number;
  readonly most: number;
  readonly addLabel: string;
  readonly newRow: () => T;
  /** Numbers begin with 1. */
  readonly rowLabel: (number: number) => string;
  readonly removeLabel: (number: number) => string;
  readonly change: (rows: readonly T[]) => void;
  readonly children: (row: T, change: (row: T) => void) => ReactNode;
}

export function FieldRows<T>(props: FieldRowsProps<T>) {
  const { legend, rows, least, most, addLabel, newRow, change, children } = props;
  const { rowLabel, removeLabel } = props;
  return (
    <fieldset className={`stack gap-12 ${styles['group']}`}>
      <legend>{legend}</legend>
      {rows.map((row, at) => (
        <div
          // Its place in a list of this length: after a removal the fields are rebuilt.
          key={`${at} of ${rows.length}`}
          className={`columns align-start ${styles['row']}`}
          role="group"
          aria-label={rowLabel(at + 1)}
        >
          {children(row, (changed) => change(rows.with(at, changed)))}
          {rows.length > least && (
            <span className={styles['remove']}>
              <Button
                look="ghost"
                isIcon
                aria-label={removeLabel(at + 1)}
                title={removeLabel(at + 1)}
                onClick={() => change(rows.toSpliced(at, 1))}
              >
                <X aria-hidden="true" />
              </Button>
            </span>
          )}
        </div>
      ))}
      {rows.length < most && (
        <div>
          <Button onClick={() => change([...rows, newRow()])}>
            <Plus aria-hidden="true" />
            {addLabel}
          </Button>
        </div>
      )}
    </fieldset>
  );
}
