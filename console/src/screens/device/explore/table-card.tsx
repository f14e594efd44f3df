// Table card: the values of the chart, the newest first, and the files of all of them.
import { Download } from 'lucide-react';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { useFormats, useWords } from '../../../words/language.tsx';
import styles from './explore.module.css';
import { exploreWords } from './explore-words.ts';
import { csvOf, ndjsonOf, type SeriesTable } from './series-table.ts';

/** What a person reads; all rows are in the files. */
const rowsShown = 100;

interface TableCardProps {
  readonly table: SeriesTable;
  /** Of the files. */
  readonly name: string;
  readonly zone: string;
}

export function TableCard({ table, name, zone }: TableCardProps) {
  const words = useWords(exploreWords);
  const formats = useFormats();
  const rows = table.rows.toReversed().slice(0, rowsShown);
  const all = table.rows.length;
  return (
    <Card
      title={words.table}
      note={words.rowsOf(rows.length, all)}
      actions={
        <>
          <span className="mute">{words.inZone(zone)}</span>
          <Button onClick={() => download(`${name}.csv`, 'text/csv', csvOf(table, zone))}>
            <Download aria-hidden="true" />
            {words.exportCsv(all)}
          </Button>
          <Button
            onClick={() =>
              download(`${name}.ndjson`, 'application/x-ndjson', ndjsonOf(table, zone))
            }
          >
            <Download aria-hidden="true" />
            {words.exportNdjson(all)}
          </Button>
        </>
      }
    >
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must take the focus */}
      <div className={styles['scroll']} tabIndex={0} role="group" aria-label={words.table}>
        <table className={styles['table']}>
          <thead>
            <tr>
              <th scope="col">{words.time}</th>
              {table.columns.map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ timestamp, values }) => (
              <tr key={timestamp}>
                <th scope="row">{formats.instant(timestamp, zone)}</th>
                {values.map((value, at) => (
                  <td key={table.columns[at]}>{value === null ? '' : formats.value(value)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

function download(name: string, type: string, content: string): void {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
