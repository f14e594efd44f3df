// Dashboard settings: its name, what it is for, what it opens with, and its variables.
import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { CheckField, SelectField, TextArea, TextField } from '../../ui/field.tsx';
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
import { type Variable, withVariables } from '../../../../src/dashboards/configuration.ts';
import type { ShownVariables } from './variable-values.ts';
import { zoneNames } from '../../words/zone-times.ts';
import { ask, platform } from '../../api/platform.ts';
import { customFieldsOf, placesOf, tagsOf } from '../../api/workspace-records.ts';
import { useWorkspaces } from '../../session/session.ts';
import { FieldRows } from './form/field-rows.tsx';

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

// Variable fields: the variables of a dashboard in its settings, with what each offers and opens with.

const variablesMax = 20;
const typesMax = 200;
const kinds = ['DEVICE', 'TAG', 'PLACE', 'CUSTOM_FIELD', 'TEXT'] as const;

export interface VariableRow {
  readonly variable: Variable;
  /** Tiles may name it: its name stays. */
  readonly isStored: boolean;
}

interface VariableFieldsProps {
  readonly workspaceId: string;
  readonly rows: readonly VariableRow[];
  /** With the values that are shown now. */
  readonly shown: ShownVariables;
  readonly change: (rows: readonly VariableRow[]) => void;
}

export function VariableFields({ workspaceId, rows, shown, change }: VariableFieldsProps) {
  const words = useWords(dashboardsWords);
  const variables = rows.map(({ variable }) => variable);
  return (
    <FieldRows
      legend={words.variables}
      rows={rows}
      least={0}
      most={variablesMax}
      addLabel={words.addVariable}
      newRow={() => ({
        variable: { name: freeName(variables), kind: 'DEVICE' as const },
        isStored: false,
      })}
      rowLabel={words.variableNumber}
      removeLabel={words.removeVariable}
      change={change}
    >
      {({ variable, isStored }, putRow) => {
        const put = (changed: Variable) => putRow({ variable: changed, isStored });
        return (
          <>
            <TextField
              label={words.variableName}
              hint={words.variableNameHint}
              error={isTaken(variable, variables) ? words.nameTaken : undefined}
              required
              readOnly={isStored}
              pattern="[a-z][A-Za-z0-9]{0,39}"
              value={variable.name}
              onChange={({ target }) => put({ ...variable, name: target.value })}
            />
            <TextField
              label={words.variableLabel}
              maxLength={200}
              value={variable.label ?? ''}
              onChange={({ target }) => put({ ...variable, label: target.value })}
            />
            <SelectField
              label={words.variableKind}
              value={variable.kind}
              onChange={({ target }) => {
                const kind = kinds.find((one) => one === target.value) ?? variable.kind;
                const { name, label, multiple } = variable;
                put({ name, label: label ?? null, multiple: multiple ?? null, kind });
              }}
            >
              {kinds.map((kind) => (
                <option key={kind} value={kind}>
                  {words.variableKinds[kind]}
                </option>
              ))}
            </SelectField>
            {variable.kind === 'DEVICE' && (
              <NarrowingFields workspaceId={workspaceId} variable={variable} change={put} />
            )}
            {variable.kind === 'CUSTOM_FIELD' && (
              <CustomFieldField workspaceId={workspaceId} variable={variable} change={put} />
            )}
            {(variable.kind === 'CUSTOM_FIELD' || variable.kind === 'TEXT') && (
              <OptionsField variable={variable} change={put} />
            )}
            <div className="stack gap-8">
              <CheckField
                label={words.severalValues}
                isOn={variable.multiple === true}
                change={(multiple) => put({ ...withoutDefault(variable), multiple })}
              />
              <DefaultField variable={variable} shown={shown} change={put} />
            </div>
          </>
        );
      }}
    </FieldRows>
  );
}

export function isTaken({ name }: Variable, variables: readonly Variable[]): boolean {
  return variables.filter((other) => other.name === name).length > 1;
}

function freeName(variables: readonly Variable[]): string {
  const taken = new Set(variables.map(({ name }) => name));
  if (!taken.has('device')) return 'device';
  let number = 2;
  while (taken.has(`device${number}`)) number += 1;
  return `device${number}`;
}

function withoutDefault({ default: _, ...variable }: Variable): Variable {
  return variable;
}

interface VariableProps {
  readonly variable: Variable;
  readonly change: (variable: Variable) => void;
}

