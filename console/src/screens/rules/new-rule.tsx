// New rule: the same editor, empty; saving makes the rule.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { ask, platform } from '../../api/platform.ts';
import { CurlButton } from '../../parts/curl-button.tsx';
import { Page } from '../../parts/page.tsx';
import { toast } from '../../parts/toasts.tsx';
import { UnsavedBar } from '../../parts/unsaved-bar.tsx';
import { useDraft } from '../../parts/use-draft.ts';
import { useWords } from '../../words/language.tsx';
import { editorWords } from './editor-words.ts';
import { RuleFields } from './rule-fields.tsx';
import { RulesLink } from './rule-frame.tsx';
import { bodyOf, newRule, type RuleDraft } from './rule-model.ts';

const route = '/signed-in/shell/w/$workspaceId/rules/new';

export function NewRule() {
  const words = useWords(editorWords);
  const { workspaceId } = useParams({ from: route });
  const navigate = useNavigate();
  const known = useQueryClient();
  const [edition, setEdition] = useState(0);
  const [first] = useState(() => newRule(words.newTitle));
  const draft = useDraft<RuleDraft>(`new rule ${workspaceId}`, first);
  const body = { ...bodyOf(draft.value), workspaceId };
  const create = useMutation({
    mutationFn: () => ask(platform.POST('/v3/rules', { body })),
    onSuccess: async ({ id }) => {
      draft.discard();
      toast(words.saved);
      void known.invalidateQueries({ queryKey: ['rules'] });
      const params = { workspaceId, ruleId: id };
      await navigate({ to: '/w/$workspaceId/rules/$ruleId/edit', params });
    },
  });
  return (
    <Page
      isWide
      title={words.newTitle}
      name={words.newTitle}
      path={[<RulesLink key="rules" workspaceId={workspaceId} />, words.newTitle]}
      actions={<CurlButton request={{ method: 'POST', path: '/v3/rules', body }} />}
    >
      <RuleFields
        key={edition}
        workspaceId={workspaceId}
        rule={draft.value}
        change={draft.change}
        error={create.error}
      />
      <UnsavedBar
        isChanged={draft.isChanged}
        isSaving={create.isPending}
        save={() => create.mutate()}
        discard={() => {
          draft.discard();
          create.reset();
          setEdition(edition + 1);
        }}
      />
    </Page>
  );
}
