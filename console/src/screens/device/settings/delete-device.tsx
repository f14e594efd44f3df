// Deletion of a device: asked for by its name, because everything it sent is deleted with it.
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { ask, platform } from '../../../api/platform.ts';
import { Button } from '../../../parts/button.tsx';
import { Card } from '../../../parts/card.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { TextField } from '../../../parts/field.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { useWords } from '../../../words/language.tsx';
import { useDeviceFrame } from '../device-frame.ts';
import styles from './settings.module.css';
import { settingsWords } from './settings-words.ts';
import { ActionFailure } from '../../../parts/action-failure.tsx';
import { useAction } from '../../../parts/use-action.ts';

export function DeleteDevice({ discard }: { readonly discard: () => void }) {
  const words = useWords(settingsWords);
  const [isAsked, setAsked] = useState(false);
  return (
    <Card title={words.remove} isPadded>
      <div className={styles['remove']}>
        <p className="mute">{words.removeNote}</p>
        <Button needs="asset: delete" look="danger" onClick={() => setAsked(true)}>
          <Trash2 aria-hidden="true" />
          {words.remove}
        </Button>
      </div>
      {isAsked && <Confirmation discard={discard} close={() => setAsked(false)} />}
    </Card>
  );
}

interface ConfirmationProps {
  readonly discard: () => void;
  readonly close: () => void;
}

function Confirmation({ discard, close }: ConfirmationProps) {
  const words = useWords(settingsWords);
  const { device } = useDeviceFrame();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [typed, setTyped] = useState('');
  const deletion = useAction({
    mutationFn: () =>
      ask(platform.DELETE('/v3/devices/{id}', { params: { path: { id: device.id } } })),
    onSuccess: async () => {
      discard();
      toast(words.removed(device.name));
      const params = { workspaceId: device.workspaceId };
      await navigate({ to: '/w/$workspaceId/devices', params, ignoreBlocker: true });
      queries.removeQueries({ queryKey: ['device', device.id] });
      await queries.invalidateQueries({ queryKey: ['devices'] });
    },
  });
  return (
    <Dialog
      title={words.removeTitle(device.name)}
      close={close}
      footer={
        <>
          <Button onClick={close}>{words.cancel}</Button>
          <Button
            look="danger"
            disabled={typed.trim() !== device.name.trim() || deletion.isPending}
            onClick={() => deletion.mutate()}
          >
            {words.delete}
          </Button>
        </>
      }
    >
      <p>{words.removeNote}</p>
      <TextField
        label={words.typeName(device.name)}
        autoComplete="off"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
      <ActionFailure error={deletion.error} />
    </Dialog>
  );
}
