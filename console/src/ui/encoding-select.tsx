// Choice of an encoding: how payloads of devices are read (contract 38).
import { type PayloadEncoding, payloadEncodings } from '../../../src/model/device-type.ts';
import { useWords } from '../words/language.tsx';
import { SelectField } from './field.tsx';
import { partWords } from './part-words.ts';

interface EncodingSelectProps {
  readonly value: PayloadEncoding | null;
  readonly change: (encoding: PayloadEncoding | null) => void;
  readonly disabled?: boolean;
  /** What null stands for, where it is not reading by content. */
  readonly none?: string;
  readonly label?: string;
}

export function EncodingSelect({ value, change, disabled, none, label }: EncodingSelectProps) {
  const words = useWords(partWords);
  return (
    <SelectField
      label={label ?? words.encoding}
      value={value ?? ''}
      disabled={disabled}
      onChange={({ currentTarget }) =>
        change(payloadEncodings.find((one) => one === currentTarget.value) ?? null)
      }
    >
      <option value="">{none ?? words.encodings.automatic}</option>
      {(['JSON', 'TEXT', 'BYTES', 'CBOR', 'HEX'] as const).map((one) => (
        <option key={one} value={one}>
          {words.encodings[one]}
        </option>
      ))}
    </SelectField>
  );
}
