// Deletion of a workspace: asked for by its name; one that is not empty says what is in it.
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { ask, platform } from '../../../api/platform.ts';
import { Button } from '../../../parts/button.tsx';
import { Card } from '../../../parts/card.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { TextField } from '../../../parts/field.tsx';
import { Failure } from '../../../parts/states.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { useWords } from '../../../words/language.tsx';
import styles from '../settings.module.css';
import { settingsWords } from '../settings-words.ts';
import type { Workspace } from '../workspace-requests.ts';
import { useAction } from '../../../parts/use-action.ts';

interface DeleteWorkspaceProps {
  readonly workspace: Workspace;
  /** Discards the edits that are not saved. */
  readonly discard: () => void;
}

export function DeleteWorkspace(props: DeleteWorkspaceProps) {
  const words = useWords(settingsWords);
  const [isAsked, setAsked] = useState(false);
  return (
    <Card title={words.remove} isPadded>
      <div className={styles['line']}>
        <p className="mute">{words.removeNote}</p>
        <Button needs="workspace: delete" look="danger" onClick={() => setAsked(true)}>
          <Trash2 aria-hidden="true" />
          {words.remove}
        </Button>
      </div>
      {isAsked && <Confirmation {...props} close={() => setAsked(false)} />}
    </Card>
  );
}

interface ConfirmationProps extends DeleteWorkspaceProps {
  readonly close: () => void;
}

function Confirmation({ workspace: { id, name }, discard, close }: ConfirmationProps) {
  const words = useWords(settingsWords);
  const navigate = useNavigate();
  const client = useQueryClient();
  const [typed, setTyped] = useState('');
  const deletion = useAction({
    mutationFn: () => ask(platform.DELETE('/v3/workspaces/{id}', { params: { path: { id } } })),
    onSuccess: async () => {
      discard();
      toast(words.removed(name));
      // The next page chooses among those that are left.
      await client.invalidateQueries({ queryKey: ['workspaces'] });
      await client.invalidateQueries({ queryKey: ['account'] });
      await navigate({ to: '/', ignoreBlocker: true });
      client.removeQueries({ queryKey: ['workspace', id] });
    },
  });
  return (
    <Dialog
      title={words.removeTitle(name)}
      close={close}
      footer={
        <>
          <Button onClick={close}>{words.cancel}</Button>
          <Button
            look="danger"
            disabled={typed.trim() !== name.trim() || deletion.isPending}
            onClick={() => deletion.mutate()}
          >
            {words.delete}
          </Button>
        </>
      }
    >
      <p>{words.removeNote}</p>
      <TextField
        label={words.typeName(name)}
        autoComplete="off"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
      {deletion.error !== null && (
        <Failure error={deletion.error} curl={{ method: 'DELETE', path: `/v3/workspaces/${id}` }} />
      )}
    </Dialog>
  );
}
