// Name fields: the name of a record in a dialog, or its name and description in an editor, with what the platform said of them.
import { faultAt, type FieldFaults } from '../api/field-faults.ts';
import { useWords } from '../words/language.tsx';
import { editingWords } from './editing-words.ts';
import { TextField } from './field.tsx';

interface Named {
  readonly name: string;
  readonly description: string;
}

interface NameFieldsProps<T extends Named> {
  readonly draft: T;
  readonly change: (draft: T) => void;
  readonly faults: FieldFaults;
}

export function NameFields<T extends Named>({ draft, change, faults }: NameFieldsProps<T>) {
  const words = useWords(editingWords);
  return (['name', 'description'] as const).map((field) => (
    <TextField
      key={field}
      label={words[field]}
      error={faultAt(faults, field)}
      value={draft[field]}
      onChange={(event) => change({ ...draft, [field]: event.currentTarget.value })}
    />
  ));
}

interface NameFieldProps {
  /** Before it is changed. */
  readonly value?: string | undefined;
  readonly error?: string | undefined;
}

/** Of a tag, a custom field or a workspace; not only spaces. */
export function NameField({ value = '', error }: NameFieldProps) {
  const words = useWords(editingWords);
  return (
    <TextField
      label={words.name}
      name="name"
      required
      pattern=".*\S.*"
      maxLength={200}
      autoComplete="off"
      autoFocus
      defaultValue={value}
      error={error}
    />
  );
}
