// Holiday inputs: the region whose public holidays count, and further days off by date.
import { Plus, Trash2 } from 'lucide-react';
import { Button } from '../../../parts/button.tsx';
import { SelectField, TextField } from '../../../parts/field.tsx';
import { useLanguage, useWords } from '../../../words/language.tsx';
import styles from '../settings.module.css';
import { settingsWords } from '../settings-words.ts';
import { holidayCountries } from './holiday-countries.ts';
import type { DayOff, HoursDraft } from './hours-draft.ts';

interface HolidayInputsProps {
  readonly draft: HoursDraft;
  readonly change: (part: Partial<HoursDraft>) => void;
  readonly regionFault: string | undefined;
}

export function HolidayInputs({ draft, change, regionFault }: HolidayInputsProps) {
  const words = useWords(settingsWords);
  const { language } = useLanguage();
  const names = new Intl.DisplayNames(language, { type: 'region' });
  const countries = holidayCountries
    .map((code) => ({ code, name: names.of(code) ?? code }))
    .toSorted((a, b) => a.name.localeCompare(b.name, language));
  return (
    <div className={styles['form']}>
      <div className={styles['pair']}>
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
    <fieldset className={styles['group']}>
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
