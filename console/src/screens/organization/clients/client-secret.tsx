// Client secret: shown once after creation and after each change, with the commands that use it.
import { Button } from '../../../parts/button.tsx';
import { CopyButton } from '../../../parts/copy-button.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { CodeBlock } from '../../../parts/states.tsx';
import { useWords } from '../../../words/language.tsx';
import { organizationWords } from '../organization-words.ts';
import styles from './clients.module.css';
import { type Credentials, readCommand, tokenCommand } from './client-requests.ts';
import { clientWords } from './client-words.ts';

interface ClientSecretProps {
  readonly tokenUrl: string;
  readonly credentials: Credentials;
  readonly close: () => void;
}

export function ClientSecret({ tokenUrl, credentials, close }: ClientSecretProps) {
  const words = useWords(clientWords);
  const shared = useWords(organizationWords);
  const { clientId, clientSecret } = credentials;
  const footer = (
    <>
      <CopyButton content={clientSecret}>{words.copySecret}</CopyButton>
      <Button look="primary" onClick={close}>
        {shared.done}
      </Button>
    </>
  );
  return (
    <Dialog title={words.secret} close={close} footer={footer}>
      <p>{words.secretNote}</p>
      <dl className={styles['facts']}>
        <dt>{words.clientId}</dt>
        <dd className="mono">{clientId}</dd>
        <dt>{words.secret}</dt>
        <dd className="mono">{clientSecret}</dd>
      </dl>
      <Commands tokenUrl={tokenUrl} credentials={credentials} />
    </Dialog>
  );
}

/** How the client gets a token, and what it does with it. */
export function Commands({ tokenUrl, credentials }: Omit<ClientSecretProps, 'close'>) {
  const words = useWords(clientWords);
  return (
    <div className={styles['commands']}>
      <h3>{words.getToken}</h3>
      <CodeBlock code={tokenCommand(tokenUrl, credentials)} />
      <h3>{words.useToken}</h3>
      <CodeBlock code={readCommand()} />
    </div>
  );
}
