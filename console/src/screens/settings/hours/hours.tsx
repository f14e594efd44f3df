// Working hours: a week of bars and numbers, public holidays by region, and own days off (contract 3).
import { CopyCheck, Plus, Trash2, X } from 'lucide-react';
import { type KeyboardEvent, type PointerEvent, useRef, useState } from 'react';
import { faultAt, faultsOf } from '../../../api/field-faults.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { CheckField, SelectField, TextField } from '../../../ui/field.tsx';
import { UnsavedBar } from '../../../ui/unsaved-bar.tsx';
import { regionNames } from '../../../words/formats.ts';
import { useFormats, useLanguage, useWords } from '../../../words/language.tsx';
import {
  SettingsFrame,
  useWorkspaceEditor,
  WithWorkspace,
  type Workspace,
  type WorkspaceUpdate,
} from '../settings-frame.tsx';
import { settingsWords } from '../settings-words.ts';
import styles from '../settings.module.css';
import {
  clockOf,
  dayMinutes,
  holidayCountries,
  lengthOf,
  minutesOf,
  movedTo,
  type Period,
  stepMinutes,
  totalHours,
  type Week,
  weekOf,
  withAnother,
  withEnd,
  workingDaysOf,
} from './week.ts';
import { type Weekday, weekdays } from '../../../../../src/model/workspace.ts';
import { weekdayNames } from '../../../words/zone-times.ts';
import hoursStyles from './hours.module.css';

export function Hours() {
  return (
    <SettingsFrame tab="hours" curl={(id) => ({ path: `/v3/workspaces/${id}` })}>
      <WithWorkspace>
        {(workspace) => <HoursOf key={workspace.id} workspace={workspace} />}
      </WithWorkspace>
    </SettingsFrame>
  );
}

function HoursOf({ workspace }: { readonly workspace: Workspace }) {
  const words = useWords(settingsWords);
  const editor = useWorkspaceEditor({
    workspace,
    part: 'hours',
    saved: hoursDraftOf(workspace),
    updateOf: hoursUpdateOf,
  });
  const { value } = useFormats();
  const draft = editor.value;
  const hours = totalHours(draft.week);
  const change = (part: Partial<HoursDraft>) => editor.change({ ...draft, ...part });
  const faults = faultsOf(editor.error);
  const regionFault = faultAt(faults, 'settings.holidayRegion');
  // What is typed since then was not refused.
  const shownFault =
    regionFault?.includes(`${regionOf(draft)};`) === true ? regionFault : undefined;
  return (
    <div key={editor.edition} className="stack fit gap-16">
      <Card
        title={words.tabs.hours}
        note={draft.isEnabled ? words.hoursAWeek(value(hours), hours) : undefined}
        isPadded
      >
        <div className="stack fit gap-16">
          <CheckField
            label={words.hoursOn}
            hint={words.hoursHint(workspace.settings.timezone ?? 'UTC')}
            isOn={draft.isEnabled}
            change={(isEnabled) => change({ isEnabled })}
          />
          {draft.isEnabled && <WeekBars week={draft.week} change={(week) => change({ week })} />}
        </div>
      </Card>
      <Card title={words.holidays} isPadded>
        <HolidayInputs draft={draft} change={change} regionFault={shownFault} />
      </Card>
      <UnsavedBar needs="workspace: update" editor={editor} isSticky />
    </div>
  );
}

// Holiday inputs: the region whose public holidays count, and further days off by date.

interface HolidayInputsProps {
  readonly draft: HoursDraft;
  readonly change: (part: Partial<HoursDraft>) => void;
  readonly regionFault: string | undefined;
}

function HolidayInputs({ draft, change, regionFault }: HolidayInputsProps) {
  const words = useWords(settingsWords);
  const { language } = useLanguage();
  const nameOf = regionNames(language);
  const countries = holidayCountries
    .map((code) => ({ code, name: nameOf(code) }))
    .toSorted((a, b) => a.name.localeCompare(b.name, language));
  return (
    <div className={`stack fit gap-16 ${styles['form']}`}>
      <div className={`columns gap-16 align-start ${styles['pair']}`}>
        <SelectField
          label={words.country}
          hint={words.countryHint}
          value={draft.country}
          onChange={({ target }) => change({ country: target.value, part: '' })}
        >
          <option value="">{words.noCountry}</option>
          {countries.map(({ code, name }) => (
            <option key={code} value={code}>
              {name}
            </option>
          ))}
        </SelectField>
        <TextField
          label={words.regionPart}
          hint={words.regionPartHint}
          error={regionFault}
          autoComplete="off"
          disabled={draft.country === ''}
          value={draft.part}
          onChange={({ target }) => change({ part: target.value })}
        />
      </div>
      <DaysOff days={draft.daysOff} change={(daysOff) => change({ daysOff })} />
    </div>
  );
}

