// Settings of an output: its form, saving, and deleting it; and the same form for a new one.
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';
import { faultsOf } from '../../api/field-faults.ts';
import { aboutQuery, ask, platform } from '../../api/platform.ts';
import { Sheet } from '../../ui/card.tsx';
import { RemoveRecord } from '../../ui/remove-record.tsx';
import { UnsavedBar } from '../../ui/unsaved-bar.tsx';
import { type Editor, useEditor } from '../../ui/use-editor.ts';
import { useWords } from '../../words/language.tsx';
import { formWords } from './form-words.ts';
import { bodyOf, changeOf, draftOf, newDraft, type OutputDraft } from './output-draft.ts';
import { OutputForm } from './output-form.tsx';
import { OutputFrame } from './output-frame.tsx';
import { outputOf } from './output-requests.ts';
import { type OutputConnector, outputTypes } from './output-types.ts';
import styles from './outputs.module.css';
import { Segments } from '../../ui/choice.tsx';
import { CurlButton } from '../../ui/copy-button.tsx';
import { SelectField } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { type OutputScope, outputScopes } from './output-search.ts';
import { outputsWords, typeNameOf, typeWords } from './outputs-words.ts';

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

// New output: its type, who uses it, and the form.

const newRoute = '/signed-in/shell/w/$workspaceId/outputs/new';

export function NewOutput() {
  const words = useWords(outputsWords);
  const form = useWords(formWords);
  const types = useWords(typeWords);
  const { workspaceId } = useParams({ from: newRoute });
  const { type = 'WEBHOOK', scope = 'DATA_FLOW' } = useSearch({ from: newRoute });
  const first = newDraft(type, typeNameOf(types, type), scope);
  const editor = useNewOutput(workspaceId, first);
  const back = (
    <Link to="/w/$workspaceId/outputs" params={{ workspaceId }}>
      {words.title}
    </Link>
  );
  const body = bodyOf(editor.value, workspaceId);
  return (
    <Page
      title={form.newTitle}
      name={form.newTitle}
      path={[back, form.newTitle]}
      actions={<CurlButton request={{ method: 'POST', path: '/v3/output-connectors', body }} />}
    >
      <Sheet>
        <div className={styles['form']}>
          <TypeChoice type={type} scope={first.scope} />
          <NewForm key={`${type} ${scope}`} workspaceId={workspaceId} editor={editor} />
        </div>
      </Sheet>
    </Page>
  );
}

function TypeChoice({ type, scope }: { readonly type: string; readonly scope: OutputScope }) {
  const words = useWords(outputsWords);
  const form = useWords(formWords);
  const types = useWords(typeWords);
  const navigate = useNavigate({ from: '/w/$workspaceId/outputs/new' });
  const features = useQuery(aboutQuery).data?.features;
  const isMissing = (one: string) =>
    (one === 'MAIL' && features?.mail === false) || (one === 'SMS' && features?.sms === false);
  const isFixed = outputTypes[type]?.isRuleActionOnly === true;
  return (
    <div className={styles['fields']}>
      <SelectField
        label={form.kind}
        value={type}
        onChange={({ currentTarget }) =>
          void navigate({ search: { type: currentTarget.value, scope }, replace: true })
        }
      >
        {Object.keys(outputTypes).map((one) => (
          <option key={one} value={one} disabled={isMissing(one)}>
            {isMissing(one) ? form.noKind(typeNameOf(types, one)) : typeNameOf(types, one)}
          </option>
        ))}
      </SelectField>
      {!isFixed && (
        <div>
          <Segments
            label={form.usedBy}
            value={scope}
            options={outputScopes.map((value) => ({ value, label: words.scopes[value] }))}
            choose={(chosen) => void navigate({ search: { type, scope: chosen }, replace: true })}
          />
          <p className="faint">{form.usedHint}</p>
        </div>
      )}
    </div>
  );
}

interface NewFormProps {
  readonly workspaceId: string;
  readonly editor: Editor<OutputDraft>;
}

function NewForm({ workspaceId, editor }: NewFormProps) {
  const form = useWords(formWords);
  return (
    <>
      <OutputForm
        key={editor.edition}
        workspaceId={workspaceId}
        draft={editor.value}
        faults={faultsOf(editor.error)}
        change={editor.change}
      />
      <UnsavedBar needs="dataFlow: create" editor={editor} createLabel={form.create} />
    </>
  );
}

function useNewOutput(workspaceId: string, first: OutputDraft): Editor<OutputDraft> {
  const form = useWords(formWords);
  const navigate = useNavigate();
  return useEditor<OutputDraft, OutputConnector>({
    key: `new output ${workspaceId} ${first.type} ${first.scope}`,
    saved: first,
    isSecret: true,
    send: (draft) =>
      ask(platform.POST('/v3/output-connectors', { body: bodyOf(draft, workspaceId) })),
    savedMessage: ({ name }) => form.created(name),
    list: ['outputs'],
    onSaved: ({ id }) =>
      navigate({
        to: '/w/$workspaceId/outputs/$outputId/deliveries',
        params: { workspaceId, outputId: id },
        ignoreBlocker: true,
      }),
  });
}
