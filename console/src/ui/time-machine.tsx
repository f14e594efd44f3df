// Time machine: a bar over a page that shows an earlier moment, to move it and to come back to now.
import { History } from 'lucide-react';
import { useEffect, useId, useState } from 'react';
import { useFormats, useWords } from '../words/language.tsx';
import { instantOfLocal, localOf } from '../words/zone-times.ts';
import { Button } from './button.tsx';
import { TextField } from './field.tsx';
import styles from './time-machine.module.css';
import { timeMachineWords } from './time-machine-words.ts';
import { useSettledValue } from './use-settled-value.ts';

const positions = 200;
const weekMs = 7 * 86_400_000;

interface TimeMachineProps {
  /** The moment shown, ISO-8601. */
  readonly at: string;
  /** Length of the slider; a week without it. */
  readonly spanMs?: number;
  /** That of other times of the page without it. */
  readonly zone?: string;
  /** What the page shows at the moment. */
  readonly note: string;
  /** Undefined for now. */
  readonly show: (at: string | undefined) => void;
}

/** The page follows when the slider rests. */
export function TimeMachine({ at, spanMs = weekMs, note, show, ...own }: TimeMachineProps) {
  const words = useWords(timeMachineWords);
  const formats = useFormats();
  const zone = own.zone ?? formats.zone;
  const title = useId();
  const [openedMs] = useState(() => Date.now());
  const [shown, setShown] = useState(at);
  const [moment, setMoment] = useState(at);
  // The address changed otherwise, such as by Back.
  if (at !== shown) {
    setShown(at);
    setMoment(at);
  }
  const settled = useSettledValue(moment);
  useEffect(() => {
    if (settled !== at) show(settled);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only what came to rest is shown
  }, [settled]);
  const [slid, setSlid] = useState(() => windowOf(Date.parse(at), spanMs, openedMs));
  const isWithin = Date.parse(moment) >= slid.fromMs && Date.parse(moment) <= slid.toMs;
  if (!isWithin) setSlid(windowOf(Date.parse(moment), spanMs, openedMs));
  const stepMs = (slid.toMs - slid.fromMs) / positions;
  const position = Math.round((Date.parse(moment) - slid.fromMs) / stepMs);
  return (
    <section className={styles['bar']} aria-labelledby={title}>
      <History aria-hidden="true" />
      <div className={styles['moment']}>
        <strong id={title}>{words.title(formats.instant(moment, zone), zone)}</strong>
        <span>{note}</span>
      </div>
      <input
        className={styles['slider']}
        type="range"
        min={0}
        max={positions}
        value={position}
        aria-label={words.slider}
        aria-valuetext={formats.instant(moment, zone)}
        onChange={({ target }) => setMoment(isoOf(slid.fromMs + Number(target.value) * stepMs))}
      />
      <TextField
        label={words.moment}
        type="datetime-local"
        value={localOf(moment, zone)}
        max={localOf(isoOf(openedMs), zone)}
        onChange={({ target }) => {
          if (target.value !== '') setMoment(instantOfLocal(target.value, zone));
        }}
      />
      <Button look="primary" onClick={() => show(undefined)}>
        {words.leave}
      </Button>
    </section>
  );
}

const isoOf = (ms: number) => new Date(Math.round(ms)).toISOString();

/** Up to now where the moment is within that range; else around the moment. */
function windowOf(atMs: number, spanMs: number, nowMs: number) {
  const toMs = atMs >= nowMs - spanMs ? Math.max(nowMs, atMs) : atMs + spanMs / 2;
  return { fromMs: toMs - spanMs, toMs };
}
