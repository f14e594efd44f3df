// Line protocol fields: which device and topic a point of an InfluxDB sender is of.
import type { LineProtocolMapping } from '../../../../../src/model/connector-mappings.ts';
import { faultAt, type FieldFaults } from '../../../api/field-faults.ts';
import { CheckField } from '../../../ui/check-field.tsx';
import { TextArea, TextField } from '../../../ui/field.tsx';
import { useWords } from '../../../words/language.tsx';
import { connectorWords } from './connector-words.ts';

/** The mapping as it is edited: a template a line. */
export interface LineProtocolDraft {
  readonly device: string;
  readonly topic: string;
  readonly isCreating: boolean;
  readonly devicesMax: string;
}

const devicesMaxFirst = '100';

export function lineProtocolDraft(mapping: LineProtocolMapping): LineProtocolDraft {
  const { device, topic, createDevices } = mapping;
  return {
    device: device.join('\n'),
    topic,
    isCreating: createDevices !== null,
    devicesMax: String(createDevices?.devicesMax ?? devicesMaxFirst),
  };
}

export function lineProtocolOf({ device, topic, isCreating, devicesMax }: LineProtocolDraft) {
  const templates = device.split('\n').map((line) => line.trim());
  return {
    device: templates.filter((template) => template !== ''),
    topic: topic.trim(),
    createDevices: isCreating ? { devicesMax: Number(devicesMax) } : null,
  };
}

interface LineProtocolFieldsProps {
  readonly draft: LineProtocolDraft;
  readonly change: (draft: LineProtocolDraft) => void;
  readonly faults: FieldFaults;
}

export function LineProtocolFields({ draft, change, faults }: LineProtocolFieldsProps) {
  const words = useWords(connectorWords);
  return (
    <>
      <TextArea
        label={words.pointDevice}
        hint={words.pointDeviceNote}
        rows={4}
        className="mono"
        spellCheck={false}
        value={draft.device}
        error={faultAt(faults, 'lineProtocol.device')}
        onChange={({ currentTarget: { value } }) => change({ ...draft, device: value })}
      />
      <TextField
        label={words.pointTopic}
        hint={words.pointTopicNote}
        className="mono"
        spellCheck={false}
        value={draft.topic}
        error={faultAt(faults, 'lineProtocol.topic')}
        onChange={({ currentTarget: { value } }) => change({ ...draft, topic: value })}
      />
      <CheckField
        label={words.createDevices}
        hint={words.createDevicesNote}
        isOn={draft.isCreating}
        change={(isCreating) => change({ ...draft, isCreating })}
      />
      {draft.isCreating && (
        <TextField
          label={words.devicesMax}
          type="number"
          min={1}
          required
          value={draft.devicesMax}
          error={faultAt(faults, 'lineProtocol.createDevices')}
          onChange={({ currentTarget: { value } }) => change({ ...draft, devicesMax: value })}
        />
      )}
    </>
  );
}
