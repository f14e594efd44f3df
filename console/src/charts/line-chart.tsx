// Line chart: one canvas for any number of lines; gaps stay gaps and the time axis is even.
import { useEffect, useRef, useState } from 'react';
import type uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { themeEvent } from '../ui/theme.ts';
import { Button } from '../ui/button.tsx';
import { late } from '../ui/late.tsx';
import { useFormats, useWords } from '../words/language.tsx';
import { chartWords } from './chart-words.ts';
import type { Plot } from '../../../src/dashboards/plot.ts';
import { createPlot, levelAt } from './line-plot.ts';
import styles from './line-chart.module.css';

const ValuesDialog = late(
  'ValuesDialog',
  async () => (await import('./values-dialog.tsx')).ValuesDialog,
);

/** Each list of the plot is the same until one of its members changes. */
interface LineChartProps extends Plot {
  /** IANA name of the zone of axis and tip. */
  readonly zone: string;
  readonly height?: number;
  /** Named for a screen reader, which finds the values in a table. */
  readonly label: string;
  /** Called with the range that was dragged over, in epoch seconds. */
  readonly zoom?: (from: number, to: number) => void;
  /** Called on a double click. */
  readonly zoomBack?: () => void;
  /** Called with the value of a click, and while the mouse is dragged. Takes the place of zoom. */
  readonly pickLevel?: (value: number) => void;
  /** Offered at the time of a click, in epoch seconds. */
  readonly offer?: {
    readonly label: (seconds: number) => string;
    readonly choose: (seconds: number) => void;
  };
}

export function LineChart(props: LineChartProps) {
  const { times, lines, marks, levels, zone, height = 280, label, zoom, zoomBack } = props;
  const { range, namedTimes, isBanded = false, axes, offer, pickLevel } = props;
  const isPicked = pickLevel !== undefined;
  const [from, to] = range ?? [];
  const words = useWords(chartWords);
  const formats = useFormats();
  const [isTable, setAsTable] = useState(false);
  const [clicked, setClicked] = useState<{ readonly seconds: number; readonly left: number }>();
  const box = useRef<HTMLDivElement>(null);
  const tip = useRef<HTMLDivElement>(null);
  const drawn = useRef<uPlot>(undefined);
  const latest = useRef({ zoom, zoomBack, lines, pickLevel });
  useEffect(() => {
    latest.current = { zoom, zoomBack, lines, pickLevel };
  });
  useEffect(() => {
    const [element, note] = [box.current, tip.current];
    if (element === null || note === null) return undefined;
    let plot: uPlot | undefined;
    const make = () => {
      plot?.destroy();
      const zoomed = (from: number, to: number) => latest.current.zoom?.(from, to);
      const wholeRange =
        from === undefined || to === undefined ? {} : { range: [from, to] as const };
      const named = namedTimes === undefined ? {} : { namedTimes };
      const marked = {
        ...(marks && { marks }),
        ...(levels && { levels }),
        ...(axes && { axes }),
        isBanded,
      };
      const basic = { element, note, times, lines, zone, height, formats };
      const zooming = isPicked ? {} : { zoomed };
      const onClick = (seconds: number, left: number) => setClicked({ seconds, left });
      const clicked = { clicked: onClick };
      plot = createPlot({ ...basic, ...wholeRange, ...named, ...marked, ...zooming, ...clicked });
      drawn.current = plot;
    };
    make();
    const sizes = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height }));
    sizes.observe(element);
    // A plot reads its colors only once.
    addEventListener(themeEvent, make);
    const back = () => latest.current.zoomBack?.();
    element.addEventListener('dblclick', back);
    return () => {
      sizes.disconnect();
      removeEventListener(themeEvent, make);
      element.removeEventListener('dblclick', back);
      plot?.destroy();
    };
  }, [
    times,
    lines,
    marks,
    levels,
    isBanded,
    axes,
    zone,
    height,
    formats,
    from,
    to,
    namedTimes,
    isPicked,
  ]);
  // On the element, which stays while each new level makes another plot.
  useEffect(() => {
    const element = box.current;
    if (element === null || !isPicked) return undefined;
    const pick = ({ clientY }: MouseEvent) => {
      if (drawn.current === undefined) return;
      latest.current.pickLevel?.(levelAt(drawn.current, latest.current.lines, clientY));
    };
    const press = (event: PointerEvent) => {
      // A touch may also begin to scroll the page.
      if (event.pointerType === 'touch' || event.button !== 0) return;
      element.setPointerCapture(event.pointerId);
      pick(event);
    };
    const drag = (event: PointerEvent) => {
      if (element.hasPointerCapture(event.pointerId)) pick(event);
    };
    element.addEventListener('pointerdown', press);
    element.addEventListener('pointermove', drag);
    element.addEventListener('click', pick);
    return () => {
      element.removeEventListener('pointerdown', press);
      element.removeEventListener('pointermove', drag);
      element.removeEventListener('click', pick);
    };
  }, [isPicked]);
  return (
    <div className={styles['box']}>
      <div
        className={styles['chart']}
        ref={box}
        role="img"
        aria-label={label}
        style={{ height }}
        data-picked={isPicked}
      >
        <div className={styles['tip']} ref={tip} hidden />
      </div>
      {offer !== undefined && clicked !== undefined && (
        <div className={styles['offer']} style={{ left: clicked.left }}>
          <Button
            onClick={() => {
              setClicked(undefined);
              offer.choose(clicked.seconds);
            }}
            onKeyDown={({ key }) => {
              if (key === 'Escape') setClicked(undefined);
            }}
          >
            {offer.label(clicked.seconds)}
          </Button>
        </div>
      )}
      <div className={styles['asTable']}>
        <Button onClick={() => setAsTable(true)}>{words.asTable}</Button>
      </div>
      {isTable && (
        <ValuesDialog
          title={label}
          lines={lines}
          zone={zone}
          times={namedTimes ?? times}
          close={() => setAsTable(false)}
        />
      )}
    </div>
  );
}
