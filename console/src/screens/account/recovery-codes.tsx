// Recovery codes: shown once, to be saved elsewhere; and the state of the second factor.
import { queryOptions } from '@tanstack/react-query';
import { ask, platform } from '../../api/platform.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useWords } from '../../words/language.tsx';
import { secondFactorWords } from './account-words.ts';
import styles from './security.module.css';

interface RecoveryCodesProps {
  readonly codes: readonly string[];
  readonly close: () => void;
}

export function RecoveryCodes({ codes, close }: RecoveryCodesProps) {
  const words = useWords(secondFactorWords);
  return (
    <Dialog
      title={words.recoveryTitle}
      close={close}
      footer={
        <>
          <CopyButton content={`${codes.join('\n')}\n`}>{words.copyCodes}</CopyButton>
          <Button look="primary" onClick={close}>
            {words.done}
          </Button>
        </>
      }
    >
      <p>{words.recoveryNote}</p>
      <ul className={styles['codes']} aria-label={words.recoveryTitle}>
        {codes.map((code) => (
          <li key={code} className="mono">
            {code}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

// Second factor query: what the own account shows besides the password.

export const secondFactorPath = '/v3/auth/second-factor';

export const secondFactorQuery = queryOptions({
  queryKey: ['second-factor'],
  queryFn: ({ signal }) => ask(platform.GET(secondFactorPath, { signal })),
});
