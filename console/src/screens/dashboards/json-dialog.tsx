// JSON of a dashboard: its configuration as the interface has it, to read, to copy and to replace.
import { useState } from 'react';
import { type Configuration, readConfiguration } from '../../../../src/dashboards/configuration.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextArea } from '../../ui/field.tsx';
import { useWords } from '../../words/language.tsx';
import { versionWords } from './dashboards-words.ts';
import styles from './dashboards.module.css';

interface JsonDialogProps {
  readonly name: string;
  readonly configuration: object;
  /** Takes the place of the configuration, until it is saved. */
  readonly replace: (configuration: Configuration) => void;
  readonly close: () => void;
}

export function JsonDialog({ name, configuration, replace, close }: JsonDialogProps) {
  const words = useWords(versionWords);
  const text = JSON.stringify(configuration, null, 2);
  const [typed, setTyped] = useState<string>();
  const read = configurationIn(typed ?? '');
  if (typed !== undefined)
    return (
      <Dialog
        title={words.json(name)}
        isWide
        close={close}
        footer={
          <>
            <Button onClick={() => setTyped(undefined)}>{words.cancel}</Button>
            <Button
              look="primary"
              needs="dashboard: update"
              disabled={read === undefined}
              onClick={() => {
                if (read === undefined) return;
                replace(read);
                close();
              }}
            >
              {words.replace}
            </Button>
          </>
        }
      >
        <TextArea
          label={words.newJson}
          hint={words.newJsonHint}
          error={typed.trim() !== '' && read === undefined ? words.noConfiguration : undefined}
          rows={14}
          spellCheck={false}
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
      </Dialog>
    );
  return (
    <Dialog
      title={words.json(name)}
      isWide
      close={close}
      footer={
        <>
          <Button needs="dashboard: update" onClick={() => setTyped('')}>
            {words.replaceWith}
          </Button>
          <CopyButton content={text}>{words.copy}</CopyButton>
        </>
      }
    >
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must take the focus */}
      <pre className={styles['json']} tabIndex={0} aria-label={words.json(name)} role="region">
        {text}
      </pre>
    </Dialog>
  );
}

/** Undefined for what is no JSON, or no configuration of a dashboard. */
function configurationIn(text: string): Configuration | undefined {
  try {
    const read: unknown = JSON.parse(text);
    const isNamed = typeof read === 'object' && read !== null && 'schema' in read;
    const found = isNamed ? readConfiguration(read) : undefined;
    return Array.isArray(found?.tiles) ? found : undefined;
  } catch {
    return undefined;
  }
}
