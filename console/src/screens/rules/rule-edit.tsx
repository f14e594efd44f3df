// Rule editor: the sentence, the three lanes and the last runs; edits are kept until they are saved.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { ask, platform } from '../../api/platform.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { toast, toastFailure } from '../../parts/toasts.tsx';
import { UnsavedBar } from '../../parts/unsaved-bar.tsx';
import { useDraft } from '../../parts/use-draft.ts';
import { useWords } from '../../words/language.tsx';
import { editorWords } from './editor-words.ts';
import { RuleFields } from './rule-fields.tsx';
import { RuleFrame } from './rule-frame.tsx';
import { bodyOf, draftOf, type Rule, type RuleDraft } from './rule-model.ts';
import { ruleOf } from './rule-requests.ts';
import { RunCard } from './rule-runs.tsx';

const route = '/signed-in/shell/w/$workspaceId/rules/$ruleId/edit';
const lastRuns = 8;

export function RuleEdit() {
  const { workspaceId, ruleId } = useParams({ from: route });
  return (
    <RuleFrame workspaceId={workspaceId} ruleId={ruleId}>
      {(rule) => (
        <>
          <Editor key={`${rule.id} ${rule.version}`} rule={rule} />
          <RunCard workspaceId={workspaceId} ruleId={ruleId} size={lastRuns} />
        </>
      )}
    </RuleFrame>
  );
}

function Editor({ rule }: { readonly rule: Rule }) {
  const words = useWords(editorWords);
  const known = useQueryClient();
  const draft = useDraft<RuleDraft>(`rule ${rule.id} ${rule.version}`, draftOf(rule));
  const [edition, setEdition] = useState(0);
  const [isRemoving, setRemoving] = useState(false);
  const save = useMutation({
    mutationFn: () =>
      ask(
        platform.PUT('/v3/rules/{id}', {
          params: { path: { id: rule.id } },
          body: { ...bodyOf(draft.value), version: rule.version },
        }),
      ),
    onSuccess: (saved) => {
      toast(words.saved);
      draft.discard();
      known.setQueryData(ruleOf(rule.id).queryKey, saved);
      void known.invalidateQueries({ queryKey: ['rules'] });
    },
  });
  const discard = () => {
    draft.discard();
    save.reset();
    setEdition(edition + 1);
  };
  return (
    <>
      <RuleFields
        key={edition}
        workspaceId={rule.workspaceId}
        rule={draft.value}
        change={draft.change}
        error={save.error}
      />
      <UnsavedBar
        isChanged={draft.isChanged}
        isSaving={save.isPending}
        save={() => save.mutate()}
        discard={discard}
      >
        <Button look="danger" onClick={() => setRemoving(true)}>
          {words.remove}
        </Button>
      </UnsavedBar>
      {isRemoving && <RemoveRule rule={rule} close={() => setRemoving(false)} />}
    </>
  );
}

function RemoveRule({ rule, close }: { readonly rule: Rule; readonly close: () => void }) {
  const words = useWords(editorWords);
  const known = useQueryClient();
  const navigate = useNavigate();
  const { id, name, workspaceId } = rule;
  const remove = useMutation({
    mutationFn: () => ask(platform.DELETE('/v3/rules/{id}', { params: { path: { id } } })),
    onSuccess: async () => {
      toast(words.removed(name));
      void known.invalidateQueries({ queryKey: ['rules'] });
      await navigate({ to: '/w/$workspaceId/rules', params: { workspaceId } });
    },
    onError: (error) => {
      toastFailure(error);
      close();
    },
  });
  return (
    <ConfirmDialog
      title={words.removeTitle(name)}
      note={words.removeNote}
      confirmLabel={words.remove}
      cancelLabel={words.cancel}
      isBusy={remove.isPending}
      confirm={() => remove.mutate()}
      close={close}
    />
  );
}
