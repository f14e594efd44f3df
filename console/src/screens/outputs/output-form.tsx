// Form of an output: the fields of its type, the payload, and what the platform said of each.
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { faultAt, faultsOf, type FieldFaults } from '../../api/field-faults.ts';
import { aboutQuery, ask, platform } from '../../api/platform.ts';
import { type FoundDevice, useDevicesById } from '../../api/workspace-records.ts';
import { DevicePick } from '../../ui/device-pick.tsx';
import { CheckField, MinutesField, SelectField, TextArea, TextField } from '../../ui/field.tsx';
import { useWords } from '../../words/language.tsx';
import { formWords, wordAt } from './form-words.ts';
import { bodyOf, newDraft, type OutputDraft } from './output-draft.ts';
import {
  type OutputField,
  outputTypes,
  type Properties,
  type TemplatePlace,
  valueAt,
  withValue,
} from './output-types.ts';
import styles from './outputs.module.css';
import { NotifyField } from './notify-field.tsx';
import { useSettledValue } from '../../ui/use-settled-value.ts';
import { Button } from '../../ui/button.tsx';
import { useAction } from '../../ui/use-action.ts';

/** The device whose last sample fills the previews in. */
export type SampleDevice = Pick<FoundDevice, 'id' | 'name'>;

interface OutputFormProps {
  readonly workspaceId: string;
  readonly draft: OutputDraft;
  readonly faults: FieldFaults;
  readonly change: (draft: OutputDraft) => void;
  /** Its last sample fills the previews in at first; without it, that of the device last seen. */
  readonly sampleOf?: SampleDevice | undefined;
}

export function OutputForm({ workspaceId, draft, faults, change, sampleOf }: OutputFormProps) {
  const words = useWords(formWords);
  const { device, choose } = useSampleDevice(workspaceId, sampleOf);
  const sample: Sample = { workspaceId, deviceId: device?.id };
  const part = { workspaceId, draft, faults, change, sample };
  const hasFields = outputTypes[draft.type]?.fields !== undefined;
  return (
    <div className={styles['fields']}>
      <TextField
        label={words.name}
        error={faultAt(faults, 'name')}
        value={draft.name}
        onChange={(event) => change({ ...draft, name: event.currentTarget.value })}
      />
      {hasFields && (
        <DevicePick
          workspaceId={workspaceId}
          label={words.sample}
          chosen={device?.name ?? words.noSample}
          choose={choose}
        />
      )}
      {hasFields ? <Fields {...part} /> : <JsonField {...part} />}
      <Sending {...part} />
    </div>
  );
}

interface PartProps extends OutputFormProps {
  readonly sample: Sample;
}

function Fields({ draft, faults, change, sample }: PartProps) {
  const { fields = [], propertiesKey } = outputTypes[draft.type] ?? { propertiesKey: '' };
  const { properties } = draft;
  const shown = fields.filter(
    ({ when }) => when === undefined || valueAt(properties, when.member) === when.value,
  );
  return shown.map((field) => (
    <PropertyField
      key={field.member}
      field={field}
      value={valueAt(properties, field.member)}
      error={faultAt(faults, `${propertiesKey}.${field.member}`)}
      sample={sample}
      change={(value) =>
        change({ ...draft, properties: withValue(properties, field.member, value) })
      }
    />
  ));
}

/** The input is kept as typed; it counts while it is a JSON object. */
function JsonField({ draft, faults, change }: PartProps) {
  const words = useWords(formWords);
  const [typed, setTyped] = useState(() => JSON.stringify(draft.properties, null, 2));
  const key = outputTypes[draft.type]?.propertiesKey ?? '';
  const isBroken = objectOf(typed) === undefined;
  return (
    <div className={styles['json']}>
      <TextArea
        label={words.json}
        hint={words.jsonHint}
        error={isBroken ? words.notJson : faultAt(faults, key)}
        rows={12}
        spellCheck={false}
        value={typed}
        onChange={({ currentTarget }) => {
          setTyped(currentTarget.value);
          const properties = objectOf(currentTarget.value);
          if (properties !== undefined) change({ ...draft, properties });
        }}
      />
    </div>
  );
}

