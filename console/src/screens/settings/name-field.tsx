// Name field: the name of a tag, a custom field or a workspace, which is not only spaces.
import { TextField } from '../../ui/field.tsx';
import { useWords } from '../../words/language.tsx';
import { settingsWords } from './settings-words.ts';

interface NameFieldProps {
  /** Before it is changed. */
  readonly value?: string | undefined;
  readonly error?: string | undefined;
}

export function NameField({ value = '', error }: NameFieldProps) {
  const words = useWords(settingsWords);
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
