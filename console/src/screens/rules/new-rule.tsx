// New rule: the same editor, empty; saving makes the rule.
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { ask, platform } from '../../api/platform.ts';
import { CurlButton } from '../../ui/curl-button.tsx';
import { Page } from '../../ui/page.tsx';
import { UnsavedBar } from '../../ui/unsaved-bar.tsx';
import { useEditor } from '../../ui/use-editor.ts';
import { useWords } from '../../words/language.tsx';
import { editorWords } from './editor-words.ts';
import { RuleFields } from './rule-fields.tsx';
import { RulesLink } from './rule-frame.tsx';
import { bodyOf, newRule, type Rule, type RuleDraft } from './rule-model.ts';

const route = '/signed-in/shell/w/$workspaceId/rules/new';

export function NewRule() {
  const words = useWords(editorWords);
  const { workspaceId } = useParams({ from: route });
  const navigate = useNavigate();
  const [first] = useState(() => newRule(words.newTitle));
  const body = (draft: RuleDraft) => ({ ...bodyOf(draft), workspaceId });
  const editor = useEditor<RuleDraft, Rule>({
    key: `new rule ${workspaceId}`,
    saved: first,
    send: (draft) => ask(platform.POST('/v3/rules', { body: body(draft) })),
    list: ['rules'],
    onSaved: ({ id }) => {
      const params = { workspaceId, ruleId: id };
      return navigate({ to: '/w/$workspaceId/rules/$ruleId/edit', params, ignoreBlocker: true });
    },
  });
  const request = { method: 'POST', path: '/v3/rules', body: body(editor.value) } as const;
  return (
    <Page
      isWide
      title={words.newTitle}
      name={words.newTitle}
      path={[<RulesLink key="rules" workspaceId={workspaceId} />, words.newTitle]}
      actions={<CurlButton request={request} />}
    >
      <RuleFields
        key={editor.edition}
        workspaceId={workspaceId}
        rule={editor.value}
        change={editor.change}
        error={editor.error}
      />
      <UnsavedBar needs="rule: create" editor={editor} createLabel={words.create} />
    </Page>
  );
}
