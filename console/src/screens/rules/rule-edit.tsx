// Rule editor: the sentence, the three lanes and the last runs; edits are kept until they are saved.
import { useParams } from '@tanstack/react-router';
import { ask, platform } from '../../api/platform.ts';
import { RemoveRecord } from '../../ui/remove-record.tsx';
import { UnsavedBar } from '../../ui/unsaved-bar.tsx';
import { useEditor } from '../../ui/use-editor.ts';
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
