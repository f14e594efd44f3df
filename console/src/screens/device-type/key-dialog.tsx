// Key dialog: name, type, unit and kind of counter of one declared key.
import { useState } from 'react';
import { SelectField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { useWords } from '../../words/language.tsx';
import { type SchemaKey, type TopicSchema, withKey } from './schema-keys.ts';
import type { SaveSchemas } from './schema-tab.tsx';
import { schemaWords } from './schema-words.ts';

const types = ['number', 'integer', 'string', 'boolean', 'object', 'array'];
const counterTypes = ['', 'monotonic', 'delta', 'gauge', 'categorical'];

interface KeyDialogProps {
  readonly schema: TopicSchema;
  /** Undefined for a new key. */
  readonly edited: SchemaKey | undefined;
  readonly save: SaveSchemas;
  readonly close: () => void;
}

export function KeyDialog({ schema: { topic, json }, edited, save, close }: KeyDialogProps) {
  const words = useWords(schemaWords);
  const [key, setKey] = useState(edited?.key ?? '');
  const [fields, setFields] = useState(() => fieldsOf(edited));
  const submit = async () => {
    const { type, ...others } = fields;
    // A list of types, or none, stays as it is in the schema.
    const change = types.includes(type) ? fields : others;
    const isSaved = await save({ [topic]: withKey(json, key.trim(), change) }, words.keySaved(key));
    if (isSaved) close();
  };
  return (
    <FormDialog
      title={edited === undefined ? words.addKey : edited.key}
      submitLabel={words.save}
      submit={() => void submit()}
      close={close}
    >
      {edited === undefined && (
        <TextField
          label={words.key}
          value={key}
          required
          autoFocus
          onChange={({ target }) => setKey(target.value)}
        />
      )}
      <KeyFields fields={fields} change={setFields} />
    </FormDialog>
  );
}

type Fields = Pick<SchemaKey, 'type' | 'unit' | 'counterType' | 'title'>;

function fieldsOf(edited: SchemaKey | undefined): Fields {
  if (edited === undefined) return { type: 'number', unit: '', counterType: '', title: '' };
  const { type, unit, counterType, title } = edited;
  return { type, unit, counterType, title };
}

interface KeyFieldsProps {
  readonly fields: Fields;
  readonly change: (fields: Fields) => void;
}

function KeyFields({ fields, change }: KeyFieldsProps) {
  const words = useWords(schemaWords);
  const options = types.includes(fields.type) ? types : [fields.type, ...types];
  return (
    <>
      <SelectField
        label={words.type}
        value={fields.type}
        onChange={({ target }) => change({ ...fields, type: target.value })}
      >
        {options.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </SelectField>
      <TextField
        label={words.unit}
        value={fields.unit}
        onChange={({ target }) => change({ ...fields, unit: target.value })}
      />
      <SelectField
        label={words.counter}
        hint={words.counterHint}
        value={fields.counterType}
        onChange={({ target }) => change({ ...fields, counterType: target.value })}
      >
        {counterTypes.map((one) => (
          <option key={one} value={one}>
            {one === '' ? '–' : one}
          </option>
        ))}
      </SelectField>
      <TextField
        label={words.label}
        value={fields.title}
        onChange={({ target }) => change({ ...fields, title: target.value })}
      />
    </>
  );
}