function objectOf(text: string): Properties | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Properties) : undefined;
  } catch {
    return undefined;
  }
}

/** When it sends, and what. */
function Sending({ draft, faults, change, sample }: PartProps) {
  const words = useWords(formWords);
  const place = outputTypes[draft.type]?.payloadPlace;
  return (
    <>
      {draft.scope === 'RULE_ACTION' && (
        <CheckField
          label={words.consecutive}
          hint={words.consecutiveHint}
          isOn={draft.sendConsecutiveAlerts}
          change={(isOn) => change({ ...draft, sendConsecutiveAlerts: isOn })}
        />
      )}
      {draft.type === 'CUSTOM_DATABASE' && (
        <CheckField
          label={words.invoke}
          isOn={draft.invokeRuleEngine}
          change={(isOn) => change({ ...draft, invokeRuleEngine: isOn })}
        />
      )}
      {place !== undefined && (
        <CheckField
          label={words.custom}
          isOn={draft.useCustomPayload}
          change={(isOn) => change({ ...draft, useCustomPayload: isOn })}
        />
      )}
      {place !== undefined && draft.useCustomPayload && (
        <TemplateField
          label={words.payload}
          hint={words.payloadHint}
          error={faultAt(faults, 'customPayload')}
          value={draft.customPayload}
          place={place}
          isLong
          sample={sample}
          change={(customPayload) => change({ ...draft, customPayload })}
        />
      )}
    </>
  );
}

/** The device that was heard last, until another one is chosen. */
function useSampleDevice(workspaceId: string, first: SampleDevice | undefined) {
  const [device, choose] = useState(first);
  const newest = useQuery({
    queryKey: ['newest device', workspaceId],
    enabled: first === undefined,
    queryFn: ({ signal }) => {
      const sort = 'uplinkMetrics.timestamp,desc';
      const query = { workspaceId, size: 1, sort, fields: 'id,name,deviceId' };
      return ask(platform.GET('/v3/assets', { signal, params: { query } }));
    },
  });
  return { device: device ?? newest.data?.content[0], choose };
}

// Property field: the control for one member of an output's properties, by its kind.

interface PropertyFieldProps {
  readonly field: OutputField;
  readonly value: unknown;
  readonly error: string | undefined;
  readonly sample: Sample;
  readonly change: (value: unknown) => void;
}

