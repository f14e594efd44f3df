// Formula field: a formula over data keys, whose error stands under its place.
import { ask, platform } from '../api/platform.ts';
import { TextField } from './field.tsx';
import styles from './field.module.css';

const expressionMax = 2_000;

export interface FormulaError {
  readonly message: string;
  /** From 0 on; undefined where the place is not known. */
  readonly position?: number | undefined;
  /** The formula that was checked. */
  readonly expression: string;
}

/** Asks the platform. Undefined for a sound formula. */
export async function formulaError(expression: string): Promise<FormulaError | undefined> {
  const { error } = await ask(platform.POST('/v3/expressions/check', { body: { expression } }));
  return error === null ? undefined : { ...error, expression };
}

interface FormulaFieldProps {
  readonly label: string;
  readonly value: string;
  readonly change: (value: string) => void;
  readonly error: FormulaError | undefined;
  readonly isRequired?: boolean;
  readonly example?: string;
}

export function FormulaField({
  label,
  value,
  change,
  error,
  isRequired = false,
  example = 'temperature * 9 / 5 + 32',
}: FormulaFieldProps) {
  return (
    <>
      <TextField
        label={label}
        placeholder={example}
        maxLength={expressionMax}
        required={isRequired}
        spellCheck={false}
        value={value}
        error={error?.message}
        onChange={({ target }) => change(target.value)}
      />
      {error?.position !== undefined && (
        <pre className={styles['place']} aria-hidden="true">
          {`${error.expression}\n${' '.repeat(error.position)}^`}
        </pre>
      )}
    </>
  );
}
