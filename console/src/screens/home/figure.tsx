// Figure of the home page: a number with what it counts.
import type { ReactNode } from 'react';
import { Dot, type DotTone } from '../../ui/chip.tsx';
import { Bone } from '../../ui/states.tsx';
import styles from './home.module.css';

interface FigureProps {
  readonly label: string;
  readonly tone?: DotTone;
  readonly value: string | undefined;
  readonly note?: string | undefined;
  readonly line?: ReactNode;
}

export function Figure({ label, tone, value, note, line }: FigureProps) {
  return (
    <div className={styles['figure']}>
      <dt>
        {tone !== undefined && <Dot tone={tone} />}
        {label}
      </dt>
      <dd>
        {value ?? <Bone width="2.5em" />}
        {value !== undefined && note !== undefined && <small>{note}</small>}
      </dd>
      {line !== undefined && <dd className={styles['line']}>{line}</dd>}
    </div>
  );
}