interface DaysOffProps {
  readonly days: readonly DayOff[];
  readonly change: (days: readonly DayOff[]) => void;
}

function DaysOff({ days, change }: DaysOffProps) {
  const words = useWords(settingsWords);
  const replace = (at: number, day: DayOff) =>
    change(days.map((one, index) => (index === at ? day : one)));
  return (
    <fieldset className={`stack fit gap-12 ${styles['group']}`}>
      <legend>{words.ownDaysOff}</legend>
      {days.map((day, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- a day has no other identity while it is typed
        <div key={at} className={styles['row']}>
          <TextField
            label={words.date}
            type="date"
            value={day.date}
            onChange={({ target }) => replace(at, { ...day, date: target.value })}
          />
          <TextField
            label={words.name}
            value={day.name}
            onChange={({ target }) => replace(at, { ...day, name: target.value })}
          />
          <Button
            look="ghost"
            isIcon
            aria-label={words.removeDay(day.name || day.date)}
            onClick={() => change(days.filter((_, index) => index !== at))}
          >
            <Trash2 aria-hidden="true" />
          </Button>
        </div>
      ))}
      <div>
        <Button onClick={() => change([...days, { date: '', name: '' }])}>
          <Plus aria-hidden="true" />
          {words.addDay}
        </Button>
      </div>
    </fieldset>
  );
}

// Hours draft: the working time of a workspace as the form has it, and the update that it means.

interface DayOff {
  /** `YYYY-MM-DD`, or empty while it is typed. */
  readonly date: string;
  readonly name: string;
}

interface HoursDraft {
  readonly isEnabled: boolean;
  readonly week: Week;
  /** Two letters of ISO 3166; empty for none. */
  readonly country: string;
  /** Behind the country, such as `ZH`; empty for all of it. */
  readonly part: string;
  readonly daysOff: readonly DayOff[];
}

function hoursDraftOf({ settings }: Workspace): HoursDraft {
  const { workingHours, holidayRegion, holidays } = settings;
  const [country = '', ...parts] = (holidayRegion ?? '').split('-');
  return {
    isEnabled: workingHours?.enabled ?? false,
    week: weekOf(workingHours),
    country,
    part: parts.join('-'),
    daysOff: holidays ?? [],
  };
}

/** `CH-ZH`, `CH`, or empty for none. */
function regionOf({ country, part }: HoursDraft): string {
  return [country, part.trim().toUpperCase()].filter(Boolean).join('-');
}

function hoursUpdateOf(draft: HoursDraft): WorkspaceUpdate {
  const { isEnabled, week, daysOff } = draft;
  const days = workingDaysOf(week);
  const isUnused = !isEnabled && Object.keys(days).length === 0;
  const region = regionOf(draft);
  const holidays = daysOff
    .filter(({ date }) => date !== '')
    .map(({ date, name }) => ({ date, name: name.trim() }))
    .toSorted((a, b) => (a.date < b.date ? -1 : 1));
  return {
    settings: {
      workingHours: isUnused ? null : { enabled: isEnabled, days },
      holidayRegion: region === '' ? null : region,
      holidays: holidays.length === 0 ? null : holidays,
    },
  };
}

// Week bars: one row for each day with its periods as bars, and the same as numbers.

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
    <div className="stack fit gap-6">
      <div className={hoursStyles['scale']} aria-hidden="true">
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
    <fieldset className={hoursStyles['day']}>
      <legend className={hoursStyles['dayName']}>{name}</legend>
      <DayTrack day={day} name={name} periods={periods} replace={replace} change={change} />
      <div className={`row wrap gap-y-4 gap-x-8 ${hoursStyles['numbers']}`}>
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
    <span className="row inline gap-4">
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
      className={hoursStyles['time']}
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

// Day track: the periods of a day as bars; ends and bars are dragged, or moved by the keyboard.

type Grip = 'from' | 'to' | 'bar';

interface DayTrackProps {
  readonly day: Weekday;
  readonly name: string;
  readonly periods: readonly Period[];
  /** Undefined deletes the period. */
  readonly replace: (at: number, period: Period | undefined) => void;
  readonly change: (periods: readonly Period[]) => void;
}