function PropertyField(props: PropertyFieldProps) {
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

// Template field: an editor with a preview, filled in with the last sample of a device.

/** Whose last sample fills the templates in. */
interface Sample {
  readonly workspaceId: string;
  readonly deviceId: string | undefined;
}

interface TemplateFieldProps {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
  readonly value: string;
  readonly place: TemplatePlace;
  readonly sample: Sample;
  readonly isLong?: boolean;
  readonly change: (value: string) => void;
}

function TemplateField(props: TemplateFieldProps) {
  const { label, hint, error, value, place, sample, isLong = false, change } = props;
  const Field = isLong ? TextArea : TextField;
  return (
    <div className={isLong ? styles['template'] : undefined}>
      <Field
        label={label}
        {...(hint === undefined ? {} : { hint })}
        error={error}
        value={value}
        spellCheck={false}
        onChange={(event: { readonly currentTarget: { readonly value: string } }) =>
          change(event.currentTarget.value)
        }
      />
      <Preview template={value} place={place} sample={sample} />
    </div>
  );
}

interface PreviewProps {
  readonly template: string;
  readonly place: TemplatePlace;
  readonly sample: Sample;
}

/** Nothing for a template without expressions. */
function Preview({ template, place, sample: { workspaceId, deviceId } }: PreviewProps) {
  const words = useWords(formWords);
  const settled = useSettledValue(template);
  const isTemplate = /\{\{.*?\}\}/s.test(settled) && isClosed(settled);
  const sent = useQuery({
    queryKey: ['sample of', deviceId],
    enabled: isTemplate && deviceId !== undefined,
    queryFn: async ({ signal }) => {
      const body = { deviceIds: [deviceId ?? ''], size: 1 };
      const { content } = await ask(platform.POST('/v3/devices/query/latest', { signal, body }));
      return (content[0]?.samples ?? []).length > 0;
    },
  });
  const preview = useQuery({
    queryKey: ['template preview', workspaceId, deviceId, place, settled],
    enabled: isTemplate && sent.data === true,
    placeholderData: keepPreviousData,
    retry: false,
    queryFn: ({ signal }) => {
      const rule = { id: 'rule', ruleId: 'rule', name: words.preview, description: null };
      const body = { workspaceId, template: settled, place, deviceId: deviceId ?? '' };
      return ask(
        platform.POST('/v3/templates/preview', {
          signal,
          // Actions of rules use the rule too, which the last sample does not have.
          body: { ...body, context: { rule: { ...rule, workspaceId } } as never },
        }),
      );
    },
  });
  if (!isTemplate || deviceId === undefined) return null;
  if (sent.data === false) return <p className="mute text-tiny">{words.unsent}</p>;
  const shown = preview.error?.message ?? preview.data?.reason ?? preview.data?.text;
  if (shown === undefined) return null;
  const isBroken = preview.error !== null || preview.data?.valid === false;
  return (
    <output className={styles['preview']} data-broken={isBroken} aria-label={words.preview}>
      {shown}
    </output>
  );
}

/** While an expression is being typed there is nothing to fill in. */
function isClosed(template: string): boolean {
  return !/\{\{(?:(?!\}\}).)*$/s.test(template);
}

// E-mail in place: typed addresses become an output that sends mail, without leaving a rule.

interface MadeOutput {
  readonly id: string;
  readonly name: string;
  readonly type: 'MAIL';
}

interface MailInPlaceProps {
  readonly workspaceId: string;
  /** Subject and message, as templates. */
  readonly templates: { readonly subjectTemplate: string; readonly messageTemplate: string };
  readonly done: (output: MadeOutput) => void;
}

/** Mail that a rule sends. */
export const ruleMail = {
  subjectTemplate: '{{rule.name}}: {{device.name}}',
  messageTemplate: '{{device.name}}: {{data}}\n{{timestamp}}',
} as const;

export function MailInPlace({ workspaceId, templates, done }: MailInPlaceProps) {
  const words = useWords(formWords);
  const known = useQueryClient();
  const sendsMail = useQuery(aboutQuery).data?.features.mail;
  const [typed, setTyped] = useState('');
  const recipients = typed.split(/[\s,;]+/).filter((one) => one !== '');
  const making = useAction({
    mutationFn() {
      const name = words.mailTo(recipients.join(', ').slice(0, nameCharactersMax));
      const draft = newDraft('MAIL', name, 'RULE_ACTION');
      const body = bodyOf({ ...draft, properties: { ...templates, recipients } }, workspaceId);
      return ask(platform.POST('/v3/output-connectors', { body }));
    },
    onSuccess({ id, name }) {
      void known.invalidateQueries({ queryKey: ['outputs'] });
      void known.invalidateQueries({ queryKey: ['message outputs', workspaceId] });
      setTyped('');
      done({ id, name, type: 'MAIL' });
    },
  });
  const faults = faultsOf(making.error);
  const error = faultAt(faults, 'mailProperties.recipients') ?? making.error?.message;
  const add = () => {
    if (recipients.length > 0 && !making.isPending) making.mutate();
  };
  return (
    <span className={styles['mail']}>
      <TextField
        label={words.mailAddresses}
        hint={sendsMail === false ? words.noMail : undefined}
        error={error}
        value={typed}
        inputMode="email"
        disabled={sendsMail === false}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          event.preventDefault();
          add();
        }}
      />
      <Button disabled={recipients.length === 0 || making.isPending} onClick={add}>
        {words.mailUse}
      </Button>
    </span>
  );
}

const nameCharactersMax = 80;
