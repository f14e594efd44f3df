// Dashboard settings: its name, what it is for, and the range and zone that it opens with.
import { useState } from 'react';
import { SelectField, TextArea } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/dialog.tsx';
import { useWords } from '../../words/language.tsx';
import { DashboardName } from './dashboard-frame.tsx';
import { rangeNames } from './dashboard-search.ts';
import { dashboardsWords } from './dashboards-words.ts';
import { isoOfRange, savedRange } from './data/dashboard-range.ts';
import type { DashboardEdit } from './dashboard-requests.ts';
import { zoneNames } from '../../words/zone-times.ts';

interface DashboardSettingsProps {
  readonly edit: DashboardEdit;
  readonly change: (edit: DashboardEdit) => void;
  /** Of the dashboard as it is, for one that names none. */
  readonly zone: string;
  readonly close: () => void;
}

export function DashboardSettings({ edit, change, zone, close }: DashboardSettingsProps) {
  const words = useWords(dashboardsWords);
  const { configuration } = edit;
  const [name, setName] = useState(edit.name);
  const [description, setDescription] = useState(edit.description ?? '');
  const [range, setRange] = useState(savedRange(configuration));
  const [timeZone, setZone] = useState(configuration.timeZone ?? zone);
  const zones = [...new Set([timeZone, 'UTC', ...zoneNames])];
  const apply = () => {
    const next = { ...configuration, timeZone, range: { last: isoOfRange(range) } };
    change({
      ...edit,
      name,
      description: description === '' ? null : description,
      configuration: next,
    });
    close();
  };
  return (
    <FormDialog
      title={words.dashboardSettings}
      submitLabel={words.apply}
      submit={apply}
      close={close}
    >
      <DashboardName value={name} change={setName} />
      <TextArea
        label={words.description}
        rows={2}
        value={description}
        onChange={({ target }) => setDescription(target.value)}
      />
      <SelectField
        label={words.rangeSaved}
        value={range}
        onChange={({ target }) => setRange(rangeNames.find((one) => one === target.value) ?? range)}
      >
        {rangeNames.map((one) => (
          <option key={one} value={one}>
            {words.last[one]}
          </option>
        ))}
      </SelectField>
      <SelectField
        label={words.zoneSaved}
        value={timeZone}
        onChange={({ target }) => setZone(target.value)}
      >
        {zones.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </SelectField>
    </FormDialog>
  );
}
