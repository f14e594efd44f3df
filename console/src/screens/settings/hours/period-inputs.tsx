// Period inputs: the two times of a period as numbers, taken when they are times.
import { X } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../parts/button.tsx';
import { useWords } from '../../../words/language.tsx';
import { settingsWords } from '../settings-words.ts';
import styles from './hours.module.css';
import { clockOf, minutesOf, type Period } from './week.ts';

interface PeriodInputsProps {
  readonly label: string;
  readonly period: Period;
  /** Undefined deletes the period. */
  readonly replace: (period: Period | undefined) => void;
}

export function PeriodInputs({ label, period, replace }: PeriodInputsProps) {
  const words = useWords(settingsWords);
  return (
    <span className={styles['period']}>
      <TimeInput
        label={`${label}, ${words.from}`}
        minutes={period.from}
        take={(from) => replace({ ...period, from })}
      />
      –
      <TimeInput
        label={`${label}, ${words.to}`}
        minutes={period.to}
        take={(to) => replace({ ...period, to })}
      />
      <Button
        look="ghost"
        isIcon
        aria-label={words.removePeriod(label)}
        onClick={() => replace(undefined)}
      >
        <X aria-hidden="true" />
      </Button>
    </span>
  );
}

interface TimeInputProps {
  readonly label: string;
  readonly minutes: number;
  readonly take: (minutes: number) => void;
}

/** What is typed is shown until the field is left. */
function TimeInput({ label, minutes, take }: TimeInputProps) {
  const [typed, setTyped] = useState<string>();
  const isWrong = typed !== undefined && minutesOf(typed) === undefined;
  return (
    <input
      className={styles['time']}
      aria-label={label}
      aria-invalid={isWrong}
      inputMode="numeric"
      autoComplete="off"
      maxLength={5}
      value={typed ?? clockOf(minutes)}
      onChange={({ target }) => {
        setTyped(target.value);
        const read = minutesOf(target.value);
        if (read !== undefined) take(read);
      }}
      onBlur={() => setTyped(undefined)}
    />
  );
}
