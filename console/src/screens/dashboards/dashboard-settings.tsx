// Dashboard settings: its name, what it is for, what it opens with, and its variables.
import { useState } from 'react';
import { CheckField, SelectField, TextArea } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/dialog.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { DashboardName } from './dashboard-frame.tsx';
import { rangeNames } from './dashboard-search.ts';
import { dashboardsWords } from './dashboards-words.ts';
import { isoOfRange, savedRange } from './data/dashboard-range.ts';
import type { DashboardEdit } from './dashboard-requests.ts';
import { variablesOf } from '../../../../src/dashboards/variables.ts';
import { previousPeriod } from '../../../../src/dashboards/earlier.ts';
import { bucketOf } from '../../../../src/dashboards/plan.ts';
import { withVariables } from '../../../../src/dashboards/configuration.ts';
import { isTaken, VariableFields, type VariableRow } from './form/variable-fields.tsx';
import type { ShownVariables } from './variable-values.ts';
import { zoneNames } from '../../words/zone-times.ts';

const refreshes = ['PT5S', 'PT10S', 'PT30S', 'PT1M', 'PT5M', 'PT15M', 'PT1H'] as const;
const earlierPeriods = ['P1D', 'P7D', 'P28D'] as const;

/** A duration that another client chose is offered too. */
function withChosen(offered: readonly string[], chosen: string): readonly string[] {
  return chosen === '' || offered.includes(chosen) ? offered : [...offered, chosen];
}

interface DashboardSettingsProps {
  readonly workspaceId: string;
  readonly variables: ShownVariables;
  readonly edit: DashboardEdit;
  readonly change: (edit: DashboardEdit) => void;
  /** Of the dashboard as it is, for one that names none. */
  readonly zone: string;
  readonly close: () => void;
}

export function DashboardSettings(props: DashboardSettingsProps) {
  const { workspaceId, variables: shown, edit, change, zone, close } = props;
  const words = useWords(dashboardsWords);
  const formats = useFormats();
  const { configuration } = edit;
  const [name, setName] = useState(edit.name);
  const [description, setDescription] = useState(edit.description ?? '');
  const [range, setRange] = useState(savedRange(configuration));
  const [timeZone, setZone] = useState(configuration.timeZone ?? zone);
  const [refresh, setRefresh] = useState(configuration.refresh ?? '');
  const [compare, setCompare] = useState(configuration.compare ?? '');
  const [hasNotes, setNotes] = useState(configuration.annotations?.notes !== false);
  const [hasAlarms, setAlarms] = useState(configuration.annotations?.alarms === true);
  const [rows, setRows] = useState<readonly VariableRow[]>(() =>
    variablesOf(configuration).map((variable) => ({ variable, isStored: true })),
  );
  const lengthOf = (iso: string) => formats.duration(bucketOf(iso)?.seconds ?? 0);
  const zones = [...new Set([timeZone, 'UTC', ...zoneNames])];
  const apply = () => {
    const variables = rows.map(({ variable }) => variable);
    if (variables.some((one) => isTaken(one, variables))) return;
    const { refresh: _, compare: __, annotations: ___, ...others } = configuration;
    const changed = {
      timeZone,
      range: { last: isoOfRange(range) },
      ...(refresh !== '' && { refresh }),
      ...(compare !== '' && { compare }),
      ...((hasAlarms || !hasNotes) && { annotations: { notes: hasNotes, alarms: hasAlarms } }),
    };
    const next = withVariables({ ...others, ...changed }, variables);
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
      isWide
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
      <SelectField
        label={words.refresh}
        value={refresh}
        onChange={({ target }) => setRefresh(target.value)}
      >
        <option value="">{words.refreshUsual}</option>
        {withChosen(refreshes, refresh).map((one) => (
          <option key={one} value={one}>
            {words.refreshEvery(lengthOf(one))}
          </option>
        ))}
      </SelectField>
      <SelectField
        label={words.compareSaved}
        hint={words.compareHint}
        value={compare}
        onChange={({ target }) => setCompare(target.value)}
      >
        <option value="">{words.compareNone}</option>
        <option value={previousPeriod}>{words.comparePrevious}</option>
        {withChosen(earlierPeriods, compare === previousPeriod ? '' : compare).map((one) => (
          <option key={one} value={one}>
            {words.compareBefore(lengthOf(one))}
          </option>
        ))}
      </SelectField>
      <fieldset className="row wrap gap-12">
        <legend className="text-label">{words.marks}</legend>
        <CheckField label={words.markNotes} isOn={hasNotes} change={setNotes} />
        <CheckField label={words.markAlarms} isOn={hasAlarms} change={setAlarms} />
      </fieldset>
      <VariableFields workspaceId={workspaceId} rows={rows} shown={shown} change={setRows} />
    </FormDialog>
  );
}
