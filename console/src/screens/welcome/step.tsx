// Step: its title with a number or a tick, its form while open, its answer once done.
import { Check } from 'lucide-react';
import type { ReactNode } from 'react';
import { useWords } from '../../words/language.tsx';
import styles from './welcome.module.css';
import { welcomeWords } from './welcome-words.ts';

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
