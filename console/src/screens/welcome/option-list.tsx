// Option list: radio buttons with a title and a note each; the chosen one has the focus first.
import { type ReactNode, useEffect, useRef } from 'react';
import styles from './welcome.module.css';

export interface Option<T extends string> {
  readonly value: T;
  readonly title: ReactNode;
  readonly note?: ReactNode;
  readonly isDisabled?: boolean;
}

interface OptionListProps<T extends string> {
  readonly label: string;
  readonly name: string;
  readonly options: readonly Option<T>[];
  readonly value: T;
  readonly choose: (value: T) => void;
  readonly isFirst?: boolean;
}

export function OptionList<T extends string>(props: OptionListProps<T>) {
  const { label, name, options, value, choose, isFirst = true } = props;
  const box = useRef<HTMLFieldSetElement>(null);
  useEffect(() => {
    if (isFirst) box.current?.querySelector<HTMLInputElement>('input:checked')?.focus();
  }, [isFirst]);
  return (
    <fieldset ref={box} className={styles['options']}>
      <legend className="sr">{label}</legend>
      {options.map(({ value: one, title, note, isDisabled = false }) => (
        <label key={one} className={styles['option']} data-disabled={isDisabled}>
          <input
            type="radio"
            name={name}
            value={one}
            checked={one === value}
            disabled={isDisabled}
            onChange={() => choose(one)}
          />
          <span>
            <b>{title}</b>
            {note !== undefined && <span className="mute">{note}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
