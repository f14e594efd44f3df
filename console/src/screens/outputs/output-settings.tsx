// Settings of an output: its form, saving, and deleting it.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { faultsOf } from '../../api/field-faults.ts';
import { ask, platform } from '../../api/platform.ts';
import { Button } from '../../parts/button.tsx';
import { Sheet } from '../../parts/card.tsx';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { toast, toastFailure } from '../../parts/toasts.tsx';
import { UnsavedBar } from '../../parts/unsaved-bar.tsx';
import { useDraft } from '../../parts/use-draft.ts';
import { useWords } from '../../words/language.tsx';
import { formWords } from './form-words.ts';
import { changeOf, draftOf, type OutputDraft } from './output-draft.ts';
import { OutputForm } from './output-form.tsx';
import { OutputFrame } from './output-frame.tsx';
import { outputOf } from './output-requests.ts';
import type { OutputConnector } from './output-types.ts';
import styles from './outputs.module.css';

const route = '/signed-in/shell/w/$workspaceId/outputs/$outputId/settings';

export function OutputSettings() {
  const { workspaceId, outputId } = useParams({ from: route });
  return (
    <OutputFrame workspaceId={workspaceId} outputId={outputId}>
      {(output) => (
        // The version is part of the key, so that the form begins with what is saved now.
        <Settings
          key={`${output.id} ${output.version}`}
          output={output}
          workspaceId={workspaceId}
        />
      )}
    </OutputFrame>
  );
}

interface SettingsProps {
  readonly output: OutputConnector;
  readonly workspaceId: string;
}

function Settings({ output, workspaceId }: SettingsProps) {
  const words = useWords(formWords);
  const known = useQueryClient();
  const draft = useDraft<OutputDraft>(`output ${output.id} ${output.version}`, draftOf(output));
  const [edition, setEdition] = useState(0);
  const [isRemoving, setRemoving] = useState(false);
  const save = useMutation({
    mutationFn: () =>
      ask(
        platform.PUT('/v3/output-connectors/{id}', {
          params: { path: { id: output.id } },
          body: { ...changeOf(draft.value), version: output.version },
        }),
      ),
    onSuccess: (saved) => {
      toast(words.saved);
      draft.discard();
      known.setQueryData(outputOf(output.id).queryKey, saved);
      void known.invalidateQueries({ queryKey: ['outputs'] });
    },
  });
  return (
    <Sheet>
      <div className={styles['form']}>
        <OutputForm
          key={edition}
          workspaceId={workspaceId}
          draft={draft.value}
          faults={faultsOf(save.error)}
          change={draft.change}
        />
        <UnsavedBar
          isChanged={draft.isChanged}
          isSaving={save.isPending}
          save={() => save.mutate()}
          discard={() => {
            draft.discard();
            save.reset();
            setEdition(edition + 1);
          }}
        >
          <Button look="danger" onClick={() => setRemoving(true)}>
            {words.remove}
          </Button>
        </UnsavedBar>
      </div>
      {isRemoving && (
        <RemoveOutput output={output} workspaceId={workspaceId} close={() => setRemoving(false)} />
      )}
    </Sheet>
  );
}

function RemoveOutput({ output, workspaceId, close }: SettingsProps & { close: () => void }) {
  const words = useWords(formWords);
  const known = useQueryClient();
  const navigate = useNavigate();
  const remove = useMutation({
    mutationFn: () =>
      ask(platform.DELETE('/v3/output-connectors/{id}', { params: { path: { id: output.id } } })),
    onSuccess: async () => {
      toast(words.removed(output.name));
      void known.invalidateQueries({ queryKey: ['outputs'] });
      await navigate({ to: '/w/$workspaceId/outputs', params: { workspaceId } });
    },
    onError: (error) => {
      toastFailure(error);
      close();
    },
  });
  return (
    <ConfirmDialog
      title={words.removeTitle(output.name)}
      note={words.removeNote}
      confirmLabel={words.remove}
      cancelLabel={words.cancel}
      isBusy={remove.isPending}
      confirm={() => remove.mutate()}
      close={close}
    />
  );
}
