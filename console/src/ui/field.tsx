// Fields: a label, a control of the browser, a hint, and what was wrong with the value.
import { type ComponentProps, type ReactNode, useId } from 'react';
import { secondsOfIso } from '../words/formats.ts';
import styles from './field.module.css';

interface Around {
  readonly label: string;
  readonly hint?: ReactNode;
  /** What the platform said of this value. */
  readonly error?: string | undefined;
}

export function TextField({ label, hint, error, ...input }: Around & ComponentProps<'input'>) {
  const ids = useFieldIds(hint, error);
  return (
    <FieldFrame label={label} hint={hint} error={error} ids={ids}>
      <input className={styles['input']} {...input} {...ids.control} />
    </FieldFrame>
  );
}

interface MinutesFieldProps extends Around {
  /** An ISO 8601 duration; empty for none. */
  readonly value: string;
  readonly change: (value: string) => void;
}

/** A duration as a number of minutes. */
export function MinutesField({ value, change, ...around }: MinutesFieldProps) {
  const seconds = secondsOfIso(value);
  return (
    <TextField
      {...around}
      type="number"
      min={1}
      step={1}
      value={seconds === undefined ? '' : String(seconds / 60)}
      onChange={({ currentTarget: { value: typed } }) => change(typed === '' ? '' : `PT${typed}M`)}
    />
  );
}

export function TextArea({ label, hint, error, ...input }: Around & ComponentProps<'textarea'>) {
  const ids = useFieldIds(hint, error);
  return (
    <FieldFrame label={label} hint={hint} error={error} ids={ids}>
      <textarea className={styles['input']} {...input} {...ids.control} />
    </FieldFrame>
  );
}

export function SelectField({ label, hint, error, ...select }: Around & ComponentProps<'select'>) {
  const ids = useFieldIds(hint, error);
  return (
    <FieldFrame label={label} hint={hint} error={error} ids={ids}>
      <select className={styles['input']} {...select} {...ids.control} />
    </FieldFrame>
  );
}

interface FieldIds {
  readonly hintId: string;
  readonly errorId: string;
  readonly control: {
    readonly id: string;
    readonly 'aria-describedby'?: string;
    readonly 'aria-invalid'?: true;
  };
}

function useFieldIds(hint: ReactNode, error: string | undefined): FieldIds {
  const id = useId();
  const [hintId, errorId] = [`${id}-hint`, `${id}-error`];
  const described = [hint === undefined ? '' : hintId, error === undefined ? '' : errorId];
  const describedBy = described.filter(Boolean).join(' ');
  return {
    hintId,
    errorId,
    control: {
      id,
      ...(describedBy === '' ? {} : { 'aria-describedby': describedBy }),
      ...(error === undefined ? {} : { 'aria-invalid': true as const }),
    },
  };
}

function FieldFrame({
  label,
  hint,
  error,
  ids,
  children,
}: Around & { readonly ids: FieldIds; readonly children: ReactNode }) {
  return (
    <div className={styles['field']}>
      <label className="text-label" htmlFor={ids.control.id}>
        {label}
      </label>
      {children}
      {hint !== undefined && (
        <span className="faint text-tiny" id={ids.hintId}>
          {hint}
        </span>
      )}
      {error !== undefined && (
        <span className={styles['error']} id={ids.errorId} role="alert" data-fault>
          {error}
        </span>
      )}
    </div>
  );
}

// Check field: a box that is on or off, with its label and a hint.

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