/** What is shown now is what everybody sees who opens the dashboard without a choice of their own. */
function DefaultField({
  variable,
  shown,
  change,
}: VariableProps & { readonly shown: ShownVariables }) {
  const words = useWords(dashboardsWords);
  const isOn = variable.default !== null && variable.default !== undefined;
  const stored = [variable.default ?? []].flat();
  const values = isOn ? stored : (shown.values.get(variable.name) ?? []);
  const names = values.map((value) => shown.nameOf(variable, value)).join(', ');
  if (values.length === 0) return null;
  return (
    <CheckField
      label={names === '' ? words.opensWithNothing : words.opensWith(names)}
      isOn={isOn}
      change={(wanted) => {
        const { multiple } = variable;
        const value = multiple === true ? [...values] : (values[0] ?? '');
        change(wanted ? { ...variable, default: value } : withoutDefault(variable));
      }}
    />
  );
}

interface OfWorkspace {
  readonly workspaceId: string;
}

function NarrowingFields({ workspaceId, variable, change }: VariableProps & OfWorkspace) {
  const words = useWords(dashboardsWords);
  const types = useDeviceTypes(workspaceId);
  const tags = useQuery(tagsOf(workspaceId)).data?.content ?? [];
  const places = useQuery(placesOf(workspaceId)).data ?? [];
  return (
    <>
      <AnyField
        label={words.ofType}
        value={variable.deviceTypeId}
        choices={types}
        choose={(deviceTypeId) => change({ ...variable, deviceTypeId })}
      />
      {tags.length > 0 && (
        <AnyField
          label={words.withTag}
          value={variable.tagId}
          choices={tags}
          choose={(tagId) => change({ ...variable, tagId })}
        />
      )}
      {places.length > 0 && (
        <AnyField
          label={words.atPlace}
          value={variable.placeId}
          choices={places.map(({ id, path }) => ({ id, name: path }))}
          choose={(placeId) => change({ ...variable, placeId })}
        />
      )}
    </>
  );
}

interface Choice {
  readonly id: string;
  readonly name: string;
}

function useDeviceTypes(workspaceId: string): readonly Choice[] {
  const workspaces = useWorkspaces();
  const organizationId = workspaces.data?.content.find(
    ({ id }) => id === workspaceId,
  )?.organizationId;
  const found = useQuery({
    queryKey: ['device types', organizationId, 'names'],
    enabled: organizationId !== undefined,
    queryFn: ({ signal }) => {
      const query = { organizationId: organizationId ?? '', size: typesMax, sort: 'name,asc' };
      return ask(platform.GET('/v3/device-types', { signal, params: { query } }));
    },
  });
  return found.data?.content ?? [];
}

interface AnyFieldProps {
  readonly label: string;
  readonly value: string | null | undefined;
  readonly choices: readonly Choice[];
  readonly choose: (id: string | null) => void;
}

function AnyField({ label, value, choices, choose }: AnyFieldProps) {
  const words = useWords(dashboardsWords);
  const isKnown = !value || choices.some(({ id }) => id === value);
  return (
    <SelectField
      label={label}
      value={value ?? ''}
      onChange={({ target }) => choose(target.value === '' ? null : target.value)}
    >
      <option value="">{words.any}</option>
      {!isKnown && <option value={value ?? ''}>{value}</option>}
      {choices.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </SelectField>
  );
}

function CustomFieldField({ workspaceId, variable, change }: VariableProps & OfWorkspace) {
  const words = useWords(dashboardsWords);
  const fields = useQuery(customFieldsOf(workspaceId)).data?.content ?? [];
  return (
    <SelectField
      label={words.field}
      required
      value={variable.fieldMetaId ?? ''}
      onChange={({ target }) => {
        const field = fields.find(({ id }) => id === target.value);
        const options = field?.selectOptions ?? [];
        change({ ...variable, fieldMetaId: target.value, options: [...options] });
      }}
    >
      <option value="" disabled>
        {words.chooseValue}
      </option>
      {fields.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </SelectField>
  );
}

function OptionsField({ variable, change }: VariableProps) {
  const words = useWords(dashboardsWords);
  return (
    <TextArea
      label={words.options}
      hint={words.optionsHint}
      rows={3}
      defaultValue={(variable.options ?? []).join('\n')}
      onChange={({ target }) => {
        const lines = target.value.split('\n').map((line) => line.trim());
        change({ ...variable, options: lines.filter((line) => line !== '') });
      }}
    />
  );
}
