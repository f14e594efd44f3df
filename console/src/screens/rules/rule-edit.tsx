// Rule editor: the sentence, the three lanes and the last runs; edits are kept until they are saved.
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { faultAt, faultsOf } from '../../api/field-faults.ts';
import { ask, platform } from '../../api/platform.ts';
import { CurlButton } from '../../ui/copy-button.tsx';
import { CheckField, TextField } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { RemoveRecord } from '../../ui/remove-record.tsx';
import { UnsavedBar } from '../../ui/unsaved-bar.tsx';
import { useEditor } from '../../ui/use-editor.ts';
import { useWords } from '../../words/language.tsx';
import { editorWords } from './editor-words.ts';
import { Lanes } from './lanes.tsx';
import { RuleFrame, RulesLink } from './rule-frame.tsx';
import { bodyOf, draftOf, newRule, newRuleKey, type Rule, type RuleDraft } from './rule-model.ts';
import { ruleOf } from './rule-requests.ts';
import { sentenceOf } from './rule-sentence.ts';
import styles from './rules.module.css';
import { RunCard } from './rule-runs.tsx';

const route = '/signed-in/shell/w/$workspaceId/rules/$ruleId/edit';
const lastRuns = 8;

export function RuleEdit() {
  const { workspaceId, ruleId } = useParams({ from: route });
  return (
    <RuleFrame workspaceId={workspaceId} ruleId={ruleId}>
      {(rule) => (
        <>
          <RuleEditor key={rule.id} rule={rule} />
          <RunCard workspaceId={workspaceId} ruleId={ruleId} size={lastRuns} />
        </>
      )}
    </RuleFrame>
  );
}

function RuleEditor({ rule }: { readonly rule: Rule }) {
  const words = useWords(editorWords);
  const { id, version, workspaceId } = rule;
  const editor = useEditor<RuleDraft, Rule>({
    key: `rule ${id}`,
    saved: draftOf(rule),
    version,
    record: ruleOf(id).queryKey,
    list: ['rules'],
    send: (draft, from) => {
      const body = { ...bodyOf(draft), ...from };
      return ask(platform.PUT('/v3/rules/{id}', { params: { path: { id } }, body }));
    },
  });
  return (
    <>
      <RuleFields
        key={editor.edition}
        workspaceId={workspaceId}
        rule={editor.value}
        change={editor.change}
        error={editor.error}
      />
      <UnsavedBar needs="rule: update" editor={editor} within={`/w/${workspaceId}/rules/${id}`}>
        <RemoveRecord
          needs="rule: delete"
          name={rule.name}
          note={words.removeNote}
          label={words.remove}
          send={() => ask(platform.DELETE('/v3/rules/{id}', { params: { path: { id } } }))}
          discard={editor.discard}
          lists={[['rules']]}
          next={{ to: '/w/$workspaceId/rules', params: { workspaceId } }}
        />
      </UnsavedBar>
    </>
  );
}

// Rule fields: name, state, the sentence and the lanes, with what the platform said of them.

interface RuleFieldsProps {
  readonly workspaceId: string;
  readonly rule: RuleDraft;
  readonly change: (rule: RuleDraft) => void;
  readonly error: Error | null;
}

export function RuleFields({ workspaceId, rule, change, error }: RuleFieldsProps) {
  const words = useWords(editorWords);
  const faults = faultsOf(error);
  return (
    <>
      <p className={styles['sentence']}>{sentenceOf(rule, words)}</p>
      <div className={`flow align-end wrap gap-16 ${styles['head']}`}>
        <TextField
          label={words.name}
          error={faultAt(faults, 'name')}
          value={rule.name}
          onChange={(event) => change({ ...rule, name: event.currentTarget.value })}
        />
        <CheckField
          label={words.isOn}
          isOn={rule.active}
          change={(active) => change({ ...rule, active })}
        />
      </div>
      <Lanes workspaceId={workspaceId} rule={rule} change={change} />
    </>
  );
}

// New rule: the same editor, empty; saving makes the rule.

const newRoute = '/signed-in/shell/w/$workspaceId/rules/new';

export function NewRule() {
  const words = useWords(editorWords);
  const { workspaceId } = useParams({ from: newRoute });
  const navigate = useNavigate();
  const [first] = useState(() => newRule(words.newTitle));
  const body = (draft: RuleDraft) => ({ ...bodyOf(draft), workspaceId });
  const editor = useEditor<RuleDraft, Rule>({
    key: newRuleKey(workspaceId),
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
