// Week bars: one row for each day with its periods as bars, and the same as numbers.
import { CopyCheck, Plus, X } from 'lucide-react';
import { useState } from 'react';
import { type Weekday, weekdays } from '../../../../../src/model/workspace.ts';
import { Button } from '../../../ui/button.tsx';
import { useLanguage, useWords } from '../../../words/language.tsx';
import { weekdayNames } from '../../../words/zone-times.ts';
import { settingsWords } from '../settings-words.ts';
import { DayTrack } from './day-track.tsx';
import styles from './hours.module.css';
import { clockOf, minutesOf, type Period, type Week, withAnother } from './week.ts';

const marks = [0, 6, 12, 18, 24];

interface WeekBarsProps {
  readonly week: Week;
  readonly change: (week: Week) => void;
}

export function WeekBars({ week, change }: WeekBarsProps) {
  const words = useWords(settingsWords);
  const { language } = useLanguage();
  const names = weekdayNames(language);
  const copyMonday = () => {
    const { MONDAY } = week;
    const workdays = { TUESDAY: MONDAY, WEDNESDAY: MONDAY, THURSDAY: MONDAY, FRIDAY: MONDAY };
    change({ ...week, ...workdays });
  };
  return (
    <div className={styles['week']}>
      <div className={styles['scale']} aria-hidden="true">
        {marks.map((hour) => (
          <span key={hour} style={{ left: `${(hour / 24) * 100}%` }}>
            {hour}
          </span>
        ))}
      </div>
      {weekdays.map((day, at) => (
        <DayRow
          key={day}
          day={day}
          name={names[at] ?? day}
          periods={week[day]}
          change={(periods) => change({ ...week, [day]: periods })}
        />
      ))}
      <div>
        <Button onClick={copyMonday}>
          <CopyCheck aria-hidden="true" />
          {words.copyMonday}
        </Button>
      </div>
    </div>
  );
}

interface DayRowProps {
  readonly day: Weekday;
  readonly name: string;
  readonly periods: readonly Period[];
  readonly change: (periods: readonly Period[]) => void;
}

function DayRow({ day, name, periods, change }: DayRowProps) {
  const words = useWords(settingsWords);
  const replace = (at: number, period: Period | undefined) =>
    change(periods.flatMap((one, index) => (index === at ? (period ?? []) : one)));
  return (
    <fieldset className={styles['day']}>
      <legend className={styles['dayName']}>{name}</legend>
      <DayTrack day={day} name={name} periods={periods} replace={replace} change={change} />
      <div className={styles['numbers']}>
        {periods.length === 0 && <span className="faint">{words.dayOff}</span>}
        {periods.map((period, at) => (
          <PeriodInputs
            // oxlint-disable-next-line react/no-array-index-key -- a period has no other identity
            key={at}
            label={words.periodOf(name, at + 1)}
            period={period}
            replace={(next) => replace(at, next)}
          />
        ))}
        <Button
          look="ghost"
          isIcon
          aria-label={words.addPeriod(name)}
          disabled={withAnother(periods) === periods}
          onClick={() => change(withAnother(periods))}
        >
          <Plus aria-hidden="true" />
        </Button>
      </div>
    </fieldset>
  );
}

// Period inputs: the two times of a period as numbers, taken when they are times.

interface PeriodInputsProps {
  readonly label: string;
  readonly period: Period;
  /** Undefined deletes the period. */
  readonly replace: (period: Period | undefined) => void;
}

function PeriodInputs({ label, period, replace }: PeriodInputsProps) {
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
