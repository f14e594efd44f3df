// Form of an output: the fields of its type, the payload, and what the platform said of each.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { faultAt, type FieldFaults } from '../../api/field-faults.ts';
import { ask, platform } from '../../api/platform.ts';
import type { FoundDevice } from '../../api/workspace-records.ts';
import { DevicePick } from '../../ui/device-pick.tsx';
import { CheckField, TextArea, TextField } from '../../ui/field.tsx';
import { useWords } from '../../words/language.tsx';
import { formWords } from './form-words.ts';
import type { OutputDraft } from './output-draft.ts';
import { outputTypes, type Properties, valueAt, withValue } from './output-types.ts';
import styles from './outputs.module.css';
import { PropertyField, type Sample, TemplateField } from './property-field.tsx';

/** The device whose last sample fills the previews in. */
export type SampleDevice = Pick<FoundDevice, 'id' | 'name'>;

export interface OutputFormProps {
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
