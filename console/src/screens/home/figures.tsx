// Figures of the home page: what is alive, what arrives, what is kept and what failed.
import type { ReactNode } from 'react';
import { Dot, type DotTone } from '../../parts/chip.tsx';
import { Spark } from '../../parts/spark.tsx';
import { Bone } from '../../parts/states.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { homeWords } from './home-words.ts';
import styles from './home.module.css';
import type { Overview } from './overview.ts';

export function Figures({ overview }: { readonly overview: Overview | undefined }) {
  const words = useWords(homeWords);
  const formats = useFormats();
  const { devices, samplesPerMinute, samples, bytes, deliveries } = overview ?? {};
  return (
    <dl className={styles['figures']}>
      <Figure
        label={words.alive}
        tone={(devices?.offline ?? 0) > 0 ? 'warn' : 'ok'}
        value={devices && formats.count(devices.online)}
        note={devices && words.of(formats.count(devices.total))}
      />
      <Figure
        label={words.rate}
        tone="live"
        // The current minute is not over.
        value={samplesPerMinute && formats.count(samplesPerMinute.at(-2) ?? 0)}
        line={samplesPerMinute && <Spark points={samplesPerMinute.slice(0, -1)} />}
      />
      <Figure
        label={words.kept}
        value={samples === undefined ? undefined : formats.short(samples)}
        note={bytes === undefined ? undefined : words.inBytes(formats.bytes(bytes))}
      />
      <Figure
        label={words.failing}
        value={deliveries && formats.count(deliveries.failed)}
        note={
          deliveries && deliveries.waiting > 0
            ? words.waiting(formats.count(deliveries.waiting))
            : words.inDay
        }
      />
    </dl>
  );
}

interface FigureProps {
  readonly label: string;
  readonly tone?: DotTone;
  readonly value: string | undefined;
  readonly note?: string | undefined;
  readonly line?: ReactNode;
}

function Figure({ label, tone, value, note, line }: FigureProps) {
  return (
    <div className={styles['figure']}>
      <dt>
        {tone !== undefined && <Dot tone={tone} />}
        {label}
      </dt>
      <dd>
        {value ?? <Bone width="2.5em" />}
        {value !== undefined && note !== undefined && <small>{note}</small>}
      </dd>
      {line !== undefined && <dd className={styles['line']}>{line}</dd>}
    </div>
  );
}
