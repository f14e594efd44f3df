// Property field: the control for one member of an output's properties, by its kind.
import { useState } from 'react';
import { useDevicesById } from '../../api/workspace-records.ts';
import { DevicePick } from '../../ui/device-pick.tsx';
import { CheckField, MinutesField, SelectField, TextArea, TextField } from '../../ui/field.tsx';
import { useWords } from '../../words/language.tsx';
import { formWords, wordAt } from './form-words.ts';
import { NotifyField } from './notify-field.tsx';
import type { OutputField } from './output-types.ts';
import { type Sample, TemplateField } from './template-field.tsx';

export interface PropertyFieldProps {
  readonly field: OutputField;
  readonly value: unknown;
  readonly error: string | undefined;
  readonly sample: Sample;
  readonly change: (value: unknown) => void;
}

export function PropertyField(props: PropertyFieldProps) {
  const { field, value, error, sample, change } = props;
  const words = useWords(formWords);
  const label = wordAt(words.fields, field.member);
  const ownHint = (words.hints as Readonly<Record<string, string>>)[field.member];
  const isMasked = typeof value === 'string' && /^\*+$/.test(value);
  const secretHint = isMasked ? words.maskedHint : words.secretHint;
  const hint = ownHint ?? (field.kind === 'secret' ? secretHint : undefined);
  const around = { label, error, ...(hint === undefined ? {} : { hint }) };
  const text = typeof value === 'string' ? value : '';
  switch (field.kind) {
    case 'template':
      return (
        <TemplateField
          {...around}
          value={text}
          place={field.place}
          isLong={field.isLong === true}
          sample={sample}
          change={change}
        />
      );
    case 'choice':
      return <ChoiceField {...props} field={field} />;
    case 'flag':
      return <CheckField label={label} isOn={value === true} change={change} />;
    case 'lines':
    case 'pairs':
    case 'phones':
      return <LinesField {...props} kind={field.kind} />;
    case 'device':
      return <DeviceField {...props} />;
    case 'minutes':
      return <MinutesField {...around} value={text} change={change} />;
    case 'notify':
      return (
        <NotifyField value={value} error={error} workspaceId={sample.workspaceId} change={change} />
      );
    default:
      return (
        <TextField
          {...around}
          value={text}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => change(event.currentTarget.value)}
        />
      );
  }
}

function ChoiceField(
  props: PropertyFieldProps & { readonly field: Extract<OutputField, { kind: 'choice' }> },
) {
  const { field, value, error, change } = props;
  const words = useWords(formWords);
  const { options } = field;
  return (
    <SelectField
      label={wordAt(words.fields, field.member)}
      error={error}
      value={String(value ?? options[0])}
      onChange={({ currentTarget }) =>
        change(options.find((option) => String(option) === currentTarget.value))
      }
    >
      {options.map((option) => (
        <option key={option} value={option}>
          {wordAt(words.choices, String(option))}
        </option>
      ))}
    </SelectField>
  );
}

/** The input is kept as typed, so that a line that is not complete yet stays. */
function LinesField(props: PropertyFieldProps & { readonly kind: 'lines' | 'pairs' | 'phones' }) {
  const { field, kind, value, error, change } = props;
  const words = useWords(formWords);
  const [typed, setTyped] = useState(() => toLines(kind, value));
  return (
    <TextArea
      label={wordAt(words.fields, field.member)}
      hint={wordAt(words.hints, field.member)}
      error={error}
      value={typed}
      rows={3}
      spellCheck={false}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        change(fromLines(kind, currentTarget.value));
      }}
    />
  );
}

function DeviceField({ field, value, sample, change }: PropertyFieldProps) {
  const words = useWords(formWords);
  const id = typeof value === 'string' ? value : '';
  const devices = useDevicesById(sample.workspaceId, [id]);
  return (
    <DevicePick
      workspaceId={sample.workspaceId}
      label={wordAt(words.fields, field.member)}
      chosen={devices.get(id)?.name ?? id}
      choose={(device) => change(device.id)}
    />
  );
}

// Values of several lines: lists, maps and phone numbers as a person types them.

type Kind = 'lines' | 'pairs' | 'phones';

interface Phone {
  readonly prefix: string;
  readonly phone: string;
}

/** The value with one element per line. */
export function toLines(kind: Kind, value: unknown): string {
  if (kind === 'pairs')
    return Object.entries((value ?? {}) as Readonly<Record<string, string>>)
      .map(([name, content]) => `${name}: ${content}`)
      .join('\n');
  const list = Array.isArray(value) ? (value as readonly unknown[]) : [];
  if (kind === 'phones')
    return (list as readonly Phone[]).map(({ prefix, phone }) => `${prefix} ${phone}`).join('\n');
  return list.join('\n');
}

/** The value of lines; empty ones are skipped, and one without a colon is only a name. */
export function fromLines(kind: Kind, text: string): unknown {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  if (kind === 'lines') return lines;
  if (kind === 'phones') return lines.map(phoneOf);
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...rest] = line.split(':');
      return [name.trim(), rest.join(':').trim()];
    }),
  );
}

function phoneOf(line: string): Phone {
  const [prefix = '', ...rest] = line.split(/\s+/);
  return { prefix, phone: rest.join('') };
}
