// Difference block: lines of JSON, marked with a sign and a color where they are gone or new.
import type { DiffLine } from './json-lines.ts';
import styles from './device-type.module.css';

const signs = { same: '', gone: '−', new: '+' } as const;

interface DiffBlockProps {
  readonly lines: readonly DiffLine[];
  /** For a screen reader, where the block is one of two. */
  readonly label?: string;
}

export function DiffBlock({ lines, label }: DiffBlockProps) {
  const name = label === undefined ? {} : { role: 'group', 'aria-label': label };
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must take the focus
    <code className={styles['diff']} tabIndex={0} {...name}>
      {lines.map(({ kind, text }, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- lines have no other identity
        <span key={at} className={styles[kind]}>
          {kind !== 'same' && <b>{signs[kind]}</b>}
          {text}
        </span>
      ))}
    </code>
  );
}
