// Output pick: the outputs that can be added, each with its type.
import { SelectField } from '../../ui/field.tsx';
import { useWords } from '../../words/language.tsx';
import { outputsWords, typeNameOf, typeWords } from './outputs-words.ts';

interface Known {
  readonly id: string;
  readonly name: string;
  readonly type: string;
}

interface OutputPickProps<T> {
  readonly known: readonly T[];
  readonly pick: (output: T) => void;
}

export function OutputPick<T extends Known>({ known, pick }: OutputPickProps<T>) {
  const words = useWords(outputsWords);
  const types = useWords(typeWords);
  return (
    <SelectField
      label={words.output}
      value=""
      onChange={({ currentTarget: { value } }) => {
        const output = known.find(({ id }) => id === value);
        if (output !== undefined) pick(output);
      }}
    >
      <option value="">{words.choose}</option>
      {known.map(({ id, name, type }) => (
        <option key={id} value={id}>
          {name} · {typeNameOf(types, type)}
        </option>
      ))}
    </SelectField>
  );
}
