// Client dialog: what a client may do in a sentence, where, and how it gets a token.
import { Button } from '../../../parts/button.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { useWorkspaces } from '../../../session/session.ts';
import { useWords } from '../../../words/language.tsx';
import { PermissionSentence } from '../keys/permission-grid.tsx';
import { organizationWords } from '../organization-words.ts';
import styles from './clients.module.css';
import type { OAuthClient } from './client-requests.ts';
import { Commands } from './client-secret.tsx';
import { clientWords } from './client-words.ts';

interface ClientDialogProps {
  readonly client: OAuthClient;
  readonly close: () => void;
}

const secretVariable = '"$CLIENT_SECRET"';

export function ClientDialog({ client, close }: ClientDialogProps) {
  const words = useWords(clientWords);
  const shared = useWords(organizationWords);
  const known = useWorkspaces().data?.content ?? [];
  const { name, description, clientId, tokenUrl, permissions } = client;
  const names = client.workspaces.map(({ id }) => known.find((one) => one.id === id)?.name ?? id);
  return (
    <Dialog
      title={words.details(name)}
      close={close}
      footer={
        <Button look="primary" onClick={close}>
          {shared.done}
        </Button>
      }
    >
      {description !== null && <p>{description}</p>}
      <PermissionSentence grantee="client" permissions={permissions} />
      <dl className={styles['facts']}>
        <dt>{shared.workspaces}</dt>
        <dd>{client.allWorkspaces ? shared.allWorkspaces : names.join(', ')}</dd>
        <dt>{words.clientId}</dt>
        <dd className="mono">{clientId}</dd>
      </dl>
      <Commands tokenUrl={tokenUrl} credentials={{ clientId, clientSecret: secretVariable }} />
    </Dialog>
  );
}
