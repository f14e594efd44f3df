// New output: its type, who uses it, and the form.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { faultsOf } from '../../api/field-faults.ts';
import { ask, platform } from '../../api/platform.ts';
import { Button } from '../../parts/button.tsx';
import { Sheet } from '../../parts/card.tsx';
import { Segments } from '../../parts/choice.tsx';
import { CurlButton } from '../../parts/curl-button.tsx';
import { SelectField } from '../../parts/field.tsx';
import { Page } from '../../parts/page.tsx';
import { toast } from '../../parts/toasts.tsx';
import { useDraft } from '../../parts/use-draft.ts';
import { useWords } from '../../words/language.tsx';
import { formWords } from './form-words.ts';
import { bodyOf, newDraft, type OutputDraft } from './output-draft.ts';
import { OutputForm } from './output-form.tsx';
import { type OutputScope, outputScopes } from './output-search.ts';
import { outputTypes } from './output-types.ts';
import styles from './outputs.module.css';
import { outputsWords } from './outputs-words.ts';
import { typeNameOf, typeWords } from './type-words.ts';

const route = '/signed-in/shell/w/$workspaceId/outputs/new';

export function NewOutput() {
  const words = useWords(outputsWords);
  const form = useWords(formWords);
  const types = useWords(typeWords);
  const { workspaceId } = useParams({ from: route });
  const { type = 'WEBHOOK', scope = 'DATA_FLOW' } = useSearch({ from: route });
  const first = newDraft(type, typeNameOf(types, type), scope);
  const draft = useDraft<OutputDraft>(`new output ${workspaceId} ${type} ${scope}`, first);
  const back = (
    <Link to="/w/$workspaceId/outputs" params={{ workspaceId }}>
      {words.title}
    </Link>
  );
  const body = bodyOf(draft.value, workspaceId);
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
          <NewForm
            key={`${type} ${scope}`}
            workspaceId={workspaceId}
            draft={draft.value}
            change={draft.change}
            discard={draft.discard}
          />
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
          <option key={one} value={one}>
            {typeNameOf(types, one)}
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
  readonly draft: OutputDraft;
  readonly change: (draft: OutputDraft) => void;
  readonly discard: () => void;
}

function NewForm({ workspaceId, draft, change, discard }: NewFormProps) {
  const form = useWords(formWords);
  const navigate = useNavigate();
  const known = useQueryClient();
  const create = useMutation({
    mutationFn: () =>
      ask(platform.POST('/v3/output-connectors', { body: bodyOf(draft, workspaceId) })),
    onSuccess: async ({ id, name }) => {
      discard();
      toast(form.created(name));
      void known.invalidateQueries({ queryKey: ['outputs'] });
      await navigate({
        to: '/w/$workspaceId/outputs/$outputId/deliveries',
        params: { workspaceId, outputId: id },
      });
    },
  });
  return (
    <>
      <OutputForm
        workspaceId={workspaceId}
        draft={draft}
        faults={faultsOf(create.error)}
        change={change}
      />
      <div className={styles['bar']}>
        <Button look="primary" disabled={create.isPending} onClick={() => create.mutate()}>
          {form.create}
        </Button>
      </div>
    </>
  );
}
