// Settings of an output: its form, saving, and deleting it.
import { useParams } from '@tanstack/react-router';
import { faultsOf } from '../../api/field-faults.ts';
import { ask, platform } from '../../api/platform.ts';
import { Sheet } from '../../ui/card.tsx';
import { RemoveRecord } from '../../ui/remove-record.tsx';
import { UnsavedBar } from '../../ui/unsaved-bar.tsx';
import { useEditor } from '../../ui/use-editor.ts';
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
  const words = useWords(formWords);
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
        <UnsavedBar
          needs="dataFlow: update"
          editor={editor}
          within={`/w/${workspaceId}/outputs/${id}`}
        >
          <RemoveRecord
            needs="dataFlow: delete"
            name={output.name}
            note={words.removeNote}
            send={() =>
              ask(platform.DELETE('/v3/output-connectors/{id}', { params: { path: { id } } }))
            }
            discard={editor.discard}
            lists={[['outputs']]}
            next={{ to: '/w/$workspaceId/outputs', params: { workspaceId } }}
          />
        </UnsavedBar>
      </div>
    </Sheet>
  );
}
