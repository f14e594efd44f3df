// Legend: every line of a chart by name; a click shows one line alone, another click all of them.
import { type ReactNode, useMemo, useState } from 'react';
import { useWords } from '../words/language.tsx';
import { chartWords } from './chart-words.ts';
import styles from './legend.module.css';
import type { PlotLine } from './line-plot.ts';

interface Isolated {
  /** The lines to draw; the same array until the choice changes. */
  readonly shown: readonly PlotLine[];
  /** The place of the line that is alone. */
  readonly only: number | undefined;
  readonly choose: (at: number | undefined) => void;
}

export function useIsolated(lines: readonly PlotLine[]): Isolated {
  const [chosen, choose] = useState<number>();
  const line = chosen === undefined ? undefined : lines[chosen];
  const shown = useMemo(() => (line === undefined ? lines : [line]), [lines, line]);
  return { shown, only: line === undefined ? undefined : chosen, choose };
}

interface LegendProps extends Pick<Isolated, 'only' | 'choose'> {
  readonly lines: readonly PlotLine[];
  /** Notes after the lines. */
  readonly children?: ReactNode;
}

/** Lines are named in words too, as color is not the only key. */
export function Legend({ lines, only, choose, children }: LegendProps) {
  const words = useWords(chartWords);
  return (
    <ul className={styles['legend']} aria-label={words.legend}>
      {lines.map(({ label, unit = '', color, isDashed = false }, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- two lines may have one name
        <li key={at}>
          <button
            type="button"
            aria-pressed={only === at}
            data-hidden={only !== undefined && only !== at}
            title={only === at ? words.showAll : words.showOnly}
            onClick={() => choose(only === at ? undefined : at)}
          >
            <svg width="18" height="8" aria-hidden="true">
              <line
                x1="0"
                y1="4"
                x2="18"
                y2="4"
                stroke={`var(${color})`}
                strokeWidth="2.5"
                {...(isDashed ? { strokeDasharray: '5 4' } : {})}
              />
            </svg>
            {label} {unit !== '' && <span className="faint">{unit}</span>}
          </button>
        </li>
      ))}
      {children}
    </ul>
  );
}
