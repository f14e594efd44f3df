// Sparkplug fields: which devices the edge nodes of a connector and their devices are.
import type { SparkplugMapping } from '../../../../../src/model/sparkplug-mapping.ts';
import { faultAt, type FieldFaults } from '../../../api/field-faults.ts';
import { CheckField } from '../../../parts/check-field.tsx';
import { TextField } from '../../../parts/field.tsx';
import { useWords } from '../../../words/language.tsx';
import { connectorWords } from './connector-words.ts';

/** The mapping as it is edited. */
export interface SparkplugDraft extends Omit<SparkplugMapping, 'createDevices'> {
  readonly isCreating: boolean;
  readonly devicesMax: string;
}

const devicesMaxFirst = '100';

export function sparkplugDraft({ createDevices, ...mapping }: SparkplugMapping): SparkplugDraft {
  const devicesMax = String(createDevices?.devicesMax ?? devicesMaxFirst);
  return { ...mapping, isCreating: createDevices !== null, devicesMax };
}

export function sparkplugOf({ isCreating, devicesMax, ...mapping }: SparkplugDraft) {
  return { ...mapping, createDevices: isCreating ? { devicesMax: Number(devicesMax) } : null };
}

interface SparkplugFieldsProps {
  readonly draft: SparkplugDraft;
  readonly change: (draft: SparkplugDraft) => void;
  readonly faults: FieldFaults;
}

const names = ['node', 'device', 'topic', 'hostId'] as const;

export function SparkplugFields({ draft, change, faults }: SparkplugFieldsProps) {
  const words = useWords(connectorWords);
  return (
    <>
      {names.map((name) => (
        <TextField
          key={name}
          label={words.sparkplugFields[name]}
          hint={words.sparkplugNotes[name]}
          className="mono"
          spellCheck={false}
          required
          value={draft[name]}
          error={faultAt(faults, `sparkplug.${name}`)}
          onChange={({ currentTarget: { value } }) => change({ ...draft, [name]: value })}
        />
      ))}
      <CheckField
        label={words.createNodes}
        hint={words.createNodesNote}
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
          error={faultAt(faults, 'sparkplug.createDevices')}
          onChange={({ currentTarget: { value } }) => change({ ...draft, devicesMax: value })}
        />
      )}
    </>
  );
}
