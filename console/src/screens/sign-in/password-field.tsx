// Password field: shows why its value was refused, and takes the focus then.
import { useEffect, useRef } from 'react';
import { TextField } from '../../ui/field.tsx';

interface PasswordFieldProps {
  readonly label: string;
  readonly hint: string;
  readonly error: Error | null;
  readonly isNew: boolean;
  /** The first field of the page has the focus. */
  readonly isFirst: boolean;
}

export function PasswordField({ label, hint, error, isNew, isFirst }: PasswordFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (isFirst || error !== null) field.current?.focus();
  }, [isFirst, error]);
  return (
    <TextField
      ref={field}
      label={label}
      hint={hint}
      error={error?.message}
      name="password"
      type="password"
      autoComplete={isNew ? 'new-password' : 'current-password'}
      required
    />
  );
}
