// Settings of an output: its form, saving, and deleting it.
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { faultsOf } from '../../api/field-faults.ts';
import { ask, platform } from '../../api/platform.ts';
import { Sheet } from '../../parts/card.tsx';
import { RemoveRecord } from '../../parts/remove-record.tsx';
import { UnsavedBar } from '../../parts/unsaved-bar.tsx';
import { useEditor } from '../../parts/use-editor.ts';
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
      {(output) => <Settings key={output.id} output={output} workspaceId={workspaceId} />}
    </OutputFrame>
  );
}

interface SettingsProps {
  readonly output: OutputConnector;
  readonly workspaceId: string;
}

function Settings({ output, workspaceId }: SettingsProps) {
  const { id, version } = output;
  const editor = useEditor<OutputDraft, OutputConnector>({
    key: `output ${id}`,
    saved: draftOf(output),
    version,
    isSecret: true,
    record: outputOf(id).queryKey,
    list: ['outputs'],
    send: (draft, from) => {
      const body = { ...changeOf(draft), ...from };
      return ask(platform.PUT('/v3/output-connectors/{id}', { params: { path: { id } }, body }));
    },
  });
  return (
    <Sheet>
      <div className={styles['form']}>
        <OutputForm
          key={editor.edition}
          workspaceId={workspaceId}
          draft={editor.value}
          faults={faultsOf(editor.error)}
          change={editor.change}
        />
        <UnsavedBar editor={editor} within={`/w/${workspaceId}/outputs/${id}`}>
          <RemoveOutput output={output} workspaceId={workspaceId} discard={editor.discard} />
        </UnsavedBar>
      </div>
    </Sheet>
  );
}

interface RemoveOutputProps extends SettingsProps {
  readonly discard: () => void;
}

function RemoveOutput({ output: { id, name }, workspaceId, discard }: RemoveOutputProps) {
  const words = useWords(formWords);
  const known = useQueryClient();
  const navigate = useNavigate();
  return (
    <RemoveRecord
      name={name}
      note={words.removeNote}
      send={() => ask(platform.DELETE('/v3/output-connectors/{id}', { params: { path: { id } } }))}
      onRemoved={() => {
        discard();
        void known.invalidateQueries({ queryKey: ['outputs'] });
        const params = { workspaceId };
        return navigate({ to: '/w/$workspaceId/outputs', params, ignoreBlocker: true });
      }}
    />
  );
}
