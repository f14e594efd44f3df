// Variable bar: a field for each variable of a dashboard, in one row above its tiles.
import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { useState } from 'react';
import type { Variable } from '../../../../src/dashboards/configuration.ts';
import { placesOf, tagsOf } from '../../api/workspace-records.ts';
import { Button } from '../../ui/button.tsx';
import { DevicePick } from '../../ui/device-pick.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { useWords } from '../../words/language.tsx';
import { dashboardsWords } from './dashboards-words.ts';
import styles from './dashboards.module.css';
import { narrowingOf, type ShownVariables } from './variable-values.ts';

interface VariableBarProps {
  readonly workspaceId: string;
  readonly shown: ShownVariables;
  readonly choose: (name: string, values: readonly string[]) => void;
}

export function VariableBar({ workspaceId, shown, choose }: VariableBarProps) {
  const words = useWords(dashboardsWords);
  if (shown.variables.length === 0) return null;
  return (
    <div className={styles['variables']} role="group" aria-label={words.variables}>
      {shown.variables.map((variable) => (
        <VariableField
          key={variable.name}
          workspaceId={workspaceId}
          variable={variable}
          values={shown.values.get(variable.name) ?? []}
          nameOf={(value) => shown.nameOf(variable, value)}
          choose={(values) => choose(variable.name, values)}
        />
      ))}
    </div>
  );
}

interface VariableFieldProps {
  readonly workspaceId: string;
  readonly variable: Variable;
  readonly values: readonly string[];
  readonly nameOf: (value: string) => string;
  readonly choose: (values: readonly string[]) => void;
}

/** One of several values is added by the field, and taken out by its own button. */
function VariableField(props: VariableFieldProps) {
  const { variable, values, nameOf, choose } = props;
  const words = useWords(dashboardsWords);
  if (variable.multiple !== true)
    return <ValueField {...props} choose={(value) => choose(value === '' ? [] : [value])} />;
  return (
    <div className={styles['several']}>
      <ValueField
        {...props}
        values={[]}
        choose={(value) => {
          if (value !== '' && !values.includes(value)) choose([...values, value]);
        }}
      />
      {values.map((value) => (
        <span key={value} className={styles['value']}>
          {nameOf(value)}
          {values.length > 1 && (
            <Button
              look="ghost"
              isIcon
              aria-label={words.withoutValue(nameOf(value))}
              title={words.withoutValue(nameOf(value))}
              onClick={() => choose(values.filter((one) => one !== value))}
            >
              <X aria-hidden="true" />
            </Button>
          )}
        </span>
      ))}
    </div>
  );
}

interface ValueFieldProps extends Omit<VariableFieldProps, 'choose'> {
  readonly choose: (value: string) => void;
}

function ValueField(props: ValueFieldProps) {
  const { workspaceId, variable, values, nameOf, choose } = props;
  const label = variable.label || variable.name;
  const [value] = values;
  if (variable.kind === 'DEVICE')
    return (
      <DevicePick
        workspaceId={workspaceId}
        label={label}
        chosen={value === undefined ? '' : nameOf(value)}
        filters={narrowingOf(variable)}
        choose={({ id }) => choose(id)}
      />
    );
  const chosen = { label, value, choose };
  if (variable.kind === 'TAG') return <TagField workspaceId={workspaceId} {...chosen} />;
  if (variable.kind === 'PLACE') return <PlaceField workspaceId={workspaceId} {...chosen} />;
  const options = variable.options ?? [];
  if (options.length === 0) return <TypedField key={value} {...chosen} />;
  return <ChoiceField {...chosen} choices={options.map((one) => ({ id: one, name: one }))} />;
}

interface ChosenProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly choose: (value: string) => void;
}

interface OfWorkspace {
  readonly workspaceId: string;
}

function TagField({ workspaceId, ...chosen }: ChosenProps & OfWorkspace) {
  const tags = useQuery(tagsOf(workspaceId)).data?.content ?? [];
  return <ChoiceField {...chosen} choices={tags} />;
}

function PlaceField({ workspaceId, ...chosen }: ChosenProps & OfWorkspace) {
  const places = useQuery(placesOf(workspaceId)).data ?? [];
  return <ChoiceField {...chosen} choices={places.map(({ id, path }) => ({ id, name: path }))} />;
}

interface Choice {
  readonly id: string;
  readonly name: string;
}

function ChoiceField({
  label,
  value,
  choose,
  choices,
}: ChosenProps & { readonly choices: readonly Choice[] }) {
  const words = useWords(dashboardsWords);
  const isKnown = value === undefined || choices.some(({ id }) => id === value);
  return (
    <SelectField label={label} value={value ?? ''} onChange={({ target }) => choose(target.value)}>
      {value === undefined && <option value="">{words.chooseValue}</option>}
      {!isKnown && <option value={value}>{value}</option>}
      {choices.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </SelectField>
  );
}

/** Chosen by Enter or when the field is left. */
function TypedField({ label, value = '', choose }: ChosenProps) {
  const [typed, setTyped] = useState(value);
  const apply = () => {
    if (typed !== value) choose(typed);
  };
  return (
    <TextField
      label={label}
      maxLength={500}
      value={typed}
      onChange={({ target }) => setTyped(target.value)}
      onBlur={apply}
      onKeyDown={({ key }) => {
        if (key === 'Enter') apply();
      }}
    />
  );
}
