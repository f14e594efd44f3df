// Before choice: whether charts also show the period before their range.
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { CheckField } from '../../../ui/check-field.tsx';
import { useWords } from '../../../words/language.tsx';
import { deviceRoute } from '../device-search.ts';
import { deviceWords } from '../device-words.ts';
import styles from './overview.module.css';

/** With what the comparison says. */
export function BeforeChoice({ children }: { readonly children?: ReactNode }) {
  const words = useWords(deviceWords);
  const { before } = useSearch({ from: deviceRoute });
  const navigate = useNavigate();
  return (
    <div className={styles['compared']}>
      <CheckField
        label={words.compare}
        isOn={before === true}
        change={(isOn) => {
          const changed = (search: object) => ({ ...search, before: isOn ? true : undefined });
          void navigate({ to: '.', search: changed as never, resetScroll: false });
        }}
      />
      {children}
    </div>
  );
}
