// Values dialog: the points of a chart as a table, for who cannot see lines.
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { useFormats, useWords } from '../words/language.tsx';
import { chartWords } from './chart-words.ts';
import styles from './line-chart.module.css';
import type { PlotLine, PlotValue } from '../../../src/dashboards/plot.ts';

interface ValuesDialogProps {
  readonly title: string;
  /** Epoch seconds. */
  readonly times: readonly number[];
  readonly lines: readonly PlotLine[];
  readonly zone: string;
  readonly close: () => void;
}

export function ValuesDialog({ title, times, lines, zone, close }: ValuesDialogProps) {
  const words = useWords(chartWords);
  const { instant, value } = useFormats();
  const said = (one: PlotValue) => (one === null || one === undefined ? '' : value(one));
  const rows = times.flatMap((seconds, at) => {
    const values = lines.map((line) => said(line.values[at]));
    return values.every((one) => one === '') ? [] : [{ seconds, values }];
  });
  return (
    <Dialog
      title={title}
      isWide
      close={close}
      footer={<Button onClick={close}>{words.close}</Button>}
    >
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must take the focus */}
      <div className={styles['values']} tabIndex={0} role="group" aria-label={words.values}>
        <table>
          <thead>
            <tr>
              <th scope="col">{words.time}</th>
              {lines.map(({ label, unit = '' }, at) => (
                // oxlint-disable-next-line react/no-array-index-key -- two lines may have one name
                <th key={at} scope="col">
                  {unit === '' ? label : `${label} (${unit})`}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ seconds, values }) => (
              <tr key={seconds}>
                <th scope="row">{instant(new Date(seconds * 1_000).toISOString(), zone)}</th>
                {values.map((one, at) => (
                  // oxlint-disable-next-line react/no-array-index-key -- columns have no other identity
                  <td key={at}>{one}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Dialog>
  );
}
