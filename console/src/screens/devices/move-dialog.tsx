// Move dialog: gives the selected devices another data flow, of this workspace or another one.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ask, platform } from '../../api/platform.ts';
import { useWorkspaces } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField } from '../../ui/field.tsx';
import { toast } from '../../ui/toasts.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { bulkSelection, changedIds, moveDevices } from './bulk-work.ts';
import { devicesWords } from './devices-words.ts';
import type { WorkDialogProps } from './bulk-dialogs.tsx';

const flowsMax = 1_000;

export function useFlows(workspaceId: string) {
  return useQuery({
    queryKey: ['flows', workspaceId],
    queryFn: ({ signal }) => {
      const query = { workspaceId, size: flowsMax, sort: 'name,asc' };
      return ask(platform.GET('/v3/data-flows', { signal, params: { query } }));
    },
  });
}

export function MoveDialog(props: WorkDialogProps & { readonly count: number }) {
  const { place, close, count } = props;
  const words = useWords(devicesWords);
  const formats = useFormats();
  const workspaces = useWorkspaces().data?.content ?? [];
  const [target, setTarget] = useState(place.workspaceId);
  const flows = useFlows(target);
  const [chosen, setChosen] = useState('');
  const known = flows.data?.content ?? [];
  const flowId = known.some(({ id }) => id === chosen) ? chosen : (known[0]?.id ?? '');
  const move = useMove(props);
  return (
    <Dialog
      title={words.moveTitle(words.count(formats.count(count), count))}
      close={close}
      footer={
        <>
          <Button onClick={close}>{words.cancel}</Button>
          <Button look="primary" disabled={flowId === ''} onClick={() => move(target, flowId)}>
            {words.move}
          </Button>
        </>
      }
    >
      <SelectField
        label={words.workspace}
        value={target}
        onChange={(event) => setTarget(event.target.value)}
      >
        {workspaces.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
      <SelectField
        label={words.flow}
        value={flowId}
        onChange={(event) => setChosen(event.target.value)}
        {...(flows.isSuccess && known.length === 0 ? { error: words.noFlow } : {})}
        {...(flows.error === null ? {} : { error: flows.error.message })}
      >
        {known.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
      {target !== place.workspaceId && <p className="mute">{words.moveNote}</p>}
    </Dialog>
  );
}

function useMove({ place, selection, work, close }: WorkDialogProps) {
  const words = useWords(devicesWords);
  const formats = useFormats();
  return (targetWorkspaceId: string, dataFlowId: string) => {
    close();
    const chosen = bulkSelection(place.workspaceId, place.search, selection);
    void work.run(
      words.moving,
      () => moveDevices(chosen, { targetWorkspaceId, dataFlowId }),
      (operation) => {
        const many = changedIds(operation).length;
        toast(words.moved(words.count(formats.count(many), many)));
        selection.clear();
      },
    );
  };
}
