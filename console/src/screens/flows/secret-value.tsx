// Secret value: dots until it is asked for, and a button that copies it without showing it.
import { Eye, EyeOff } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import styles from './flows.module.css';

interface SecretValueProps {
  readonly secret: string;
  /** Part of an address around the secret, such as `https://host/path?secret=`. */
  readonly before?: string;
  readonly words: { readonly show: string; readonly hide: string; readonly copy: string };
}

const mask = '••••••••';

export function SecretValue({ secret, before = '', words }: SecretValueProps) {
  const [isShown, setShown] = useState(false);
  return (
    <span className={styles['secret']}>
      <code className="mono">{before + (isShown ? secret : mask)}</code>
      <Button
        look="ghost"
        isIcon
        aria-pressed={isShown}
        aria-label={isShown ? words.hide : words.show}
        onClick={() => setShown(!isShown)}
      >
        {isShown ? <EyeOff aria-hidden="true" /> : <Eye aria-hidden="true" />}
      </Button>
      <CopyButton content={before + secret} label={words.copy} />
    </span>
  );
}
