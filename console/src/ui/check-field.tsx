// Check field: a box that is on or off, with its label and a hint.
import styles from './check-field.module.css';

interface CheckFieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly isOn: boolean;
  readonly change: (isOn: boolean) => void;
}

export function CheckField({ label, hint, isOn, change }: CheckFieldProps) {
  return (
    <label className={styles['check']}>
      <input
        type="checkbox"
        checked={isOn}
        onChange={({ currentTarget }) => change(currentTarget.checked)}
      />
      <span>
        {label}
        {hint !== undefined && <small>{hint}</small>}
      </span>
    </label>
  );
}

/** The list with the value or without it, as its box says. */
export function toggled<T>(values: readonly T[], value: T, isOn: boolean): T[] {
  const others = values.filter((one) => one !== value);
  return isOn ? [...others, value] : others;
}
