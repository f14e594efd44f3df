// Severity of an alarm: an own shape and the word, so that color is never the only sign.
import {
  CircleAlert,
  Diamond,
  Info,
  type LucideIcon,
  OctagonAlert,
  TriangleAlert,
} from 'lucide-react';
import type { AlarmSeverity, AlarmState } from '../api/alarms.ts';
import { useWords } from '../words/language.tsx';
import { Chip, type Tone } from './chip.tsx';
import styles from './severity.module.css';
import { severityWords } from './severity-words.ts';

const shapes: Readonly<Record<AlarmSeverity, LucideIcon>> = {
  CRITICAL: OctagonAlert,
  MAJOR: TriangleAlert,
  MINOR: Diamond,
  WARNING: CircleAlert,
  INFO: Info,
};

interface SeverityProps {
  readonly of: AlarmSeverity;
  /** The word is only for screen readers, where others have the same shape with the word. */
  readonly isQuiet?: boolean;
}

export function Severity({ of, isQuiet = false }: SeverityProps) {
  const words = useWords(severityWords);
  const Shape = shapes[of];
  return (
    <span className={`${styles['severity']} ${styles[of]}`}>
      <Shape aria-hidden="true" />
      <span className={isQuiet ? 'sr' : undefined}>{words.severities[of]}</span>
    </span>
  );
}

const tones: Readonly<Record<AlarmState, Tone>> = {
  OPEN: 'bad',
  ACKNOWLEDGED: 'warn',
  CLEARED: 'ok',
};

export function AlarmStateChip({ of }: { readonly of: AlarmState }) {
  const words = useWords(severityWords);
  return <Chip tone={tones[of]}>{words.states[of]}</Chip>;
}
