// Before choice: whether charts also show the period before their range.
import { useNavigate, useSearch } from '@tanstack/react-router';
import { CheckField } from '../../../parts/check-field.tsx';
import { useWords } from '../../../words/language.tsx';
import { deviceRoute } from '../device-search.ts';
import { deviceWords } from '../device-words.ts';

export function BeforeChoice() {
  const words = useWords(deviceWords);
  const { before } = useSearch({ from: deviceRoute });
  const navigate = useNavigate();
  return (
    <CheckField
      label={words.compare}
      isOn={before === true}
      change={(isOn) => {
        const changed = (search: object) => ({ ...search, before: isOn ? true : undefined });
        void navigate({ to: '.', search: changed as never, resetScroll: false });
      }}
    />
  );
}
