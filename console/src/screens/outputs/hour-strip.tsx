// Hour strip: deliveries of 24 hours as bars, those that arrived in green and those that failed in red.
import { useFormats, useWords } from '../../words/language.tsx';
import styles from './outputs.module.css';
import { outputsWords } from './outputs-words.ts';

interface HourStripProps {
  /** By hour, the oldest first. */
  readonly ok: readonly number[];
  readonly failed: readonly number[];
}

const height = 22;
const barPx = 4;
const stepPx = 5;
/** An hour without any is a line, so that the strip keeps its shape. */
const leastPx = 1.5;

export function HourStrip({ ok, failed }: HourStripProps) {
  const words = useWords(outputsWords);
  const { count } = useFormats();
  const most = Math.max(1, ...ok.map((many, at) => many + (failed[at] ?? 0)));
  const sum = (list: readonly number[]) => count(list.reduce((total, many) => total + many, 0));
  return (
    <svg
      className={styles['strip']}
      viewBox={`0 0 ${ok.length * stepPx} ${height}`}
      role="img"
      aria-label={words.strip(sum(ok), sum(failed))}
    >
      {ok.map((many, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- an hour has no other identity
        <Bar key={at} x={at * stepPx} ok={many / most} failed={(failed[at] ?? 0) / most} />
      ))}
    </svg>
  );
}

interface BarProps {
  readonly x: number;
  /** Shares of the height. */
  readonly ok: number;
  readonly failed: number;
}

function Bar({ x, ok, failed }: BarProps) {
  if (ok + failed === 0)
    return (
      <rect
        className={styles['none']}
        {...{ x, y: height - leastPx, width: barPx }}
        height={leastPx}
      />
    );
  const heightOf = (share: number) => (share === 0 ? 0 : Math.max(2, share * height));
  const [okPx, failedPx] = [heightOf(ok), heightOf(failed)];
  return (
    <>
      <rect className={styles['ok']} x={x} y={height - okPx} width={barPx} height={okPx} />
      <rect
        className={styles['failed']}
        x={x}
        y={Math.max(0, height - okPx - failedPx)}
        width={barPx}
        height={failedPx}
      />
    </>
  );
}
