// Inputs of a device's settings: what it is called, its tags, and the custom fields of its workspace.
import { CheckField, toggled } from '../../../parts/check-field.tsx';
import { SelectField, TextArea, TextField } from '../../../parts/field.tsx';
import { Answered, Bone } from '../../../parts/states.tsx';
import { useWords } from '../../../words/language.tsx';
import type { DeviceDraft, DraftFault } from './device-draft.ts';
import styles from './settings.module.css';
import { settingsWords } from './settings-words.ts';
import type { Choices } from './use-choices.ts';
import { zoneNames } from '../../../words/zone-times.ts';

interface InputsProps {
  readonly draft: DeviceDraft;
  readonly change: (part: Partial<DeviceDraft>) => void;
  readonly faults: readonly DraftFault[];
  readonly choices: Choices;
}

export function GeneralInputs({ draft, change, faults, choices }: InputsProps) {
  const words = useWords(settingsWords);
  return (
    <div className={styles['inputs']}>
      <TextField
        label={words.name}
        required
        error={faults.includes('name') ? words.required : undefined}
        value={draft.name}
        onChange={({ target }) => change({ name: target.value })}
      />
      <TextField
        label={words.timeout}
        hint={words.timeoutHint}
        error={faults.includes('timeout') ? words.timeoutBad : undefined}
        inputMode="decimal"
        value={draft.timeoutMinutes}
        onChange={({ target }) => change({ timeoutMinutes: target.value })}
      />
      <SelectField
        label={words.flow}
        hint={words.flowHint}
        value={draft.dataFlowId}
        onChange={({ target }) => change({ dataFlowId: target.value })}
      >
        {choices.flows.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
      <SelectField
        label={words.zone}
        hint={words.zoneHint}
        value={draft.zone}
        onChange={({ target }) => change({ zone: target.value })}
      >
        <option value="">{words.zoneOfWorkspace}</option>
        {zoneNames.map((zone) => (
          <option key={zone} value={zone}>
            {zone}
          </option>
        ))}
      </SelectField>
      <div className={styles['whole']}>
        <TextArea
          label={words.description}
          value={draft.description}
          onChange={({ target }) => change({ description: target.value })}
        />
      </div>
    </div>
  );
}

export function TagInputs({ draft, change, choices }: InputsProps) {
  const words = useWords(settingsWords);
  return (
    <Answered answer={choices.tagsAnswer} skeleton={<Bone />}>
      {({ content }) =>
        content.length === 0 ? (
          <p className="mute">{words.noTags}</p>
        ) : (
          <fieldset className={styles['tags']}>
            <legend className="sr">{words.tags}</legend>
            {content.map(({ id, name }) => (
              <CheckField
                key={id}
                label={name}
                isOn={draft.tagIds.includes(id)}
                change={(isOn) => change({ tagIds: toggled(draft.tagIds, id, isOn).toSorted() })}
              />
            ))}
          </fieldset>
        )
      }
    </Answered>
  );
}

export function FieldInputs({ draft, change, faults, choices }: InputsProps) {
  const words = useWords(settingsWords);
  const isWrong = (fieldId: string) =>
    faults.some((fault) => typeof fault === 'object' && fault.fieldId === fieldId);
  return (
    <Answered answer={choices.fieldsAnswer} skeleton={<Bone />}>
      {({ content }) =>
        content.length === 0 ? (
          <p className="mute">{words.noFields}</p>
        ) : (
          <div className={styles['inputs']}>
            {content.map(({ id, name, type, description, required }) => (
              <TextField
                key={id}
                label={required ? `${name} *` : name}
                hint={description ?? (type === 'GPS_COORDINATES' ? words.positionHint : type)}
                error={isWrong(id) ? words.badValue : undefined}
                required={required}
                value={draft.fields[id] ?? ''}
                onChange={({ target }) =>
                  change({ fields: withField(draft.fields, id, target.value) })
                }
              />
            ))}
          </div>
        )
      }
    </Answered>
  );
}

/** A field that is emptied is as one that never had a value. */
function withField(fields: DeviceDraft['fields'], id: string, content: string) {
  const { [id]: _, ...others } = fields;
  const all = content === '' ? others : { ...others, [id]: content };
  return Object.fromEntries(Object.entries(all).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
