// Legend: every line of a chart by name; a click shows one line alone, with Shift also others, another click all of them.
import { type ReactNode, useMemo, useState } from 'react';
import { useFormats, useWords } from '../words/language.tsx';
import { chartWords } from './chart-words.ts';
import styles from './legend.module.css';
import type { PlotLine } from '../../../src/dashboards/plot.ts';

interface Isolated {
  /** The lines to draw; the same array until the choice changes. */
  readonly shown: readonly PlotLine[];
  /** The places of the lines that are shown; empty for all. */
  readonly chosen: readonly number[];
  /** Alone, or beside those that are chosen already. */
  readonly choose: (at: number, isAdded: boolean) => void;
}

export function useIsolated(lines: readonly PlotLine[]): Isolated {
  const [places, setPlaces] = useState<readonly number[]>([]);
  const shown = useMemo(() => {
    const some = lines.filter((_, at) => places.includes(at));
    return some.length === 0 ? lines : some;
  }, [lines, places]);
  const chosen = places.filter((at) => at < lines.length);
  const choose = (at: number, isAdded: boolean) => {
    const others = isAdded ? chosen.filter((one) => one !== at) : [];
    const isAlone = !isAdded && chosen.length === 1;
    setPlaces(chosen.includes(at) && (isAdded || isAlone) ? others : [...others, at]);
  };
  return { shown, chosen, choose };
}

export type LegendFigure = 'LAST' | 'MIN' | 'AVG' | 'MAX' | 'SUM';

interface LegendProps extends Pick<Isolated, 'chosen' | 'choose'> {
  readonly lines: readonly PlotLine[];
  /** Of the values of each line, beside its name. */
  readonly figures?: readonly LegendFigure[];
  /** Notes after the lines. */
  readonly children?: ReactNode;
}

/** Lines are named in words too, as color is not the only key. */
export function Legend({ lines, chosen, choose, figures = [], children }: LegendProps) {
  const words = useWords(chartWords);
  const formats = useFormats();
  const isOnly = (at: number) => chosen.length === 1 && chosen[0] === at;
  return (
    <ul className={styles['legend']} aria-label={words.legend}>
      {lines.map(({ label, unit = '', color, values, isDashed = false, isFaint = false }, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- two lines may have one name
        <li key={at}>
          <button
            type="button"
            aria-pressed={chosen.includes(at)}
            data-hidden={chosen.length > 0 && !chosen.includes(at)}
            title={isOnly(at) ? words.showAll : words.showOnly}
            onClick={({ shiftKey }) => choose(at, shiftKey)}
          >
            <svg width="18" height="8" aria-hidden="true">
              <line
                x1="0"
                y1="4"
                x2="18"
                y2="4"
                stroke={`var(${color})`}
                strokeWidth="2.5"
                strokeOpacity={isFaint ? 0.45 : 1}
                {...(isDashed ? { strokeDasharray: '5 4' } : {})}
              />
            </svg>
            {label} {unit !== '' && <span className="faint">{unit}</span>}
            {figures.map((figure) => {
              const value = figureOf(values, figure);
              return value === undefined ? null : (
                <span key={figure} className="num">
                  <span className="faint">{words.figures[figure]}</span> {formats.value(value)}
                </span>
              );
            })}
          </button>
        </li>
      ))}
      {children}
    </ul>
  );
}

/** Undefined for a line without values. */
function figureOf(values: PlotLine['values'], figure: LegendFigure): number | undefined {
  const known = values.filter((value) => typeof value === 'number');
  if (known.length === 0) return undefined;
  if (figure === 'LAST') return known.at(-1);
  const sum = known.reduce((total, value) => total + value, 0);
  if (figure === 'SUM') return sum;
  if (figure === 'AVG') return sum / known.length;
  const further = figure === 'MIN' ? Math.min : Math.max;
  return known.reduce((found, value) => further(found, value));
}