function DayTrack({ day, name, periods, replace, change }: DayTrackProps) {
  const track = useRef<HTMLDivElement>(null);
  const minutesAt = (clientX: number) => {
    const box = track.current?.getBoundingClientRect();
    return box === undefined ? 0 : ((clientX - box.left) / box.width) * dayMinutes;
  };
  const dragged = useDrag(minutesAt, replace);
  // An empty place is where a new period begins; it grows with the pointer.
  const begin = (event: PointerEvent<HTMLDivElement>) => {
    if (event.target !== event.currentTarget) return;
    const from = Math.min(
      Math.floor(minutesAt(event.clientX) / stepMinutes) * stepMinutes,
      dayMinutes - stepMinutes,
    );
    const period = { from, to: from + stepMinutes };
    change([...periods, period]);
    dragged.begin(event, periods.length, 'to', period);
  };
  return (
    <div
      ref={track}
      className={hoursStyles['track']}
      data-day={day}
      onPointerDown={begin}
      onPointerMove={dragged.move}
      onPointerUp={dragged.end}
      onPointerCancel={dragged.end}
    >
      {periods.map((period, at) => (
        <Bar
          // oxlint-disable-next-line react/no-array-index-key -- a period has no other identity
          key={at}
          name={name}
          number={at + 1}
          period={period}
          replace={(next) => replace(at, next)}
          grip={(event, grip) => dragged.begin(event, at, grip, period)}
        />
      ))}
    </div>
  );
}

interface Dragged {
  readonly at: number;
  readonly grip: Grip;
  readonly period: Period;
  /** Minutes between the pointer and the beginning of the bar. */
  readonly offset: number;
}

function useDrag(minutesAt: (clientX: number) => number, replace: DayTrackProps['replace']) {
  const dragged = useRef<Dragged>(undefined);
  return {
    begin(event: PointerEvent, at: number, grip: Grip, period: Period) {
      event.preventDefault();
      event.stopPropagation();
      const track = (event.target as Element).closest<HTMLElement>('[data-day]');
      track?.setPointerCapture(event.pointerId);
      dragged.current = { at, grip, period, offset: minutesAt(event.clientX) - period.from };
    },
    move(event: PointerEvent) {
      if (dragged.current === undefined) return;
      const { at, grip, period, offset } = dragged.current;
      const minutes = minutesAt(event.clientX);
      const next =
        grip === 'bar' ? movedTo(period, minutes - offset) : withEnd(period, grip, minutes);
      replace(at, next);
    },
    end() {
      dragged.current = undefined;
    },
  };
}

interface BarProps {
  readonly name: string;
  readonly number: number;
  readonly period: Period;
  readonly replace: (period: Period | undefined) => void;
  readonly grip: (event: PointerEvent, grip: Grip) => void;
}

function Bar({ name, number, period, replace, grip }: BarProps) {
  const words = useWords(settingsWords);
  // Beyond midnight the bar ends at the end of its day; the numbers say when.
  const shown = Math.min(lengthOf(period), dayMinutes - period.from);
  const isOvernight = period.to <= period.from;
  const place = {
    left: `${(period.from / dayMinutes) * 100}%`,
    width: `${(shown / dayMinutes) * 100}%`,
  };
  const label = words.periodOf(name, number);
  const ends = isOvernight ? [] : (['from', 'to'] as const);
  return (
    <div
      className={hoursStyles['bar']}
      style={place}
      data-overnight={isOvernight}
      onPointerDown={(event) => !isOvernight && grip(event, 'bar')}
    >
      <span aria-hidden="true">
        {clockOf(period.from)}–{clockOf(period.to)}
      </span>
      {ends.map((end) => (
        <button
          key={end}
          type="button"
          role="slider"
          className={hoursStyles[end]}
          aria-label={`${label}, ${words.ends[end]}`}
          aria-orientation="horizontal"
          aria-valuemin={0}
          aria-valuemax={dayMinutes}
          aria-valuenow={period[end]}
          aria-valuetext={clockOf(period[end])}
          onPointerDown={(event) => grip(event, end)}
          onKeyDown={(event) => onKey(event, period, end, replace)}
        />
      ))}
    </div>
  );
}

const keySteps: Readonly<Record<string, number>> = {
  ArrowLeft: -stepMinutes,
  ArrowDown: -stepMinutes,
  ArrowRight: stepMinutes,
  ArrowUp: stepMinutes,
  PageDown: -60,
  PageUp: 60,
  Home: -dayMinutes,
  End: dayMinutes,
};

/** Arrows move an end, with Shift the bar; Delete removes it. */
function onKey(
  event: KeyboardEvent,
  period: Period,
  end: 'from' | 'to',
  replace: (period: Period | undefined) => void,
): void {
  if (event.key === 'Delete' || event.key === 'Backspace') {
    event.preventDefault();
    return replace(undefined);
  }
  const step = keySteps[event.key];
  if (step === undefined) return;
  event.preventDefault();
  replace(
    event.shiftKey ? movedTo(period, period.from + step) : withEnd(period, end, period[end] + step),
  );
}
