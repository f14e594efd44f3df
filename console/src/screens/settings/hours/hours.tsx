// Working hours: a week of bars and numbers, public holidays by region, and own days off (contract 3).
import { Plus, Trash2 } from 'lucide-react';
import { faultAt, faultsOf } from '../../../api/field-faults.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { CheckField, SelectField, TextField } from '../../../ui/field.tsx';
import { UnsavedBar } from '../../../ui/unsaved-bar.tsx';
import { regionNames } from '../../../words/formats.ts';
import { useFormats, useLanguage, useWords } from '../../../words/language.tsx';
import { SettingsFrame, WithWorkspace } from '../settings-frame.tsx';
import { settingsWords } from '../settings-words.ts';
import styles from '../settings.module.css';
import { useWorkspaceEditor, type Workspace, type WorkspaceUpdate } from '../workspace-requests.ts';
import { WeekBars } from './week-bars.tsx';
import { holidayCountries, totalHours, type Week, weekOf, workingDaysOf } from './week.ts';

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
