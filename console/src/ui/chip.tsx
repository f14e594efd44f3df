// Chips and dots: states in a word and a colour, never only in a colour.
import type { ReactNode } from 'react';
import styles from './chip.module.css';

export type Tone = 'plain' | 'ok' | 'warn' | 'bad' | 'sun';
export type DotTone = 'ok' | 'warn' | 'bad' | 'off' | 'live';

export function Chip({
  tone = 'plain',
  children,
}: {
  readonly tone?: Tone;
  readonly children: ReactNode;
}) {
  return <span className={`${styles['chip']} ${styles[tone] ?? ''}`}>{children}</span>;
}

/** Decoration of a word that says the same. A new `beat` sends one ring. */
export function Dot({ tone, beat }: { readonly tone: DotTone; readonly beat?: number }) {
  const ring = beat === undefined || beat === 0 ? '' : styles['ring'];
  return (
    <span key={beat} className={`${styles['dot']} ${styles[tone]} ${ring}`} aria-hidden="true" />
  );
}
