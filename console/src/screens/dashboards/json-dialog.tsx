// JSON of a dashboard: its configuration as the interface has it, to read and to copy.
import { CopyButton } from '../../ui/copy-button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useWords } from '../../words/language.tsx';
import { versionWords } from './dashboards-words.ts';
import styles from './dashboards.module.css';

interface JsonDialogProps {
  readonly name: string;
  readonly configuration: object;
  readonly close: () => void;
}

export function JsonDialog({ name, configuration, close }: JsonDialogProps) {
  const words = useWords(versionWords);
  const text = JSON.stringify(configuration, null, 2);
  return (
    <Dialog
      title={words.json(name)}
      isWide
      close={close}
      footer={<CopyButton content={text}>{words.copy}</CopyButton>}
    >
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must take the focus */}
      <pre className={styles['json']} tabIndex={0} aria-label={words.json(name)} role="region">
        {text}
      </pre>
    </Dialog>
  );
}
