// Step: its title with a number or a tick, its form while open, its answer once done.
import { Check } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { useWords } from '../../words/language.tsx';
import { welcomeWords } from './welcome-words.ts';
import styles from './welcome.module.css';

interface StepProps {
  readonly number: number;
  readonly title: string;
  readonly state: 'done' | 'open' | 'later';
  /** Shown once the step is done. */
  readonly answer?: ReactNode;
  /** Opens the step again. */
  readonly change?: () => void;
  readonly children?: ReactNode;
}

export function Step({ number, title, state, answer, change, children }: StepProps) {
  const words = useWords(welcomeWords);
  return (
    <li className={styles[state]} aria-current={state === 'open' ? 'step' : undefined}>
      <span className={styles['bead']} aria-hidden="true">
        {state === 'done' ? <Check /> : number}
      </span>
      <div>
        <h2 className={styles['stepTitle']}>
          {state === 'done' && change !== undefined ? (
            <button type="button" onClick={change} aria-label={words.change(title)}>
              {title}
            </button>
          ) : (
            title
          )}
          {state === 'done' && <span className="sr">, {words.done}</span>}
        </h2>
        {state === 'done' && <p className="mute">{answer}</p>}
        {state === 'open' && children}
      </div>
    </li>
  );
}

// Option list: radio buttons with a title and a note each; the chosen one has the focus first.

interface Option<T extends string> {
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
    <fieldset ref={box} className="stack gap-6">
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
